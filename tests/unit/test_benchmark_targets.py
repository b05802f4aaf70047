# SPDX-License-Identifier: Apache-2.0
"""What the benchmark makes of its figures: a target is met only by what was measured."""

from __future__ import annotations

import copy
import json
import math

import pytest

from benchmarks import families, publish, targets
from benchmarks.accuracy import larger_error
from support.sources import ROOT

PUBLISHED = json.loads((ROOT / "benchmarks/results/results.json").read_text(encoding="utf-8"))
CELLS = "every softmax cell against its best peer"
SHORT = "rows of 10 to 512 elements in the caches, one thread, against the best peer"
MEAN = "geometric mean over all cells against the best peer"
FLAT = "softmax over row counts and row lengths: cost of a byte"
ERROR = "our largest error beside PyTorch's, on every ISA"


@pytest.fixture
def run():
    """The published run, with every cell twice as fast as its peer."""
    made = copy.deepcopy(PUBLISHED)
    for record in made["softmax"]:
        record["ratio"] = 2.0
    return made


def verdict(run, what):
    return next(one for one in targets.judge(run) if one.what == what)


def test_the_published_verdicts_are_those_of_its_figures():
    assert [one.record() for one in targets.judge(PUBLISHED)] == PUBLISHED["verdicts"]


@pytest.mark.parametrize("what", [CELLS, MEAN])
def test_all_cells_and_peers_are_needed(run, what):
    assert verdict(run, what).met is True
    run["facts"]["missing"] = {"oneDNN": "not installed"}
    assert verdict(run, what).met is None
    assert "without oneDNN" in verdict(run, what).measured
    run["facts"]["missing"] = {}
    run["softmax"].pop()
    assert verdict(run, what).met is None
    assert "1 of 400 cells lacking" in verdict(run, what).measured
    for record in run["softmax"]:
        record["ratio"] = 0.5
    assert verdict(run, what).met is False


@pytest.mark.parametrize(("ratio", "met"), [(1.11, True), (1.09, False)])
def test_every_short_row_counts(run, ratio, met):
    for record in run["short_rows"]:
        record["ratio"] = 2.0
    run["short_rows"][0]["ratio"] = ratio
    one = verdict(run, SHORT)
    assert one.met is met
    assert run["short_rows"][0]["cell"] in one.measured
    del run["short_rows"]
    assert verdict(run, SHORT).met is None


def flat(cost):
    """Both directions with a byte that costs the same, but for one row length."""
    series = {str(n): {"ns_per_byte": 1.0, "moved_bytes": 1 << 30} for n in (10, 100, 1000)}
    lengths = copy.deepcopy(series)
    lengths["10"]["ns_per_byte"] = cost
    part = {"rows_of_16": series, "row_length": lengths, "worst_odd": 1.0}
    return {"forward": part, "backward": part}


@pytest.mark.parametrize(("cost", "met"), [(1.0, True), (1.2, True), (1.3, False), (0.7, False)])
def test_row_lengths_count(run, cost, met):
    run["scaling"] = flat(cost)
    assert verdict(run, FLAT).met is met


def test_flatness_needs_tensors_beyond_the_caches(run):
    run["scaling"] = flat(1.0)
    run["facts"]["machine"]["last_level_bytes"] = 1 << 40
    assert verdict(run, FLAT).met is None


@pytest.mark.parametrize(("ours", "met"), [(1e-9, True), (1.0, False), (math.inf, False)])
def test_an_error_without_measure_is_too_large(run, ours, met):
    run["accuracy"][0]["ours"] = ours
    assert verdict(run, ERROR).met is met


@pytest.mark.parametrize("errors", [(0.0, math.nan), (math.nan, 0.0)])
def test_nan_is_the_largest_error(errors):
    assert larger_error(*errors) == math.inf
    assert larger_error(0.5, 2.0) == 2


def test_a_run_is_published_whole_or_not_at_all(run, tmp_path):
    def refusal(change):
        one = copy.deepcopy(run)
        change(one)
        one["verdicts"] = [each.record() for each in targets.judge(one)]
        (tmp_path / "results.json").write_text(json.dumps(one), encoding="utf-8")
        return publish._refusal(tmp_path)

    for name in publish._FILES:
        (tmp_path / name).touch()
    assert refusal(lambda one: one.update(seconds=800)) == ""
    assert "every target" in refusal(lambda one: one.pop("capi"))
    assert "every target" in refusal(lambda one: one["softmax"].pop())
    assert "avx2" in refusal(lambda one: one["facts"]["settings"].update(forced_isa="avx2"))


def test_the_cells_behind_their_target_are_listed(run):
    assert not any("axis" in line for line in families.behind(run["softmax"]))
    late = run["softmax"][3]
    late["ratio"] = 0.5
    listed = [line for line in families.behind(run["softmax"]) if "axis" in line]
    assert len(listed) == 1
    assert late["cell"] in listed[0]
    assert "0.50" in listed[0]


def test_every_large_cell_belongs_to_one_family(run):
    l2 = run["facts"]["machine"]["l2_bytes"]
    shares = [targets.share_target(record, l2) for record in run["softmax"]]
    rows = [line for line in families.large(run["softmax"], l2) if " of " in line and "|" in line]
    counts = [row.split("|")[2].split(" of ") for row in rows]
    assert sum(int(total) for _, total in counts) == sum(one is not None for one in shares)
    met = [one for one in shares if one is not None and one[0] >= one[1]]
    assert sum(int(number) for number, _ in counts) == len(met)


def test_extras_are_judged_by_where_the_axis_is():
    """The usual shape, other rows and axes before the last have a verdict each, or none."""

    def record(over, **where):
        name = "usual" if where.get("usual", True) else "other"
        return {"operation": "add", "problem": name, "limit": 1.15, "over_plain": over,
                "peer": None} | where  # fmt: skip

    usual = record(1.1)
    rows, before = record(1.2, usual=False), record(1.3, usual=False, before=True)
    texts = [verdict.measured for verdict in targets._dialects([usual, rows, before])]
    assert [text.split(";")[0] for text in texts[:3]] == ["1 of 1", "0 of 1", "0 of 1"]
    assert ["1.10x" in texts[0], "1.20x" in texts[1], "1.30x" in texts[2]] == [True] * 3
    assert len(targets._dialects([usual])) == len(texts) - 2
