# SPDX-License-Identifier: Apache-2.0
"""The text of the CUDA kernels, run on the host against the oracle.

Indexing, tails, reductions and the choice of kernels are executed; what only a card can show
(speed, its own exp and log, memory ordering between threads) is not.
"""

from __future__ import annotations

import os

import numpy as np
import pytest

from support import cuda_twin, oracle
from support.cuda_twin import Guarded, Twin, placed
from support.problems import OPERATORS, random_inputs

pytestmark = pytest.mark.skipif(
    cuda_twin.compiler() is None, reason="no C++ compiler (set CXX, or install g++)"
)

F32, F64 = oracle.F32, oracle.F64
DTYPES = {"f32": F32, "f16": oracle.F16, "bf16": oracle.BF16, "f64": F64}
NAMES = {
    "Softmax": "softmax",
    "LogSoftmax": "log_softmax",
    "SoftmaxBackward": "softmax_backward",
    "LogSoftmaxBackward": "log_softmax_backward",
}
#: outer, n, inner, processors. Rows of every length a kernel begins or ends at; few processors
#: keep rows whole, many divide them.
ROWS = [
    (5, 1, 1, 1), (3, 31, 1, 1), (4, 32, 1, 1), (5, 33, 1, 1), (3, 127, 1, 1), (9, 128, 1, 1),
    (2, 129, 1, 1), (2, 257, 1, 1), (3, 512, 1, 1), (3, 1000, 1, 1), (3, 1024, 1, 1),
    (2, 1025, 1, 1), (2, 2048, 1, 1), (2, 4099, 1, 1), (1, 16384, 1, 1), (1, 33001, 1, 1),
    (2, 8192, 1, 1), (2, 8195, 1, 1), (2, 20483, 1, 1), (1, 40961, 1, 1), (1, 66001, 1, 1),
    (2, 33001, 1, 1), (2, 50257, 1, 1), (2, 90115, 1, 1), (2, 172_041, 1, 1),
]  # fmt: skip
DIVIDED = [(1, 70001, 1, 132), (2, 65536, 1, 132)]
TILES = [
    (3, 5, 7, 1), (2, 100, 33, 1), (1, 9, 64, 1), (40, 3, 2, 1), (1, 700, 31, 1), (1, 300, 1026, 1),
]  # fmt: skip
STRIPS = [
    (3, 16, 8, 1), (2, 100, 24, 1), (1, 700, 72, 1), (2, 1025, 16, 1), (1, 2600, 40, 1),
    (1, 1500, 104, 1), (1, 2561, 24, 1), (1, 4700, 16, 1), (1, 6000, 24, 1),
]  # fmt: skip
DIVIDED_TILES = [(1, 2500, 3, 132), (1, 2049, 40, 132)]
PROBLEMS = ROWS + DIVIDED + TILES + STRIPS + DIVIDED_TILES
OFFSETS = [(0, 0, 0), (1, 3, 2), (0, 1, 0)]


@pytest.fixture(scope="session")
def twin():
    return Twin(cuda_twin.library())


def problem(operator, shape, dtype, seed=0):
    """Inputs of one problem, with values whose terms cancel where there are gradients."""
    return random_inputs(operator, shape, dtype, 1, seed)


def run(twin, operator, dtype, params, arrays, offsets=(0, 0, 0), **options):
    """The result, out of memory that lies as `offsets` say; nothing beside it is written."""
    *shape, processors = params
    inputs = [placed(array, by) for array, by in zip(arrays, offsets, strict=False)]
    out = Guarded(tuple(shape), arrays[0].dtype, offsets[2])
    step = (NAMES[operator], dtype, tuple(shape))
    twin.run(*step, inputs, out.array, processors=processors, **options)
    assert out.intact()
    for kept, given in zip(inputs, arrays, strict=True):
        assert oracle.same_bits(kept, given)
    return out.array


@pytest.mark.parametrize("params", PROBLEMS, ids=str)
@pytest.mark.parametrize("operator", OPERATORS)
def test_numbers(twin, operator, params):
    """Every dtype holds the oracle bound, wherever the operands lie."""
    for index, (dtype, numpy) in enumerate(DTYPES.items()):
        arrays = problem(operator, params[:3], numpy)
        got = run(twin, operator, dtype, params, arrays, OFFSETS[index % len(OFFSETS)])
        assert oracle.worst(operator, got, oracle.answer(operator, arrays, 1)) <= 1, dtype


