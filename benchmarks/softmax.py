# SPDX-License-Identifier: Apache-2.0
"""The softmax cells: every contestant on the same bytes, checked, then timed side by side."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import ours as our_side
from benchmarks.bounds import turning_slots
from benchmarks.cells import OURS_BESIDE
from benchmarks.limit import cache_bytes
from benchmarks.numpy_peer import oracle
from benchmarks.timing import Contestant, measure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.arena import View
    from benchmarks.bench import Bench
    from benchmarks.cells import Cell

__all__ = ["run"]

_SAMPLE = 1 << 16
# The whole run keeps to its promise on slow machines too: late cells get shorter budgets.
_MINUTES, _QUICK_MINUTES = 14, 1.5
_OVERHEAD = 8  # budgets a cell takes in all
_LEAST_S = 0.02
# How much slower than the kernel a loop may be by the noise of a run and still count as its bound.
_OUTRUN = 1.05
# How often instructions are timed again where the kernel outruns them: a core may have been slow.
_AGAIN = 4
# Loose on purpose: a wrong axis or a skipped call fails, a rounding difference does not.
_CLOSE = {"float32": 1e-4, "float16": 2e-2, "bfloat16": 6e-2, "float64": 1e-9}


def run(bench: Bench, cells: list[Cell]) -> Iterator[dict[str, Any]]:
    """Yield the record of each cell as it is done."""
    group: tuple[object, ...] | None = None
    end = time.monotonic() + (_QUICK_MINUTES if bench.quick else _MINUTES) * 60
    for done, cell in enumerate(cells):
        first = bench.arena.view(0, cell.dtype, cell.shape, cell.in_layout)
        if cell.group != group:
            bench.arena.fill(first)
            group = cell.group
        bench.set_threads(cell.threads)
        left = max(0.0, end - time.monotonic()) / (len(cells) - done)
        yield _cell(bench, cell, first, min(bench.budget_s, max(left / _OVERHEAD, _LEAST_S)))
    bench.set_threads(bench.threads)


def _cell(bench: Bench, cell: Cell, first: View, budget_s: float) -> dict[str, Any]:
    arena = bench.arena
    inputs: tuple[View, ...] = (first,)
    if cell.direction == "backward":
        second = arena.view(1, cell.dtype, cell.shape, cell.in_layout)
        _forward(bench, cell, first, second)
        inputs = (first, second)
    out = arena.view(2, cell.dtype, cell.shape, cell.out_layout)
    name = our_side.operator_name(cell.operator, cell.direction)
    ours = our_side.Ours(arena.device, bench.stream, name, inputs, cell.axis, out)
    record: dict[str, Any] = {"cell": cell.name, **_facts(cell), "notes": {}}
    try:
        contestants = _contestants(bench, cell, ours, inputs, out, record)
        timings = measure(contestants, budget_s, bench.rounds)
    finally:
        ours.close()
    record["times_ns"] = {key: timing.record() for key, timing in timings.items()}
    _ratios(record)
    if record["beyond_cache"]:
        _bound(bench, cell, record)
    return record


def _forward(bench: Bench, cell: Cell, first: View, second: View) -> None:
    name = our_side.operator_name(cell.operator, "forward")
    made = our_side.Ours(bench.arena.device, bench.stream, name, (first,), cell.axis, second)
    made.repeat()()
    made.close()


def _contestants(
    bench: Bench,
    cell: Cell,
    ours: our_side.Ours,
    inputs: tuple[View, ...],
    out: View,
    record: dict[str, Any],
) -> list[Contestant]:
    check = _Check(cell, inputs, out, record)
    found: list[Contestant] = []
    mine = ours.cycle()
    check.python("ours", mine)
    found += [ours.python(), ours.c(bench.engine_loop)]
    for peer in (bench.torch, bench.numpy):  # Python call to completion
        if peer.missing:
            record["notes"][peer.name] = peer.missing
            continue
        try:
            call = peer.call(cell.operator, cell.direction, inputs, cell.axis, out)
            right = check.python(peer.name, call)
        except (RuntimeError, TypeError, NotImplementedError) as error:
            record["notes"][peer.name] = f"unsupported ({str(error).splitlines()[0]})"
            continue
        if right:
            found.append(peer.contestant(call))
    by_c, note = bench.onednn.contestant(cell, inputs, out, lambda got: check.is_close(got)[0])
    record["notes"][bench.onednn.name] = note
    if by_c is not None:
        found.append(by_c)
    if record["beyond_cache"]:
        found.append(
            bench.limit.contestant(bench.arena, cell.tensor_bytes, cell.inputs, cell.threads)
        )
        moving = bench.traffic.contestant(bench.arena, cell)
        found += [moving] if moving is not None else []
    return found


class _Check:
    """Compares everybody's first result with the mathematics in float64, on some of the rows."""

    def __init__(
        self, cell: Cell, inputs: tuple[View, ...], out: View, record: dict[str, Any]
    ) -> None:
        self._out = out
        self._record = record
        self._rows = _some_rows(cell)
        axis = cell.axis % len(cell.shape)
        arrays = [view.array[self._rows] for view in inputs]
        self._expected = oracle(cell.operator, cell.direction, arrays, axis, np.float64)
        self._tolerance = _CLOSE[cell.dtype] * max(1.0, float(np.abs(self._expected).max()))

    def python(self, name: str, call: Callable[[], object]) -> bool:
        self._out.raw()[:] = 0xFF  # NaN: a call that does nothing is seen
        call()
        right, worst = self.is_close(self._out.array)
        if not right:
            self._record["notes"][name] = f"WRONG RESULT, off by {worst:g}"
            self._record.setdefault("wrong", []).append(name)
        return right

    def is_close(self, array: np.ndarray[Any, Any]) -> tuple[bool, float]:
        """Whether the rows looked at are right, and the largest difference."""
        got = np.asarray(array[self._rows], np.float64)
        worst = float(np.abs(got - self._expected).max())
        return worst <= self._tolerance, worst


