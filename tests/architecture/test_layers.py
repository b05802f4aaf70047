# SPDX-License-Identifier: Apache-2.0
"""Imports point down only, and the linter that says so can say the opposite."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from pkgutil import iter_modules

import pytest
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

import aclnn_py

ROOT = Path(__file__).resolve().parents[2]
FLOORS = [
    *(f"aclnn_py.{one.name}" for one in iter_modules(aclnn_py.__path__) if one.name != "__main__"),
    "aclnn_runtime",
    "aclnn_native",
]


@pytest.fixture(autouse=True)
def loggers_stay_on():
    """The linter configures logging, which switches every logger off that exists already."""
    yield
    logging.getLogger("aclnn_py").disabled = False


def test_imports_point_down():
    status = lint_imports(config_filename=str(ROOT / "pyproject.toml"), cache_dir=None)
    assert status == EXIT_STATUS_SUCCESS


def test_every_floor_is_in_the_contract():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    contract = text.split("[[tool.importlinter.contracts]]")[1]
    for floor in FLOORS:
        assert re.search(rf'[" ]{re.escape(floor)}[" ]', contract), floor


def test_the_linter_sees_an_import_that_points_up(tmp_path):
    upside_down = tmp_path / "contract.toml"
    upside_down.write_text(
        """
[tool.importlinter]
root_packages = ["aclnn_py", "aclnn_runtime", "aclnn_native"]
[[tool.importlinter.contracts]]
name = "the house on its head"
type = "layers"
layers = ["aclnn_native", "aclnn_runtime", "aclnn_py.core", "aclnn_py.plan"]
""",
        encoding="utf-8",
    )
    assert lint_imports(config_filename=str(upside_down), cache_dir=None) != EXIT_STATUS_SUCCESS
