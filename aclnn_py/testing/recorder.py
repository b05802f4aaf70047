# SPDX-License-Identifier: Apache-2.0
"""The recorder: which tasks really started and finished, and in which order."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from aclnn_native import ffi, lib
from aclnn_runtime.arguments import as_text, describe
from aclnn_runtime.errors import fail
from aclnn_runtime.outputs import check

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Recording", "Task", "TaskEvent", "label", "latest", "record"]


@dataclass(frozen=True)
class TaskEvent:
    """A task has started or finished."""

    sequence: int
    """Place in the order of all events, from 1."""
    kind: Literal["start", "finish"]
    stream: int
    """Id of the stream (``Stream.id``)."""
    number: int
    """Of the task in its stream, from 1."""
    label: str
    status: int
    """Of a finished task; 0: it did not fail."""


@dataclass(frozen=True)
class Task:
    """A task with the sequence numbers of its two events; None for what has not happened."""

    stream: int
    number: int
    label: str
    start: int | None
    finish: int | None
    status: int

    def __str__(self) -> str:
        end = "still running" if self.finish is None else f"finished at {self.finish}"
        place = f"task {self.number} of stream {self.stream}"
        return f"{self.label!r} ({place}, started at {self.start}, {end})"


class Recording:
    """What a ``with record()`` block gives."""

    def __init__(self) -> None:
        self._kept: list[TaskEvent] | None = None

    @property
    def events(self) -> list[TaskEvent]:
        """All events so far, in their order."""
        return list(self._kept) if self._kept is not None else _read()

    def tasks(self, label: str | None = None) -> list[Task]:
        """The tasks that have started, in that order; with `label` only those that carry it."""
        found: dict[tuple[int, int], Task] = {}
        for event in self.events:
            place = event.stream, event.number
            if event.kind == "start":
                found[place] = Task(*place, event.label, event.sequence, None, 0)
            else:
                known = found.get(place)  # it may have started before the recording
                start = known.start if known else None
                found[place] = Task(*place, event.label, start, event.sequence, event.status)
        return [task for task in found.values() if label is None or task.label == label]


_latest: list[Recording] = []


@contextmanager
def record() -> Iterator[Recording]:
    """Record which tasks start and finish inside the ``with`` block.

    Yields
    ------
    Recording
        Readable at any time, also after the block.

    Raises
    ------
    AclError
        100000 for a recording inside of another one.

    Notes
    -----
    While it is on, no operator runs inside the call that queues it. Records of events and
    hand-overs of callbacks are listed as finished just before anybody can see their effect. Tasks
    dropped by an abort are not listed; a replayed graph is listed by the stretches it is queued as.
    """
    check(lib.aclpy_record_start())
    recording = Recording()
    _latest[:] = [recording]
    try:
        yield recording
    finally:
        status = lib.aclpy_record_stop()
        recording._kept = _read()  # noqa: SLF001  # made here
        check(status)


_LONGEST_LABEL: Final = 63  # bytes: what aclpy_task_event has room for


class _InForce(threading.local):
    """The label of the thread's innermost block: the engine keeps one, and no older ones."""

    name: bytes | None = None


_in_force: Final = _InForce()


@contextmanager
def label(name: str) -> Iterator[None]:
    """Let the tasks that this thread submits inside the ``with`` block carry a name of their own.

    Without one a task goes by its C name, such as ``aclnnSoftmax`` or ``aclrtRecordEvent``. Labels
    are kept while a recording, a trace, a planned failure or a scheduler is on. Blocks nest: behind
    an inner one the outer label is in force again.

    Raises
    ------
    AclError
        100000 for what is no text, and for one of more than 63 bytes in UTF-8.
    """
    inner, outer = _as_label(name), _in_force.name
    try:
        _set_label(inner)
        yield
    finally:
        _set_label(outer)


def _as_label(name: object) -> bytes | None:
    text = as_text("label", "name", name)
    if text is not None and len(text) > _LONGEST_LABEL:
        fail(
            "label",
            "name",
            what="is too long",
            got=f"{describe(name)}, {len(text)} bytes",
            expected=f"at most {_LONGEST_LABEL} bytes in UTF-8",
            fix="shorten the label",
        )
    return text


def _set_label(name: bytes | None) -> None:
    check(lib.aclpy_label(ffi.NULL if name is None else name))
    _in_force.name = name


def latest() -> Recording | None:
    """The recording that began last."""
    return _latest[0] if _latest else None


def _read() -> list[TaskEvent]:
    count = lib.aclpy_record_count()
    rows = ffi.new("aclpy_task_event[]", max(count, 1))
    written = lib.aclpy_record_read(0, rows, count)
    return [
        TaskEvent(
            int(row.sequence),
            "finish" if row.finish else "start",
            int(row.stream),
            int(row.number),
            ffi.string(row.label).decode(errors="replace"),
            int(row.status),
        )
        for row in rows[0:written]
    ]
