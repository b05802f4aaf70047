# SPDX-License-Identifier: Apache-2.0
"""The fused softmax in float64 NumPy, and benchdnn's thresholds (reference, sections 1.6 and 6).

It shares no code with the package. A problem is a dict: ``src_scale``, ``dst_scale`` (float),
``dropout`` (p, seed, offset), ``post_ops``: ("eltwise", name, alpha, beta), ("binary", name,
operand) or ("select", operand, condition).
"""
# ruff: noqa: ARG005  # the functions of a table have one signature

from __future__ import annotations

import math

import ml_dtypes
import numpy as np

from support import oracle

F32, F16, BF16 = oracle.F32, oracle.F16, oracle.BF16
E5M2, E4M3 = np.dtype(ml_dtypes.float8_e5m2), np.dtype(ml_dtypes.float8_e4m3fn)
S8, U8 = np.dtype(np.int8), np.dtype(np.uint8)

# Section 6, row f32: L (log) x B (backward) x F = 10 times the eps of float32.
_EPS = {F32: 1.19e-7, F16: 9.77e-4, BF16: 7.81e-3, oracle.F64: 2.22e-16}
_ABSOLUTE = 1.2e-7


def threshold(dtype, *, log: bool, backward: bool = False) -> float:
    """The relative threshold of section 6; float16 and bfloat16 in relaxed accumulation."""
    wide = 10 if dtype in (F32, oracle.F64) else 1
    return (5 if log else 1) * (4 if backward else 1) * wide * _EPS[np.dtype(dtype)]


_THRESHOLD = 88.72283


def relaxed(dtype, *, log: bool) -> float:
    """The relative threshold of relaxed accumulation; float32 has none of its own."""
    steps = _EPS | {E5M2: 0.25, E4M3: 0.125, F32: 0.0, oracle.F64: 0.0}
    return (5 if log else 1) * steps[np.dtype(dtype)]


def _erf(x):
    return np.vectorize(math.erf, otypes=[np.float64])(x)


ELTWISE = {
    "abs": lambda s, a, b: np.abs(s),
    "clip": lambda s, a, b: np.minimum(np.maximum(s, a), b),
    "clip_v2": lambda s, a, b: np.minimum(np.maximum(s, a), b),
    "elu": lambda s, a, b: np.where(s > 0, s, a * np.expm1(s)),
    "exp": lambda s, a, b: np.exp(s),
    "log": lambda s, a, b: np.log(s),
    "sqrt": lambda s, a, b: np.sqrt(s),
    "square": lambda s, a, b: s * s,
    "gelu_erf": lambda s, a, b: 0.5 * s * (1 + _erf(s / math.sqrt(2))),
    "gelu_tanh": lambda s, a, b: (
        0.5 * s * (1 + np.tanh(math.sqrt(2 / math.pi) * (s + 0.044715 * s**3)))
    ),
    "hardsigmoid": lambda s, a, b: np.clip(a * s + b, 0, 1),
    "hardswish": lambda s, a, b: s * np.clip(a * s + b, 0, 1),
    "linear": lambda s, a, b: a * s + b,
    "logistic": lambda s, a, b: np.where(-s >= _THRESHOLD, 0.0, 1 / (1 + np.exp(-s))),
    "mish": lambda s, a, b: s * np.tanh(np.log1p(np.exp(s))),
    "pow": lambda s, a, b: a * np.power(s, b),
    "relu": lambda s, a, b: np.where(s > 0, s, a * s),
    "round": lambda s, a, b: np.rint(s),
    "soft_relu": lambda s, a, b: np.where(
        a * s > _THRESHOLD, s, np.log1p(np.exp(np.minimum(a * s, _THRESHOLD))) / a
    ),
    "swish": lambda s, a, b: s / (1 + np.exp(-a * s)),
    "tanh": lambda s, a, b: np.tanh(s),
}
for _name in ("relu", "tanh", "elu", "sqrt", "logistic", "exp", "clip_v2"):
    ELTWISE[f"{_name}_use_dst_for_bwd"] = ELTWISE[_name]

