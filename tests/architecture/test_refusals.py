# SPDX-License-Identifier: Apache-2.0
"""What a caller passed is said by one function, which cuts it short and survives its __repr__."""

from __future__ import annotations

import re

from support.sources import ROOT, files

BY_HAND = r"__name__\} \{[\w.]+!r\}"
THE_ONE_PLACE = "runtime/aclnn_runtime/arguments.py"


def test_only_describe_says_what_was_passed():
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for folder in ("aclnn_py", "runtime")
        for path in files(".py", under=folder)
        if str(path.relative_to(ROOT)) != THE_ONE_PLACE
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(BY_HAND, line)
    ]
    assert not found, "use aclnn_runtime.arguments.describe()"


def test_the_pattern_finds_what_it_looks_for():
    assert re.search(BY_HAND, 'got=f"{type(value).__name__} {value!r}"[:120]')
    assert not re.search(BY_HAND, 'f"<{type(self).__name__} {self._handle:#x}>"')
