# SPDX-License-Identifier: Apache-2.0
"""C names of initialisation, devices and contexts.

A non-zero status is raised as `AclError`; an out-parameter is returned bare.

Examples
--------
>>> from aclnn_py.dialects.acl import *
>>> aclInit()
>>> aclrtSetDevice(0)
>>> aclrtGetDevice()
0
>>> aclrtResetDevice(0)
>>> aclFinalize()
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_runtime import context as _context
from aclnn_runtime import device as _device
from aclnn_runtime import facts as _facts
from aclnn_runtime import lifecycle as _lifecycle

if TYPE_CHECKING:
    from os import PathLike

    from aclnn_runtime.context import Context

__all__ = [
    "aclFinalize",
    "aclFinalizeReference",
    "aclGetRecentErrMsg",
    "aclInit",
    "aclnnFinalize",
    "aclnnInit",
    "aclrtCreateContext",
    "aclrtDestroyContext",
    "aclrtGetCurrentContext",
    "aclrtGetDevice",
    "aclrtGetDeviceCount",
    "aclrtGetPrimaryCtxState",
    "aclrtResetDevice",
    "aclrtResetDeviceForce",
    "aclrtSetCurrentContext",
    "aclrtSetDevice",
    "aclrtSynchronizeDevice",
]


def aclInit(configPath: str | bytes | PathLike[str] | None = None) -> None:
    """Initialise the process.

    Parameters
    ----------
    configPath : str, bytes or os.PathLike, optional
        A JSON file with settings; None or an empty path for none.

    Raises
    ------
    AclError
        100002 when already initialised: the call counts nevertheless, and programs may go on.
        100000 when the settings differ from those of the process's first call. 100003 when the
        file cannot be read, 100006 when it is not JSON, 100008 or 107001 when its
        ``defaultDevice.default_device`` is no number or no device. 500000 when ``ACLNN_PY_SOC``
        names no chip.

    Notes
    -----
    Never blocks. No other call of the runtime checks that this one was made. With a default device
    in the settings, a thread without a current context sets that device implicitly.

    Source: CANN runtime API reference, ``aclInit`` (ACL API version 1.17.0).
    """
    _lifecycle.init(configPath)


def aclFinalize() -> None:
    """Undo every `aclInit` at once, whatever their number.

    Raises
    ------
    AclError
        100037 when it was called before and nothing was initialised since.

    Notes
    -----
    Source: CANN runtime API reference, ``aclFinalize`` (ACL API version 1.17.0).
    """
    _lifecycle.finalize()


def aclFinalizeReference() -> int:
    """Undo one `aclInit`; the last one finalises.

    Returns
    -------
    int
        How many are left.

    Raises
    ------
    AclError
        100037 when none is left to undo.

    Notes
    -----
    Source: CANN runtime API reference, ``aclFinalizeReference`` (ACL API version 1.17.0).
    """
    return _lifecycle.finalize_reference()


def aclnnInit(configPath: str | bytes | PathLike[str] | None = None) -> None:
    """Initialise the operator library; needs no counterpart and may be left out.

    Parameters
    ----------
    configPath : str, bytes or os.PathLike, optional
        A JSON file with dump settings; accepted and not read.

    Raises
    ------
    AclnnError
        100000 for something that is no path.

    Notes
    -----
    Source: CANN operator library reference, ``aclnnInit``.
    """
    _lifecycle.nn_init(configPath)


def aclnnFinalize() -> None:
    """Finalise the operator library; may be left out.

    Notes
    -----
    Source: CANN operator library reference, ``aclnnFinalize``.
    """
    _lifecycle.nn_finalize()


def aclGetRecentErrMsg() -> str | None:
    """Texts of the calling thread's errors since the last such call, newest first.

    Returns
    -------
    str or None
        The texts, which are forgotten with this call; None when there are none.

    Notes
    -----
    Source: CANN runtime API reference, ``aclGetRecentErrMsg`` (ACL API version 1.17.0).
    """
    return _lifecycle.recent_message()


def aclrtSetDevice(deviceId: int) -> None:
    """Make a device's primary context current for the calling thread.

    Parameters
    ----------
    deviceId : int
        Number of the device, from 0.

    Raises
    ------
    AclError
        107001 when there is no such device.

    Notes
    -----
    Never blocks. Calls are counted; each wants its `aclrtResetDevice`. Other threads keep their
    own current context, and new ones have none.

    Source: CANN runtime API reference, ``aclrtSetDevice`` (ACL API version 1.17.0).
    """
    _device.set_device(deviceId)


def aclrtResetDevice(deviceId: int) -> None:
    """Undo one `aclrtSetDevice`; the last one releases the primary context and its streams.

    Parameters
    ----------
    deviceId : int
        Number of the device.

    Raises
    ------
    AclError
        507007 when the device was not set or has been released; 107001 when there is none.

    Notes
    -----
    The last one blocks until the streams have run what is queued.

    Source: CANN runtime API reference, ``aclrtResetDevice`` (ACL API version 1.17.0).
    """
    _device.reset_device(deviceId)


def aclrtResetDeviceForce(deviceId: int) -> None:
    """Undo every `aclrtSetDevice` of a device at once.

    Parameters
    ----------
    deviceId : int
        Number of the device.

    Raises
    ------
    AclError
        507007 when the device was not set or has been released; 107001 when there is none.

    Notes
    -----
    Blocks until the streams have run what is queued.

    Source: CANN runtime API reference, ``aclrtResetDeviceForce`` (ACL API version 1.17.0).
    """
    _device.reset_device_force(deviceId)


def aclrtGetPrimaryCtxState(deviceId: int, flags: int | None = None) -> int:
    """Whether some `aclrtSetDevice` holds a device's primary context.

    Parameters
    ----------
    deviceId : int
        Number of the device.
    flags : None
        Reserved.

    Returns
    -------
    int
        1 or 0.

    Raises
    ------
    AclError
        100000 for flags; 107001 when there is no such device.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetPrimaryCtxState`` (ACL API version 1.17.0).
    """
    return int(_facts.primary_state(deviceId, flags))


def aclrtGetDevice() -> int:
    """Device of the calling thread's current context.

    Returns
    -------
    int
        Number of the device.

    Raises
    ------
    AclError
        107002 when the thread has no current context.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetDevice`` (ACL API version 1.17.0).
    """
    return _device.get_device()


def aclrtGetDeviceCount() -> int:
    """Number of devices.

    Returns
    -------
    int
        At least 1; ``ASCEND_RT_VISIBLE_DEVICES`` may hide some.

    Raises
    ------
    AclError
        207004 when ``ASCEND_RT_VISIBLE_DEVICES`` is malformed or leaves none.

    Notes
    -----
    Needs no current context.

    Source: CANN runtime API reference, ``aclrtGetDeviceCount`` (ACL API version 1.17.0).
    """
    return _device.device_count()


def aclrtSynchronizeDevice() -> None:
    """Wait for all streams of the calling thread's current context.

    Raises
    ------
    AclError
        107002 when the thread has no current context; the status of a task that failed.

    Notes
    -----
    Blocks, without the GIL. Streams of the device's other contexts are not waited for.

    Source: CANN runtime API reference, ``aclrtSynchronizeDevice`` (ACL API version 1.17.0).
    """
    _device.synchronize_current()


def aclrtCreateContext(deviceId: int) -> Context:
    """Make a context, which becomes current for the calling thread.

    Parameters
    ----------
    deviceId : int
        Number of the device; it need not have been set.

    Returns
    -------
    Context
        With a default stream of its own. It lives until `aclrtDestroyContext`.

    Raises
    ------
    AclError
        107001 when there is no such device.

    Notes
    -----
    Never blocks.

    Source: CANN runtime API reference, ``aclrtCreateContext`` (ACL API version 1.17.0).
    """
    return _context.create_context(deviceId)


def aclrtDestroyContext(context: Context | None) -> None:
    """Destroy a context made by `aclrtCreateContext`, with its streams.

    Parameters
    ----------
    context : Context
        Where it is current for a thread, that thread has no context afterwards.

    Raises
    ------
    AclError
        100000 for None; 107002 for a device's primary context or one destroyed before.

    Notes
    -----
    Blocks until the streams have run what is queued.

    Source: CANN runtime API reference, ``aclrtDestroyContext`` (ACL API version 1.17.0).
    """
    _context.destroy_context(context)


def aclrtSetCurrentContext(context: Context | None) -> None:
    """Make a context current for the calling thread.

    Parameters
    ----------
    context : Context
        Any context, also one made by another thread.

    Raises
    ------
    AclError
        100000 for None; 107000 for a destroyed one.

    Notes
    -----
    Never blocks.

    Source: CANN runtime API reference, ``aclrtSetCurrentContext`` (ACL API version 1.17.0).
    """
    _context.set_current_context(context)


def aclrtGetCurrentContext() -> Context:
    """The context that the calling thread works under.

    Returns
    -------
    Context
        Equal to the object that `aclrtCreateContext` returned, or the primary context.

    Raises
    ------
    AclError
        107002 when there is none.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetCurrentContext`` (ACL API version 1.17.0).
    """
    return _context.current_context()