BINARY = {
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "div": np.divide,
    "sub": np.subtract,
    "ge": np.greater_equal,
    "gt": np.greater,
    "le": np.less_equal,
    "lt": np.less,
    "eq": np.equal,
    "ne": np.not_equal,
}


def _philox(counter, key):
    """Ten rounds of Philox 4x32 on arrays of 32-bit words held in uint64."""
    low = np.uint64(0xFFFFFFFF)
    c = [np.asarray(word, np.uint64) & low for word in counter]
    k = [np.uint64(word & 0xFFFFFFFF) for word in key]
    for _ in range(10):
        first, second = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [
            (second >> np.uint64(32)) ^ c[1] ^ k[0],
            second & low,
            (first >> np.uint64(32)) ^ c[3] ^ k[1],
            first & low,
        ]
        k = [(k[0] + np.uint64(0x9E3779B9)) & low, (k[1] + np.uint64(0xBB67AE85)) & low]
    return c


def random_words(count: int, seed: int, offset: int) -> np.ndarray:
    """The draws of elements 0 to count - 1."""
    index = np.arange(count, dtype=np.uint64)
    x = index & ~np.uint64(3)
    if offset == 0:
        key = (seed & 0xFFFFFFFF, seed & 0xFFFFFFFF)
        words = _philox([x, x + np.uint64(1), x + np.uint64(2), x + np.uint64(3)], key)
    else:
        whole, wide = offset % 2**64, seed % 2**64
        counter = [
            np.full(count, whole & 0xFFFFFFFF, np.uint64),
            np.full(count, whole >> 32, np.uint64),
            x,
            x >> np.uint64(32),
        ]
        words = _philox(counter, (wide & 0xFFFFFFFF, wide >> 32))
    return np.choose((index & np.uint64(3)).astype(int), words)


def dropout_mask(shape, p: float, seed: int, offset: int) -> np.ndarray:
    """1 where an element of a dense row-major tensor is kept."""
    draws = random_words(math.prod(shape), seed, offset).reshape(shape)
    p = min(max(float(np.float32(p)), 0.0), 1.0)
    return (draws > np.uint64(int(p * (2**32 - 1)))).astype(np.uint8)


def value(x: np.ndarray, axis: int, *, log: bool, zero_rows: bool = False) -> np.ndarray:
    """Softmax or log-softmax of any dtype in float64."""
    wide = x.astype(np.float64)
    answer = (oracle.log_softmax if log else oracle.softmax)(wide, axis).value
    if zero_rows:
        empty = np.all(np.isneginf(wide), axis=axis, keepdims=True)
        answer = np.where(empty, 0.0, answer)
    return answer


def forward(x: np.ndarray, axis: int, *, log=False, zero_rows=False, problem=None):
    """The float64 value before it is stored, its tolerance, and the dropout mask."""
    problem = problem or {}
    with np.errstate(all="ignore"):
        t = value(x, axis, log=log, zero_rows=zero_rows)
        relative, absolute = threshold(F32, log=log), _ABSOLUTE
        scale = float(np.float32(problem.get("src_scale") or 1))
        t, absolute = t * scale, absolute * max(scale, 1)
        mask = None
        if problem.get("dropout"):
            p, seed, offset = problem["dropout"]
            mask = dropout_mask(x.shape, p, seed, offset)
            kept = 1 - min(max(float(np.float32(p)), 0.0), 1.0)
            t = np.where(mask == 1, t / kept, 0.0)
        for op in problem.get("post_ops", ()):
            t, relative, absolute = _post_op(t, op, relative, absolute)
        if problem.get("dst_scale"):
            down = float(np.float32(problem["dst_scale"]))
            t, absolute, relative = t / down, absolute / min(down, 1), max(relative, 1e-5)
    return t, relative * np.abs(t) + absolute, mask


