# SPDX-License-Identifier: Apache-2.0
"""Callbacks of streams that run on a thread of the program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aclnn_native import calls, lib
from aclnn_runtime.arguments import as_function, as_int32, as_size
from aclnn_runtime.host_function import hold
from aclnn_runtime.outputs import check

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["launch_callback", "process_report", "subscribe", "thread_id", "unsubscribe"]

_LAUNCH: Final = "aclrtLaunchCallback"


def thread_id() -> int:
    """The calling thread's id as subscriptions count it; that of ``threading.get_ident()``."""
    return int(lib.aclpy_thread_id())


def subscribe(context: int, thread: object, stream: int) -> None:
    """``aclrtSubscribeReport`` by handles."""
    number = as_size("aclrtSubscribeReport", "threadId", thread)
    check(lib.aclpy_subscribe_report(context, number, stream))


def unsubscribe(context: int, thread: object, stream: int) -> None:
    """``aclrtUnSubscribeReport`` by handles."""
    number = as_size("aclrtUnSubscribeReport", "threadId", thread)
    check(lib.aclpy_unsubscribe_report(context, number, stream))


def process_report(timeout_ms: object) -> None:
    """``aclrtProcessReport``: runs what waits for the calling thread."""
    check(calls.wait(calls.REPORT, as_int32("aclrtProcessReport", "timeout", timeout_ms)))


def launch_callback(
    context: int, stream: int, function: Callable[[], object] | None, block_type: object
) -> None:
    """Queue `function`, to be called without arguments by the stream's subscribed thread.

    An exception in it becomes status 507000 at the stream's next synchronise, with the exception
    as ``__cause__``.
    """
    kind = as_int32(_LAUNCH, "blockType", block_type)
    called = as_function(_LAUNCH, "fn", function)
    key, run, drop, argument = hold(called)
    check(lib.aclpy_launch_callback(context, stream, run, drop, argument, key, kind))
