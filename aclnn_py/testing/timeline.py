# SPDX-License-Identifier: Apache-2.0
"""The trace of a part of a program."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from aclnn_native import lib
from aclnn_runtime.arguments import as_some_text
from aclnn_runtime.outputs import check

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

__all__ = ["trace"]


@contextmanager
def trace(path: str | os.PathLike[str]) -> Iterator[None]:
    """Write a timeline of the tasks that run inside the ``with`` block.

    Parameters
    ----------
    path : str or os.PathLike
        A file of Chrome-trace events, which Perfetto opens and ``aclnn-py timeline`` draws: one
        lane a stream, arrows from records to the waits for them, counters of memory [bytes] and
        of queued tasks.

    Raises
    ------
    AclError
        100000 for what is no path, and for a trace inside of another one; 100003 if the file cannot
        be opened; 100004 at the end if it could not be written.
    """
    check(lib.aclpy_trace_start(as_some_text("trace", "path", path)))
    try:
        yield
    finally:
        check(lib.aclpy_trace_stop())
