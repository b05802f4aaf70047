# SPDX-License-Identifier: Apache-2.0
"""Files begin with the licence line and name no machine, no package host, nothing left over."""

from __future__ import annotations

import re

import pytest

from support.sources import ROOT, files

TEXT = (
    ".py", ".pyi", ".c", ".h", ".inc", ".cu", ".cpp", ".md", ".toml", ".txt", ".sh", ".mk",
    "Makefile", "run",
)  # fmt: skip
HERE = "tests/architecture/test_words.py"

BANNED = {
    "a path of one machine": r"(?<![\w.~$}])/(home|root|work|Users|opt)/\w",
    "a package host": r"pypi\.org|pythonhosted|--(extra-)?index-url|--find-links",
    "left for later": r"\b(TODO|FIXME|XXX)\b(?!\(#\d+\))",
}


def matches(pattern, paths):
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in paths
        if str(path.relative_to(ROOT)) != HERE
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(pattern, line)
    ]


@pytest.mark.parametrize("what", BANNED)
def test_banned(what):
    assert not matches(BANNED[what], files(*TEXT))


def test_tests_park_streams_instead_of_sleeping():
    assert not matches(r"\b(u|nano)?sleep\(", files(".py", ".c", ".h", under="tests"))


def test_failures_are_not_swallowed():
    assert not matches(
        r"except( Exception| BaseException)?\s*:\s*(pass)?$", files(".py", under="tests")
    )


def test_licence_line():
    without = [
        str(path.relative_to(ROOT))
        for path in files(
            *(".py", ".pyi", ".c", ".h", ".inc", ".cu", ".cpp", ".sh", ".mk"),
            *("Makefile", "CMakeLists.txt"),
        )
        if "SPDX-License-Identifier: Apache-2.0" not in path.read_text(encoding="utf-8")[:200]
    ]
    assert not without


def test_the_patterns_find_what_they_look_for():
    assert re.search(BANNED["a path of one machine"], "see /home/someone/file")
    assert not re.search(BANNED["a path of one machine"], "tests/work/x and ~/opt/y")
    assert re.search(BANNED["left for later"], "# TODO: later")
    assert not re.search(BANNED["left for later"], "# TODO(#12): later")
