# SPDX-License-Identifier: Apache-2.0
"""A current device, a stream and memory, made by pyACL's calls."""

from __future__ import annotations

import pytest

import aclnn_py.pyacl as acl
from support.pyacl import first


@pytest.fixture(autouse=True)
def _current_device():
    assert acl.rt.set_device(0) == 0
    yield
    assert acl.rt.reset_device(0) == 0


@pytest.fixture
def stream():
    handle = first(acl.rt.create_stream())
    yield handle
    assert acl.rt.destroy_stream(handle) == 0


@pytest.fixture
def pointer():
    address = first(acl.rt.malloc(256, 0))
    yield address
    assert acl.rt.free(address) == 0
