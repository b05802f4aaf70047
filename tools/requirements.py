# SPDX-License-Identifier: Apache-2.0
"""Prints what building, running and the named extras need, read from pyproject.toml.

Installed before the project itself, so that building it needs neither isolation nor a network.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:  # pip is in every fresh virtual environment and carries the same parser
    from pip._vendor import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent


def requirements(pyproject: dict[str, Any], extras: list[str]) -> list[str]:
    """Requirements of others; an extra that names the project's own extras is followed."""
    project = pyproject["project"]
    found = [*pyproject["build-system"]["requires"], *project["dependencies"]]
    pending = list(extras)
    for extra in pending:
        for entry in project["optional-dependencies"][extra]:
            own, _, names = entry.partition("[")
            if own == project["name"]:
                pending += [name for name in names.rstrip("]").split(",") if name not in pending]
            else:
                found.append(entry)
    return sorted(set(found))


def main() -> None:
    """Print one requirement a line."""
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    print("\n".join(requirements(pyproject, sys.argv[1:])))


if __name__ == "__main__":
    main()
