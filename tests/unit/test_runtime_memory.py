# SPDX-License-Identifier: Apache-2.0
"""Buffers and host arrays: what they are, who frees them, what copies take."""

from __future__ import annotations

import array
import gc
import operator

import ml_dtypes
import numpy as np
import pytest

import aclnn_py as acl
from aclnn_native import lib
from support.latch import Latch


@pytest.fixture(autouse=True)
def _current_device():
    acl.aclrtSetDevice(0)
    yield
    acl.aclrtResetDevice(0)


def in_use() -> int:
    gc.collect()
    return lib.aclpy_memory_in_use()


def test_a_buffer_counts_as_its_address():
    with acl.Device(0).malloc(128) as buffer:
        assert buffer.ptr % 64 == 0
        assert int(buffer) == operator.index(buffer) == buffer.ptr
        assert buffer + 64 == 64 + buffer == buffer.ptr + 64
        assert buffer.nbytes == 128
        assert not buffer.is_host
        assert "128 bytes of device memory" in repr(buffer)


def test_noun_buffers_are_freed_by_close_and_by_collection():
    before = in_use()
    buffer = acl.Device(0).malloc(1 << 20)
    assert in_use() >= before + (1 << 20)
    buffer.close()
    assert in_use() == before
    buffer = acl.Device(0).malloc(1 << 20)
    del buffer
    assert in_use() == before


def test_c_style_memory_lives_until_it_is_freed():
    before = in_use()
    address = int(acl.aclrtMalloc(1 << 20))
    pinned = int(acl.aclrtMallocHost(1 << 20))
    assert in_use() >= before + (2 << 20)
    acl.aclrtFree(address)
    acl.aclrtFreeHost(pinned)
    assert in_use() == before


def test_memory_of_a_noun_outlives_its_device_object():
    device = acl.Device(0)
    buffer = device.malloc(64)
    del device
    gc.collect()
    acl.aclrtMemcpy(buffer, 64, bytes(range(64)), 64, acl.ACL_MEMCPY_HOST_TO_DEVICE)
    back = bytearray(64)
    acl.aclrtMemcpy(back, 64, buffer, 64, acl.ACL_MEMCPY_DEVICE_TO_HOST)
    assert bytes(back) == bytes(range(64))


def test_a_closed_buffer_says_so():
    buffer = acl.Device(0).malloc(64)
    buffer.close()
    buffer.close()
    assert buffer.closed
    assert "closed" in repr(buffer)
    for use in (lambda: buffer.ptr, lambda: int(buffer), lambda: buffer + 1):
        with pytest.raises(acl.AclError) as caught:
            use()
        assert caught.value.status == 107017
        assert "Buffer" in str(caught.value)


def test_double_free_does_not_hit_the_next_owner():
    first = acl.aclrtMalloc(64)
    acl.aclrtFree(first)
    second = acl.aclrtMalloc(64)  # probably at the same address
    with pytest.raises(acl.AclError) as caught:
        acl.aclrtFree(first)
    assert caught.value.status == 107000
    acl.aclrtFree(second)


ARRAYS = [
    np.arange(24, dtype=np.float32).reshape(2, 3, 4),
    np.arange(8, dtype=np.float16),
    np.arange(8).astype(ml_dtypes.bfloat16),
    np.arange(8) + 1j,
    np.array([True, False]),
    np.float64(2.5),
    np.array(7, np.int64),
    np.zeros((4, 0), np.int8),
    np.arange(12).reshape(1, 12).T,  # dense whichever way one looks
    bytes(range(40)),
    bytearray(range(40)),
    memoryview(bytes(range(40))),
    array.array("d", [1.0, 2.0]),
]


