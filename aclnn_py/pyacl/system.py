# SPDX-License-Identifier: Apache-2.0
"""pyACL's own functions: beginning and end, versions, error texts."""

from __future__ import annotations

from typing import Final

from aclnn_native import ffi, lib
from aclnn_py.pyacl.calls import INT32, UINT32, answer, integer, order, text
from aclnn_runtime import facts, lifecycle

__all__ = [
    "finalize",
    "finalize_reference",
    "get_cann_attribute",
    "get_cann_attribute_list",
    "get_cann_version",
    "get_device_capability",
    "get_recent_err_msg",
    "get_soc_name",
    "get_version",
    "get_version_num",
    "get_version_str",
    "init",
]

# Packages by the numbers of the deprecated aclsysGetCANNVersion.
_PACKAGES: Final = (
    "cann", "runtime", "compiler", "hccl", "toolkit", "opp", "opp_kernel", "driver",
)  # fmt: skip
_PARTS: Final = ("majorVersion", "minorVersion", "releaseVersion", "patchVersion")

finalize = order("acl.finalize", "aclFinalize", lib.aclpy_finalize)
finalize_reference = answer(
    "acl.finalize_reference",
    "aclFinalizeReference",
    lib.aclpy_finalize_reference,
    {"refCount": "uint64_t"},
)
get_version = answer(
    "acl.get_version",
    "aclrtGetVersion",
    lib.aclpy_version,
    {"majorVersion": "int32_t", "minorVersion": "int32_t", "patchVersion": "int32_t"},
)
get_cann_attribute = answer(
    "acl.get_cann_attribute",
    "aclGetCannAttribute",
    lib.aclpy_cann_attribute,
    {"value": "int32_t"},
    cannAttr=INT32,
)
get_device_capability = answer(
    "acl.get_device_capability",
    "aclGetDeviceCapability",
    lib.aclpy_device_capability,
    {"value": "int64_t"},
    deviceId=UINT32,
    deviceInfo=INT32,
)


def init(config_path: str = "", /) -> int:
    """``aclInit``: ret; 100002 where it has been called before, which programs ignore."""
    return int(lib.aclpy_init(text("acl.init", "configPath", config_path)))


def get_soc_name() -> str | None:
    """``aclrtGetSocName``: name of the chip, None where there is none."""
    return facts.soc_name()


def get_recent_err_msg() -> str | None:
    """``aclGetRecentErrMsg``: texts of the thread's recent errors, newest first; clears them."""
    return lifecycle.recent_message()


def get_version_str(package: str, /) -> tuple[str, int]:
    """``aclsysGetVersionStr``: (version of an installed package, ret)."""
    return _version(text("acl.get_version_str", "pkgName", package))


def get_version_num(package: str, /) -> tuple[int, int]:
    """``aclsysGetVersionNum``: (version as a number that grows with it, ret)."""
    number = ffi.new("int32_t *")
    name = text("acl.get_version_num", "pkgName", package)
    status = int(lib.aclpy_package_number(name, number))
    return int(number[0]), status


def get_cann_version(package: int, /) -> tuple[dict[str, str], int]:
    """``aclsysGetCANNVersion`` (deprecated): (version and its parts, ret).

    Parameters
    ----------
    package : int
        0 CANN, 1 runtime, 2 compiler, 3 HCCL, 4 toolkit, 5 OPP, 6 OPP kernels, 7 driver.

    Returns
    -------
    tuple of dict and int
        ``version``, ``majorVersion``, ``minorVersion``, ``releaseVersion`` and ``patchVersion``,
        all str, empty after a failure.
    """
    number = integer("acl.get_cann_version", "name", package, INT32)
    name = _PACKAGES[number] if 0 <= number < len(_PACKAGES) else ""
    version, status = _version(name.encode())
    parts = [*version.split("."), "", "", "", ""][: len(_PARTS)]
    return {"version": version, **dict(zip(_PARTS, parts, strict=True))}, status


def get_cann_attribute_list() -> tuple[list[int], int, int]:
    """``aclGetCannAttributeList``: (attributes, their number, ret)."""
    rows, count = ffi.new("int32_t **"), ffi.new("size_t *")
    status = int(lib.aclpy_cann_attributes(rows, count))
    number = int(count[0])
    return [int(rows[0][index]) for index in range(number)], number, status


def _version(package: bytes) -> tuple[str, int]:
    room = ffi.new("char[]", int(lib.ACLPY_VERSION_BYTES))
    status = int(lib.aclpy_package_version(package, room))
    raw: bytes = b"" if status else ffi.string(room)
    return raw.decode("utf-8", "replace"), status
