# SPDX-License-Identifier: Apache-2.0
"""The table of the operators' C prototypes.

Only the standard library is imported: the native build runs this file by path, before anything of
the project is installed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

__all__ = ["PHASE_TWO", "Parameter", "Prototype", "prototypes"]

TABLE = Path(__file__).with_name("operators.txt")

PHASE_TWO = (
    "void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream"
)
# The one header whose phase 2 repeats operator arguments before the stream.
_REPEATED = {"aclnnGaussianBlur": ("src", "ksize", "sigmaX", "sigmaY", "borderType", "dst")}
_SCALARS = {
    "bool": "b",
    "double": "d",
    "float": "f",
    "int": "i",
    "int8_t": "i",
    "int32_t": "i",
    "int64_t": "i",
    "uint64_t": "i",
    "aclDataType": "i",
}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a phase 1.

    Attributes
    ----------
    ctype : str
        Its C type, ``"const aclTensor *"``.
    name : str
        Its name.
    """

    ctype: str
    name: str

    @property
    def declaration(self) -> str:
        """As it stands in a prototype."""
        return f"{self.ctype}{'' if self.ctype.endswith('*') else ' '}{self.name}"

    @property
    def kind(self) -> str:
        """One letter: T tensor, i integer, b bool, d double, f float, p any other pointer."""
        plain = self.ctype.removeprefix("const ")
        if plain == "aclTensor *":
            return "T"
        return "p" if plain.endswith("*") else _SCALARS[plain]


@dataclass(frozen=True)
class Prototype:
    """One operator: its two functions, and the header that declares them.

    Attributes
    ----------
    name : str
        The second function, ``"aclnnAbs"``.
    repository : str
        The vendor's repository, ``"ops-math"``.
    header : str
        Below ``aclnnop/``.
    parameters : tuple of Parameter
        Of phase 1, without the two that all operators share.
    """

    name: str
    repository: str
    header: str
    parameters: tuple[Parameter, ...]

    @property
    def phase_one(self) -> str:
        """The prototype of phase 1, without return type and semicolon."""
        own = [parameter.declaration for parameter in self.parameters]
        shared = ["uint64_t *workspaceSize", "aclOpExecutor **executor"]
        return f"{self.name}GetWorkspaceSize({', '.join(own + shared)})"

    @property
    def phase_two(self) -> str:
        """The prototype of phase 2, without return type and semicolon."""
        again = _REPEATED.get(self.name, ())
        own = "".join(f"{p.declaration}, " for p in self.parameters if p.name in again)
        before, stream = PHASE_TWO.rsplit(", ", 1)
        return f"{self.name}({before}, {own}{stream})"

    @property
    def unused_in_phase_two(self) -> tuple[str, ...]:
        """Parameters of phase 2 that only this operator has."""
        return _REPEATED.get(self.name, ())


def prototypes() -> tuple[Prototype, ...]:
    """All operators, by name."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return tuple(_row(line) for line in lines if line and not line.startswith("#"))


def _row(line: str) -> Prototype:
    name, repository, header, *parameters = line.split(" | ")
    return Prototype(name, repository, header, tuple(_parameter(text) for text in parameters))


def _parameter(text: str) -> Parameter:
    found = re.fullmatch(r"(.*[ *])(\w+)", text)
    if found is None:
        raise ValueError(f"{TABLE}: {text!r} is no parameter")
    return Parameter(found[1].rstrip(" ") if "*" not in found[1] else found[1], found[2])
