# SPDX-License-Identifier: Apache-2.0
"""Copies and fills, at once or in stream order, between Buffers, addresses and host arrays."""

from __future__ import annotations

from aclnn_native import lib
from aclnn_runtime.arguments import as_int32, as_size
from aclnn_runtime.enums import aclrtMemcpyKind
from aclnn_runtime.errors import raise_last
from aclnn_runtime.host_memory import check_room, memory_address
from aclnn_runtime.outputs import check

__all__ = ["copy", "copy_async", "fill", "fill_async"]

_COPY_KINDS = range(aclrtMemcpyKind.ACL_MEMCPY_INNER_DEVICE_TO_DEVICE)


def copy(dst: object, dst_max: object, src: object, count: object, kind: object) -> None:
    """Copy now, under the thread's current context; see ``aclrtMemcpy``."""
    to, from_, sizes, _held = _copy_arguments("aclrtMemcpy", dst, dst_max, src, count, kind)
    check(lib.aclpy_memcpy(0, to, sizes[0], from_, sizes[1], sizes[2]))


def copy_async(
    dst: object,
    dst_max: object,
    src: object,
    count: object,
    kind: object,
    stream: int,
) -> None:
    """Copy in the order of the stream with this handle; see ``aclrtMemcpyAsync``."""
    to, from_, sizes, _held = _copy_arguments("aclrtMemcpyAsync", dst, dst_max, src, count, kind)
    status = lib.aclpy_memcpy_async(0, to, sizes[0], from_, sizes[1], sizes[2], stream)
    # A host array need not outlive this call: pageable memory has been copied when it returns.
    if status:
        raise_last(status)


def fill(pointer: object, max_count: object, value: object, count: object) -> None:
    """Set bytes now; see ``aclrtMemset``."""
    to, sizes, _held = _fill_arguments("aclrtMemset", pointer, max_count, value, count)
    check(lib.aclpy_memset(0, to, *sizes))


def fill_async(
    pointer: object,
    max_count: object,
    value: object,
    count: object,
    stream: int,
) -> None:
    """Set bytes in the order of the stream with this handle; see ``aclrtMemsetAsync``."""
    to, sizes, _held = _fill_arguments("aclrtMemsetAsync", pointer, max_count, value, count)
    check(lib.aclpy_memset_async(0, to, *sizes, stream))


def _copy_arguments(
    function: str, dst: object, dst_max: object, src: object, count: object, kind: object
) -> tuple[int, int, tuple[int, int, int], object]:
    capacity = as_size(function, "destMax", dst_max)
    nbytes = as_size(function, "count", count)
    number = as_int32(function, "kind", kind)
    if not nbytes:  # success before any other check; nothing is looked at
        return 0, 0, (capacity, 0, number), None
    to, to_nbytes, to_held = memory_address(function, "dst", dst, writable=True)
    from_, from_nbytes, from_held = memory_address(function, "src", src, writable=False)
    # Where C has an answer of its own, the library gives it; it copies nothing in these cases.
    if to and from_ and number in _COPY_KINDS and nbytes <= capacity:
        check_room(function, "dst", to_nbytes, nbytes)
        check_room(function, "src", from_nbytes, nbytes)
    return to, from_, (capacity, nbytes, number), (to_held, from_held)


def _fill_arguments(
    function: str, pointer: object, max_count: object, value: object, count: object
) -> tuple[int, tuple[int, int, int], object]:
    capacity = as_size(function, "maxCount", max_count)
    byte = as_int32(function, "value", value)
    nbytes = as_size(function, "count", count)
    if not nbytes:
        return 0, (capacity, byte, 0), None
    to, to_nbytes, held = memory_address(function, "devPtr", pointer, writable=True)
    if to and nbytes <= capacity:
        check_room(function, "devPtr", to_nbytes, nbytes)
    return to, (capacity, byte, nbytes), held