def _some_rows(cell: Cell) -> tuple[slice, ...]:
    """Slices of every dimension but the axis that keep about _SAMPLE elements."""
    axis = cell.axis % len(cell.shape)
    sizes = list(cell.shape)
    while np.prod(sizes) > _SAMPLE:
        others = [i for i in range(len(sizes)) if i != axis and sizes[i] > 1]
        if not others:
            break
        widest = max(others, key=lambda i: sizes[i])
        sizes[widest] = (sizes[widest] + 1) // 2
    steps = [-(-full // kept) for full, kept in zip(cell.shape, sizes, strict=True)]
    return tuple(slice(None, None, step) for step in steps)


def _facts(cell: Cell) -> dict[str, Any]:
    return {
        "operator": cell.operator,
        "direction": cell.direction,
        "dtype": cell.dtype,
        "shape": list(cell.shape),
        "axis": cell.axis,
        "threads": cell.threads,
        "layout": cell.layout,
        "moved_bytes": cell.moved_bytes,
        "tensor_bytes": cell.tensor_bytes,
        "row_bytes": cell.shape[cell.axis] * cell.tensor_bytes // cell.elements,
        "beyond_cache": cell.moved_bytes > cache_bytes(4) > 0,
        "tensor_beyond_cache": cell.tensor_bytes > cache_bytes(4) > 0,
    }


def _bound(bench: Bench, cell: Cell, record: dict[str, Any]) -> None:
    """What stops the cell, and which part of that it reaches."""
    times = record["times_ns"]
    ours = times["ours (C)"]["median"]
    work = bench.bounds.work(cell)
    plain, kind = bench.bounds.nanoseconds(cell, work, times["limit"]["median"])
    for _ in range(_AGAIN if kind == "instructions" else 0):
        if plain <= ours * _OUTRUN:
            break
        work = bench.bounds.again(cell)
        plain, kind = bench.bounds.nanoseconds(cell, work, times["limit"]["median"])
    # The loop's least time: the machine has shown that it can. One that the kernel outruns is no
    # bound, whatever it was meant to be.
    traffic = times["traffic"]["least"] if "traffic" in times else 0.0
    holds = traffic <= times["ours (C)"]["least"] * _OUTRUN
    bound, kind = max((plain, kind), (traffic if holds else 0.0, "layout"))
    record["bound"] = {
        "ns": bound,
        "by": kind,
        "bytes": cell.moved_bytes,
        "work": asdict(work) if work else None,
        "turning_slots": turning_slots(cell),
        "traffic_ns": traffic,
        "traffic_holds": holds,
    }
    record["plain_share"] = plain / ours
    record["bound_share"] = bound / ours


def _ratios(record: dict[str, Any]) -> None:
    """Peer time over our time at the same layer: above 1 we are faster."""
    median = {name: timing["median"] for name, timing in record["times_ns"].items()}
    record["ratios"] = {
        peer: median[peer] / median[mine] for peer, mine in OURS_BESIDE.items() if peer in median
    }
    record["best_peer"] = min(record["ratios"], key=record["ratios"].__getitem__, default="")
    record["ratio"] = record["ratios"].get(record["best_peer"])
    if "limit" in median:
        record["limit_share"] = median["limit"] / median["ours (C)"]
        record["limit_gbps"] = record["moved_bytes"] / median["limit"]
        best = record["best_peer"]
        record["peer_limit_share"] = median["limit"] / median[best] if best else 0.0
