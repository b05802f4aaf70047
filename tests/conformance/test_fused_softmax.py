# SPDX-License-Identifier: Apache-2.0
"""The fused forward: every pairing of types, every way of cutting the work, special rows, stats."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from aclnn_native import lib
from aclnn_py.core import settings
from aclnn_py.core.extras import Binary, Eltwise, Extras
from aclnn_py.core.isa import supported
from support.fused import forward

ISAS = supported()
E5M2, E4M3 = ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn
TYPES = [
    np.dtype(t) for t in (np.float32, ml_dtypes.bfloat16, np.float16, np.int8, np.uint8, E5M2, E4M3)
]
NAMES = [t.name for t in TYPES]
# Rows packed into runs, single rows, also with one to four vectors behind their last quad, rows and
# columns in chunks, tiles of columns narrow and wide.
CUTS = [((70, 13), 1), ((3, 1024), 1), ((5, 1025), 1), ((9, 5000), -1), ((2, 40000), 1),
        ((7, 1047), 1), ((7, 1000), 1), ((6, 250), 1),
        ((1, 50001), 1), ((4, 6, 50), 1), ((3, 40, 600), 1), ((2, 300, 1030), 1),
        ((1, 5000, 40), 1), ((2, 7, 3), 1),
        ((5000, 2), 0), ((64, 1), 0), ((1, 1), 1)]  # fmt: skip


@pytest.fixture(params=ISAS)
def isa(request):
    with settings.override(isa=request.param, fallback="error"):
        yield request.param


def source(shape, dtype, seed=2):
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max + 1, shape).astype(dtype)
    return (rng.normal(size=shape) * 3).astype(dtype)


def exact(x, axis, algorithm="softmax"):
    x = x.astype(np.float64)
    with np.errstate(all="ignore"):
        shifted = x - x.max(axis=axis, keepdims=True)
        total = np.exp(shifted).sum(axis=axis, keepdims=True)
        return np.exp(shifted) / total if algorithm == "softmax" else shifted - np.log(total)


def same(got, want):
    """Equal, NaN for NaN (float8 has no comparison of its own)."""
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got.astype(np.float64), want.astype(np.float64))


def one_step(dtype, value):
    """The distance between neighbours at a value."""
    if dtype.kind in "iu":
        return np.ones_like(value)
    info = ml_dtypes.finfo(dtype)
    exponent = np.floor(np.log2(np.maximum(np.abs(value), float(info.tiny))))
    return np.ldexp(float(info.eps), exponent.astype(int))


@pytest.mark.parametrize("algorithm", ["softmax", "log_softmax"])
@pytest.mark.parametrize("target", TYPES, ids=NAMES)
@pytest.mark.parametrize("origin", TYPES, ids=NAMES)
def test_every_pairing_of_types(device, stream, isa, origin, target, algorithm):
    """float32 within the plain bounds; narrower: the float32 result rounded once, clamped."""
    for shape, axis in (((9, 37), 1), ((2, 21, 35), 1)):
        x = source(shape, origin)
        full = forward(
            device,
            stream,
            Extras(algorithm, post_ops=(Eltwise("linear", 1, 0),)),
            x,
            "float32",
            axis,
        )["dst"]
        np.testing.assert_allclose(full, exact(x, axis, algorithm), rtol=6e-6, atol=1.2e-7)
        scale = np.array([1 / 200 if target.kind in "iu" else 0.5], np.float32)
        extras = Extras(algorithm, dst_scale=True)
        got = forward(device, stream, extras, x, target.name, axis, dst_scale=scale)["dst"]
        wanted = full / scale
        if target.kind in "iu":
            info = np.iinfo(target)
            wanted = np.rint(np.clip(wanted, info.min, info.max))
        with np.errstate(invalid="ignore"):  # beyond float8_e4m3fn is NaN
            same(got, wanted.astype(target))


@pytest.mark.parametrize("algorithm", ["softmax", "log_softmax"])
@pytest.mark.parametrize(("shape", "axis"), CUTS)
def test_every_cut(device, stream, isa, shape, axis, algorithm):
    extras = Extras(
        algorithm, src_scale=True, post_ops=(Binary("add"), Eltwise("relu", 0.5, 0)), stats=True
    )
    for dtype in (np.float32, np.float16, np.int8):
        x = source(shape, dtype)
        s = source(tuple([1] * (len(shape) - 1) + [shape[-1]]), np.float32, 7)
        got = forward(device, stream, extras, x, "float32", axis,
                      src_scale=np.array([3], np.float32), post_op_0_src1=s)  # fmt: skip
        t = exact(x, axis, algorithm) * 3 + s
        np.testing.assert_allclose(got["dst"], np.where(t > 0, t, 0.5 * t), rtol=6e-6, atol=2e-6)
        wide = x.astype(np.float64)
        top = wide.max(axis=axis, keepdims=True)
        stats = top + np.log(np.exp(wide - top).sum(axis=axis, keepdims=True))
        np.testing.assert_allclose(got["stats"], stats, rtol=3e-7, atol=1e-7)


@pytest.mark.parametrize(("shape", "axis"), CUTS)
@pytest.mark.parametrize("zero_rows", ["nan", "zero"])
def test_special_rows_stay_among_themselves(device, stream, isa, shape, axis, zero_rows):
    """Rows of only -inf beside ordinary ones, rows with NaN and +inf: each row decides alone."""
    x = source(shape, np.float32)
    rows = np.moveaxis(x, axis, -1).reshape(-1, shape[axis]).copy()
    kinds = np.arange(len(rows)) % 5
    rows[kinds == 1] = -np.inf
    rows[kinds == 2, 0] = np.nan
    rows[kinds == 3, -1] = np.inf
    rows[kinds == 4, ::2] = -np.inf
    if shape[axis] > 1:
        rows[np.arange(len(rows)) % 10 == 6] = -np.inf
        rows[np.arange(len(rows)) % 10 == 6, 1] = np.nan
    moved = np.moveaxis(x, axis, -1).shape
    x = np.ascontiguousarray(np.moveaxis(rows.reshape(moved), -1, axis))
    extras = Extras(zero_rows=zero_rows, stats=True, post_ops=(Eltwise("linear", 1, 0),))
    got = forward(device, stream, extras, x, "float32", axis)
    with np.errstate(all="ignore"):
        want = exact(x, axis)
    empty = np.broadcast_to(np.all(np.isneginf(x), axis=axis, keepdims=True), shape)
    if zero_rows == "zero":
        want = np.where(empty, 0.0, want)
        np.testing.assert_array_equal(got["stats"][np.all(empty, axis=axis, keepdims=True)], 0.0)
    np.testing.assert_allclose(got["dst"], want, rtol=1.2e-6, atol=1.2e-7, equal_nan=True)


def test_log_softmax_of_special_rows(device, stream, isa):
    x = np.array(
        [[-np.inf, 0, 1], [-np.inf] * 3, [np.inf, 0, 1], [np.nan, 0, 1], [3, 1, -1e30]], np.float32
    )
    got = forward(
        device, stream, Extras("log_softmax", post_ops=(Eltwise("linear", 1, 0),)), x, "float32", 1
    )
    want = exact(x, 1, "log_softmax")
    assert want[0, 0] == -np.inf
    np.testing.assert_allclose(got["dst"], want, rtol=6e-6, atol=1.2e-7, equal_nan=True)


TIES = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 126.5, 127.49, 127.5, 1e9, -128.5, -129, -1e9,
                 254.5, 255.5, np.inf, -np.inf, np.nan, 0.49999997, 3.0000002],
                np.float32)  # fmt: skip


@pytest.mark.parametrize("target", [np.int8, np.uint8])
def test_integers_clamp_then_round_to_even(device, stream, isa, target):
    t = TIES.reshape(1, -1)
    ones, zero = np.ones(t.shape, np.float32), np.zeros((1, 1), np.float32)
    extras = Extras(post_ops=(Binary("mul"), Binary("add")))
    got = forward(
        device,
        stream,
        extras,
        ones,
        np.dtype(target).name,
        1,
        post_op_0_src1=zero,
        post_op_1_src1=t,
    )
    info = np.iinfo(target)
    want = np.where(np.isnan(t), 0, np.rint(np.clip(t, info.min, info.max))).astype(target)
    np.testing.assert_array_equal(got["dst"], want)


@pytest.mark.parametrize(
    "target", [E5M2, E4M3, np.float16, ml_dtypes.bfloat16], ids=lambda d: np.dtype(d).name
)
def test_narrow_floats_round_to_even(device, stream, isa, target):
    rng = np.random.default_rng(1)
    t = np.ldexp(rng.uniform(-1, 1, 3000), rng.integers(-30, 20, 3000)).astype(np.float32)
    patterns = np.arange(256 if np.dtype(target).itemsize == 1 else 65536).astype(
        f"u{np.dtype(target).itemsize}"
    )
    held = patterns.view(target).astype(np.float32)
    held = np.sort(held[np.isfinite(held)])
    ties = held[1:] / 2 + held[:-1] / 2
    t = np.concatenate([t, ties, TIES]).reshape(1, -1)
    ones, zero = np.ones(t.shape, np.float32), np.zeros((1, 1), np.float32)
    extras = Extras(post_ops=(Binary("mul"), Binary("add")))
    got = forward(
        device,
        stream,
        extras,
        ones,
        np.dtype(target).name,
        1,
        post_op_0_src1=zero,
        post_op_1_src1=t,
    )
    with np.errstate(all="ignore"):
        want = (np.float32(0) + t).astype(target)
    same(got["dst"], want)


@pytest.mark.parametrize(
    "dtype", [np.float16, ml_dtypes.bfloat16, E5M2], ids=lambda d: np.dtype(d).name
)
@pytest.mark.parametrize("algorithm", ["softmax", "log_softmax"])
@pytest.mark.parametrize(
    ("shape", "axis"), [((9, 37), 1), ((3, 3000), 1), ((2, 40000), 1), ((2, 30, 50), 1)]
)
def test_accumulation_in_the_destination(device, stream, isa, dtype, algorithm, shape, axis):
    """Exponentials (or x - max) are rounded to the type before they are normalised."""
    x = source(shape, dtype)
    extras = Extras(algorithm, accumulation="dst", post_ops=(Eltwise("linear", 1, 0),) * 2)
    got = forward(device, stream, extras, x, np.dtype(dtype).name, axis)["dst"].astype(np.float64)
    wide = x.astype(np.float64)
    shifted = wide - wide.max(axis=axis, keepdims=True)
    total = np.exp(shifted).sum(axis=axis, keepdims=True)
    kept = shifted if algorithm == "log_softmax" else np.exp(shifted)
    kept = kept.astype(np.float32).astype(dtype).astype(np.float64)
    want = kept - np.log(total) if algorithm == "log_softmax" else kept / total
    rounded = want.astype(np.float32).astype(dtype).astype(np.float64)
    step = one_step(np.dtype(dtype), want)
    assert np.all(np.abs(got - rounded) <= step)
    assert np.mean(got == rounded) > 0.97
    strict = exact(x, axis, algorithm).astype(np.float32).astype(dtype).astype(np.float64)
    if np.dtype(dtype).itemsize == 1 or shape[axis] > 100:
        assert not np.array_equal(rounded, strict), "the case does not tell the modes apart"


def test_double_pairs(device, stream, isa):
    x = np.random.default_rng(1).normal(size=(4, 50))
    plain = forward(device, stream, Extras(), x, "float64", 1)["dst"]
    np.testing.assert_allclose(plain, exact(x, 1), rtol=2e-15)
    extras = Extras(post_ops=(Eltwise("linear", 2, 1),))
    got = forward(device, stream, extras, x, "float64", 1)["dst"]
    want = plain.astype(np.float32) * np.float32(2) + np.float32(1)
    np.testing.assert_allclose(got, want, rtol=1.2e-7)


def test_layouts_differ(device, stream, isa):
    """A transposed source, a destination of another layout, an operand with strides."""
    x = source((6, 5, 7), np.float32)
    s = source((6, 1, 7), np.float32)
    src = device.tensor(np.ascontiguousarray(x.transpose(2, 0, 1))).transpose(1, 2, 0)
    dst = device.empty((7, 6, 5), "float16").transpose(1, 2, 0)
    operand = device.tensor(np.ascontiguousarray(s.transpose(2, 1, 0))).transpose(2, 1, 0)
    extras = Extras(post_ops=(Binary("mul"),))
    got = forward(
        device, stream, extras, x, "float16", 1, src=src, dst=dst, post_op_0_src1=operand
    )["dst"]
    plain = forward(device, stream, extras, x, "float16", 1, post_op_0_src1=s)["dst"]
    np.testing.assert_array_equal(got, plain)


def test_in_place(device, stream, isa):
    for shape, axis in CUTS:
        x = source(shape, np.float32)
        extras = Extras(post_ops=(Eltwise("relu", 0.5, 0),))
        tensor = device.tensor(x)
        got = forward(device, stream, extras, x, "float32", axis, src=tensor, dst=tensor)["dst"]
        apart = forward(device, stream, extras, x, "float32", axis)["dst"]
        np.testing.assert_array_equal(got, apart)


#: Rows, columns and chunks of either; the last but one is beyond most last-level caches.
BIT_CUTS = [((64, 1000), 1), ((5000, 7), 1), ((300, 4096), 1), ((2, 40001), 1), ((3, 500, 40), 1),
            ((1, 300_000), 1), ((4000, 1200), 1), ((1, 9000, 30), 1)]  # fmt: skip


@pytest.mark.parametrize("algorithm", ["softmax", "log_softmax"])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_same_bits_for_any_number_of_threads(device, stream, dtype, algorithm):
    before = lib.aclpy_thread_count()
    scale = np.array([3], np.float32)
    extras = Extras(
        algorithm, src_scale=True, post_ops=(Binary("add"), Eltwise("tanh")), stats=True
    )
    try:
        for shape, axis in BIT_CUTS:
            x = source(shape, np.dtype(dtype))
            row = source(tuple([1] * (len(shape) - 1) + [shape[-1]]), np.float32, 7)
            seen = set()
            for threads in (1, 2, 3):
                assert lib.aclpy_set_thread_count(threads) == 0
                with settings.override(fallback="error"):  # and plan anew
                    got = forward(
                        device, stream, extras, x, dtype, axis, src_scale=scale, post_op_0_src1=row
                    )
                seen.add((got["dst"].tobytes(), got["stats"].tobytes()))
            assert len(seen) == 1, shape
    finally:
        lib.aclpy_set_thread_count(before)


@pytest.mark.parametrize(
    ("source_type", "target"),
    [("float32", "float64"), ("float64", "float32"), ("int8", "float64"), ("bfloat16", "float64"),
     ("float64", "float16"), ("float64", "uint8")],
)  # fmt: skip
@pytest.mark.parametrize("axis", [0, 1])
def test_one_double_is_enough_for_doubles(device, stream, isa, source_type, target, axis):
    kind = ml_dtypes.bfloat16 if source_type == "bfloat16" else source_type
    x = (np.random.default_rng(2).normal(size=(20, 70)) * 3).astype(kind)
    got = forward(device, stream, Extras(), x, target, axis)["dst"]
    want = exact(x.astype(np.float64), axis)
    if target == "uint8":
        np.testing.assert_array_equal(got, np.rint(want))
    else:
        limit = {"float64": 2e-15, "float32": 6e-8, "float16": 5e-4}[target]
        np.testing.assert_allclose(got.astype(np.float64), want, rtol=limit, atol=3e-8)