#: Elements that fill the units of a block, of float32 and of two bytes.
FULL = [(2, n, 1, 1) for n in (1024, 8192, 12_288, 16_384, 24_576, 32_768, 65_536)]


@pytest.mark.parametrize("params", FULL, ids=str)
@pytest.mark.parametrize("operator", OPERATORS)
def test_rows_that_fill_a_block_wherever_they_lie(twin, operator, params):
    """Then no unit is left for the elements that a row which begins inside of one ends with."""
    for dtype, numpy in DTYPES.items():
        arrays = problem(operator, params[:3], numpy)
        first = run(twin, operator, dtype, params, arrays)
        assert oracle.worst(operator, first, oracle.answer(operator, arrays, 1)) <= 1, dtype
        for offsets in ((1, 1, 1), (0, 1, 0), (3, 0, 1)):
            got = run(twin, operator, dtype, params, arrays, offsets)
            assert oracle.worst(operator, got, oracle.answer(operator, arrays, 1)) <= 1, dtype


@pytest.mark.parametrize("shared", [0, 101_376])
@pytest.mark.parametrize("params", [(2, 20483, 1, 1), (2, 50257, 1, 1)], ids=str)
@pytest.mark.parametrize("operator", OPERATORS)
def test_cards_with_less_shared_memory(twin, operator, params, shared):
    for dtype, numpy in DTYPES.items():
        arrays = problem(operator, params[:3], numpy)
        got = run(twin, operator, dtype, params, arrays, (1, 1, 1), shared=shared)
        assert oracle.worst(operator, got, oracle.answer(operator, arrays, 1)) <= 1, dtype


@pytest.mark.parametrize(
    "params", [ROWS[9], ROWS[12], ROWS[21], DIVIDED[0], TILES[1], STRIPS[2]], ids=str
)
@pytest.mark.parametrize("operator", OPERATORS)
def test_where_operands_lie_and_threads_run_does_not_show(twin, operator, params):
    """Sums have precision to spare, so alignment keeps the bits; a missing barrier would not."""
    arrays = problem(operator, params[:3], F32, seed=1)
    first = run(twin, operator, "f32", params, arrays)
    for offsets in OFFSETS[1:]:
        assert oracle.same_bits(run(twin, operator, "f32", params, arrays, offsets), first)
    assert oracle.same_bits(run(twin, operator, "f32", params, arrays, backwards=True), first)


SEVERAL = [
    (9, 40, 1, 1), (4, 2049, 1, 1), (3, 17000, 1, 1), (2, 33000, 1, 132), (2, 90, 70, 1),
    (3, 33001, 1, 1), (3, 70001, 1, 1),
    (2, 90, 72, 1), (2, 2600, 40, 1),
]  # fmt: skip


@pytest.mark.parametrize("params", SEVERAL, ids=str)
@pytest.mark.parametrize("operator", OPERATORS)
def test_a_block_may_take_several_items(twin, operator, params):
    """What a block leaves in shared memory for one row does not reach the next."""
    arrays = problem(operator, params[:3], F32, seed=9)
    each = run(twin, operator, "f32", params, arrays)
    for backwards in (False, True):
        one = run(twin, operator, "f32", params, arrays, most_blocks=1, backwards=backwards)
        assert oracle.same_bits(one, each)


