# SPDX-License-Identifier: Apache-2.0
"""The oracle: textbook formulas in a wider type, and the cast rules.

It shares no code with kernels or specs. float16, bfloat16 and float32 problems are computed in
float64, float64 ones in long double (where that is wider than double) or in mpmath's 120 bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import mpmath
import numpy as np

BF16 = np.dtype(ml_dtypes.bfloat16)
F16, F32, F64 = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)

#: Relative bound of float32 results; below ABSOLUTE the relative error does not count.
#: A gradient is
#: the difference of a term and a sum of terms, added up in float32: where these are larger than 1,
#: ABSOLUTE is allowed for each unit of them (`to_the_letter` allows it once).
RELATIVE = {
    "Softmax": 1.2e-6,
    "LogSoftmax": 6e-6,
    "SoftmaxBackward": 4.8e-6,
    "LogSoftmaxBackward": 2.4e-5,
}
ABSOLUTE = 1.2e-7
DOUBLE = 1e-14
LONG_DOUBLE_IS_WIDE = np.finfo(np.longdouble).eps < 1e-18


# ---- wide arithmetic ----------------------------------------------------------------------------


def _mp(function):
    mpmath.mp.prec = 120
    return np.frompyfunc(function, 1, 1)


def widen(array: np.ndarray) -> np.ndarray:
    """The same values in the type the oracle computes in."""
    if array.dtype != F64:
        return array.astype(np.float64)
    return array.astype(np.longdouble) if LONG_DOUBLE_IS_WIDE else _mp(mpmath.mpf)(array)


def _exp(array):
    return _mp(mpmath.exp)(array) if array.dtype == object else np.exp(array)


def _log(array):
    return _mp(mpmath.log)(array) if array.dtype == object else np.log(array)


# ---- the four operators -------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """Wide result, the largest term of its row, the size of all terms that make up an element."""

    value: np.ndarray
    largest_term: np.ndarray
    terms: np.ndarray | float = 0.0


def _largest(terms, axis):
    magnitude = np.abs(terms)
    finite = np.where(np.isfinite(magnitude.astype(np.float64)), magnitude, 0)
    return np.broadcast_to(finite.max(axis=axis, keepdims=True), terms.shape)


def softmax(x: np.ndarray, axis: int) -> Answer:
    """exp(x - max) / sum."""
    with np.errstate(all="ignore"):
        powers = _exp(x - x.max(axis=axis, keepdims=True))
        value = powers / powers.sum(axis=axis, keepdims=True)
    return Answer(value, _largest(value, axis))


def log_softmax(x: np.ndarray, axis: int) -> Answer:
    """x - max - log(sum)."""
    with np.errstate(all="ignore"):
        shifted = x - x.max(axis=axis, keepdims=True)
        value = shifted - _log(_exp(shifted).sum(axis=axis, keepdims=True))
    return Answer(value, _largest(value, axis))


def softmax_backward(g: np.ndarray, y: np.ndarray, axis: int) -> Answer:
    """g*y - y*sum(g*y)."""
    with np.errstate(all="ignore"):
        products = g * y
        value = products - y * products.sum(axis=axis, keepdims=True)
        added = np.abs(products).sum(axis=axis, keepdims=True)
        terms = np.abs(products) + np.abs(y) * added
    return Answer(value, _largest(products, axis), terms)


def log_softmax_backward(g: np.ndarray, y: np.ndarray, axis: int) -> Answer:
    """g - exp(y)*sum(g), y being the saved log output."""
    with np.errstate(all="ignore"):
        value = g - _exp(y) * g.sum(axis=axis, keepdims=True)
        terms = np.abs(g) + _exp(y) * np.abs(g).sum(axis=axis, keepdims=True)
    return Answer(value, _largest(g, axis), terms)


FORMULAS = {
    "Softmax": softmax,
    "LogSoftmax": log_softmax,
    "SoftmaxBackward": softmax_backward,
    "LogSoftmaxBackward": log_softmax_backward,
}


def answer(operator: str, inputs: list[np.ndarray], dim: int) -> Answer:
    """The wide answer for arrays of one dtype; a 0-d array counts as one row of one element."""
    wide = [widen(array) for array in inputs]
    if wide[0].ndim == 0:
        flat = FORMULAS[operator](*(w.reshape(1) for w in wide), 0)
        terms = np.asarray(flat.terms).reshape(())
        return Answer(flat.value.reshape(()), flat.largest_term.reshape(()), terms)
    return FORMULAS[operator](*wide, dim)


# ---- the cast rules -----------------------------------------------------------------------------


def _round_to_bf16(array: np.ndarray) -> np.ndarray:
    """float32 -> bfloat16, nearest even, on the bits; a NaN stays a NaN."""
    bits = array.astype(np.float32).view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    quiet = ((bits >> 16) | 0x40).astype(np.uint16)
    return np.where(np.isnan(array), quiet, rounded).astype(np.uint16).view(BF16)


def _to_integer(array: np.ndarray, target: np.dtype) -> np.ndarray:
    """Truncate towards zero, saturate, NaN -> 0."""
    low, high = (int(limit) for limit in (np.iinfo(target).min, np.iinfo(target).max))

    def one(value: float) -> int:
        if value != value:
            return 0
        if value in (float("inf"), float("-inf")):
            return high if value > 0 else low
        return min(max(int(value), low), high)

    flat = [one(v) for v in array.astype(np.float64).ravel().tolist()]
    return np.array(flat, dtype=target).reshape(array.shape)


def cast(array: np.ndarray, target: np.dtype) -> np.ndarray:
    """One cast of the internal cast step: the values of a floating array in `target`."""
    target = np.dtype(target)
    if target == array.dtype:
        return array.copy()
    if target.kind in "iu":
        return _to_integer(array, target)
    if target.kind == "b":
        return array.astype(np.float64) != 0
    with np.errstate(all="ignore"):
        if target.kind == "c":
            part = F32 if target.itemsize == 8 else F64
            return array.astype(part).astype(target)
        if target == BF16:
            # double -> bfloat16 in one rounding: to odd in float32 first, so that no tie is made.
            return _round_to_bf16(_odd_float32(array) if array.dtype == F64 else array.astype(F32))
        return array.astype(target)


def _odd_float32(array: np.ndarray) -> np.ndarray:
    """double -> float32, rounding inexact values to the neighbour with an odd last bit."""
    near = array.astype(np.float32)
    bits = np.asarray(near).view(np.uint32)
    inexact = (near.astype(np.float64) != array) & np.isfinite(array) & np.isfinite(near)
    away = np.abs(near.astype(np.float64)) > np.abs(array)
    return ((bits - (inexact & away)) | inexact).astype(np.uint32).view(np.float32)


# ---- comparing ----------------------------------------------------------------------------------


def same_bits(got: np.ndarray, want: np.ndarray) -> bool:
    """Equal bit for bit, any NaN being as good as another."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return False
    equal = np.ascontiguousarray(got).tobytes() == np.ascontiguousarray(want).tobytes()
    if equal or got.dtype.kind not in "fcV":
        return equal
    both_nan = np.isnan(got) & np.isnan(want)
    return bool(
        np.all(both_nan | ((got == want) & (np.signbit(got.real) == np.signbit(want.real))))
    )


