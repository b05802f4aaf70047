# SPDX-License-Identifier: Apache-2.0
"""``cupy.cuda.driver``: launches, and contexts by number."""

from __future__ import annotations

import ctypes
import threading

from cupy import _memory, _module
from cupy._streams import Fault
from cupy.cuda import runtime

_one = threading.Lock()  # the twin's fibers are global


_NAMES = {
    1: "CUDA_ERROR_INVALID_VALUE", 2: "CUDA_ERROR_OUT_OF_MEMORY", 201: "CUDA_ERROR_INVALID_CONTEXT",
    400: "CUDA_ERROR_INVALID_HANDLE", 700: "CUDA_ERROR_ILLEGAL_ADDRESS",
    719: "CUDA_ERROR_LAUNCH_FAILED",
}  # fmt: skip


class CUDADriverError(RuntimeError):
    def __init__(self, status):
        self.status = status
        super().__init__(f"{_NAMES.get(status, status)}: made by the test")


_CONTEXTS = 0x7000_0000  # that of the first device


def ctxGetCurrent():
    device = getattr(runtime._current, "context", None)
    return 0 if device is None else _CONTEXTS + device


def ctxSetCurrent(ctx):
    """The runtime's current device is the context's; without one it is the first."""
    runtime._current.context = ctx - _CONTEXTS if ctx else None
    runtime._current.device = ctx - _CONTEXTS if ctx else 0


def funcSetAttribute(func, attribute, value):
    """Only how much shared memory launches may ask for."""
    assert attribute == 8
    assert func in _module.kernels
    if not 0 <= value <= runtime.SHARED_BYTES:
        raise CUDADriverError(1)
    _module.shared[func] = value


def launchKernel(
    f, grid_dim_x, grid_dim_y, grid_dim_z, block_dim_x, block_dim_y, block_dim_z,
    shared_mem_bytes, stream, kernel_params, extra,
):  # fmt: skip
    """Copies the arguments now, as the driver does, and runs the kernel in its turn."""
    name, device = _module.kernels[f]
    if getattr(runtime._current, "context", None) != device:
        raise CUDADriverError(201)
    try:
        runtime._called("launchKernel", name, grid_dim_x, block_dim_x, stream)
    except runtime.CUDARuntimeError as error:
        raise CUDADriverError(error.status) from None
    assert (grid_dim_y, grid_dim_z, block_dim_y, block_dim_z) == (1, 1, 1, 1)
    if shared_mem_bytes > _module.shared.get(f, 48 << 10):
        raise CUDADriverError(1)
    place = ctypes.cast(kernel_params, ctypes.POINTER(ctypes.c_void_p))[0]
    words = list((ctypes.c_int64 * _module.words_of(name)).from_address(place))

    def run():
        with _one:
            runtime.ran.append(name)
            if runtime.fault_in == name or runtime.fault_in == "*":
                runtime.fault_in = ""
                raise Fault(700)
            operands = [_memory.here(word) for word in words[: _module.ADDRESSES]]
            operands += words[_module.ADDRESSES :]
            grid = (grid_dim_x, block_dim_x)
            assert _module.twin().launch(name, *grid, operands, shared=shared_mem_bytes) == 0

    runtime._stream(stream).add(run)
