# SPDX-License-Identifier: Apache-2.0
"""``acl.util``: addresses of Python objects, arrays at addresses, and threads."""

from __future__ import annotations

import threading
import warnings
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from aclnn_native import ffi, lib
from aclnn_py.pyacl.calls import INT32, UINT64, integer
from aclnn_py.pyacl.outside import refuse
from aclnn_runtime.callback_log import log_raised
from aclnn_runtime.errors import INVALID_PARAM

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = [
    "bytes_to_ptr",
    "numpy_contiguous_to_ptr",
    "numpy_to_ptr",
    "ptr_to_bytes",
    "ptr_to_numpy",
    "start_thread",
    "stop_thread",
]

_BY_NUMBER: Final[dict[int, np.dtype[Any]]] = {
    np.dtype(code).num: np.dtype(code) for code in np.typecodes["All"]
}


# ---- addresses ----


def bytes_to_ptr(data: bytes, /) -> int:
    """Address of the bytes themselves; the caller keeps the object alive.

    Notes
    -----
    Copying results there changes the bytes object, as in pyACL: use one that nothing else shares,
    such as ``array.tobytes()``. CPython shares all objects of 0 and 1 bytes.
    """
    if not isinstance(data, bytes):
        raise TypeError(f"acl.util.bytes_to_ptr(): 'data' must be bytes, not {_kind(data)}")
    return int(ffi.cast("uintptr_t", ffi.from_buffer(data)))


def ptr_to_bytes(pointer: int, size: int, /) -> bytes:
    """A copy of `size` bytes of host memory.

    Raises
    ------
    ValueError
        For a null pointer, device memory, or more bytes than the allocation has.
    """
    call = "acl.util.ptr_to_bytes"
    address = integer(call, "ptr", pointer, UINT64)
    count = integer(call, "size", size, INT32)
    if count < 0:
        raise ValueError(f"{call}(): 'size' is {count}")
    _check_host(call, address, count)
    return bytes(ffi.buffer(ffi.cast("char *", address), count))


def numpy_to_ptr(array: NDArray[Any], /) -> int:
    """Address of an array's first element; the caller keeps the array alive.

    Warns
    -----
    Warning
        Always, as pyACL does: `bytes_to_ptr` is its successor. Once more where the array is not
        contiguous, so that what follows the address is not the array.
    """
    call = "acl.util.numpy_to_ptr"
    _check_array(call, array)
    _warn(call, "bytes_to_ptr")
    if not array.flags.c_contiguous:
        warnings.warn(
            f"{call}(): the array is not contiguous; use numpy_contiguous_to_ptr",
            Warning,
            stacklevel=2,
        )
    return int(array.ctypes.data)


def numpy_contiguous_to_ptr(array: NDArray[Any], /) -> tuple[int, NDArray[Any]]:
    """Address and the contiguous array (a copy where needed) that the caller keeps alive.

    Warns
    -----
    Warning
        Always, as pyACL does.
    """
    call = "acl.util.numpy_contiguous_to_ptr"
    _check_array(call, array)
    _warn(call, "bytes_to_ptr")
    contiguous = np.ascontiguousarray(array)
    return int(contiguous.ctypes.data), contiguous


def ptr_to_numpy(pointer: int, shape: tuple[int, ...], type_number: int, /) -> NDArray[Any]:
    """A writable array on host memory, without a copy.

    Parameters
    ----------
    pointer : int
        Address of the first element.
    shape : tuple of int
        Its shape.
    type_number : int
        NumPy's number of the element type, ``numpy.dtype(...).num``; 11 is float32.

    Warns
    -----
    Warning
        Always, as pyACL does: `ptr_to_bytes` is its successor.

    Raises
    ------
    ValueError
        For a null pointer, device memory, an array larger than its allocation, a negative
        dimension or an unknown type number.

    Notes
    -----
    Pinned memory (``acl.rt.malloc_host``) outlives ``acl.rt.free_host`` while such an array is
    used. Any other memory is the caller's to keep.
    """
    call = "acl.util.ptr_to_numpy"
    address = integer(call, "ptr", pointer, UINT64)
    if not isinstance(shape, tuple):
        raise TypeError(f"{call}(): 'shape' must be a tuple, not {_kind(shape)}")
    dims = tuple(integer(call, "shape", dim, UINT64) for dim in shape)
    kind = _BY_NUMBER.get(integer(call, "type", type_number, INT32))
    if kind is None or kind.hasobject or kind.itemsize == 0:
        raise ValueError(f"{call}(): {type_number} is the number of no plain element type")
    _warn(call, "ptr_to_bytes")
    nbytes = int(np.prod(np.array(dims, dtype=object), initial=1)) * kind.itemsize
    return np.asarray(_Memory(address, dims, kind.str, _check_host(call, address, nbytes)))


