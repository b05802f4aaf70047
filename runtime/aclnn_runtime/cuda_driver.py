# SPDX-License-Identifier: Apache-2.0
"""CUDA's driver for the engine: it launches again, and waits, what Python has launched once.

Only the functions' addresses cross; what they mean for order, lifetimes and statuses is the
engine's. Without them everything goes through the table of `aclnn_runtime.cuda_device`.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from aclnn_native import ffi, lib
from aclnn_runtime.cuda_errors import tell
from aclnn_runtime.status_table import status_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aclnn_runtime.cuda_queues import Queue

__all__ = ["Kernel", "install", "keep", "library", "serves"]

#: Fields of the engine's table of driver functions, by what the driver calls them.
_FUNCTIONS: Final = {
    "launch": "cuLaunchKernel",
    "synchronize": "cuStreamSynchronize",
    "record": "cuEventRecord",
    "wait": "cuStreamWaitEvent",
    "get_context": "cuCtxGetCurrent",
    "set_context": "cuCtxSetCurrent",
}
#: By what went wrong: the C name that the message begins with, and CuPy's module and exception.
_FAILURES: Final = {
    lib.ACLPY_DRIVER_LAUNCH: ("CUDA kernel", "driver", "CUDADriverError"),
    lib.ACLPY_DRIVER_SYNCHRONIZE: ("aclrtSynchronizeStream", "runtime", "CUDARuntimeError"),
    lib.ACLPY_DRIVER_RECORD: ("aclrtRecordEvent", "runtime", "CUDARuntimeError"),
    lib.ACLPY_DRIVER_WAIT: ("aclrtStreamWaitEvent", "runtime", "CUDARuntimeError"),
}
_FAILED: Final = status_value("ACL_ERROR_RT_DRV_INTERNAL_ERROR")

_found: list[Any] = []  # the driver, while the engine has its functions
_devices: dict[int, bool] = {}
_lock = Lock()


class Kernel(NamedTuple):
    """A kernel with its grid and its block, both of one dimension.

    `shared` is what a block asks for of shared memory [bytes].
    """

    function: int
    blocks: int
    threads: int
    shared: int


def library() -> Any:
    """The driver's library, or None where there is none."""
    with suppress(OSError):
        return ctypes.CDLL("libcuda.so.1")
    return None


def install() -> None:
    """Give the engine the driver's functions, for the table that it has just got."""
    with _lock:
        _devices.clear()
        _found.clear()
        driver = library()
        if driver is None or not all(hasattr(driver, name) for name in _FUNCTIONS.values()):
            return
        table = ffi.new("aclpy_device_driver *")
        types = dict(ffi.typeof("aclpy_device_driver").fields)
        for field, name in _FUNCTIONS.items():
            address = ctypes.cast(getattr(driver, name), ctypes.c_void_p).value
            setattr(table, field, ffi.cast(types[field].type, address))
        table.failed = lib.aclpy_py_device_failed
        if lib.aclpy_device_driver_install(table) == 0:
            _found.append(driver)


def serves(device: int) -> bool:
    """Whether the engine may use the driver on a device; tells it the context at first.

    Parameters
    ----------
    device : int
        CUDA's number of the calling thread's current device.
    """
    known = _devices.get(device)
    if known is None:
        with _lock:
            known = _devices.setdefault(device, _offer(device))
    return known


def _offer(device: int) -> bool:
    """Let the engine use the device's primary context, if it is what CuPy uses, too."""
    if not _found:
        return False
    context = ctypes.c_void_p()
    if _found[0].cuDevicePrimaryCtxRetain(ctypes.byref(context), ctypes.c_int(device)):
        return False
    current = int(import_module("cupy").cuda.driver.ctxGetCurrent())
    if not context.value or current != context.value:
        return False
    return int(lib.aclpy_device_context(device, ffi.cast("void *", context.value))) == 0


def keep(
    queue: Queue,
    kernels: Sequence[Kernel],
    words: Sequence[int],
    places: Sequence[int],
    scratch_bytes: int,
) -> None:
    """Let the engine do by itself what the step's call that this is called in has done.

    Parameters
    ----------
    queue : Queue
        Where it was put.
    kernels : sequence of Kernel
        One after another.
    words : sequence of int
        The argument structure of all of them, as 64-bit integers.
    places : sequence of int
        Of its first words which operand's address they are, counted from 1; one more than the
        last for scratch memory; 0 for none.
    scratch_bytes : int
        Scratch memory that is needed [bytes].
    """
    if not serves(queue.device):
        return
    address, size = queue.own_scratch
    lib.aclpy_launching_queue(ffi.cast("void *", queue.ptr), address, size)
    if max(len(kernels) - lib.ACLPY_LAUNCH_KERNELS, len(words) - lib.ACLPY_LAUNCH_WORDS) > 0:
        return
    desc = ffi.new("aclpy_launch_desc *")
    rows = [(ffi.cast("void *", one.function), *one[1:]) for one in kernels]
    arrays = (
        ffi.new("aclpy_launch_kernel[]", rows),
        ffi.new("int64_t[]", words),
        ffi.new("int32_t[]", places),
    )
    desc.n_kernels, desc.n_words, desc.n_places = len(kernels), len(words), len(places)
    desc.kernels, desc.words, desc.places = arrays
    desc.scratch_bytes = scratch_bytes
    lib.aclpy_launching_step(desc)


@ffi.def_extern(name="aclpy_py_device_failed", error=_FAILED)  # type: ignore[untyped-decorator]
def _failed(what: int, number: int) -> int:
    """Put down what CuPy would have said."""
    function, module, name = _FAILURES[what]
    try:
        return tell(getattr(getattr(import_module("cupy").cuda, module), name)(number), function)
    except BaseException as error:  # noqa: BLE001  # nothing may unwind into the engine
        return tell(error, function)
