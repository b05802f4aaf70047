# SPDX-License-Identifier: Apache-2.0
"""Rows of 2^31 elements, and more than 2^31 elements in all, where they would lie.

The kernels run as host code on address space that is reserved and, but for a few pages, never
touched; of each grid only the blocks at its ends run.
"""

from __future__ import annotations

import mmap
import sys

import numpy as np
import pytest

from aclnn_py.backends.cuda_kernels import addresses, launches
from support import cuda_twin, oracle
from support.cuda_twin import Twin

pytestmark = [
    pytest.mark.skipif(cuda_twin.compiler() is None, reason="no C++ compiler (set CXX)"),
    pytest.mark.skipif(sys.platform != "linux", reason="reserves address space as Linux does"),
]

NORESERVE = 0x4000  # MAP_NORESERVE: pages that are not touched cost nothing
BLOCKS = 1 << 31  # a grid so large that each block takes one item
TWO_31 = 1 << 31


@pytest.fixture(scope="module")
def twin():
    return Twin(cuda_twin.library())


@pytest.fixture
def reserve():
    """Arrays over zero pages that exist once they are written."""

    def make(elements, dtype):
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NORESERVE
        try:
            memory = mmap.mmap(-1, elements * np.dtype(dtype).itemsize, flags=flags)
        except OSError as error:
            pytest.skip(f"the system reserves no {elements} elements: {error}")
        return np.frombuffer(memory, dtype)

    return make


def spread(count, dtype, seed=0):
    return np.random.default_rng(seed).standard_normal(count).astype(dtype)


def launch(twin, function, words, threads, first, count=1):
    assert twin.launch(function, BLOCKS, threads, words, only=(first, count)) == 0


def assert_softmax(x, got):
    assert oracle.worst("Softmax", got, oracle.answer("Softmax", [x], -1)) <= 1


