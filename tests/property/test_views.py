# SPDX-License-Identifier: Apache-2.0
"""Any shape, strides, dtypes and aliasing: a view computes what its dense copy computes."""

from __future__ import annotations

from math import prod

import hypothesis.strategies as st
import ml_dtypes
import numpy as np
from hypothesis import given

import aclnn_py as acl
from support import oracle
from support.invoke import execute, invoke
from support.layouts import Layout, Placed, row_major
from support.problems import BACKWARD, FORWARD, OPERATORS, random_inputs

FLOATS = [np.dtype(t) for t in (np.float32, np.float16, ml_dtypes.bfloat16)]
DOUBLE = np.dtype(np.float64)
CAST_OUTS = [
    np.dtype(t)
    for t in ("bool", "int8", "int16", "int32", "int64", "uint8", "complex64", "complex128")
]


@st.composite
def shapes(draw):
    rank = draw(st.integers(0, 5))
    dims = [draw(st.integers(1, 5)) for _ in range(rank)]
    if rank and draw(st.booleans()):
        dims[draw(st.integers(0, rank - 1))] = draw(st.sampled_from((7, 16, 17, 33, 65)))
    return tuple(dims)


@st.composite
def layouts(draw, shape, *, may_overlap=True):
    """Axes in any order, with gaps, steps and signs; inputs also overlap and repeat."""
    strides, extent = [0] * len(shape), 1
    negative = 0
    for axis in draw(st.permutations(range(len(shape)))):
        stride = extent * draw(st.integers(1, 2)) + draw(st.integers(0, 2))
        if may_overlap and draw(st.integers(0, 5)) == 0:
            stride = draw(st.integers(0, 1))
        reach = stride * (shape[axis] - 1)
        extent = max(extent, reach + extent)
        strides[axis] = stride
        if draw(st.integers(0, 3)) == 0:
            strides[axis] = -stride
            negative += reach
    offset = negative + draw(st.integers(0, 5))
    span = sum(abs(s) * (n - 1) for s, n in zip(strides, shape, strict=True))
    storage = offset - negative + span + 1 + draw(st.integers(0, 4))
    return Layout(shape, tuple(strides), offset, storage)


@st.composite
def problems(draw):
    operator = draw(st.sampled_from(OPERATORS))
    shape = draw(shapes())
    dtype = draw(st.sampled_from(FLOATS + ([DOUBLE] if operator in FORWARD else [])))
    outs = [*FLOATS, DOUBLE] + ([] if operator in FORWARD else CAST_OUTS)
    out_dtype = draw(st.one_of(st.just(dtype), st.sampled_from(outs)))
    rank = max(len(shape), 1)
    dim = draw(st.integers(-rank, rank - 1))
    seed = draw(st.integers(0, 1000))
    count = 1 if operator in FORWARD else 2
    return {
        "operator": operator, "shape": shape, "dtype": dtype, "out_dtype": out_dtype,
        "dim": dim, "seed": seed,
        "layouts": [draw(layouts(shape)) for _ in range(count)],
        "out_layout": draw(layouts(shape, may_overlap=False)),
    }  # fmt: skip


def inputs_of(problem):
    shape, dim = problem["shape"], problem["dim"]
    if shape:
        return random_inputs(problem["operator"], shape, problem["dtype"], dim, problem["seed"])
    return [
        a.reshape(())
        for a in random_inputs(problem["operator"], (1,), problem["dtype"], 0, problem["seed"])
    ]


def expected_of(device, stream, operator, arrays, dim, out_dtype):
    """What dense tensors of one dtype give, cast by the oracle and within its bounds."""
    if operator == "LogSoftmax":
        arrays = [oracle.cast(array, out_dtype) for array in arrays]
    plain, _ = invoke(device, stream, operator, arrays, dim)
    assert oracle.worst(operator, plain, oracle.answer(operator, arrays, dim)) <= 1
    return plain if plain.dtype == out_dtype else oracle.cast(plain, out_dtype)


@given(problem=problems())
def test_views_compute_what_dense_copies_compute(device, stream, problem):
    operator, dim = problem["operator"], problem["dim"]
    got, seen = invoke(
        device, stream, operator, inputs_of(problem), dim,
        layouts=problem["layouts"], out_layout=problem["out_layout"],
        out_dtype=problem["out_dtype"],
    )  # fmt: skip
    assert oracle.same_bits(
        got, expected_of(device, stream, operator, seen, dim, problem["out_dtype"])
    )


