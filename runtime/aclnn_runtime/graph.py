# SPDX-License-Identifier: Apache-2.0
"""Graph: work captured from streams, to be replayed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aclnn_native import ffi, lib
from aclnn_runtime.arguments import as_int32, as_some_text, as_uint32
from aclnn_runtime.noun import HandleNoun, handle_of, noun_of
from aclnn_runtime.outputs import check, number
from aclnn_runtime.stream import Stream

if TYPE_CHECKING:
    from os import PathLike

    from typing_extensions import Self

__all__ = [
    "Graph",
    "GraphTask",
    "TaskGroup",
    "begin_capture",
    "capture_info",
    "destroy_graph",
    "end_capture",
    "end_task_group",
    "exchange_mode",
    "execute_graph",
    "name_of",
]

_KINDS = ("run", "wait", "record")
_NAME_BYTES = 513  # ENG_GRAPH_NAME_BYTES of the engine, which keeps it to itself


@dataclass(frozen=True, slots=True)
class GraphTask:
    """One captured task.

    Attributes
    ----------
    kind : str
        ``"run"``, ``"wait"`` or ``"record"``.
    name : str
        The operator or the call it was captured from.
    stream : int
        Which stream of the capture, counted in the order in which they joined; 0 is the origin.
    marker : int or None
        A wait waits for the record of the same number.
    group : int or None
        Its task group.
    """

    kind: str
    name: str
    stream: int
    marker: int | None
    group: int | None


class Graph(HandleNoun):
    """Work captured from streams. Made by ``Stream.capture()`` or ``aclmdlRICaptureEnd()``.

    It keeps the memory and the functions of its tasks until it is closed.
    """

    __slots__ = ()
    _door = "Stream.capture() or aclmdlRICaptureEnd()"

    @classmethod
    def _adopt(cls, handle: int, *, is_open: bool = True) -> Self:
        graph = super()._adopt(handle)
        graph._open = is_open
        return graph

    def replay(self, stream: Stream) -> None:
        """Run the captured tasks behind everything queued in `stream`.

        Raises
        ------
        AclError
            100000 for what is no stream; 107027 if it is being captured; 107004 if it belongs to
            another context; 107017 if one of them is closed. Failures of tasks show at its next
            synchronise.

        Notes
        -----
        Never blocks. Replays of one graph follow each other, whatever their streams.
        """
        place = noun_of("Graph.replay", "stream", stream, Stream)
        check(lib.aclpy_graph_execute(place._context, self._handle, place._handle))

    @property
    def tasks(self) -> tuple[GraphTask, ...]:
        """The captured tasks, stream by stream."""
        count = ffi.new("uint32_t *")
        check(lib.aclpy_graph_size(self._handle, count, ffi.new("uint32_t *")))
        return tuple(self._task(index) for index in range(int(count[0])))

    def _task(self, index: int) -> GraphTask:
        cell = ffi.new("aclpy_graph_task *")
        check(lib.aclpy_graph_node(self._handle, index, cell))
        name: bytes = ffi.string(cell.name)
        return GraphTask(
            kind=_KINDS[cell.kind],
            name=name.decode(),
            stream=int(cell.branch),
            marker=int(cell.marker) if cell.marker >= 0 else None,
            group=int(cell.group) or None,
        )

    @property
    def name(self) -> str:
        """What the program calls it; empty until it is set."""
        return name_of(self._handle)

    @name.setter
    def name(self, text: str) -> None:
        check(lib.aclpy_graph_set_name(self._handle, as_some_text("Graph.name", "text", text)))

    @property
    def id(self) -> int:
        """Number of the graph."""
        return number("uint32_t", lib.aclpy_graph_id, self._handle)

    def print_json(self, path: str | PathLike[str], flags: int = 0) -> None:
        """Write a description to a file; flag 1 is the long form."""
        place = as_some_text("Graph.print_json", "path", path)
        bits = as_uint32("Graph.print_json", "flags", flags)
        check(lib.aclpy_graph_print_json(self._handle, place, bits))

    def close(self) -> None:
        """Give the graph back.

        Raises
        ------
        AclError
            107037 while a replay is queued or runs: synchronise its stream first.
        """
        if self._open:
            self._check_closing(lib.aclpy_graph_destroy(self._handle))
            self._open = False

    def __del__(self) -> None:
        if getattr(self, "_open", False):
            self._open = False
            lib.aclpy_graph_release(self._handle)


class TaskGroup(HandleNoun):
    """Captured tasks that can be issued again with other parameters.

    Made by ``aclmdlRICaptureTaskGrpEnd()``.
    """

    __slots__ = ()
    _door = "aclmdlRICaptureTaskGrpEnd()"

    def close(self) -> None:
        """Forget the group; the graph keeps its tasks."""
        if self._open:
            self._open = False
            lib.aclpy_task_group_release(self._handle)

    def __del__(self) -> None:
        if getattr(self, "_open", False):
            self.close()


def begin_capture(context: int, stream: int, mode: object) -> None:
    """``aclmdlRICaptureBegin`` by handles."""
    check(lib.aclpy_capture_begin(context, stream, as_int32("aclmdlRICaptureBegin", "mode", mode)))


def end_capture(context: int, stream: int) -> Graph:
    """``aclmdlRICaptureEnd`` by handles."""
    return Graph._adopt(number("aclpy_handle", lib.aclpy_capture_end, context, stream))


def capture_info(context: int, stream: int) -> tuple[int, Graph | None]:
    """State of a stream, and the graph that is being captured; it is not the caller's to close."""
    state, handle = ffi.new("int32_t *"), ffi.new("aclpy_handle *")
    check(lib.aclpy_capture_info(context, stream, state, handle))
    graph = Graph._adopt(int(handle[0]), is_open=False) if handle[0] else None
    return int(state[0]), graph


def exchange_mode(mode: object) -> int:
    """``aclmdlRICaptureThreadExchangeMode``: the thread's mode until now."""
    function = "aclmdlRICaptureThreadExchangeMode"
    cell = ffi.new("int32_t *", as_int32(function, "mode", mode))
    check(lib.aclpy_capture_exchange_mode(cell))
    return int(cell[0])


def execute_graph(graph: object, stream: object) -> None:
    """``aclmdlRIExecuteAsync``."""
    function = "aclmdlRIExecuteAsync"
    handle = handle_of(function, "modelRI", graph, Graph)
    check(lib.aclpy_graph_execute(0, handle, handle_of(function, "stream", stream, Stream)))


def name_of(graph: int) -> str:
    """The name of a graph by handle; empty until it is set."""
    text = ffi.new("char[]", _NAME_BYTES)
    check(lib.aclpy_graph_get_name(graph, _NAME_BYTES, text))
    raw: bytes = ffi.string(text)
    return raw.decode("utf-8", "replace")


def destroy_graph(graph: object) -> None:
    """``aclmdlRIDestroy``."""
    check(lib.aclpy_graph_destroy(handle_of("aclmdlRIDestroy", "modelRI", graph, Graph)))
    assert isinstance(graph, Graph)
    graph._open = False


def end_task_group(stream: int) -> TaskGroup:
    """``aclmdlRICaptureTaskGrpEnd`` by handle."""
    return TaskGroup._adopt(number("aclpy_handle", lib.aclpy_task_group_end, 0, stream))
