# SPDX-License-Identifier: Apache-2.0
"""Generated files in the repository are what their generators write now."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GENERATORS = [
    "generate_status.py",
    "generate_soc.py",
    "generate_abi.py",
    "generate_headers.py",
    "generate_runtime.py",
    "generate.py",
    "support_table.py",
    "dialect_tables.py",
]


@pytest.mark.parametrize("script", GENERATORS)
def test_fresh(script):
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / script, "--check"],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_generator_is_listed():
    scripts = {
        path.name
        for path in (ROOT / "tools").glob("*.py")
        if "fresh.main(" in path.read_text(encoding="utf-8")
    }
    assert scripts == set(GENERATORS)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(f"tools/{script}" in makefile for script in GENERATORS)
