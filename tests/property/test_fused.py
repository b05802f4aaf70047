# SPDX-License-Identifier: Apache-2.0
"""Steps done block by block give the bits of the steps done one after the other, in any memory."""

from __future__ import annotations

from contextlib import contextmanager, suppress

import hypothesis.strategies as st
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given

import aclnn_py as acl
from aclnn_native import lib
from aclnn_py.core import settings
from aclnn_py.plan import fuse
from aclnn_py.twophase import make_plan, operator
from support.invoke import execute
from support.layouts import Layout, Placed, layout
from support.problems import FORWARD, OPERATORS, random_inputs

HALVES = [np.dtype(t) for t in (np.float16, ml_dtypes.bfloat16)]
FLOATS = [np.dtype(np.float32), *HALVES]
OUTS = [*FLOATS, np.dtype(np.float64), np.dtype(np.int8)]


class Refused(Exception):
    """The call is refused, with or without blocks."""


def chains_of(name, tensors, dim):
    """The chains that phase 1 plans for these tensors."""
    descs = [tensor.desc for tensor in tensors]
    return make_plan(operator(name).spec, descs, [dim]).chains


@st.composite
def permuted(draw, shape):
    """Axes in any order, the last one now and then with gaps between its elements or rows."""
    strides, extent = [0] * len(shape), 1
    for axis in draw(st.permutations(range(len(shape)))):
        stride = extent * draw(st.sampled_from((1, 1, 1, 2))) + draw(st.sampled_from((0, 0, 3)))
        strides[axis], extent = stride, stride * shape[axis]
    offset = draw(st.sampled_from((0, 0, 5)))
    span = sum(stride * (size - 1) for stride, size in zip(strides, shape, strict=True))
    return Layout(shape, tuple(strides), offset, offset + span + 1)


@st.composite
def repeated(draw, shape):
    """Elements that lie in one place, whole axes of them or some."""
    free = draw(permuted(shape))
    steps = [draw(st.sampled_from((step, step, 0, 1, 2))) for step in free.strides]
    span = sum(step * (size - 1) for step, size in zip(steps, shape, strict=True))
    return Layout(shape, tuple(steps), free.offset, free.offset + span + 1)


@st.composite
def problems(draw):
    """Row counts that end anywhere in a block, in one to three leading axes; ones may follow."""
    leading = draw(st.lists(st.integers(1, 40), min_size=1, max_size=3))
    ones = draw(st.sampled_from(((), (), (1,), (1, 1))))
    shape = (*leading, draw(st.sampled_from((1, 5, 16, 33, 100))), *ones)
    name = draw(st.sampled_from(OPERATORS))
    dtype = draw(st.sampled_from(FLOATS))
    outs = OUTS[:-1] if name in FORWARD else OUTS
    anyhow = st.one_of(permuted(shape), permuted(shape), repeated(shape))
    layouts = [draw(anyhow) for _ in range(1 if name in FORWARD else 2)]
    return {
        "name": name, "shape": shape, "dim": draw(st.integers(0, len(shape) - 1)),
        "dtype": dtype, "out_dtype": draw(st.one_of(st.just(dtype), st.sampled_from(outs))),
        "layouts": layouts,
        "out": draw(st.one_of(anyhow, st.sampled_from(layouts))),
        "block_bytes": draw(st.sampled_from((256, 2048, 65536))),
        "threads": draw(st.integers(1, 3)), "seed": draw(st.integers(0, 99)),
    }  # fmt: skip


@contextmanager
def blocks(block_bytes, count):
    """Another size of blocks and other threads for a while."""
    threads, size = lib.aclpy_thread_count(), fuse.BLOCK_BYTES
    fuse.BLOCK_BYTES = block_bytes
    assert lib.aclpy_set_thread_count(count) == 0
    yield
    fuse.BLOCK_BYTES = size
    assert lib.aclpy_set_thread_count(threads) == 0


