# SPDX-License-Identifier: Apache-2.0
"""The planted faults still fit the sources; that the suite notices them is `make mutants`."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_SPEC = importlib.util.spec_from_file_location("mutant_list", ROOT / "tools" / "mutant_list.py")
mutant_list = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(mutant_list)


def test_there_are_enough_and_each_has_its_own_name():
    names = [mutant.name for mutant in mutant_list.MUTANTS]
    assert len(names) >= 20
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("mutant", mutant_list.MUTANTS, ids=lambda m: m.name)
def test_mutant_fits_the_sources(mutant):
    assert (ROOT / mutant.file).read_text().count(mutant.old) == 1
    assert mutant.old != mutant.new
    for test in mutant.tests:
        assert (ROOT / test.partition("::")[0]).exists(), test
