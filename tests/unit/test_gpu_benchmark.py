# SPDX-License-Identifier: Apache-2.0
"""What the GPU benchmark makes of its figures; measuring them needs a card."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from benchmarks import gpu_cells
from benchmarks.gpu_cells import Record
from support.sources import ROOT

GIB = 1 << 30
CELLS = gpu_cells.cells(GIB, quick=False)


def records(ours, torch, copy=4000.0):
    return [Record(cell, ours, torch, copy) for cell in CELLS]


def test_cells_are_large_and_cover_what_is_aimed_at():
    lengths = {cell.shape[-1] for cell in CELLS if cell.axis == -1}
    assert {512, 65_536} <= lengths
    assert {cell.dtype for cell in CELLS} == {"float32", "bfloat16", "float16"}
    assert {(cell.operator, cell.direction) for cell in CELLS} == {
        (o, d) for o in ("softmax", "log_softmax") for d in ("forward", "backward")
    }
    assert all(0.9 * GIB < cell.tensor_bytes <= GIB for cell in CELLS)
    assert any(cell.axis != -1 for cell in CELLS)


def test_sets_do_not_fit_the_cache():
    for set_bytes, cache in ((3 * GIB, 50 << 20), (3 << 20, 50 << 20), (7, 1000)):
        sets = gpu_cells.sets_beyond_cache(set_bytes, cache)
        assert sets >= 2
        assert sets * set_bytes >= 4 * cache


def test_a_share_counts_what_is_read_and_written():
    cell = next(c for c in CELLS if c.direction == "backward")
    record = Record(cell, 1.0, 2.0, 4000.0)
    assert record.gbps == pytest.approx(3 * cell.tensor_bytes / 1e6)
    assert record.share == pytest.approx(record.gbps / 4000)
    assert record.ratio == 2


def test_targets_are_met_or_not():
    fast = [met for _, met in gpu_cells.verdicts(records(0.5, 0.7))]
    slow = [met for _, met in gpu_cells.verdicts(records(5.0, 4.9))]
    close = [met for _, met in gpu_cells.verdicts(records(0.5, 0.55))]
    assert fast == [True] * 4
    assert slow == [False] * 4
    assert close == [True, True, True, False]
    unmeasured = gpu_cells.verdicts(records(0.5, float("nan")))
    assert unmeasured[-1] == ("beside PyTorch", None)
    assert [met for _, met in gpu_cells.verdicts([])] == [None, None, None]


def test_host_costs():
    rows = gpu_cells.host_verdicts({"call": 3.0, "torch": 4.0, "phase 2": 4.0, "launch": 2.0})
    assert [met for _, met in rows] == [True, False]
    assert [met for _, met in gpu_cells.host_verdicts({"call": 3.0})] == [None, None]


def test_the_report_shows_every_cell():
    text = gpu_cells.report(["a card"], records(0.5, 0.7), {"call": 3.0, "torch": 4.0})
    for cell in CELLS:
        assert cell.name in text
    assert "not measured" in text  # no raw launch was
    assert "NOT MET" not in text


def test_without_a_device_it_says_why_and_ends_well():
    program = (
        "import sys; sys.modules['cupy'] = None; from benchmarks.gpu import main; "
        "sys.argv[1:] = []; sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT, env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("skipped, no CUDA device")
