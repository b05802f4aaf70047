# SPDX-License-Identifier: Apache-2.0
"""Fills the generated parts of the C headers from Python's tables; `--check`: are they stale.

A part lies between ``/* begin generated: NAME */`` and ``/* end generated: NAME */``. NAME is an
enumeration ("aclDataType"), "statuses acl", "statuses aclnn", "dtype rows", or "flags PREFIX" for
the plain numbers of the runtime's enumerations module.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import fresh

from aclnn_py.core.dtype import DTYPES, aclDataType
from aclnn_py.core.format import aclFormat
from aclnn_runtime import enums
from aclnn_runtime.status_table import ALIASES, STATUSES

if TYPE_CHECKING:
    from enum import IntEnum
    from pathlib import Path

HEADERS = fresh.ROOT / "native" / "include"
PART = re.compile(
    r"(?P<begin>/\* begin generated: (?P<name>[^*]+?) \*/\n).*?"
    r"(?P<end>/\* end generated: (?P=name) \*/)",
    re.DOTALL,
)


def enumeration(members: type[IntEnum]) -> str:
    """A C enumeration with the same name and members."""
    rows = "".join(f"  {name} = {_number(m.value)},\n" for name, m in members.__members__.items())
    return f"typedef enum {members.__name__} {{\n{rows}}} {members.__name__};\n"


def statuses(prefix: str) -> str:
    """Constants for the statuses of one family.

    C needs constant expressions; C++ has those of any constant, and there programs deduce types
    from them (``auto ret = ACL_SUCCESS``), which must be the functions'.
    """
    kind = "aclnnStatus" if prefix == "aclnn" else "aclError"
    values = {name: value for name, value, _ in STATUSES}
    known = [*STATUSES, *((alias, values[name], f"as {name}") for alias, name in ALIASES)]
    rows = [row for row in known if row[0].startswith("ACLNN_") is (prefix == "aclnn")]
    in_c = "".join(f"  {name} = {value}, /* {meaning} */\n" for name, value, meaning in rows)
    in_cpp = "".join(f"static const {kind} {name} = {value};\n" for name, value, _ in rows)
    return f"#ifdef __cplusplus\n{in_cpp}#else\nenum {{\n{in_c}}};\n#endif\n"


def flags(prefix: str) -> str:
    """Macros for the plain numbers whose names begin with `prefix`."""
    found = {
        name: value
        for name, value in vars(enums).items()
        if name.startswith(prefix) and type(value) is int
    }
    return "".join(f"#define {name} 0x{value:08X}U\n" for name, value in found.items())


def _number(value: int) -> str:
    return str(value) if -1 <= value < 0x100 else f"0x{value:X}"


def part(name: str) -> str:
    """Text of one generated part."""
    kind, _, rest = name.partition(" ")
    if kind == "statuses":
        return statuses(rest)
    if kind == "flags":
        return flags(rest)
    if kind == "dtype":
        return "".join(f"    {{{row.value}, {row.acl_size}}}, /* {row} */\n" for row in DTYPES)
    known = {"aclDataType": aclDataType, "aclFormat": aclFormat}
    return enumeration(known.get(name) or getattr(enums, name))


def renewed(text: str) -> str:
    """A header with its generated parts made anew."""
    return PART.sub(lambda found: found["begin"] + part(found["name"]) + found["end"], text)


def render() -> dict[Path, str]:
    """Text of each header."""
    return {
        path: renewed(path.read_text(encoding="utf-8")) for path in sorted(HEADERS.rglob("*.h"))
    }


if __name__ == "__main__":
    sys.exit(fresh.main(__doc__, render))
