# SPDX-License-Identifier: Apache-2.0
"""The planted faults still fit the sources; that the suite notices them is `make mutants`."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from unittest import mock

import pytest

ROOT = Path(__file__).resolve().parents[2]
with mock.patch.object(sys, "path", [str(ROOT / "tools"), *sys.path]):
    MUTANTS = runpy.run_path(str(ROOT / "tools" / "mutant_list.py"))["MUTANTS"]


def test_there_are_enough_and_each_has_its_own_name():
    names = [mutant.name for mutant in MUTANTS]
    assert len(names) >= 20
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.name)
def test_mutant_fits_the_sources(mutant):
    assert (ROOT / mutant.file).read_text().count(mutant.old) == 1
    assert mutant.old != mutant.new
    for test in mutant.tests:
        assert (ROOT / test.partition("::")[0]).exists(), test
