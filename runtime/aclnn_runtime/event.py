# SPDX-License-Identifier: Apache-2.0
"""Event: a point in a stream's queue."""

from __future__ import annotations

from aclnn_native import calls, ffi, lib
from aclnn_runtime.arguments import as_int32, as_size, as_uint32
from aclnn_runtime.errors import raise_last
from aclnn_runtime.noun import HandleNoun, handle_of
from aclnn_runtime.outputs import check, number

__all__ = ["Event", "create_ex_with_flag", "create_plain"]


class Event(HandleNoun):
    """A point in a stream's queue, to wait for and to measure time by.

    Made by ``Device.create_event()``, ``Stream.record()`` or ``aclrtCreateEvent()``.
    """

    __slots__ = ("_keepalive", "_owned")
    _door = "Device.create_event(), Stream.record() or aclrtCreateEvent()"
    _owned: bool
    _keepalive: object

    @classmethod
    def _adopt(cls, handle: int, *, owned: bool = True, keepalive: object = None) -> Event:
        event = cls.__new__(cls)
        event._open = True
        event._handle = handle
        event._owned = owned
        event._keepalive = keepalive
        return event

    @classmethod
    def from_handle(cls, handle: int) -> Event:
        """An event that somebody else owns; closing this object leaves it alone.

        Raises
        ------
        AclError
            100000 for what is no handle.
        """
        number = as_size("Event.from_handle", "handle", handle)
        return cls._adopt(number, owned=False)

    def synchronize(self, timeout_ms: int = -1) -> None:
        """Wait until the work recorded last has been done; at once if nothing was recorded.

        Parameters
        ----------
        timeout_ms : int
            The longest to wait [ms]; -1 for ever.

        Raises
        ------
        AclError
            107017 if the event is closed; 507047 if the time is over; 107028 if its record is
            being captured; 107023 if its record was dropped with its stream's work.

        Notes
        -----
        Blocks the calling thread, without the GIL.
        """
        if timeout_ms == -1:
            synchronize_event(self._handle)
        else:
            limit = as_int32("Event.synchronize", "timeout_ms", timeout_ms)
            check(calls.wait(calls.EVENT_UNTIL, self._handle, limit))

    def query(self) -> bool:
        """Whether the work recorded last has been done.

        Returns
        -------
        bool
            False as long as it has not, and before the first record.

        Raises
        ------
        AclError
            107017 if the event is closed.

        Notes
        -----
        Never blocks.
        """
        return query_event(self._handle) == 1

    @property
    def timestamp_us(self) -> int:
        """Device time at which it happened.

        Returns
        -------
        int
            Time on the device's clock [us].

        Raises
        ------
        AclError
            507000 if it was never recorded; 107006 if it is not done or keeps no time; 107028
            while its record is being captured; 107017 if the event is closed.

        Notes
        -----
        Never blocks; synchronise the event first.
        """
        function = "Event.timestamp_us"
        return number("uint64_t", lib.aclpy_event_timestamp_us, self._handle, function=function)

    def elapsed_ms(self, end: Event) -> float:
        """Time from this event to a later one.

        Parameters
        ----------
        end : Event
            The later event; both recorded and done.

        Returns
        -------
        float
            Time between them [ms]; negative if `end` came first.

        Raises
        ------
        AclError
            507000 if one was never recorded; 107006 if one is not done or keeps no time; 107017
            if one is closed.

        Notes
        -----
        Never blocks; synchronise `end` first.
        """
        return elapsed_ms(self._handle, handle_of("Event.elapsed_ms", "end", end, Event))

    def close(self) -> None:
        """Give the event back; a second call does nothing.

        Notes
        -----
        Returns at once, also while a record or a wait of it is queued.
        """
        if self._open:
            self._open = False
            self._keepalive = None
            if self._owned:
                self._check_closing(lib.aclpy_event_destroy(self._handle))

    def __del__(self) -> None:
        if getattr(self, "_owned", False) and self._open:
            self._open = False
            lib.aclpy_event_destroy(self._handle)


def create_plain(context: int, *, keepalive: object = None) -> Event:
    """``aclrtCreateEvent`` in `context` (0: the thread's current one)."""
    return _create(context, lib.ACLPY_EVENT_PLAIN, 0, keepalive)


def create_with_flag(context: int, flag: object) -> Event:
    """``aclrtCreateEventWithFlag``."""
    bits = as_uint32("aclrtCreateEventWithFlag", "flag", flag)
    return _create(context, lib.ACLPY_EVENT_WITH_FLAG, bits, None)


def create_ex_with_flag(
    context: int,
    flag: object,
    *,
    function: str = "aclrtCreateEventExWithFlag",
    keepalive: object = None,
) -> Event:
    """``aclrtCreateEventExWithFlag``; `function` is who is blamed for a wrong flag."""
    bits = as_uint32(function, "flag", flag)
    return _create(context, lib.ACLPY_EVENT_EX_WITH_FLAG, bits, keepalive, function)


def destroy_event(event: object) -> None:
    """``aclrtDestroyEvent``."""
    check(lib.aclpy_event_destroy(handle_of("aclrtDestroyEvent", "event", event, Event)))
    assert isinstance(event, Event)
    event._open = False
    event._keepalive = None


def synchronize_event(event: int) -> None:
    """Wait for an event by handle."""
    status = calls.wait(calls.EVENT, event)
    if status:
        raise_last(status)


def query_event(event: int) -> int:
    """The recorded status of an event by handle: 0 not ready, 1 complete."""
    recorded = ffi.new("int32_t *")
    status = lib.aclpy_event_query(event, recorded)
    if status:
        raise_last(status)
    return int(recorded[0])


def elapsed_ms(start: int, end: int) -> float:
    """Time between two events by handle [ms]."""
    milliseconds = ffi.new("float *")
    check(lib.aclpy_event_elapsed_ms(start, end, milliseconds))
    return float(milliseconds[0])


def _create(context: int, kind: int, flags: int, keepalive: object, function: str = "") -> Event:
    handle = ffi.new("aclpy_handle *")
    status = lib.aclpy_event_create(context, kind, flags, handle)
    if status:
        raise_last(status, function=function)
    return Event._adopt(int(handle[0]), keepalive=keepalive)
