# SPDX-License-Identifier: Apache-2.0
"""compute-sanitizer over a spread of problems: stray accesses, and races in shared memory."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from support.sources import ROOT

TOOL = shutil.which("compute-sanitizer")
pytestmark = [
    pytest.mark.skipif(TOOL is None, reason="compute-sanitizer is not installed"),
    pytest.mark.skipif(os.environ.get("GPU") == "fake", reason="needs a card"),
]


@pytest.mark.parametrize("check", ["memcheck", "racecheck", "synccheck"])
def test_finds_nothing(check):
    program = (sys.executable, "-m", "support.gpu_spread")
    done = subprocess.run(
        [TOOL, "--tool", check, "--error-exitcode", "9", *program],
        env={**os.environ, "PYTHONPATH": str(ROOT / "tests")},
        capture_output=True, text=True, timeout=550, check=False,
    )  # fmt: skip
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    assert "ran" in done.stdout
