# SPDX-License-Identifier: Apache-2.0
"""Any shape, axis, types and strides through the oneDNN dialect, in place or not (section 1.4)."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from aclnn_py.dialects import onednn as dnnl
from support import onednn_oracle as oracle
from support.onednn import NUMPY, Bench, md

SEVEN = ["f32", "bf16", "f16", "f8_e5m2", "f8_e4m3", "s8", "u8"]
FLOATS = SEVEN[:3]


@pytest.fixture(scope="module")
def bench():
    return Bench()


@st.composite
def strides(draw, shape):
    """Axes in any order, with gaps."""
    found, reach = [0] * len(shape), 1
    for axis in draw(st.permutations(range(len(shape)))):
        found[axis] = reach + draw(st.integers(0, 3))
        reach = found[axis] * shape[axis]
    return tuple(found)


@st.composite
def problems(draw):
    shape = tuple(draw(st.lists(st.sampled_from((1, 2, 3, 5, 17)), min_size=1, max_size=4)))
    return {
        "shape": shape,
        "axis": draw(st.integers(0, len(shape) - 1)),
        "algorithm": draw(st.sampled_from(("accurate", "log"))),
        "strides": [draw(strides(shape)) for _ in range(3)],
        "seed": draw(st.integers(0, 99)),
    }


@given(problem=problems(), src=st.sampled_from(SEVEN), dst=st.sampled_from(SEVEN))
def test_forward(bench, problem, src, dst):
    shape, axis, log = problem["shape"], problem["axis"], problem["algorithm"] == "log"
    x = oracle.logits(shape, NUMPY[src], problem["seed"])
    src_desc, dst_desc = (
        md(shape, src, problem["strides"][0]),
        md(shape, dst, problem["strides"][1]),
    )
    given_, target = bench.memory(src_desc, x), bench.memory(dst_desc)
    pd = bench.forward_pd(src_desc, dst_desc, axis, problem["algorithm"])
    bench.run(dnnl.softmax_forward(pd), {dnnl.DNNL_ARG_SRC: given_, dnnl.DNNL_ARG_DST: target})
    t, tolerance, _ = oracle.forward(x, axis, log=log)
    oracle.assert_stored(target.numpy(), t, tolerance)
    np.testing.assert_array_equal(given_.numpy(), x)


@given(problem=problems(), dtype=st.sampled_from(SEVEN))
def test_forward_in_place(bench, problem, dtype):
    shape, axis, log = problem["shape"], problem["axis"], problem["algorithm"] == "log"
    x = oracle.logits(shape, NUMPY[dtype], problem["seed"])
    desc = md(shape, dtype, problem["strides"][0])
    one = bench.memory(desc, x)
    pd = bench.forward_pd(desc, desc, axis, problem["algorithm"])
    bench.run(dnnl.softmax_forward(pd), {dnnl.DNNL_ARG_SRC: one, dnnl.DNNL_ARG_DST: one})
    t, tolerance, _ = oracle.forward(x, axis, log=log)
    oracle.assert_stored(one.numpy(), t, tolerance)


@given(problem=problems(), dtype=st.sampled_from(FLOATS), wanted=st.sampled_from(FLOATS))
def test_backward(bench, problem, dtype, wanted):
    shape, axis, log = problem["shape"], problem["axis"], problem["algorithm"] == "log"
    y, g = oracle.gradients(shape, NUMPY[dtype], problem["seed"], log=log)
    descs = [
        md(shape, kind, steps)
        for kind, steps in zip((dtype, dtype, wanted), problem["strides"], strict=True)
    ]
    out = bench.memory(descs[2])
    pd = bench.backward_pd(descs[2], descs[1], descs[0], axis, problem["algorithm"])
    args = {
        dnnl.DNNL_ARG_DST: bench.memory(descs[0], y),
        dnnl.DNNL_ARG_DIFF_DST: bench.memory(descs[1], g),
        dnnl.DNNL_ARG_DIFF_SRC: out,
    }
    bench.run(dnnl.softmax_backward(pd), args)
    t, tolerance = oracle.backward(y, g, axis, log=log)
    oracle.assert_stored(out.numpy(), t, tolerance)
