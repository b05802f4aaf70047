# SPDX-License-Identifier: Apache-2.0
"""What the generators share: a generated file is written anew, or found stale with ``--check``."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["ROOT", "fill", "main", "write"]

ROOT = Path(__file__).resolve().parent.parent


def main(description: str | None, render: Callable[[], Mapping[Path, str]]) -> int:
    """Write the files of `render` that are not as they would be written, or name them.

    Parameters
    ----------
    description : str
        The generator's, for ``--help``.
    render : callable
        Gives the text of every generated file.

    Returns
    -------
    int
        The exit code: 1 where ``--check`` found a stale file.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--check", action="store_true", help="exit 1 when a file is stale")
    if not parser.parse_args().check:
        write(render())
        return 0
    stale = _stale(render())
    script = Path(sys.argv[0]).name
    for path in stale:
        sys.stderr.write(f"{path.relative_to(ROOT)} is stale: run python tools/{script}\n")
    return 1 if stale else 0


def write(texts: Mapping[Path, str]) -> bool:
    """Write the files that are stale; whether there were any."""
    stale = _stale(texts)
    for path, text in stale.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}", flush=True)
    return bool(stale)


def fill(text: str, name: str, body: str) -> str:
    """A page of Markdown with another body between the two markers of `name`."""
    begin, end = f"<!-- begin generated: {name} -->", f"<!-- end generated: {name} -->"
    found = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    pairs = len(found.findall(text))
    if pairs != 1:
        first = text.partition("\n")[0]
        sys.exit(f"{pairs} pairs of {begin} and {end} in the page {first!r}: keep exactly one")
    return found.sub(lambda _: f"{begin}\n{body}{end}", text)


def _stale(texts: Mapping[Path, str]) -> dict[Path, str]:
    return {
        path: text
        for path, text in texts.items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    }
