# SPDX-License-Identifier: Apache-2.0
"""C names of the rarer ways to allocate and free, of registered host memory, and of questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_runtime import memory as _memory
from aclnn_runtime import memory_facts as _memory_facts
from aclnn_runtime.enums import ACL_MEM_MALLOC_HUGE_FIRST, aclrtMemMallocPolicy

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import SupportsIndex

    from aclnn_runtime.enums_device import aclrtMemAttr
    from aclnn_runtime.host_memory import Readable
    from aclnn_runtime.memory import Buffer
    from aclnn_runtime.memory_facts import PointerAttributes

__all__ = [
    "aclrtFreeHostWithDevSync",
    "aclrtFreeWithDevSync",
    "aclrtGetMemInfo",
    "aclrtGetMemUsageInfo",
    "aclrtHostGetDevicePointer",
    "aclrtHostRegister",
    "aclrtHostRegisterV2",
    "aclrtHostUnregister",
    "aclrtMallocAlign32",
    "aclrtMallocCached",
    "aclrtMallocForTaskScheduler",
    "aclrtMallocHostWithCfg",
    "aclrtMallocWithCfg",
    "aclrtMemAllocManaged",
    "aclrtMemFlush",
    "aclrtMemInvalidate",
    "aclrtPointerGetAttributes",
]


def aclrtMallocAlign32(
    size: int, policy: aclrtMemMallocPolicy | int = ACL_MEM_MALLOC_HUGE_FIRST
) -> Buffer:
    """Allocate device memory, rounded up to 32 bytes without padding.

    Parameters
    ----------
    size : int
        At least 1 [bytes].
    policy : aclrtMemMallocPolicy or int
        Kind of pages; the CPU device treats all alike.

    Returns
    -------
    Buffer
        It lives until `aclrtFree`.

    Raises
    ------
    AclError
        100000 for size 0 or one that overflows; 107002 when the thread has no current
        context; 207001 when the memory is used up.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtMallocAlign32`` (ACL API version 1.17.0).
    """
    return _memory.malloc_form("aclrtMallocAlign32", size, policy)


def aclrtMallocCached(
    size: int, policy: aclrtMemMallocPolicy | int = ACL_MEM_MALLOC_HUGE_FIRST
) -> Buffer:
    """Allocate device memory as `aclrtMalloc` does.

    Parameters
    ----------
    size : int
        At least 1 [bytes].
    policy : aclrtMemMallocPolicy or int
        Kind of pages; the CPU device treats all alike.

    Returns
    -------
    Buffer
        It lives until `aclrtFree`.

    Raises
    ------
    AclError
        100000 for size 0 or one that overflows; 107002 when the thread has no current
        context; 207001 when the memory is used up.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtMallocCached`` (ACL API version 1.17.0).
    """
    return _memory.malloc_form("aclrtMallocCached", size, policy)


def aclrtMallocWithCfg(
    size: int,
    policy: aclrtMemMallocPolicy | int = ACL_MEM_MALLOC_HUGE_FIRST,
    cfg: Mapping[int, int] | None = None,
) -> Buffer:
    """Allocate device memory with attributes, without rounding.

    Parameters
    ----------
    size : int
        At least 1 [bytes].
    policy : aclrtMemMallocPolicy or int
        Kind of pages; the CPU device treats all alike.
    cfg : mapping, optional
        Values by attribute: 1 module, 2 device, 3 address flag.

    Returns
    -------
    Buffer
        On the device that the attributes name, else on the current one. It lives until
        `aclrtFree`.

    Raises
    ------
    AclError
        100000 for size 0 or one that overflows; 107002 when the thread has no current
        context; 207001 when the memory is used up; 100000 for another attribute; 107001 for a
        device that does not exist.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtMallocWithCfg`` (ACL API version 1.17.0).
    """
    return _memory.malloc_form("aclrtMallocWithCfg", size, policy, cfg)


def aclrtMallocForTaskScheduler(
    size: int,
    policy: aclrtMemMallocPolicy | int = ACL_MEM_MALLOC_HUGE_FIRST,
    cfg: Mapping[int, int] | None = None,
) -> Buffer:
    """Allocate device memory for the task scheduler.

    Parameters
    ----------
    size : int
        At least 1 [bytes].
    policy : aclrtMemMallocPolicy or int
        Kind of pages; the CPU device treats all alike.
    cfg : mapping, optional
        Values by attribute: 1 module, 2 device, 3 address flag.

    Returns
    -------
    Buffer
        As of `aclrtMallocWithCfg`.

    Raises
    ------
    AclError
        100000 for size 0 or one that overflows; 107002 when the thread has no current
        context; 207001 when the memory is used up; 100000 for another attribute.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtMallocForTaskScheduler`` (ACL API version
    1.17.0).
    """
    return _memory.malloc_form("aclrtMallocForTaskScheduler", size, policy, cfg)


def aclrtMallocHostWithCfg(size: int, cfg: Mapping[int, int] | None = None) -> Buffer:
    """Allocate pinned host memory with attributes, without rounding.

    Parameters
    ----------
    size : int
        At least 1 [bytes].
    cfg : mapping, optional
        Values by attribute: 1 module, 2 device, 3 address flag.

    Returns
    -------
    Buffer
        It lives until `aclrtFreeHost`.

    Raises
    ------
    AclError
        100000 for size 0 or one that overflows; 107002 when the thread has no current
        context; 207001 when the memory is used up; 100000 for another attribute.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtMallocHostWithCfg`` (ACL API version 1.17.0).
    """
    return _memory.malloc_form("aclrtMallocHostWithCfg", size, 0, cfg)


def aclrtMemAllocManaged(size: int, flag: int = 1) -> Buffer:
    """Allocate memory that host and device share.

    Parameters
    ----------
    size : int
        At least 1 [bytes].
    flag : int
        1: attached globally.

    Returns
    -------
    Buffer
        Device memory that answers ``managed`` to `aclrtPointerGetAttributes`. It lives until
        `aclrtFree`.

    Raises
    ------
    AclError
        100000 for size 0 or one that overflows; 107002 when the thread has no current
        context; 207001 when the memory is used up; 100000 for another flag.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtMemAllocManaged`` (ACL API version 1.17.0).
    """
    return _memory.malloc_form("aclrtMemAllocManaged", size, flag, argument="flag")


def aclrtFreeWithDevSync(devPtr: Buffer | SupportsIndex | None) -> None:
    """Wait for the current context's streams, then free device memory.

    Parameters
    ----------
    devPtr : Buffer or int
        The buffer, or the address that it begins at.

    Raises
    ------
    AclError
        100000 for None; 107000 for what `aclrtFree` refuses; 107002 when the thread has no
        current context; the status of a task that failed, and then nothing is freed.

    Notes
    -----
    Blocks, without the GIL.

    Source: CANN runtime API reference, ``aclrtFreeWithDevSync`` (ACL API version 1.17.0).
    """
    _memory.free_synchronized(devPtr, is_host=False)


def aclrtFreeHostWithDevSync(hostPtr: Buffer | SupportsIndex | None) -> None:
    """Wait for the current context's streams, then free pinned host memory.

    Parameters
    ----------
    hostPtr : Buffer or int
        The buffer, or the address that it begins at.

    Raises
    ------
    AclError
        100000 for None; 107000 for what `aclrtFreeHost` refuses; 107002 when the thread has
        no current context; the status of a task that failed, and then nothing is freed.

    Notes
    -----
    Blocks, without the GIL.

    Source: CANN runtime API reference, ``aclrtFreeHostWithDevSync`` (ACL API version 1.17.0).
    """
    _memory.free_synchronized(hostPtr, is_host=True)


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


def aclrtHostRegister(ptr: Readable, size: int, type: int = 0) -> int:
    """Register the program's own host memory, as if it were pinned.

    Parameters
    ----------
    ptr : int or host array
        Aligned to 4096; an array is held until it is unregistered.
    size : int
        At least 1 [bytes].
    type : int
        0: mapped.

    Returns
    -------
    int
        The device's address of it, which is the same here.

    Raises
    ------
    AclError
        100000 for None, size 0 or another type; 107000 for an unaligned address or one
        without memory; 107002 when the thread has no current context; 507910 where the
        runtime knows some of it already.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtHostRegister`` (ACL API version 1.17.0).
    """
    return _memory_facts.register(ptr, size, type)


def aclrtHostRegisterV2(ptr: Readable, size: int, flag: int) -> None:
    """Register the program's own host memory with flags.

    Parameters
    ----------
    ptr : int or host array
        Aligned to 4096; an array is held until it is unregistered.
    size : int
        At least 1 [bytes].
    flag : int
        2 mapped, 8 read-only, 0x10000000 pinned; or-ed.

    Raises
    ------
    AclError
        As of `aclrtHostRegister`; 207000 for flag 4 (input and output memory).

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtHostRegisterV2`` (ACL API version 1.17.0).
    """
    _memory_facts.register_flags(ptr, size, flag)


def aclrtHostGetDevicePointer(pHost: Readable, flag: int = 0) -> int:
    """The device's address of registered host memory.

    Parameters
    ----------
    pHost : int or host array
        An address inside it.
    flag : int
        0.

    Returns
    -------
    int
        The same address.

    Raises
    ------
    AclError
        100000 for None or another flag; 507911 for memory that is not registered; 107000 for
        memory registered without flag 2.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtHostGetDevicePointer`` (ACL API version
    1.17.0).
    """
    return _memory_facts.device_pointer(pHost, flag)


def aclrtHostUnregister(ptr: Readable) -> None:
    """Undo `aclrtHostRegister`.

    Parameters
    ----------
    ptr : int or host array
        The start of the registered memory.

    Raises
    ------
    AclError
        100000 for None; 507911 for memory that is not registered.

    Notes
    -----
    Blocks for the queued tasks that use the memory.

    Source: CANN runtime API reference, ``aclrtHostUnregister`` (ACL API version 1.17.0).
    """
    _memory_facts.unregister(ptr)
