# SPDX-License-Identifier: Apache-2.0
"""Models: graphs that are built from persistent streams, and what is called at a graph's end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_native import ffi, lib
from aclnn_runtime.arguments import as_function, as_int32, as_uint32, describe
from aclnn_runtime.callback_log import log_raised
from aclnn_runtime.errors import INVALID_HANDLE, PARAM_INVALID, AclError, fail
from aclnn_runtime.graph import Graph
from aclnn_runtime.host_memory import memory_address
from aclnn_runtime.noun import handle_of
from aclnn_runtime.outputs import check, number
from aclnn_runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "activate",
    "begin",
    "bind",
    "end",
    "end_task",
    "register",
    "streams",
    "switch",
    "unbind",
    "unregister",
]


def _both(function: str, model: object, stream: object) -> tuple[int, int]:
    handle = handle_of(function, "modelRI", model, Graph)
    return handle, handle_of(function, "stream", stream, Stream)


def begin(flag: object) -> Graph:
    """``aclmdlRIBuildBegin``."""
    bits = as_uint32("aclmdlRIBuildBegin", "flag", flag)
    return Graph._adopt(number("aclpy_handle", lib.aclpy_model_build_begin, 0, bits))


def bind(model: object, stream: object, flag: object) -> None:
    """``aclmdlRIBindStream``."""
    function = "aclmdlRIBindStream"
    handle, bound = _both(function, model, stream)
    check(lib.aclpy_model_bind(0, handle, bound, as_uint32(function, "flag", flag)))


def activate(active: object, stream: object) -> None:
    """``aclrtActiveStream``."""
    function = "aclrtActiveStream"
    started = handle_of(function, "activeStream", active, Stream)
    check(lib.aclpy_stream_activate(0, started, handle_of(function, "stream", stream, Stream)))


def switch(
    left: object,
    condition: object,
    right: object,
    data_type: object,
    true_stream: object,
    false_stream: object,
    stream: object,
) -> None:
    """``aclrtSwitchStream``."""
    function = "aclrtSwitchStream"
    what = ffi.new("aclpy_switch *")
    what.left, _, _held = memory_address(function, "leftValue", left, writable=False)
    what.right, _, _held_too = memory_address(function, "rightValue", right, writable=False)
    what.condition = as_int32(function, "cond", condition)
    what.type = as_int32(function, "dataType", data_type)
    what.true_stream = handle_of(function, "trueStream", true_stream, Stream)
    what.false_stream = handle_of(function, "falseStream", false_stream, Stream)
    check(lib.aclpy_stream_switch(0, what, handle_of(function, "stream", stream, Stream)))


def end_task(model: object, stream: object) -> None:
    """``aclmdlRIEndTask``."""
    check(lib.aclpy_model_end_task(0, *_both("aclmdlRIEndTask", model, stream)))


def end(model: object) -> None:
    """``aclmdlRIBuildEnd``."""
    handle = handle_of("aclmdlRIBuildEnd", "modelRI", model, Graph)
    check(lib.aclpy_model_build_end(handle, ffi.NULL))


def unbind(model: object, stream: object) -> None:
    """``aclmdlRIUnbindStream``."""
    check(lib.aclpy_model_unbind(0, *_both("aclmdlRIUnbindStream", model, stream)))


def streams(graph: object) -> list[Stream]:
    """``aclmdlRIGetStreams``."""
    handle = handle_of("aclmdlRIGetStreams", "modelRI", graph, Graph)
    count = ffi.new("uint32_t *")
    check(lib.aclpy_graph_streams(handle, ffi.NULL, count))
    found = ffi.new("aclpy_handle[]", max(int(count[0]), 1))
    check(lib.aclpy_graph_streams(handle, found, count))
    return [stream for at in range(int(count[0])) if (stream := _alive(int(found[at]))) is not None]


def _alive(handle: int) -> Stream | None:
    try:
        return Stream.from_handle(handle)
    except AclError as error:
        if error.status != INVALID_HANDLE:
            raise
        return None


# ---- what is called at the end ----

# Graph, function and its argument, by the number that the native library hands back.
_farewells: dict[int, tuple[int, Callable[[object], object], object]] = {}
_numbers = iter(range(1, 1 << 62))


def register(graph: object, func: object, data: object) -> None:
    """``aclmdlRIDestroyRegisterCallback``."""
    function = "aclmdlRIDestroyRegisterCallback"
    handle = handle_of(function, "modelRI", graph, Graph)
    key = next(_numbers)
    _farewells[key] = handle, as_function(function, "func", func), data
    argument = ffi.cast("void *", key)
    status = lib.aclpy_graph_farewell_register(handle, lib.aclpy_py_graph_end, argument)
    if status:
        del _farewells[key]
        check(status)


def unregister(graph: object, func: object) -> None:
    """``aclmdlRIDestroyUnregisterCallback``: what the native library keeps finds nothing here."""
    function = "aclmdlRIDestroyUnregisterCallback"
    handle = handle_of(function, "modelRI", graph, Graph)
    wanted = as_function(function, "func", func)
    for key, (of, registered, _) in _farewells.items():
        if of == handle and registered == wanted:
            del _farewells[key]
            return
    check(lib.aclpy_graph_id(handle, ffi.new("uint32_t *")))  # destroyed: that is the mistake
    fail(
        function,
        "func",
        what="is not registered",
        got=describe(func),
        expected="a registered function",
        fix="pass the function that was registered for this graph",
        status=PARAM_INVALID,
    )


@ffi.def_extern(name="aclpy_py_graph_end")  # type: ignore[untyped-decorator]
def _tell(argument: object) -> None:
    found = _farewells.pop(int(ffi.cast("uintptr_t", argument)), None)
    if found is None:
        return
    try:
        found[1](found[2])
    except Exception as error:  # noqa: BLE001  # there is no caller to raise it to
        log_raised("aclmdlRIDestroyRegisterCallback", error)
