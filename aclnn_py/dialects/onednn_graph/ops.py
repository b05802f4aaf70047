# SPDX-License-Identifier: Apache-2.0
"""Operator: a kind, edges and attributes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar, Final, NoReturn

import ml_dtypes
import numpy as np

from aclnn_py.dialects.onednn.enums import member
from aclnn_py.dialects.onednn.operations import single
from aclnn_py.dialects.onednn.sequences import is_sequence
from aclnn_py.dialects.onednn.statuses import refuse, status
from aclnn_py.dialects.onednn_graph.enums import attr as attr_type
from aclnn_py.dialects.onednn_graph.enums import kind as kind_type
from aclnn_py.dialects.onednn_graph.logical_tensors import check_logical_tensor, logical_tensor
from aclnn_py.dialects.onednn_graph.schemas import SCHEMAS
from aclnn_runtime.arguments import describe, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aclnn_py.dialects.onednn_graph.schemas import Port, Schema, Value

__all__ = ["op"]

_NONE: Final = ()


class op:
    """An operator of a graph.

    Parameters
    ----------
    id : int
        Identity in its graph.
    kind : op.kind
        What it computes.
    inputs, outputs : sequence or mapping of logical_tensor
        By index, or by the schema's names. Input 1 of LogSoftmaxBackward is ``dst``, the forward's
        OUTPUT (log-probabilities); older pages name it ``src``, which is taken for the same thing.
        A text in the place of `inputs` is the name, as in the C++ constructor without tensors.
    verbose_name : str
        For texts.

    Raises
    ------
    OneDnnError
        invalid_arguments for what is no id, kind or logical tensor, and for unknown names. What
        the schema says is checked by ``graph.add_op``.
    """

    kind: ClassVar[type[kind_type]] = kind_type
    attr: ClassVar[type[attr_type]] = attr_type

    def __init__(
        self,
        id: int,  # as in the C++ interface
        kind: kind_type | int,
        inputs: Sequence[logical_tensor] | Mapping[str, logical_tensor] | str = (),
        outputs: Sequence[logical_tensor] | Mapping[str, logical_tensor] = _NONE,
        verbose_name: str = "",
    ) -> None:
        self.id = _id(id)
        self.op_kind = member("op", "kind", kind, kind_type, kind_type.SoftMax)
        given: object = inputs
        if isinstance(inputs, str) and not verbose_name and outputs is _NONE:
            given, verbose_name = (), inputs
        self.verbose_name = str(verbose_name) or f"{self.op_kind.name}_{self.id}"
        schema = SCHEMAS.get(self.op_kind)
        self.inputs = _tensors("inputs", given, schema.inputs if schema else None)
        self.outputs = _tensors("outputs", outputs, schema.outputs if schema else None)
        self.attributes: dict[attr_type, tuple[Value, object]] = {}

    def add_input(self, tensor: logical_tensor) -> None:
        """Append an input."""
        self.inputs = (*self.inputs, check_logical_tensor("op.add_input", "tensor", tensor))

    def add_inputs(self, tensors: Sequence[logical_tensor]) -> None:
        """Append inputs."""
        self.inputs = (*self.inputs, *_tensors("tensors", tensors, None, "op.add_inputs"))

    def add_output(self, tensor: logical_tensor) -> None:
        """Append an output."""
        made = check_logical_tensor("op.add_output", "tensor", tensor)
        self.outputs = (*self.outputs, made)

    def add_outputs(self, tensors: Sequence[logical_tensor]) -> None:
        """Append outputs."""
        self.outputs = (*self.outputs, *_tensors("tensors", tensors, None, "op.add_outputs"))

    def set_attr(self, name: attr_type | int, value: object) -> op:
        """Set an attribute; returns itself.

        Parameters
        ----------
        name : op.attr
            Which.
        value : bool, int, float, str, or a sequence or one-dimensional array of int or float
            Its Python type is its type: 1 and 1.0 are different kinds of attribute, except that an
            int also serves where a float32 is wanted.

        Raises
        ------
        OneDnnError
            invalid_arguments for an unknown attribute, or a value that cannot be one. Whether the
            operator has it is checked by ``graph.add_op`` (invalid_graph_op).
        """
        which = member("op.set_attr", "name", name, attr_type, attr_type.axis)
        schema = SCHEMAS.get(self.op_kind)
        self.attributes[which] = _value(which, value, schema)
        return self

    def copy(self) -> op:
        """The operator as it is now: what a graph keeps."""
        made = op(self.id, self.op_kind, self.inputs, self.outputs, self.verbose_name)
        made.attributes = dict(self.attributes)
        return made

    def get(self, name: attr_type) -> object:
        """An attribute's value, or its default.

        Raises
        ------
        OneDnnError
            invalid_arguments for what is no attribute of the operator.
        """
        which = member("op.get", "name", name, attr_type, attr_type.axis)
        schema = SCHEMAS.get(self.op_kind)
        known = schema.attributes.get(which) if schema else None
        if which in self.attributes:
            kind, value = self.attributes[which]
            is_float = known is not None and (kind, known.value) == ("s64", "f32")
            return float(value) if is_float else value  # type: ignore[arg-type]
        if known is None:
            refuse(
                status.invalid_arguments,
                "op.get",
                "name",
                "is no attribute of the operator",
                got=which.name,
                expected=_names(schema.attributes if schema else ()),
                fix="ask for one of these",
            )
        return known.default

    def __repr__(self) -> str:
        shown = ", ".join(f"{name.name} {value!r}" for name, (_, value) in self.attributes.items())
        return f"<op {self.id} {self.op_kind.name}{' ' if shown else ''}{shown}>"


def _names(attributes: Iterable[attr_type]) -> str:
    return " | ".join(one.name for one in attributes) or "none: it has no attributes"


_INT64: Final = range(-(2**63), 2**63)


def _plain(value: object) -> object:
    """NumPy's floats, one or a row of them, of any type, as Python's; else the same object."""
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "fV" and value.ndim < 2:
        with suppress(ValueError):
            ml_dtypes.finfo(value.dtype)  # type: ignore[no-untyped-call]  # refuses what is no float
            return value.astype(np.float64).tolist()
    return value


def _value(name: attr_type, value: object, schema: Schema | None) -> tuple[Value, object]:
    value = _plain(value)
    if isinstance(value, bool | str):
        return ("bool" if isinstance(value, bool) else "string"), value
    scalar = _number(value)
    if scalar is not None:
        return ("s64" if isinstance(scalar, int) else "f32"), scalar
    items = _items(value)
    numbers = [number for item in items or () if (number := _number(item)) is not None]
    if items is None or len(numbers) < len(items):
        _refuse_number(value, items, name)
        refuse(
            status.invalid_arguments,
            "op.set_attr",
            "value",
            f"cannot be the attribute {name.name}",
            got=describe(value),
            expected="bool, int (64 bits), float (32 bits), str, or a list, tuple or "
            "one-dimensional array of int or of float",
            fix=_example(name, schema),
        )
    if all(isinstance(item, int) for item in numbers):
        return "s64s", tuple(numbers)
    return "f32s", tuple([float(item) for item in numbers])


def _items(value: object) -> list[object] | None:
    """The members of a sequence; None for what is none."""
    if is_sequence(value):
        with suppress(TypeError):
            return list(value)  # type: ignore[call-overload,no-any-return]  # asking is the test
    return None


def _fault(number: float) -> str:
    """Why a float cannot be part of an attribute; empty where it can."""
    try:
        return "NaN" if math.isnan(single(number)) else ""
    except OverflowError:
        return f"{number!r}, which is beyond float32"


def _refuse_number(value: object, items: list[object] | None, name: attr_type) -> None:
    """Refuse for the float that is to blame, if one is: the type of the value is fine then."""
    numbers = map(_plain, [value] if items is None else items)
    faults = [_fault(one) for one in numbers if isinstance(one, float)]
    fault = next(filter(None, faults), "")
    if fault:
        refuse(
            status.invalid_arguments,
            "op.set_attr",
            "value",
            f"{'is' if items is None else 'holds'} {fault}",
            got=describe(value),
            expected="numbers of float32, none of them NaN",
            fix=f"check how {name.name} was computed",
        )


_EXAMPLES: Final[dict[Value, object]] = {
    "s64": 1, "f32": 0.5, "bool": True, "s64s": [0], "f32s": [0.5],
}  # fmt: skip


def _example(name: attr_type, schema: Schema | None) -> str:
    known = schema.attributes.get(name) if schema else None
    if known is None:
        return "pass one of these"
    value = known.choices[0] if known.choices else _EXAMPLES[known.value]
    return f"for example set_attr(op.attr.{name.name}, {value!r})"


def _number(value: object) -> int | float | None:
    value = _plain(value)
    if isinstance(value, bool | str):
        return None
    whole = whole_number(value)
    if whole is not None:
        return whole if whole in _INT64 else None
    return value if isinstance(value, float) and not _fault(value) else None


def _id(value: object) -> int:
    number = whole_number(value)
    if number is None or not 0 <= number < 2**64:
        _invalid("id", "is no id", describe(value), "an integer from 0")
    return number


def _tensors(
    argument: str, values: object, ports: tuple[Port, ...] | None, function: str = "op"
) -> tuple[logical_tensor, ...]:
    if isinstance(values, Mapping):
        values = _by_name(argument, values, ports)
    found = _items(values)
    if found is None:
        wanted = "logical tensors by index or name"
        if function != "op":
            wanted = "a sequence of logical tensors"
        _invalid(argument, "are no sequence", describe(values), wanted, function)
    return tuple(
        [
            check_logical_tensor(function, f"{argument}[{number}]", value)
            for number, value in enumerate(found)
        ]
    )


def _by_name(
    argument: str, values: Mapping[str, object], ports: tuple[Port, ...] | None
) -> list[object]:
    names = {name: port.name for port in ports or () for name in (port.name, port.was) if name}
    given = {names.get(name): value for name, value in values.items()}
    if None in given or len(given) < len(values):
        shown = " | ".join(names) if names else "no names: pass a sequence"
        _invalid(argument, "have another name, or one twice", " ".join(map(str, values)), shown)
    order = [port.name for port in ports or ()]
    last = max([order.index(str(name)) for name in given], default=-1)
    missing = [name for name in order[: last + 1] if name not in given]
    if missing:
        _invalid(argument, "leave one out", " ".join(values), " ".join(order))
    return [given[name] for name in order[: last + 1]]


def _invalid(argument: str, what: str, got: str, expected: str, function: str = "op") -> NoReturn:
    refuse(
        status.invalid_arguments,
        function,
        argument,
        what,
        got=got,
        expected=expected,
        fix="op(0, op.kind.SoftMax, [src], [dst])" if function == "op" else f"{function}([src])",
    )
