# SPDX-License-Identifier: Apache-2.0
"""``acl.rt``: streams."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from aclnn_native import calls, ffi, lib
from aclnn_py.pyacl.calls import INT32, UINT32, UINT64, answer, integer, order

__all__ = [
    "create_stream",
    "create_stream_with_config",
    "destroy_stream",
    "destroy_stream_force",
    "get_stream_attribute",
    "get_stream_available_num",
    "get_stream_overflow_switch",
    "set_stream_attribute",
    "set_stream_failure_mode",
    "set_stream_overflow_switch",
    "stream_abort",
    "stream_get_flags",
    "stream_get_id",
    "stream_get_priority",
    "stream_query",
    "stream_stop",
    "synchronize_stream",
    "synchronize_stream_with_timeout",
]

_STREAM = {"stream": "aclpy_handle"}
_FAILURE_MODE: Final = 1
_OVERFLOW: Final = 2
_PRIORITY: Final = 5
# The member of the C union that each attribute uses; those of the others are reserved.
_MEMBERS: Final = {_FAILURE_MODE: "failureMode", _OVERFLOW: "overflowSwitch", 3: "userCustomTag"}


def _set(c_name: str, attribute: int, stream: int, value: int) -> int:
    return int(lib.aclpy_stream_set_attribute(0, stream, attribute, value, c_name.encode()))


def _get(c_name: str, attribute: int, stream: int, value: object) -> int:
    cell = ffi.new("uint64_t *")
    status = int(lib.aclpy_stream_get_attribute(0, stream, attribute, cell, c_name.encode()))
    ffi.cast("uint32_t *", value)[0] = cell[0]
    return status


def _fact(c_name: str, field: str, stream: int, value: object) -> int:
    info = ffi.new("aclpy_stream_info *")
    status = int(lib.aclpy_stream_facts(0, stream, c_name.encode(), info))
    ffi.cast("uint32_t *", value)[0] = getattr(info, field)
    return status


create_stream = answer(
    "acl.rt.create_stream", "aclrtCreateStream", partial(lib.aclpy_stream_create, 0, 0, 0), _STREAM
)
create_stream_with_config = answer(
    "acl.rt.create_stream_with_config",
    "aclrtCreateStreamWithConfig",
    partial(lib.aclpy_stream_create, 0),
    _STREAM,
    priority=UINT32,
    flag=UINT32,
)
destroy_stream = order(
    "acl.rt.destroy_stream",
    "aclrtDestroyStream",
    partial(calls.wait, calls.STREAM_DESTROY, 0),
    stream=UINT64,
)
destroy_stream_force = order(
    "acl.rt.destroy_stream_force",
    "aclrtDestroyStreamForce",
    partial(lib.aclpy_stream_destroy_force, 0),
    stream=UINT64,
)
synchronize_stream = order(
    "acl.rt.synchronize_stream",
    "aclrtSynchronizeStream",
    partial(calls.wait, calls.STREAM, 0),
    stream=UINT64,
)
synchronize_stream_with_timeout = order(
    "acl.rt.synchronize_stream_with_timeout",
    "aclrtSynchronizeStreamWithTimeout",
    partial(calls.wait, calls.STREAM_UNTIL, 0),
    stream=UINT64,
    timeout=INT32,
)
stream_query = answer(
    "acl.rt.stream_query",
    "aclrtStreamQuery",
    partial(lib.aclpy_stream_query, 0),
    {"status": "int32_t"},
    stream=UINT64,
)
stream_get_id = answer(
    "acl.rt.stream_get_id",
    "aclrtStreamGetId",
    partial(_fact, "aclrtStreamGetId", "id"),
    {"streamId": "int32_t"},
    stream=UINT64,
)
stream_get_priority = answer(
    "acl.rt.stream_get_priority",
    "aclrtStreamGetPriority",
    partial(_fact, "aclrtStreamGetPriority", "priority"),
    {"priority": "uint32_t"},
    stream=UINT64,
)
stream_get_flags = answer(
    "acl.rt.stream_get_flags",
    "aclrtStreamGetFlags",
    partial(_fact, "aclrtStreamGetFlags", "flags"),
    {"flags": "uint32_t"},
    stream=UINT64,
)
get_stream_available_num = answer(
    "acl.rt.get_stream_available_num",
    "aclrtGetStreamAvailableNum",
    partial(lib.aclpy_stream_available, 0),
    {"streamCount": "uint32_t"},
)
stream_abort = order(
    "acl.rt.stream_abort", "aclrtStreamAbort", partial(lib.aclpy_stream_abort, 0), stream=UINT64
)
stream_stop = order(
    "acl.rt.stream_stop", "aclrtStreamStop", partial(lib.aclpy_stream_stop, 0), stream=UINT64
)
set_stream_failure_mode = order(
    "acl.rt.set_stream_failure_mode",
    "aclrtSetStreamFailureMode",
    partial(_set, "aclrtSetStreamFailureMode", _FAILURE_MODE),
    stream=UINT64,
    mode=UINT64,
)
set_stream_overflow_switch = order(
    "acl.rt.set_stream_overflow_switch",
    "aclrtSetStreamOverflowSwitch",
    partial(_set, "aclrtSetStreamOverflowSwitch", _OVERFLOW),
    stream=UINT64,
    flag=UINT32,
)
get_stream_overflow_switch = answer(
    "acl.rt.get_stream_overflow_switch",
    "aclrtGetStreamOverflowSwitch",
    partial(_get, "aclrtGetStreamOverflowSwitch", _OVERFLOW),
    {"flag": "uint32_t"},
    stream=UINT64,
)


def set_stream_attribute(stream: int, attribute: int, value: Mapping[str, int], /) -> int:
    """``aclrtSetStreamAttribute``: ret.

    Parameters
    ----------
    stream : int
        Handle; 0 is refused.
    attribute : int
        1 failure mode, 2 float overflow check, 3 user tag, 4 cache of operator information,
        5 priority.
    value : mapping
        The attribute's member of the C union: ``failureMode``, ``overflowSwitch`` or
        ``userCustomTag``; ``reserved`` for 4 and 5.
    """
    call = "acl.rt.set_stream_attribute"
    handle = integer(call, "stream", stream, UINT64)
    kind = integer(call, "stmAttrType", attribute, INT32)
    if not isinstance(value, Mapping):
        raise TypeError(f"{call}(): 'value' must be a dict, not {type(value).__name__}")
    member = _MEMBERS.get(kind, "reserved")
    if kind not in range(_FAILURE_MODE, _PRIORITY + 1):
        return _set("aclrtSetStreamAttribute", kind, handle, 0)  # refused there
    if member not in value:
        raise ValueError(f"{call}(): attribute {kind} needs the key {member!r}, got {dict(value)}")
    number = integer(call, member, value[member], UINT64)
    return _set("aclrtSetStreamAttribute", kind, handle, number)


def get_stream_attribute(stream: int, attribute: int, /) -> tuple[dict[str, int], int]:
    """``aclrtGetStreamAttribute``: (dict with the attribute's member of the C union, ret)."""
    call = "acl.rt.get_stream_attribute"
    handle = integer(call, "stream", stream, UINT64)
    kind = integer(call, "stmAttrType", attribute, INT32)
    cell = ffi.new("uint64_t *")
    name = b"aclrtGetStreamAttribute"
    status = int(lib.aclpy_stream_get_attribute(0, handle, kind, cell, name))
    return {_MEMBERS.get(kind, "reserved"): int(cell[0])}, status