@pytest.mark.parametrize(("kernel", "n"), [("warp1", 128), ("warp8", 1000), ("block4", 4000)])
def test_the_last_of_many_rows(twin, reserve, kernel, n):
    outer = TWO_31 * 3 // 2 // n + 1
    x, y = reserve(outer * n, np.float32), reserve(outer * n, np.float32)
    last = x[-n:]
    last[:] = spread(n, np.float32)
    words = [x.ctypes.data, 0, y.ctypes.data, 0, outer, n, 1, n, 1]
    rows = 1 if kernel == "block4" else 4  # of a block
    launch(twin, f"softmax_{kernel}_f32", words, 256 if rows == 1 else 128, (outer - 1) // rows)
    assert_softmax(last, y[-n:])
    assert not y[-n - 100_000 : -4 * n].any()


@pytest.mark.parametrize("dtype", ["f32", "f16"])
@pytest.mark.parametrize("where", ["first", "last"])
def test_columns_of_a_wide_tensor(twin, reserve, dtype, where):
    """The rows of a column lie 2^31 + 34 elements apart."""
    n, inner, kind = 3, TWO_31 + 34, {"f32": np.float32, "f16": np.float16}[dtype]
    x, y = (reserve(n * inner, kind).reshape(n, inner) for _ in range(2))
    tile = 64 if dtype == "f16" else 32
    begin = 0 if where == "first" else inner // tile * tile
    width = min(tile, inner - begin)
    assert width == tile or (where == "last" and 0 < width == inner % tile)
    x[:, begin : begin + width] = spread((n, width), kind)
    words = [x.ctypes.data, 0, y.ctypes.data, 0, 1, n, inner, n, 1]
    launch(twin, f"softmax_tile_{dtype}", words, 64, begin // tile)
    got = y[:, begin : begin + width]
    want = oracle.answer("Softmax", [x[:, begin : begin + width].copy()], 0)
    assert oracle.worst("Softmax", got.copy(), want) <= 1


def test_the_last_of_many_columns(twin, reserve):
    outer, n, inner = (1 << 31) // 96 + 5, 3, 34
    x, y = (reserve(outer * n * inner, np.float32).reshape(outer, n, inner) for _ in range(2))
    assert x.size > TWO_31 + 100
    x[-1] = spread((n, inner), np.float32)
    words = [x.ctypes.data, 0, y.ctypes.data, 0, outer, n, inner, n, 1]
    tiles = -(-outer * inner // 32)
    launch(twin, "softmax_tile_f32", words, 64, tiles - 3, 3)
    want = oracle.answer("Softmax", [x[-1].copy()], 0)
    assert oracle.worst("Softmax", y[-1].copy(), want) <= 1


@pytest.mark.parametrize("operator", ["softmax", "softmax_backward"])
def test_the_end_of_a_row_of_2_31_elements(twin, reserve, operator):
    """First and last chunk of the second of two rows: what they sum, and what they write."""
    outer, n = 2, TWO_31 + 5
    plan = launches(operator, "f16", (outer, n, 1), 132)
    *_, chunk, chunks = plan.fields
    arrays = [reserve(outer * n, np.float16) for _ in range(3)]
    scratch = np.full(plan.scratch_bytes // 8, np.nan)
    row, begin = arrays[0][n:], (chunks - 1) * chunk
    tail = n - begin
    row[begin:] = spread(tail, np.float16)
    arrays[1][n + begin :] = 0.5
    backward = operator != "softmax"
    words = [
        arrays[0].ctypes.data, arrays[1].ctypes.data if backward else 0, arrays[2].ctypes.data,
        scratch.ctypes.data, *plan.fields,
    ]  # fmt: skip
    launch(twin, f"{operator}_partial_f16", words, 512, 2 * chunks - 1)
    values = scratch[: 2 * outer * chunks].reshape(2, outer, chunks)
    wide = row[begin:].astype(np.float64)
    if backward:
        assert values[0, 1, -1] == pytest.approx((wide * 0.5).sum(), rel=1e-6)
        per_row = [0.25]
    else:
        assert values[0, 1, -1] == wide.max()
        assert values[1, 1, -1] == pytest.approx(np.exp(wide - wide.max()).sum(), rel=1e-6)
        per_row = [wide.max(), 0.25]
    assert np.isnan(values[0, 1, :-1]).all()
    for which, value in enumerate(per_row):
        scratch[2 * outer * chunks + which * outer + 1] = value
    launch(twin, f"{operator}_chunks_f16", words, 512, 2 * chunks - 1)
    got = arrays[2][n + begin :]
    want = 0.5 * (wide - 0.25) if backward else np.exp(wide - wide.max()) * 0.25
    np.testing.assert_allclose(got.astype(np.float64), want, rtol=2e-3, atol=1e-7)
    assert not arrays[2][n + begin - 10_000 : n + begin].any()


def test_copies_of_more_than_2_31_elements(twin, reserve):
    """The end of a reversed view, and of a transposed one."""
    n = (1 << 32) + 77  # beyond 32 bits without a sign, too
    source, target = reserve(n, np.uint8), reserve(n, np.uint8)
    source[:50] = np.arange(50)
    words = [source.ctypes.data + n - 1, target.ctypes.data]
    plan = launches("copy_strided", "b1", (1, n, -1, 1), 132)
    launch(twin, "copy_strided_b1", [*words, *plan.fields], 256, (n - 1) // 256)
    assert np.array_equal(target[-50:], np.arange(50)[::-1])

    rows, columns = 1 << 16, (1 << 15) + 33
    source, target = (reserve(rows * columns, np.uint16) for _ in range(2))
    source[-40:] = np.arange(1, 41)
    plan = launches("copy_strided", "b2", (2, columns, rows, 2, columns * 2, rows * 2, 2), 132)
    (one,) = plan.launches
    assert one.function == "copy_transposed_b2"
    squares = -(-rows // 32) * -(-columns // 32)
    words = [source.ctypes.data, target.ctypes.data]
    launch(twin, one.function, [*words, *plan.fields], 256, squares - 1)
    turned = target.reshape(columns, rows)
    assert np.array_equal(turned[-1:, -1], [40])
    assert (columns - 1) % 32 == 0  # the last square holds one column


def test_casts_of_more_than_2_31_elements(twin, reserve):
    n = TWO_31 + 9
    source, target = reserve(n, np.float16), reserve(n, np.float32)
    source[-9:] = np.arange(1, 10)
    words = [source.ctypes.data, target.ctypes.data, n]
    launch(twin, "cast_f16_f32", words, 256, (n - 1) // (256 * 8))
    assert target[-9:].tolist() == list(range(1, 10))
    assert target[-10] == 0


def program(kernel, elements, dims, masks, kinds, source=4, target=4):
    """Addition of each operand, uint8 by default: parameters of a post_ops or fused step."""
    words = [kind | mask << 16 for kind, mask in zip(kinds, masks, strict=True)]
    ops = [word for k in range(len(kinds)) for word in (k << 8, 0)]
    head = (elements,) if kernel == "post_ops" else elements
    return (*head, source, target, len(dims), len(kinds), len(kinds), *dims, *words, *ops)


def test_post_ops_of_more_than_2_32_elements(twin, reserve):
    """A row that is repeated beside a whole of beyond 32 bits without a sign, too."""
    rows, columns = (1 << 16) + 3, (1 << 16) + 1
    n = rows * columns
    source, target = reserve(n, np.uint8), reserve(n, np.uint8)
    source[-6:] = np.arange(6)
    row = np.zeros(columns, np.uint8)
    row[-6:] = [10, 20, 30, 40, 50, 60]
    plan = launches("post_ops", "f32", program("post_ops", n, (rows, columns), [1], [4]), 132)
    head = addresses("post_ops", [source.ctypes.data, row.ctypes.data], target.ctypes.data, 0)
    launch(twin, "post_ops", [*head, *plan.fields], 256, (n - 1) // 1024 - 1, 2)
    assert target[-6:].tolist() == [10, 21, 32, 43, 54, 65]
    assert target[-7] == 0


def test_the_last_of_many_fused_rows(twin, reserve):
    """More than 2^31 elements; the operand has one value a row."""
    outer, n = (1 << 31) // 128 + 7, 128
    x, y = reserve(outer * n, np.uint8), reserve(outer * n, np.float32)
    column = reserve(outer, np.float32)
    x[-n:] = np.arange(n) % 5
    column[-1] = 2
    params = program("softmax_fused", (outer, n, 1, 0), (outer, n), [2], [0], target=0)
    plan = launches("softmax_fused", "f32", params, 132)
    (one,) = plan.launches
    reads = [x.ctypes.data, column.ctypes.data]
    head = addresses("softmax_fused", reads, y.ctypes.data, 0)
    launch(twin, one.function, [*head, *plan.fields], one.threads, (outer - 1) // 4)
    assert_softmax(x[-n:].astype(np.float32), y[-n:] - 2)


def test_columns_of_a_wide_fused_tensor(twin, reserve):
    n, inner = 3, TWO_31 + 34
    x, y = reserve(n * inner, np.uint8), reserve(n * inner, np.uint8)
    x.reshape(n, inner)[:, -2:] = [[1, 2], [3, 9], [5, 2]]
    scale = np.array([100], np.float32)
    params = program("softmax_fused", (1, n, inner, 0), (n * inner,), [1], [0])
    plan = launches("softmax_fused", "f32", (*params[:-2], 1, 0), 132)  # a multiplication
    head = addresses("softmax_fused", [x.ctypes.data, scale.ctypes.data], y.ctypes.data, 0)
    launch(twin, "softmax_fused_tile", [*head, *plan.fields], 64, inner // 32)
    want = np.exp(np.array([[1, 2], [3, 9], [5, 2]], float))
    want = np.rint(100 * want / want.sum(axis=0))
    assert y.reshape(n, inner)[:, -2:].tolist() == want.tolist()
