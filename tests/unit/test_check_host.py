# SPDX-License-Identifier: Apache-2.0
"""Where something is missing, the first line of ``make`` names the package to install."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAME = f"python{sys.version_info[0]}.{sys.version_info[1]}"


def make(folder, **variables):
    assignments = [f"{name}={value}" for name, value in variables.items()]
    return subprocess.run(
        [shutil.which("make") or "make", "-C", ROOT, "--no-print-directory", "demo",
         f"VENV={folder / 'venv'}", *assignments],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.fixture
def python_without(tmp_path):
    """A Python on which every probe that mentions a word fails."""

    def make_stub(word):
        stub = tmp_path / "python-stub"
        stub.write_text(
            f'#!/bin/sh\ncase "$2" in *{word}*) exit 1 ;; esac\nexec "{sys.executable}" "$@"\n',
            encoding="utf-8",
        )
        stub.chmod(0o755)
        return stub

    return make_stub


@pytest.mark.parametrize(
    ("word", "package"),
    [("Python.h", f"{NAME}-dev"), ("ensurepip", f"{NAME}-venv"), ("version_info", "python3-venv")],
)
def test_incomplete_python(word, package, python_without, tmp_path):
    done = make(tmp_path, PYTHON=python_without(word))
    assert done.returncode != 0
    assert not done.stdout
    first = done.stderr.splitlines()[0]
    assert first.startswith("missing:")
    assert package in first
    assert not (tmp_path / "venv").exists()


def test_no_compiler(tmp_path):
    done = make(tmp_path, CC=tmp_path / "no-such-compiler", PYTHON=sys.executable)
    assert done.returncode != 0
    first = done.stderr.splitlines()[0]
    assert first.startswith("missing:")
    assert "gcc" in first


def test_complete_machine():
    done = subprocess.run(
        ["sh", ROOT / "tools" / "check_host.sh"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).exists()
