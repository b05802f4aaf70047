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
from aclnn_py.dialects.onednn.statuses import refuse, status
from aclnn_py.dialects.onednn_graph.enums import attr as attr_type
from aclnn_py.dialects.onednn_graph.enums import kind as kind_type
from aclnn_py.dialects.onednn_graph.logical_tensors import check_logical_tensor, logical_tensor
from aclnn_py.dialects.onednn_graph.schemas import SCHEMAS
from aclnn_runtime.arguments import describe, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aclnn_py.dialects.onednn_graph.schemas import Port, Value

__all__ = ["op"]


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
        inputs: Sequence[logical_tensor] | Mapping[str, logical_tensor] = (),
        outputs: Sequence[logical_tensor] | Mapping[str, logical_tensor] = (),
        verbose_name: str = "",
    ) -> None:
        self.id = _id(id)
        self.op_kind = member("op", "kind", kind, kind_type)
        self.verbose_name = str(verbose_name) or f"{self.op_kind.name}_{self.id}"
        schema = SCHEMAS.get(self.op_kind)
        self.inputs = _tensors("inputs", inputs, schema.inputs if schema else None)
        self.outputs = _tensors("outputs", outputs, schema.outputs if schema else None)
        self.attributes: dict[attr_type, tuple[Value, object]] = {}

    def add_input(self, tensor: logical_tensor) -> None:
        """Append an input."""
        self.inputs = (*self.inputs, check_logical_tensor("op.add_input", "t", tensor))

    def add_inputs(self, tensors: Sequence[logical_tensor]) -> None:
        """Append inputs."""
        self.inputs = (*self.inputs, *_tensors("tensors", tensors, None, "op.add_inputs"))

    def add_output(self, tensor: logical_tensor) -> None:
        """Append an output."""
        self.outputs = (*self.outputs, check_logical_tensor("op.add_output", "t", tensor))

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
        which = member("op.set_attr", "name", name, attr_type)
        self.attributes[which] = _value(which, value)
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
        which = member("op.get", "name", name, attr_type)
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
    """NumPy's floats, one or an array of them, of any type, as Python's; else the same object."""
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "fV":
        with suppress(ValueError):
            ml_dtypes.finfo(value.dtype)  # type: ignore[no-untyped-call]  # refuses what is no float
            return value.astype(np.float64).tolist()
    return value


def _value(name: attr_type, value: object) -> tuple[Value, object]:
    value = _plain(value)
    if isinstance(value, bool | str):
        return ("bool" if isinstance(value, bool) else "string"), value
    scalar = _number(value)
    if scalar is not None:
        return ("s64" if isinstance(scalar, int) else "f32"), scalar
    try:
        items = [_number(item) for item in value]  # type: ignore[attr-defined]
    except TypeError:
        items = [None]
    numbers = [item for item in items if item is not None]
    if len(numbers) < len(items):
        refuse(
            status.invalid_arguments,
            "op.set_attr",
            "value",
            f"cannot be the attribute {name.name}",
            got=describe(value),
            expected="bool, int (64 bits), float (32 bits), str, or a sequence of int or of float",
            fix="for example set_attr(op.attr.axis, 1)",
        )
    if all(isinstance(item, int) for item in numbers):
        return "s64s", tuple(numbers)
    return "f32s", tuple([float(item) for item in numbers])


def _number(value: object) -> int | float | None:
    value = _plain(value)
    if isinstance(value, bool | str):
        return None
    whole = whole_number(value)
    if whole is not None:
        return whole if whole in _INT64 else None
    if isinstance(value, float):
        with suppress(OverflowError):
            return None if math.isnan(single(value)) else value
    return None


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
    try:
        found: tuple[logical_tensor, ...] = tuple(values)  # type: ignore[arg-type]  # asking is the test
    except TypeError:
        _invalid(argument, "are no sequence", describe(values), "logical tensors by index or name")
    for number, value in enumerate(found):
        check_logical_tensor(function, f"{argument}[{number}]", value)
    return found


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


def _invalid(argument: str, what: str, got: str, expected: str) -> NoReturn:
    refuse(
        status.invalid_arguments,
        "op",
        argument,
        what,
        got=got,
        expected=expected,
        fix="op(0, op.kind.SoftMax, [src], [dst])",
    )
