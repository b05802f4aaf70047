# SPDX-License-Identifier: Apache-2.0
"""Scaling: time against rows, against row length over five decades, and at odd lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.cells import Cell
from benchmarks.ours import Ours, operator_name
from benchmarks.timing import measure

if TYPE_CHECKING:
    from benchmarks.bench import Bench

__all__ = ["LARGEST_BYTES", "run"]

_DECADES = (10, 100, 1000, 10_000, 100_000, 1_000_000)
_ODD = (1009, 1023, 1024, 1025, 2039, 2048, 4093, 4095, 4096, 4097)
_NEAREST = {1009: 1024, 1023: 1024, 1025: 1024, 2039: 2048, 4093: 4096, 4095: 4096, 4097: 4096}
_ELEMENTS = 1 << 24
_QUICK_ELEMENTS = 1 << 21
_ROW = 16  # row length of the series over rows
LARGEST_BYTES = 4 * _ELEMENTS + 4 * 1_000_000


def run(bench: Bench) -> dict[str, Any]:
    """Nanoseconds a byte moved, for softmax and its gradient, float32."""
    total = _QUICK_ELEMENTS if bench.quick else _ELEMENTS
    decades = _DECADES[:-1] if bench.quick else _DECADES
    result: dict[str, Any] = {}
    for direction in ("forward", "backward"):
        rows = {n: _point(bench, direction, (n, _ROW)) for n in decades}
        lengths = {n: _point(bench, direction, (max(1, total // n), n)) for n in decades}
        odd = {n: _point(bench, direction, (total // n, n)) for n in _ODD}
        result[direction] = {
            "rows_of_16": rows,
            "row_length": lengths,
            "odd_length": odd,
            "flatness": _flatness(rows),
            "worst_odd": max(odd[n]["ns_per_byte"] / odd[near]["ns_per_byte"]
                             for n, near in _NEAREST.items()),
        }
    return result


def _point(bench: Bench, direction: str, shape: tuple[int, int]) -> dict[str, Any]:
    cell = Cell("softmax", direction, "float32", shape, -1)
    views = [bench.arena.view(slot, "float32", shape, cell.in_layout) for slot in range(3)]
    bench.arena.fill(views[0])
    bench.arena.fill(views[1])
    inputs = tuple(views[: cell.inputs])
    name = operator_name("softmax", direction)
    ours = Ours(bench.device, bench.stream, name, inputs, -1, views[2])
    contestants = [ours.c(bench.engine_loop)]
    if not bench.torch.missing:
        call = bench.torch.call("softmax", direction, inputs, -1, views[2])
        contestants.append(bench.torch.contestant(call))
    timings = measure(contestants, bench.budget_s / 2, 3)
    ours.close()
    record: dict[str, Any] = {
        "shape": list(shape),
        "moved_bytes": cell.moved_bytes,
        "ns": timings["ours (C)"].median,
        "ns_per_byte": timings["ours (C)"].median / cell.moved_bytes,
    }
    if bench.torch.name in timings:
        record["torch_ns"] = timings[bench.torch.name].median
    return record


def _flatness(points: dict[int, dict[str, Any]]) -> float:
    """Slowest over fastest byte among the tensors that leave the caches; 0 if fewer than two do."""
    from benchmarks.limit import cache_bytes  # noqa: PLC0415

    large = [p["ns_per_byte"] for p in points.values() if p["moved_bytes"] > 2 * cache_bytes(4)]
    return max(large) / min(large) if len(large) > 1 else 0.0
