# SPDX-License-Identifier: Apache-2.0
"""C names of questions about memory: what is left, who holds it, what a pointer is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_runtime import memory_facts as _memory_facts

if TYPE_CHECKING:
    from aclnn_runtime.enums_device import aclrtMemAttr
    from aclnn_runtime.host_memory import Readable
    from aclnn_runtime.memory_facts import PointerAttributes

__all__ = [
    "aclrtGetMemInfo",
    "aclrtGetMemUsageInfo",
    "aclrtMemFlush",
    "aclrtMemGetAddressRange",
    "aclrtMemInvalidate",
    "aclrtPointerGetAttributes",
]


def aclrtGetMemInfo(attr: aclrtMemAttr | int) -> tuple[int, int]:
    """Free and total memory of the current device.

    Parameters
    ----------
    attr : aclrtMemAttr or int
        Kind of memory, 0 to 17; each is answered with the whole.

    Returns
    -------
    tuple of int
        Free and total [bytes].

    Raises
    ------
    AclError
        107002 when the thread has no current context; 107016 for another kind.

    Notes
    -----
    ``ACLNN_PY_DEVICE_MEMORY`` sets the total.

    Source: CANN runtime API reference, ``aclrtGetMemInfo`` (ACL API version 1.17.0).
    """
    return _memory_facts.memory_info(attr)


def aclrtGetMemUsageInfo(deviceId: int, inputNum: int = 64) -> list[tuple[str, int, int]]:
    """Which component holds how much device memory.

    Parameters
    ----------
    deviceId : int
        Number of the device, from 0.
    inputNum : int
        How many components at most.

    Returns
    -------
    list of tuple
        Component, bytes now and at most; the largest first.

    Raises
    ------
    AclError
        107001 when there is no such device; 100000 for no room.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetMemUsageInfo`` (ACL API version 1.17.0).
    """
    return _memory_facts.memory_usage(deviceId, inputNum)


def aclrtMemGetAddressRange(ptr: Readable) -> tuple[int, int]:
    """Where the allocation around an address begins, and how large it is.

    Parameters
    ----------
    ptr : Buffer or int
        Any address inside of it; of a device's or of pinned host memory.

    Returns
    -------
    tuple of int
        First address, and size as asked for [bytes].

    Raises
    ------
    AclError
        100000 for None; 107000 for an address in no live allocation.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtMemGetAddressRange`` (ACL API version 1.17.0).
    """
    return _memory_facts.address_range(ptr)


def aclrtPointerGetAttributes(ptr: Readable) -> PointerAttributes:
    """What an address belongs to.

    Parameters
    ----------
    ptr : Buffer, int or host array
        The address.

    Returns
    -------
    PointerAttributes
        Location, device and page size; ``UNREGISTERED`` for memory that the runtime does not
        know.

    Raises
    ------
    AclError
        100000 for None; 107017 for a freed Buffer.

    Notes
    -----
    Needs no current context.

    Source: CANN runtime API reference, ``aclrtPointerGetAttributes`` (ACL API version
    1.17.0).
    """
    return _memory_facts.pointer_attributes(ptr)


def aclrtMemFlush(devPtr: Readable, size: int) -> None:
    """Write the device's cache back: nothing to do.

    Parameters
    ----------
    devPtr : Buffer or int
        Where.
    size : int
        At least 1 [bytes].

    Raises
    ------
    AclError
        100000 for None or size 0.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtMemFlush`` (ACL API version 1.17.0).
    """
    _memory_facts.maintain(devPtr, size, invalidate=False)


def aclrtMemInvalidate(devPtr: Readable, size: int) -> None:
    """Forget the device's cache: nothing to do.

    Parameters
    ----------
    devPtr : Buffer or int
        Where.
    size : int
        At least 1 [bytes].

    Raises
    ------
    AclError
        100000 for None or size 0.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtMemInvalidate`` (ACL API version 1.17.0).
    """
    _memory_facts.maintain(devPtr, size, invalidate=True)
