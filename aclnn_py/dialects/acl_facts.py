# SPDX-License-Identifier: Apache-2.0
"""C names of questions about devices and the installation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_runtime import facts as _facts
from aclnn_runtime import peer as _peer

if TYPE_CHECKING:
    from aclnn_runtime.enums_device import (
        aclCannAttr,
        aclDeviceInfo,
        aclrtDevAttr,
        aclrtRunMode,
    )

__all__ = [
    "aclGetCannAttribute",
    "aclGetCannAttributeList",
    "aclGetDeviceCapability",
    "aclrtDeviceCanAccessPeer",
    "aclrtDeviceDisablePeerAccess",
    "aclrtDeviceEnablePeerAccess",
    "aclrtDeviceGetStreamPriorityRange",
    "aclrtDevicePeerAccessStatus",
    "aclrtGetDeviceInfo",
    "aclrtGetDeviceUtilizationRate",
    "aclrtGetDevicesTopo",
    "aclrtGetRunMode",
    "aclrtGetSocName",
    "aclrtGetVersion",
    "aclrtQueryDeviceStatus",
    "aclrtSetTsDevice",
    "aclsysGetVersionNum",
    "aclsysGetVersionStr",
]


def aclrtGetRunMode() -> aclrtRunMode:
    """Where the program runs.

    Returns
    -------
    aclrtRunMode
        Always ``ACL_HOST``.

    Notes
    -----
    Needs no current context.

    Source: CANN runtime API reference, ``aclrtGetRunMode`` (ACL API version 1.17.0).
    """
    return _facts.run_mode()


def aclrtGetSocName() -> str | None:
    """Name of the chip that is emulated.

    Returns
    -------
    str or None
        Such as ``Ascend910B1``; None when ``ACLNN_PY_SOC`` names no chip.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetSocName`` (ACL API version 1.17.0).
    """
    return _facts.soc_name()


def aclrtGetVersion() -> tuple[int, int, int]:
    """Version of the API.

    Returns
    -------
    tuple of int
        Major, minor and patch.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetVersion`` (ACL API version 1.17.0).
    """
    return _facts.version()


def aclsysGetVersionStr(pkgName: str) -> str:
    """Version of an installed package.

    Parameters
    ----------
    pkgName : str
        Name of the package; "-" and "_" are the same.

    Returns
    -------
    str
        As ``version.info`` below ``ASCEND_HOME_PATH`` spells it.

    Raises
    ------
    AclError
        100003 when there is no such package; 500000 when its file holds no version.

    Notes
    -----
    Source: CANN runtime API reference, ``aclsysGetVersionStr`` (ACL API version 1.17.0).
    """
    return _facts.package_version(pkgName)


def aclsysGetVersionNum(pkgName: str) -> int:
    """Version of an installed package as a number.

    Parameters
    ----------
    pkgName : str
        Name of the package; "-" and "_" are the same.

    Returns
    -------
    int
        Major times 10^7, minor times 10^5 and patch times 10^3; before a release a little
        less.

    Raises
    ------
    AclError
        100003 when there is no such package; 500000 when its version cannot be read.

    Notes
    -----
    Source: CANN runtime API reference, ``aclsysGetVersionNum`` (ACL API version 1.17.0).
    """
    return _facts.package_number(pkgName)


def aclrtDeviceGetStreamPriorityRange() -> tuple[int, int]:
    """Least and greatest priority of a stream.

    Returns
    -------
    tuple of int
        7 and 0: the smaller the number, the more urgent.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtDeviceGetStreamPriorityRange`` (ACL API version
    1.17.0).
    """
    return _facts.priority_range()


def aclrtSetTsDevice(tsId: int) -> None:
    """Choose the task scheduler.

    Parameters
    ----------
    tsId : int
        0 for the AI core, 1 for the vector core.

    Raises
    ------
    AclError
        100000 for any other number.

    Notes
    -----
    Nothing depends on it here.

    Source: CANN runtime API reference, ``aclrtSetTsDevice`` (ACL API version 1.17.0).
    """
    _facts.set_ts_device(tsId)


def aclrtQueryDeviceStatus(deviceId: int) -> int:
    """State of a device.

    Parameters
    ----------
    deviceId : int
        Number of the device, from 0.

    Returns
    -------
    int
        0: it is well.

    Raises
    ------
    AclError
        107001 when there is no such device.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtQueryDeviceStatus`` (ACL API version 1.17.0).
    """
    return _facts.device_status(deviceId)


def aclrtGetDeviceUtilizationRate(deviceId: int) -> dict[str, int]:
    """How busy the cores of a device are.

    Parameters
    ----------
    deviceId : int
        Number of the device, from 0.

    Returns
    -------
    dict
        ``cubeUtilization``, ``vectorUtilization`` and ``aicpuUtilization`` [percent], which
        are 0: the CPU device has no such cores. ``memoryUtilization`` is always -1.

    Raises
    ------
    AclError
        107001 when there is no such device.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetDeviceUtilizationRate`` (ACL API version
    1.17.0).
    """
    return _facts.utilization(deviceId)


def aclrtGetDeviceInfo(deviceId: int, attr: aclrtDevAttr | int) -> int:
    """An attribute of a device.

    Parameters
    ----------
    deviceId : int
        Number of the device, from 0.
    attr : aclrtDevAttr or int
        What to ask for.

    Returns
    -------
    int
        Cores of any kind are the threads of the compute pool; sizes are in bytes.

    Raises
    ------
    AclError
        107001 when there is no such device; 207000 for an attribute that a processor does not
        have.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetDeviceInfo`` (ACL API version 1.17.0).
    """
    return _facts.device_info(deviceId, attr)


def aclGetDeviceCapability(deviceId: int, deviceInfo: aclDeviceInfo | int) -> int:
    """Cores or cache of a device.

    Parameters
    ----------
    deviceId : int
        Number of the device, from 0.
    deviceInfo : aclDeviceInfo or int
        What to ask for.

    Returns
    -------
    int
        Cores of any kind are the threads of the compute pool; sizes are in bytes.

    Raises
    ------
    AclError
        107001 when there is no such device; 100000 for another question.

    Notes
    -----
    Source: CANN runtime API reference, ``aclGetDeviceCapability`` (ACL API version 1.17.0).
    """
    return _facts.device_capability(deviceId, deviceInfo)


def aclGetCannAttributeList() -> list[int]:
    """The attributes that `aclGetCannAttribute` knows.

    Returns
    -------
    list of int
        Members of ``aclCannAttr``.

    Notes
    -----
    Source: CANN runtime API reference, ``aclGetCannAttributeList`` (ACL API version 1.17.0).
    """
    return _facts.cann_attributes()


def aclGetCannAttribute(cannAttr: aclCannAttr | int) -> int:
    """Whether the installation has a feature.

    Parameters
    ----------
    cannAttr : aclCannAttr or int
        The feature.

    Returns
    -------
    int
        1 or 0. INF_NAN is 1, since arithmetic here is IEEE's; BF16 as the chip has it;
        JIT_COMPILE is 0, since nothing is compiled while it runs.

    Raises
    ------
    AclError
        100000 for another attribute.

    Notes
    -----
    Source: CANN runtime API reference, ``aclGetCannAttribute`` (ACL API version 1.17.0).
    """
    return _facts.cann_attribute(cannAttr)


def aclrtDeviceCanAccessPeer(deviceId: int, peerDeviceId: int) -> int:
    """Whether a device can be given access to another one's memory.

    Parameters
    ----------
    deviceId : int
        Number of the device, from 0.
    peerDeviceId : int
        Number of the other device.

    Returns
    -------
    int
        1, between any two devices.

    Raises
    ------
    AclError
        100000 for one and the same device; 107001 when there is no such device.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtDeviceCanAccessPeer`` (ACL API version 1.17.0).
    """
    return int(_peer.can_access(deviceId, peerDeviceId))


def aclrtDeviceEnablePeerAccess(peerDeviceId: int, flags: int = 0) -> None:
    """Let copies by the current device reach another one's memory.

    Parameters
    ----------
    peerDeviceId : int
        Number of the other device.
    flags : int
        0.

    Raises
    ------
    AclError
        200006 for other flags; 100000 for the current device itself; 107001 when there is no
        such device; 107002 when the thread has no current context.

    Notes
    -----
    One direction: the other device needs a call of its own. Doing it twice does no harm.
    Without it a copy between devices is refused with 107000, except on the Ascend910_93
    profile.

    Source: CANN runtime API reference, ``aclrtDeviceEnablePeerAccess`` (ACL API version
    1.17.0).
    """
    _peer.enable(peerDeviceId, flags)


def aclrtDeviceDisablePeerAccess(peerDeviceId: int) -> None:
    """Undo `aclrtDeviceEnablePeerAccess`.

    Parameters
    ----------
    peerDeviceId : int
        Number of the other device.

    Raises
    ------
    AclError
        100000 for the current device itself; 107001 when there is no such device; 107002 when
        the thread has no current context.

    Notes
    -----
    No mistake where access was not enabled.

    Source: CANN runtime API reference, ``aclrtDeviceDisablePeerAccess`` (ACL API version
    1.17.0).
    """
    _peer.disable(peerDeviceId)


def aclrtDevicePeerAccessStatus(deviceId: int, peerDeviceId: int) -> int:
    """Whether a device reaches another one's memory now.

    Parameters
    ----------
    deviceId : int
        Number of the device, from 0.
    peerDeviceId : int
        Number of the other device.

    Returns
    -------
    int
        1 or 0.

    Raises
    ------
    AclError
        100000 for one and the same device; 107001 when there is no such device.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtDevicePeerAccessStatus`` (ACL API version
    1.17.0).
    """
    return int(_peer.is_enabled(deviceId, peerDeviceId))


def aclrtGetDevicesTopo(deviceId: int, otherDeviceId: int) -> int:
    """How two devices are linked.

    Parameters
    ----------
    deviceId : int
        Number of the device, from 0.
    otherDeviceId : int
        Number of the other device.

    Returns
    -------
    int
        1 (HCCS): the emulated devices share the machine's memory.

    Raises
    ------
    AclError
        100000 for one and the same device; 107001 when there is no such device.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetDevicesTopo`` (ACL API version 1.17.0).
    """
    return _peer.topology(deviceId, otherDeviceId)
