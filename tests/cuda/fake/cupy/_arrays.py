# SPDX-License-Identifier: Apache-2.0
"""Arrays over the fake's device memory, and both protocols that share them.

Capsules are written and read through DLPack's C structures, so that what crosses is what would
cross between two libraries.
"""

from __future__ import annotations

import ctypes
from itertools import count

import numpy as np

from cupy import _memory, cuda

_CUDA = 2
_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
    )  # fmt: skip


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter))


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
        ("deleter", _Deleter), ("flags", ctypes.c_uint64), ("tensor", _Tensor),
    )  # fmt: skip


_api = ctypes.pythonapi
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_api.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]

_numbers = count(1)
#: What capsules that nobody has let go of hold, by the number in their context.
held: dict[int, object] = {}


@_Deleter
def _let_go(address):
    held.pop(_Managed.from_address(address).context, None)


@_Deleter
def _let_go_versioned(address):
    held.pop(_Versioned.from_address(address).context, None)


class ndarray:
    """Memory of a device with a shape."""

    def __init__(self, shape, dtype=float, memptr=None, strides=None, order="C"):
        assert order == "C"
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)
        if memptr is None:
            memptr = cuda.MemoryPointer(cuda.Memory(max(self.size * self.dtype.itemsize, 1)), 0)
        self.data = memptr
        self.strides = np.empty(self.shape, np.uint8).strides if strides is None else strides
        if strides is None:
            self.strides = tuple(step * self.dtype.itemsize for step in self.strides)

    @property
    def size(self):
        return int(np.prod(self.shape))

    @property
    def device(self):
        return self.data.device

    def _host(self):
        """The elements where the host can reach them."""
        ends = [s * (n - 1) for s, n in zip(self.strides, self.shape, strict=True)]
        low = sum(end for end in ends if end < 0)
        high = sum(end for end in ends if end > 0) + self.dtype.itemsize
        if self.size == 0:
            return np.empty(self.shape, self.dtype)
        begin = _memory.here(self.data.ptr + low)
        raw = np.frombuffer((ctypes.c_uint8 * (high - low)).from_address(begin), np.uint8)
        return np.ndarray(self.shape, self.dtype, raw, -low, self.strides)

    def get(self):
        cuda.get_current_stream().synchronize()
        return self._host().copy()

    def __getitem__(self, key):
        probe = np.lib.stride_tricks.as_strided(
            np.empty(1, self.dtype), self.shape, self.strides, writeable=False
        )
        view = probe[key]
        offset = view.__array_interface__["data"][0] - probe.__array_interface__["data"][0]
        pointer = cuda.MemoryPointer(self.data.mem, self.data.offset + offset)
        return ndarray(view.shape, self.dtype, pointer, view.strides)

    def __setitem__(self, key, value):
        view = self[key]
        if not (isinstance(value, ndarray) and value.data.ptr == view.data.ptr):
            view._later(lambda _: value)

    @property
    def T(self):
        return ndarray(self.shape[::-1], self.dtype, self.data, self.strides[::-1])

    def _later(self, change):
        """In the order of the current stream, as every operation of CuPy is."""
        host = self._host()

        def run(_keep=self):
            host[...] = change(host)

        cuda.get_current_stream()._queue().add(run)
        return self

    def __mul__(self, other):
        made, mine = ndarray(self.shape, self.dtype), self._host()
        return made._later(lambda _, _keep=self: mine * self.dtype.type(other))

    def __iadd__(self, other):
        return self._later(lambda values: values + self.dtype.type(other))

    def __imul__(self, other):
        return self._later(lambda values: values * self.dtype.type(other))

    @property
    def __cuda_array_interface__(self):
        return {
            "shape": self.shape, "typestr": self.dtype.str, "data": (self.data.ptr, False),
            "strides": self.strides, "version": 3, "stream": cuda.get_current_stream().ptr or 1,
        }  # fmt: skip

    def __dlpack_device__(self):
        return _CUDA, self.device.id

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        assert dl_device in (None, self.__dlpack_device__())
        assert not copy
        if stream != -1:  # the consumer's stream goes on behind what is queued here
            mine = cuda.get_current_stream()
            if (stream or 1) != (mine.ptr or 1):
                mine.synchronize()
        versioned = max_version is not None and max_version[0] >= 1
        made = (_Versioned if versioned else _Managed)()
        number = next(_numbers)
        tensor, rank = made.tensor, len(self.shape)
        tensor.data, tensor.device_type, tensor.device_id = self.data.ptr, _CUDA, self.device.id
        tensor.ndim, tensor.lanes = rank, 1
        tensor.code, tensor.bits = _CODES[self.dtype.kind], 8 * self.dtype.itemsize
        steps = [step // self.dtype.itemsize for step in self.strides]
        numbers = (ctypes.c_int64 * rank)(*self.shape), (ctypes.c_int64 * rank)(*steps)
        tensor.shape, tensor.strides = numbers
        made.context = number
        made.deleter = _let_go_versioned if versioned else _let_go
        if versioned:
            made.major = 1
        held[number] = self, made, numbers
        name = b"dltensor_versioned" if versioned else b"dltensor"
        return _api.PyCapsule_New(ctypes.addressof(made), name, None)


class _Imported:
    """The memory behind a capsule; lets go of it at its end."""

    def __init__(self, made, address):
        self._made, self._address = made, address

    def __del__(self):
        if self._made.deleter:
            self._made.deleter(self._address)


def _read(capsule):
    """What a capsule holds, taken over."""
    for kind, name in ((_Versioned, b"dltensor_versioned"), (_Managed, b"dltensor")):
        if _api.PyCapsule_IsValid(capsule, name):
            address = _api.PyCapsule_GetPointer(capsule, name)
            _api.PyCapsule_SetName(capsule, b"used_" + name)
            made = kind.from_address(address)
            return made.tensor, _Imported(made, address)
    raise ValueError("a capsule of no kind that is known, or one that was used")


def from_dlpack(array, *, device=None, copy=None):
    assert (device, copy) == (None, None)
    if not hasattr(array, "__dlpack__"):
        raise AttributeError(f"{type(array).__name__} has no __dlpack__")
    kind, number = array.__dlpack_device__()
    if kind != _CUDA:
        raise BufferError("CPU arrays cannot be imported without a copy")
    with cuda.Device(number):
        stream = cuda.get_current_stream()
        capsule = array.__dlpack__(stream=stream.ptr or 1, max_version=(1, 0))
    tensor, owner = _read(capsule)
    shape = tuple(tensor.shape[: tensor.ndim])
    kinds = {code: kind for kind, code in _CODES.items()}
    if tensor.code == 4:  # bfloat16
        import ml_dtypes  # noqa: PLC0415  # CuPy's own dependency where it has the type

        dtype = np.dtype(ml_dtypes.bfloat16)
    else:
        dtype = np.dtype(f"{kinds[tensor.code]}{tensor.bits // 8}")
    steps = tensor.strides[: tensor.ndim] if tensor.strides else None
    strides = None if steps is None else tuple(step * dtype.itemsize for step in steps)
    address = (tensor.data or 0) + tensor.byte_offset
    memory = cuda.UnownedMemory(address, 1, owner, number)
    return ndarray(shape, dtype, cuda.MemoryPointer(memory, 0), strides)


def asarray(a, dtype=None):
    if isinstance(a, ndarray):
        return a
    shared = getattr(a, "__cuda_array_interface__", None)
    if shared is None:
        host = np.ascontiguousarray(a, dtype)
        made = ndarray(host.shape, host.dtype)
        made._later(lambda _: host)
        return made
    if shared.get("stream") is not None:
        cuda.ExternalStream(shared["stream"]).synchronize()
    dtype = np.dtype(shared["typestr"])
    memory = cuda.UnownedMemory(shared["data"][0], 1, a)
    pointer = cuda.MemoryPointer(memory, 0)
    return ndarray(shared["shape"], dtype, pointer, shared.get("strides"))


def zeros(shape, dtype=float):
    made = ndarray(shape, dtype)
    return made._later(lambda _: 0)
