# SPDX-License-Identifier: Apache-2.0
"""Notifies, counters and values in memory, under the thread's current context."""

from __future__ import annotations

from typing import NoReturn

from aclnn_native import lib
from aclnn_runtime.arguments import as_size, as_uint32
from aclnn_runtime.host_memory import memory_address
from aclnn_runtime.notify import CountingNotify, Notify
from aclnn_runtime.noun import handle_of
from aclnn_runtime.outputs import check, number
from aclnn_runtime.stream import Stream

__all__ = [
    "count_id",
    "count_record",
    "count_reset",
    "count_wait",
    "notify_id",
    "record",
    "refuse_ipc",
    "value_wait",
    "value_write",
    "wait",
]


def _notify(function: str, notify: object) -> int:
    return handle_of(function, "notify", notify, Notify)


def _count(function: str, notify: object) -> int:
    return handle_of(function, "cntNotify", notify, CountingNotify)


def _stream(function: str, stream: object) -> int:
    return handle_of(function, "stream", stream, Stream)


def notify_id(notify: object) -> int:
    """``aclrtGetNotifyId``."""
    return number("uint32_t", lib.aclpy_notify_id, _notify("aclrtGetNotifyId", notify))


def record(notify: object, stream: object) -> None:
    """``aclrtRecordNotify``."""
    function = "aclrtRecordNotify"
    check(lib.aclpy_notify_record(0, _notify(function, notify), _stream(function, stream)))


def wait(notify: object, stream: object, timeout_s: object) -> None:
    """``aclrtWaitAndResetNotify``."""
    function = "aclrtWaitAndResetNotify"
    seconds = as_uint32(function, "timeout", timeout_s)
    check(lib.aclpy_notify_wait(0, _notify(function, notify), _stream(function, stream), seconds))


def refuse_ipc(function: str, notify: object) -> NoReturn:
    """Refuse to share a notify with another process."""
    check(lib.aclpy_notify_ipc(_notify(function, notify), function.encode()))
    raise AssertionError("unreachable")


def count_id(notify: object) -> int:
    """``aclrtCntNotifyGetId``."""
    return number("uint32_t", lib.aclpy_count_id, _count("aclrtCntNotifyGetId", notify))


def count_record(notify: object, stream: object, mode: object, value: object) -> None:
    """``aclrtCntNotifyRecord``."""
    function = "aclrtCntNotifyRecord"
    how, operand = as_uint32(function, "mode", mode), as_uint32(function, "value", value)
    handle = _count(function, notify)
    check(lib.aclpy_count_record(0, handle, _stream(function, stream), how, operand))


def count_wait(
    notify: object, stream: object, mode: object, value: object, timeout_s: object
) -> None:
    """``aclrtCntNotifyWaitWithTimeout``."""
    function = "aclrtCntNotifyWaitWithTimeout"
    how, operand = as_uint32(function, "mode", mode), as_uint32(function, "value", value)
    seconds = as_uint32(function, "timeout", timeout_s)
    handle = _count(function, notify)
    check(lib.aclpy_count_wait(0, handle, _stream(function, stream), how, operand, seconds))


def count_reset(notify: object, stream: object) -> None:
    """``aclrtCntNotifyReset``."""
    function = "aclrtCntNotifyReset"
    check(lib.aclpy_count_reset(0, _count(function, notify), _stream(function, stream)))


def value_write(address: object, value: object, flag: object, stream: object) -> None:
    """``aclrtValueWrite``."""
    function = "aclrtValueWrite"
    word = as_size(function, "value", value)
    bits = as_uint32(function, "flag", flag)
    place = memory_address(function, "devAddr", address, writable=False)[0]
    check(lib.aclpy_value_write(0, place, word, bits, _stream(function, stream)))


def value_wait(address: object, value: object, flag: object, stream: object) -> None:
    """``aclrtValueWait``."""
    function = "aclrtValueWait"
    word = as_size(function, "value", value)
    bits = as_uint32(function, "flag", flag)
    place = memory_address(function, "devAddr", address, writable=False)[0]
    check(lib.aclpy_value_wait(0, place, word, bits, _stream(function, stream)))