@given(problem=problems(), position=st.integers(0, 1))
def test_in_place(device, stream, problem, position):
    """`out` is the very tensor of an input, dense or strided."""
    operator, dim = problem["operator"], problem["dim"]
    spread = problem["out_layout"]  # no two elements share a place
    placed = [Placed(device, spread, a.dtype, a) for a in inputs_of(problem)]
    arrays = [p.array for p in placed]
    expected = expected_of(device, stream, operator, arrays, dim, problem["dtype"])
    target = placed[position % len(placed)]
    execute(device, stream, operator, [*(p.tensor for p in placed), target.tensor], dim)
    target.holds(expected)


@given(problem=problems(), data=st.data())
def test_out_over_the_memory_of_an_input_seen_otherwise(device, stream, problem, data):
    """The same storage read through one permutation and written through another."""
    operator, dim, shape = problem["operator"], problem["dim"], problem["shape"]
    views = []
    for _ in range(2):
        order = data.draw(st.permutations(range(len(shape))))
        inner = row_major([shape[axis] for axis in order])
        strides = tuple(inner[order.index(axis)] for axis in range(len(shape)))
        views.append(Layout(shape, strides, 0, prod(shape)))
    arrays = inputs_of(problem)
    placed = [Placed(device, views[0], a.dtype, a) for a in arrays]
    expected = expected_of(device, stream, operator, arrays, dim, problem["dtype"])
    out = placed[0].base.view(views[1].shape, views[1].strides, 0)
    execute(device, stream, operator, [*(p.tensor for p in placed), out], dim)
    assert oracle.same_bits(placed[0].base.numpy()[views[1].elements()], expected)


@given(problem=problems().filter(lambda p: p["operator"] in BACKWARD))
def test_one_tensor_as_both_inputs(device, stream, problem):
    operator, dim = problem["operator"], problem["dim"]
    array = inputs_of(problem)[1]
    one = Placed(device, problem["layouts"][0], array.dtype, array)
    out = Placed(device, problem["out_layout"], problem["dtype"])
    execute(device, stream, operator, [one.tensor, one.tensor, out.tensor], dim)
    expected = expected_of(device, stream, operator, [one.array, one.array], dim, problem["dtype"])
    out.holds(expected)


@given(problem=problems(), empty=st.integers(0, 4))
def test_empty_tensors_do_nothing(device, stream, problem, empty):
    shape = list(problem["shape"]) or [1]
    shape[empty % len(shape)] = 0
    operator, count = problem["operator"], len(problem["layouts"])
    tensors = [device.empty(shape, problem["dtype"]) for _ in range(count + 1)]
    dim = problem["dim"] if problem["shape"] else 0
    assert execute(device, stream, operator, tensors, dim) == 0
    assert tensors[-1].numpy().shape == tuple(shape)


@given(data=st.data())
def test_of_elements_that_share_memory_the_last_one_stays(device, stream, data):
    shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3), label="shape"))
    steps = st.lists(st.integers(-3, 3), min_size=len(shape), max_size=len(shape))
    strides = data.draw(steps, label="strides")
    spans = [stride * (size - 1) for stride, size in zip(strides, shape, strict=True)]
    offset = -sum(span for span in spans if span < 0)
    storage = offset + sum(span for span in spans if span > 0) + 1
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    source, memory = device.tensor(x), device.full((storage,), -7.0)
    target = memory.view(shape, strides, offset)
    dense = device.empty(shape)
    for out in (dense, target):
        size, executor = acl.aclnnSoftmaxGetWorkspaceSize(source, -1, out)
        workspace = device.malloc(max(size, 1))
        acl.aclnnSoftmax(workspace if size else None, size, executor, stream)
    expected, values = np.full(storage, -7.0, np.float32), dense.numpy()
    for position in np.ndindex(*shape):
        at = offset + sum(i * stride for i, stride in zip(position, strides, strict=True))
        expected[at] = values[position]
    np.testing.assert_array_equal(memory.numpy(), expected)