def separate(device, problem):
    """Makes a result that shares memory with nothing; `both_ways` wants one for each way."""

    def target(_):
        out = Placed(device, problem["out"], problem["out_dtype"])
        return out.base, out.tensor

    return target


def both_ways(device, stream, problem, target_of):
    """Whole storages after the run block by block and after the run step by step."""
    arrays = random_inputs(
        problem["name"], problem["shape"], problem["dtype"], problem["dim"], problem["seed"]
    )
    storages, chains = [], []
    for fused in (True, False):
        with settings.override(fuse=fused):
            placed = [
                Placed(device, spread, array.dtype, array)
                for spread, array in zip(problem["layouts"], arrays, strict=True)
            ]
            base, target = target_of(placed)
            tensors = [*(one.tensor for one in placed), target]
            chains.append(chains_of(problem["name"], tensors, problem["dim"]))
            try:
                execute(device, stream, problem["name"], tensors, problem["dim"])
            except acl.AclnnError as error:
                # One step alone reads and writes memory that overlaps: refused either way.
                if error.status != 161002 or "same start" not in str(error):
                    raise
                raise Refused from error
            storages.append(base.numpy().tobytes())
    assert chains[1] == ()
    return storages, chains[0]


@given(problem=problems())
def test_blocks_give_the_bits_of_the_steps(device, stream, problem):
    with blocks(problem["block_bytes"], problem["threads"]):
        (fused, plain), _ = both_ways(device, stream, problem, separate(device, problem))
    assert fused == plain


@given(problem=problems(), position=st.integers(0, 1))
def test_blocks_give_the_bits_of_the_steps_in_shared_memory(device, stream, problem, position):
    """`out` lies in an input's memory, as the same view or as any other that fits there."""
    spread, itemsize = problem["out"], problem["out_dtype"].itemsize

    def shared(placed):
        one = placed[position % len(placed)]
        room = one.layout.storage * problem["dtype"].itemsize // itemsize
        inside = spread if spread.storage <= room else layout("contiguous", problem["shape"])
        if inside.storage > room:  # of a wider type, too: the input's very view
            inside, kind = one.layout, problem["dtype"]
        else:
            kind = problem["out_dtype"]
        address = acl.aclGetRawTensorAddr(one.base)
        return one.base, acl.aclCreateTensor(
            inside.shape, kind.name, inside.strides, inside.offset, 2, [inside.storage], address
        )

    with blocks(problem["block_bytes"], problem["threads"]), suppress(Refused):
        (fused, plain), _ = both_ways(device, stream, problem, shared)
        assert fused == plain


@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("strides", [(0, 512, 1), (3, 512, 1)], ids=["one place", "windows"])
def test_of_results_in_one_place_the_last_counts(device, stream, strides, dim):
    shape = (6, 300, 512)
    x = device.tensor(random_inputs("Softmax", shape, np.dtype(np.float32), dim, 1)[0])
    dense, out = device.empty(shape), view_of(device, shape, strides)
    wanted = np.zeros(out.storage_shape, np.float32)

    with blocks(65536, 2):
        execute(device, stream, "Softmax", [x, dense], dim)
        execute(device, stream, "Softmax", [x, out], dim)
    rows = np.lib.stride_tricks.as_strided(wanted, shape, [4 * step for step in strides])
    for one, result in zip(rows, dense.numpy(), strict=True):
        one[...] = result
    assert np.array_equal(out.view(out.storage_shape, (1,)).numpy(), wanted)


