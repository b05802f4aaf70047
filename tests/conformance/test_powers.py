# SPDX-License-Identifier: Apache-2.0
"""The power after a softmax: its bound in ulps, its edges, the same bits everywhere.

Rows whose numbers are at most 60 apart take the power of a softmax by its exponentials, and its
logarithm by its differences, where they are as long as whole lines (fused_powers.h), with bounds of
their own.
"""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from aclnn_native import lib
from aclnn_py.core import settings
from aclnn_py.core.dtype import as_dtype
from aclnn_py.core.extras import Binary, Eltwise, Extras
from conformance.test_fused_post_ops import ISAS
from support.fused import forward

FUSING = [isa for isa in ISAS if isa != "baseline"]
TINY = np.float32(2.0**-126)
#: Exponents of moderate size and not integral have a way of their own: |y| up to this.
MODERATE = 4.0
#: The documented bounds: of that way, and of the others.
ULPS, ULPS_ELSEWHERE = 1.3, 2.0
#: Classes of numbers, and the last ones before the next class.
CLASSES = np.array(
    [np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf, -1.0, -2.5, -1e-40, -3e38, 1.0, 1e-45, 1e-40,
     TINY, np.nextafter(TINY, np.float32(0)), np.nextafter(np.float32(1), np.float32(0)),
     np.nextafter(np.float32(1), np.float32(2)), np.finfo(np.float32).max],
    np.float32,
)  # fmt: skip


def powers(device, stream, x, y, isa, alpha=1.0):
    """Alpha x^y: what a softmax gives is multiplied by -0, and x is added, -0 too."""
    extras = Extras(post_ops=(Binary("mul"), Binary("add"), Eltwise("pow", alpha, y)))
    zero = np.full((1,) * x.ndim, -0.0, np.float32)
    with settings.override(isa=isa, fallback="error"):
        got = forward(
            device, stream, extras, np.ones(x.shape, np.float32), "float32", -1,
            post_op_0_src1=zero, post_op_1_src1=x,
        )  # fmt: skip
    return got["dst"]


def wanted(x, y):
    """C's pow in float64; an exponent for each element keeps NumPy from taking a square root."""
    with np.errstate(all="ignore"):
        return np.power(x.astype(np.float64), np.full(x.shape, np.float64(np.float32(y))))


def numbers(shape, seed=0):
    """Positive floats of all magnitudes, of probabilities', and around 1; the classes first."""
    rng = np.random.default_rng(seed)
    count = int(np.prod(shape))
    any_bits = rng.integers(1, 0x7F800000, count)
    likely = rng.integers(0x30000000, 0x3F800001, count)
    near_one = 0x3F800000 + rng.integers(-(1 << 12), 1 << 12, count)
    bits = np.choose(rng.integers(0, 3, count), (any_bits, likely, near_one))
    x = bits.astype(np.uint32).view(np.float32)
    x[: len(CLASSES)] = CLASSES
    return x.reshape(shape)


def check(x, y, got):
    """Edges as C's pow has them, everything else within the bound."""
    want = wanted(x, y)
    with np.errstate(all="ignore"):
        rounded = want.astype(np.float32)
        plain = np.isfinite(rounded) & (rounded != 0)
        np.testing.assert_array_equal(got[~plain], rounded[~plain], err_msg=str(y))
        assert np.array_equal(np.signbit(got[rounded == 0]), np.signbit(rounded[rounded == 0]))
        ulp = np.spacing(np.maximum(np.abs(rounded), TINY)).astype(np.float64)
        error = np.where(plain, np.abs(got.astype(np.float64) - want) / ulp, 0.0)
    bound = ULPS if abs(y) <= MODERATE else ULPS_ELSEWHERE
    at = np.unravel_index(np.argmax(error), error.shape)
    assert error[at] <= bound, (y, x[at], got[at], want[at])


