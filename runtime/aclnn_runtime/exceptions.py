# SPDX-License-Identifier: Apache-2.0
"""Exception callbacks, the thread's last error, a device's last fault, lines in the log."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, NoReturn

from aclnn_native import ffi, lib
from aclnn_runtime.arguments import as_int32, as_uint32, describe
from aclnn_runtime.callback_log import log_raised
from aclnn_runtime.enums_device import aclrtErrorType
from aclnn_runtime.errors import INVALID_PARAM, PARAM_INVALID, fail, raise_last
from aclnn_runtime.outputs import check, number

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "ExceptionInfo",
    "error_verbose",
    "last_error",
    "log",
    "register",
    "set_callback",
    "unregister",
    "unsupported",
    "value_of",
]

_lock = Lock()
_slot: list[Callable[[ExceptionInfo], object]] = []
_list: list[Callable[[ExceptionInfo], object]] = []


class ExceptionInfo:
    """What an exception callback is told of a failed task; it may be kept.

    Attributes
    ----------
    task_id, stream_id, thread_id, device_id : int
        Which task of which stream failed, on which thread it ran, and on which device.
    error_code : int
        Its status.
    """

    __slots__ = ("device_id", "error_code", "stream_id", "task_id", "thread_id")

    def __init__(self, info: Any) -> None:
        self.task_id = int(info.task_id)
        self.stream_id = int(info.stream_id)
        self.thread_id = int(info.thread_id)
        self.device_id = int(info.device_id)
        self.error_code = int(info.error_code)

    def __repr__(self) -> str:
        return (
            f"<ExceptionInfo: status {self.error_code} of task {self.task_id} on stream "
            f"{self.stream_id}, device {self.device_id}>"
        )


def _call_one(name: str, function: Callable[[ExceptionInfo], object], info: ExceptionInfo) -> None:
    try:
        function(info)
    except Exception as error:  # noqa: BLE001  # the engine called this: there is nobody to raise to
        log_raised(name, error)


def _call(name: str, functions: list[Callable[[ExceptionInfo], object]], raw: Any) -> None:
    info = ExceptionInfo(raw)
    with _lock:
        now = list(functions)
    for function in now:
        _call_one(name, function, info)


@ffi.def_extern(name="aclpy_py_exception_slot")  # type: ignore[untyped-decorator]  # cffi is untyped
def _on_slot(raw: Any) -> None:
    _call("aclrtSetExceptionInfoCallback", _slot, raw)


@ffi.def_extern(name="aclpy_py_exception_list")  # type: ignore[untyped-decorator]  # cffi is untyped
def _on_list(raw: Any) -> None:
    _call("aclrtExceptionInfoCallbackRegister", _list, raw)


def _check(function: str, callback: object) -> None:
    if callable(callback):
        return
    fail(
        function,
        "callback",
        what="cannot be called",
        got=describe(callback),
        expected="a function of one argument",
        fix="pass the function itself, not its result",
        status=PARAM_INVALID if callback is None else INVALID_PARAM,
    )


def set_callback(callback: Callable[[ExceptionInfo], object] | None) -> None:
    """Fill or empty the one slot of the older call."""
    if callback is not None:
        _check("aclrtSetExceptionInfoCallback", callback)
    with _lock:
        _slot[:] = [] if callback is None else [callback]
    check(lib.aclpy_exception_set(ffi.NULL if callback is None else lib.aclpy_py_exception_slot))


def register(callback: Callable[[ExceptionInfo], object]) -> None:
    """Add a callback, once."""
    _check("aclrtExceptionInfoCallbackRegister", callback)
    with _lock:
        if callback not in _list:
            _list.append(callback)
    check(lib.aclpy_exception_register(lib.aclpy_py_exception_list))


def unregister(callback: Callable[[ExceptionInfo], object]) -> None:
    """Take a callback out; an unknown one is no mistake."""
    _check("aclrtExceptionInfoCallbackUnregister", callback)
    with _lock:
        if callback in _list:
            _list.remove(callback)
        empty = not _list
    if empty:
        check(lib.aclpy_exception_unregister(lib.aclpy_py_exception_list))


def value_of(info: object, field: str) -> int:
    """One field of an `ExceptionInfo`; 0xFFFFFFFF for None."""
    if info is None:
        return 0xFFFFFFFF
    if not isinstance(info, ExceptionInfo):
        fail(
            "aclrtGet...FromExceptionInfo",
            "info",
            what="has the wrong type",
            got=describe(info),
            expected="what the exception callback was given",
            fix="pass the callback's argument",
        )
    value: int = getattr(info, field)
    return value


def last_error(level: object, *, clear: bool) -> int:
    """The thread's latest failure of the runtime layer, 0 for none."""
    function = "aclrtGetLastError" if clear else "aclrtPeekAtLastError"
    return number("int32_t", lib.aclpy_last_error, as_int32(function, "flag", level), clear)


def error_verbose(device: object) -> aclrtErrorType:
    """Sort of the device's last fault."""
    index = as_int32("aclrtGetErrorVerbose", "deviceId", device)
    return aclrtErrorType(number("int32_t", lib.aclpy_error_verbose, index))


def log(level: object, function: str, file: str, line: object, text: str) -> None:
    """Write a line into the log, which is standard error."""
    for name, value in (("func", function), ("file", file), ("fmt", text)):
        if not isinstance(value, str):
            fail(
                "aclAppLog",
                name,
                what="has the wrong type",
                got=describe(value),
                expected="a str",
                fix=f"pass {name} as text",
            )
    check(
        lib.aclpy_app_log(
            as_int32("aclAppLog", "logLevel", level),
            function.encode(),
            file.encode(),
            as_uint32("aclAppLog", "line", line),
            text.encode(),
        )
    )


def unsupported(function: str) -> NoReturn:
    """Refuse a call that needs an NPU's hardware."""
    raise_last(lib.aclpy_unsupported(function.encode()))