class _Memory:
    """Memory that NumPy looks at; pinned memory is held meanwhile."""

    def __init__(self, address: int, shape: tuple[int, ...], kind: str, base: int) -> None:
        self._base = base if base and lib.aclpy_memory_retain(base) == 0 else 0
        self.__array_interface__ = {
            "shape": shape,
            "typestr": kind,
            "data": (address, False),
            "version": 3,
        }

    def __del__(self) -> None:
        if self._base:
            lib.aclpy_memory_release(self._base)


def _check_host(call: str, address: int, nbytes: int) -> int:
    """Refuse what no host program can read; the base of the pinned allocation, else 0."""
    info = ffi.new("aclpy_memory_info *")
    lib.aclpy_memory_query(address, info)
    if address == 0 and nbytes:
        raise ValueError(f"{call}(): the pointer is null")
    if info.kind == lib.ACLPY_MEMORY_DEVICE:
        raise ValueError(
            f"{call}(): {address:#x} is memory of device {info.device}, which the host cannot "
            "read; copy it to the host first (acl.rt.memcpy, kind 2)"
        )
    if info.kind == lib.ACLPY_MEMORY_NONE:
        return 0
    left = int(info.base) + int(info.size) - address
    if nbytes > left:
        raise ValueError(
            f"{call}(): {nbytes} bytes asked for, the allocation has {left} from there"
        )
    return int(info.base) if info.kind == lib.ACLPY_MEMORY_HOST else 0


def _check_array(call: str, array: object) -> None:
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{call}(): 'array' must be a numpy array, not {_kind(array)}")


def _kind(value: object) -> str:
    return type(value).__name__


def _warn(call: str, successor: str) -> None:
    warnings.warn(f"{call}() is deprecated; use acl.util.{successor}", Warning, stacklevel=3)


# ---- threads ----

_threads: dict[int, threading.Thread] = {}


def start_thread(function: Callable[[Any], object], args: object, /) -> tuple[int, int]:
    """Run ``function(args)`` on a thread of its own: (thread id, ret).

    Notes
    -----
    The id is what ``acl.rt.subscribe_report`` takes. An exception ends the thread and is logged.
    """
    if not callable(function):
        raise TypeError(f"acl.util.start_thread(): 'fn' must be callable, not {_kind(function)}")
    thread = threading.Thread(target=_body, args=(function, args), name="acl.util", daemon=True)
    thread.start()
    assert thread.ident is not None
    _threads[thread.ident] = thread
    return thread.ident, 0


def _body(function: Callable[[Any], object], args: object) -> None:
    try:
        function(args)
    except Exception as error:  # noqa: BLE001  # the thread has no caller
        log_raised("acl.util.start_thread", error)


def stop_thread(thread_id: int, /) -> int:
    """Wait until a thread of `start_thread` has ended: ret, 100000 for any other thread."""
    number = integer("acl.util.stop_thread", "tid", thread_id, UINT64)
    thread = _threads.pop(number, None)
    if thread is None or thread is threading.current_thread():
        return INVALID_PARAM
    thread.join()
    return 0


def __getattr__(name: str) -> NoReturn:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    refuse(f"acl.util.{name}", "only pointers, arrays and threads are converted here")
