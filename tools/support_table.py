# SPDX-License-Identifier: Apache-2.0
"""Writes README's generated tables from specs and settings; `--check`: are they stale."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from aclnn_py.core.settings import Settings
from aclnn_py.core.soc import DEFAULT_SOC, SOC_PROFILES
from aclnn_py.support import setting_rows, support_rows

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"


def main() -> int:
    """Write or check the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="exit 1 when a table is stale")
    check = parser.parse_args().check
    before = README.read_text(encoding="utf-8")
    after = fill(fill(before, "operators", operators()), "settings", settings())
    if check:
        if before == after:
            return 0
        sys.stderr.write("README.md is stale: run python tools/support_table.py\n")
        return 1
    README.write_text(after, encoding="utf-8")
    return 0


def fill(text: str, name: str, body: str) -> str:
    """Replace what stands between the two markers of `name`."""
    begin, end = f"<!-- begin generated: {name} -->", f"<!-- end generated: {name} -->"
    found = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if len(found.findall(text)) != 1:
        sys.exit(f"README.md: expected one pair of markers for {name!r}")
    return found.sub(lambda _: f"{begin}\n{body}{end}", text)


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
    sys.exit(main())
