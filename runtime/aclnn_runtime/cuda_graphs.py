# SPDX-License-Identifier: Apache-2.0
"""CUDA graphs of captured tasks: recorded at the second replay, launched as a whole after it.

The first replay runs the tasks one by one, which also compiles kernels and makes scratch memory:
neither belongs into a recording.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from aclnn_runtime.cuda_queues import OnDevice

if TYPE_CHECKING:
    from aclnn_runtime.cuda_queues import Queue

__all__ = ["ABSENT", "DONE", "RECORD", "begin", "drop", "end", "forget", "launch"]

ABSENT: Final = 0
DONE: Final = 1
RECORD: Final = 2
_RELAXED: Final = 2  # other threads may allocate meanwhile
_GRAPH_BITS: Final = 24


class _Recording:
    """A graph that can be launched, and the scratch memory that it writes."""

    __slots__ = ("device", "graph", "scratch")

    def __init__(self, device: int, graph: int, scratch: list[int]) -> None:
        self.device = device
        self.graph = graph
        self.scratch = scratch

    def close(self) -> None:
        with OnDevice(self.device) as calls:
            calls.graphExecDestroy(self.graph)
            for address in self.scratch:
                calls.free(address)


# None: seen once; False: cannot be recorded.
_recordings: dict[tuple[int, int], _Recording | bool | None] = {}


def launch(queue: Queue, key: int) -> int:
    """Replay `key` by its recording.

    Returns
    -------
    int
        `DONE`; `ABSENT` where the tasks have to run one by one; `RECORD` where they should be
        recorded now.
    """
    place = (queue.device, key)
    if place not in _recordings:
        _recordings[place] = None
        return ABSENT
    found = _recordings[place]
    if isinstance(found, _Recording):
        with OnDevice(queue.device) as calls:
            calls.graphLaunch(found.graph, queue.ptr)
        return DONE
    return ABSENT if found is False else RECORD


def begin(queue: Queue) -> int:
    """From now on the queue's work is recorded instead of done."""
    with OnDevice(queue.device) as calls:
        calls.streamBeginCapture(queue.ptr, _RELAXED)
    queue.recording = []
    return DONE


def end(queue: Queue, key: int) -> int:
    """End the recording and launch it; `ABSENT` where it has become none: nothing has run then."""
    scratch, queue.recording = queue.recording or [], None
    place = (queue.device, key)
    _recordings[place] = False
    with OnDevice(queue.device) as calls:
        try:
            _recordings[place] = recording = _instantiated(calls, queue, scratch)
        finally:
            if _recordings[place] is False:  # what it would have written is nobody's
                for address in scratch:
                    calls.free(address)
        if not isinstance(recording, _Recording):
            return ABSENT
        calls.graphLaunch(recording.graph, queue.ptr)
    return DONE


def drop(queue: Queue, key: int) -> int:
    """End a recording that is not whole, and keep nothing of it; a later replay records afresh."""
    scratch, queue.recording = queue.recording or [], None
    _recordings[queue.device, key] = None
    with OnDevice(queue.device) as calls:
        try:
            graph = calls.streamEndCapture(queue.ptr)
            if graph:
                calls.graphDestroy(graph)
        finally:
            for address in scratch:
                calls.free(address)
    return ABSENT


def _instantiated(calls: Any, queue: Queue, scratch: list[int]) -> _Recording | bool:
    """What was captured as a graph that can be launched; False where it has become none."""
    graph = calls.streamEndCapture(queue.ptr)
    if not graph:
        return False
    try:
        return _Recording(queue.device, int(calls.graphInstantiate(graph)), scratch)
    finally:
        calls.graphDestroy(graph)


def forget(device: int, key: int) -> None:
    """Drop what was recorded of a whole graph; its replays are over."""
    low = key >> _GRAPH_BITS
    for place in [
        at for at in list(_recordings) if at[0] == device and at[1] >> _GRAPH_BITS == low
    ]:
        found = _recordings.pop(place)
        if isinstance(found, _Recording):
            found.close()
