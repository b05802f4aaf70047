# SPDX-License-Identifier: Apache-2.0
"""Whether an operator keeps to its schema: what ``graph.add_op`` checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NoReturn

from aclnn_py.dialects.onednn.enums import algorithm
from aclnn_py.dialects.onednn.operations import eltwise_rule, single
from aclnn_py.dialects.onednn.statuses import refuse, status
from aclnn_py.dialects.onednn_graph.enums import attr, kind
from aclnn_py.dialects.onednn_graph.schemas import SCHEMAS

if TYPE_CHECKING:
    from aclnn_py.dialects.onednn.enums import data_type
    from aclnn_py.dialects.onednn_graph.logical_tensors import logical_tensor
    from aclnn_py.dialects.onednn_graph.ops import op
    from aclnn_py.dialects.onednn_graph.schemas import Port, Schema

__all__ = ["verify"]

# Functions whose constants keep to a rule, and the attributes that give these.
_RULED: Final = {
    kind.Clamp: (algorithm.eltwise_clip, (attr.min, attr.max)),
    kind.SoftPlus: (algorithm.eltwise_soft_relu, (attr.beta,)),
}
_RULE_TEXTS: Final = {kind.Clamp: "max >= min", kind.SoftPlus: "beta other than 0"}


def verify(one: op) -> None:
    """Refuse an operator that its schema does not allow.

    Raises
    ------
    OneDnnError
        invalid_graph_op, by the first check that fails: number of inputs, of outputs, element
        types, attributes, combinations of types, what Quantize's scales, Clamp's bounds and
        SoftPlus's beta must be.
    """
    schema = SCHEMAS.get(one.op_kind)
    if schema is None:
        return
    _check_count(one, "inputs", len(one.inputs), schema.inputs, 0)
    _check_count(one, "outputs", len(one.outputs), schema.outputs, schema.optional_outputs)
    fixed: dict[str, tuple[data_type, ...]] = dict(schema.types)
    for ports, tensors in ((schema.inputs, one.inputs), (schema.outputs, one.outputs)):
        _check_types(one, ports, tensors, fixed)
    _check_attributes(one, schema)
    _check_pairing(one, schema)
    if one.op_kind is kind.Quantize:
        _check_quantize(one)
    if one.op_kind in _RULED:
        _check_rule(one)


def _check_count(one: op, what: str, got: int, ports: tuple[Port, ...], optional: int) -> None:
    most = len(ports)
    if not most - optional <= got <= most:
        least = most - optional
        names = [port.name + " (optional)" * (i >= least) for i, port in enumerate(ports)]
        count = " or ".join(map(str, range(least, most + 1)))
        shown = f"{count}: {', '.join(names) or 'none'}"
        _invalid(one, what, "have another number", str(got), shown)


def _check_types(
    one: op,
    ports: tuple[Port, ...],
    tensors: tuple[logical_tensor, ...],
    fixed: dict[str, tuple[data_type, ...]],
) -> None:
    for port, tensor in zip(ports, tensors, strict=False):
        allowed = fixed[port.types]
        if tensor.dtype not in allowed:
            shown = " | ".join(kind.name for kind in allowed)
            _invalid(one, port.name, "has another element type", tensor.dtype.name, shown)
        fixed[port.types] = (tensor.dtype,)


def _check_attributes(one: op, schema: Schema) -> None:
    for name, wanted in schema.attributes.items():
        needed = wanted.default is None and not wanted.optional
        if needed and name not in one.attributes:
            _invalid(one, name.name, "is required", "nothing", wanted.value)
    for name, (value_kind, value) in one.attributes.items():
        known = schema.attributes.get(name)
        if known is None:
            shown = " | ".join(one.name for one in schema.attributes) or "no attribute"
            _invalid(one, name.name, "is no attribute of this operator", repr(value), shown)
        widened = {"s64": "f32", "s64s": "f32s"}.get(value_kind) == known.value
        if value_kind != known.value and not widened:
            _invalid(one, name.name, "has another kind of value", repr(value), known.value)
        if known.choices and value not in known.choices:
            shown = " | ".join(known.choices)
            _invalid(one, name.name, "has another value", repr(value), shown)


def _check_pairing(one: op, schema: Schema) -> None:
    if schema.mixed is None:
        return
    pair = (one.inputs[0].dtype, one.outputs[0].dtype)
    if pair not in schema.mixed:
        shown = ", ".join(f"{a.name} -> {b.name}" for a, b in schema.mixed)
        got = f"{pair[0].name} -> {pair[1].name}"
        _invalid(one, schema.outputs[0].name, "is no type for this input", got, shown)


def _check_quantize(one: op) -> None:
    scales, zps = one.get(attr.scales), one.get(attr.zps)
    assert isinstance(scales, tuple), scales
    per_tensor = one.get(attr.qtype) == "per_tensor"
    if not scales or (per_tensor and len(scales) != 1):
        wanted = "1 for per_tensor" if per_tensor else "one for each channel"
        _invalid(one, "scales", "have another number", str(len(scales)), wanted)
    numbers = [abs(single(scale)) for scale in scales]
    if not all(0 < number < float("inf") for number in numbers):
        what = "divide by infinity" if float("inf") in numbers else "divide by nothing"
        wanted = "finite numbers other than 0, also as float32"
        _invalid(one, "scales", what, str(scales), wanted)
    if zps is None:
        return
    assert isinstance(zps, tuple), zps
    if len(zps) != len(scales):
        _invalid(one, "zps", "have another number", str(len(zps)), f"{len(scales)}, as scales")
    if not all(abs(zp) < 2**24 for zp in zps):
        _invalid(one, "zps", "are too large", str(zps), "less than 2**24: exact in f32")


def _check_rule(one: op) -> None:
    """What the same function's constants must be in a primitive's post-operations."""
    function, names = _RULED[one.op_kind]
    constants = [one.get(name) for name in names]
    numbers = [single(value) for value in constants if isinstance(value, float)]
    rule = eltwise_rule(function, *numbers, *[0.0] * (2 - len(numbers)))
    if rule:
        shown = ", ".join(
            f"{name.name} {value!r}" for name, value in zip(names, constants, strict=True)
        )
        _invalid(one, names[0].name, "breaks the function's rule", shown, _RULE_TEXTS[one.op_kind])


def _invalid(one: op, argument: str, what: str, got: str, expected: str) -> NoReturn:
    refuse(
        status.invalid_graph_op,
        f"graph.add_op({one.op_kind.name} {one.id})",
        argument,
        what,
        got=got,
        expected=expected,
        fix=f"see the schema of {one.op_kind.name}",
    )
