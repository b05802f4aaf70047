# SPDX-License-Identifier: Apache-2.0
"""Planned failures."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from aclnn_native import ffi, lib
from aclnn_runtime.arguments import as_int32
from aclnn_runtime.outputs import check

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["fail_malloc", "fail_task"]


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
        100000 for a label of more than 63 bytes, an `nth` below 1 or a status of 0.

    Notes
    -----
    Waits, records and hand-overs of callbacks do their work and fail then. The end of the block
    takes back a failure that has not struck.
    """
    name = ffi.NULL if label is None else label.encode()
    check(
        lib.aclpy_fail_task(name, nth if nth != 0 else -1, as_int32("fail_task", "status", status))
    )
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
        100000 for a number below 1.
    """
    check(lib.aclpy_fail_after(b"memory", after if after != 0 else -1))
    try:
        yield
    finally:
        check(lib.aclpy_fail_after(b"memory", 0))
