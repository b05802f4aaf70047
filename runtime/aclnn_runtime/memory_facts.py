# SPDX-License-Identifier: Apache-2.0
"""Questions about memory, and host memory registered by the program."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aclnn_native import ffi, lib
from aclnn_runtime.arguments import as_int32, as_size, as_uint32
from aclnn_runtime.enums_device import aclrtMemLocationType
from aclnn_runtime.host_memory import memory_address
from aclnn_runtime.outputs import check

if TYPE_CHECKING:
    from aclnn_runtime.device import Device

__all__ = [
    "PointerAttributes",
    "address_range",
    "device_pointer",
    "maintain",
    "memory_info",
    "memory_usage",
    "pointer_attributes",
    "register",
    "register_flags",
    "room",
    "unregister",
]


class PointerAttributes(NamedTuple):
    """What an address belongs to.

    Attributes
    ----------
    location : aclrtMemLocationType
        Host, device, managed, or unregistered.
    id : int
        The device; 0 for memory of the host.
    pageSize : int
        Size of its pages [bytes]; 0 where nothing is known.
    """

    location: aclrtMemLocationType
    id: int
    pageSize: int  # noqa: N815  # the C API's spelling


# Host arrays that the program registered, held until they are unregistered.
_registered: dict[int, object] = {}


def memory_info(attribute: object, *, context: int = 0) -> tuple[int, int]:
    """Free and total memory of the context's device [bytes]."""
    number = as_int32("aclrtGetMemInfo", "attr", attribute)
    free, total = ffi.new("uint64_t *"), ffi.new("uint64_t *")
    check(lib.aclpy_memory_figures(context, number, free, total))
    return int(free[0]), int(total[0])


def memory_usage(device: object, rows: object) -> list[tuple[str, int, int]]:
    """Components with what they hold and have held at most, the largest first [bytes]."""
    function = "aclrtGetMemUsageInfo"
    number = as_int32(function, "deviceId", device)
    room = as_uint32(function, "inputNum", rows)
    usage, count = ffi.new("aclpy_usage[]", max(1, min(room, 64))), ffi.new("size_t *")
    check(lib.aclpy_memory_usage(number, usage, room, count))
    return [
        (ffi.string(usage[index].component).decode(), int(usage[index].now), int(usage[index].most))
        for index in range(count[0])
    ]


def pointer_attributes(pointer: object) -> PointerAttributes:
    """What an address belongs to."""
    address, _, _held = memory_address("aclrtPointerGetAttributes", "ptr", pointer, writable=False)
    found = ffi.new("aclpy_pointer *")
    check(lib.aclpy_pointer_attributes(address, found))
    return PointerAttributes(
        aclrtMemLocationType(found.location), int(found.id), int(found.page_size)
    )


def address_range(pointer: object) -> tuple[int, int]:
    """Where the allocation around an address begins, and how large it is [bytes]."""
    address, _, _held = memory_address("aclrtMemGetAddressRange", "ptr", pointer, writable=False)
    base, size = ffi.new("uintptr_t *"), ffi.new("size_t *")
    check(lib.aclpy_memory_range(address, base, size))
    return int(base[0]), int(size[0])


def room(device: Device, address: int) -> int:
    """Bytes from an address to the end of the device memory that it lies in, as requested.

    Parameters
    ----------
    device : Device
        Whose memory it must be.
    address : int
        Any address, 0 <= address < 2**64.

    Returns
    -------
    int
        0 where the address is in no live allocation of the device: host memory, freed memory,
        another device's.
    """
    info = ffi.new("aclpy_memory_info *")
    lib.aclpy_memory_query(address, info)
    if info.kind != lib.ACLPY_MEMORY_DEVICE or info.device != device._number:
        return 0
    return int(info.base) + int(info.size) - address


def maintain(pointer: object, size: object, *, invalidate: bool) -> None:
    """Flush or invalidate caches: nothing to do."""
    function = "aclrtMemInvalidate" if invalidate else "aclrtMemFlush"
    address, _, _held = memory_address(function, "devPtr", pointer, writable=False)
    check(lib.aclpy_memory_maintain(address, as_size(function, "size", size), invalidate))


# ---- registered host memory ----


def register(pointer: object, size: object, kind: object) -> int:
    """Register host memory; its address for the device."""
    function = "aclrtHostRegister"
    address, _, held = memory_address(function, "ptr", pointer, writable=False)
    device = ffi.new("uintptr_t *")
    check(
        lib.aclpy_host_register(
            0, address, as_size(function, "size", size), as_int32(function, "type", kind), device
        )
    )
    _registered[address] = held
    return int(device[0])


def register_flags(pointer: object, size: object, flags: object) -> None:
    """Register host memory with flags."""
    function = "aclrtHostRegisterV2"
    address, _, held = memory_address(function, "ptr", pointer, writable=False)
    check(
        lib.aclpy_host_register_flags(
            0, address, as_size(function, "size", size), as_uint32(function, "flag", flags)
        )
    )
    _registered[address] = held


def device_pointer(pointer: object, flag: object = 0) -> int:
    """The device's address of registered host memory."""
    function = "aclrtHostGetDevicePointer"
    address, _, _held = memory_address(function, "pHost", pointer, writable=False)
    device = ffi.new("uintptr_t *")
    check(lib.aclpy_host_device_pointer(address, device, as_uint32(function, "flag", flag)))
    return int(device[0])


def unregister(pointer: object) -> None:
    """Undo the registration, once the queued tasks that use the memory have run."""
    address, _, _held = memory_address("aclrtHostUnregister", "ptr", pointer, writable=False)
    check(lib.aclpy_host_unregister(address))
    _registered.pop(address, None)
