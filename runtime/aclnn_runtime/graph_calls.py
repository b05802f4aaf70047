# SPDX-License-Identifier: Apache-2.0
"""Graphs and task groups, under the thread's current context."""

from __future__ import annotations

from aclnn_native import ffi, lib
from aclnn_runtime.arguments import as_int32, as_text, as_uint32
from aclnn_runtime.graph import Graph, TaskGroup, name_of
from aclnn_runtime.noun import handle_of
from aclnn_runtime.outputs import check, number
from aclnn_runtime.stream import Stream

__all__ = [
    "abort",
    "begin_group",
    "begin_update",
    "end_update",
    "execute_sync",
    "get_name",
    "graph_id",
    "print_graph",
    "print_json",
    "set_name",
]


def _graph(function: str, graph: object) -> int:
    return handle_of(function, "modelRI", graph, Graph)


def execute_sync(graph: object, timeout: object) -> None:
    """``aclmdlRIExecute``."""
    function = "aclmdlRIExecute"
    limit = as_int32(function, "timeout", timeout)
    check(lib.aclpy_graph_execute_sync(_graph(function, graph), limit))


def abort(graph: object) -> None:
    """``aclmdlRIAbort``."""
    check(lib.aclpy_graph_abort(_graph("aclmdlRIAbort", graph)))


def print_graph(graph: object) -> None:
    """``aclmdlRIDebugPrint``."""
    check(lib.aclpy_graph_print(_graph("aclmdlRIDebugPrint", graph)))


def print_json(graph: object, path: object, flags: object) -> None:
    """``aclmdlRIDebugJsonPrint``."""
    function = "aclmdlRIDebugJsonPrint"
    place = as_text(function, "path", path)
    bits = as_uint32(function, "flags", flags)
    where = ffi.NULL if place is None else place
    check(lib.aclpy_graph_print_json(_graph(function, graph), where, bits))


def set_name(graph: object, name: object) -> None:
    """``aclmdlRISetName``."""
    function = "aclmdlRISetName"
    text = as_text(function, "name", name)
    check(lib.aclpy_graph_set_name(_graph(function, graph), ffi.NULL if text is None else text))


def get_name(graph: object) -> str:
    """``aclmdlRIGetName``."""
    return name_of(_graph("aclmdlRIGetName", graph))


def graph_id(graph: object) -> int:
    """``aclmdlRIGetId``."""
    return number("uint32_t", lib.aclpy_graph_id, _graph("aclmdlRIGetId", graph))


def begin_group(stream: object) -> None:
    """``aclmdlRICaptureTaskGrpBegin``."""
    function = "aclmdlRICaptureTaskGrpBegin"
    check(lib.aclpy_task_group_begin(0, handle_of(function, "stream", stream, Stream)))


def begin_update(stream: object, group: object) -> None:
    """``aclmdlRICaptureTaskUpdateBegin``."""
    function = "aclmdlRICaptureTaskUpdateBegin"
    handle = handle_of(function, "handle", group, TaskGroup)
    check(lib.aclpy_task_update_begin(0, handle_of(function, "stream", stream, Stream), handle))


def end_update(stream: object) -> None:
    """``aclmdlRICaptureTaskUpdateEnd``."""
    function = "aclmdlRICaptureTaskUpdateEnd"
    check(lib.aclpy_task_update_end(0, handle_of(function, "stream", stream, Stream)))
