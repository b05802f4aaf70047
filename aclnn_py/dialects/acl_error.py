# SPDX-License-Identifier: Apache-2.0
"""C names of errors, exception callbacks and the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_runtime import exceptions as _exceptions

if TYPE_CHECKING:
    from collections.abc import Callable

    from aclnn_runtime.enums_device import aclrtErrorType
    from aclnn_runtime.exceptions import ExceptionInfo

__all__ = [
    "aclAppLog",
    "aclrtExceptionInfoCallbackRegister",
    "aclrtExceptionInfoCallbackUnregister",
    "aclrtGetDeviceIdFromExceptionInfo",
    "aclrtGetErrorCodeFromExceptionInfo",
    "aclrtGetErrorVerbose",
    "aclrtGetLastError",
    "aclrtGetMemUceInfo",
    "aclrtGetStreamIdFromExceptionInfo",
    "aclrtGetTaskIdFromExceptionInfo",
    "aclrtGetThreadIdFromExceptionInfo",
    "aclrtMemUceRepair",
    "aclrtPeekAtLastError",
    "aclrtRepairError",
    "aclrtSetExceptionInfoCallback",
]


def aclrtPeekAtLastError(level: int = 0) -> int:
    """The calling thread's latest failure of the runtime layer.

    Parameters
    ----------
    level : int
        0: the calling thread.

    Returns
    -------
    int
        Its status; 0 when there was none.

    Raises
    ------
    AclError
        100000 for another level.

    Notes
    -----
    Argument errors with 100000 and 207000 are not of the runtime layer. A task's failure is
    recorded where it surfaces.

    Source: CANN runtime API reference, ``aclrtPeekAtLastError`` (ACL API version 1.17.0).
    """
    return _exceptions.last_error(level, clear=False)


def aclrtGetLastError(level: int = 0) -> int:
    """As `aclrtPeekAtLastError`, and forgets it.

    Parameters
    ----------
    level : int
        0: the calling thread.

    Returns
    -------
    int
        Its status; 0 when there was none.

    Raises
    ------
    AclError
        100000 for another level.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetLastError`` (ACL API version 1.17.0).
    """
    return _exceptions.last_error(level, clear=True)


def aclrtSetExceptionInfoCallback(
    callback: Callable[[ExceptionInfo], object] | None,
) -> None:
    """Fill the process's one slot for a callback on failed tasks.

    Parameters
    ----------
    callback : callable or None
        Called with an `ExceptionInfo`, on the thread that ran the failed task. What it
        raises is logged. None empties the slot.

    Raises
    ------
    AclError
        100000 for something that cannot be called.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtSetExceptionInfoCallback`` (ACL API version
    1.17.0).
    """
    _exceptions.set_callback(callback)


def aclrtExceptionInfoCallbackRegister(callback: Callable[[ExceptionInfo], object]) -> None:
    """Add a callback on failed tasks.

    Parameters
    ----------
    callback : callable
        Called with an `ExceptionInfo`, on the thread that ran the failed task. What it
        raises is logged.

    Raises
    ------
    AclError
        107000 for None.

    Notes
    -----
    A function in the slot and in the list is called twice.

    Source: CANN runtime API reference, ``aclrtExceptionInfoCallbackRegister`` (ACL API
    version 1.17.0).
    """
    _exceptions.register(callback)


def aclrtExceptionInfoCallbackUnregister(
    callback: Callable[[ExceptionInfo], object],
) -> None:
    """Take a callback out again.

    Parameters
    ----------
    callback : callable
        What was registered; an unknown one is no mistake.

    Raises
    ------
    AclError
        107000 for None.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtExceptionInfoCallbackUnregister`` (ACL API
    version 1.17.0).
    """
    _exceptions.unregister(callback)


def aclrtGetTaskIdFromExceptionInfo(info: ExceptionInfo | None) -> int:
    """Which task of its stream failed.

    Parameters
    ----------
    info : ExceptionInfo or None
        What the callback was given.

    Returns
    -------
    int
        0xFFFFFFFF for None.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetTaskIdFromExceptionInfo`` (ACL API version
    1.17.0).
    """
    return _exceptions.value_of(info, "task_id")


def aclrtGetStreamIdFromExceptionInfo(info: ExceptionInfo | None) -> int:
    """On which stream a task failed.

    Parameters
    ----------
    info : ExceptionInfo or None
        What the callback was given.

    Returns
    -------
    int
        0xFFFFFFFF for None.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetStreamIdFromExceptionInfo`` (ACL API version
    1.17.0).
    """
    return _exceptions.value_of(info, "stream_id")


def aclrtGetThreadIdFromExceptionInfo(info: ExceptionInfo | None) -> int:
    """Which thread ran the failed task.

    Parameters
    ----------
    info : ExceptionInfo or None
        What the callback was given.

    Returns
    -------
    int
        0xFFFFFFFF for None.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetThreadIdFromExceptionInfo`` (ACL API version
    1.17.0).
    """
    return _exceptions.value_of(info, "thread_id")


def aclrtGetDeviceIdFromExceptionInfo(info: ExceptionInfo | None) -> int:
    """On which device a task failed.

    Parameters
    ----------
    info : ExceptionInfo or None
        What the callback was given.

    Returns
    -------
    int
        0xFFFFFFFF for None.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetDeviceIdFromExceptionInfo`` (ACL API version
    1.17.0).
    """
    return _exceptions.value_of(info, "device_id")


def aclrtGetErrorCodeFromExceptionInfo(info: ExceptionInfo | None) -> int:
    """The status of a failed task.

    Parameters
    ----------
    info : ExceptionInfo or None
        What the callback was given.

    Returns
    -------
    int
        0xFFFFFFFF for None.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetErrorCodeFromExceptionInfo`` (ACL API
    version 1.17.0).
    """
    return _exceptions.value_of(info, "error_code")


def aclrtGetErrorVerbose(deviceId: int) -> aclrtErrorType:
    """Sort of a device's last fault.

    Parameters
    ----------
    deviceId : int
        Number of the device, from 0.

    Returns
    -------
    aclrtErrorType
        ``ACL_RT_NO_ERROR`` when no task has failed since the device was set.

    Raises
    ------
    AclError
        107001 when there is no such device.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetErrorVerbose`` (ACL API version 1.17.0).
    """
    return _exceptions.error_verbose(deviceId)


def aclrtRepairError(*arguments: object) -> None:
    """Repair a fault of the hardware.

    Parameters
    ----------
    arguments : object
        Not looked at.

    Raises
    ------
    AclError
        207000, always: the CPU device has no such hardware.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtRepairError`` (ACL API version 1.17.0).
    """
    del arguments
    _exceptions.unsupported("aclrtRepairError")


def aclrtGetMemUceInfo(*arguments: object) -> None:
    """Ask for memory with uncorrectable errors.

    Parameters
    ----------
    arguments : object
        Not looked at.

    Raises
    ------
    AclError
        207000, always: the CPU device has no such hardware.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetMemUceInfo`` (ACL API version 1.17.0).
    """
    del arguments
    _exceptions.unsupported("aclrtGetMemUceInfo")


def aclrtMemUceRepair(*arguments: object) -> None:
    """Repair memory with uncorrectable errors.

    Parameters
    ----------
    arguments : object
        Not looked at.

    Raises
    ------
    AclError
        207000, always: the CPU device has no such hardware.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtMemUceRepair`` (ACL API version 1.17.0).
    """
    del arguments
    _exceptions.unsupported("aclrtMemUceRepair")


def aclAppLog(logLevel: int, func: str, file: str, line: int, fmt: str) -> None:
    """Write a line into the log, which is standard error.

    Parameters
    ----------
    logLevel : int
        0 debug, 1 info, 2 warning, 3 error.
    func, file : str
        Where it comes from.
    line : int
        The same.
    fmt : str
        The text, cut after 1023 bytes; format it before.

    Raises
    ------
    AclError
        100000 for another level.

    Notes
    -----
    ``ASCEND_GLOBAL_LOG_LEVEL`` says from which level on lines are shown; 3 unless it is set.

    Source: CANN runtime API reference, ``aclAppLog`` (ACL API version 1.17.0).
    """
    _exceptions.log(logLevel, func, file, line, fmt)
