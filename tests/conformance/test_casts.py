# SPDX-License-Identifier: Apache-2.0
"""`out` of another dtype: LogSoftmax casts its input, the others cast their result."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from aclnn_py.core import settings
from support import oracle
from support.invoke import invoke

FLOATS = [np.dtype(t) for t in (np.float32, np.float16, ml_dtypes.bfloat16, np.float64)]
OUTS = [
    np.dtype(t)
    for t in (
        np.float32, np.float16, ml_dtypes.bfloat16, np.float64, np.bool_, np.int8, np.int16,
        np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.complex64, np.complex128,
    )
]  # fmt: skip
FLOAT8 = [np.dtype(t) for t in (ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn)]
OUT_LAYOUTS = ("contiguous", "transposed", "padded")


@pytest.fixture(autouse=True)
def _no_fallback():
    with settings.override(fallback="error"):
        yield


def wide_range(shape, dtype, seed=1) -> np.ndarray:
    """Finite values over the whole range of every target: halves, integers' limits, huge, tiny."""
    rng = np.random.default_rng(seed)
    count = int(np.prod(shape))
    picks = np.array(
        [
            0.0, -0.0, 0.4999, 0.5, -0.5, 1.5, -1.5, 2.5, 126.9, 127.5, -128.9, 255.5, 300.0,
            -300.0, 32767.5, -32769.0, 65504.0, 65535.5, 7e4, -7e4, 2147483520.0, 2147483648.0,
            -2147483904.0, 4294967040.0, 5e9, -5e9, 9.2e18, 9.3e18, -9.3e18, 1.8e19, 1.9e19,
            1e25, -1e25, 1e-8, -6e-8, 1e-30, 3e38, 1e300,
        ]
    )  # fmt: skip
    spread = np.ldexp(rng.uniform(-1, 1, count), rng.integers(-20, 70, count))
    spread[: len(picks)] = picks
    return oracle.cast(spread, dtype).reshape(shape)


def identity_gradient(shape, dtype):
    """With y = 1/n rounded and sum(g) = 0 nothing is trivial, yet the result spans g's range."""
    gradient = wide_range(shape, dtype)
    with np.errstate(all="ignore"):
        limit = float(np.finfo(np.float16).max) if dtype == np.float16 else 1e38
        gradient = np.where(np.isfinite(gradient.astype(np.float64)), gradient, 1).astype(dtype)
        return np.clip(gradient.astype(np.float64), -limit, limit).astype(dtype)


def operands(operator, shape, dtype):
    if operator == "Softmax":
        return [oracle.cast(np.random.default_rng(2).normal(size=shape) * 20, dtype)]
    # y = 0 leaves -0 or g itself behind: with y = 0 LogSoftmaxBackward yields g - sum(g).
    gradient = identity_gradient(shape, dtype)
    saved = np.full(shape, -200.0 if operator == "LogSoftmaxBackward" else 0.5)
    return [gradient, oracle.cast(saved, dtype)]


RESULT_CASTS = [("Softmax", dtype, target) for dtype in FLOATS for target in FLOATS] + [
    (operator, dtype, target)
    for operator in ("SoftmaxBackward", "LogSoftmaxBackward")
    for dtype in FLOATS[:3]
    for target in OUTS
]


@pytest.mark.parametrize(
    ("operator", "dtype", "target"), RESULT_CASTS, ids=[f"{o}-{d}-{t}" for o, d, t in RESULT_CASTS]
)
def test_the_result_is_cast(device, stream, operator, dtype, target):
    """The bits of the same call with `out` of the inputs' dtype, put through the cast rules."""
    arrays = operands(operator, (5, 16), dtype)
    plain, _ = invoke(device, stream, operator, arrays, 1)
    expected = oracle.cast(plain, target)
    for out in OUT_LAYOUTS:
        if out == "padded" and target.name in ("uint16", "uint32", "uint64"):
            continue  # refused: see the status table
        got, _ = invoke(device, stream, operator, arrays, 1, out_layout=out, out_dtype=target)
        assert oracle.same_bits(got, expected), out


