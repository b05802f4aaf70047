# SPDX-License-Identifier: Apache-2.0
"""Latches: hold streams back until the test lets them go."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

from aclnn_native import lib
from aclnn_py.testing._streams import place_of
from aclnn_runtime.outputs import check, number

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from typing_extensions import Self

    from aclnn_runtime import Stream

__all__ = ["Latch", "delay"]


class Latch:
    """A place where streams wait until it is released; later tasks of theirs wait behind it.

    Parameters
    ----------
    stream : Stream or int, optional
        Parked at the beginning of a ``with Latch(stream):`` block, and released at its end.

    Notes
    -----
    A latch is a wait in the stream: no thread is held, and a scheduler treats it like any other.
    """

    def __init__(self, stream: Stream | int | None = None) -> None:
        self._handle = number("aclpy_handle", lib.aclpy_latch_create)
        self._stream = stream

    def park(self, stream: Stream | int) -> None:
        """Let what is queued to the stream from now on wait; any number of streams may be parked.

        Raises
        ------
        AclError
            107017 if the stream is closed; 107027 if it is being captured.
        """
        context, handle = place_of("Latch.park", stream)
        check(lib.aclpy_latch_park(context, self._handle, handle))

    def release(self) -> None:
        """Let all of them go, also those that are parked later; a second call does nothing."""
        check(lib.aclpy_latch_release(self._handle))

    def __enter__(self) -> Self:
        if self._stream is not None:
            self.park(self._stream)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()

    def __reduce__(self) -> NoReturn:
        # What copy and pickle ask: a copy would release the latch when it goes.
        raise TypeError("a Latch cannot be copied or pickled: it would be released twice")

    def __del__(self) -> None:
        handle = getattr(self, "_handle", 0)
        if handle:
            lib.aclpy_latch_destroy(handle)  # releases it; stale only after the library has ended


@contextmanager
def delay(stream: Stream | int) -> Iterator[Latch]:
    """Hold a stream back: what is queued to it inside the ``with`` block runs after the block."""
    with Latch(stream) as latch:
        yield latch
