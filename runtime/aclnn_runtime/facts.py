# SPDX-License-Identifier: Apache-2.0
"""What a program can ask about devices and the installation, and system parameters."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from aclnn_native import ffi, lib
from aclnn_runtime.arguments import as_int, as_int32, as_uint32, describe
from aclnn_runtime.enums_device import aclrtRunMode
from aclnn_runtime.errors import fail, raise_last

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "cann_attribute",
    "cann_attributes",
    "context_parameter",
    "device_capability",
    "device_info",
    "device_status",
    "package_number",
    "package_version",
    "parameter",
    "primary_state",
    "priority_range",
    "run_mode",
    "set_context_parameter",
    "set_parameter",
    "set_ts_device",
    "soc_name",
    "utilization",
    "version",
]


def _answer(kind: str, call: Callable[[object], int]) -> int:
    """The number that `call` leaves behind its pointer argument."""
    value = ffi.new(kind)
    status = call(value)
    if status:
        raise_last(status)
    return int(value[0])


def run_mode() -> aclrtRunMode:
    """Where the program runs: on the host."""
    return aclrtRunMode(_answer("int32_t *", lib.aclpy_run_mode))


def version() -> tuple[int, int, int]:
    """Version of the API."""
    parts = [ffi.new("int32_t *") for _ in range(3)]
    status = lib.aclpy_version(*parts)
    if status:
        raise_last(status)
    major, minor, patch = (int(part[0]) for part in parts)
    return major, minor, patch


def soc_name() -> str | None:
    """Name of the chip; None when ``ACLNN_PY_SOC`` names none."""
    name = lib.aclpy_soc_name()
    if not name:
        return None
    raw: bytes = ffi.string(name)
    return raw.decode()


def priority_range() -> tuple[int, int]:
    """Least and greatest priority of a stream."""
    least, greatest = ffi.new("int32_t *"), ffi.new("int32_t *")
    status = lib.aclpy_stream_priority_range(least, greatest)
    if status:
        raise_last(status)
    return int(least[0]), int(greatest[0])


def set_ts_device(ts: object) -> None:
    """Choose the task scheduler; nothing depends on it here."""
    status = lib.aclpy_set_ts_device(as_int32("aclrtSetTsDevice", "tsId", ts))
    if status:
        raise_last(status)


def device_status(device: object) -> int:
    """0: the device is well."""
    number = as_int32("aclrtQueryDeviceStatus", "deviceId", device)
    return _answer("int32_t *", lambda out: lib.aclpy_device_status(number, out))


def utilization(device: object) -> dict[str, int]:
    """Percentages by kind of core; memory is always -1."""
    number = as_int32("aclrtGetDeviceUtilizationRate", "deviceId", device)
    info = ffi.new("aclpy_utilization *")
    status = lib.aclpy_device_utilization(number, info)
    if status:
        raise_last(status)
    return {
        "cubeUtilization": int(info.cube),
        "vectorUtilization": int(info.vector),
        "aicpuUtilization": int(info.aicpu),
        "memoryUtilization": int(info.memory),
    }


def device_info(device: object, attribute: object) -> int:
    """One attribute of a device."""
    function = "aclrtGetDeviceInfo"
    number = as_uint32(function, "deviceId", device)
    what = as_int32(function, "attr", attribute)
    return _answer("int64_t *", lambda out: lib.aclpy_device_info(number, what, out))


def device_capability(device: object, capability: object) -> int:
    """Cores or cache of a device."""
    function = "aclGetDeviceCapability"
    number = as_uint32(function, "deviceId", device)
    what = as_int32(function, "deviceInfo", capability)
    return _answer("int64_t *", lambda out: lib.aclpy_device_capability(number, what, out))


def cann_attributes() -> list[int]:
    """The attributes that `cann_attribute` knows."""
    rows, count = ffi.new("int32_t **"), ffi.new("size_t *")
    status = lib.aclpy_cann_attributes(rows, count)
    if status:
        raise_last(status)
    return [int(rows[0][index]) for index in range(count[0])]


def cann_attribute(attribute: object) -> int:
    """Whether the installation has a feature."""
    number = as_int32("aclGetCannAttribute", "cannAttr", attribute)
    return _answer("int32_t *", lambda out: lib.aclpy_cann_attribute(number, out))


def primary_state(device: object, flags: object = None) -> bool:
    """Whether some ``aclrtSetDevice`` holds the device's primary context."""
    function = "aclrtGetPrimaryCtxState"
    number = as_int32(function, "deviceId", device)
    reserved = (
        ffi.NULL if flags is None else ffi.cast("void *", as_uint32(function, "flags", flags))
    )
    return bool(_answer("int32_t *", lambda out: lib.aclpy_primary_state(number, reserved, out)))


# ---- versions of installed packages ----


def _package(function: str, value: object) -> bytes:
    if not isinstance(value, str | bytes) or "\0" in os.fsdecode(value):
        fail(
            function,
            "pkgName",
            what="is no name",
            got=describe(value),
            expected="the name of a package",
            fix="pass a str, such as 'runtime'",
        )
    return os.fsencode(value)


def package_version(package: object) -> str:
    """Version of an installed package, as its file spells it."""
    text = ffi.new("char[]", int(lib.ACLPY_VERSION_BYTES))
    status = lib.aclpy_package_version(_package("aclsysGetVersionStr", package), text)
    if status:
        raise_last(status)
    raw: bytes = ffi.string(text)
    return raw.decode("utf-8", "replace")


def package_number(package: object) -> int:
    """Version of an installed package as a number that grows with it."""
    name = _package("aclsysGetVersionNum", package)
    return _answer("int32_t *", lambda out: lib.aclpy_package_number(name, out))


# ---- system parameters ----


def _value(function: str, value: object) -> int:
    return as_int(function, "value", value, low=-(2**63), high=2**63 - 1)


def set_parameter(option: object, value: object) -> None:
    """Set a system parameter of the process."""
    function = "aclrtSetSysParamOpt"
    number = as_int32(function, "opt", option)
    status = lib.aclpy_sysparam_set(number, _value(function, value))
    if status:
        raise_last(status)


def parameter(option: object) -> int:
    """A system parameter of the process."""
    number = as_int32("aclrtGetSysParamOpt", "opt", option)
    return _answer("int64_t *", lambda out: lib.aclpy_sysparam_get(number, out))


def set_context_parameter(option: object, value: object) -> None:
    """Set a system parameter of the current context."""
    function = "aclrtCtxSetSysParamOpt"
    number = as_int32(function, "opt", option)
    status = lib.aclpy_context_sysparam_set(0, number, _value(function, value))
    if status:
        raise_last(status)


def context_parameter(option: object) -> int:
    """A system parameter of the current context."""
    number = as_int32("aclrtCtxGetSysParamOpt", "opt", option)
    return _answer("int64_t *", lambda out: lib.aclpy_context_sysparam_get(0, number, out))