@pytest.mark.parametrize("strides", [(0, 1), (1, 2), (3, 1)], ids=str)
@pytest.mark.parametrize("name", OPERATORS)
def test_rows_that_share_elements_are_all_read_before_any_is_replaced(
    device, stream, name, strides
):
    shape = (64, 100)
    span = 1 + sum((size - 1) * step for size, step in zip(shape, strides, strict=True))
    problem = {
        "name": name, "shape": shape, "dim": 1, "dtype": np.dtype(np.float32), "seed": 2,
        "layouts": [Layout(shape, strides, 0, span)] * (1 if name in FORWARD else 2),
    }  # fmt: skip

    with blocks(256, 1):
        (fused, plain), _ = both_ways(
            device, stream, problem, lambda placed: (placed[-1].base, placed[-1].tensor)
        )
    assert fused == plain


def view_of(device, shape, strides, dtype="float32"):
    storage = 1 + sum(step * (size - 1) for step, size in zip(strides, shape, strict=True))
    return device.empty((storage,), dtype).view(shape, strides, 0)


@pytest.mark.parametrize(
    ("shape", "strides", "out_strides", "out_dtype", "rows"),
    [
        pytest.param((128, 1024), (1, 128), (1024, 1), "float32", 16, id="gathers whole lines"),
        pytest.param((128, 1024), (1024, 1), (2080, 2), "float32", 16, id="strided out"),
        pytest.param((64, 4096), (4096, 1), (4096, 1), "float16", 4, id="cast of out"),
        pytest.param((2, 40, 512), (20480, 1, 40), (20480, 512, 1), "float32", 16, id="inner cut"),
        pytest.param((4, 8, 65536), (1, 262144, 4), (524288, 65536, 1), "float32", 0, id="no fit"),
        pytest.param((100,), (2,), (1,), "float32", 0, id="one row"),
    ],
)
def test_what_is_fused(device, shape, strides, out_strides, out_dtype, rows):
    tensors = [view_of(device, shape, strides), view_of(device, shape, out_strides, out_dtype)]
    chains = chains_of("Softmax", tensors, -1)
    assert [chain.rows for chain in chains] == ([rows] if rows else [])
    assert all(chain.scratch_bytes <= 512 * 1024 for chain in chains)


@pytest.mark.parametrize(
    ("shape", "strides", "out_strides", "pitches"),
    [
        pytest.param((128, 1024), (1024, 1), (1040, 1), (1024, 1040), id="out"),
        pytest.param((128, 1024), (1040, 1), (1024, 1), (1040, 1024), id="input"),
        pytest.param((2, 3, 5), (27, 9, 1), (24, 8, 1), (9, 8), id="axes that join"),
        pytest.param((2, 3, 5), (0, 0, 1), (24, 8, 1), (0, 8), id="a row repeated"),
        pytest.param((2, 3, 5), (40, 9, 1), (24, 8, 1), None, id="axes that do not join"),
        pytest.param((4, 5), (10, 2), (8, 1), None, id="gaps within rows"),
        pytest.param((1, 5), (9, 1), (5, 1), None, id="dense after all"),
    ],
)
def test_rows_at_a_pitch_are_not_copied(device, shape, strides, out_strides, pitches):
    tensors = [view_of(device, shape, strides), view_of(device, shape, out_strides)]
    chains = chains_of("Softmax", tensors, -1)
    whole = [chain.whole.params for chain in chains if chain.whole is not None]
    rows = int(np.prod(shape[:-1]))
    assert whole == ([(rows, shape[-1], *pitches)] if pitches else [])


