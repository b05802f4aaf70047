# SPDX-License-Identifier: Apache-2.0
"""C names of memory: allocation, copies and fills.

NumPy arrays and anything with the buffer protocol serve as host memory. They must be dense in
row-major order, in the machine's byte order, and writable where the call writes.

Examples
--------
>>> import numpy as np
>>> from aclnn_py.dialects.acl import *
>>> aclrtSetDevice(0)
>>> there = aclrtMalloc(16)
>>> here = np.zeros(4, np.float32)
>>> aclrtMemcpy(there, 16, np.arange(4, dtype=np.float32), 16, ACL_MEMCPY_HOST_TO_DEVICE)
>>> aclrtMemcpy(here, here.nbytes, there, 16, ACL_MEMCPY_DEVICE_TO_HOST)
>>> here.tolist()
[0.0, 1.0, 2.0, 3.0]
>>> aclrtFree(there)
>>> aclrtResetDevice(0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_runtime import copies as _copies
from aclnn_runtime import memory as _memory
from aclnn_runtime.enums import ACL_MEM_MALLOC_HUGE_FIRST, aclrtMemcpyKind, aclrtMemMallocPolicy
from aclnn_runtime.noun import handle_of
from aclnn_runtime.stream import Stream

if TYPE_CHECKING:
    from typing import SupportsIndex

    from aclnn_runtime.host_memory import Readable, Writable
    from aclnn_runtime.memory import Buffer

__all__ = [
    "aclrtFree",
    "aclrtFreeHost",
    "aclrtMalloc",
    "aclrtMallocHost",
    "aclrtMemcpy",
    "aclrtMemcpyAsync",
    "aclrtMemset",
    "aclrtMemsetAsync",
]


def aclrtMalloc(
    size: int, policy: aclrtMemMallocPolicy | int = ACL_MEM_MALLOC_HUGE_FIRST
) -> Buffer:
    """Allocate device memory; its content is undefined.

    Parameters
    ----------
    size : int
        At least 1 [bytes].
    policy : aclrtMemMallocPolicy or int
        Kind of pages; the CPU device treats all alike, other numbers included.

    Returns
    -------
    Buffer
        Its address is a multiple of 64. It lives until `aclrtFree`.

    Raises
    ------
    AclError
        100000 for size 0 or one that overflows with its padding; 107002 when the thread has no
        current context; 207001 when the memory is used up.

    Notes
    -----
    Never waits for queued work.

    Source: CANN runtime API reference, ``aclrtMalloc`` (ACL API version 1.17.0).
    """
    return _memory.malloc(0, size, policy)


def aclrtFree(devPtr: Buffer | SupportsIndex | None) -> None:
    """Free device memory.

    Parameters
    ----------
    devPtr : Buffer or int
        The buffer, or the address that it begins at.

    Raises
    ------
    AclError
        100000 for None or 0; 107000 for memory freed before, for an address that is not the
        beginning of an allocation, and for pinned host memory.

    Notes
    -----
    Returns at once and needs no current context. Queued tasks that use the memory still find it.

    Source: CANN runtime API reference, ``aclrtFree`` (ACL API version 1.17.0).
    """
    _memory.free(devPtr)


def aclrtMallocHost(size: int) -> Buffer:
    """Allocate pinned host memory; its content is undefined.

    Parameters
    ----------
    size : int
        At least 1 [bytes].

    Returns
    -------
    Buffer
        ``numpy.asarray(buffer)`` is its bytes. It lives until `aclrtFreeHost`.

    Raises
    ------
    AclError
        100000 for size 0 or one that overflows; 107002 when the thread has no current context;
        207001 when the memory is used up.

    Notes
    -----
    Copies between such memory and a device, in stream order, do not block.

    Source: CANN runtime API reference, ``aclrtMallocHost`` (ACL API version 1.17.0).
    """
    return _memory.malloc_host(0, size)


def aclrtFreeHost(hostPtr: Buffer | SupportsIndex | None) -> None:
    """Free pinned host memory.

    Parameters
    ----------
    hostPtr : Buffer or int
        The buffer, or the address that it begins at.

    Raises
    ------
    AclError
        100000 for None or 0; 107000 for memory freed before, for an address that is not the
        beginning of an allocation, and for device memory.

    Notes
    -----
    Returns at once and needs no current context. Queued tasks and NumPy views that use the
    memory still find it.

    Source: CANN runtime API reference, ``aclrtFreeHost`` (ACL API version 1.17.0).
    """
    _memory.free_host(hostPtr)


def aclrtMemcpy(
    dst: Writable,
    destMax: int,
    src: Readable,
    count: int,
    kind: aclrtMemcpyKind | int,
) -> None:
    """Copy memory now.

    Parameters
    ----------
    dst : Buffer, int or host array
        Where to.
    destMax : int
        Room at `dst` [bytes].
    src : Buffer, int or host array
        Where from.
    count : int
        How much [bytes]; 0 is success whatever the other arguments are.
    kind : aclrtMemcpyKind
        Direction, 0 to 5. The addresses decide, so a wrong one of these copies nevertheless.

    Raises
    ------
    AclError
        100000 for None, for a kind outside 0 to 5 and for a host array that cannot be used;
        107000 when `count` exceeds `destMax`, or either end of the memory; 107002 when the
        thread has no current context; 107017 for a freed Buffer.

    Notes
    -----
    Blocks until it is done, but does not wait for streams: synchronise first.

    Source: CANN runtime API reference, ``aclrtMemcpy`` (ACL API version 1.17.0).
    """
    _copies.copy(dst, destMax, src, count, kind)


def aclrtMemcpyAsync(
    dst: Writable,
    destMax: int,
    src: Readable,
    count: int,
    kind: aclrtMemcpyKind | int,
    stream: Stream | None,
) -> None:
    """Copy memory in stream order.

    Parameters
    ----------
    dst : Buffer, int or host array
        Where to.
    destMax : int
        Room at `dst` [bytes].
    src : Buffer, int or host array
        Where from.
    count : int
        How much [bytes]; 0 is success whatever the other arguments are.
    kind : aclrtMemcpyKind
        Direction; corrected by where the addresses are.
    stream : Stream or None
        None is the default stream of the current context.

    Raises
    ------
    AclError
        100000 for None, for a kind outside 0 to 5 and for a host array that cannot be used;
        107000 when `count` exceeds `destMax` or either end of the memory, and for a kind that
        contradicts the addresses; 107002 without current context; 107003 for a stream of another
        context; 107017 for a destroyed stream or a freed Buffer; 207000 from host to host.

    Notes
    -----
    Stream-ordered, and never blocks where the host side is pinned (`aclrtMallocHost`) or there is
    none. With other host memory it waits for the stream, copies and returns.

    Source: CANN runtime API reference, ``aclrtMemcpyAsync`` (ACL API version 1.17.0).
    """
    handle = handle_of("aclrtMemcpyAsync", "stream", stream, Stream)
    _copies.copy_async(dst, destMax, src, count, kind, handle)


def aclrtMemset(devPtr: Writable, maxCount: int, value: int, count: int) -> None:
    """Set memory now.

    Parameters
    ----------
    devPtr : Buffer, int or host array
        Where.
    maxCount : int
        Room at `devPtr` [bytes].
    value : int
        Its lowest eight bits are written to each byte.
    count : int
        How much [bytes]; 0 is success whatever the other arguments are.

    Raises
    ------
    AclError
        100000 for None; 107000 when `count` exceeds `maxCount` or the end of the memory; 107002
        when the thread has no current context; 107017 for a freed Buffer.

    Notes
    -----
    Blocks until it is done, but does not wait for streams: synchronise first.

    Source: CANN runtime API reference, ``aclrtMemset`` (ACL API version 1.17.0).
    """
    _copies.fill(devPtr, maxCount, value, count)


def aclrtMemsetAsync(
    devPtr: Writable, maxCount: int, value: int, count: int, stream: Stream | None
) -> None:
    """Set memory in stream order.

    Parameters
    ----------
    devPtr : Buffer or int
        Where.
    maxCount : int
        Room at `devPtr` [bytes].
    value : int
        Its lowest eight bits are written to each byte.
    count : int
        How much [bytes]; 0 is success whatever the other arguments are.
    stream : Stream or None
        None is the default stream of the current context.

    Raises
    ------
    AclError
        100000 for None; 107000 when `count` exceeds `maxCount` or the end of the memory; 107002
        without current context; 107003 for a stream of another context; 107017 for a destroyed
        stream or a freed Buffer.

    Notes
    -----
    Stream-ordered; never blocks for device memory.

    Source: CANN runtime API reference, ``aclrtMemsetAsync`` (ACL API version 1.17.0).
    """
    handle = handle_of("aclrtMemsetAsync", "stream", stream, Stream)
    _copies.fill_async(devPtr, maxCount, value, count, handle)
