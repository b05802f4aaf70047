# SPDX-License-Identifier: Apache-2.0
"""``cupy.cuda.runtime``: the calls of the backend, recorded in `calls`.

The parameters have the names and the order of CuPy 14 (tests/unit/test_fake_cupy.py compares them
with the package where it is installed).
"""

from __future__ import annotations

import ctypes
import os
import threading

from cupy import _memory
from cupy._streams import Event, Graph, Stream

calls: list[tuple] = []
ran: list[str] = []
fail_next: dict[str, int] = {}
fault_in = ""
devices = int(os.environ.get("FAKE_CUPY_DEVICES", "2"))
memory_bytes = 1 << 30
deviceAttributeMultiProcessorCount = 16
SHARED_BYTES = 232_448  # what a block may ask for
memcpyDefault = 4
streamCaptureModeRelaxed = 2

_streams: dict[int, Stream] = {}
_events: dict[int, Event] = {}
_graphs: dict[int, Graph] = {}
_current = threading.local()

_NAMES = {
    1: "cudaErrorInvalidValue", 2: "cudaErrorMemoryAllocation", 100: "cudaErrorNoDevice",
    101: "cudaErrorInvalidDevice", 400: "cudaErrorInvalidResourceHandle",
    700: "cudaErrorIllegalAddress", 719: "cudaErrorLaunchFailure",
}  # fmt: skip


class CUDARuntimeError(RuntimeError):
    def __init__(self, status):
        self.status = status
        super().__init__(f"{_NAMES.get(status, status)}: made by the test")


def _called(name, *arguments):
    calls.append((name, *arguments))
    status = fail_next.pop(name, 0)
    if status:
        raise CUDARuntimeError(status)


def _context():
    """The device whose context the thread has: calls that need one bind it, `getDevice` not."""
    _current.context = getDevice()
    return _current.context


def _stream(stream) -> Stream:
    if stream not in _streams:
        raise CUDARuntimeError(400)
    return _streams[stream]


def getDeviceCount():
    _called("getDeviceCount")
    if devices == 0:
        raise CUDARuntimeError(100)
    return devices


def getDevice():
    return getattr(_current, "device", 0)


def setDevice(device):
    if not 0 <= device < devices:
        raise CUDARuntimeError(101)
    _current.device = _current.context = device


def memGetInfo():
    return memory_bytes - _memory.in_use(), memory_bytes


def deviceGetAttribute(attrib, device):
    major, shared = 75, 97
    return {deviceAttributeMultiProcessorCount: 4, major: 9, shared: SHARED_BYTES}[attrib]


def getDeviceProperties(device):
    return {
        "name": b"Fake", "major": 9, "minor": 0, "multiProcessorCount": 4,
        "totalGlobalMem": memory_bytes,
    }  # fmt: skip


def malloc(size):
    _called("malloc", size)
    _context()
    if size > memory_bytes - _memory.in_use():
        raise CUDARuntimeError(2)
    return _memory.allocate(size)


def free(ptr):
    _called("free", ptr)
    # CUDA waits for the device here. Nobody may rely on that: what still runs would fault.
    if not _memory.release(ptr):
        raise CUDARuntimeError(1)


def hostAlloc(size, flags):
    _called("hostAlloc", size)
    return _memory.allocate_pinned(size)


def freeHost(ptr):
    _called("freeHost", ptr)
    if _memory.pinned.pop(ptr, None) is None:
        raise CUDARuntimeError(1)


def memcpyAsync(dst, src, size, kind, stream):
    _called("memcpyAsync", dst, src, size, stream)
    assert kind == memcpyDefault
    ends = _memory.here(dst), _memory.here(src)
    _stream(stream).add(lambda: ctypes.memmove(*ends, size))


def memsetAsync(ptr, value, size, stream):
    _called("memsetAsync", ptr, value, size, stream)
    place = _memory.here(ptr)
    _stream(stream).add(lambda: ctypes.memset(place, value, size))


def streamCreateWithFlags(flags):
    _called("streamCreateWithFlags", flags)
    _context()
    made = Stream()
    _streams[made.ptr] = made
    return made.ptr


def streamDestroy(stream):
    _called("streamDestroy", stream)
    _stream(stream).close()
    del _streams[stream]


def streamSynchronize(stream):
    _called("streamSynchronize", stream)
    status = _stream(stream).synchronize()
    if status:
        raise CUDARuntimeError(status)


def streamWaitEvent(stream, event, flags=0):
    _called("streamWaitEvent", stream, event)
    reached = _events[event].reached
    _stream(stream).add(reached.wait)


def eventCreateWithFlags(flags):
    _called("eventCreateWithFlags", flags)
    made = Event()
    _events[made.ptr] = made
    return made.ptr


def eventRecord(event, stream):
    _called("eventRecord", event, stream)
    _stream(stream).add(_events[event].record_of(stream))


def eventElapsedTime(start, end):
    _called("eventElapsedTime", start, end)
    return 1e3 * (_events[end].time - _events[start].time)


def streamBeginCapture(stream, mode=streamCaptureModeRelaxed):
    _called("streamBeginCapture", stream)
    _stream(stream).recording = []


def streamEndCapture(stream):
    found = _stream(stream)
    tasks, found.recording = found.recording, None
    _called("streamEndCapture", stream)
    made = Graph(tasks)
    _graphs[made.ptr] = made
    return made.ptr


def graphInstantiate(graph):
    _called("graphInstantiate", graph)
    made = Graph(_graphs[graph].tasks)
    _graphs[made.ptr] = made
    return made.ptr


def graphLaunch(graphExec, stream):
    _called("graphLaunch", graphExec, stream)
    for task in _graphs[graphExec].tasks:
        _stream(stream).add(task)


def graphDestroy(graph):
    del _graphs[graph]


def graphExecDestroy(graphExec):
    _called("graphExecDestroy", graphExec)
    del _graphs[graphExec]