@pytest.mark.parametrize("target", OUTS, ids=lambda d: d.name)
def test_casts_meet_values_worth_casting(device, stream, target):
    """The result before the cast must reach every branch of the rule: else it proves little."""
    arrays = operands("LogSoftmaxBackward", (5, 16), np.dtype(np.float32))
    plain, _ = invoke(device, stream, "LogSoftmaxBackward", arrays, 1)
    values = plain.astype(np.float64)
    if target.kind in "iu":
        limits = np.iinfo(target)
        assert (values > float(limits.max)).any()
        assert (values < float(limits.min)).any()
        inside = (values > limits.min) & (values < limits.max)
        assert (inside & (values != np.trunc(values))).any()
    if target.kind == "b":
        assert (values == 0).any()
        assert ((values != 0) & (np.abs(values) < 1)).any()


@pytest.mark.parametrize("target", OUTS, ids=lambda d: d.name)
@pytest.mark.parametrize("dtype", FLOATS[:3], ids=lambda d: d.name)
def test_not_a_number_and_infinity_are_cast(device, stream, dtype, target):
    """y = 0 and sum(g) finite: each element g*y - y*s; NaN and infinities come from g itself."""
    gradient = oracle.cast(
        np.array([[np.nan, 1.0], [np.inf, 1.0], [-np.inf, 1.0], [3.0, 1.0]]), dtype
    )
    saved = oracle.cast(np.full((4, 2), -np.inf), dtype)  # exp(y) = 0
    plain, _ = invoke(device, stream, "LogSoftmaxBackward", [gradient, saved], 1)
    got, _ = invoke(device, stream, "LogSoftmaxBackward", [gradient, saved], 1, out_dtype=target)
    assert oracle.same_bits(got, oracle.cast(plain, target))


@pytest.mark.parametrize("target", FLOATS, ids=lambda d: d.name)
@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.name)
@pytest.mark.parametrize("layout", ["contiguous", "transposed", "sliced"])
def test_log_softmax_casts_its_input(device, stream, dtype, target, layout):
    array = oracle.cast(np.random.default_rng(4).normal(size=(6, 33)) * 5, dtype)
    got, _ = invoke(device, stream, "LogSoftmax", [array], 1, layouts=layout, out_dtype=target)
    same, _ = invoke(device, stream, "LogSoftmax", [oracle.cast(array, target)], 1)
    assert oracle.same_bits(got, same)


@pytest.mark.parametrize(("target", "bits"), [(ml_dtypes.bfloat16, 8), (np.float16, 11)])
def test_double_is_rounded_once(device, stream, target, bits):
    """A hair above a tie of the target, and nearer to it than float32 can tell."""
    tie = 1 + 2.0**-bits
    row = np.array([[tie + 2.0**-40, tie, tie - 2.0**-40, -tie - 2.0**-40, 0.0]])
    got, _ = invoke(device, stream, "LogSoftmax", [row], 1, out_dtype=np.dtype(target))
    once = np.array([[1 + 2.0 ** (1 - bits), 1, 1, -1 - 2.0 ** (1 - bits), 0]]).astype(target)
    same, _ = invoke(device, stream, "LogSoftmax", [once], 1)
    assert oracle.same_bits(got, same)


def test_the_orders_of_cast_are_told_apart(device, stream):
    """float16 -> float32: softmax rounds before widening, logsoftmax widens before computing."""
    array = np.random.default_rng(5).normal(size=(4, 50)).astype(np.float16)
    soft, _ = invoke(device, stream, "Softmax", [array], 1, out_dtype=np.float32)
    log, _ = invoke(device, stream, "LogSoftmax", [array], 1, out_dtype=np.float32)
    assert np.array_equal(soft, soft.astype(np.float16).astype(np.float32))
    assert not np.array_equal(log, log.astype(np.float16).astype(np.float32))


@pytest.mark.parametrize("target", FLOAT8, ids=lambda d: d.name)
@pytest.mark.parametrize("dtype", FLOATS[:3], ids=lambda d: d.name)
def test_float8_on_950(device, stream, dtype, target):
    gradient = oracle.cast(
        np.random.default_rng(6).normal(size=(4, 40)) * np.logspace(-9, 4, 40), dtype
    )
    saved = oracle.cast(np.full((4, 40), -np.inf), dtype)
    with settings.override(soc="Ascend950", fallback="error"):
        plain, _ = invoke(device, stream, "LogSoftmaxBackward", [gradient, saved], 1)
        got, _ = invoke(
            device, stream, "LogSoftmaxBackward", [gradient, saved], 1, out_dtype=target
        )
    expected = plain.astype(np.float32).astype(target)
    assert oracle.same_bits(got.view(np.uint8), expected.view(np.uint8))
