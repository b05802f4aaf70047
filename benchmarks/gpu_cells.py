# SPDX-License-Identifier: Apache-2.0
"""What is measured on a GPU, and what is aimed at: cells, records, targets. Needs no GPU."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import exp, log
from typing import TYPE_CHECKING

from benchmarks.cells import ITEM_BYTES, Cell

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Record", "cells", "host_verdicts", "report", "sets_beyond_cache", "verdicts"]

#: Least share of the copy bandwidth, and ratios to PyTorch.
LAST_SHARE, INNER_SHARE, LEAST_RATIO, MEAN_RATIO = 0.92, 0.85, 1.0, 1.2
#: Host cost: a cached call in PyTorch eager calls, a repeatable phase 2 in raw launches.
CALL_RATIO, LAUNCH_RATIO = 1.0, 1.5
_ROWS = (512, 1000, 1024, 4096, 8192, 16_384, 32_768, 50_257, 65_536)
_INNER = ((1024, 256), (256, 3136), (4096, 4096), (131_072, 64))  # axis, inner
_QUICK_ROWS, _QUICK_INNER = (1024, 16_384, 65_536), ((1024, 256),)
_DTYPES = ("float32", "bfloat16", "float16")


@dataclass(frozen=True, slots=True)
class Record:
    """One cell's medians [ms]; NaN where there is no PyTorch."""

    cell: Cell
    ours: float
    torch: float
    copy_gbps: float

    @property
    def gbps(self) -> float:
        return self.cell.moved_bytes / self.ours / 1e6

    @property
    def share(self) -> float:
        """Of the bandwidth of a copy, its reading and writing both counted."""
        return self.gbps / self.copy_gbps

    @property
    def ratio(self) -> float:
        return self.torch / self.ours

    @property
    def wanted(self) -> float:
        return LAST_SHARE if self.cell.axis == -1 else INNER_SHARE


def cells(tensor_bytes: int, *, quick: bool) -> list[Cell]:
    """Tensors of about that size; operators of one shape and dtype beside each other."""
    found = []
    for dtype in _DTYPES:
        elements = tensor_bytes // ITEM_BYTES[dtype]
        shapes: list[tuple[tuple[int, ...], int]] = [
            ((max(1, elements // n), n), -1) for n in (_QUICK_ROWS if quick else _ROWS)
        ]
        shapes += [
            ((max(1, elements // (n * inner)), n, inner), 1)
            for n, inner in (_QUICK_INNER if quick else _INNER)
        ]
        found += [
            Cell(operator, direction, dtype, shape, axis)
            for (shape, axis), operator, direction in product(
                shapes, ("softmax", "log_softmax"), ("forward", "backward")
            )
        ]
    return found


def sets_beyond_cache(set_bytes: int, cache_bytes: int) -> int:
    """How many sets of tensors to take in turn, so that none is still in the cache."""
    return max(2, -(-4 * cache_bytes // set_bytes))


def geometric_mean(values: Sequence[float]) -> float:
    return exp(sum(map(log, values)) / len(values)) if values else float("nan")


def verdicts(records: Sequence[Record]) -> list[tuple[str, bool | None]]:
    """Each target in words with figures, and whether it is met; None: not measured."""
    rows: list[tuple[str, bool | None]] = []
    for name, wanted in (("axis last", LAST_SHARE), ("axis not last", INNER_SHARE)):
        chosen = [r for r in records if (r.cell.axis == -1) == (wanted == LAST_SHARE)]
        worst = min((r.share for r in chosen), default=float("nan"))
        met = sum(r.share >= wanted for r in chosen)
        text = f"{name}: {met} of {len(chosen)} cells at {wanted:.0%} of a copy, least {worst:.1%}"
        rows.append((text, met == len(chosen) if chosen else None))
    ratios = [r.ratio for r in records if r.ratio == r.ratio]
    if not ratios:
        return [*rows, ("beside PyTorch", None)]
    won = sum(ratio >= LEAST_RATIO for ratio in ratios)
    mean = geometric_mean(ratios)
    rows.append((f"at least PyTorch: {won} of {len(ratios)} cells, least {min(ratios):.2f}x",
                 won == len(ratios)))  # fmt: skip
    rows.append((f"geometric mean {mean:.2f}x, aimed at {MEAN_RATIO}x", mean >= MEAN_RATIO))
    return rows


def host_verdicts(host_us: dict[str, float]) -> list[tuple[str, bool | None]]:
    """The same for microseconds of host time; keys "call", "phase 2", "launch", "torch"."""
    pairs = (("call", "torch", CALL_RATIO), ("phase 2", "launch", LAUNCH_RATIO))
    rows: list[tuple[str, bool | None]] = []
    for ours, theirs, limit in pairs:
        if ours not in host_us or theirs not in host_us:
            rows.append((f"{ours} beside {theirs}", None))
            continue
        ratio = host_us[ours] / host_us[theirs]
        text = f"{ours} {host_us[ours]:.2f} us = {ratio:.2f} {theirs}, at most {limit}"
        rows.append((text, ratio <= limit))
    return rows


def report(facts: Sequence[str], records: Sequence[Record], host_us: dict[str, float]) -> str:
    """Markdown: facts, targets, every cell, host costs."""
    marks = {True: "met", False: "NOT MET", None: "not measured"}
    lines = ["# GPU", "", *(f"- {fact}" for fact in facts), "", "| target | |", "|---|---|"]
    found = [*verdicts(records), *host_verdicts(host_us)]
    lines += [f"| {text} | {marks[met]} |" for text, met in found]
    lines += [
        "",
        "| cell | ms | GB/s | of a copy | PyTorch ms | ratio |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {r.cell.name} | {r.ours:.4f} | {r.gbps:.0f} | {r.share:.1%}"
        f"{'' if r.share >= r.wanted else ' (!)'} | {r.torch:.4f} | {r.ratio:.2f}x |"
        for r in records
    ]
    lines += ["", "| host cost, 8x32 float32 | us |", "|---|---|"]
    lines += [f"| {name} | {value:.2f} |" for name, value in host_us.items()]
    return "\n".join(lines) + "\n"
