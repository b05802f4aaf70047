# SPDX-License-Identifier: Apache-2.0
"""Copies inside a device whose addresses stand in its memory and are read when the copy runs."""

from __future__ import annotations

from aclnn_native import ffi, lib
from aclnn_runtime.arguments import as_int32, as_size
from aclnn_runtime.host_memory import memory_address
from aclnn_runtime.noun import handle_of
from aclnn_runtime.outputs import check, number
from aclnn_runtime.stream import Stream

__all__ = ["behind", "describe_copy", "described", "descriptor_bytes"]


def behind(
    dst: object,
    dst_max: object,
    dst_offset: object,
    src: object,
    count: object,
    src_offset: object,
    kind: object,
    stream: object,
) -> None:
    """``aclrtMemcpyAsyncWithOffset``."""
    function = "aclrtMemcpyAsyncWithOffset"
    handle = handle_of(function, "stream", stream, Stream)
    room, nbytes = as_size(function, "destMax", dst_max), as_size(function, "count", count)
    offsets = (
        as_size(function, "dstDataOffset", dst_offset),
        as_size(function, "srcDataOffset", src_offset),
    )
    to, _, _to_held = memory_address(function, "dst", dst, writable=False)
    from_, _, _from_held = memory_address(function, "src", src, writable=False)
    direction = as_int32(function, "kind", kind)
    check(
        lib.aclpy_memcpy_async_with_offset(
            0, to, room, offsets[0], from_, nbytes, offsets[1], direction, handle
        )
    )


def descriptor_bytes(kind: object) -> int:
    """``aclrtGetMemcpyDescSize``."""
    direction = as_int32("aclrtGetMemcpyDescSize", "kind", kind)
    return number("size_t", lib.aclpy_memcpy_desc_size, 0, direction)


def describe_copy(
    descriptor: object, kind: object, src: object, dst: object, count: object
) -> None:
    """``aclrtSetMemcpyDesc``."""
    function = "aclrtSetMemcpyDesc"
    place, _, _held = memory_address(function, "desc", descriptor, writable=True)
    from_, _, _from_held = memory_address(function, "srcAddr", src, writable=False)
    to, _, _to_held = memory_address(function, "dstAddr", dst, writable=True)
    direction, nbytes = as_int32(function, "kind", kind), as_size(function, "count", count)
    check(lib.aclpy_memcpy_desc_set(0, place, direction, from_, to, nbytes, ffi.NULL))


def described(descriptor: object, kind: object, stream: object) -> None:
    """``aclrtMemcpyAsyncWithDesc``."""
    function = "aclrtMemcpyAsyncWithDesc"
    handle = handle_of(function, "stream", stream, Stream)
    place, _, _held = memory_address(function, "desc", descriptor, writable=False)
    check(lib.aclpy_memcpy_async_with_desc(0, place, as_int32(function, "kind", kind), handle))
