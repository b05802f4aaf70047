# SPDX-License-Identifier: Apache-2.0
"""Limits of cores, other numbers of devices, and what arithmetic does on overflow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_native import lib
from aclnn_runtime.arguments import as_int32, as_uint32
from aclnn_runtime.noun import handle_of
from aclnn_runtime.outputs import check, number
from aclnn_runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "device_cores",
    "overflow_mode",
    "process_id",
    "renumber",
    "reset_device_cores",
    "reset_stream_cores",
    "set_device_cores",
    "set_overflow_mode",
    "set_stream_cores",
    "stream_cores",
    "thread_cores",
    "unuse_stream_cores",
    "use_stream_cores",
]


def device_cores(device: object, kind: object) -> int:
    """``aclrtGetDeviceResLimit``."""
    function = "aclrtGetDeviceResLimit"
    where = as_int32(function, "deviceId", device)
    return number("uint32_t", lib.aclpy_device_cores, where, as_int32(function, "type", kind))


def set_device_cores(device: object, kind: object, value: object) -> None:
    """``aclrtSetDeviceResLimit``."""
    function = "aclrtSetDeviceResLimit"
    where = as_int32(function, "deviceId", device)
    what = as_int32(function, "type", kind)
    check(lib.aclpy_device_cores_set(where, what, as_uint32(function, "value", value)))


def reset_device_cores(device: object) -> None:
    """``aclrtResetDeviceResLimit``."""
    check(lib.aclpy_device_cores_reset(as_int32("aclrtResetDeviceResLimit", "deviceId", device)))


def stream_cores(stream: object, kind: object) -> int:
    """``aclrtGetStreamResLimit``."""
    function = "aclrtGetStreamResLimit"
    handle = handle_of(function, "stream", stream, Stream)
    return number("uint32_t", lib.aclpy_stream_cores, 0, handle, as_int32(function, "type", kind))


def set_stream_cores(stream: object, kind: object, value: object) -> None:
    """``aclrtSetStreamResLimit``."""
    function = "aclrtSetStreamResLimit"
    handle = handle_of(function, "stream", stream, Stream)
    what = as_int32(function, "type", kind)
    check(lib.aclpy_stream_cores_set(0, handle, what, as_uint32(function, "value", value)))


def _stream_call(function: str, call: Callable[[int, int], int], stream: object) -> None:
    check(call(0, handle_of(function, "stream", stream, Stream)))


def reset_stream_cores(stream: object) -> None:
    """``aclrtResetStreamResLimit``."""
    _stream_call("aclrtResetStreamResLimit", lib.aclpy_stream_cores_reset, stream)


def use_stream_cores(stream: object) -> None:
    """``aclrtUseStreamResInCurrentThread``."""
    _stream_call("aclrtUseStreamResInCurrentThread", lib.aclpy_thread_cores_use, stream)


def unuse_stream_cores(stream: object) -> None:
    """``aclrtUnuseStreamResInCurrentThread``."""
    _stream_call("aclrtUnuseStreamResInCurrentThread", lib.aclpy_thread_cores_unuse, stream)


def thread_cores(kind: object) -> int:
    """``aclrtGetResInCurrentThread``."""
    what = as_int32("aclrtGetResInCurrentThread", "type", kind)
    return number("uint32_t", lib.aclpy_thread_cores, 0, what)


def renumber(function: str, argument: str, given: object, *, to_physical: bool) -> int:
    """Another number of a device, for the C name `function`."""
    known = as_int32(function, argument, given)
    call = lib.aclpy_device_physical if to_physical else lib.aclpy_device_of_physical
    return number("int32_t", lambda cell: call(known, cell, function.encode(), argument.encode()))


def process_id() -> int:
    """``aclrtDeviceGetBareTgid``."""
    return number("int32_t", lib.aclpy_process_id)


def overflow_mode() -> int:
    """``aclrtGetDeviceSatMode``."""
    return number("int32_t", lib.aclpy_overflow_mode, 0)


def set_overflow_mode(mode: object) -> None:
    """``aclrtSetDeviceSatMode``."""
    check(lib.aclpy_overflow_mode_set(0, as_int32("aclrtSetDeviceSatMode", "mode", mode)))
