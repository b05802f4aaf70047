# SPDX-License-Identifier: Apache-2.0
"""C names of limits of cores, other numbers of devices, and overflow.

Examples
--------
>>> from aclnn_py.dialects.acl import *
>>> aclrtSetDevice(0)
>>> aclrtSetDeviceResLimit(0, aclrtDevResLimitType.ACL_RT_DEV_RES_CUBE_CORE, 8)
>>> aclrtGetResInCurrentThread(aclrtDevResLimitType.ACL_RT_DEV_RES_CUBE_CORE)
8
>>> aclrtResetDeviceResLimit(0)
>>> aclrtResetDevice(0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_runtime import core_limits as _limits
from aclnn_runtime.enums_device import aclrtFloatOverflowMode

if TYPE_CHECKING:
    from aclnn_runtime.enums_device import aclrtDevResLimitType
    from aclnn_runtime.stream import Stream

__all__ = [
    "aclrtDeviceGetBareTgid",
    "aclrtGetDeviceResLimit",
    "aclrtGetDeviceSatMode",
    "aclrtGetLogicDevIdByPhyDevId",
    "aclrtGetLogicDevIdByUserDevId",
    "aclrtGetPhyDevIdByLogicDevId",
    "aclrtGetPhyDevIdByUserDevId",
    "aclrtGetResInCurrentThread",
    "aclrtGetStreamResLimit",
    "aclrtGetUserDevIdByLogicDevId",
    "aclrtGetUserDevIdByPhyDevId",
    "aclrtResetDeviceResLimit",
    "aclrtResetStreamResLimit",
    "aclrtSetDeviceResLimit",
    "aclrtSetDeviceSatMode",
    "aclrtSetStreamResLimit",
    "aclrtUnuseStreamResInCurrentThread",
    "aclrtUseStreamResInCurrentThread",
]


def aclrtGetDeviceResLimit(deviceId: int, type: aclrtDevResLimitType | int) -> int:
    """Cores of a device that this process may use.

    Parameters
    ----------
    deviceId : int
        From 0 to one below the device count.
    type : aclrtDevResLimitType or int
        0 cube cores, 1 vector cores.

    Returns
    -------
    int
        The limit that was set, else the cores there are: threads of the compute pool.

    Raises
    ------
    AclError
        107001 for a device that does not exist; 107000 for another kind.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetDeviceResLimit`` (ACL API version 1.17.0).
    """
    return _limits.device_cores(deviceId, type)


def aclrtSetDeviceResLimit(deviceId: int, type: aclrtDevResLimitType | int, value: int) -> None:
    """Limit the cores of a device for this process.

    Parameters
    ----------
    deviceId : int
        From 0 to one below the device count.
    type : aclrtDevResLimitType or int
        0 cube cores, 1 vector cores.
    value : int
        At least 1.

    Raises
    ------
    AclError
        107001 for a device that does not exist; 107000 for another kind or a value of 0.

    Notes
    -----
    Kept and told again; it holds nothing back here, and results do not depend on it.

    Source: CANN runtime API reference, ``aclrtSetDeviceResLimit`` (ACL API version 1.17.0).
    """
    _limits.set_device_cores(deviceId, type, value)


def aclrtResetDeviceResLimit(deviceId: int) -> None:
    """Lift the limits of a device for this process.

    Parameters
    ----------
    deviceId : int
        From 0 to one below the device count.

    Raises
    ------
    AclError
        107001 for a device that does not exist.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtResetDeviceResLimit`` (ACL API version 1.17.0).
    """
    _limits.reset_device_cores(deviceId)


def aclrtGetStreamResLimit(stream: Stream | None, type: aclrtDevResLimitType | int) -> int:
    """Cores that work of a stream may use.

    Parameters
    ----------
    stream : Stream or None
        None is the default stream of the current context.
    type : aclrtDevResLimitType or int
        0 cube cores, 1 vector cores.

    Returns
    -------
    int
        Its own limit, else that of its device.

    Raises
    ------
    AclError
        107017 for a destroyed stream; 107002 without a current context; 107000 for another kind.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetStreamResLimit`` (ACL API version 1.17.0).
    """
    return _limits.stream_cores(stream, type)


def aclrtSetStreamResLimit(
    stream: Stream | None, type: aclrtDevResLimitType | int, value: int
) -> None:
    """Limit the cores for a stream.

    Parameters
    ----------
    stream : Stream or None
        None is the default stream of the current context.
    type : aclrtDevResLimitType or int
        0 cube cores, 1 vector cores.
    value : int
        At least 1.

    Raises
    ------
    AclError
        107017 for a destroyed stream; 107002 without a current context;
        107000 for another kind or a value of 0.

    Notes
    -----
    A thread goes by it after `aclrtUseStreamResInCurrentThread`. Holds nothing back here.

    Source: CANN runtime API reference, ``aclrtSetStreamResLimit`` (ACL API version 1.17.0).
    """
    _limits.set_stream_cores(stream, type, value)


def aclrtResetStreamResLimit(stream: Stream | None) -> None:
    """Lift the limits of a stream.

    Parameters
    ----------
    stream : Stream or None
        None is the default stream of the current context.

    Raises
    ------
    AclError
        107017 for a destroyed stream; 107002 without a current context.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtResetStreamResLimit`` (ACL API version 1.17.0).
    """
    _limits.reset_stream_cores(stream)


def aclrtUseStreamResInCurrentThread(stream: Stream | None) -> None:
    """Let the calling thread go by the limits of a stream; the last one counts.

    Parameters
    ----------
    stream : Stream or None
        None is the default stream of the current context.

    Raises
    ------
    AclError
        107017 for a destroyed stream; 107002 without a current context.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtUseStreamResInCurrentThread``
    (ACL API version 1.17.0).
    """
    _limits.use_stream_cores(stream)


def aclrtUnuseStreamResInCurrentThread(stream: Stream | None) -> None:
    """Let the calling thread go by the limits of its device again.

    Parameters
    ----------
    stream : Stream or None
        None is the default stream of the current context.

    Raises
    ------
    AclError
        107017 for a destroyed stream; 107002 without a current context.

    Notes
    -----
    Nothing happens when the thread goes by another stream's.

    Source: CANN runtime API reference, ``aclrtUnuseStreamResInCurrentThread``
    (ACL API version 1.17.0).
    """
    _limits.unuse_stream_cores(stream)


def aclrtGetResInCurrentThread(type: aclrtDevResLimitType | int) -> int:
    """Cores that the calling thread may use.

    Parameters
    ----------
    type : aclrtDevResLimitType or int
        0 cube cores, 1 vector cores.

    Returns
    -------
    int
        Of the stream it goes by, else of its device.

    Raises
    ------
    AclError
        107002 without a current context; 107000 for another kind.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetResInCurrentThread`` (ACL API version 1.17.0).
    """
    return _limits.thread_cores(type)


def aclrtGetLogicDevIdByUserDevId(userDevid: int) -> int:
    """Logical number of a device.

    Parameters
    ----------
    userDevid : int
        The number that the program knows the device by.

    Returns
    -------
    int
        The number that ``ASCEND_RT_VISIBLE_DEVICES`` knows it by.

    Raises
    ------
    AclError
        107001 for a device that does not exist, or is not visible.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetLogicDevIdByUserDevId`` (ACL API version 1.17.0).
    """
    return _limits.renumber(
        "aclrtGetLogicDevIdByUserDevId", "userDevid", userDevid, to_physical=True
    )


def aclrtGetUserDevIdByLogicDevId(logicDevId: int) -> int:
    """The program's number of a device.

    Parameters
    ----------
    logicDevId : int
        The number that ``ASCEND_RT_VISIBLE_DEVICES`` knows it by.

    Returns
    -------
    int
        The number that the program knows the device by.

    Raises
    ------
    AclError
        107001 for a device that does not exist, or is not visible.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetUserDevIdByLogicDevId`` (ACL API version 1.17.0).
    """
    return _limits.renumber(
        "aclrtGetUserDevIdByLogicDevId", "logicDevId", logicDevId, to_physical=False
    )


def aclrtGetLogicDevIdByPhyDevId(phyDevId: int) -> int:
    """The program's number of a device, by the physical one.

    Parameters
    ----------
    phyDevId : int
        The number of the device in the machine.

    Returns
    -------
    int
        The number that the program knows the device by.

    Raises
    ------
    AclError
        107001 for a device that does not exist, or is not visible.

    Notes
    -----
    The vendor documents that this one means the program's number where it says logical.

    Source: CANN runtime API reference, ``aclrtGetLogicDevIdByPhyDevId`` (ACL API version 1.17.0).
    """
    return _limits.renumber("aclrtGetLogicDevIdByPhyDevId", "phyDevId", phyDevId, to_physical=False)


def aclrtGetPhyDevIdByLogicDevId(logicDevId: int) -> int:
    """Physical number of a device, by the program's.

    Parameters
    ----------
    logicDevId : int
        The number that the program knows the device by.

    Returns
    -------
    int
        The number of the device in the machine.

    Raises
    ------
    AclError
        107001 for a device that does not exist, or is not visible.

    Notes
    -----
    The vendor documents that this one means the program's number where it says logical.

    Source: CANN runtime API reference, ``aclrtGetPhyDevIdByLogicDevId`` (ACL API version 1.17.0).
    """
    return _limits.renumber(
        "aclrtGetPhyDevIdByLogicDevId", "logicDevId", logicDevId, to_physical=True
    )


def aclrtGetUserDevIdByPhyDevId(phyDevId: int) -> int:
    """The program's number of a device, by the physical one.

    Parameters
    ----------
    phyDevId : int
        The number of the device in the machine.

    Returns
    -------
    int
        The number that the program knows the device by.

    Raises
    ------
    AclError
        107001 for a device that does not exist, or is not visible.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetUserDevIdByPhyDevId`` (ACL API version 1.17.0).
    """
    return _limits.renumber("aclrtGetUserDevIdByPhyDevId", "phyDevId", phyDevId, to_physical=False)


def aclrtGetPhyDevIdByUserDevId(userDevId: int) -> int:
    """Physical number of a device.

    Parameters
    ----------
    userDevId : int
        The number that the program knows the device by.

    Returns
    -------
    int
        The number of the device in the machine.

    Raises
    ------
    AclError
        107001 for a device that does not exist, or is not visible.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetPhyDevIdByUserDevId`` (ACL API version 1.17.0).
    """
    return _limits.renumber("aclrtGetPhyDevIdByUserDevId", "userDevId", userDevId, to_physical=True)


def aclrtDeviceGetBareTgid() -> int:
    """Number of this process.

    Returns
    -------
    int
        As the operating system gives it.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtDeviceGetBareTgid`` (ACL API version 1.17.0).
    """
    return _limits.process_id()


def aclrtGetDeviceSatMode() -> aclrtFloatOverflowMode:
    """What arithmetic gives where a result is too large.

    Returns
    -------
    aclrtFloatOverflowMode
        Always ``ACL_RT_OVERFLOW_MODE_INFNAN``.

    Raises
    ------
    AclError
        107002 without a current context.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetDeviceSatMode`` (ACL API version 1.17.0).
    """
    return aclrtFloatOverflowMode(_limits.overflow_mode())


def aclrtSetDeviceSatMode(mode: aclrtFloatOverflowMode | int) -> None:
    """Choose what arithmetic gives where a result is too large.

    Parameters
    ----------
    mode : aclrtFloatOverflowMode or int
        1, infinities and NaN.

    Raises
    ------
    AclError
        207000 for 0, saturation: arithmetic here is IEEE's. 107000 for another number;
        107002 without a current context.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtSetDeviceSatMode`` (ACL API version 1.17.0).
    """
    _limits.set_overflow_mode(mode)