@pytest.mark.parametrize("shape", [(256, 512), (3, 136, 1024)], ids=str)
@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_gathered_rows_that_would_collide_lie_apart(device, stream, name, dtype, shape):
    *leading, rows, n = shape
    turned = layout("contiguous", (*leading, n, rows))
    swapped = Layout(shape, (*turned.strides[:-2], 1, rows), 0, turned.storage)
    problem = {
        "name": name, "shape": shape, "dim": -1, "dtype": dtype, "out_dtype": dtype,
        "layouts": [swapped] * (1 if name in FORWARD else 2), "seed": 7,
        "out": layout("contiguous", shape),
    }  # fmt: skip

    with blocks(65536, 2):
        (fused, plain), (chain,) = both_ways(device, stream, problem, separate(device, problem))
    assert fused == plain
    kernel = chain.parts[-1]
    assert kernel.by is not None
    assert kernel.by.kernel.endswith("_pitched")
    assert kernel.params[2:] == (n + 192 // dtype.itemsize,) * len(problem["layouts"]) + (n,)


def one_kernel_does_it(device, stream, name, dtype, dim, inputs, out, kernel):
    """Nothing is copied, and the bits are those of the steps one by one."""
    problem = {
        "name": name, "shape": inputs.shape, "dim": dim, "dtype": dtype, "out_dtype": dtype,
        "layouts": [inputs] * (1 if name in FORWARD else 2), "out": out, "seed": 5,
    }  # fmt: skip

    with blocks(65536, 2):
        (fused, plain), (chain,) = both_ways(device, stream, problem, separate(device, problem))
    assert chain.whole is not None
    assert chain.whole.kernel.endswith(kernel)
    assert fused == plain


@pytest.mark.parametrize(
    ("shape", "dim"),
    [
        pytest.param((300, 70), 0, id="tiles"),
        pytest.param((5, 40, 65), 1, id="several tensors"),
        pytest.param((2, 33, 5, 9), 1, id="axes behind that join"),
        pytest.param((4100, 64), 0, id="chunks"),
        pytest.param((4100, 33), -2, id="long columns"),
    ],
)
@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_inputs_with_the_axis_last_are_not_turned(device, stream, name, dtype, shape, dim):
    at = dim % len(shape)
    turned = layout("contiguous", (*shape[:at], *shape[at + 1 :], shape[at]))
    strides = (*turned.strides[:at], 1, *turned.strides[at:-1])
    inputs, out = Layout(shape, strides, 0, turned.storage), layout("contiguous", shape)
    one_kernel_does_it(device, stream, name, dtype, dim, inputs, out, "_transposed")


@pytest.mark.parametrize(
    ("shape", "dim", "split"),
    [
        pytest.param((8, 5, 33, 40), 1, 3, id="planes"),
        pytest.param((2, 4, 40, 8, 4, 35), 2, 5, id="axes that join"),
    ],
)
@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_inputs_with_axes_behind_swapped_are_not_turned(
    device, stream, name, dtype, shape, dim, split
):
    front, back = shape[dim + 1 : split], shape[split:]
    turned = layout("contiguous", (*shape[: dim + 1], *back, *front))
    at = dim + 1 + len(back)
    strides = (*turned.strides[: dim + 1], *turned.strides[at:], *turned.strides[dim + 1 : at])
    inputs, out = Layout(shape, strides, 0, turned.storage), layout("contiguous", shape)
    one_kernel_does_it(device, stream, name, dtype, dim, inputs, out, "_swapped")


@pytest.mark.parametrize(
    ("shape", "dim", "out"),
    [
        pytest.param((300, 70), 0, (86, 1), id="rows apart"),
        pytest.param((5, 40, 65), 1, (3300, 81, 1), id="several tensors"),
        pytest.param((2, 33, 5, 24), 1, (4500, 130, 26, 1), id="runs within rows"),
        pytest.param((33, 2, 48), 0, (48, 33 * 48, 1), id="axes in another order"),
        pytest.param((4100, 64), 0, (80, 1), id="chunks"),
    ],
)
@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_results_with_gaps_are_written_where_they_lie(device, stream, name, dtype, shape, dim, out):
    span = 1 + sum((size - 1) * step for size, step in zip(shape, out, strict=True))
    inputs, spread = layout("contiguous", shape), Layout(shape, out, 0, span)
    one_kernel_does_it(device, stream, name, dtype, dim, inputs, spread, "_spaced")


@pytest.mark.parametrize(
    ("shape", "dim", "strides"),
    [
        pytest.param((300, 70), 0, (140, 2), id="gaps between elements"),
        pytest.param((300, 12, 8), 0, (240, 20, 1), id="short runs"),
        pytest.param((300, 4, 4, 16), 0, (1600, 400, 80, 1), id="runs two steps apart"),
        pytest.param((300, 20), 0, (30, 1), id="few columns"),
        pytest.param((2, 3, 40, 64), 2, (10000, 3300, 80, 1), id="tensors two steps apart"),
    ],
)
def test_other_results_are_copied(device, shape, dim, strides):
    tensors = [device.empty(shape), view_of(device, shape, strides)]
    assert not any(chain.whole for chain in chains_of("Softmax", tensors, dim))


@pytest.mark.parametrize(
    ("shape", "dim", "strides"),
    [
        pytest.param((300, 70), 0, (2, 600), id="gaps between elements"),
        pytest.param((300, 70), 0, (1, 301), id="rows at a pitch"),
        pytest.param((300, 20), 0, (1, 300), id="few columns"),
        pytest.param((5, 40, 8, 9), 1, (2880, 1, 40, 320), id="axes behind in another order"),
        pytest.param((1 << 17, 64), 0, (1, 1 << 17), id="longer than a cache"),
    ],
)
def test_other_inputs_are_turned(device, shape, dim, strides):
    tensors = [view_of(device, shape, strides), device.empty(shape)]
    assert not any(chain.whole for chain in chains_of("Softmax", tensors, dim))


@pytest.mark.parametrize(
    ("shape", "dim", "strides", "pitches"),
    [
        pytest.param((4, 10, 1), 1, (20, 2, 1), None, id="one channel of two"),
        pytest.param((3, 1, 1), 0, (4, 1, 1), None, id="one row with gaps"),
        pytest.param((4, 10, 1), 1, (12, 1, 5), (12, 10), id="dense rows apart"),
        pytest.param((4, 10, 1), 2, (20, 2, 1), (2, 1), id="rows of one element"),
        pytest.param((4, 1, 10, 1, 1), -3, (12, 99, 1, 7, 7), (12, 10), id="ones between"),
    ],
)
def test_ones_may_follow_the_axis(device, stream, shape, dim, strides, pitches):
    x, out = view_of(device, shape, strides), device.empty(shape)
    chains = chains_of("Softmax", [x, out], dim)
    whole = [chain.whole.params for chain in chains if chain.whole is not None]
    rows = int(np.prod(shape)) // shape[dim]
    assert whole == ([(rows, shape[dim], *pitches)] if pitches else [])
    values = random_inputs("Softmax", shape, np.dtype(np.float32), dim, 3)[0]
    x = Placed(device, Layout(shape, strides, 0, x.storage_shape[0]), values.dtype, values).tensor
    execute(device, stream, "Softmax", [x, out], dim)
    exact = np.exp(values.astype(np.float64))
    exact /= exact.sum(dim, keepdims=True)
    np.testing.assert_allclose(out.numpy(), exact, rtol=1.2e-6)


def test_explain_tells_of_rows_that_are_not_copied(device):
    tensors = [view_of(device, (128, 1024), (1040, 1)), view_of(device, (128, 1024), (1024, 1))]
    text = make_plan(operator("Softmax").spec, [tensor.desc for tensor in tensors], [-1]).explain()
    assert "steps 1-2 run together, without copies: softmax_pitched" in text
    assert "1040, 1024 elements from row to row" in text


def test_settings_and_explain_tell_of_blocks(device):
    tensors = [view_of(device, (128, 1024), (1, 128)), view_of(device, (128, 1024), (1024, 1))]
    descs = [tensor.desc for tensor in tensors]
    spec = operator("Softmax").spec
    assert "steps 1-2 run together, 16 rows at a time" in make_plan(spec, descs, [-1]).explain()
    with settings.override(fuse=False):
        assert "run together" not in make_plan(spec, descs, [-1]).explain()
