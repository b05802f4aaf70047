# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmarks: ``python -m benchmarks [--quick] [--only PART] [--match TEXT]``."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import (
    accuracy,
    callpath,
    capi,
    dialect_calls,
    dialects,
    imports,
    scaling,
    short_rows,
    softmax,
    streams,
)
from benchmarks.bench import Bench
from benchmarks.build import BuildError
from benchmarks.cells import all_cells, quick_cells
from benchmarks.quiet import Disturbance
from benchmarks.report import summary, write
from benchmarks.timing import measure

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.cells import Cell

_PARTS = (
    "softmax",
    "short_rows",
    "callpath",
    "capi",
    "streams",
    "scaling",
    "accuracy",
    "isas",
    "imports",
    "dialects",
    "dialect_calls",
)
_LIMIT_BYTES = 96 << 20
_QUICK_LIMIT_BYTES = 48 << 20


def main() -> int:
    """Run what was asked for and write the report; 1 when a part failed."""
    options = _options()
    start = time.monotonic()
    disturbance = Disturbance()
    cells = [
        c for c in (quick_cells() if options.quick else all_cells()) if options.match in c.name
    ]
    options.out.mkdir(parents=True, exist_ok=True)
    least = _least_bytes(options)
    with tempfile.TemporaryDirectory() as folder:
        try:
            bench = Bench.open(
                Path(folder),
                cells if "softmax" in options.only else [],
                quick=options.quick,
                least_bytes=least,
            )
        except BuildError as error:
            print(f"benchmarks: {error}", file=sys.stderr)
            return 1
        cells = [cell for cell in cells if cell.threads <= bench.threads]
        try:
            results = _run(bench, cells, options.only, options.match)
        finally:
            bench.close()
    results["facts"]["bounds"] = bench.bounds.record()
    results["facts"]["machine"]["others"] = disturbance.share()
    results["seconds"] = time.monotonic() - start
    verdicts = write(results, options.out)
    print()
    print(summary(results, verdicts))
    print(f"{results['seconds']:.0f} s; {options.out}/results.md, results.json, ratios.png")
    for name, why in results["failed"].items():
        print(f"benchmarks: {name} failed: {why}", file=sys.stderr)
    return 1 if results["failed"] else 0


def _run(bench: Bench, cells: list[Cell], parts: list[str], match: str) -> dict[str, Any]:
    """Every part; one that fails says so and leaves the others their turn."""
    results: dict[str, Any] = {
        "facts": bench.facts(),
        "limits": _limits(bench),
        "failed": {},
        "part_seconds": {},
    }
    for name, run in _jobs(bench, cells, match):
        if name not in parts:
            continue
        _say(name)
        start = time.monotonic()
        try:
            results[name] = run()
        except Exception as error:  # noqa: BLE001  # whatever it was, it is printed and fails the run
            traceback.print_exc()
            results["failed"][name] = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        results["part_seconds"][name] = round(time.monotonic() - start, 1)
    return results


def _jobs(bench: Bench, cells: list[Cell], match: str) -> list[tuple[str, Callable[[], Any]]]:
    return [
        ("callpath", lambda: callpath.run(bench)),
        ("capi", lambda: capi.run(bench)),
        ("imports", lambda: imports.run(5 if bench.quick else 11)),
        ("streams", lambda: streams.run(bench)),
        ("softmax", lambda: _softmax(bench, cells)),
        ("short_rows", lambda: short_rows.run(bench)),
        ("scaling", lambda: scaling.run(bench)),
        ("dialects", lambda: _dialects(bench, match)),
        ("dialect_calls", lambda: dialect_calls.run(bench)),
        ("accuracy", accuracy.run),
        ("isas", accuracy.of_every_isa),
    ]


def _softmax(bench: Bench, cells: list[Cell]) -> list[dict[str, Any]]:
    records = []
    for number, record in enumerate(softmax.run(bench, cells), 1):
        records.append(record)
        ratio = f"{record['ratio']:6.2f}x" if record["ratio"] else "     - "
        _say(f"{number:3}/{len(cells)} {ratio} {record['cell']}  ({record['best_peer']})")
    return records


def _dialects(bench: Bench, match: str) -> list[dict[str, Any]]:
    records = dialects.run(bench, match)
    for record in records:
        _say(dialects.line(record))
    return records


def _limits(bench: Bench) -> dict[str, float]:
    """GB/s of both streaming patterns over all of the arena."""
    nbytes = _QUICK_LIMIT_BYTES if bench.quick else _LIMIT_BYTES
    found = {}
    for name, reads in (("one_read_gbps", 1), ("two_reads_gbps", 2)):
        contestant = bench.limit.contestant(bench.arena, nbytes, reads, bench.threads)
        took = measure([contestant], 2 * bench.budget_s, bench.rounds)["limit"].median
        found[name] = nbytes * (reads + 1) / took
    return found


def _least_bytes(options: argparse.Namespace) -> int:
    least = _QUICK_LIMIT_BYTES if options.quick else _LIMIT_BYTES
    if "scaling" in options.only and not options.quick:
        least = max(least, scaling.LARGEST_BYTES)
    return least


def _say(text: str) -> None:
    print(text, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks", description="this library and its peers")
    parser.add_argument("--quick", action="store_true", help="a few cells, short budgets")
    parser.add_argument("--only", action="append", choices=_PARTS, help="one part; repeatable")
    parser.add_argument(
        "--match", default="", help="only cells and dialect problems whose name contains this"
    )
    parser.add_argument("--out", type=Path, default=Path("out/bench"), help="where results go")
    options = parser.parse_args()
    options.only = options.only or list(_PARTS)
    return options


if __name__ == "__main__":
    sys.exit(main())
