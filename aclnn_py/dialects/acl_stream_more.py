# SPDX-License-Identifier: Apache-2.0
"""C names of streams beyond the everyday: configurations, timeouts, attributes, aborting.

Examples
--------
>>> from aclnn_py.dialects.acl import *
>>> aclrtSetDevice(0)
>>> stream = aclrtCreateStreamWithConfig(3, ACL_STREAM_FAST_LAUNCH)
>>> aclrtStreamGetPriority(stream)
3
>>> aclrtSynchronizeStreamWithTimeout(stream, 1000)
>>> aclrtDestroyStreamForce(stream)
>>> aclrtResetDevice(0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_runtime import stream as _stream
from aclnn_runtime import stream_config as _config
from aclnn_runtime.noun import handle_of
from aclnn_runtime.stream import Stream
from aclnn_runtime.stream_config import StreamConfig

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "aclrtActiveStream",
    "aclrtCreateStreamConfigHandle",
    "aclrtCreateStreamV2",
    "aclrtCreateStreamWithConfig",
    "aclrtDestroyStreamConfigHandle",
    "aclrtDestroyStreamForce",
    "aclrtGetStreamAttribute",
    "aclrtGetStreamAvailableNum",
    "aclrtGetStreamOverflowSwitch",
    "aclrtPersistentTaskClean",
    "aclrtRegStreamStateCallback",
    "aclrtSetStreamAttribute",
    "aclrtSetStreamConfigOpt",
    "aclrtSetStreamFailureMode",
    "aclrtSetStreamOverflowSwitch",
    "aclrtStreamAbort",
    "aclrtStreamGetFlags",
    "aclrtStreamGetId",
    "aclrtStreamGetPriority",
    "aclrtStreamStop",
    "aclrtSynchronizeDeviceWithTimeout",
    "aclrtSynchronizeStreamWithTimeout",
]


def aclrtCreateStreamWithConfig(priority: int, flag: int) -> Stream:
    """Make a stream with a priority and flags.

    Parameters
    ----------
    priority : int
        0, the highest, to 7; more counts as 7.
    flag : int
        ``ACL_STREAM_*`` bits; unknown ones are ignored.

    Returns
    -------
    Stream
        Priorities are kept and reported; every stream has a thread of its own.

    Raises
    ------
    AclError
        107002 when the thread has no current context; 207008 when there are too
        many streams.

    Notes
    -----
    Never blocks. Work for a ``ACL_STREAM_PERSISTENT`` stream is refused (107005):
    models built from such streams are not emulated; nor does the host use
    ``ACL_STREAM_DEVICE_USE_ONLY`` ones (207000).

    Source: CANN runtime API reference, ``aclrtCreateStreamWithConfig`` (ACL API version 1.17.0).
    """
    return _stream.create_stream(0, priority, flag, function="aclrtCreateStreamWithConfig")


def aclrtCreateStreamConfigHandle() -> StreamConfig:
    """Make an empty configuration for `aclrtCreateStreamV2`.

    Returns
    -------
    StreamConfig
        Priority 0, no flags.

    Raises
    ------
    AclError
        207001 without memory.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtCreateStreamConfigHandle`` (ACL API version 1.17.0).
    """
    return _config.create()


def aclrtSetStreamConfigOpt(handle: StreamConfig | None, attr: int, value: int) -> None:
    """Set one attribute of a configuration.

    Parameters
    ----------
    handle : StreamConfig
        The configuration.
    attr : int
        0 work address, 1 work size, 2 flags, 3 priority.
    value : int
        Its value; addresses and sizes of work areas are accepted and not needed
        here.

    Raises
    ------
    AclError
        100000 for None; 107000 for another attribute; 107017 for a destroyed
        configuration.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtSetStreamConfigOpt`` (ACL API version 1.17.0).
    """
    _config.set_option(handle, attr, value)


def aclrtCreateStreamV2(handle: StreamConfig | None) -> Stream:
    """Make a stream from a configuration.

    Parameters
    ----------
    handle : StreamConfig
        It may be used again.

    Returns
    -------
    Stream
        As `aclrtCreateStreamWithConfig`.

    Raises
    ------
    AclError
        100000 for None; 107002 when the thread has no current context; 107017 for a
        destroyed configuration; 207008 when there are too many streams.

    Notes
    -----
    Never blocks.

    Source: CANN runtime API reference, ``aclrtCreateStreamV2`` (ACL API version 1.17.0).
    """
    return _config.create_stream(handle)


def aclrtDestroyStreamConfigHandle(handle: StreamConfig | None) -> None:
    """Give a configuration back.

    Parameters
    ----------
    handle : StreamConfig
        Streams made from it stay.

    Raises
    ------
    AclError
        100000 for None; 107017 for one destroyed before.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtDestroyStreamConfigHandle`` (ACL API version 1.17.0).
    """
    _config.destroy(handle)


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


def aclrtStreamGetId(stream: Stream | None) -> int:
    """Number of a stream.

    Parameters
    ----------
    stream : Stream or None
        None is the default stream of the current context.

    Returns
    -------
    int
        Never that of another stream of the process.

    Raises
    ------
    AclError
        107002 without current context; 107003 for a stream of another context;
        107017 for a destroyed handle.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtStreamGetId`` (ACL API version 1.17.0).
    """
    handle = handle_of("aclrtStreamGetId", "stream", stream, Stream)
    return _stream.stream_facts(0, handle, "aclrtStreamGetId")[0]


def aclrtStreamGetPriority(stream: Stream | None) -> int:
    """Priority of a stream.

    Parameters
    ----------
    stream : Stream or None
        None is the default stream of the current context.

    Returns
    -------
    int
        0, the highest, to 7.

    Raises
    ------
    AclError
        107002 without current context; 107003 for a stream of another context;
        107017 for a destroyed handle.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtStreamGetPriority`` (ACL API version 1.17.0).
    """
    handle = handle_of("aclrtStreamGetPriority", "stream", stream, Stream)
    return _stream.stream_facts(0, handle, "aclrtStreamGetPriority")[1]


def aclrtStreamGetFlags(stream: Stream | None) -> int:
    """Flags that a stream was made with.

    Parameters
    ----------
    stream : Stream or None
        None is the default stream of the current context.

    Returns
    -------
    int
        ``ACL_STREAM_*`` bits.

    Raises
    ------
    AclError
        107002 without current context; 107003 for a stream of another context;
        107017 for a destroyed handle.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtStreamGetFlags`` (ACL API version 1.17.0).
    """
    handle = handle_of("aclrtStreamGetFlags", "stream", stream, Stream)
    return _stream.stream_facts(0, handle, "aclrtStreamGetFlags")[2]


def aclrtGetStreamAvailableNum() -> int:
    """How many more streams the current device has.

    Returns
    -------
    int
        The limit of the SoC profile without those in use, default streams included.

    Raises
    ------
    AclError
        107002 without current context.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetStreamAvailableNum`` (ACL API version 1.17.0).
    """
    return _config.available()


def aclrtSetStreamAttribute(stream: Stream | None, stmAttrType: int, value: int) -> None:
    """Set an attribute of a stream.

    Parameters
    ----------
    stream : Stream
        A stream of the current context.
    stmAttrType : int
        1 failure mode, 2 float overflow check, 3 user tag, 4 cache of operator
        information, 5 priority.
    value : int
        Its value.

    Raises
    ------
    AclError
        100000 for None; 107000 for another attribute or value; 207000 for a failure
        mode that cannot be taken back; 107002 without current context; 107003 for a
        stream of another context; 107017 for a destroyed handle.

    Notes
    -----
    Overflow check, tag and cache are kept and have no effect.

    Source: CANN runtime API reference, ``aclrtSetStreamAttribute`` (ACL API version 1.17.0).
    """
    _config.set_attribute("aclrtSetStreamAttribute", stream, stmAttrType, value)


def aclrtGetStreamAttribute(stream: Stream | None, stmAttrType: int) -> int:
    """Value of an attribute of a stream.

    Parameters
    ----------
    stream : Stream
        A stream of the current context.
    stmAttrType : int
        As `aclrtSetStreamAttribute`.

    Returns
    -------
    int
        Its value; 0 unless it was set.

    Raises
    ------
    AclError
        100000 for None; 107000 for another attribute; 107002 without current
        context; 107003 for a stream of another context; 107017 for a destroyed
        handle.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetStreamAttribute`` (ACL API version 1.17.0).
    """
    return _config.get_attribute("aclrtGetStreamAttribute", stream, stmAttrType)


def aclrtSetStreamFailureMode(stream: Stream | None, mode: int) -> None:
    """Say what happens to the context when a task of the stream fails.

    Parameters
    ----------
    stream : Stream
        A stream of the current context.
    mode : int
        0 continue, 1 stop on failure.

    Raises
    ------
    AclError
        100000 for None; 107000 for another mode; 207000 for going back from 1 to 0,
        and for a stream that is persistent or for the device only; 107002 without
        current context; 107003 for a stream of another context; 107017 for a
        destroyed handle.

    Notes
    -----
    With 1, the first failed task stops every stream of the context for good: queued
    tasks are dropped, new ones are refused, and every synchronise and query returns the
    failure.

    Source: CANN runtime API reference, ``aclrtSetStreamFailureMode`` (ACL API version 1.17.0).
    """
    _config.set_attribute("aclrtSetStreamFailureMode", stream, 1, mode)


def aclrtSetStreamOverflowSwitch(stream: Stream | None, flag: int) -> None:
    """Switch the check for float overflow.

    Parameters
    ----------
    stream : Stream
        A stream of the current context.
    flag : int
        0 or 1; kept, without effect.

    Raises
    ------
    AclError
        100000 for None; 107000 for another flag; 107002 without current context;
        107003 for a stream of another context; 107017 for a destroyed handle.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtSetStreamOverflowSwitch`` (ACL API version 1.17.0).
    """
    _config.set_attribute("aclrtSetStreamOverflowSwitch", stream, 2, flag)


def aclrtGetStreamOverflowSwitch(stream: Stream | None) -> int:
    """State of the check for float overflow.

    Parameters
    ----------
    stream : Stream
        A stream of the current context.

    Returns
    -------
    int
        0 or 1.

    Raises
    ------
    AclError
        100000 for None; 107002 without current context; 107003 for a stream of
        another context; 107017 for a destroyed handle.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetStreamOverflowSwitch`` (ACL API version 1.17.0).
    """
    return _config.get_attribute("aclrtGetStreamOverflowSwitch", stream, 2)


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
    """Drop the tasks of a persistent stream; refused, as models of such streams are not emulated.

    Parameters
    ----------
    stream : Stream
        A stream of the current context.

    Raises
    ------
    AclError
        100000 for None; 107005 for every stream; 107002 without current context;
        107003 for a stream of another context; 107017 for a destroyed handle.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtPersistentTaskClean`` (ACL API version 1.17.0).
    """
    _config.refuse_model_only("aclrtPersistentTaskClean", stream)


def aclrtActiveStream(activeStream: Stream | None, stream: Stream | None) -> None:
    """Activate a stream of a model; refused, as models of such streams are not emulated.

    Parameters
    ----------
    activeStream : Stream
        The stream to activate.
    stream : Stream
        The stream that does it.

    Raises
    ------
    AclError
        100000 for None; 107005 for every stream; 107002 without current context;
        107003 for a stream of another context; 107017 for a destroyed handle.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtActiveStream`` (ACL API version 1.17.0).
    """
    _config.refuse_model_only("aclrtActiveStream", activeStream, "activeStream")
    _config.refuse_model_only("aclrtActiveStream", stream)