@pytest.mark.parametrize("isa", ISAS)
@given(st.one_of(st.floats(-4, 4, width=32), st.floats(-12, 12, width=32)), st.integers(0, 2**32))
def test_bound_and_edges(device, stream, isa, y, seed):
    x = numbers((3, 320), seed)
    check(x, y, powers(device, stream, x, y, isa))


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("y", [0.3, -0.3, 1.7, -3.3, 3.999, 2.0**-140, 4.5, -7.7, -2, 5, 0.5, -0.5])
def test_bound_and_edges_of_many(device, stream, isa, y):
    x = numbers((4, 8192), 7)
    check(x, y, powers(device, stream, x, y, isa))


@pytest.mark.parametrize("isa", ISAS)
@given(st.floats(-4, 4, width=32))
def test_powers_of_one(device, stream, isa, y):
    assert (powers(device, stream, np.ones((1, 64), np.float32), y, isa) == 1).all()


@pytest.mark.skipif(len(FUSING) < 2, reason="one instruction set with fused products, or none")
@pytest.mark.parametrize("y", [0.3, -0.3, 2.5, -3.3, 4.5, -7.7, 100.5])
def test_instruction_sets_have_the_same_bits(device, stream, y):
    """NaNs are NaNs; which, is not said."""
    x = numbers((4, 8192), 9)
    one, other = (powers(device, stream, x, y, isa, 0.75) for isa in FUSING)
    np.testing.assert_array_equal(one, other)
    assert np.array_equal(np.signbit(one[one == 0]), np.signbit(other[other == 0]))


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("y", [0.3, -2.5, -7.7])
def test_neighbours_do_not_matter(device, stream, isa, y):
    """Rows whole quads of vectors in registers, rows that wait for others, rows of a few."""
    x = numbers((16, 2496), 11)
    whole = powers(device, stream, x, y, isa)
    for width in (39, 48, 832):
        parts = powers(device, stream, x.reshape(-1, width), y, isa)
        np.testing.assert_array_equal(parts.reshape(x.shape), whole)
    back = powers(device, stream, np.ascontiguousarray(x[::-1, ::-1]), y, isa)[::-1, ::-1]
    np.testing.assert_array_equal(back, whole)


#: Of a power to the first, made of a softmax's exponentials, and of the operations in turn, of what
#: the differences x - max give.
ULPS_OF_ROWS, ULPS_IN_TURN = 4.0, 8.0


def calm_rows(rng, shape, origin):
    """Rows of several spreads, the largest at 60, by chance at the end of a quad or of the row."""
    x = rng.normal(size=shape) * rng.choice([1e-3, 1.0, 4.0], (shape[0], 1))
    x -= x.max(axis=1, keepdims=True)
    x[::3, rng.integers(0, shape[1])] -= np.float64(60) + x[::3].min(axis=1)
    return (np.maximum(x, -60) + rng.integers(-100, 100)).astype(origin)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("origin", ["float32", "float16"])
@given(st.floats(-1, 1, width=32).filter(lambda y: abs(y) > 1e-6), st.integers(0, 2**32))
def test_bound_of_rows(device, stream, isa, origin, y, seed):
    """Alpha (s e^d / sum)^y, each row within 60; float64 from the rounded differences on."""
    rng = np.random.default_rng(seed)
    x = calm_rows(rng, (7, 64 * int(rng.integers(1, 9))), origin)
    scale = np.float32(rng.choice([1.0, 8.0, 0.3]))
    alpha = float(rng.choice([1.0, 0.75]))
    extras = Extras(src_scale=True, post_ops=(Eltwise("pow", alpha, y),))
    with settings.override(isa=isa, fallback="error"):
        got = forward(device, stream, extras, x, "float32", -1, src_scale=np.array([scale]))["dst"]
    d = (x.astype(np.float32) - x.max(axis=1, keepdims=True).astype(np.float32)).astype(np.float64)
    e = np.exp(d)
    want = alpha * (np.float64(scale) * e / e.sum(axis=1, keepdims=True)) ** np.float64(y)
    error = np.abs(got - want) / np.spacing(np.abs(want).astype(np.float32))
    own = isa in FUSING and abs(y) not in {0.5, 1.0}
    assert error.max() <= (ULPS_OF_ROWS if own else ULPS_IN_TURN), (y, scale, error.max())


