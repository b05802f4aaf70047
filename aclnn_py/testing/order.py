# SPDX-License-Identifier: Apache-2.0
"""Assertions about the order in which tasks really ran."""

from __future__ import annotations

from aclnn_py.testing.recorder import Recording, Task, latest
from aclnn_py.testing.schedule import current_replay
from aclnn_runtime.arguments import describe
from aclnn_runtime.errors import fail

__all__ = ["assert_before"]

_AROUND = 3  # events shown before and behind the two


def assert_before(a: str | Task, b: str | Task, recording: Recording | None = None) -> None:
    """Assert that every task `a` finished before any task `b` started.

    Parameters
    ----------
    a, b : str or Task
        A label, which may be that of several tasks, or one task.
    recording : Recording, optional
        Default: the recording that began last.

    Raises
    ------
    AclError
        100000 for what is no recording.
    AssertionError
        Naming the first pair that ran otherwise, with the events around it; also if no task
        carries the label, or nothing was recorded.
    """
    chosen = latest() if recording is None else recording
    if chosen is None:
        raise AssertionError("nothing has been recorded; use `with record():` around the submits")
    if not isinstance(chosen, Recording):
        fail(
            "assert_before",
            "recording",
            what="has the wrong type",
            got=describe(chosen),
            expected="a Recording or None",
            fix="pass what `with record() as recording:` gives",
        )
    first, second = _tasks(chosen, a), _tasks(chosen, b)
    for one in first:
        for other in second:
            if not _before(one, other):
                raise AssertionError(_text(chosen, one, other))


def _tasks(recording: Recording, what: str | Task) -> list[Task]:
    if isinstance(what, Task):
        return [what]
    found = recording.tasks(what)
    if not found:
        names = sorted({task.label for task in recording.tasks()})
        known = ", ".join(map(repr, names)) or "none"
        raise AssertionError(f"no task {what!r} has run; labels in the recording: {known}")
    return found


def _before(one: Task, other: Task) -> bool:
    return one.finish is not None and other.start is not None and one.finish < other.start


def _text(recording: Recording, one: Task, other: Task) -> str:
    lines = [f"{one} did not finish before {other} started; the events around them:"]
    marks = [mark for mark in (one.start, one.finish, other.start, other.finish) if mark]
    for event in recording.events:
        if min(marks) - _AROUND <= event.sequence <= max(marks) + _AROUND:
            failed = f", status {event.status}" if event.status else ""
            place = f"stream {event.stream}, task {event.number}"
            lines.append(f"  {event.sequence:4} {event.kind:6} {event.label} ({place}{failed})")
    replay = current_replay()
    if replay:
        lines.append(f"replay this order with scheduler({replay!r})")
    return "\n".join(lines)
