# SPDX-License-Identifier: Apache-2.0
"""C names of every way to allocate memory but the plain ones, and of frees that wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_runtime import memory as _memory
from aclnn_runtime.enums import ACL_MEM_MALLOC_HUGE_FIRST, aclrtMemMallocPolicy

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import SupportsIndex

    from aclnn_runtime.memory import Buffer

__all__ = [
    "aclrtFreeHostWithDevSync",
    "aclrtFreeWithDevSync",
    "aclrtMallocAlign32",
    "aclrtMallocCached",
    "aclrtMallocForTaskScheduler",
    "aclrtMallocHostWithCfg",
    "aclrtMallocWithCfg",
    "aclrtMemAllocManaged",
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
