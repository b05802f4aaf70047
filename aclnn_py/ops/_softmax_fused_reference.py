# SPDX-License-Identifier: Apache-2.0
"""The fused softmax steps in NumPy: what runs where no kernel fits.

Each operation is computed in float64 from float32 values and rounded to float32, as if the float32
operation were exact but for its result.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import erf
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aclnn_py.core.dtype import DType

__all__ = ["FusedReference", "dropout_mask", "stats"]

_erf: Final = np.vectorize(erf, otypes=[np.float64])


def _logistic(s: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-s))


def _softplus(s: Any) -> Any:
    return np.maximum(s, 0.0) + np.log1p(np.exp(-np.abs(s)))


def _clip(s: Any, low: float, high: float) -> Any:
    up = np.where(s > low, s, low)
    return np.where(up > high, high, up)


def _unit(s: Any) -> Any:
    return np.where(s <= 0.0, 0.0, np.where(s >= 1.0, 1.0, s))


_ELTWISE: Final[dict[str, Callable[[Any, float, float], Any]]] = {
    "abs": lambda s, _a, _b: np.where(s > 0.0, s, -s),
    "clip": _clip,
    "elu": lambda s, a, _b: np.where(s > 0.0, s, a * np.expm1(np.minimum(s, 0.0))),
    "exp": lambda s, _a, _b: np.exp(s),
    "gelu_erf": lambda s, _a, _b: 0.5 * s * (1.0 + _erf(s / np.sqrt(2.0))),
    "gelu_tanh": lambda s, _a, _b: (
        0.5 * s * (1.0 + np.tanh(np.sqrt(2.0 / np.pi) * (s + 0.044715 * s * s * s)))
    ),
    "hardsigmoid": lambda s, a, b: _unit(a * s + b),
    "hardswish": lambda s, a, b: s * _unit(a * s + b),
    "linear": lambda s, a, b: a * s + b,
    "log": lambda s, _a, _b: np.log(s),
    "logistic": lambda s, _a, _b: _logistic(s),
    "mish": lambda s, _a, _b: s * np.tanh(_softplus(s)),
    "pow": lambda s, a, b: a * np.power(s, b),
    "relu": lambda s, a, _b: np.where(s > 0.0, s, a * s),
    "round": lambda s, _a, _b: np.rint(s),
    "soft_relu": lambda s, a, _b: _softplus(a * s) / a,
    "sqrt": lambda s, _a, _b: np.sqrt(s),
    "square": lambda s, _a, _b: s * s,
    "swish": lambda s, a, _b: s * _logistic(a * s),
    "tanh": lambda s, _a, _b: np.tanh(s),
}
_BINARY: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "add": np.add,
    "mul": np.multiply,
    "max": lambda t, s: np.where(t > s, t, s),
    "min": lambda t, s: np.where(t < s, t, s),
    "div": np.divide,
    "sub": np.subtract,
    "ge": np.greater_equal,
    "gt": np.greater,
    "le": np.less_equal,
    "lt": np.less,
    "eq": np.equal,
    "ne": np.not_equal,
}


def _probability(p: Any) -> Any:
    value = float(np.float32(np.asarray(p).reshape(-1)[0]))
    return np.float32(min(value, 1.0) if value > 0.0 else 0.0)


def _apply(name: str, alpha: float, beta: float, t: Any, operands: Sequence[Any]) -> Any:
    """One operation on float32 values, rounded to float32."""
    wide = t.astype(np.float64)
    values = [operand.astype(np.float64) for operand in operands]
    if name in _BINARY:
        result = _BINARY[name](wide, values[0])
    elif name == "select":
        result = np.where(values[1] != 0.0, wide, values[0])
    elif name == "dropout":
        kept = np.float64(np.float32(1.0) - _probability(operands[0]))
        result = np.where(values[1] != 0.0, wide / kept, 0.0)
    else:
        plain = name.removesuffix("_use_dst_for_bwd").removesuffix("_v2")
        result = _ELTWISE[plain](wide, float(np.float32(alpha)), float(np.float32(beta)))
    return np.asarray(result).astype(np.float32)


def _stored(t: Any, target: DType) -> Any:
    """Float32 values rounded to a type, the way the kernels do it."""
    if target.name in ("INT8", "UINT8"):
        limits = np.iinfo(target.numpy)  # type: ignore[type-var,arg-type]
        inside = np.clip(
            np.nan_to_num(t, nan=0.0, posinf=np.inf, neginf=-np.inf), limits.min, limits.max
        )
        return np.rint(inside)
    return t.astype(target.numpy).astype(np.float32)


@dataclass(frozen=True, slots=True)
class FusedReference:
    """softmax_fused, or post_ops where `geometry` is empty.

    Attributes
    ----------
    geometry : tuple of int
        outer, n, inner; empty for post operations alone.
    shape : tuple of int
        Of source and destination.
    algorithm : str
        "softmax" or "log_softmax".
    zero_rows : bool
        Whether a row of only -inf gives zeros.
    round_to : DType or None
        What exponentials are rounded to.
    target : DType
        Of the destination.
    operations : tuple of (str, float, float, int)
        Name, alpha, beta, number of operands.
    """

    geometry: tuple[int, ...]
    shape: tuple[int, ...]
    algorithm: str
    zero_rows: bool
    round_to: DType | None
    target: DType
    operations: tuple[tuple[str, float, float, int], ...]

    def __call__(self, _params: tuple[int, ...], x: Any, *operands: Any) -> Any:
        """The destination as floats that its type holds exactly."""
        t = x.astype(np.float32) if not self.geometry else self._softmax(x.astype(np.float64))
        t = t.reshape(self.shape)
        first = 0
        for name, alpha, beta, count in self.operations:
            t = _apply(name, alpha, beta, t, operands[first : first + count])
            first += count
        return _stored(t, self.target)

    def _softmax(self, x: Any) -> Any:
        rows = x.reshape(self.geometry)
        top = rows.max(axis=1, keepdims=True)
        if self.zero_rows:
            top = np.where(np.isneginf(top), 0.0, top)
        shifted = rows - top
        e = np.exp(shifted)
        total = e.sum(axis=1, keepdims=True)
        if self.algorithm == "log_softmax":
            return (self._kept(shifted) - np.log(total)).astype(np.float32)
        if self.zero_rows:
            total = np.where(total == 0.0, 1.0, total)
        return (self._kept(e) / total).astype(np.float32)

    def _kept(self, values: Any) -> Any:
        if self.round_to is None:
            return values
        return _stored(values.astype(np.float32), self.round_to).astype(np.float64)


def stats(zero_rows: bool, params: tuple[int, ...], x: Any) -> Any:
    """Maximum + log(sum(exp(x - maximum))) of each row."""
    rows = x.astype(np.float64).reshape(params[:3])
    top = rows.max(axis=1, keepdims=True)
    shift = np.where(np.isneginf(top), 0.0, top) if zero_rows else top
    total = np.exp(rows - shift).sum(axis=1, keepdims=True)
    values = shift + np.log(total)
    return (np.where(total == 0.0, 0.0, values) if zero_rows else values).astype(np.float32)


def dropout_mask(index: Any, params: tuple[int, ...], p: Any, seed: Any, *offset: Any) -> Any:
    """1 where the draw of an element, by its position in memory, keeps it."""
    del params
    key = int(np.asarray(seed).reshape(-1)[0]) % 2**64
    start = int(np.asarray(offset[0]).reshape(-1)[0]) % 2**64 if offset else 0
    low, high = np.uint64(0xFFFFFFFF), np.uint64(32)
    group = index.astype(np.uint64) // np.uint64(4)
    ones = np.ones_like(group)
    if start == 0:
        counter = [(np.uint64(4) * group + np.uint64(k)) & low for k in range(4)]
        keys = [key % 2**32, key % 2**32]
    else:
        words = np.uint64(start % 2**32), np.uint64(start >> 32)
        element = np.uint64(4) * group
        counter = [ones * words[0], ones * words[1], element & low, element >> high]
        keys = [key % 2**32, key >> 32]
    for _ in range(10):
        first, second = np.uint64(0xD2511F53) * counter[0], np.uint64(0xCD9E8D57) * counter[2]
        counter = [
            (second >> high) ^ counter[1] ^ np.uint64(keys[0]),
            second & low,
            (first >> high) ^ counter[3] ^ np.uint64(keys[1]),
            first & low,
        ]
        keys = [(keys[0] + 0x9E3779B9) % 2**32, (keys[1] + 0xBB67AE85) % 2**32]
    words_of = np.choose((index % 4).astype(np.int64), counter)
    threshold = int(float(_probability(p)) * (2**32 - 1))
    return (words_of > np.uint64(threshold)).astype(np.uint8)
