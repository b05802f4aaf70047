# SPDX-License-Identifier: Apache-2.0
"""Writes the C functions of all two-phase operators; the native build runs ``functions.py OUT.c``.

Each function packs its arguments and hands them to capi/planner.c; operators that have no spec say
so there. Run by path, so it imports nothing of the project but its neighbour.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["functions_text"]

HERE = Path(__file__).resolve().parent
INDEX = HERE.parent / "ops" / "_index.py"

TOP = """\
/* Written at build time by aclnn_py/abi/functions.py: the two functions of each operator. */
#include "aclnn/acl_meta.h"
#include "capi.h"

"""
_MEMBERS = {"T": "handle", "p": "pointer", "i": "integer", "b": "integer", "d": "real", "f": "real"}


def functions_text(rows: Iterable[Any], known: set[str]) -> str:
    """The C source.

    Parameters
    ----------
    rows : iterable of Prototype
        All operators.
    known : set of str
        Names, without ``aclnn``, of those that have a spec.
    """
    return TOP + "\n".join(_operator(row, row.name.removeprefix("aclnn") in known) for row in rows)


def _operator(row: Any, known: bool) -> str:
    kinds = "".join(parameter.kind for parameter in row.parameters)
    names = ", ".join(f'"{parameter.name}"' for parameter in row.parameters)
    packed = ", ".join(f"{{.{_MEMBERS[p.kind]} = {_packed(p)}}}" for p in row.parameters)
    unused = "".join(f"  (void){name};\n" for name in row.unused_in_phase_two)
    table = f"static const char *const names_{row.name}[] = {{{names}}};\n" if known else ""
    return f"""\
{table}static struct capi_operator op_{row.name} = {{
    .name = "{row.name}", .kinds = "{kinds}", .names = {f"names_{row.name}" if known else "NULL"}}};
aclnnStatus {row.phase_one};
aclnnStatus {row.phase_one} {{
  const union capi_value packed_[] = {{{packed or "{.integer = 0}"}}};
  return capi_plan(&op_{row.name}, packed_, workspaceSize, executor);
}}
aclnnStatus {row.phase_two};
aclnnStatus {row.phase_two} {{
{unused}  return capi_run(&op_{row.name}, workspace, workspaceSize, executor, stream);
}}
"""


def _packed(parameter: Any) -> str:
    return f"(uintptr_t){parameter.name}" if parameter.kind == "T" else parameter.name


def main(output: Path) -> None:
    """Write the source next to the objects."""
    rows = runpy.run_path(str(HERE / "prototypes.py"), run_name="prototypes")["prototypes"]()
    known = set(runpy.run_path(str(INDEX))["INDEX"])
    output.write_text(functions_text(rows, known), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
