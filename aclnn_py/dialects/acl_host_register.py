# SPDX-License-Identifier: Apache-2.0
"""C names that make the program's own host memory pinned memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_runtime import memory_facts as _memory_facts

if TYPE_CHECKING:
    from aclnn_runtime.host_memory import Readable

__all__ = [
    "aclrtHostGetDevicePointer",
    "aclrtHostRegister",
    "aclrtHostRegisterV2",
    "aclrtHostUnregister",
]


def aclrtHostRegister(ptr: Readable, size: int, type: int = 0) -> int:
    """Register the program's own host memory, as if it were pinned.

    Parameters
    ----------
    ptr : int or host array
        Aligned to 4096, or memory of `aclrtMallocHost`; an array is held until it is
        unregistered.
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
        without memory, or more than is left of an allocation; 107002 when the thread has no
        current context; 507910 where some of it is registered already, or memory of
        `aclrtMallocHost` is to be pinned again.

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
        Aligned to 4096, or memory of `aclrtMallocHost`; an array is held until it is
        unregistered.
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
