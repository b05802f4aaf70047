# SPDX-License-Identifier: Apache-2.0
"""Puts the results of the last run into the repository: ``python -m benchmarks.publish``.

The summary goes into README.md between its two marks; summary, tables and picture are copied to
``benchmarks/results/``. Only a full run on a quiet machine is taken.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from benchmarks.report import QUIET

__all__ = ["main"]

_ROOT = Path(__file__).resolve().parent.parent
_BEGIN, _END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"
_FILES = ("results.json", "results.md", "ratios.png")


def main() -> int:
    """Publish out/bench, or say why not."""
    source = _ROOT / "out" / "bench"
    refusal = _refusal(source)
    if refusal:
        print(f"benchmarks: not published: {refusal}", file=sys.stderr)
        return 1
    target = _ROOT / "benchmarks" / "results"
    target.mkdir(exist_ok=True)
    for name in _FILES:
        shutil.copyfile(source / name, target / name)
    readme = _ROOT / "README.md"
    before, _, rest = readme.read_text(encoding="utf-8").partition(_BEGIN)
    after = rest.partition(_END)[2]
    summary = (source / "summary.md").read_text(encoding="utf-8")
    picture = "![How often as fast as the best peer](benchmarks/results/ratios.png)"
    text = f"{before}{_BEGIN}\n\n{summary}\n{picture}\n\n{_END}{after}"
    readme.write_text(text, encoding="utf-8")
    return 0


def _refusal(source: Path) -> str:
    if not all((source / name).exists() for name in _FILES):
        return "there is no complete run in out/bench; make bench"
    results = json.loads((source / "results.json").read_text(encoding="utf-8"))
    refusal = _unfit(results)
    if refusal:
        return refusal
    readme = (_ROOT / "README.md").read_text(encoding="utf-8")
    if _BEGIN not in readme or _END not in readme:
        return f"README.md has no lines {_BEGIN} and {_END}"
    return ""


def _unfit(results: dict[str, Any]) -> str:
    """Why the figures of a run are not for everybody's eyes; "" where they are."""
    facts, forced = results["facts"], results["facts"]["settings"].get("forced_isa")
    if facts["settings"]["quick"] or results["failed"]:
        return "the last run was a quick one, or a part of it failed"
    if forced:
        return f"the last run was of one instruction set, {forced}"
    if any(verdict["met"] is None and verdict["timed"] for verdict in results["verdicts"]):
        return "the last run has not measured every target; make bench, with all peers"
    if facts["machine"]["others"] is None or facts["machine"]["others"] > QUIET:
        return "other programs were running meanwhile"
    return ""


if __name__ == "__main__":
    sys.exit(main())
