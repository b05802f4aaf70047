# SPDX-License-Identifier: Apache-2.0
"""The fused steps in NumPy say what the C kernels say."""

from __future__ import annotations

import numpy as np
import pytest

from aclnn_py import twophase
from aclnn_py.core.extras import ELTWISE_ALGORITHMS, Binary, Dropout, Eltwise, Extras, Select
from support.fused import forward

X = (np.random.default_rng(0).normal(size=(5, 4, 33)) * 2).astype(np.float32)


@pytest.fixture
def both(device, stream, monkeypatch):
    """Largest difference between the two backends over all outputs of a call."""

    def compare(extras, dtype, **tensors):
        found = []
        for backends in (twophase.BACKENDS[:1], twophase.BACKENDS[1:]):
            monkeypatch.setattr(twophase, "BACKENDS", backends)
            operator = twophase.fused_forward(extras)
            operator.plans.clear()
            found.append(forward(device, stream, extras, X, dtype, 1, **tensors))
            plans = [entry.plan for entry in operator.plans.values()]
            assert {choice.backend for plan in plans for choice in plan.choices} == {
                backends[0].name
            }
            operator.plans.clear()
            monkeypatch.undo()
        c, numpy = found
        return max(float(np.abs(c[n].astype(float) - numpy[n].astype(float)).max()) for n in c)

    return compare


@pytest.mark.parametrize("alg", ELTWISE_ALGORITHMS)
def test_eltwise_and_stats(both, alg):
    assert both(Extras(post_ops=(Eltwise(alg, 0.5, 0.75),), stats=True), "float32") < 2e-6


@pytest.mark.parametrize("offset", [None, 5])
@pytest.mark.parametrize("kind", ["int8", "uint8"])
def test_scales_dropout_and_select(both, offset, kind):
    extras = Extras(
        src_scale=True,
        dst_scale=True,
        dropout=Dropout(offset is not None, has_mask=True),
        post_ops=(Select(), Binary("add")),
    )
    tensors = {
        "src_scale": np.array([90], np.float32),
        "dst_scale": np.array([0.5], np.float32),
        "dropout_probability": np.array([0.3], np.float32),
        "dropout_seed": np.array([-9], np.int64),
        "post_op_0_src1": np.full((5, 1, 33), 7, np.int8),
        "post_op_0_src2": (X > 0).astype(np.int8),
        "post_op_1_src1": np.full((1, 4, 1), 0.25, np.float16),
    }
    if offset is not None:
        tensors["dropout_offset"] = np.array([offset], np.int64)
    assert both(extras, kind, **tensors) <= 1.0


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e5m2", "float8_e4m3fn"])
def test_log_softmax_narrow(both, dtype):
    assert both(Extras("log_softmax", post_ops=(Eltwise("linear", 1, 0),)), dtype) <= 1.0
