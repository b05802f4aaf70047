# SPDX-License-Identifier: Apache-2.0
"""Schemas of operators: what they take and give, as data (oneDNN 3.14, Graph operations)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from aclnn_py.dialects.onednn.enums import data_type
from aclnn_py.dialects.onednn_graph.enums import attr, kind

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["BACKWARD", "BINARY", "FORWARD", "SCHEMAS", "UNARY", "Attribute", "Port", "Schema"]

#: Kinds of attribute values: int64, float32, text, truth value, and lists of the former two.
Value: TypeAlias = Literal["s64", "f32", "string", "bool", "s64s", "f32s"]


@dataclass(frozen=True, slots=True)
class Port:
    """An input or output.

    Attributes
    ----------
    name : str
        Its name in the documentation.
    types : str
        Ports of an operator with one name have one element type.
    was : str
        A name that older pages have for it.
    """

    name: str
    types: str
    was: str = ""


@dataclass(frozen=True, slots=True)
class Attribute:
    """A parameter; required where it has no default.

    Attributes
    ----------
    value : str
        The kind of its value.
    default : object
        ``None`` where there is none.
    choices : tuple of str
        Legal texts; empty for any.
    optional : bool
        Whether it may be left out without a default.
    """

    value: Value
    default: object = None
    choices: tuple[str, ...] = ()
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Schema:
    """What one operator takes and gives.

    Attributes
    ----------
    inputs, outputs : tuple of Port
        By index.
    types : mapping of str to tuple of data_type
        Legal element types by the name that ports use.
    attributes : mapping of attr to Attribute
        All that it has.
    optional_outputs : int
        How many of the last outputs may be left out.
    mixed : tuple of (data_type, data_type), or None
        Legal (first input, first output) types; None where the names say it all.
    """

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    types: Mapping[str, tuple[data_type, ...]]
    attributes: Mapping[attr, Attribute] = field(default_factory=dict)
    optional_outputs: int = 0
    mixed: tuple[tuple[data_type, data_type], ...] | None = None


_F32: Final = (data_type.f32,)
_HALVES: Final = (data_type.bf16, data_type.f16)
_FLOATS: Final = (*_F32, *_HALVES)
_NUMBERS: Final = (*_FLOATS, data_type.s32)
_CASTS: Final = (
    *[(data_type.f32, half) for half in _HALVES],
    *[(half, data_type.f32) for half in _HALVES],
)
_SAME: Final = tuple([(one, one) for one in _FLOATS])
_SRC, _DST = Port("src", "T"), Port("dst", "T")


def _axis(default: int) -> Attribute:
    return Attribute("s64", default)


_SOFTMAX: Final = Schema(
    (Port("src", "T1"),),
    (Port("dst", "T2"), Port("stats", "T3")),
    {"T1": _FLOATS, "T2": _FLOATS, "T3": _F32},
    {attr.axis: _axis(1), attr.mode: Attribute("string", "none", ("none", "inf_as_zero"))},
    optional_outputs=1,
    mixed=(*_SAME, *_CASTS),
)
_SOFTMAX_BACKWARD: Final = Schema(
    (Port("diff_dst", "T1"), Port("dst", "T1")),
    (Port("diff_src", "T2"),),
    {"T1": _FLOATS, "T2": _FLOATS},
    {attr.axis: _axis(1)},
    mixed=(*_SAME, *[(half, data_type.f32) for half in _HALVES]),
)
_LOG_SOFTMAX: Final = Schema((_SRC,), (_DST,), {"T": _FLOATS}, {attr.axis: _axis(-1)})
# Older pages call input 1 of the log form "src". It has always been the forward's output, the
# log-probabilities; the forward's input there gives wrong numbers.
_LOG_SOFTMAX_BACKWARD: Final = Schema(
    (Port("diff_dst", "T"), Port("dst", "T", was="src")),
    (Port("diff_src", "T"),),
    {"T": _FLOATS},
    {attr.axis: _axis(-1)},
)

_F32_NEEDED: Final = Attribute("f32")
_UNARY_ATTRIBUTES: Final[dict[str, dict[attr, Attribute]]] = {
    "Clamp": {attr.min: _F32_NEEDED, attr.max: _F32_NEEDED},
    "Elu": {attr.alpha: _F32_NEEDED},
    "GELU": {attr.mode: Attribute("string", "gelu_erf", ("gelu_erf", "gelu_tanh"))},
    "HardSigmoid": {attr.alpha: _F32_NEEDED, attr.beta: _F32_NEEDED},
    "LeakyReLU": {attr.alpha: _F32_NEEDED},
    "SoftPlus": {attr.beta: Attribute("f32", 1.0)},
}
#: The unary operators that a softmax fuses with.
UNARY: Final = (
    kind.Abs, kind.Clamp, kind.Elu, kind.Exp, kind.GELU, kind.HardSigmoid, kind.HardSwish,
    kind.LeakyReLU, kind.Log, kind.Mish, kind.ReLU, kind.Round, kind.Sigmoid, kind.SoftPlus,
    kind.Sqrt, kind.Square, kind.Tanh,
)  # fmt: skip
_BROADCAST: Final = {attr.auto_broadcast: Attribute("string", "numpy", ("none", "numpy"))}


def _unary(name: str) -> Schema:
    return Schema((_SRC,), (_DST,), {"T": _FLOATS}, _UNARY_ATTRIBUTES.get(name, {}))


def _binary(types: tuple[data_type, ...], *, mixed: bool) -> Schema:
    names = ("T1", "T2", "T3") if mixed else ("T", "T", "T")
    return Schema(
        (Port("src_0", names[0]), Port("src_1", names[1])),
        (Port("dst", names[2]),),
        dict.fromkeys(names, types),
        _BROADCAST,
    )


_BINARY: Final = {
    kind.Add: _binary(_NUMBERS, mixed=True),
    kind.Multiply: _binary(_FLOATS, mixed=True),
    kind.Maximum: _binary(_FLOATS, mixed=False),
    kind.Minimum: _binary(_FLOATS, mixed=False),
    kind.Divide: _binary(_FLOATS, mixed=True),
    kind.Subtract: _binary(_NUMBERS, mixed=True),
}
#: The binary operators that a softmax fuses with.
BINARY: Final = tuple(_BINARY)

_TYPE_CAST: Final = Schema(
    (Port("src", "T1"),),
    (Port("dst", "T2"),),
    {"T1": _FLOATS, "T2": _FLOATS},
    mixed=_CASTS,
)
# The chain of section 2 may have a TypeCast before it, hence 16-bit inputs.
_QUANTIZE: Final = Schema(
    (Port("src", "T1"),),
    (Port("dst", "T2"),),
    {"T1": _FLOATS, "T2": (data_type.s8, data_type.u8)},
    {
        attr.qtype: Attribute("string", "per_tensor", ("per_tensor", "per_channel")),
        attr.axis: _axis(1),
        attr.scales: Attribute("f32s"),
        attr.zps: Attribute("s64s", optional=True),
    },
)
_END: Final = Schema((Port("src", "T"),), (), {"T": tuple(data_type)})

#: Schemas by operator kind. Kinds without one are carried through a graph unchecked.
SCHEMAS: Final[Mapping[kind, Schema]] = {
    kind.SoftMax: _SOFTMAX,
    kind.SoftMaxBackward: _SOFTMAX_BACKWARD,
    kind.LogSoftmax: _LOG_SOFTMAX,
    kind.LogSoftmaxBackward: _LOG_SOFTMAX_BACKWARD,
    **{one: _unary(one.name) for one in UNARY},
    **_BINARY,
    kind.TypeCast: _TYPE_CAST,
    kind.Quantize: _QUANTIZE,
    kind.End: _END,
}
#: The family, by direction.
FORWARD: Final = (kind.SoftMax, kind.LogSoftmax)
BACKWARD: Final = (kind.SoftMaxBackward, kind.LogSoftmaxBackward)
