# SPDX-License-Identifier: Apache-2.0
"""One function says what a caller passed, and one lays out the lines of a refusal."""

from __future__ import annotations

import re

import pytest

from support.sources import ROOT, files

# What to call instead: the spelling by hand, and the files that may have it.
BY_HAND = {
    "describe()": (r"__name__\} \{[\w.]+!r\}", set()),
    "refusal_text()": (r"""("|\\n) *got:["' ]""", {"runtime/aclnn_runtime/errors.py"}),
}


@pytest.mark.parametrize("instead", BY_HAND)
def test_nothing_is_spelled_by_hand(instead):
    pattern, allowed = BY_HAND[instead]
    found = {
        str(path.relative_to(ROOT))
        for folder in ("aclnn_py", "runtime")
        for path in files(".py", under=folder)
        if re.search(pattern, path.read_text(encoding="utf-8"))
    }
    assert found == allowed, f"call {instead}"


@pytest.mark.parametrize(
    ("instead", "line"),
    [
        ("describe()", 'got=f"{type(value).__name__} {value!r}"[:120]'),
        ("refusal_text()", 'f"{first}\\n  got:      {got}"'),
        ("refusal_text()", '(("got:", got), ("fix:", fix))'),
    ],
)
def test_the_patterns_find_what_they_look_for(instead, line):
    assert re.search(BY_HAND[instead][0], line)
