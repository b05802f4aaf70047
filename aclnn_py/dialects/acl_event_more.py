# SPDX-License-Identifier: Apache-2.0
"""C names of events beyond the everyday: reset, timeouts, questions, timestamps.

Examples
--------
>>> from aclnn_py.dialects.acl import *
>>> aclrtSetDevice(0)
>>> stream, event = aclrtCreateStream(), aclrtCreateEventWithFlag(ACL_EVENT_SYNC)
>>> aclrtStreamWaitEventWithTimeout(stream, event, 10)
>>> aclrtQueryEventWaitStatus(event).name
'ACL_EVENT_WAIT_STATUS_NOT_READY'
>>> aclrtRecordEvent(event, None)
>>> aclrtSynchronizeStream(stream)
>>> aclrtQueryEventWaitStatus(event).name
'ACL_EVENT_WAIT_STATUS_COMPLETE'
>>> aclrtDestroyStream(stream)
>>> aclrtResetDevice(0)
"""

from __future__ import annotations

from aclnn_runtime import event_more as _event
from aclnn_runtime.enums_order import aclrtEventStatus, aclrtEventWaitStatus
from aclnn_runtime.event import Event
from aclnn_runtime.stream import Stream

__all__ = [
    "aclrtEventGetTimestamp",
    "aclrtGetEventAvailNum",
    "aclrtGetEventId",
    "aclrtIpcGetEventHandle",
    "aclrtQueryEvent",
    "aclrtQueryEventWaitStatus",
    "aclrtRecordEventWithFlag",
    "aclrtResetEvent",
    "aclrtSetOpWaitTimeout",
    "aclrtStreamWaitEventWithFlag",
    "aclrtStreamWaitEventWithTimeout",
    "aclrtSynchronizeEventWithTimeout",
]


def aclrtResetEvent(event: Event | None, stream: Stream | None) -> None:
    """Clear the flag of an `aclrtCreateEventWithFlag` event, in stream order.

    Parameters
    ----------
    event : Event
        The event.
    stream : Stream or None
        None is the default stream of the current context.

    Raises
    ------
    AclError
        100000 for None as event; 207000 for an `aclrtCreateEventExWithFlag` event,
        and for any but an external one inside a capture; 107002 without current
        context; 107003 for a stream of another context; 107017 for a destroyed
        handle.

    Notes
    -----
    Never blocks. Put it behind the wait; other waiters lose the flag too.

    Source: CANN runtime API reference, ``aclrtResetEvent`` (ACL API version 1.17.0).
    """
    _event.reset(event, stream)


def aclrtRecordEventWithFlag(event: Event | None, stream: Stream | None, flag: int) -> None:
    """Record an event, possibly from inside a graph for streams outside of it.

    Parameters
    ----------
    event : Event
        The event.
    stream : Stream or None
        None is the default stream of the current context.
    flag : int
        0 as `aclrtRecordEvent`; 1 external: every replay of the graph records the
        event itself.

    Raises
    ------
    AclError
        107000 for another flag, or another one than before; 107029 for flag 1 on a
        stream that is not captured; 207000 for flag 1 with an event other than
        `aclrtCreateEventExWithFlag`'s with ``ACL_EVENT_SYNC``; 107002 without
        current context; 107003 for a stream of another context; 107017 for a
        destroyed handle.

    Notes
    -----
    Never blocks.

    Source: CANN runtime API reference, ``aclrtRecordEventWithFlag`` (ACL API version 1.17.0).
    """
    _event.record_with_flag(event, stream, flag)


def aclrtStreamWaitEventWithTimeout(
    stream: Stream | None, event: Event | None, timeout: int
) -> None:
    """Let later work of a stream wait until an event is done, but not longer than that.

    Parameters
    ----------
    stream : Stream or None
        None is the default stream of the current context.
    event : Event
        The event.
    timeout : int
        The longest to wait [s]; 0 for ever.

    Raises
    ------
    AclError
        As `aclrtStreamWaitEvent`, and 107000 for a negative timeout. A wait in vain
        is 107019 at the stream's next synchronise; what follows it runs.

    Notes
    -----
    Never blocks. Seconds here, milliseconds where the program waits.

    Source: CANN runtime API reference, ``aclrtStreamWaitEventWithTimeout``
    (ACL API version 1.17.0).
    """
    _event.wait_with_timeout(stream, event, timeout)


def aclrtStreamWaitEventWithFlag(
    stream: Stream | None, event: Event | None, timeout: int, flag: int
) -> None:
    """Let later work of a stream wait, possibly inside a graph for an event outside of it.

    Parameters
    ----------
    stream : Stream or None
        None is the default stream of the current context.
    event : Event
        The event.
    timeout : int
        The longest to wait [s]; 0 for ever.
    flag : int
        0 as `aclrtStreamWaitEventWithTimeout`; 1 external.

    Raises
    ------
    AclError
        As `aclrtStreamWaitEvent`; 107000 for another flag or a timeout with flag 1;
        107029 for flag 1 on a stream that is not captured.

    Notes
    -----
    Never blocks.

    Source: CANN runtime API reference, ``aclrtStreamWaitEventWithFlag`` (ACL API version 1.17.0).
    """
    _event.wait_with_flag(stream, event, timeout, flag)


