# SPDX-License-Identifier: Apache-2.0
"""Planned failures."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from aclnn_native import ffi, lib
from aclnn_runtime.arguments import as_int, as_int32, as_text
from aclnn_runtime.errors import fail
from aclnn_runtime.outputs import check

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["fail_malloc", "fail_task"]

_planned: Final[set[str]] = set()


@contextmanager
def fail_task(label: str | None = None, *, nth: int = 1, status: int = 507015) -> Iterator[None]:
    """Let a task fail instead of running.

    Parameters
    ----------
    label : str, optional
        The task's label or C name; None: any task.
    nth : int
        Which of these, counted from the beginning of the block in the order in which they run.
    status : int
        The status to fail with, reported like that of any failed task.

    Raises
    ------
    AclError
        100000 for a label of more than 63 bytes, an `nth` below 1, a status of 0, and inside of
        another one.

    Notes
    -----
    Waits, records and hand-overs of callbacks do their work and fail then. What a graph runs goes
    by the name of its execution, ``aclmdlRIExecuteAsync``. The end of the block
    takes back a failure that has not struck.
    """
    name, which = as_text("fail_task", "label", label), _nth("fail_task", "nth", nth)
    code = as_int32("fail_task", "status", status)
    with _alone("fail_task"):
        check(lib.aclpy_fail_task(ffi.NULL if name is None else name, which, code))
        try:
            yield
        finally:
            check(lib.aclpy_fail_task(ffi.NULL, 0, 0))


@contextmanager
def fail_malloc(after: int = 1) -> Iterator[None]:
    """Let the `after`-th next allocation of device or pinned memory fail with 207001.

    Raises
    ------
    AclError
        100000 for a number below 1, and inside of another one.
    """
    count = _nth("fail_malloc", "after", after)
    with _alone("fail_malloc"):
        check(lib.aclpy_fail_after(b"memory", count))
        try:
            yield
        finally:
            check(lib.aclpy_fail_after(b"memory", 0))


def _nth(function: str, argument: str, number: object) -> int:
    return as_int(function, argument, number, low=1, high=2**63 - 1)


@contextmanager
def _alone(function: str) -> Iterator[None]:
    """One plan of a kind at a time: the end of an inner one would take the outer one back."""
    if function in _planned:
        fail(
            function,
            "",
            what="is planned already",
            got=f"{function}() inside of another one",
            expected="one at a time",
            fix=f"leave the outer {function}() block first",
        )
    _planned.add(function)
    try:
        yield
    finally:
        _planned.discard(function)
