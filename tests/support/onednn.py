# SPDX-License-Identifier: Apache-2.0
"""The oneDNN dialect in tests: engines, memory over arrays, refusals with their status."""

from __future__ import annotations

import re
from contextlib import contextmanager

import ml_dtypes
import numpy as np
import pytest

from aclnn_py.dialects import onednn as dnnl

NUMPY = {
    "f32": np.dtype(np.float32),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f16": np.dtype(np.float16),
    "f64": np.dtype(np.float64),
    "s8": np.dtype(np.int8),
    "u8": np.dtype(np.uint8),
    "s32": np.dtype(np.int32),
    "f8_e5m2": np.dtype(ml_dtypes.float8_e5m2),
    "f8_e4m3": np.dtype(ml_dtypes.float8_e4m3fn),
}
ALGORITHMS = {
    "accurate": dnnl.algorithm.softmax_accurate,
    "log": dnnl.algorithm.softmax_log,
    "inf_as_zero": dnnl.internal_algorithm.softmax_accurate_inf_as_zero,
}
INFERENCE = dnnl.prop_kind.forward_inference


def md(dims, dtype="f32", layout=None):
    """A descriptor; row-major where no layout is given."""
    dims = tuple(dims)
    tag = "abcdefghijkl"[: len(dims)]
    return dnnl.memory_desc(dims, dnnl.data_type[dtype], tag if layout is None else layout)


def attr_of(setter, *values, **named):
    """Attributes of which one is set."""
    attr = dnnl.primitive_attr()
    getattr(attr, setter)(*values, **named)
    return attr


def ops_of(*calls):
    """Attributes with post-ops: the name of an append function and its arguments each."""
    ops = dnnl.post_ops()
    for name, *values in calls:
        getattr(ops, name)(*values)
    return attr_of("set_post_ops", ops)


@contextmanager
def refused(status, argument=None):
    """The block answers with `status`, blames `argument` and says everything it should."""
    with pytest.raises(dnnl.OneDnnError) as caught:
        yield caught
    error = caught.value
    text = str(error)
    assert error.status is dnnl.status[status], text
    assert f"[{status} {int(error.status)}]" in text
    if argument is not None:
        assert re.search(argument, error.argument), f"{error.argument!r} blamed:\n{text}"
    for line in ("got:", "expected:", "fix:"):
        assert re.search(rf"^ *{line} +\S", text, re.MULTILINE), f"no {line!r} in:\n{text}"
    assert error.function in text


class Bench:
    """An engine and a stream."""

    def __init__(self, kind=dnnl.engine_kind.cpu, **options):
        self.engine = dnnl.engine(kind, 0, **options)
        self.stream = dnnl.stream(self.engine)

    def forward_pd(self, src, dst, axis, algorithm="accurate", attr=None, prop=INFERENCE):
        return dnnl.softmax_forward.primitive_desc(
            self.engine, prop, ALGORITHMS[algorithm], src, dst, axis, attr
        )

    def backward_pd(self, diff_src, diff_dst, dst, axis, algorithm="accurate", attr=None):
        return dnnl.softmax_backward.primitive_desc(
            self.engine, ALGORITHMS[algorithm], diff_src, diff_dst, dst, axis, None, attr
        )

    def memory(self, desc, values=None):
        found = dnnl.memory(desc, self.engine)
        if values is None:
            if not desc.is_empty:
                found.write(np.full(desc.dims, 77).astype(desc.row.numpy))
            return found
        return found.write(values)

    def single(self, desc, value):
        """Memory of one value, on the host where the descriptor says so."""
        if desc.format_kind is dnnl.format_kind.host_scalar:
            return dnnl.memory.host_scalar(desc, value)
        return self.memory(desc, np.full((1,), value))

    def run(self, primitive, args):
        """Execute and wait; a user scratchpad is added where the descriptor asks for one."""
        pd = primitive.get_primitive_desc()
        scratchpad = pd.scratchpad_desc()
        if scratchpad.dims and dnnl.DNNL_ARG_SCRATCHPAD not in args:
            args = args | {dnnl.DNNL_ARG_SCRATCHPAD: self.memory(scratchpad)}
        primitive.execute(self.stream, args)
        self.stream.wait()