def _post_op(t, op, relative, absolute):
    if op[0] == "eltwise":
        a, b = float(np.float32(op[2])), float(np.float32(op[3]))
        return ELTWISE[op[1]](t, a, b), max(relative, 8e-6), max(absolute, 2e-5)
    operand = op[-2 if op[0] == "select" else -1].astype(np.float64)
    if op[0] == "select":
        return np.where(op[2] != 0, t, operand), relative, absolute
    result = BINARY[op[1]](t, operand).astype(np.float64)
    return result, max(relative, 1e-5), max(absolute, 4e-6)


def store(t: np.ndarray, dtype) -> np.ndarray:
    """Saturate, round to nearest even, store; NaN into an integer is 0."""
    dtype = np.dtype(dtype)
    with np.errstate(all="ignore"):
        if dtype in (S8, U8):
            low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
            return np.nan_to_num(np.rint(np.clip(t, low, high)), nan=0.0).astype(dtype)
        if dtype in (F32, oracle.F64):
            return t.astype(dtype)
        return t.astype(np.float32).astype(dtype)


def assert_stored(got: np.ndarray, t: np.ndarray, tolerance: np.ndarray) -> None:
    """`got` is what storing some value within the tolerance of `t` gives.

    For float16, bfloat16 and the integers this is "the rounded float32 result" of section 6: one
    step off passes only where the tolerance reaches a rounding tie.
    """
    assert got.shape == t.shape
    floating = got.dtype not in (S8, U8)
    spoiled = np.isnan(t)
    measured = got.astype(np.float64)
    finite = np.where(np.isfinite(tolerance), tolerance, 0.0)
    low = store(t - finite, got.dtype).astype(np.float64)
    high = store(t + finite, got.dtype).astype(np.float64)
    if got.dtype in (F32, oracle.F64):
        low, high = t - finite, t + finite
    if floating:
        spoiled = spoiled | np.isnan(low) | np.isnan(high)  # f8_e4m3 beyond its range
        assert np.isnan(measured)[np.isnan(t)].all()
    fine = spoiled | ((measured >= low) & (measured <= high))
    assert fine.all(), _worst(measured, t, tolerance, fine)


def _worst(measured, t, tolerance, fine):
    where = tuple(np.argwhere(~fine)[0])
    bound = np.broadcast_to(tolerance, t.shape)[where]
    return f"{(~fine).sum()} wrong; at {where} got {measured[where]}, want {t[where]} +- {bound}"


def backward(y: np.ndarray, g: np.ndarray, axis: int, *, log: bool):
    """The float64 gradient and its tolerance: cancelling terms count by their size."""
    formula = oracle.log_softmax_backward if log else oracle.softmax_backward
    answer = formula(g.astype(np.float64), y.astype(np.float64), axis)
    relative = threshold(F32, log=log, backward=True)
    terms = np.maximum(1, np.where(np.isfinite(answer.terms), answer.terms, 0))
    return answer.value, relative * np.abs(answer.value) + _ABSOLUTE * terms


def logits(shape, dtype, seed=0) -> np.ndarray:
    """Values in the style of benchdnn: some rows around +-88, small integers for s8 and u8."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype in (S8, U8):
        return rng.integers(0 if dtype == U8 else -8, 8, shape).astype(dtype)
    spread = rng.choice([0.5, 3.0, 8.0], shape)
    x = rng.standard_normal(shape) * spread
    shift = rng.choice([-88.0, 0.0, 88.0], (*shape[:-1], 1) if shape else ())
    return (x + (shift if dtype.itemsize > 1 else 0)).astype(np.float32).astype(dtype)


def gradients(shape, dtype, seed=0, *, log: bool):
    """A y that is no probability (benchdnn's), and a gradient, both of `dtype`."""
    rng = np.random.default_rng(seed + 1)
    y = rng.uniform(-6, 0, shape) if log else rng.uniform(-1, 1, shape)
    g = rng.integers(-8, 9, shape) / 8
    return (
        y.astype(np.float32).astype(dtype),
        g.astype(np.float32).astype(dtype),
    )
