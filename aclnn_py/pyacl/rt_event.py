# SPDX-License-Identifier: Apache-2.0
"""``acl.rt``: events and notifies."""

from __future__ import annotations

from functools import partial

from aclnn_native import calls, ffi, lib
from aclnn_py.pyacl.calls import INT32, UINT32, UINT64, answer, integer, order

__all__ = [
    "create_event",
    "create_event_ex_with_flag",
    "create_event_with_flag",
    "create_notify",
    "destroy_event",
    "destroy_notify",
    "event_elapsed_time",
    "event_get_timestamp",
    "get_event_avail_num",
    "get_event_id",
    "get_notify_id",
    "query_event",
    "query_event_status",
    "query_event_wait_status",
    "record_event",
    "record_notify",
    "reset_event",
    "set_op_wait_timeout",
    "stream_wait_event",
    "stream_wait_event_with_timeout",
    "synchronize_event",
    "synchronize_event_with_timeout",
    "wait_and_reset_notify",
]

_EVENT = {"event": "aclpy_handle"}
_STATUS = {"status": "int32_t"}

create_event = answer(
    "acl.rt.create_event",
    "aclrtCreateEvent",
    partial(lib.aclpy_event_create, 0, lib.ACLPY_EVENT_PLAIN, 0),
    _EVENT,
)
create_event_with_flag = answer(
    "acl.rt.create_event_with_flag",
    "aclrtCreateEventWithFlag",
    partial(lib.aclpy_event_create, 0, lib.ACLPY_EVENT_WITH_FLAG),
    _EVENT,
    flag=UINT32,
)
create_event_ex_with_flag = answer(
    "acl.rt.create_event_ex_with_flag",
    "aclrtCreateEventExWithFlag",
    partial(lib.aclpy_event_create, 0, lib.ACLPY_EVENT_EX_WITH_FLAG),
    _EVENT,
    flag=UINT32,
)
destroy_event = order(
    "acl.rt.destroy_event", "aclrtDestroyEvent", lib.aclpy_event_destroy, event=UINT64
)
record_event = order(
    "acl.rt.record_event",
    "aclrtRecordEvent",
    partial(lib.aclpy_event_record, 0),
    event=UINT64,
    stream=UINT64,
)
reset_event = order(
    "acl.rt.reset_event",
    "aclrtResetEvent",
    partial(lib.aclpy_event_reset, 0),
    event=UINT64,
    stream=UINT64,
)
stream_wait_event = order(
    "acl.rt.stream_wait_event",
    "aclrtStreamWaitEvent",
    partial(lib.aclpy_event_wait, 0),
    stream=UINT64,
    event=UINT64,
)
stream_wait_event_with_timeout = order(
    "acl.rt.stream_wait_event_with_timeout",
    "aclrtStreamWaitEventWithTimeout",
    partial(lib.aclpy_event_wait_with_timeout, 0),
    stream=UINT64,
    event=UINT64,
    timeout=INT32,
)
set_op_wait_timeout = order(
    "acl.rt.set_op_wait_timeout",
    "aclrtSetOpWaitTimeout",
    lib.aclpy_set_op_wait_timeout,
    timeout=UINT32,
)
synchronize_event = order(
    "acl.rt.synchronize_event",
    "aclrtSynchronizeEvent",
    partial(calls.wait, calls.EVENT),
    event=UINT64,
)
synchronize_event_with_timeout = order(
    "acl.rt.synchronize_event_with_timeout",
    "aclrtSynchronizeEventWithTimeout",
    partial(calls.wait, calls.EVENT_UNTIL),
    event=UINT64,
    timeout=INT32,
)
query_event = answer(
    "acl.rt.query_event", "aclrtQueryEvent", lib.aclpy_event_query_old, _STATUS, event=UINT64
)
query_event_status = answer(
    "acl.rt.query_event_status",
    "aclrtQueryEventStatus",
    lib.aclpy_event_query,
    _STATUS,
    event=UINT64,
)
query_event_wait_status = answer(
    "acl.rt.query_event_wait_status",
    "aclrtQueryEventWaitStatus",
    lib.aclpy_event_query_waits,
    _STATUS,
    event=UINT64,
)
event_get_timestamp = answer(
    "acl.rt.event_get_timestamp",
    "aclrtEventGetTimestamp",
    lib.aclpy_event_timestamp_us,
    {"timestamp": "uint64_t"},
    event=UINT64,
)
get_event_id = answer(
    "acl.rt.get_event_id",
    "aclrtGetEventId",
    lib.aclpy_event_id,
    {"eventId": "uint32_t"},
    event=UINT64,
)
get_event_avail_num = answer(
    "acl.rt.get_event_avail_num",
    "aclrtGetEventAvailNum",
    partial(lib.aclpy_event_available, 0),
    {"eventCount": "uint32_t"},
)


def event_elapsed_time(start: int, end: int, /) -> tuple[float, int]:
    """``aclrtEventElapsedTime``: (time between two recorded events [ms], ret)."""
    call = "acl.rt.event_elapsed_time"
    first = integer(call, "start", start, UINT64)
    second = integer(call, "end", end, UINT64)
    cell = ffi.new("float *")
    status = int(lib.aclpy_event_elapsed_ms(first, second, cell))
    return float(cell[0]), status


# ---- notifies ----

create_notify = answer(
    "acl.rt.create_notify",
    "aclrtCreateNotify",
    lambda flag, out: lib.aclpy_notify_create(0, flag, out),
    {"notify": "aclpy_handle"},
    flag=UINT64,
)
destroy_notify = order(
    "acl.rt.destroy_notify", "aclrtDestroyNotify", lib.aclpy_notify_destroy, notify=UINT64
)
record_notify = order(
    "acl.rt.record_notify",
    "aclrtRecordNotify",
    partial(lib.aclpy_notify_record, 0),
    notify=UINT64,
    stream=UINT64,
)
wait_and_reset_notify = order(
    "acl.rt.wait_and_reset_notify",
    "aclrtWaitAndResetNotify",
    partial(lib.aclpy_notify_wait, 0),
    notify=UINT64,
    stream=UINT64,
    timeout=UINT32,
)
get_notify_id = answer(
    "acl.rt.get_notify_id",
    "aclrtGetNotifyId",
    lib.aclpy_notify_id,
    {"notifyId": "uint32_t"},
    notify=UINT64,
)
