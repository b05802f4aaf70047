# SPDX-License-Identifier: Apache-2.0
"""Which stream a call of the test bench means."""

from __future__ import annotations

from aclnn_runtime import Stream
from aclnn_runtime.noun import handle_of

__all__ = ["place_of"]


def place_of(function: str, stream: Stream | int | None) -> tuple[int, int]:
    """Context and handle; None and 0 are the default stream of the thread's current context."""
    if isinstance(stream, int) and not isinstance(stream, bool) and 0 <= stream < 2**64:
        return 0, stream
    context = stream._context if isinstance(stream, Stream) else 0  # noqa: SLF001  # our noun
    return context, handle_of(function, "stream", stream, Stream)
