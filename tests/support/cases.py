# SPDX-License-Identifier: Apache-2.0
"""The tests of one module, run again where something else does the work."""

from __future__ import annotations


def again(module, *, without=()):
    """The module's own tests by name, but for those in `without`, which must be among them."""
    tests = {
        name: test
        for name, test in vars(module).items()
        if name.startswith("test_") and test.__module__ == module.__name__
    }
    assert set(without) <= set(tests), f"{module.__name__} has no {set(without) - set(tests)}"
    return {name: test for name, test in tests.items() if name not in without}
