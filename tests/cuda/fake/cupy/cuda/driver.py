# SPDX-License-Identifier: Apache-2.0
"""``cupy.cuda.driver``: launches."""

from __future__ import annotations

import ctypes
import threading

from cupy import _memory, _module
from cupy._streams import Fault
from cupy.cuda import runtime

_one = threading.Lock()  # the twin's fibers are global


class CUDADriverError(RuntimeError):
    def __init__(self, status):
        self.status = status
        super().__init__(f"CUDA_ERROR_INVALID_CONTEXT ({status})")


def launchKernel(
    f, grid_dim_x, grid_dim_y, grid_dim_z, block_dim_x, block_dim_y, block_dim_z,
    shared_mem_bytes, stream, kernel_params, extra,
):  # fmt: skip
    """Copies the arguments now, as the driver does, and runs the kernel in its turn."""
    name, device = _module.kernels[f]
    if getattr(runtime._current, "context", None) != device:
        raise CUDADriverError(201)
    runtime._called("launchKernel", name, grid_dim_x, block_dim_x, stream)
    assert (grid_dim_y, grid_dim_z, block_dim_y, block_dim_z, shared_mem_bytes) == (1, 1, 1, 1, 0)
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
            assert _module.twin().launch(name, grid_dim_x, block_dim_x, operands) == 0

    runtime._stream(stream).add(run)
