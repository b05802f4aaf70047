# SPDX-License-Identifier: Apache-2.0
"""An installed package has every text that the CUDA kernels are compiled from, and finds it."""

from __future__ import annotations

import re
import shutil

import pytest

import aclnn_native
from aclnn_py.backends import cuda_kernels, cuda_programs
from support.sources import ROOT

NATIVE = ROOT / "native"
RULE = re.compile(r"^install\((.*?)\)$", re.MULTILINE | re.DOTALL)


def installed():
    """What the build installs into ``aclnn_native/cuda``, by the rules of the build file."""
    found = []
    for rule in RULE.findall((NATIVE / "CMakeLists.txt").read_text(encoding="utf-8")):
        words = rule.replace('"', "").split()
        if words[0] == "DIRECTORY" and words[1:4] == ["cuda", "DESTINATION", "aclnn_native"]:
            patterns = [words[n + 1] for n, word in enumerate(words) if word == "PATTERN"]
            found += [path for one in patterns for path in (NATIVE / "cuda").glob(one)]
        elif words[0] == "FILES" and words[-1] == "aclnn_native/cuda":
            found += [NATIVE / word for word in words[1 : words.index("DESTINATION")]]
    return found


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package as a wheel has it, and nothing else."""
    folder = tmp_path / "aclnn_native" / "cuda"
    folder.mkdir(parents=True)
    for path in installed():
        shutil.copy(path, folder)
    monkeypatch.setattr(aclnn_native, "__file__", str(folder.parent / "__init__.py"))
    caches = (cuda_programs.folder, cuda_programs.includes, cuda_programs._content)
    for cached in caches:
        cached.cache_clear()
    yield folder
    for cached in caches:
        cached.cache_clear()


def test_every_source_and_what_it_includes_is_installed():
    names = {path.name for path in installed()}
    assert set(cuda_kernels.SOURCES.values()) < names
    for path in installed():
        wanted = re.findall(r'^#include "(.*)"', path.read_text(encoding="utf-8"), re.MULTILINE)
        assert set(wanted) <= names, path.name


def test_an_installed_package_finds_its_own(package):
    assert cuda_programs.folder() == package
    assert cuda_programs.includes() == (package,)
    before = cuda_programs._content()
    header = package / "reduce.h"
    header.write_text(header.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    cuda_programs._content.cache_clear()
    assert cuda_programs._content() != before


def test_a_package_without_them_says_where_it_looked(package):
    shutil.rmtree(package)
    with pytest.raises(FileNotFoundError, match="CUDA sources are in none of"):
        cuda_programs.folder()
