# SPDX-License-Identifier: Apache-2.0
"""Braces in table rows: ``"{FLOAT,DOUBLE}[2]"`` stands for two rows, one choice at a time.

Choices that contain commas are separated by bars. A brace named twice (``"{=t FLOAT,DOUBLE}[2]"``
and ``"{=t}[2]"``) takes the same choice in both places.
"""

from __future__ import annotations

import itertools
import re

_BRACE = re.compile(r"\{(=\w+)? ?([^{}]*)\}")


def expand(row: tuple) -> list[tuple]:
    """All rows that one row with braces stands for."""
    choices: list[list[str]] = []
    names: dict[str, int] = {}

    def mark(match) -> str:
        name, listed = match.groups()
        if name in names and not listed:
            return f"\0{names[name]}\0"
        choices.append(listed.split("|" if "|" in listed else ","))
        if name:
            names[name] = len(choices) - 1
        return f"\0{len(choices) - 1}\0"

    def walk(cell, function):
        if isinstance(cell, tuple):
            return tuple(walk(inner, function) for inner in cell)
        return function(cell) if isinstance(cell, str) else cell

    marked = walk(row, lambda text: _BRACE.sub(mark, text))
    return [
        walk(marked, lambda text, p=picks: re.sub("\0(\\d+)\0", lambda m: p[int(m[1])], text))
        for picks in itertools.product(*choices)
    ]
