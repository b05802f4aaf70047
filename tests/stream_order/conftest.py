# SPDX-License-Identifier: Apache-2.0
"""What the tests of order share."""

from __future__ import annotations

import pytest

import aclnn_py as acl


@pytest.fixture
def current_device():
    """Device 0 is the thread's, as the C names want it."""
    acl.aclrtSetDevice(0)
    yield
    acl.aclrtResetDevice(0)


@pytest.fixture
def second(device):
    """A stream beside `stream`."""
    with device.create_stream() as opened:
        yield opened
