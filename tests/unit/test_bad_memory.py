# SPDX-License-Identifier: Apache-2.0
"""Closed objects, memory that is not there, copies past an end, host arrays that will not do."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import aclnn_py as acl
from support.problems import Call
from support.tensors import build, check_error, refused

H2D, D2H, D2D = (
    acl.ACL_MEMCPY_HOST_TO_DEVICE,
    acl.ACL_MEMCPY_DEVICE_TO_HOST,
    acl.ACL_MEMCPY_DEVICE_TO_DEVICE,
)
INVALID_PARAM, PARAM_INVALID, HANDLE, NO_MEMORY = 100000, 107000, 107017, 207001


@pytest.fixture
def context(device):
    """The C names need a current device; the thread is left as it was found."""
    acl.aclrtSetDevice(0)
    yield
    acl.aclrtResetDevice(0)


@pytest.fixture
def buffer(device):
    with device.malloc(256) as opened:
        yield opened


# ---- closed things ------------------------------------------------------------------------------


def test_closed_tensor(device):
    tensor = device.zeros((2, 3), "float32")
    tensor.close()
    tensor.close()  # closing is idempotent, destroying is not
    other = device.zeros((2, 3), "float32")
    refused(161002, "self", acl.aclnnSoftmaxGetWorkspaceSize, tensor, 0, other)
    for use in (tensor.numpy, lambda: tensor.view((6,)), tensor.transpose):
        with pytest.raises(acl.AclError) as caught:
            use()
        check_error(caught.value, caught.value.status)


def test_closed_buffer_as_workspace(device, fresh, stream):
    call = Call(device, "SoftmaxBackward", dtype=np.float16, out_dtype=np.float32)
    call.plan()
    call.workspace.close()
    refused(161002, "workspace", call.run, stream)
    acl.aclDestroyAclOpExecutor(call.executor)


def test_closed_buffer_in_a_copy(device, context):
    buffer = device.malloc(64)
    buffer.close()
    host = np.zeros(64, np.uint8)
    refused(HANDLE, "dst", acl.aclrtMemcpy, buffer, 64, host, 64, H2D)
    refused(HANDLE, "src", acl.aclrtMemcpy, host, 64, buffer, 64, D2H)


def test_closed_stream(device, context, buffer):
    stream = device.create_stream()
    stream.close()
    host = np.zeros(64, np.uint8)
    for use in (
        stream.synchronize,
        stream.query,
        stream.record,
        lambda: stream.launch_host_func(print),
        lambda: acl.aclrtMemcpyAsync(buffer, 64, host, 64, H2D, stream),
        lambda: acl.aclrtSynchronizeStream(stream),
        lambda: acl.aclrtDestroyStream(stream),
    ):
        with pytest.raises(acl.AclError) as caught:
            use()
        check_error(caught.value, HANDLE)


def test_freed_memory_under_a_living_tensor(device, fresh, stream):
    buffer, out = device.malloc(24), device.zeros((2, 3), "float32")
    tensor = build("FLOAT[2,3]", buffer)
    buffer.close()
    size, executor = acl.aclnnSoftmaxGetWorkspaceSize(tensor, 1, out)
    refused(161002, "self", acl.aclnnSoftmax, None, size, executor, stream)
    acl.aclDestroyAclOpExecutor(executor)


# ---- memory -------------------------------------------------------------------------------------


def test_free_twice_and_free_what_is_not_ours(device, context):
    buffer = acl.aclrtMalloc(64)
    address = buffer.ptr
    acl.aclrtFree(buffer)
    text = refused(PARAM_INVALID, "devPtr", acl.aclrtFree, address)
    assert "free" in text
    refused(PARAM_INVALID, "devPtr", acl.aclrtFree, buffer)
    refused(PARAM_INVALID, "devPtr", acl.aclrtFree, 0xDEAD000)
    living = acl.aclrtMalloc(64)
    text = refused(PARAM_INVALID, "devPtr", acl.aclrtFree, living.ptr + 8)
    assert hex(living.ptr) in text
    acl.aclrtFree(living)


@pytest.mark.parametrize("size", [2**46, 2**62])
def test_more_memory_than_there_is(device, context, size):
    refused(NO_MEMORY, "size", acl.aclrtMalloc, size)
    refused(NO_MEMORY, "size", device.malloc, size)
    refused(NO_MEMORY, "size", device.empty, (size // 4,), "float32")


@pytest.mark.parametrize(
    ("size", "status"),
    [(0, 100000), (2**64 - 1, 100000), (2**64, 100000), (-1, 100000), (1.5, 100000), ("x", 100000)],
)
def test_sizes_that_are_none(device, context, size, status):
    refused(status, "size", acl.aclrtMalloc, size)


# ---- copies -------------------------------------------------------------------------------------


def test_copies_past_either_end(device, context, buffer):
    host = np.zeros(1024, np.uint8)
    refused(PARAM_INVALID, None, acl.aclrtMemcpy, buffer, 64, host, 65, H2D)  # count > destMax
    refused(PARAM_INVALID, "dst", acl.aclrtMemcpy, buffer, 1024, host, 1024, H2D)
    refused(PARAM_INVALID, "src", acl.aclrtMemcpy, host, 1024, buffer, 1024, D2H)
    refused(PARAM_INVALID, "dst", acl.aclrtMemcpy, host[:10], 1024, buffer, 11, D2H)
    refused(PARAM_INVALID, "src", acl.aclrtMemcpy, buffer, 256, host[:10], 11, H2D)
    with device.malloc(256) as other:
        refused(PARAM_INVALID, "dst", acl.aclrtMemcpy, buffer.ptr + 250, 256, other, 7, D2D)
        refused(PARAM_INVALID, "src", acl.aclrtMemcpy, buffer, 256, other.ptr + 250, 7, D2D)
        acl.aclrtMemcpy(buffer.ptr + 250, 6, other.ptr + 250, 6, D2D)
    refused(PARAM_INVALID, "devPtr", acl.aclrtMemset, buffer, 1024, 0, 1024)


def test_async_copies_past_either_end(device, context, buffer):
    with device.create_stream() as stream, device.malloc(256) as other:
        free_standing = stream
        host = np.zeros(1024, np.uint8)
        for arguments in (
            (buffer, 1024, host, 1024, H2D),
            (host, 1024, buffer, 1024, D2H),
            (buffer, 512, other, 512, D2D),
        ):
            with pytest.raises(acl.AclError) as caught:
                acl.aclrtMemcpyAsync(*arguments, free_standing)
            check_error(caught.value, PARAM_INVALID)
        stream.synchronize()


@pytest.mark.parametrize("kind", [6, 7, 8, -1, 99])
def test_copy_kinds(context, buffer, kind):
    refused(INVALID_PARAM, "kind", acl.aclrtMemcpy, buffer, 64, np.zeros(64, np.uint8), 64, kind)


def test_null_pointers_of_copies(context, buffer):
    refused(INVALID_PARAM, "dst", acl.aclrtMemcpy, None, 64, buffer, 64, D2D)
    refused(INVALID_PARAM, "src", acl.aclrtMemcpy, buffer, 64, None, 64, D2D)
    acl.aclrtMemcpy(None, 0, None, 0, D2D)  # count 0 comes first


ROUGH = {
    "read-only": lambda: np.frombuffer(bytes(24), np.float32),
    "Fortran-ordered": lambda: np.zeros((2, 3), np.float32, order="F"),
    "strided": lambda: np.zeros((2, 6), np.float32)[:, ::2],
    "byte-swapped": lambda: np.zeros((2, 3), np.dtype(np.float32).newbyteorder()),
    "object": lambda: np.zeros(6, object),
    "bytes": lambda: bytes(24),
    "list": lambda: [0.0] * 6,
    "text": lambda: "abc",
}


@pytest.mark.parametrize("rough", ROUGH)
def test_host_arrays_that_cannot_be_written(context, buffer, rough):
    refused(INVALID_PARAM, "dst", acl.aclrtMemcpy, ROUGH[rough](), 24, buffer, 24, D2H)


@pytest.mark.parametrize("rough", ROUGH)
def test_host_arrays_that_cannot_be_read(context, buffer, rough):
    if rough in ("read-only", "bytes"):
        acl.aclrtMemcpy(buffer, 256, ROUGH[rough](), 24, H2D)
        return
    refused(INVALID_PARAM, "src", acl.aclrtMemcpy, buffer, 256, ROUGH[rough](), 24, H2D)


# ---- addresses between elements -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "shift", "fine"),
    [("float32", 1, False), ("float32", 2, False), ("float32", 4, True), ("float16", 1, False),
     ("float16", 2, True), ("float64", 4, False)],
)  # fmt: skip
@pytest.mark.parametrize("which", ["self", "out"])
def test_an_address_between_elements(device, stream, which, dtype, shift, fine):
    """Refused whatever the size: results past the caches are written by whole lines."""
    x, out = device.zeros((4, 64), dtype), device.empty((4, 64), dtype)
    memory = device.malloc(x.nbytes + 16)
    {"self": x, "out": out}[which].set_data_ptr(memory.ptr + shift)
    size, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, -1, out)
    if not fine:
        refused(161002, which, acl.aclnnSoftmax, None, size, executor, stream)
        return
    if which == "self":
        ctypes.memset(memory.ptr, 0, memory.nbytes)
    acl.aclnnSoftmax(None, size, executor, stream)
    stream.synchronize()
    np.testing.assert_array_equal(out.numpy(), np.full((4, 64), 1 / 64, dtype))


@pytest.mark.parametrize(("shift", "fine"), [(1, False), (8, False), (16, True)])
def test_a_workspace_between_multiples_of_16(device, stream, shift, fine):
    call = Call(device, "SoftmaxBackward", dtype=np.float16, out_dtype=np.float32)
    executor, size = call.plan(), call.workspace.nbytes
    memory = device.malloc(size + 16)
    arguments = memory.ptr + shift, size, executor, stream
    if fine:
        acl.aclnnSoftmaxBackward(*arguments)
        stream.synchronize()
    else:
        refused(161002, "workspace", acl.aclnnSoftmaxBackward, *arguments)