@pytest.mark.parametrize("source", ARRAYS, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("late", [False, True])
def test_host_memory_there_and_back(source, late):
    wanted = bytes(np.asarray(source).tobytes() if hasattr(source, "dtype") else source)
    count = len(wanted)
    stream = acl.aclrtCreateStream()
    back = np.full(count, 0xAA, np.uint8)
    with acl.Device(0).malloc(max(count, 1)) as there:
        to, fro = acl.ACL_MEMCPY_HOST_TO_DEVICE, acl.ACL_MEMCPY_DEVICE_TO_HOST
        if late:
            acl.aclrtMemcpyAsync(there, count, source, count, to, stream)
            acl.aclrtMemcpyAsync(back, count, there, count, fro, stream)
            acl.aclrtSynchronizeStream(stream)
        else:
            acl.aclrtMemcpy(there, count, source, count, to)
            acl.aclrtMemcpy(back, count, there, count, fro)
    assert back.tobytes() == wanted
    acl.aclrtDestroyStream(stream)


def test_writable_buffers_as_destination():
    with acl.Device(0).malloc(16) as there:
        acl.aclrtMemcpy(there, 16, b"0123456789abcdef", 16, acl.ACL_MEMCPY_HOST_TO_DEVICE)
        for back in (bytearray(16), array.array("B", bytes(16)), memoryview(bytearray(16))):
            acl.aclrtMemcpy(back, 16, there, 16, acl.ACL_MEMCPY_DEVICE_TO_HOST)
            assert bytes(back) == b"0123456789abcdef"


def test_a_bytearray_can_be_resized_after_the_copy():
    back = bytearray(16)
    with acl.Device(0).malloc(16) as there:
        acl.aclrtMemcpy(back, 16, there, 16, acl.ACL_MEMCPY_DEVICE_TO_HOST)
    back.extend(b"more")


def test_memset_writes_the_low_byte():
    back = np.zeros(8, np.uint8)
    with acl.Device(0).malloc(8) as there:
        acl.aclrtMemset(there, 8, 0x1FE, 6)
        acl.aclrtMemset(there + 6, 2, 7, 2)
        acl.aclrtMemcpy(back, 8, there, 8, acl.ACL_MEMCPY_DEVICE_TO_HOST)
    assert back.tolist() == [0xFE] * 6 + [7] * 2


def test_pinned_memory_is_an_array():
    pinned = acl.aclrtMallocHost(16)
    view = np.asarray(pinned)
    assert view.dtype == np.uint8
    assert view.shape == (16,)
    assert view.ctypes.data == pinned.ptr
    view[:] = 3
    assert memoryview(np.asarray(pinned).view(np.float32)).nbytes == 16
    with acl.Device(0).malloc(16) as there:
        acl.aclrtMemcpy(there, 16, pinned, 16, acl.ACL_MEMCPY_HOST_TO_DEVICE)
        back = np.zeros(16, np.uint8)
        acl.aclrtMemcpy(back, 16, there, 16, acl.ACL_MEMCPY_DEVICE_TO_HOST)
    assert (back == 3).all()
    acl.aclrtFreeHost(pinned)


def test_views_of_pinned_memory_survive_the_free():
    before = in_use()
    pinned = acl.aclrtMallocHost(1 << 16)
    view = np.asarray(pinned)
    view[:] = 9
    acl.aclrtFreeHost(pinned)
    other = acl.aclrtMallocHost(1 << 16)
    np.asarray(other)[:] = 1
    assert (view == 9).all()
    with pytest.raises(acl.AclError) as caught:
        np.asarray(pinned)
    assert caught.value.status == 107017
    acl.aclrtFreeHost(other)
    del view, pinned, other, caught  # the traceback holds the Buffer
    assert in_use() == before


def test_device_memory_is_no_array():
    with acl.Device(0).malloc(16) as there, pytest.raises(acl.AclError, match="device memory"):
        np.asarray(there)


def test_pageable_copies_are_done_when_they_return(stream):
    source = np.arange(1000, dtype=np.int32)
    with acl.Device(0).malloc(source.nbytes) as there:
        acl.aclrtMemcpyAsync(
            there, source.nbytes, source, source.nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE, stream
        )
        source[:] = -1  # the array is the caller's again
        back = np.empty_like(source)
        acl.aclrtMemcpyAsync(
            back, back.nbytes, there, back.nbytes, acl.ACL_MEMCPY_DEVICE_TO_HOST, stream
        )
        assert (back == np.arange(1000)).all()


def test_memory_freed_under_a_queued_copy_lives_until_it_has_run(stream):
    before = in_use()
    source, target = acl.aclrtMallocHost(4096), acl.aclrtMallocHost(4096)
    np.asarray(source)[:] = 5
    there = acl.aclrtMalloc(4096)
    with Latch(stream):
        to, fro = acl.ACL_MEMCPY_HOST_TO_DEVICE, acl.ACL_MEMCPY_DEVICE_TO_HOST
        acl.aclrtMemcpyAsync(there, 4096, source, 4096, to, stream)
        acl.aclrtMemcpyAsync(target, 4096, there, 4096, fro, stream)
        acl.aclrtFree(there)
        acl.aclrtFreeHost(source)
        assert in_use() > before + 4096
    stream.synchronize()
    assert (np.asarray(target) == 5).all()
    acl.aclrtFreeHost(target)
    del source, target
    assert in_use() == before


H2D, D2H = acl.ACL_MEMCPY_HOST_TO_DEVICE, acl.ACL_MEMCPY_DEVICE_TO_HOST


def uses_of(address):
    """Copies and fills of four bytes, from and to an address or Buffer."""
    host = np.zeros(4, np.uint8)
    other = acl.Device(0).malloc(4)
    return (
        lambda: acl.aclrtMemcpy(address, 4, host, 4, H2D),
        lambda: acl.aclrtMemcpy(host, 4, address, 4, D2H),
        lambda: acl.aclrtMemset(address, 4, 0, 4),
        lambda: acl.aclrtMemcpyAsync(address, 4, other, 4, H2D, None),
        lambda: acl.aclrtMemcpyAsync(other, 4, address, 4, H2D, None),
        lambda: acl.aclrtMemsetAsync(address, 4, 0, 4, None),
    )


@pytest.mark.parametrize("address", [3, 0xDEAD0000, 2**64 - 2], ids=hex)
def test_addresses_where_there_is_no_memory(address):
    for use in uses_of(address):
        with pytest.raises(acl.AclError) as caught:
            use()
        assert caught.value.status == 107000
        assert "no memory" in str(caught.value)


@pytest.mark.parametrize("behind", [0, 1, 31])
@pytest.mark.parametrize("size", [1, 31, 64, 1000, 1 << 21])
def test_addresses_behind_an_allocation(size, behind):
    """Such an address is in no allocation, but it is no host memory either."""
    with acl.Device(0).malloc(size) as buffer:
        for use in uses_of(buffer.ptr + size + behind):
            with pytest.raises(acl.AclError) as caught:
                use()
            assert caught.value.status == 107000
            assert "behind the end" in str(caught.value)


def test_a_buffer_freed_by_its_address_cannot_be_used():
    buffer = acl.aclrtMalloc(256)
    acl.aclrtFree(buffer.ptr)
    for use in uses_of(buffer):
        with pytest.raises(acl.AclError) as caught:
            use()
        assert caught.value.status == 107017
        assert "freed by its address" in str(caught.value)


def test_freeing_a_buffer_freed_by_its_address_frees_nobody_elses():
    buffer = acl.aclrtMalloc(256)
    acl.aclrtFree(buffer.ptr)
    others = [acl.aclrtMalloc(256) for _ in range(20)]
    before = in_use()
    for free in (buffer.close, lambda: acl.aclrtFree(buffer)):
        with pytest.raises(acl.AclError) as caught:
            free()
        assert caught.value.status == 107000
    assert in_use() == before
    for other in others:
        acl.aclrtFree(other)


def test_host_memory_given_by_its_address():
    host = np.arange(1 << 12, dtype=np.uint8)
    with acl.Device(0).malloc(host.nbytes) as buffer:
        acl.aclrtMemcpy(buffer, host.nbytes, host.ctypes.data, host.nbytes, H2D)
        back = np.zeros_like(host)
        acl.aclrtMemcpy(back.ctypes.data + 1, 100, buffer.ptr + 1, 100, D2H)
    assert back[1:101].tolist() == host[1:101].tolist()


def test_a_count_of_zero_succeeds_before_anything_else_is_looked_at():
    closed = acl.Device(0).malloc(64)
    closed.close()
    for odd in (b"read-only", np.zeros((3, 3), order="F"), closed, None, 3):
        acl.aclrtMemcpy(odd, 9, odd, 0, 99)
        acl.aclrtMemcpyAsync(odd, 9, odd, 0, 99, None)
        acl.aclrtMemset(odd, 9, 0, 0)
        acl.aclrtMemsetAsync(odd, 9, 0, 0, None)
