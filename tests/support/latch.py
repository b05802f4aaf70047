# SPDX-License-Identifier: Apache-2.0
"""Latch: a host function that holds a stream until the test lets it go."""

from __future__ import annotations

import threading

# Long enough for a crowded machine, short enough to end a broken run; never waited out otherwise.
PATIENCE_S = 30


class Latch:
    """Parks a stream: ``with Latch(stream):`` parks it, waits until it holds, opens at the end."""

    def __init__(self, stream=None):
        self._owner = threading.get_ident()
        self._ran_inline = False
        self._held = threading.Event()
        self._opened = threading.Event()
        if stream is not None:
            self.park(stream)

    def park(self, stream) -> None:
        """Queue the latch; it may be queued on several streams."""
        stream.launch_host_func(self.hold)

    def hold(self, _=None) -> None:
        """What the stream runs."""
        if threading.get_ident() == self._owner:
            self._ran_inline = True
            return
        self._held.set()
        if not self._opened.wait(PATIENCE_S):
            raise TimeoutError("nobody opened the latch")

    def wait_until_held(self) -> None:
        assert not self._ran_inline, "the latch ran inside the call that queued it"
        assert self._held.wait(PATIENCE_S), "the stream never reached the latch"

    @property
    def held(self) -> bool:
        return self._held.is_set()

    def open(self) -> None:
        self._opened.set()

    def __enter__(self):
        self.wait_until_held()
        return self

    def __exit__(self, *_) -> None:
        self.open()
