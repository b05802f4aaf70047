# SPDX-License-Identifier: Apache-2.0
"""``cupy.cuda``, as far as it is used: devices, streams and memory as objects."""

from __future__ import annotations

import threading

from cupy.cuda import compiler, driver, function, nvrtc, runtime

__all__ = [
    "Device",
    "ExternalStream",
    "Memory",
    "MemoryPointer",
    "Stream",
    "UnownedMemory",
    "compiler",
    "driver",
    "function",
    "get_current_stream",
    "nvrtc",
    "runtime",
]

_thread = threading.local()
_defaults: dict[int, int] = {}


class Device:
    """A device by its number; the current one inside of a block."""

    def __init__(self, device=None):
        self.id = runtime.getDevice() if device is None else device

    @property
    def compute_capability(self):
        return "90"

    def __enter__(self):
        self._before = runtime.getDevice()
        runtime.setDevice(self.id)
        return self

    def __exit__(self, *_):
        runtime.setDevice(self._before)


class _Stream:
    """`ptr` 0, or 1 as the protocols write it: the default stream of the device."""

    def _queue(self):
        if self.ptr > 2:
            return runtime._stream(self.ptr)
        device = runtime.getDevice()
        if device not in _defaults:
            _defaults[device] = runtime.streamCreateWithFlags(1)
        return runtime._stream(_defaults[device])

    def synchronize(self):
        status = self._queue().synchronize()
        if status:
            raise runtime.CUDARuntimeError(status)

    def __cuda_stream__(self):
        return 0, self.ptr

    def __enter__(self):
        self._before = getattr(_thread, "stream", None)
        _thread.stream = self
        return self

    def __exit__(self, *_):
        _thread.stream = self._before


class Stream(_Stream):
    def __init__(self, null=False, non_blocking=False, ptds=False, priority=None):
        assert (ptds, priority) == (False, None)
        self.ptr = 0 if null else runtime.streamCreateWithFlags(int(non_blocking))

    @classmethod
    def from_external(cls, stream):
        version, ptr = stream.__cuda_stream__()
        assert version == 0
        return ExternalStream(ptr)


class ExternalStream(_Stream):
    def __init__(self, ptr, device_id=-1):
        self.ptr, self.device_id = ptr, device_id


def get_current_stream(device_id=-1):
    return getattr(_thread, "stream", None) or Stream(null=True)


class Memory:
    """Memory of the current device, freed with this object."""

    def __init__(self, size):
        self.device_id, self.size, self.ptr = runtime.getDevice(), size, runtime.malloc(size)

    def __del__(self):
        runtime.free(self.ptr)


class UnownedMemory:
    """Somebody else's memory, and what keeps it alive."""

    def __init__(self, ptr, size, owner, device_id=-1):
        self.ptr, self.size, self._owner = ptr, size, owner
        self.device_id = runtime.getDevice() if device_id < 0 else device_id


class MemoryPointer:
    def __init__(self, mem, offset):
        self.mem, self.offset, self.ptr = mem, offset, mem.ptr + offset
        self.device = Device(mem.device_id)
