# SPDX-License-Identifier: Apache-2.0
"""C names of copies of rectangles and of many ranges, and of fills with 32-bit values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_runtime import copies as _copies
from aclnn_runtime import copies_many as _many
from aclnn_runtime.copies_many import BatchAttribute
from aclnn_runtime.noun import handle_of
from aclnn_runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aclnn_runtime.enums import aclrtMemcpyKind
    from aclnn_runtime.host_memory import Readable, Writable

__all__ = [
    "aclrtMemcpy2d",
    "aclrtMemcpy2dAsync",
    "aclrtMemcpyAsyncWithCondition",
    "aclrtMemcpyBatch",
    "aclrtMemcpyBatchAsync",
    "aclrtMemsetD32",
    "aclrtMemsetD32Async",
]


def aclrtMemcpy2d(
    dst: Writable,
    dpitch: int,
    src: Readable,
    spitch: int,
    width: int,
    height: int,
    kind: aclrtMemcpyKind | int,
) -> None:
    """Copy a rectangle now.

    Parameters
    ----------
    dst : Buffer, int or host array
        Where to.
    dpitch : int
        From one row to the next at `dst` [bytes].
    src : Buffer, int or host array
        Where from.
    spitch : int
        The same at `src` [bytes].
    width : int
        Of a row [bytes]; 0 is success whatever the rest.
    height : int
        Number of rows; 0 is success whatever the rest.
    kind : aclrtMemcpyKind
        1 to 4.

    Raises
    ------
    AclError
        100000 for None, for another kind and for a row wider than its pitch; 107000 for more
        than 5 * 1024 * 1024 rows, more than 5,000,000 bytes a row, or past the end of the
        memory; 107002 when the thread has no current context; 207000 from device to device.

    Notes
    -----
    Blocks until it is done, but does not wait for streams.

    Source: CANN runtime API reference, ``aclrtMemcpy2d`` (ACL API version 1.17.0).
    """
    _many.rectangle("aclrtMemcpy2d", dst, dpitch, src, spitch, width, height, kind)


def aclrtMemcpy2dAsync(
    dst: Writable,
    dpitch: int,
    src: Readable,
    spitch: int,
    width: int,
    height: int,
    kind: aclrtMemcpyKind | int,
    stream: Stream | None,
) -> None:
    """Copy a rectangle in stream order.

    Parameters
    ----------
    dst : Buffer, int or host array
        Where to.
    dpitch : int
        From one row to the next at `dst` [bytes].
    src : Buffer, int or host array
        Where from.
    spitch : int
        The same at `src` [bytes].
    width : int
        Of a row [bytes]; 0 is success whatever the rest.
    height : int
        Number of rows; 0 is success whatever the rest.
    kind : aclrtMemcpyKind
        1 to 4.
    stream : Stream or None
        None is the default stream of the current context.

    Raises
    ------
    AclError
        100000 for None, for another kind and for a row wider than its pitch; 107000 for more
        than 5 * 1024 * 1024 rows, more than 5,000,000 bytes a row, or past the end of the
        memory; 107002 when the thread has no current context; 107003 for a stream of another
        context; 107017 for a destroyed one; 207000 from host to host.

    Notes
    -----
    Never blocks where the host side is pinned or there is none; with other host memory it
    waits for the stream, copies and returns.

    Source: CANN runtime API reference, ``aclrtMemcpy2dAsync`` (ACL API version 1.17.0).
    """
    handle = handle_of("aclrtMemcpy2dAsync", "stream", stream, Stream)
    _many.rectangle(
        "aclrtMemcpy2dAsync", dst, dpitch, src, spitch, width, height, kind, stream=handle
    )


def aclrtMemcpyAsyncWithCondition(
    dst: Writable,
    destMax: int,
    src: Readable,
    count: int,
    kind: aclrtMemcpyKind | int,
    stream: Stream | None,
) -> None:
    """The same as `aclrtMemcpyAsync`, by its older name.

    Parameters
    ----------
    dst, destMax, src, count, kind, stream : as of `aclrtMemcpyAsync`
        What to copy.

    Raises
    ------
    AclError
        As of `aclrtMemcpyAsync`.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtMemcpyAsyncWithCondition`` (ACL API version
    1.17.0).
    """
    handle = handle_of("aclrtMemcpyAsyncWithCondition", "stream", stream, Stream)
    _copies.copy_async(dst, destMax, src, count, kind, handle)


def aclrtMemsetD32(ptr: Writable, memSize: int, value: int, N: int) -> None:
    """Set 32-bit values now.

    Parameters
    ----------
    ptr : Buffer, int or host array
        Where; aligned to 4 bytes.
    memSize : int
        Room at `ptr` [bytes].
    value : int
        The 32-bit value.
    N : int
        How many values; 0 is success whatever the rest.

    Raises
    ------
    AclError
        100000 for None; 107000 for an unaligned address, for more values than fit, and for
        memory that the runtime did not allocate; 107002 when the thread has no current
        context.

    Notes
    -----
    Blocks until it is done, but does not wait for streams.

    Source: CANN runtime API reference, ``aclrtMemsetD32`` (ACL API version 1.17.0).
    """
    _many.fill_d32("aclrtMemsetD32", ptr, memSize, value, N)


def aclrtMemsetD32Async(
    ptr: Writable, memSize: int, value: int, N: int, stream: Stream | None
) -> None:
    """Set 32-bit values in stream order.

    Parameters
    ----------
    ptr : Buffer, int or host array
        Where; aligned to 4 bytes.
    memSize : int
        Room at `ptr` [bytes].
    value : int
        The 32-bit value.
    N : int
        How many values; 0 is success whatever the rest.
    stream : Stream or None
        None is the default stream of the current context.

    Raises
    ------
    AclError
        100000 for None; 107000 for an unaligned address, for more values than fit, and for
        memory that the runtime did not allocate; 107002 when the thread has no current
        context; 107003 for a stream of another context; 107017 for a destroyed one.

    Notes
    -----
    Never blocks.

    Source: CANN runtime API reference, ``aclrtMemsetD32Async`` (ACL API version 1.17.0).
    """
    handle = handle_of("aclrtMemsetD32Async", "stream", stream, Stream)
    _many.fill_d32("aclrtMemsetD32Async", ptr, memSize, value, N, stream=handle)


def aclrtMemcpyBatch(
    dsts: Sequence[Writable],
    destMaxs: Sequence[int],
    srcs: Sequence[Readable],
    sizes: Sequence[int],
    attrs: Sequence[BatchAttribute],
    attrsIndexes: Sequence[int],
) -> None:
    """Copy many ranges now.

    Parameters
    ----------
    dsts, srcs : sequence of Buffer, int or host array
        Where to and where from.
    destMaxs, sizes : sequence of int
        Room at each destination, and how much to copy [bytes].
    attrs : sequence of BatchAttribute
        Where the ends are: all from the host to a device, or all the other way.
    attrsIndexes : sequence of int
        With which copy each attribute begins: 0, then ever larger.

    Raises
    ------
    AclError
        100000 for null pointers and for attributes that do not cover the copies; 107000 for
        another direction, or past the end of the memory; 107002 when the thread has no
        current context. The text says which copy is to blame by what is wrong with it.

    Notes
    -----
    Unordered among themselves.

    Source: CANN runtime API reference, ``aclrtMemcpyBatch`` (ACL API version 1.17.0).
    """
    _many.batch("aclrtMemcpyBatch", dsts, destMaxs, srcs, sizes, attrs, attrsIndexes)


def aclrtMemcpyBatchAsync(
    dsts: Sequence[Writable],
    destMaxs: Sequence[int],
    srcs: Sequence[Readable],
    sizes: Sequence[int],
    attrs: Sequence[BatchAttribute],
    attrsIndexes: Sequence[int],
    stream: Stream | None,
) -> None:
    """Copy many ranges in stream order.

    Parameters
    ----------
    dsts, srcs : sequence of Buffer, int or host array
        Where to and where from.
    destMaxs, sizes : sequence of int
        Room at each destination, and how much to copy [bytes].
    attrs : sequence of BatchAttribute
        Where the ends are: all from the host to a device, or all the other way.
    attrsIndexes : sequence of int
        With which copy each attribute begins: 0, then ever larger.
    stream : Stream or None
        None is the default stream of the current context.

    Raises
    ------
    AclError
        100000 for null pointers and for attributes that do not cover the copies; 107000 for
        another direction, or past the end of the memory; 107002 when the thread has no
        current context; 107003 for a stream of another context; 107017 for a destroyed one.

    Notes
    -----
    Unordered among themselves; never blocks where the host side is pinned.

    Source: CANN runtime API reference, ``aclrtMemcpyBatchAsync`` (ACL API version 1.17.0).
    """
    handle = handle_of("aclrtMemcpyBatchAsync", "stream", stream, Stream)
    _many.batch(
        "aclrtMemcpyBatchAsync", dsts, destMaxs, srcs, sizes, attrs, attrsIndexes, stream=handle
    )
