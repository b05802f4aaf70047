# SPDX-License-Identifier: Apache-2.0
"""Writes README's generated tables from specs and settings; `--check`: are they stale."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import fresh

from aclnn_py.core.settings import Settings
from aclnn_py.core.soc import DEFAULT_SOC, SOC_PROFILES
from aclnn_py.support import setting_rows, support_rows

if TYPE_CHECKING:
    from pathlib import Path

README = fresh.ROOT / "README.md"


def render() -> dict[Path, str]:
    """The front page's text."""
    page = fresh.fill(README.read_text(encoding="utf-8"), "operators", operators())
    return {README: fresh.fill(page, "settings", settings())}


def operators() -> str:
    """One line an operator, for the default SoC profile; a footnote says how the others differ."""
    lines = ["| operator | maths | inputs | `out` | float32 bound |", "|---|---|---|---|---|"]
    for row in support_rows():
        dtypes = row.dtypes[DEFAULT_SOC]
        *inputs, out = dtypes.items()
        cells = (
            f"`{row.name}`",
            f"`{row.formula}`",
            " and ".join(sorted({", ".join(names) for _, names in inputs})),
            ", ".join(out[1]),
            row.bound.partition(";")[0].removeprefix("float32: "),
        )
        lines.append("| " + " | ".join(cells) + " |")
    without = [name for name, profile in SOC_PROFILES.items() if not profile.bf16]
    note = (
        f"\nFor the default profile, {DEFAULT_SOC}. `ACLNN_PY_SOC` selects another; bfloat16 "
        f"inputs are refused, as on the chip, by {', '.join(without)}.\n"
    )
    return "\n".join(lines) + "\n" + note


def settings() -> str:
    """One line a variable."""
    lines = ["| variable | default | meaning |", "|---|---|---|"]
    lines += [
        f"| `{name}` | {value} | {meaning} |" for name, value, meaning in setting_rows(Settings())
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(fresh.main(__doc__, render))