#: Of a logarithm of such rows: in ulps, or, times the factor behind it, absolute.
ULPS_OF_LOGS, ABSOLUTE_OF_LOGS = 2.0, 1.2e-7


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("origin", ["float32", "float16"])
@given(
    st.sampled_from([1.0, 4.0, 0.3, 0.0625]), st.sampled_from([1, 0.25, 7.3]), st.integers(0, 2**32)
)
def test_bound_of_logarithms_of_rows(device, stream, isa, origin, scale, factor, seed):
    """ln(s e^d / sum) times a factor; the scales reach to where a logarithm is taken in turn."""
    rng = np.random.default_rng(seed)
    x = calm_rows(rng, (7, 64 * int(rng.integers(1, 9))), origin)
    scale, factor = np.float32(scale), np.float32(factor)
    divides = bool(rng.integers(0, 2))
    behind = Binary("div" if divides else "mul")
    extras = Extras(src_scale=True, post_ops=(Eltwise("log"), behind))
    operand = np.array([[1 / factor if divides else factor]], np.float32)
    given = {"src_scale": np.array([scale]), "post_op_1_src1": operand}
    with settings.override(isa=isa, fallback="error"):
        got = forward(device, stream, extras, x, "float32", -1, **given)["dst"]
    d = (x.astype(np.float32) - x.max(axis=1, keepdims=True).astype(np.float32)).astype(np.float64)
    times = 1 / operand.astype(np.float64) if divides else operand.astype(np.float64)
    want = times * (np.log(np.float64(scale)) + d - np.log(np.exp(d).sum(axis=1, keepdims=True)))
    allowed = ULPS_OF_LOGS * np.spacing(np.abs(want).astype(np.float32))
    excess = np.abs(got - want) / np.maximum(allowed, ABSOLUTE_OF_LOGS * times)
    assert excess.max() <= 1, (scale, operand, divides, excess.max())


@pytest.fixture(params=[0, 4096], ids=["caches", "past"])
def last_level(request):
    lib.aclpy_cache_set_last_level(request.param)
    yield
    lib.aclpy_cache_set_last_level(0)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("columns", [16, 32, 64, 128, 192, 1024])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize(
    "op",
    [
        Eltwise("log"), Eltwise("pow", 1, 0.3), Eltwise("pow", 2, -0.7), Eltwise("tanh"),
        Eltwise("swish", 1), Eltwise("linear", 1.7, 0.25),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("last_level")
def test_the_same_bits_wherever_results_lie(device, stream, isa, columns, dtype, op):
    """At a line and behind one; rows that are calm and rows that are not."""
    rng = np.random.default_rng(columns)
    x = calm_rows(rng, (7 if columns < 64 else 23, columns), "float32")
    x[5::7] *= 9
    x = x.astype(as_dtype(dtype).numpy)
    found = []
    for offset in (0, 1, 3):
        room = device.zeros((x.size + 64,), dtype)
        dst = room.view(x.shape, offset=offset)
        with settings.override(isa=isa, fallback="error"):
            forward(device, stream, Extras(post_ops=(op,)), x, dtype, -1, dst=dst)
        every = room.numpy()
        assert not every[:offset].any()
        assert not every[offset + x.size :].any()
        found.append(every[offset : offset + x.size].tobytes())
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("place", [0, 1])
def test_factors_that_differ_from_row_to_row(device, stream, isa, place):
    """A product before or behind the power, whose operand has a value for each row."""
    x = calm_rows(np.random.default_rng(3), (5, 512), "float32")
    factor = np.array([1, 2, 0, 8, 0.5], np.float32)[:, None]
    power = Eltwise("pow", 1.0, 0.3)
    ops = (Binary("mul"), power) if place == 0 else (power, Binary("mul"))
    given = {f"post_op_{place}_src1": factor}
    with settings.override(isa=isa, fallback="error"):
        got = forward(device, stream, Extras(post_ops=ops), x, "float32", -1, **given)["dst"]
    e = np.exp((x - x.max(axis=1, keepdims=True)).astype(np.float64))
    t = e / e.sum(axis=1, keepdims=True)
    y = np.float64(np.float32(0.3))
    want = (t * factor) ** y if place == 0 else t**y * factor
    np.testing.assert_allclose(got, want, rtol=8 * 2.0**-23, atol=0)
