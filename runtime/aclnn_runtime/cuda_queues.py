# SPDX-License-Identifier: Apache-2.0
"""CUDA streams behind the engine's streams, by the engine's numbers, with their scratch memory."""

from __future__ import annotations

from importlib import import_module
from threading import RLock, local
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["AT_ONCE", "OnDevice", "Queue", "attach", "forget_all", "queue_of", "runtime", "take"]

#: Number of no stream of the engine: what is put there is waited for.
AT_ONCE: Final = 0
_NON_BLOCKING: Final = 1

_queues: dict[tuple[int, int], Queue] = {}
_lock = RLock()  # a finalizer may end another stream inside of any call
_thread = local()


def runtime() -> Any:
    """``cupy.cuda.runtime``, imported here and nowhere earlier."""
    return import_module("cupy").cuda.runtime


class OnDevice:
    """Makes a device CUDA's current one for a block, and puts back what was.

    A thread has no context before it has chosen a device: asking which is the current one chooses
    none, and a launch would be refused.
    """

    __slots__ = ("_before", "_device", "_runtime")

    def __init__(self, device: int) -> None:
        self._device = device
        self._runtime = runtime()

    def __enter__(self) -> Any:
        self._before = self._runtime.getDevice()
        if self._before != self._device or getattr(_thread, "has", None) != self._device:
            self._runtime.setDevice(self._device)
            _thread.has = self._device
        return self._runtime

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._before != self._device:
            self._runtime.setDevice(self._before)
            _thread.has = self._before


class Queue:
    """One CUDA stream.

    Attributes
    ----------
    device : int
        CUDA's number of the device.
    ptr : int
        The ``cudaStream_t``.
    recording : list of int or None
        While a graph is recorded: scratch memory that has to live as long as the graph.
    """

    __slots__ = ("_owner", "_pieces", "_scratch_bytes", "device", "ptr", "recording")

    def __init__(self, device: int, ptr: int, owner: object = None) -> None:
        self.device = device
        self.ptr = ptr
        self.recording: list[int] | None = None
        self._owner = owner
        self._pieces: list[int] = []
        self._scratch_bytes = 0

    def scratch(self, nbytes: int) -> int:
        """Memory for the launches of one step, which the next step may use again.

        It only grows, at least twofold. A stream's steps run one after another, so one piece serves
        all; smaller ones stay until the stream ends, for queued work may still write them. Nothing
        is waited for here: who calls may be the one that the stream waits for.

        Parameters
        ----------
        nbytes : int
            0: none [bytes].

        Returns
        -------
        int
            Its address.
        """
        if nbytes == 0:
            return 0
        calls = runtime()
        if self.recording is not None:
            address = int(calls.malloc(nbytes))
            self.recording.append(address)
            return address
        if nbytes > self._scratch_bytes:
            size = max(nbytes, 2 * self._scratch_bytes)
            self._pieces.append(int(calls.malloc(size)))
            self._scratch_bytes = size
        return self._pieces[-1]

    @property
    def own_scratch(self) -> tuple[int, int]:
        """Address and bytes of the piece that serves all steps; no recording's."""
        return (self._pieces[-1], self._scratch_bytes) if self._pieces else (0, 0)

    def close(self) -> None:
        """Give back the stream, if it is ours, and its scratch memory."""
        owner, self._owner = self._owner, None
        with OnDevice(self.device) as calls:
            try:
                while self._pieces:
                    calls.free(self._pieces.pop())
            finally:  # an error of a kernel is every later call's, too
                if owner is None:
                    calls.streamDestroy(self.ptr)


def queue_of(device: int, stream: int) -> Queue:
    """The queue of the engine's stream, made on first use.

    It does not wait for CUDA's legacy default stream, nor that one for it.
    """
    key = (device, stream)
    found = _queues.get(key)
    if found is not None:
        return found
    with _lock:
        found = _queues.get(key)
        if found is None:
            with OnDevice(device) as calls:
                found = Queue(device, int(calls.streamCreateWithFlags(_NON_BLOCKING)))
            _queues[key] = found
    return found


def attach(device: int, stream: int, ptr: int, owner: object) -> None:
    """Let the engine's stream be a CUDA stream that somebody else made.

    Parameters
    ----------
    device, stream : int
        CUDA's number of the device, the engine's number of the stream.
    ptr : int
        The ``cudaStream_t``.
    owner : object
        What keeps it alive; held until the engine's stream ends.
    """
    with _lock:
        _queues[device, stream] = Queue(device, ptr, owner)


def take(device: int, stream: int) -> Queue | None:
    """Forget the queue of a stream that has ended."""
    with _lock:
        return _queues.pop((device, stream), None)


def forget_all() -> None:
    """Forget every queue without a call to CUDA (tests; after a fork)."""
    with _lock:
        _queues.clear()
