# SPDX-License-Identifier: Apache-2.0
"""``acl.rt``: callbacks of streams, and callbacks and codes of failures."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from aclnn_native import calls, ffi, lib
from aclnn_py.pyacl.calls import INT32, UINT64, integer, order
from aclnn_runtime import exceptions
from aclnn_runtime.callback_log import log_raised
from aclnn_runtime.host_function import hold

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "get_device_id_from_exception_info",
    "get_error_code_from_exception_info",
    "get_last_error",
    "get_stream_id_from_exception_info",
    "get_task_id_from_exception_info",
    "get_thread_id_from_exception_info",
    "launch_callback",
    "launch_host_func",
    "peek_at_last_error",
    "process_report",
    "set_exception_info_callback",
    "subscribe_report",
    "unsubscribe_report",
]


subscribe_report = order(
    "acl.rt.subscribe_report",
    "aclrtSubscribeReport",
    partial(lib.aclpy_subscribe_report, 0),
    threadId=UINT64,
    stream=UINT64,
)
unsubscribe_report = order(
    "acl.rt.unsubscribe_report",
    "aclrtUnSubscribeReport",
    partial(lib.aclpy_unsubscribe_report, 0),
    threadId=UINT64,
    stream=UINT64,
)
process_report = order(
    "acl.rt.process_report", "aclrtProcessReport", partial(calls.wait, calls.REPORT), timeout=INT32
)


def _quiet(call: str, function: Callable[[Any], object], argument: object) -> None:
    try:
        function(argument)
    except Exception as error:  # noqa: BLE001  # pyACL: logged, and the stream goes on
        log_raised(call, error)


def _callable(call: str, function: object) -> None:
    if not callable(function):
        raise TypeError(f"{call}(): 'fn' must be callable, not {type(function).__name__}")


def launch_callback(
    function: Callable[[Any], object], user_data: object, block_type: int, stream: int, /
) -> int:
    """``aclrtLaunchCallback``: ret.

    Parameters
    ----------
    function : callable
        Called with `user_data` as its only argument, on the stream's subscribed thread; an
        exception in it is logged (logger ``aclnn_py``) and no failure of the stream.
    user_data : object
        Handed to `function`.
    block_type : int
        0: the stream goes on at once; 1: when the function has returned.
    stream : int
        Handle; 0 is the default stream.
    """
    call = "acl.rt.launch_callback"
    _callable(call, function)
    kind = integer(call, "blockType", block_type, INT32)
    handle = integer(call, "stream", stream, UINT64)
    key, run, drop, argument = hold(partial(_quiet, call, function, user_data))
    return int(lib.aclpy_launch_callback(0, handle, run, drop, argument, key, kind))


def launch_host_func(stream: int, function: Callable[[Any], object], user_data: object, /) -> int:
    """``aclrtLaunchHostFunc``: ret; `function` is called as by `launch_callback`."""
    call = "acl.rt.launch_host_func"
    handle = integer(call, "stream", stream, UINT64)
    _callable(call, function)
    key, run, drop, argument = hold(partial(_quiet, call, function, user_data))
    return int(lib.aclpy_submit(0, handle, b"aclrtLaunchHostFunc", run, drop, argument, key))


# ---- failures ----

# What exception callbacks that run now were given, by address: no other integer is looked into.
_told: dict[int, exceptions.ExceptionInfo] = {}


def _tell(function: Callable[[int], object], info: exceptions.ExceptionInfo) -> None:
    place = ffi.new("aclpy_exception_info *")  # an address of its own
    address = int(ffi.cast("uintptr_t", place))
    _told[address] = info
    try:
        _quiet("acl.rt.set_exception_info_callback", function, address)
    finally:
        del _told[address]


def set_exception_info_callback(function: Callable[[int], object] | None, /) -> int:
    """``aclrtSetExceptionInfoCallback``: ret.

    Parameters
    ----------
    function : callable or None
        Called for each failed task with the address of what is known about it, for
        ``get_..._from_exception_info``, valid until it returns. There is one for the process;
        None takes it away.
    """
    if function is None:
        exceptions.set_callback(None)
        return 0
    _callable("acl.rt.set_exception_info_callback", function)
    exceptions.set_callback(partial(_tell, function))
    return 0


def _from_info(call: str, field: str, info: object) -> int:
    told = _told.get(integer(call, "info", info, UINT64))
    return exceptions.value_of(told, field)


def get_task_id_from_exception_info(info: int, /) -> int:
    """Which task failed; 0xFFFFFFFF outside of the exception callback."""
    return _from_info("acl.rt.get_task_id_from_exception_info", "task_id", info)


def get_stream_id_from_exception_info(info: int, /) -> int:
    """Which stream it failed on; 0xFFFFFFFF outside of the exception callback."""
    return _from_info("acl.rt.get_stream_id_from_exception_info", "stream_id", info)


def get_thread_id_from_exception_info(info: int, /) -> int:
    """On which thread it ran; 0xFFFFFFFF outside of the exception callback."""
    return _from_info("acl.rt.get_thread_id_from_exception_info", "thread_id", info)


def get_device_id_from_exception_info(info: int, /) -> int:
    """On which device it ran; 0xFFFFFFFF outside of the exception callback."""
    return _from_info("acl.rt.get_device_id_from_exception_info", "device_id", info)


def get_error_code_from_exception_info(info: int, /) -> int:
    """Its status; 0xFFFFFFFF outside of the exception callback."""
    return _from_info("acl.rt.get_error_code_from_exception_info", "error_code", info)


def _last_error(call: str, level: object, clear: int) -> int:
    code = ffi.new("int32_t *")
    status = int(lib.aclpy_last_error(integer(call, "flag", level, INT32), clear, code))
    return status or int(code[0])


def peek_at_last_error(level: int, /) -> int:
    """``aclrtPeekAtLastError``: the thread's latest failure of the runtime; `level` must be 0."""
    return _last_error("acl.rt.peek_at_last_error", level, 0)


def get_last_error(level: int, /) -> int:
    """``aclrtGetLastError``: as `peek_at_last_error`, and forgets it."""
    return _last_error("acl.rt.get_last_error", level, 1)
