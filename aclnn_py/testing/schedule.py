# SPDX-License-Identifier: Apache-2.0
"""The deterministic scheduler: streams without threads, in an order that can be replayed."""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from aclnn_native import ffi, lib
from aclnn_py.testing._streams import place_of
from aclnn_runtime import AclError
from aclnn_runtime.arguments import SIZE_MAX, as_int, as_some_text
from aclnn_runtime.errors import fail
from aclnn_runtime.outputs import check, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aclnn_runtime import Stream

__all__ = ["Schedule", "current_replay", "scheduler"]


class Schedule:
    """What a ``with scheduler(...)`` block gives: what has happened so far, and a way to decide."""

    def __init__(self) -> None:
        self._ended: tuple[str, int, int] | None = None

    @property
    def replay(self) -> str:
        """A string that replays the decisions so far, for `scheduler` or ``ACLNN_PY_SCHEDULE``.

        Notes
        -----
        ``r1:``, then a sign for each decision, with a count where it repeats: a letter for the
        stream whose next task ran (numbered by first submission), a dot for "no more at this
        submit". After 1 MiB it is the policy itself.
        """
        return self._ended[0] if self._ended else _replay()

    @property
    def steps(self) -> int:
        """Tasks that the schedule has run."""
        return self._ended[1] if self._ended else _facts()[0]

    @property
    def diverged(self) -> int:
        """0, or the step at which a replay no longer fitted: from there on it is ``lazy``."""
        return self._ended[2] if self._ended else _facts()[1]

    @property
    def ready(self) -> list[int]:
        """Ids of the streams whose next task could run now, in the order of first submission."""
        count = lib.aclpy_schedule_ready(ffi.NULL, 0)
        ids = ffi.new("uint64_t[]", max(count, 1))
        return [int(ids[i]) for i in range(min(lib.aclpy_schedule_ready(ids, count), count))]

    def step(self, stream: Stream | int) -> bool:
        """Run the next task of a stream now.

        Returns
        -------
        bool
            False if the stream has none that is ready.

        Raises
        ------
        AclError
            107017 if the stream is closed. A failure of the task shows at the stream's next
            synchronise, as always.
        """
        context, handle = place_of("Schedule.step", stream)
        return number("int32_t", lib.aclpy_schedule_step, context, handle) != 0

    def _end(self) -> None:
        self._ended = (_replay(), *_facts())


@contextmanager
def scheduler(policy: str | None = None, *, seed: int | None = None) -> Iterator[Schedule]:
    """Run streams without threads inside the ``with`` block, in an order that can be replayed.

    Parameters
    ----------
    policy : str, optional
        ``"lazy"``: tasks run only while the host waits, of other streams only what is needed.
        ``"eager"``: whatever is ready runs at once at every submit. ``"reverse"``: while the host
        waits, the ready stream submitted to last comes first. A number is a seed, and
        ``schedule.replay`` of an earlier run replays it.
    seed : int, optional
        The seed decides at every submit and wait how much runs, and of which stream.

    Yields
    ------
    Schedule
        Its ``replay`` is also added to an exception that leaves the block.

    Raises
    ------
    AclError
        100000 unless exactly one of the two is given and makes sense, and for a scheduler inside
        of another one; 507004 if tasks are still running. At the end of the block 507046 if tasks
        are left that can never run.

    Notes
    -----
    A wait that nothing can ever satisfy raises at once: 507046 from synchronising streams, devices
    and memory, 507047 from synchronising events; the text names who waits for whom. Timeouts of
    waits that cannot end pass at once. Questions that are answered with "not ready" let one task
    run. Exact for one host thread; calls of several threads are taken in the order in which they
    arrive, and a thread that has not called the runtime yet counts as absent when a wait is judged.
    """
    if (policy is None) == (seed is None):
        fail(
            "scheduler",
            "policy, seed",
            what="must be exactly one",
            got="both" if policy is not None else "neither",
            expected="a policy or a seed",
            fix="write scheduler('lazy') or scheduler(seed=7)",
            status=100000,
        )
    if policy is None:  # a text as a seed could be any policy
        chosen = str(as_int("scheduler", "seed", seed, low=0, high=SIZE_MAX))
    else:
        chosen = str(policy)
    check(lib.aclpy_schedule_start(as_some_text("scheduler", "policy", chosen)))
    schedule = Schedule()
    try:
        yield schedule
    except BaseException as error:
        _add_note(error, f"replay this order with scheduler({_replay()!r})")
        with suppress(AclError):  # the block's own exception says more
            check(lib.aclpy_schedule_stop())
        raise
    else:
        check(lib.aclpy_schedule_stop())
    finally:
        schedule._end()  # noqa: SLF001  # made here


def current_replay() -> str:
    """The replay string of the schedule that is on, or an empty text."""
    info = ffi.new("aclpy_schedule_info *")
    lib.aclpy_schedule_facts(info)
    return _replay() if info.active else ""


def _replay() -> str:
    room = lib.aclpy_schedule_replay(ffi.NULL, 0) + 1
    text = ffi.new("char[]", room)
    lib.aclpy_schedule_replay(text, room)
    found: str = ffi.string(text).decode()
    return found


def _facts() -> tuple[int, int]:
    info = ffi.new("aclpy_schedule_info *")
    lib.aclpy_schedule_facts(info)
    return int(info.steps), int(info.diverged)


def _add_note(error: BaseException, text: str) -> None:
    if sys.version_info >= (3, 11):
        error.add_note(text)
    else:
        sys.stderr.write(text + "\n")
