# SPDX-License-Identifier: Apache-2.0
"""Functions of other components that aclInit and aclFinalize call."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NoReturn

from aclnn_native import ffi, lib
from aclnn_runtime.arguments import as_int32, describe
from aclnn_runtime.callback_log import log_raised
from aclnn_runtime.errors import INVALID_PARAM, fail
from aclnn_runtime.outputs import check
from aclnn_runtime.status_table import status_value

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["register_finalize", "register_init", "unregister_finalize", "unregister_init"]

_FAILED: Final = status_value("ACL_ERROR_FAILURE")
_lock = Lock()
_at_init: dict[int, Callable[[str], object]] = {}
_at_finalize: dict[int, Callable[[], object]] = {}


def _outcome(name: str, call: Callable[[], object]) -> int:
    try:
        call()
    except Exception as error:  # noqa: BLE001  # becomes the status of the call
        log_raised(name, error)
        return int(getattr(error, "status", _FAILED)) or _FAILED
    return 0


@ffi.def_extern(name="aclpy_py_on_init", error=_FAILED)  # type: ignore[untyped-decorator]  # untyped
def _on_init(config: Any, length: int, data: Any) -> int:
    text = ffi.buffer(config, length)[:].decode("utf-8", "replace") if length else ""
    with _lock:
        function = _at_init.get(int(ffi.cast("intptr_t", data)))
    return 0 if function is None else _outcome("aclInitCallbackRegister", lambda: function(text))


@ffi.def_extern(name="aclpy_py_on_finalize", error=_FAILED)  # type: ignore[untyped-decorator]  # same
def _on_finalize(data: Any) -> int:
    with _lock:
        function = _at_finalize.get(int(ffi.cast("intptr_t", data)))
    return 0 if function is None else _outcome("aclFinalizeCallbackRegister", function)


def _check(function: str, kind: object, callback: object) -> int:
    number = as_int32(function, "type", kind)
    if not callable(callback):
        fail(
            function,
            "cbFunc",
            what="cannot be called",
            got=describe(callback),
            expected="a function",
            fix="pass the function itself, not its result",
        )
    return number


def register_init(kind: object, callback: Callable[[str], object]) -> None:
    """Let the aclInit that initialises call `callback` with the configuration's text."""
    function = "aclInitCallbackRegister"
    number = _check(function, kind, callback)
    data = ffi.cast("void *", number)
    check(lib.aclpy_init_callback_register(number, lib.aclpy_py_on_init, data))
    with _lock:
        _at_init[number] = callback


def register_finalize(kind: object, callback: Callable[[], object]) -> None:
    """Let what undoes aclInit call `callback`."""
    function = "aclFinalizeCallbackRegister"
    number = _check(function, kind, callback)
    data = ffi.cast("void *", number)
    check(lib.aclpy_finalize_callback_register(number, lib.aclpy_py_on_finalize, data))
    with _lock:
        _at_finalize[number] = callback


def _refuse_unknown(function: str, number: int, callback: object) -> NoReturn:
    fail(
        function,
        "cbFunc",
        what="is not registered for this type",
        got=f"{describe(callback)}, type {number}",
        expected="the type and function that were registered",
        fix="pass both as they were registered",
        status=INVALID_PARAM,
    )


def unregister_init(kind: object, callback: Callable[[str], object]) -> None:
    """Undo `register_init`."""
    function = "aclInitCallbackUnRegister"
    number = _check(function, kind, callback)
    with _lock:
        known = _at_init.get(number) == callback
        if known:
            del _at_init[number]
    if not known:
        _refuse_unknown(function, number, callback)
    check(lib.aclpy_init_callback_unregister(number, lib.aclpy_py_on_init))


def unregister_finalize(kind: object, callback: Callable[[], object]) -> None:
    """Undo `register_finalize`."""
    function = "aclFinalizeCallbackUnRegister"
    number = _check(function, kind, callback)
    with _lock:
        known = _at_finalize.get(number) == callback
        if known:
            del _at_finalize[number]
    if not known:
        _refuse_unknown(function, number, callback)
    check(lib.aclpy_finalize_callback_unregister(number, lib.aclpy_py_on_finalize))
