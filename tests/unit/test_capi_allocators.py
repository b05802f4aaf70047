# SPDX-License-Identifier: Apache-2.0
"""Allocators of a host program: described, registered for a stream, asked for, taken back."""

from __future__ import annotations

import ctypes as c

import pytest

import aclnn_py as acl
from aclnn_native import lib
from aclnn_py.abi.toolkit import library_path

LIBRARY = c.CDLL(str(library_path()))
PARTS = {
    "aclrtAllocatorSetObjToDesc": 0x1000,
    "aclrtAllocatorSetAllocFuncToDesc": 0x2000,
    "aclrtAllocatorSetFreeFuncToDesc": 0x3000,
    "aclrtAllocatorSetAllocAdviseFuncToDesc": 0x4000,
    "aclrtAllocatorSetGetAddrFromBlockFuncToDesc": 0x5000,
}
OPTIONAL = "aclrtAllocatorSetAllocAdviseFuncToDesc"


def call(name, *arguments):
    return LIBRARY[name](*[c.c_void_p(getattr(v, "handle", v)) for v in arguments])


def describe(*left_out):
    LIBRARY.aclrtAllocatorCreateDesc.restype = c.c_void_p
    made = LIBRARY.aclrtAllocatorCreateDesc()
    assert made
    for name, value in PARTS.items():
        if name not in left_out:
            assert call(name, made, value) == 0
    return made


def registered(stream):
    """Status, description and parts."""
    cells = [c.c_void_p() for _ in range(6)]
    status = call("aclrtAllocatorGetByStream", stream, *[c.addressof(cell) for cell in cells])
    return status, [cell.value for cell in cells]


@pytest.fixture
def queue():
    acl.aclrtSetDevice(0)
    stream = acl.aclrtCreateStream()
    yield stream
    if not stream.closed:
        acl.aclrtDestroyStream(stream)
    acl.aclrtResetDevice(0)


def test_what_is_registered_is_told_until_it_is_taken_back(queue):
    first, second = describe(), describe(OPTIONAL)
    assert registered(queue)[0] == 100000
    assert call("aclrtAllocatorRegister", queue, first) == 0
    assert registered(queue) == (0, [first, *PARTS.values()])
    assert call("aclrtAllocatorRegister", queue, second) == 0
    without = [0 if name == OPTIONAL else value for name, value in PARTS.items()]
    assert registered(queue) == (0, [second, *[value or None for value in without]])
    assert call("aclrtAllocatorDestroyDesc", second) == 0
    assert registered(queue)[0] == 0
    for _ in range(2):
        assert call("aclrtAllocatorUnregister", queue) == 0
    assert registered(queue)[0] == 100000
    assert call("aclrtAllocatorDestroyDesc", first) == 0


@pytest.mark.parametrize("part", [name for name in PARTS if name != OPTIONAL])
def test_an_incomplete_description_is_refused(queue, part):
    made = describe(part)
    assert call("aclrtAllocatorRegister", queue, made) == 100000
    assert registered(queue)[0] == 100000
    assert call("aclrtAllocatorDestroyDesc", made) == 0


def test_destroyed_and_null(queue):
    made = describe()
    assert call("aclrtAllocatorSetObjToDesc", made, 0) == 100000
    assert call("aclrtAllocatorRegister", 0, made) == 100000
    assert call("aclrtAllocatorRegister", queue, 0) == 100000
    assert call("aclrtAllocatorDestroyDesc", made) == 0
    for name in ("aclrtAllocatorDestroyDesc", "aclrtAllocatorSetObjToDesc"):
        assert call(name, made, 1) == 107017
    assert call("aclrtAllocatorRegister", queue, made) == 107017
    acl.aclrtDestroyStream(queue)
    assert call("aclrtAllocatorRegister", queue, made) == 107017
    assert call("aclrtAllocatorUnregister", queue) == 0


def test_a_stream_takes_its_registration_along():
    before = lib.aclpy_live_count(b"stream")
    acl.aclrtSetDevice(0)
    made = describe()
    for _ in range(100):
        stream = acl.aclrtCreateStream()
        assert call("aclrtAllocatorRegister", stream, made) == 0
        acl.aclrtDestroyStream(stream)
    assert call("aclrtAllocatorDestroyDesc", made) == 0
    acl.aclrtResetDevice(0)
    assert lib.aclpy_live_count(b"stream") == before
