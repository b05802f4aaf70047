# SPDX-License-Identifier: Apache-2.0
"""What a softmax can do besides: scales, dropout, post operations, statistics; plain values."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

__all__ = [
    "BINARY_ALGORITHMS",
    "ELTWISE_ALGORITHMS",
    "MOST_POST_OPS",
    "Algorithm",
    "Binary",
    "Dropout",
    "Eltwise",
    "Extras",
    "PostOp",
    "Select",
]

Algorithm: TypeAlias = Literal["softmax", "log_softmax"]

#: Operations of one operand; the softmax value is the left one.
BINARY_ALGORITHMS: Final = (
    "add", "mul", "max", "min", "div", "sub", "ge", "gt", "le", "lt", "eq", "ne",
)  # fmt: skip
_USE_DST: Final = ("relu", "tanh", "elu", "sqrt", "logistic", "exp", "clip_v2")
#: Operations of no operand. Names that differ in their gradients alone share a kernel.
ELTWISE_ALGORITHMS: Final = (
    "abs", "clip", "clip_v2", "elu", "exp", "gelu_erf", "gelu_tanh", "hardsigmoid", "hardswish",
    "linear", "log", "logistic", "mish", "pow", "relu", "round", "soft_relu", "sqrt", "square",
    "swish", "tanh", *(f"{name}_use_dst_for_bwd" for name in _USE_DST),
)  # fmt: skip
MOST_POST_OPS: Final = 32


def _one_of(what: str, value: object, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"{what}: got {value!r}, expected one of {', '.join(known)}")


@dataclass(frozen=True, slots=True)
class Eltwise:
    """t = f(t), f with two constants.

    Attributes
    ----------
    alg : str
        One of `ELTWISE_ALGORITHMS`.
    alpha, beta : float
        Constants, rounded to float32 when the plan is made.
    """

    alg: str
    alpha: float = field(default=0.0, compare=False)
    beta: float = field(default=0.0, compare=False)
    #: What is compared: 0.0 and -0.0 are two constants, a NaN is one.
    constants: bytes = field(init=False, repr=False, default=b"")

    def __post_init__(self) -> None:
        """Refuse unknown names."""
        _one_of("alg", self.alg, ELTWISE_ALGORITHMS)
        object.__setattr__(self, "constants", struct.pack("<dd", self.alpha, self.beta))


@dataclass(frozen=True, slots=True)
class Binary:
    """t = t op s, s a tensor that broadcasts.

    Attributes
    ----------
    alg : str
        One of `BINARY_ALGORITHMS`; comparisons give 1 or 0.
    """

    alg: str

    def __post_init__(self) -> None:
        """Refuse unknown names."""
        _one_of("alg", self.alg, BINARY_ALGORITHMS)


@dataclass(frozen=True, slots=True)
class Select:
    """t = t where a condition tensor is not 0, else a value of another tensor."""


PostOp: TypeAlias = Eltwise | Binary | Select


@dataclass(frozen=True, slots=True)
class Dropout:
    """t = t / (1 - p) where a draw keeps it, else 0.

    Attributes
    ----------
    has_offset : bool
        Whether an offset tensor positions the stream of draws; without, offset 0.
    has_mask : bool
        Whether the mask is an output.
    """

    has_offset: bool = False
    has_mask: bool = False


@dataclass(frozen=True, slots=True)
class Extras:
    """One forward softmax, apart from shapes and dtypes.

    Applied in this order, in float32: softmax value, times source scale, dropout, post operations,
    divided by destination scale; then rounded once to the destination type.

    Attributes
    ----------
    algorithm : {"softmax", "log_softmax"}
        What is computed.
    zero_rows : {"nan", "zero"}
        The result of a row of only -inf; "zero" exists for softmax alone.
    src_scale, dst_scale : bool
        Whether there is such a tensor of one float32.
    dropout : Dropout or None
        Random zeroing.
    post_ops : tuple of PostOp
        At most `MOST_POST_OPS`.
    accumulation : {"f32", "dst"}
        Whether exponentials are rounded to the destination type before they are normalised; only
        where source and destination have one 8- or 16-bit float type.
    stats : bool
        Whether maximum + log of the sum of each row is an output.
    """

    algorithm: Algorithm = "softmax"
    zero_rows: Literal["nan", "zero"] = "nan"
    src_scale: bool = False
    dst_scale: bool = False
    dropout: Dropout | None = None
    post_ops: tuple[PostOp, ...] = ()
    accumulation: Literal["f32", "dst"] = "f32"
    stats: bool = False

    def __post_init__(self) -> None:
        """Refuse what no specification has."""
        _one_of("algorithm", self.algorithm, ("softmax", "log_softmax"))
        _one_of("zero_rows", self.zero_rows, ("nan", "zero"))
        _one_of("accumulation", self.accumulation, ("f32", "dst"))
        if self.zero_rows == "zero" and self.algorithm != "softmax":
            raise ValueError(f"zero_rows: got 'zero' with {self.algorithm}, expected softmax")
        if not isinstance(self.post_ops, tuple) or len(self.post_ops) > MOST_POST_OPS:
            raise ValueError(
                f"post_ops: got {type(self.post_ops).__name__} of {len(self.post_ops)}, "
                f"expected a tuple of at most {MOST_POST_OPS}"
            )
        for number, op in enumerate(self.post_ops):
            if not isinstance(op, Eltwise | Binary | Select):
                raise TypeError(f"post_ops[{number}]: got {op!r}, expected Eltwise|Binary|Select")
