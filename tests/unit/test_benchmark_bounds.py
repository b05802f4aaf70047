# SPDX-License-Identifier: Apache-2.0
"""Bounds by instructions: every kernel's mix can be timed, and none is timed beyond reason."""

from __future__ import annotations

import copy
import json

import pytest

from benchmarks import report
from benchmarks.bounds import Bounds, Work
from benchmarks.cells import all_cells
from support.sources import ROOT

#: Of the least time that the mix's vector work takes: what else is in it, and a busy machine.
#: Assists for subnormal numbers made it twenty.
MOST = 8
PUBLISHED = json.loads((ROOT / "benchmarks/results/results.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def bounds(tmp_path_factory):
    built = Bounds.build(tmp_path_factory.mktemp("bounds"))
    if built.program is None:
        pytest.skip(built.missing)
    return built


@pytest.mark.parametrize(
    ("dtype", "shape"),
    [("float32", (128, 1024)), ("float16", (128, 1024)), ("bfloat16", (512, 512, 64))],
)
def test_every_mix_is_timed(bounds, dtype, shape):
    cells = [cell for cell in all_cells() if (cell.dtype, cell.shape) == (dtype, shape)]
    works = {(cell.operator, cell.direction): bounds.work(cell) for cell in cells}
    assert len(works) == 4
    if any(work is None or work.instructions == 0 for work in works.values()):
        pytest.skip(f"no single steps here: {bounds.missing or 'none was counted'}")
    for name, work in works.items():
        assert 0 < work.replay_ns < MOST * work.slots / bounds.peak, name
    assert bounds.record()["untimed"] == []


def test_of_times_taken_again_the_least_counts(monkeypatch):
    cell = next(cell for cell in all_cells() if cell.dtype == "float32")
    times = iter([3.0, 5.0, 2.0, -1.0])
    known = Bounds(ROOT, 1.0)  # any program: none is started
    monkeypatch.setattr(Bounds, "_count", lambda *_: Work(1.0, 1.0, 1.0, next(times)))
    assert known.work(cell).replay_ns == 3
    assert [known.again(cell).replay_ns for _ in range(3)] == [3, 2, 2]


def test_the_report_says_which_bounds_cannot_be():
    run = copy.deepcopy(PUBLISHED)
    assert "too high" not in report._markdown(run, [])
    wrong = next(one for one in run["softmax"] if one.get("bound", {}).get("by") == "instructions")
    wrong["bound_share"] = 1.2
    run["facts"]["bounds"]["untimed"] = ["softmax bf16"]
    text = report._markdown(run, [])
    assert f"too high: {wrong['cell']} (1.20)" in text
    assert "could not be timed: softmax bf16." in text
