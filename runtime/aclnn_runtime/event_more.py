# SPDX-License-Identifier: Apache-2.0
"""Events beyond the everyday, under the thread's current context."""

from __future__ import annotations

from typing import NoReturn

from aclnn_native import calls, lib
from aclnn_runtime.arguments import as_int32, as_uint32
from aclnn_runtime.event import Event
from aclnn_runtime.noun import handle_of
from aclnn_runtime.outputs import check, number
from aclnn_runtime.stream import Stream

__all__ = [
    "available",
    "event_id",
    "query_old",
    "query_waits",
    "record_with_flag",
    "refuse_ipc",
    "reset",
    "set_op_wait_timeout",
    "synchronize_with_timeout",
    "timestamp",
    "wait_with_flag",
    "wait_with_timeout",
]


def _both(function: str, event: object, stream: object) -> tuple[int, int]:
    handle = handle_of(function, "event", event, Event)
    return handle, handle_of(function, "stream", stream, Stream)


def reset(event: object, stream: object) -> None:
    """``aclrtResetEvent``."""
    check(lib.aclpy_event_reset(0, *_both("aclrtResetEvent", event, stream)))


def record_with_flag(event: object, stream: object, flag: object) -> None:
    """``aclrtRecordEventWithFlag``."""
    function = "aclrtRecordEventWithFlag"
    bits = as_uint32(function, "flag", flag)
    check(lib.aclpy_event_record_with_flag(0, *_both(function, event, stream), bits))


def wait_with_timeout(stream: object, event: object, timeout_s: object) -> None:
    """``aclrtStreamWaitEventWithTimeout``."""
    function = "aclrtStreamWaitEventWithTimeout"
    waited, waiting = _both(function, event, stream)
    seconds = as_int32(function, "timeout", timeout_s)
    check(lib.aclpy_event_wait_with_timeout(0, waiting, waited, seconds))


def wait_with_flag(stream: object, event: object, timeout_s: object, flag: object) -> None:
    """``aclrtStreamWaitEventWithFlag``."""
    function = "aclrtStreamWaitEventWithFlag"
    waited, waiting = _both(function, event, stream)
    seconds = as_uint32(function, "timeout", timeout_s)
    bits = as_uint32(function, "flag", flag)
    check(lib.aclpy_event_wait_with_flag(0, waiting, waited, seconds, bits))


def set_op_wait_timeout(timeout_s: object) -> None:
    """``aclrtSetOpWaitTimeout``."""
    seconds = as_uint32("aclrtSetOpWaitTimeout", "timeout", timeout_s)
    check(lib.aclpy_set_op_wait_timeout(seconds))


def synchronize_with_timeout(event: object, timeout_ms: object) -> None:
    """``aclrtSynchronizeEventWithTimeout``."""
    function = "aclrtSynchronizeEventWithTimeout"
    handle = handle_of(function, "event", event, Event)
    limit = as_int32(function, "timeout", timeout_ms)
    check(calls.wait(calls.EVENT_UNTIL, handle, limit))


def query_old(event: object) -> int:
    """``aclrtQueryEvent``."""
    handle = handle_of("aclrtQueryEvent", "event", event, Event)
    return number("int32_t", lib.aclpy_event_query_old, handle)


def query_waits(event: object) -> int:
    """``aclrtQueryEventWaitStatus``."""
    handle = handle_of("aclrtQueryEventWaitStatus", "event", event, Event)
    return number("int32_t", lib.aclpy_event_query_waits, handle)


def timestamp(event: object) -> int:
    """``aclrtEventGetTimestamp``."""
    handle = handle_of("aclrtEventGetTimestamp", "event", event, Event)
    return number("uint64_t", lib.aclpy_event_timestamp_us, handle)


def event_id(event: object) -> int:
    """``aclrtGetEventId``."""
    handle = handle_of("aclrtGetEventId", "event", event, Event)
    return number("uint32_t", lib.aclpy_event_id, handle)


def available() -> int:
    """``aclrtGetEventAvailNum``."""
    return number("uint32_t", lib.aclpy_event_available, 0)


def refuse_ipc(event: object) -> NoReturn:
    """``aclrtIpcGetEventHandle``."""
    function = "aclrtIpcGetEventHandle"
    check(lib.aclpy_event_ipc(handle_of(function, "event", event, Event), function.encode()))
    raise AssertionError("unreachable")
