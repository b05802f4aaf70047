# SPDX-License-Identifier: Apache-2.0
"""The examples in the docstrings of the C names run, each in a process of its own."""

from __future__ import annotations

import pytest

from support.process import run_python


@pytest.mark.parametrize("module", ["acl_device", "acl_memory", "acl_stream", "acl_event"])
def test_example(module):
    done = run_python(
        f"""
        import doctest
        from aclnn_py.dialects import {module} as module
        failed, tried = doctest.testmod(module)
        assert tried > 5, tried
        assert not failed
        """
    )
    assert done.returncode == 0, done.stdout + done.stderr
