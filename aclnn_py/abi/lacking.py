# SPDX-License-Identifier: Apache-2.0
"""Writes the runtime's functions that do not exist here; the build runs ``lacking.py OUT.c``.

Programs link and load with them. Called, each returns its status with a message that names it;
those that return something else than a status return 0 or NULL. Run by path, so it imports nothing
of the project.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["lacking", "lacking_text"]

TABLE = Path(__file__).with_name("runtime.txt")

TOP = """\
/* Written at build time by aclnn_py/abi/lacking.py: functions that say what they lack. */
#include "acl/acl_prof.h"
#include "acl/acl_rt.h"
#include "acl/acl_rt_memory_soma.h"
#include "capi.h"

"""
_PROTOTYPE = re.compile(r"(?P<type>.*[ *])(?P<name>\w+)\((?P<parameters>.*)\)")


def lacking() -> dict[str, tuple[int, str, str]]:
    """Status, prototype and reason by name."""
    rows = {}
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            status, prototype, reason = line.split(" | ")
            rows[_parts(prototype)["name"]] = int(status), prototype, reason
    return rows


def lacking_text(rows: Iterable[tuple[int, str, str]]) -> str:
    """The C source."""
    return TOP + "\n".join(_function(*row) for row in rows)


def _parts(prototype: str) -> dict[str, str]:
    found = _PROTOTYPE.fullmatch(prototype)
    if found is None:
        raise ValueError(f"{TABLE}: {prototype!r} is no prototype")
    return found.groupdict()


def _function(status: int, prototype: str, reason: str) -> str:
    parts = _parts(prototype)
    names = [text.split()[-1].lstrip("*") for text in parts["parameters"].split(",")]
    unused = "".join(f"  (void){name};\n" for name in names if name not in {"void", "..."})
    answer = f'capi_lacking("{parts["name"]}", {status}, "{reason}")'
    result = parts["type"].strip()
    if result == "aclError":
        body = f"  return {answer};\n"
    else:
        body = f"  (void){answer};\n" + ("" if result == "void" else f"  return ({result})0;\n")
    return f"{prototype} {{\n{unused}{body}}}\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(lacking_text(lacking().values()), encoding="utf-8")
