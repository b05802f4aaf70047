# SPDX-License-Identifier: Apache-2.0
"""Which CUDA kernels a step becomes: every one chosen exists, every one that exists is chosen."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from aclnn_py.backends.cuda_kernels import ITEMSIZES, addresses, launches, programs
from aclnn_py.backends.cuda_rows import own_share
from support import cuda_resources
from support.nvrtc import declared

SOFTMAXES = ("softmax", "log_softmax", "softmax_backward", "log_softmax_backward")
LENGTHS = (
    1, 100, 200, 300, 600, 1000, 2000, 3000, 5000, 10000, 15000, 20000, 30000, 70000, 100_000,
    1 << 20,
)  # fmt: skip
SHARED = 232_448  # that of an H100
SHAPES = [(outer, n, inner) for n in LENGTHS for outer in (1, 1000) for inner in (1, 3, 64, 4096)]
TARGETS = ("bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "c64", "c128", "f8e5m2",
           "f8e4m3")  # fmt: skip
PROGRAM = (0, 0, 0, 0, 0)  # of float32 to float32, nothing in between
FUSED = ("softmax_fused", "softmax_stats")


def fused_params(kernel, shape):
    """Parameters of a launch without extras."""
    return (*shape, 0, *PROGRAM) if kernel == "softmax_fused" else (*shape, 0, 0)


def plans():
    for dtype in ITEMSIZES:
        for kernel, shape, shared in product(SOFTMAXES, SHAPES, (0, SHARED)):
            yield launches(kernel, dtype, shape, 132, shared)
        for target in (*ITEMSIZES, *TARGETS):
            if target != dtype:
                yield launches("cast", f"{dtype}_{target}", (1000,), 132)
    for kernel in FUSED:
        for shape in SHAPES:
            yield launches(kernel, "f32", fused_params(kernel, shape), 132)
    yield launches("post_ops", "f32", (1000, *PROGRAM), 132)
    yield launches("dropout_mask", "f32", (1000, 3, 0, 1, 1000, 1), 132)
    for size in (1, 2, 4, 8, 16):
        for kernel in ("copy_strided", "copy_ordered"):
            yield launches(kernel, f"b{size}", (1, 5, size, size), 132)
        turned = (2, 40, 30, size, 40 * size, 30 * size, size)
        yield launches("copy_strided", f"b{size}", turned, 132)


def test_chosen_and_existing_kernels_are_the_same():
    chosen = {}
    for plan in plans():
        for one in plan.launches:
            chosen[one.function] = max(one.threads, chosen.get(one.function, 0))
    existing = {}
    for source, dtype in programs():
        existing |= declared(source, dtype)
    same = {f"cast_{dtype}_{dtype}" for dtype in ITEMSIZES}
    assert set(chosen) == set(existing) - same
    assert not [name for name, threads in chosen.items() if threads > existing[name]]


@pytest.mark.parametrize("shared", [0, 65_536, 101_376, 166_912, SHARED])
def test_blocks_ask_for_no_more_shared_memory_than_there_is(shared):
    """With what the driver and the kernel take; two blocks where there shall be two."""
    asked = set()
    for kernel in SOFTMAXES:
        for dtype in ITEMSIZES:
            for n in range(1000, 260_000, 999):
                (one,) = launches(kernel, dtype, (1000, n, 1), 132, shared).launches
                blocks = 1024 // one.threads if "_spare" in one.function else 1
                assert blocks * (one.shared + 512 + 1024) <= shared + 1024 or one.shared == 0
                asked.add(one.shared > 0)
    assert asked == ({False, True} if shared else {False})


@pytest.mark.parametrize("shared", [0, 101_376, 166_912, SHARED])
@pytest.mark.parametrize("kernel", SOFTMAXES)
@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_strips_ask_for_the_room_of_their_rows(kernel, dtype, shared):
    """For all rows that no kernel holds in registers; with what the kernel takes of its own."""
    asked = set()
    for n in range(16, 9000, 97):
        (one,) = launches(kernel, dtype, (1000, n, 64), 132, shared).launches
        asked.add(one.shared > 0)
        if "_spare" in one.function:
            width, operands = (2, 2) if kernel == "softmax_backward" else (4, 1)
            rows = -(-n // (one.threads // width)) - 8 // operands
            assert one.shared >= operands * rows * one.threads * 16
            assert one.shared + own_share(one.function) <= shared
        else:
            assert one.shared == 0
    never = shared == 0 or (kernel == "softmax_backward" and dtype != "f32")
    assert asked == ({False} if never else {False, True})


def test_kernels_have_no_more_shared_memory_of_their_own():
    """Of those that ask for some, on every architecture."""
    table = cuda_resources.TABLE.read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in table if "_spare" in line]
    assert len(rows) > 20
    for name, *figures in rows:
        for figure in figures:
            assert int(figure.split("/")[1]) <= own_share(name), (name, figure)


@pytest.mark.parametrize("kernel", SOFTMAXES)
@pytest.mark.parametrize("dtype", list(ITEMSIZES))
@pytest.mark.parametrize("n", [1 << 31, (1 << 31) - 1, 3 << 30])
@pytest.mark.parametrize(("outer", "inner"), [(1, 1), (3, 1), (1, 5), (4096, 1)])
def test_very_long_rows_are_divided_without_loss(kernel, dtype, n, outer, inner):
    """Chunks cover a row exactly once, are not too many, and their results fit the scratch."""
    plan = launches(kernel, dtype, (outer, n, inner), 132)
    *_, chunk, chunks = plan.fields
    assert (chunks - 1) * chunk < n <= chunks * chunk
    assert chunks <= 4096
    assert plan.scratch_bytes == (16 * outer * inner * (chunks + 1) if chunks > 1 else 0)
    assert all(1 <= one.blocks <= 1 << 16 and one.threads % 32 == 0 for one in plan.launches)


@pytest.mark.parametrize("kernel", FUSED)
@pytest.mark.parametrize("n", [1 << 31, 3 << 30])
@pytest.mark.parametrize(("outer", "inner"), [(1, 1), (3, 1), (1, 5), (4096, 1)])
def test_very_long_fused_rows_are_divided_without_loss(kernel, n, outer, inner):
    plan = launches(kernel, "f32", fused_params(kernel, (outer, n, inner)), 132)
    chunk, chunks = plan.fields[3:5]
    assert (chunks - 1) * chunk < n <= chunks * chunk
    assert chunks <= 4096
    assert plan.scratch_bytes == (16 * outer * inner * (chunks + 1) if chunks > 1 else 0)


def test_operands_follow_the_whole_or_are_broadcast():
    """A program of [4, 6] with a scalar, a whole tensor, a row and a column, and one operation."""
    words = [0, 0 | 1 << 16 | 2 << 16, 27, 2 | 1 << 16, 1 | 2 << 16]
    program = (0, 1, 2, 4, 1, 4, 6, *words[1:], 1 | 2 << 8, 77)
    plan = launches("softmax_fused", "f32", (4, 6, 1, 2 | 27 << 8, *program), 132)
    flags, rounded, source, target, elements, dims, ops = plan.fields[5:12]
    assert (flags, rounded, source, target, elements, dims, ops) == (2, 27, 0, 1, 24, 2, 1)
    assert plan.fields[12:24] == (4, 6, *[0] * 10)
    types, follows = plan.fields[24:28], plan.fields[28:32]
    assert types == (0, 27, 2, 1)
    assert follows == (0, 1, 2, 2)  # one value, alike, broadcast, broadcast
    strides = np.array(plan.fields[32:80]).reshape(4, 12)
    assert strides[:, :2].tolist() == [[0, 0], [6, 1], [0, 1], [1, 0]]
    assert plan.fields[80:82] == (1 | 2 << 8, 77)
    assert len(plan.fields) == 80 + 68


def test_addresses_lie_as_the_structures_want_them():
    assert addresses("softmax", [7], 8, 9) == [7, 0, 8, 9]
    assert addresses("softmax_backward", [6, 7], 8, 9) == [6, 7, 8, 9]
    assert addresses("softmax_fused", [5, 6, 7], 8, 9) == [6, 7, 0, 0, 5, 0, 8, 9]
    assert addresses("dropout_mask", [5, 6], 8, 0) == [5, 6, 0, 8]
    assert addresses("dropout_mask", [5, 6, 7], 8, 0) == [5, 6, 7, 8]
    assert addresses("cast", [5], 8, 0) == [5, 8]


@pytest.mark.parametrize(
    ("dims", "source", "target", "order"),
    [
        ((40, 30), (4, 160), (120, 4), (0, 1)),  # transposed
        ((30, 40), (160, 4), (160, 4), None),  # dense in both
        ((40, 15), (4, 160), (60, 4), None),  # too short for squares
        ((40, 30), (8, 640), (120, 4), None),  # dense in one only
        ((20, 40, 30), (4, 2400, 80), (4800, 120, 4), (1, 0, 2)),  # a dimension between
        ((5, 40, 30), (4800, -4, 160), (4800, 120, 4), None),  # reversed
    ],
)
def test_copies_go_through_squares_where_the_dense_dimension_changes(dims, source, target, order):
    plan = launches("copy_strided", "b4", (len(dims), *dims, *source, *target), 132)
    (one,) = plan.launches
    assert one.function == ("copy_strided_b4" if order is None else "copy_transposed_b4")
    rows = list(zip(dims, source, target, strict=True))
    rows = rows if order is None else [rows[k] for k in order]
    elements, rank, *columns = plan.fields
    assert rank == len(dims)
    assert elements == np.prod(dims)
    table = np.array(columns).reshape(3, -1)
    assert table[:, :rank].T.tolist() == [list(row) for row in rows]
    assert not table[:, rank:].any()


def test_nothing_to_do_launches_nothing():
    for kernel, dtype, params in [
        ("softmax", "f32", (0, 3, 1)),
        ("softmax_backward", "f16", (3, 0, 2)),
        ("cast", "f32_f16", (0,)),
        ("copy_strided", "b4", (2, 0, 3, 4, 4, 4, 4)),
        ("softmax_fused", "f32", fused_params("softmax_fused", (0, 3, 1))),
        ("softmax_stats", "f32", fused_params("softmax_stats", (3, 0, 1))),
        ("post_ops", "f32", (0, *PROGRAM)),
        ("dropout_mask", "f32", (0, 3, 0, 1, 0, 1)),
    ]:
        assert launches(kernel, dtype, params, 132).launches == ()


@pytest.mark.parametrize(
    ("kernel", "dtype"),
    [
        ("softmax", "i8"),
        ("cast", "f32_c32"),
        ("cast", "i32_f32"),
        ("cast", "f32_f32"),
        ("copy_strided", "b3"),
        ("softmax_pitched", "f32"),
    ],
)
def test_what_has_no_kernel_is_refused(kernel, dtype):
    assert launches(kernel, dtype, (1, 1, 1), 132) is None
