# SPDX-License-Identifier: Apache-2.0
"""What a test has opened and not closed, and where it was opened."""

from __future__ import annotations

import gc
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Final

from aclnn_native import calls, ffi, lib
from aclnn_py.core import tensor
from aclnn_py.pyacl import rt
from aclnn_runtime import context, graph, notify
from aclnn_runtime.event import Event
from aclnn_runtime.memory import Buffer
from aclnn_runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from aclnn_py.core.executor import Executor

__all__ = ["Ledger", "Opened"]

_OURS: Final = ("aclnn_py", "aclnn_runtime", "aclnn_native", "contextlib", "functools")


# How long an aborted stream's last task is waited for.
_LAST_TASK_MS: Final = 1000


@dataclass(frozen=True, slots=True)
class Opened:
    """An object of the runtime: its kind, the library's number for it, and who asked for it.

    `identity` tells allocations at one address apart; 0 for everything else.
    """

    kind: str
    handle: int
    site: str
    identity: int = 0

    def __str__(self) -> str:
        return f"{self.kind} {self.handle:#x}, opened at {self.site}"


# ---- is it still open? ----


def _memory_is_open(opened: Opened) -> bool:
    info = ffi.new("aclpy_memory_info *")
    lib.aclpy_memory_query(opened.handle, info)
    return bool(info.kind != lib.ACLPY_MEMORY_NONE and info.identity == opened.identity)


def _context_of(stream: int) -> int:
    context_handle = ffi.new("aclpy_handle *")
    lib.aclpy_stream_context(stream, context_handle)
    return int(context_handle[0])


def _asks(call: Callable[..., int], cell: str) -> Callable[[Opened], bool]:
    def is_open(opened: Opened) -> bool:
        status = call(opened.handle, ffi.new(cell + " *"))
        if status:
            lib.aclpy_error_clear()
        return status == 0

    return is_open


_IS_OPEN: Final[dict[str, Callable[[Opened], bool]]] = {
    "stream": _asks(lib.aclpy_stream_context, "aclpy_handle"),
    "event": _asks(lib.aclpy_event_query, "int32_t"),
    "buffer": _memory_is_open,
    "tensor": _asks(lib.aclpy_tensor_layout, "uint64_t"),
    "executor": _asks(lib.aclpy_executor_is_cache_hit, "int32_t"),
    "context": _asks(lib.aclpy_context_device, "int32_t"),
    "notify": _asks(lib.aclpy_notify_id, "uint32_t"),
    "counting notify": _asks(lib.aclpy_count_id, "uint32_t"),
    "graph": _asks(lib.aclpy_graph_id, "uint32_t"),
}

# What makes them: where the maker is, and the kind. Makers of nouns return the noun.
_MAKERS: Final[tuple[tuple[Any, str, str], ...]] = (
    (Stream, "_adopt", "stream"),
    (Event, "_adopt", "event"),
    (Buffer, "_adopt", "buffer"),
    (notify.Notify, "_adopt", "notify"),
    (notify.CountingNotify, "_adopt", "counting notify"),
    (graph.Graph, "_adopt", "graph"),
    (context, "create_context", "context"),
    (tensor, "_make", "tensor"),
)
_PYACL: Final = {
    "create_context": "context",
    "create_event": "event",
    "create_event_ex_with_flag": "event",
    "create_event_with_flag": "event",
    "create_notify": "notify",
    "create_stream": "stream",
    "create_stream_with_config": "stream",
    "malloc": "buffer",
    "malloc_align32": "buffer",
    "malloc_cached": "buffer",
    "malloc_host": "buffer",
    "malloc_with_cfg": "buffer",
}


class Ledger:
    """Notes what is opened while it is `watching`."""

    def __init__(self) -> None:
        self._opened: list[Opened] = []
        self._lost: list[Opened] = []
        self._paused = 0

    @contextmanager
    def watching(self) -> Iterator[Ledger]:
        """Note what the process opens inside the ``with`` block, by any thread."""
        before = [(place, name, vars(place)[name]) for place, name, _ in _MAKERS]
        before += [(rt, name, vars(rt)[name]) for name in _PYACL]
        for place, name, kind in _MAKERS:
            self._watch_maker(place, name, kind)
        for name, kind in _PYACL.items():
            setattr(rt, name, self._noting_pyacl(getattr(rt, name), kind))
        watcher = self._watch_executors()
        try:
            yield self
        finally:
            calls.watch(watcher)
            for place, name, value in before:
                setattr(place, name, value)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave out what is opened inside: it may live longer."""
        self._paused += 1
        try:
            yield
        finally:
            self._paused -= 1

    def before_closing(self, context_handle: int) -> None:
        """Note the streams that closing a context, and nothing else, will close."""
        self._lost += [
            opened
            for opened in self._alive_after_collecting()
            if opened.kind == "stream" and _context_of(opened.handle) == context_handle
        ]

    def abort_streams(self) -> None:
        """Drop what a failed test has queued to its streams: it may wait for ever, and hold memory.

        Closing them, or their context, would wait with it. A captured stream stays as it is.
        """
        for opened in self._alive():
            if opened.kind == "stream":
                place = (_context_of(opened.handle), opened.handle)
                if lib.aclpy_stream_abort(*place) == 0:
                    # It tells once that it was aborted; a host function that runs may take longer.
                    lib.aclpy_stream_synchronize_with_timeout(*place, _LAST_TASK_MS)
                lib.aclpy_error_clear()

    def still_open(self) -> list[Opened]:
        """What has been opened and not closed; garbage is collected first."""
        return self._lost + self._alive_after_collecting()

    def _alive_after_collecting(self) -> list[Opened]:
        found = self._alive()
        if found:
            gc.collect()
            found = self._alive()
        return found

    def _alive(self) -> list[Opened]:
        return [opened for opened in self._opened if _IS_OPEN[opened.kind](opened)]

    def _note(self, kind: str, handle: int) -> None:
        if self._paused or not handle:
            return
        identity = 0
        if kind == "buffer":
            info = ffi.new("aclpy_memory_info *")
            lib.aclpy_memory_query(handle, info)
            identity = int(info.identity)
        self._opened.append(Opened(kind, handle, _site(), identity))

    def _watch_maker(self, place: Any, name: str, kind: str) -> None:
        make = getattr(place, name)  # of a class: bound to it

        @wraps(make)
        def noting(*arguments: Any, **options: Any) -> Any:
            made = make(*arguments, **options)
            if options.get("owned", True) and options.get("is_open", True):
                self._note(kind, made._address if kind == "buffer" else made._handle)  # noqa: SLF001  # the nouns' own maker
            return made

        setattr(place, name, staticmethod(noting) if isinstance(place, type) else noting)

    def _noting_pyacl(self, call: Callable[..., Any], kind: str) -> Callable[..., Any]:
        @wraps(call)
        def noting(*arguments: Any) -> Any:
            answer = call(*arguments)
            self._note(kind, answer[0])
            return answer

        return noting

    def _watch_executors(self) -> Callable[[Executor], object] | None:
        before = calls.watch(None)

        def noting(made: Executor) -> None:
            if before is not None:
                before(made)
            self._note("executor", made.handle)

        calls.watch(noting)
        return before


def _site() -> str:
    """File, line and function of whoever called into the project."""
    frame = sys._getframe(1)  # noqa: SLF001  # CPython's own way to ask
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in _OURS:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}()"
