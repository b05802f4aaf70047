# SPDX-License-Identifier: Apache-2.0
"""C names of waiting with a limit, of aborting, and of streams that belong to models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_runtime import stream as _stream
from aclnn_runtime import stream_config as _config
from aclnn_runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "aclrtDestroyStreamForce",
    "aclrtPersistentTaskClean",
    "aclrtRegStreamStateCallback",
    "aclrtStreamAbort",
    "aclrtStreamStop",
    "aclrtSynchronizeDeviceWithTimeout",
    "aclrtSynchronizeStreamWithTimeout",
]


def aclrtDestroyStreamForce(stream: Stream | None) -> None:
    """Destroy a stream without waiting for it; what has not begun is dropped.

    Parameters
    ----------
    stream : Stream
        A stream of the current context.

    Raises
    ------
    AclError
        100000 for None; 107000 for the default stream; 107027 while it is being
        captured; 107002 without current context; 107003 for a stream of another
        context; 107017 for a destroyed handle.

    Notes
    -----
    Never blocks. Streams and programs that wait for a record which was dropped get
    107023 instead of waiting for ever.

    Source: CANN runtime API reference, ``aclrtDestroyStreamForce`` (ACL API version 1.17.0).
    """
    _stream.destroy_stream(stream, force=True)


def aclrtSynchronizeStreamWithTimeout(stream: Stream | None, timeout: int) -> None:
    """Wait until a stream has run everything queued so far, but not longer than that.

    Parameters
    ----------
    stream : Stream or None
        A stream of any context; None is the default stream of the current one.
    timeout : int
        The longest to wait [ms]; -1 for ever.

    Raises
    ------
    AclError
        107000 for a timeout of 0 or below -1; 507046 when the time is over; 107027
        while it is being captured; the status of a failed task; 107002 for None
        without current context; 107017 for a destroyed stream.

    Notes
    -----
    Blocks, without the GIL.

    Source: CANN runtime API reference, ``aclrtSynchronizeStreamWithTimeout``
    (ACL API version 1.17.0).
    """
    _config.synchronize_with_timeout(stream, timeout)


def aclrtSynchronizeDeviceWithTimeout(timeout: int) -> None:
    """Wait for all streams of the current context, for each not longer than until then.

    Parameters
    ----------
    timeout : int
        The longest to wait [ms]; -1 for ever.

    Raises
    ------
    AclError
        107000 for a timeout of 0 or below -1; 507046 when the time is over; 107027
        while a stream of the context is being captured; 107002 without current
        context.

    Notes
    -----
    Blocks, without the GIL.

    Source: CANN runtime API reference, ``aclrtSynchronizeDeviceWithTimeout``
    (ACL API version 1.17.0).
    """
    _config.synchronize_device_with_timeout(timeout)


def aclrtStreamAbort(stream: Stream | None) -> None:
    """Drop what is queued in a stream and end a wait that is going on.

    Parameters
    ----------
    stream : Stream or None
        None is the default stream of the current context.

    Raises
    ------
    AclError
        107027 while it is being captured; 107002 without current context; 107003
        for a stream of another context; 107017 for a destroyed handle.

    Notes
    -----
    Never blocks; a task that runs ends by itself. Synchronise calls on the stream
    return 107023, those under way and the next one; after that it is usable again. Who
    waits for a dropped record fails with 107023.

    Source: CANN runtime API reference, ``aclrtStreamAbort`` (ACL API version 1.17.0).
    """
    _config.abort(stream)


def aclrtStreamStop(stream: Stream | None) -> None:
    """End the wait that is a stream's running task; what follows runs.

    Parameters
    ----------
    stream : Stream
        A stream of the current context.

    Raises
    ------
    AclError
        107000 for None; 107002 without current context; 107003 for a stream of
        another context; 107017 for a destroyed handle.

    Notes
    -----
    Never blocks; a task that computes ends by itself.

    Source: CANN runtime API reference, ``aclrtStreamStop`` (ACL API version 1.17.0).
    """
    _config.stop(stream)


def aclrtRegStreamStateCallback(
    regName: str, callback: Callable[[Stream, int], object] | None
) -> None:
    """Hear of streams that come and go.

    Parameters
    ----------
    regName : str
        Name of the registration, 1 to 63 bytes.
    callback : Callable[[Stream, int], object] or None
        Called with the stream and 1 after it was made, 2 before it is destroyed;
        None ends the registration. An exception in it is printed, not raised.

    Raises
    ------
    AclError
        100000 for another name or callback; 107000 for a name that is registered
        already.

    Notes
    -----
    Default streams count too.

    Source: CANN runtime API reference, ``aclrtRegStreamStateCallback`` (ACL API version 1.17.0).
    """
    _config.listen(regName, callback)


def aclrtPersistentTaskClean(stream: Stream | None) -> None:
    """Drop the tasks of a persistent stream; refused: a model is built anew instead.

    Parameters
    ----------
    stream : Stream
        A stream of the current context.

    Raises
    ------
    AclError
        100000 for None; 107005 for a stream that is bound to no
        model; 207000 for a bound one; 107002 without current context;
        107003 for a stream of another context; 107017 for a destroyed handle.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtPersistentTaskClean`` (ACL API version 1.17.0).
    """
    _config.refuse_model_only("aclrtPersistentTaskClean", stream)
