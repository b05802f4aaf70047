# SPDX-License-Identifier: Apache-2.0
"""README's example and commands run as printed, and its links lead somewhere."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_example_prints_what_it_says(tmp_path):
    example = blocks("python")[0]
    assert len([line for line in example.splitlines() if line.strip()]) == 15
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", example],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    promised = re.findall(r"print\(.*\) +# (.*)", example)
    assert len(promised) == 2
    assert " ".join(done.stdout.split()) == " ".join(" ".join(promised).split())


def test_commands_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^make (\w+)", "\n".join(blocks("sh")), flags=re.MULTILINE)
    assert {"demo", "test"} <= set(targets)
    for target in targets:
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


def test_command_line_examples_run(tmp_path):
    """In a folder of its own, where `samples` leads to the project's."""
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    commands = [shlex.split(line) for line in lines if line.startswith("aclnn-py ")]
    assert commands
    has_compiler = any(shutil.which(name) for name in ("c++", "g++", "clang++"))
    for _, *arguments in commands:
        if arguments[0] in ("build", "run") and not has_compiler:
            continue
        done = subprocess.run(
            [sys.executable, "-m", "aclnn_py", *arguments],
            cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_relative_links_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#]+)\)", text):
        assert link.startswith("https://") or (ROOT / link).exists(), link


def test_folders_of_the_house_exist():
    table = README.split("Folders, in the order")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`[^|]+) \|", table, flags=re.MULTILINE)
    paths = [path for row in rows for path in re.findall(r"`([^`]+)`", row)]
    assert len(paths) > 10
    missing = [path for path in paths if not (ROOT / path).exists()]
    assert not missing
