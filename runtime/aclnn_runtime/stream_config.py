# SPDX-License-Identifier: Apache-2.0
"""Streams beyond the everyday: configurations, attributes, timeouts, listeners."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_native import calls, ffi, lib
from aclnn_runtime.arguments import as_int32, as_size, describe
from aclnn_runtime.callback_log import log_raised
from aclnn_runtime.errors import fail
from aclnn_runtime.noun import HandleNoun, handle_of
from aclnn_runtime.outputs import check, number
from aclnn_runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "StreamConfig",
    "abort",
    "available",
    "create",
    "create_stream",
    "destroy",
    "get_attribute",
    "listen",
    "refuse_model_only",
    "set_attribute",
    "set_option",
    "stop",
    "synchronize_device_with_timeout",
    "synchronize_with_timeout",
]


class StreamConfig(HandleNoun):
    """What ``aclrtCreateStreamV2`` makes a stream from."""

    __slots__ = ()
    _door = "aclrtCreateStreamConfigHandle()"

    def close(self) -> None:
        """Give the configuration back; streams made from it stay."""
        if self._open:
            self._open = False
            self._check_closing(lib.aclpy_stream_config_destroy(self._handle))

    def __del__(self) -> None:
        if getattr(self, "_open", False):
            self._open = False
            lib.aclpy_stream_config_destroy(self._handle)


def create() -> StreamConfig:
    """``aclrtCreateStreamConfigHandle``."""
    return StreamConfig._adopt(number("aclpy_handle", lib.aclpy_stream_config_create))


def set_option(config: object, option: object, value: object) -> None:
    """``aclrtSetStreamConfigOpt``."""
    function = "aclrtSetStreamConfigOpt"
    handle = handle_of(function, "handle", config, StreamConfig)
    word = as_size(function, "value", value)
    check(lib.aclpy_stream_config_set(handle, as_int32(function, "attr", option), word))


def create_stream(config: object) -> Stream:
    """``aclrtCreateStreamV2``."""
    function = "aclrtCreateStreamV2"
    handle = handle_of(function, "handle", config, StreamConfig)
    made = number("aclpy_handle", lib.aclpy_stream_create_from, 0, handle, function=function)
    return Stream._adopt(made, number("aclpy_handle", lib.aclpy_stream_context, made))


def destroy(config: object) -> None:
    """``aclrtDestroyStreamConfigHandle``."""
    function = "aclrtDestroyStreamConfigHandle"
    check(lib.aclpy_stream_config_destroy(handle_of(function, "handle", config, StreamConfig)))
    assert isinstance(config, StreamConfig)
    config._open = False


def synchronize_with_timeout(stream: object, timeout_ms: object) -> None:
    """``aclrtSynchronizeStreamWithTimeout``."""
    function = "aclrtSynchronizeStreamWithTimeout"
    handle = handle_of(function, "stream", stream, Stream)
    limit = as_int32(function, "timeout", timeout_ms)
    check(calls.wait(calls.STREAM_UNTIL, 0, handle, limit))


def synchronize_device_with_timeout(timeout_ms: object) -> None:
    """``aclrtSynchronizeDeviceWithTimeout``."""
    limit = as_int32("aclrtSynchronizeDeviceWithTimeout", "timeout", timeout_ms)
    check(calls.wait(calls.DEVICE_UNTIL, 0, limit))


def available() -> int:
    """``aclrtGetStreamAvailableNum``."""
    return number("uint32_t", lib.aclpy_stream_available, 0)


def set_attribute(function: str, stream: object, attribute: object, value: object) -> None:
    """Set a numbered attribute of a stream, for the C name `function`."""
    handle = handle_of(function, "stream", stream, Stream)
    kind = as_int32(function, "stmAttrType", attribute)
    word = as_size(function, "value", value)
    check(lib.aclpy_stream_set_attribute(0, handle, kind, word, function.encode()))


def get_attribute(function: str, stream: object, attribute: object) -> int:
    """Value of a numbered attribute of a stream, for the C name `function`."""
    handle = handle_of(function, "stream", stream, Stream)
    kind = as_int32(function, "stmAttrType", attribute)
    cell = ffi.new("uint64_t *")
    check(lib.aclpy_stream_get_attribute(0, handle, kind, cell, function.encode()))
    return int(cell[0])


def abort(stream: object) -> None:
    """``aclrtStreamAbort``."""
    check(lib.aclpy_stream_abort(0, handle_of("aclrtStreamAbort", "stream", stream, Stream)))


def stop(stream: object) -> None:
    """``aclrtStreamStop``."""
    check(lib.aclpy_stream_stop(0, handle_of("aclrtStreamStop", "stream", stream, Stream)))


def refuse_model_only(function: str, stream: object) -> None:
    """Refuse a call that only streams of a model know."""
    handle = handle_of(function, "stream", stream, Stream)
    check(lib.aclpy_stream_model_only(0, handle, function.encode()))


# ---- listeners ----

# By the address that the native library hands back; kept for good, as it may still be on its way.
_listeners: dict[int, Callable[[Stream, int], object]] = {}


def listen(name: object, function: object) -> None:
    """``aclrtRegStreamStateCallback``."""
    c_name = "aclrtRegStreamStateCallback"
    if not isinstance(name, str) or not (function is None or callable(function)):
        wrong = "callback" if isinstance(name, str) else "regName"
        fail(
            c_name,
            wrong,
            what="has the wrong type",
            got=describe(function if wrong == "callback" else name),
            expected="a function or None" if wrong == "callback" else "a string",
            fix="register a function under a name",
        )
    if function is None:
        check(lib.aclpy_stream_listen(name.encode(), ffi.NULL, ffi.NULL))
        return
    key = len(_listeners) + 1
    _listeners[key] = function
    address = ffi.cast("void *", key)
    check(lib.aclpy_stream_listen(name.encode(), lib.aclpy_py_stream_state, address))


@ffi.def_extern(name="aclpy_py_stream_state")  # type: ignore[untyped-decorator]
def _announce(stream: int, state: int, argument: object) -> None:
    try:
        _listeners[int(ffi.cast("uintptr_t", argument))](Stream.from_handle(stream), state)
    except Exception as error:  # noqa: BLE001  # there is no caller to raise it to
        log_raised("aclrtRegStreamStateCallback", error)
