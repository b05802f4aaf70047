# SPDX-License-Identifier: Apache-2.0
"""How the dialects differ, as one table of facts: each dialect declares its column.

A column is a `DialectFacts` in the tuple ``FACTS`` of a module ``facts_<dialect>.py`` of this
folder. What code knows (defaults, element types, names) is read from it there, not repeated.
``aclnn-py dialects`` and README's page are printed from here; tests hold columns to behaviour.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from aclnn_py.core.dtype import by_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = [
    "FAMILIES",
    "ORDER",
    "ROWS",
    "DialectFacts",
    "columns",
    "default_of",
    "short_names",
    "table",
]

#: The operators that dialects are compared in.
FAMILIES: Final = ("softmax", "log-softmax", "softmax-backward", "log-softmax-backward")

_SHORT: Final = {
    "FLOAT": "f32", "FLOAT16": "f16", "DOUBLE": "f64", "BF16": "bf16", "INT8": "s8", "UINT8": "u8",
    "FLOAT8_E5M2": "f8_e5m2", "FLOAT8_E4M3FN": "f8_e4m3",
}  # fmt: skip
#: Element types in the table's order.
ORDER: Final = ("f32", "f16", "bf16", "f64", "s8", "u8", "f8_e5m2", "f8_e4m3")


@dataclass(frozen=True, slots=True, kw_only=True)
class DialectFacts:
    """One column: how one dialect speaks of one family.

    Attributes
    ----------
    dialect : str
        The heading, ``"oneDNN primitive"``.
    family : str
        One of `FAMILIES`.
    entry_points : str
        What is called, in order.
    counterpart : str
        Where the log variant lives, or the plain one.
    inputs : tuple of str
        In the dialect's order and names.
    output : str
        The result.
    axis_name, axis_type : str
        The parameter.
    axis_defaults : mapping of str to int or None
        By entry point; ``None`` where the axis must be given.
    negative_axis : bool
        Whether -1 is the last axis.
    axis_range : str
        What is legal, and how the rest fails.
    axis_semantics : str
        A single axis, or where the tensor is cut into a matrix.
    dtypes : mapping of str to tuple of str
        Element types of the inputs, short names, by what decides on them (a provider, an engine;
        ``""`` where nothing does).
    same_dtype : str
        Whether the inputs must agree.
    output_dtype : str
        Types of the result.
    shapes, in_place, layout, extras, workspace, errors, empties : str
        The other rows.
    minus_inf_row : str
        What a row of only -inf gives; forward only.
    """

    dialect: str
    family: str
    entry_points: str
    counterpart: str
    inputs: tuple[str, ...]
    output: str
    axis_name: str
    axis_type: str
    axis_defaults: Mapping[str, int | None]
    negative_axis: bool
    axis_range: str
    axis_semantics: str
    dtypes: Mapping[str, tuple[str, ...]]
    same_dtype: str
    output_dtype: str
    shapes: str
    in_place: str
    layout: str
    extras: str
    workspace: str
    errors: str
    empties: str
    minus_inf_row: str = field(default="")

    def default_text(self) -> str:
        """The axis defaults as one cell."""
        values = set(self.axis_defaults.values())
        if values == {None}:
            return "none (mandatory)"
        if len(values) == 1:
            return str(values.pop())
        return ", ".join(f"{value} ({name})" for name, value in self.axis_defaults.items())

    def dtype_text(self) -> str:
        """The element types as one cell."""
        return "; ".join(
            f"{who}: {' '.join(names)}" if who else " ".join(names)
            for who, names in self.dtypes.items()
        )


#: Titles of the table's rows, and how a column fills them.
ROWS: Final[Mapping[str, Callable[[DialectFacts], str]]] = {
    "entry points": lambda column: column.entry_points,
    "counterpart": lambda column: column.counterpart,
    "inputs, in order": lambda column: ", ".join(column.inputs),
    "output": lambda column: column.output,
    "axis name, type": lambda column: f"{column.axis_name}, {column.axis_type}",
    "axis default": DialectFacts.default_text,
    "negative axis": lambda column: "counts from the last" if column.negative_axis else "refused",
    "axis range": lambda column: column.axis_range,
    "axis semantics": lambda column: column.axis_semantics,
    "dtypes": DialectFacts.dtype_text,
    "inputs same dtype": lambda column: column.same_dtype,
    "output dtype": lambda column: column.output_dtype,
    "shapes": lambda column: column.shapes,
    "in-place": lambda column: column.in_place,
    "layout": lambda column: column.layout,
    "extras": lambda column: column.extras,
    "workspace": lambda column: column.workspace,
    "error style": lambda column: column.errors,
    "empties": lambda column: column.empties,
    "row of only -inf": lambda column: column.minus_inf_row,
}


def columns(family: str) -> list[DialectFacts]:
    """The columns of one family, dialect by dialect.

    Raises
    ------
    KeyError
        For a family that no dialect declares.
    """
    if family not in FAMILIES:
        raise KeyError(family)
    modules = sorted(path.stem for path in Path(__file__).parent.glob("facts_*.py"))
    found = [fact for name in modules for fact in import_module(f"{__package__}.{name}").FACTS]
    return [fact for fact in found if fact.family == family]


def table(family: str) -> list[list[str]]:
    """Headings, then one list a row; rows that no column fills are left out."""
    facts = columns(family)
    rows = [[title, *(cell(fact) for fact in facts)] for title, cell in ROWS.items()]
    return [["", *(fact.dialect for fact in facts)], *(row for row in rows if any(row[1:]))]


def default_of(function: Callable[..., object], parameter: str) -> int | None:
    """A parameter's default, or ``None`` where it has to be given."""
    default = inspect.signature(function).parameters[parameter].default
    return None if default is inspect.Parameter.empty else default


def short_names(names: Iterable[str]) -> tuple[str, ...]:
    """Element types the way the table spells them, in its order."""
    unknown = set(names) - set(by_name)
    assert not unknown, unknown
    return tuple(sorted((_SHORT[name] for name in names), key=ORDER.index))
