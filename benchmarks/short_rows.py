# SPDX-License-Identifier: Apache-2.0
"""Rows of a few vectors, which the table lacks: in the caches, one thread, beside every peer."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

from benchmarks import softmax
from benchmarks.cells import Cell

if TYPE_CHECKING:
    from benchmarks.bench import Bench

__all__ = ["ELEMENTS", "LENGTHS", "cells", "run"]

LENGTHS = (10, 16, 32, 48, 64, 100, 128, 200, 256, 512)
# Three tensors of floats are 384 KiB: a second level holds them, a first one does not.
ELEMENTS = 1 << 15
_BUDGET_S, _QUICK_BUDGET_S = 0.03, 0.01


def cells() -> list[Cell]:
    """Both operators and directions over rows of each length."""
    every = product(
        ("float32", "float16", "bfloat16"),
        LENGTHS,
        ("softmax", "log_softmax"),
        ("forward", "backward"),
    )
    return [
        Cell(operator, direction, dtype, (ELEMENTS // length, length), -1, threads=1)
        for dtype, length, operator, direction in every
    ]


def run(bench: Bench) -> list[dict[str, Any]]:
    """Give the records of all cells, as those of the table are."""
    brief = replace(bench, budget_s=_QUICK_BUDGET_S if bench.quick else _BUDGET_S)
    return list(softmax.run(brief, cells()))
