# SPDX-License-Identifier: Apache-2.0
"""C names of events.

Examples
--------
>>> from aclnn_py.dialects.acl import *
>>> aclrtSetDevice(0)
>>> stream, start, end = aclrtCreateStream(), aclrtCreateEvent(), aclrtCreateEvent()
>>> aclrtRecordEvent(start, stream)
>>> aclrtRecordEvent(end, stream)
>>> aclrtSynchronizeEvent(end)
>>> aclrtEventElapsedTime(start, end) >= 0
True
>>> aclrtDestroyStream(stream)
>>> aclrtResetDevice(0)
"""

from __future__ import annotations

from aclnn_runtime import event as _event
from aclnn_runtime import stream as _stream
from aclnn_runtime.enums import aclrtEventRecordedStatus
from aclnn_runtime.event import Event
from aclnn_runtime.noun import handle_of
from aclnn_runtime.stream import Stream

__all__ = [
    "aclrtCreateEvent",
    "aclrtCreateEventExWithFlag",
    "aclrtCreateEventWithFlag",
    "aclrtDestroyEvent",
    "aclrtEventElapsedTime",
    "aclrtQueryEventStatus",
    "aclrtRecordEvent",
    "aclrtStreamWaitEvent",
    "aclrtSynchronizeEvent",
]


def aclrtCreateEvent() -> Event:
    """Make an event that keeps time and can be waited for once it is recorded.

    Returns
    -------
    Event
        Not recorded yet.

    Raises
    ------
    AclError
        107002 when the thread has no current context.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtCreateEvent`` (ACL API version 1.17.0).
    """
    return _event.create_plain(0)


def aclrtCreateEventWithFlag(flag: int) -> Event:
    """Make an event whose waits may be queued before it is recorded.

    Parameters
    ----------
    flag : int
        ``ACL_EVENT_*`` bits; ``ACL_EVENT_SYNC`` to be waited for by streams,
        ``ACL_EVENT_TIME_LINE`` to keep time.

    Returns
    -------
    Event
        Works like a manual-reset flag: a wait lasts until any later record.

    Raises
    ------
    AclError
        107000 for 0, unknown bits or a forbidden combination; 107002 when the thread has no
        current context.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtCreateEventWithFlag`` (ACL API version 1.17.0).
    """
    return _event.create_with_flag(0, flag)


def aclrtCreateEventExWithFlag(flag: int) -> Event:
    """Make an event that takes a new snapshot at each record; waits before the first are no-ops.

    Parameters
    ----------
    flag : int
        ``ACL_EVENT_*`` bits.

    Returns
    -------
    Event
        Complete as long as it has not been recorded.

    Raises
    ------
    AclError
        107000 for 0, unknown bits or a forbidden combination; 107002 when the thread has no
        current context.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtCreateEventExWithFlag`` (ACL API version 1.17.0).
    """
    return _event.create_ex_with_flag(0, flag)


def aclrtDestroyEvent(event: Event | None) -> None:
    """Give an event back.

    Parameters
    ----------
    event : Event
        It may still be queued somewhere.

    Raises
    ------
    AclError
        100000 for None; 107017 for one destroyed before.

    Notes
    -----
    Never blocks; needs no current context.

    Source: CANN runtime API reference, ``aclrtDestroyEvent`` (ACL API version 1.17.0).
    """
    _event.destroy_event(event)


def aclrtRecordEvent(event: Event | None, stream: Stream | None) -> None:
    """Record an event behind everything queued in a stream.

    Parameters
    ----------
    event : Event
        Recording it again moves it.
    stream : Stream or None
        None is the default stream of the current context.

    Raises
    ------
    AclError
        100000 for None as event; 107002 without current context; 107003 for a stream of another
        context; 107017 for a destroyed event or stream.

    Notes
    -----
    Never blocks.

    Source: CANN runtime API reference, ``aclrtRecordEvent`` (ACL API version 1.17.0).
    """
    function = "aclrtRecordEvent"
    handle = handle_of(function, "event", event, Event)
    _stream.record_event(0, handle, handle_of(function, "stream", stream, Stream))


def aclrtStreamWaitEvent(stream: Stream | None, event: Event | None) -> None:
    """Let later work of a stream wait until an event is done.

    Parameters
    ----------
    stream : Stream or None
        The stream that waits; None is the default stream of the current context.
    event : Event
        Recorded on any stream.

    Raises
    ------
    AclError
        100000 for None as event; 107000 for an `aclrtCreateEvent` event that was never recorded;
        207000 for an event without a bit that allows waiting; 107002 without current context;
        107003 for a stream of another context; 107017 for a destroyed event or stream.

    Notes
    -----
    Never blocks: the stream waits, the program does not.

    Source: CANN runtime API reference, ``aclrtStreamWaitEvent`` (ACL API version 1.17.0).
    """
    function = "aclrtStreamWaitEvent"
    handle = handle_of(function, "stream", stream, Stream)
    _stream.wait_event(0, handle, handle_of(function, "event", event, Event))


def aclrtSynchronizeEvent(event: Event | None) -> None:
    """Wait until the work recorded last has been done; at once if nothing was recorded.

    Parameters
    ----------
    event : Event
        The event.

    Raises
    ------
    AclError
        100000 for None; 107017 for a destroyed one.

    Notes
    -----
    Blocks, without the GIL; needs no current context.

    Source: CANN runtime API reference, ``aclrtSynchronizeEvent`` (ACL API version 1.17.0).
    """
    _event.synchronize_event(handle_of("aclrtSynchronizeEvent", "event", event, Event))


def aclrtQueryEventStatus(event: Event | None) -> aclrtEventRecordedStatus:
    """Whether the work recorded last has been done.

    Parameters
    ----------
    event : Event
        The event.

    Returns
    -------
    aclrtEventRecordedStatus
        ``ACL_EVENT_RECORDED_STATUS_NOT_READY`` (0) or ``ACL_EVENT_RECORDED_STATUS_COMPLETE`` (1).

    Raises
    ------
    AclError
        100000 for None; 107017 for a destroyed one.

    Notes
    -----
    Never blocks. Before the first record it is 0, but 1 for an `aclrtCreateEventExWithFlag` event.

    Source: CANN runtime API reference, ``aclrtQueryEventStatus`` (ACL API version 1.17.0).
    """
    handle = handle_of("aclrtQueryEventStatus", "event", event, Event)
    return aclrtEventRecordedStatus(_event.query_event(handle))


def aclrtEventElapsedTime(startEvent: Event | None, endEvent: Event | None) -> float:
    """Time between two events.

    Parameters
    ----------
    startEvent, endEvent : Event
        Both recorded and done.

    Returns
    -------
    float
        Time from the first to the second [ms]; negative if the second came first.

    Raises
    ------
    AclError
        507000 if one was never recorded; 107006 if one is not done or keeps no time; 100000 for
        None; 107017 for a destroyed one.

    Notes
    -----
    Never blocks; synchronise `endEvent` first.

    Source: CANN runtime API reference, ``aclrtEventElapsedTime`` (ACL API version 1.17.0).
    """
    function = "aclrtEventElapsedTime"
    start = handle_of(function, "startEvent", startEvent, Event)
    return _event.elapsed_ms(start, handle_of(function, "endEvent", endEvent, Event))