def _ordinal(array: np.ndarray) -> np.ndarray:
    """Half-precision numbers on a line of consecutive integers (both zeros at 0)."""
    bits = array.view(np.uint16).astype(np.int32)
    return np.where(bits & 0x8000, -(bits & 0x7FFF), bits)


def worst(
    operator: str, got: np.ndarray, expected: Answer, *, to_the_letter: bool = False
) -> float:
    """The largest error as a fraction of its bound: at most 1 is a pass, a misplaced NaN inf."""
    value = expected.value.astype(np.float64)
    measured = got.astype(np.float64)
    terms = np.broadcast_to(np.asarray(expected.terms).astype(np.float64), value.shape)
    if to_the_letter:
        terms = np.zeros(value.shape)
    absolute = ABSOLUTE * np.maximum(1, np.where(np.isfinite(terms), terms, 0))
    if got.size == 0:
        return 0.0
    if not np.array_equal(np.isnan(measured), np.isnan(value)):
        return float("inf")
    if got.dtype in (F16, BF16):
        rounded = cast(value, got.dtype)
        ulps = np.abs(_ordinal(got) - _ordinal(rounded))
        # Where terms cancel, the float32 kernel's absolute bound is all that its rounding can hold.
        with np.errstate(invalid="ignore"):
            excused = np.isnan(value) | (np.abs(measured - value) <= absolute)
        return float(np.where(excused, 0, ulps).max())
    infinite = np.isinf(measured) | np.isinf(value)
    if not np.array_equal(measured[infinite], value[infinite]):
        return float("inf")
    finite = np.isfinite(value)
    if not finite.any():
        return 0.0
    exact, magnitude = expected.value[finite], np.abs(value[finite])
    error = np.abs(widen(got)[finite] - exact).astype(np.float64)
    if got.dtype == F64:
        bound = DOUBLE * (magnitude + expected.largest_term[finite].astype(np.float64))
        bound = np.maximum(bound, np.finfo(np.float64).smallest_subnormal)
    else:
        bound = np.maximum(RELATIVE[operator] * magnitude, absolute[finite])
    return float((error / bound).max())
