# SPDX-License-Identifier: Apache-2.0
"""Which stream a call of the test bench means."""

from __future__ import annotations

from aclnn_runtime import Stream
from aclnn_runtime.arguments import SIZE_MAX, describe, whole_number
from aclnn_runtime.errors import fail

__all__ = ["place_of"]


def place_of(function: str, stream: Stream | int | None) -> tuple[int, int]:
    """Context and handle; None and 0 are the default stream of the thread's current context."""
    if isinstance(stream, Stream):
        return stream._context, stream.handle  # noqa: SLF001  # our noun
    handle = 0 if stream is None else whole_number(stream)
    if handle is None or not 0 <= handle <= SIZE_MAX:
        fail(
            function,
            "stream",
            what="is no stream",
            got=describe(stream),
            expected="a Stream, its handle, or None for the default stream of the current context",
            fix=f"make one with {Stream._door}",  # noqa: SLF001  # our noun
        )
    return 0, handle
