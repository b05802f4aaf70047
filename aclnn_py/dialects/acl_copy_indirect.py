# SPDX-License-Identifier: Apache-2.0
"""C names of copies whose addresses stand in device memory: behind pointers, and in descriptors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_runtime import copies_indirect as _indirect

if TYPE_CHECKING:
    from aclnn_runtime.enums import aclrtMemcpyKind
    from aclnn_runtime.host_memory import Readable, Writable
    from aclnn_runtime.stream import Stream

__all__ = [
    "aclrtGetMemcpyDescSize",
    "aclrtMemcpyAsyncWithDesc",
    "aclrtMemcpyAsyncWithOffset",
    "aclrtSetMemcpyDesc",
]


def aclrtMemcpyAsyncWithOffset(
    dst: Readable,
    destMax: int,
    dstDataOffset: int,
    src: Readable,
    count: int,
    srcDataOffset: int,
    kind: aclrtMemcpyKind | int,
    stream: Stream | None,
) -> None:
    """Copy between the addresses that stand at `dst` and `src` when the copy runs.

    Parameters
    ----------
    dst, src : Buffer or int
        Device memory that holds the address (8 bytes) to copy to, or from.
    destMax : int
        Room at the destination [bytes].
    dstDataOffset, srcDataOffset : int
        Added to the addresses [bytes].
    count : int
        How much to copy [bytes]; 0 is success whatever the rest.
    kind : aclrtMemcpyKind
        6 (``ACL_MEMCPY_INNER_DEVICE_TO_DEVICE``).
    stream : Stream or None
        None is the default stream of the current context.

    Raises
    ------
    AclError
        100000 for None and for another kind; 107000 for more than `destMax`, and for pointers
        outside of device memory; 107002 when the thread has no current context; 107003 for a
        stream of another context; 107017 for a destroyed one; 207000 on a CUDA device.

    Notes
    -----
    Never blocks. Addresses that are no live device memory when the copy runs are 507053 at the
    stream's next synchronise, and nothing is copied: what hardware does then is not public.

    Source: CANN runtime API reference, ``aclrtMemcpyAsyncWithOffset`` (ACL API version 1.17.0).
    """
    _indirect.behind(dst, destMax, dstDataOffset, src, count, srcDataOffset, kind, stream)


def aclrtGetMemcpyDescSize(kind: aclrtMemcpyKind | int) -> int:
    """How much device memory the descriptor of a copy takes.

    Parameters
    ----------
    kind : aclrtMemcpyKind
        6 (``ACL_MEMCPY_INNER_DEVICE_TO_DEVICE``).

    Returns
    -------
    int
        Its size [bytes].

    Raises
    ------
    AclError
        100000 for another kind; 107002 when the thread has no current context.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetMemcpyDescSize`` (ACL API version 1.17.0).
    """
    return _indirect.descriptor_bytes(kind)


def aclrtSetMemcpyDesc(
    desc: Writable,
    kind: aclrtMemcpyKind | int,
    srcAddr: Readable,
    dstAddr: Writable,
    count: int,
) -> None:
    """Write the descriptor of a copy, at once.

    Parameters
    ----------
    desc : Buffer or int
        Device memory of ``aclrtGetMemcpyDescSize`` bytes.
    kind : aclrtMemcpyKind
        6 (``ACL_MEMCPY_INNER_DEVICE_TO_DEVICE``).
    srcAddr, dstAddr : Buffer or int
        Device memory to copy from, and to.
    count : int
        How much [bytes].

    Raises
    ------
    AclError
        100000 for None and for another kind; 107000 for memory that is not the device's, or too
        small; 107002 when the thread has no current context; 207000 on a CUDA device.

    Notes
    -----
    Waits for no stream. The descriptor may be used by any number of copies, on any stream.

    Source: CANN runtime API reference, ``aclrtSetMemcpyDesc`` (ACL API version 1.17.0).
    """
    _indirect.describe_copy(desc, kind, srcAddr, dstAddr, count)


def aclrtMemcpyAsyncWithDesc(
    desc: Readable, kind: aclrtMemcpyKind | int, stream: Stream | None
) -> None:
    """Copy as the descriptor says when the copy runs.

    Parameters
    ----------
    desc : Buffer or int
        Written by ``aclrtSetMemcpyDesc``.
    kind : aclrtMemcpyKind
        6 (``ACL_MEMCPY_INNER_DEVICE_TO_DEVICE``).
    stream : Stream or None
        None is the default stream of the current context.

    Raises
    ------
    AclError
        100000 for None and for another kind; 107000 for memory that is not the device's;
        107002 when the thread has no current context; 107003 for a stream of another context;
        107017 for a destroyed one; 207000 on a CUDA device.

    Notes
    -----
    Never blocks. Bytes that are no descriptor, or one whose memory is gone when the copy runs,
    are 507053 at the stream's next synchronise: what hardware does then is not public.

    Source: CANN runtime API reference, ``aclrtMemcpyAsyncWithDesc`` (ACL API version 1.17.0).
    """
    _indirect.described(desc, kind, stream)
