# SPDX-License-Identifier: Apache-2.0
"""oneDNN's numbers: statuses (reference, section 1.8), algorithms (1.1), indices (1.2)."""

from __future__ import annotations

import pickle

import pytest

from aclnn_py.dialects import onednn as dnnl
from support.onednn import refused

# fmt: off
STATUSES = [  # section 1.8
    ("success", 0), ("out_of_memory", 1), ("invalid_arguments", 2), ("unimplemented", 3),
    ("last_impl_reached", 4), ("runtime_error", 5), ("not_required", 6), ("invalid_graph", 7),
    ("invalid_graph_op", 8), ("invalid_shape", 9), ("invalid_data_type", 10),
]
INDICES = [  # section 1.2
    ("DNNL_ARG_SRC", 1), ("DNNL_ARG_DST", 17), ("DNNL_ARG_DIFF_DST", 145),
    ("DNNL_ARG_DIFF_SRC", 129), ("DNNL_ARG_ATTR_SCALES", 4096), ("DNNL_ARG_SRC_1", 2),
    ("DNNL_ARG_SRC_2", 3), ("DNNL_ARG_ATTR_DROPOUT_PROBABILITY", 510),
    ("DNNL_ARG_ATTR_DROPOUT_SEED", 511), ("DNNL_ARG_ATTR_DROPOUT_OFFSET", 507),
    ("DNNL_ARG_ATTR_DROPOUT_MASK", 509), ("DNNL_ARG_WORKSPACE", 64), ("DNNL_ARG_SCRATCHPAD", 80),
]
# fmt: on


@pytest.mark.parametrize(("name", "value"), STATUSES)
def test_status(name, value):
    assert dnnl.status[name] == value
    assert len(dnnl.status) == len(STATUSES)


@pytest.mark.parametrize(("name", "value"), INDICES)
def test_argument_index(name, value):
    assert getattr(dnnl, name) == value


@pytest.mark.parametrize("k", [0, 1, 31])
def test_post_op_index(k):
    """Section 1.2: 32768 * (k + 1)."""
    assert dnnl.DNNL_ARG_ATTR_MULTIPLE_POST_OP(k) == 32768 * (k + 1)


def test_algorithms():
    """Section 1.1: two public numbers, and one constant without any."""
    assert dnnl.algorithm.softmax_accurate == 0x30000
    assert dnnl.algorithm.softmax_log == 0x30001
    assert not hasattr(dnnl.algorithm, "softmax_accurate_inf_as_zero")
    assert not isinstance(dnnl.internal_algorithm.softmax_accurate_inf_as_zero, int)


def test_an_error_survives_pickling():
    with refused("invalid_arguments") as caught:
        dnnl.engine(dnnl.engine_kind.cpu, 1)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.status) == (str(caught.value), caught.value.status)
    assert (again.argument, again.function) == ("index", "engine")
    assert again.hint == caught.value.hint


@pytest.mark.parametrize(
    ("make", "status", "argument"),
    [
        (lambda: dnnl.engine(7), "invalid_arguments", "kind"),
        (lambda: dnnl.engine("cpu"), "invalid_arguments", "kind"),
        (lambda: dnnl.engine(dnnl.engine_kind.any), "invalid_arguments", "kind"),
        (lambda: dnnl.engine(dnnl.engine_kind.gpu), "invalid_arguments", "kind"),
        (lambda: dnnl.engine(dnnl.engine_kind.cpu, -1), "invalid_arguments", "index"),
        (lambda: dnnl.engine(dnnl.engine_kind.cpu, index=False), "invalid_arguments", "index"),
        (lambda: dnnl.engine(dnnl.engine_kind.cpu, "0"), "invalid_arguments", "index"),
        (lambda: dnnl.engine_description(vendor="other"), "invalid_arguments", "vendor"),
        (lambda: dnnl.stream(None), "invalid_arguments", "engine"),
        (lambda: dnnl.stream(dnnl.engine(), 2), "unimplemented", "flags"),
        (lambda: dnnl.stream(dnnl.engine(), dnnl.prop_kind.undef), "invalid_arguments", "flags"),
    ],
)
def test_engines_and_streams_refuse(make, status, argument):
    with refused(status, argument):
        make()


def test_how_many_engines_there_are():
    assert dnnl.engine.get_count(dnnl.engine_kind.cpu) == 1
    assert dnnl.engine.get_count(dnnl.engine_kind.gpu) == 0
    assert dnnl.engine().get_kind() is dnnl.engine_kind.cpu
    assert dnnl.stream(dnnl.engine()).get_engine().get_kind() is dnnl.engine_kind.cpu