def aclrtSetOpWaitTimeout(timeout: int) -> None:
    """Limit later waits of streams that have no timeout of their own, in the whole process.

    Parameters
    ----------
    timeout : int
        The longest to wait [s]; 0 for ever.

    Raises
    ------
    AclError
        100000 for a value that is no uint32.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtSetOpWaitTimeout`` (ACL API version 1.17.0).
    """
    _event.set_op_wait_timeout(timeout)


def aclrtSynchronizeEventWithTimeout(event: Event | None, timeout: int) -> None:
    """Wait until the work recorded last has been done, but not longer than that.

    Parameters
    ----------
    event : Event
        The event.
    timeout : int
        The longest to wait [ms]; -1 for ever.

    Raises
    ------
    AclError
        107000 for a timeout of 0 or below -1; 507047 when the time is over; 107028
        while its record is being captured; 207000 for an external event; 100000 for
        None; 107017 for a destroyed one.

    Notes
    -----
    Blocks, without the GIL.

    Source: CANN runtime API reference, ``aclrtSynchronizeEventWithTimeout``
    (ACL API version 1.17.0).
    """
    _event.synchronize_with_timeout(event, timeout)


def aclrtQueryEvent(event: Event | None) -> aclrtEventStatus:
    """Whether the work recorded last has been done; deprecated.

    Parameters
    ----------
    event : Event
        The event.

    Returns
    -------
    aclrtEventStatus
        ``ACL_EVENT_STATUS_COMPLETE`` is 0 and ``ACL_EVENT_STATUS_NOT_READY`` 1, the
        other way round than with `aclrtQueryEventStatus`.

    Raises
    ------
    AclError
        100000 for None; 207000 for an `aclrtCreateEventExWithFlag` event; 107028
        while its record is being captured; 107017 for a destroyed one.

    Notes
    -----
    Never blocks.

    Source: CANN runtime API reference, ``aclrtQueryEvent`` (ACL API version 1.17.0).
    """
    return aclrtEventStatus(_event.query_old(event))


def aclrtQueryEventWaitStatus(event: Event | None) -> aclrtEventWaitStatus:
    """Whether all queued waits for an event have ended.

    Parameters
    ----------
    event : Event
        The event.

    Returns
    -------
    aclrtEventWaitStatus
        ``ACL_EVENT_WAIT_STATUS_COMPLETE`` (0) or
        ``ACL_EVENT_WAIT_STATUS_NOT_READY`` (1).

    Raises
    ------
    AclError
        100000 for None; 207000 for an `aclrtCreateEventExWithFlag` event; 107028
        while its record is being captured; 107017 for a destroyed one.

    Notes
    -----
    Never blocks.

    Source: CANN runtime API reference, ``aclrtQueryEventWaitStatus`` (ACL API version 1.17.0).
    """
    return aclrtEventWaitStatus(_event.query_waits(event))


def aclrtEventGetTimestamp(event: Event | None) -> int:
    """Device time at which an event happened.

    Parameters
    ----------
    event : Event
        The event.

    Returns
    -------
    int
        Time on the device's clock [us].

    Raises
    ------
    AclError
        507000 if it was never recorded; 107006 if it is not done or keeps no time;
        107028 while its record is being captured; 100000 for None; 107017 for a
        destroyed one.

    Notes
    -----
    Never blocks.

    Source: CANN runtime API reference, ``aclrtEventGetTimestamp`` (ACL API version 1.17.0).
    """
    return _event.timestamp(event)


def aclrtGetEventId(event: Event | None) -> int:
    """Number of an event.

    Parameters
    ----------
    event : Event
        The event.

    Returns
    -------
    int
        Never that of another event of the process.

    Raises
    ------
    AclError
        100000 for None; 107017 for a destroyed one.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetEventId`` (ACL API version 1.17.0).
    """
    return _event.event_id(event)


def aclrtGetEventAvailNum() -> int:
    """How many more events the current device has.

    Returns
    -------
    int
        The limit of the SoC profile without those in use.

    Raises
    ------
    AclError
        107002 without current context.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetEventAvailNum`` (ACL API version 1.17.0).
    """
    return _event.available()


def aclrtIpcGetEventHandle(event: Event | None) -> bytes:
    """A key for another process; refused, as emulated devices belong to one process.

    Parameters
    ----------
    event : Event
        The event.

    Returns
    -------
    bytes
        Never.

    Raises
    ------
    AclError
        207000 always; 100000 for None; 107017 for a destroyed one.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtIpcGetEventHandle`` (ACL API version 1.17.0).
    """
    return _event.refuse_ipc(event)