@pytest.mark.parametrize(
    "params", [ROWS[5], ROWS[11], ROWS[22], DIVIDED[1], TILES[2], STRIPS[4]], ids=str
)
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@pytest.mark.parametrize("operator", OPERATORS)
def test_half_precision_is_float32_rounded_once(twin, operator, dtype, params):
    """Gradients to the bit; exponentials for two bytes are coarser, to 2^-16 of a result."""
    arrays = problem(operator, params[:3], DTYPES[dtype], seed=2)
    wide = run(twin, operator, "f32", params, [array.astype(F32) for array in arrays])
    got = run(twin, operator, dtype, params, arrays)
    if operator == "SoftmaxBackward":
        assert oracle.same_bits(got, oracle.cast(wide, DTYPES[dtype]))
        return
    away = np.abs(wide) * F32.type(2**-16)
    assert (oracle.cast(wide - away, DTYPES[dtype]) <= got).all()
    assert (got <= oracle.cast(wide + away, DTYPES[dtype])).all()


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("shape", [(1, 64, 8), (1, 512, 8), (1, 64, 1), (1, 64, 3), (2, 300, 16)])
def test_logarithms_near_0(twin, dtype, shape):
    """One element of a row has nearly all of the probability; what the others have still counts."""
    for small in (-16.625, -16.5, -11.0, -9.5):
        x = np.full(shape, small, DTYPES[dtype])
        x[:, 0] = 0
        got = run(twin, "LogSoftmax", dtype, (*shape, 1), [x])
        assert oracle.worst("LogSoftmax", got, oracle.answer("LogSoftmax", [x], 1)) <= 1


@pytest.mark.parametrize("shape", [(1, 16, 1), (1, 1024, 1), (2, 40, 8)])
def test_sums_that_overflow_only_together(twin, shape):
    """Gradients of bfloat16 whose fours are infinite, and their sums are not."""
    g = np.zeros(shape, oracle.BF16)
    g[:, :4] = np.array([-1.5, 1, 1, 1], np.float32).reshape(1, 4, 1) * np.float32(2e38)
    y = np.full(shape, -np.log(shape[1]), oracle.BF16)
    got = run(twin, "LogSoftmaxBackward", "bf16", (*shape, 1), [g, y])
    want = run(twin, "LogSoftmaxBackward", "f32", (*shape, 1), [a.astype(F32) for a in (g, y)])
    assert np.isfinite(want).all()
    np.testing.assert_allclose(got.astype(F32), want, rtol=2**-7)


