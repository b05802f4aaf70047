# SPDX-License-Identifier: Apache-2.0
"""What tables of cases share: their names, and the tests of a module run again elsewhere."""

from __future__ import annotations

import re


def again(module, *, without=()):
    """The module's own tests by name, but for those in `without`, which must be among them."""
    tests = {
        name: test
        for name, test in vars(module).items()
        if name.startswith("test_") and test.__module__ == module.__name__
    }
    assert set(without) <= set(tests), f"{module.__name__} has no {set(without) - set(tests)}"
    return {name: test for name, test in tests.items() if name not in without}


def shown(value):
    """A value as a test's name shows it: the same in every run, so without addresses."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
