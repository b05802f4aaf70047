# SPDX-License-Identifier: Apache-2.0
"""Scaling: time against rows, against row length over five decades, and at odd lengths."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benchmarks.cells import Cell
from benchmarks.ours import Ours, operator_name
from benchmarks.timing import Contestant, Timing, measure

if TYPE_CHECKING:
    from benchmarks.bench import Bench

__all__ = ["LARGEST_BYTES", "run"]

_DECADES = (10, 100, 1000, 10_000, 100_000, 1_000_000)
_ODD = (1009, 1023, 1024, 1025, 2039, 2048, 4093, 4095, 4096, 4097)
_NEAREST = {1009: 1024, 1023: 1024, 1025: 1024, 2039: 2048, 4093: 4096, 4095: 4096, 4097: 4096}
_ELEMENTS = 1 << 24
_QUICK_ELEMENTS = 1 << 21
_ROW = 16  # row length of the series over rows
_LARGE_ROWS = (500_000, 700_000)  # more points beyond the caches
LARGEST_BYTES = 4 * _ELEMENTS + 4 * 1_000_000


def run(bench: Bench) -> dict[str, Any]:
    """Nanoseconds a byte moved, for softmax and its gradient, float32."""
    total = _QUICK_ELEMENTS if bench.quick else _ELEMENTS
    decades = _DECADES[:-1] if bench.quick else _DECADES
    shapes = {
        "rows_of_16": {n: (n, _ROW) for n in (*decades, *(() if bench.quick else _LARGE_ROWS))},
        "row_length": {n: (max(1, total // n), n) for n in decades},
        "odd_length": {n: (total // n, n) for n in _ODD},
    }
    result: dict[str, Any] = {}
    for direction in ("forward", "backward"):
        parts = {name: _series(bench, direction, points) for name, points in shapes.items()}
        odd = {n: point["ns_per_byte"] for n, point in parts["odd_length"].items()}
        result[direction] = {
            **parts,
            "worst_odd": max(odd[n] / odd[near] for n, near in _NEAREST.items()),
        }
    return result


def _series(
    bench: Bench, direction: str, shapes: dict[int, tuple[int, int]]
) -> dict[int, dict[str, Any]]:
    """All points of a series side by side, so that a disturbance does not look like a cliff."""
    cells = {n: Cell("softmax", direction, "float32", shape, -1) for n, shape in shapes.items()}
    largest = max(cells.values(), key=lambda cell: cell.elements)
    for slot in range(largest.inputs):
        bench.arena.fill(bench.arena.view(slot, "float32", largest.shape, largest.in_layout))
    made: list[Ours] = []
    contestants: list[Contestant] = []
    for n, cell in cells.items():
        views = [bench.arena.view(i, "float32", cell.shape, cell.in_layout) for i in range(3)]
        inputs = tuple(views[: cell.inputs])
        name = operator_name("softmax", direction)
        made.append(Ours(bench.device, bench.stream, name, inputs, -1, views[2]))
        # No peer shares its wait, and the sizes differ: a burst of its own for each point.
        mine = made[-1].c(bench.engine_loop)
        contestants.append(replace(mine, name=f"ours {n}", layer="alone"))
        if not bench.torch.missing:
            call = bench.torch.call("softmax", direction, inputs, -1, views[2])
            contestants.append(replace(bench.torch.contestant(call), name=f"torch {n}"))
    timings = measure(contestants, bench.budget_s / 2, 3)
    for one in made:
        one.close()
    return {n: _point(cell, timings, n) for n, cell in cells.items()}


def _point(cell: Cell, timings: dict[str, Timing], n: int) -> dict[str, Any]:
    took = timings[f"ours {n}"].median
    record: dict[str, Any] = {
        "shape": list(cell.shape),
        "moved_bytes": cell.moved_bytes,
        "ns": took,
        "ns_per_byte": took / cell.moved_bytes,
    }
    if f"torch {n}" in timings:
        record["torch_ns"] = timings[f"torch {n}"].median
    return record