@pytest.mark.parametrize(
    "params", [ROWS[8], ROWS[12], ROWS[15], *ROWS[21:23], DIVIDED[0], *TILES[:2], *STRIPS[3:]],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("operator", OPERATORS)
def test_in_place(twin, operator, params):
    *shape, processors = params
    arrays = problem(operator, shape, F32, seed=3)
    apart = run(twin, operator, "f32", params, arrays)
    for which in range(len(arrays)):
        inputs = [array.copy() for array in arrays]
        step = (NAMES[operator], "f32", tuple(shape))
        twin.run(*step, inputs, inputs[which], processors=processors)
        assert oracle.same_bits(inputs[which], apart)


@pytest.mark.parametrize(
    "params",
    [
        (6, 40, 1, 1),
        (6, 1500, 1, 1),
        (6, 17000, 1, 1),
        (6, 33001, 1, 1),
        (6, 70001, 1, 132),
        (6, 50, 3, 1),
        (6, 50, 8, 1),
        (6, 3000, 3, 132),
        (6, 3000, 8, 1),
        (6, 3000, 8, 132),
    ],
    ids=str,
)
@pytest.mark.parametrize("operator", ["Softmax", "LogSoftmax"])
def test_special_rows(twin, operator, params):
    """-inf in places, everywhere and in a whole chunk; NaN and inf stay in their rows."""
    for dtype, numpy in DTYPES.items():
        (x,) = problem(operator, params[:3], numpy, seed=4)
        n = params[1]
        x[0] = -np.inf
        x[1, n // 2] = np.nan
        x[2, : n // 2] = -np.inf
        x[3, 7] = np.inf
        x[4] *= 1000 if numpy != oracle.F16 else 100
        got = run(twin, operator, dtype, params, [x])
        assert np.isnan(got[0]).all()
        assert np.isnan(got[1]).all()
        assert oracle.worst(operator, got, oracle.answer(operator, [x], 1)) <= 1, dtype


@pytest.mark.parametrize(
    "params",
    [
        (3, 40, 1, 1),
        (3, 3000, 1, 1),
        (3, 17000, 1, 1),
        (3, 33001, 1, 1),
        (3, 70001, 1, 132),
        (3, 50, 3, 1),
        (3, 3000, 3, 132),
    ],
    ids=str,
)
@pytest.mark.parametrize("operator", ["SoftmaxBackward", "LogSoftmaxBackward"])
def test_special_gradients(twin, operator, params):
    for dtype, numpy in DTYPES.items():
        g, y = problem(operator, params[:3], numpy, seed=5)
        g[0, 3] = np.nan
        g[1, 5] = np.inf
        got = run(twin, operator, dtype, params, [g, y])
        assert np.isnan(got[0]).all()
        assert not np.isnan(got[2]).any()
        assert oracle.worst(operator, got, oracle.answer(operator, [g, y], 1)) <= 1, dtype


@pytest.mark.parametrize("params", [(4, 300, 1, 1), (3, 9000, 1, 1), (3, 50, 40, 1)], ids=str)
def test_gradients_that_cancel(twin, params):
    """A large part that all gradients share must leave nothing behind but the small one."""
    g, y = problem("SoftmaxBackward", params[:3], F32, seed=10)
    g += np.float32(3000)
    got = run(twin, "SoftmaxBackward", "f32", params, [g, y])
    want = oracle.answer("SoftmaxBackward", [g, y], 1)
    assert oracle.worst("SoftmaxBackward", got, want, to_the_letter=True) <= 1


TARGETS = {
    **DTYPES,
    **{name: np.dtype(kind) for name, kind in {
        "bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
        "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
        "c64": np.complex64, "c128": np.complex128}.items()},
}  # fmt: skip
PICKS = [
    0.0, -0.0, 0.4999, 0.5, -0.5, 1.5, -1.5, 2.5, 126.9, 127.5, -128.9, 255.5, 300.0, -300.0,
    32767.5, -32769.0, 65504.0, 65519.9, 65520.0, 7e4, -7e4, 2147483520.0, 2147483648.0,
    -2147483904.0, 4294967040.0, 5e9, -5e9, 9.2e18, 9.3e18, -9.3e18, 1.8e19, 1.9e19, 1e25, -1e25,
    1e-8, -6e-8, 6.1e-5, 1e-30, 1e-40, 3e38, 1e300, np.nan, np.inf, -np.inf,
    1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-8 + 2.0**-40,
]  # fmt: skip


CASTS = [(source, target) for source in DTYPES for target in TARGETS if source != target]


@pytest.mark.parametrize(("source", "target"), CASTS)
def test_casts(twin, source, target):
    rng = np.random.default_rng(6)
    spread = np.ldexp(rng.uniform(-1, 1, 2500), rng.integers(-20, 70, 2500))
    x = oracle.cast(np.concatenate([PICKS, spread]), DTYPES[source])
    want = oracle.cast(x, TARGETS[target])
    for at, to in ((0, 0), (1, 0), (0, 1), (3, 2)):
        out = Guarded(x.shape, TARGETS[target], to)
        twin.run("cast", f"{source}_{target}", (x.size,), [placed(x, at)], out.array)
        assert out.intact()
        assert oracle.same_bits(out.array, want)


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
def test_strided_copies(twin, size):
    """Transposed, reversed, broadcast; gaps of the destination stay as they were."""
    kind = np.dtype(f"V{size}")
    base = np.random.default_rng(7).integers(0, 256, 6 * 7 * 8 * size, np.uint8).view(kind)
    base = base.reshape(6, 7, 8)
    for view in (
        base.transpose(2, 0, 1),
        base[::-1, ::2, ::-3],
        base[:1].transpose(1, 2, 0),
        np.broadcast_to(base[0, 0], (5, 8)),
        base[2, 3, 4:5].reshape(()),
    ):
        room = Guarded((*view.shape, 2), kind)
        room.array.view(np.uint8)[...] = 0x5A
        want = room.array.copy()
        out = room.array[..., 0]
        want[..., 0] = view
        params = (view.ndim, *view.shape, *view.strides, *out.strides)
        twin.run("copy_strided", f"b{size}", params, [view], out)
        assert room.intact()
        assert room.array.tobytes() == want.tobytes()


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
def test_transposing_copies(twin, size):
    """Squares, their edges, dimensions around and between; gaps stay as they were."""
    kind = np.dtype(f"V{size}")
    for shape, order in (
        ((40, 33), (1, 0)),
        ((16, 100), (1, 0)),
        ((3, 64, 31), (0, 2, 1)),
        ((33, 3, 40), (2, 1, 0)),
        ((2, 32, 2, 17), (3, 2, 0, 1)),
    ):
        base = np.random.default_rng(8).integers(0, 256, (*shape, size), np.uint8).view(kind)
        view = base[..., 0].transpose(order)
        room = Guarded((*view.shape[:-1], view.shape[-1] + 2), kind, offset=1)
        room.array.view(np.uint8)[...] = 0x5A
        want = room.array.copy()
        out = room.array[..., :-2]
        want[..., :-2] = view
        params = (view.ndim, *view.shape, *view.strides, *out.strides)
        for most_blocks in (None, 1):
            twin.seen.clear()
            twin.run("copy_strided", f"b{size}", params, [view], out, most_blocks=most_blocks)
            assert twin.seen == {f"copy_transposed_b{size}"}
            assert room.intact()
            assert room.array.tobytes() == want.tobytes()
            out[...] = np.zeros(1, kind)


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
def test_ordered_copies(twin, size):
    """Overlapping destinations: what row-major order writes last stays."""
    source = np.arange(12 * size, dtype=np.uint8).view(f"V{size}")
    out = Guarded((6,), f"V{size}")
    params = (2, 4, 3, 3 * size, size, size, size)
    twin.run("copy_ordered", f"b{size}", params, [source], out.array)
    want = [source[0], source[3], source[6], source[9], source[10], source[11]]
    assert out.intact()
    assert [item.tobytes() for item in out.array] == [item.tobytes() for item in want]


def test_the_twin_finds_what_it_looks_for(twin):
    """A barrier that one thread misses, and a result that depends on the order of threads."""
    assert twin.launch("twin_broken", 1, 64, []) == -1
    assert twin.launch("twin_broken", 1, 33, []) == -2
    memory = np.full(128, -1, np.int32)
    assert twin.launch("twin_racing", 1, 64, [memory.ctypes.data]) == 0
    forwards, memory[:] = memory.copy(), -1
    assert twin.launch("twin_racing", 1, 64, [memory.ctypes.data], backwards=True) == 0
    assert not np.array_equal(forwards, memory)


@pytest.mark.skipif(
    os.environ.get("TWIN") != "full", reason="takes a build of its own: make test-cuda"
)
def test_sanitizers_find_nothing(tmp_path):
    """A spread of problems in another process, the twin built with ASan and UBSan."""
    runtime = cuda_twin.sanitizer_runtime()
    if runtime is None:
        pytest.skip("the C++ compiler has no address sanitizer of its own to load")
    library = cuda_twin.build(tmp_path, *cuda_twin.SANITIZE)
    done = cuda_twin.run_sanitized(runtime, library, SANITIZED)
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.split() == ["ran", str(len(SANITIZED_SHAPES) * 16)]
    # The measure measures: an output one row short is written past its end, and that is seen.
    short = SANITIZED.replace("0, 0\n", "0, 1\n", 1)
    assert short != SANITIZED
    planted = cuda_twin.run_sanitized(runtime, library, short)
    assert planted.returncode != 0
    assert "AddressSanitizer: heap-buffer-overflow" in planted.stderr


SANITIZED_SHAPES = [
    (5, 33, 1, 1), (3, 1000, 1, 1), (2, 1500, 1, 1), (2, 17001, 1, 1), (1, 70001, 1, 132),
    (3, 50, 7, 1), (1, 2049, 33, 132),
]  # fmt: skip
SANITIZED = f"""
import sys
from pathlib import Path

import numpy as np

from support.cuda_twin import Twin, placed

twin, ran, rows = Twin(Path(sys.argv[1])), 0, 0
kernels = ("softmax", "log_softmax", "softmax_backward", "log_softmax_backward")
for *shape, processors in {SANITIZED_SHAPES}:
    for kernel in kernels:
        for index, dtype in enumerate(("f32", "f16", "bf16", "f64")):
            size = {{"f32": 4, "f64": 8}}.get(dtype, 2)
            kind = np.dtype(f"u{{size}}")
            inputs = [placed(np.zeros(shape, kind), (index + k) % 4) for k in range(2)]
            out = placed(np.zeros((shape[0] - rows, *shape[1:]), kind), index)
            twin.run(kernel, dtype, tuple(shape), inputs, out, processors=processors)
            ran += 1
print("ran", ran)
"""
