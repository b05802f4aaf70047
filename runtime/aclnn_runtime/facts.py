# SPDX-License-Identifier: Apache-2.0
"""What a program can ask about devices and the installation, and system parameters."""

from __future__ import annotations

import os

from aclnn_native import ffi, lib
from aclnn_runtime.arguments import as_int, as_int32, as_uint32, describe
from aclnn_runtime.enums_device import aclrtRunMode
from aclnn_runtime.errors import fail
from aclnn_runtime.outputs import check, number

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


def run_mode() -> aclrtRunMode:
    """Where the program runs: on the host."""
    return aclrtRunMode(number("int32_t", lib.aclpy_run_mode))


def version() -> tuple[int, int, int]:
    """Version of the API."""
    parts = [ffi.new("int32_t *") for _ in range(3)]
    check(lib.aclpy_version(*parts))
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
    check(lib.aclpy_stream_priority_range(least, greatest))
    return int(least[0]), int(greatest[0])


def set_ts_device(ts: object) -> None:
    """Choose the task scheduler; nothing depends on it here."""
    check(lib.aclpy_set_ts_device(as_int32("aclrtSetTsDevice", "tsId", ts)))


def device_status(device: object) -> int:
    """0: the device is well."""
    index = as_int32("aclrtQueryDeviceStatus", "deviceId", device)
    return number("int32_t", lib.aclpy_device_status, index)


def utilization(device: object) -> dict[str, int]:
    """Percentages by kind of core; memory is always -1."""
    index = as_int32("aclrtGetDeviceUtilizationRate", "deviceId", device)
    info = ffi.new("aclpy_utilization *")
    check(lib.aclpy_device_utilization(index, info))
    return {
        "cubeUtilization": int(info.cube),
        "vectorUtilization": int(info.vector),
        "aicpuUtilization": int(info.aicpu),
        "memoryUtilization": int(info.memory),
    }


def device_info(device: object, attribute: object) -> int:
    """One attribute of a device."""
    function = "aclrtGetDeviceInfo"
    index = as_uint32(function, "deviceId", device)
    what = as_int32(function, "attr", attribute)
    return number("int64_t", lib.aclpy_device_info, index, what)


def device_capability(device: object, capability: object) -> int:
    """Cores or cache of a device."""
    function = "aclGetDeviceCapability"
    index = as_uint32(function, "deviceId", device)
    what = as_int32(function, "deviceInfo", capability)
    return number("int64_t", lib.aclpy_device_capability, index, what)


def cann_attributes() -> list[int]:
    """The attributes that `cann_attribute` knows."""
    rows, count = ffi.new("int32_t **"), ffi.new("size_t *")
    check(lib.aclpy_cann_attributes(rows, count))
    return [int(rows[0][index]) for index in range(count[0])]


def cann_attribute(attribute: object) -> int:
    """Whether the installation has a feature."""
    feature = as_int32("aclGetCannAttribute", "cannAttr", attribute)
    return number("int32_t", lib.aclpy_cann_attribute, feature)


def primary_state(device: object, flags: object = None) -> bool:
    """Whether some ``aclrtSetDevice`` holds the device's primary context."""
    function = "aclrtGetPrimaryCtxState"
    index = as_int32(function, "deviceId", device)
    reserved = (
        ffi.NULL if flags is None else ffi.cast("void *", as_uint32(function, "flags", flags))
    )
    return bool(number("int32_t", lib.aclpy_primary_state, index, reserved))


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
    check(lib.aclpy_package_version(_package("aclsysGetVersionStr", package), text))
    raw: bytes = ffi.string(text)
    return raw.decode("utf-8", "replace")


def package_number(package: object) -> int:
    """Version of an installed package as a number that grows with it."""
    name = _package("aclsysGetVersionNum", package)
    return number("int32_t", lib.aclpy_package_number, name)


# ---- system parameters ----


def _value(function: str, value: object) -> int:
    return as_int(function, "value", value, low=-(2**63), high=2**63 - 1)


def set_parameter(option: object, value: object) -> None:
    """Set a system parameter of the process."""
    function = "aclrtSetSysParamOpt"
    which = as_int32(function, "opt", option)
    check(lib.aclpy_sysparam_set(which, _value(function, value)))


def parameter(option: object) -> int:
    """A system parameter of the process."""
    which = as_int32("aclrtGetSysParamOpt", "opt", option)
    return number("int64_t", lib.aclpy_sysparam_get, which)


def set_context_parameter(option: object, value: object) -> None:
    """Set a system parameter of the current context."""
    function = "aclrtCtxSetSysParamOpt"
    which = as_int32(function, "opt", option)
    check(lib.aclpy_context_sysparam_set(0, which, _value(function, value)))


def context_parameter(option: object) -> int:
    """A system parameter of the current context."""
    which = as_int32("aclrtCtxGetSysParamOpt", "opt", option)
    return number("int64_t", lib.aclpy_context_sysparam_get, 0, which)
