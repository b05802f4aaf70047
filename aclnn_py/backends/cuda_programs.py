# SPDX-License-Identifier: Apache-2.0
"""CUDA kernels as CuPy has them: compiled at first use, cached by content and architecture."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import aclnn_native
from aclnn_runtime.cuda_queues import OnDevice

__all__ = ["folder", "function", "launch", "processors"]

_MULTIPROCESSORS: Final = 16  # cudaDevAttrMultiProcessorCount
_MARK: Final = "softmax.cu"


@cache
def folder() -> Path:
    """Where the sources are: beside the native module, or in the tree of an editable install."""
    package = Path(aclnn_native.__file__).parent
    places = (package / "cuda", package.parent / "cuda")
    found = next((place for place in places if (place / _MARK).is_file()), None)
    if found is None:
        raise FileNotFoundError(f"the CUDA sources are in none of {', '.join(map(str, places))}")
    return found


@cache
def processors(device: int) -> int:
    """Multiprocessors of a device."""
    with OnDevice(device) as calls:
        return int(calls.deviceGetAttribute(_MULTIPROCESSORS, device))


@cache
def _module(source: str, dtype: str) -> Any:
    options = ["-std=c++17", "--fmad=false", f"-I{folder()}"]
    options += [f"-DACLPY_T={dtype}"] if dtype else []
    text = (folder() / source).read_text(encoding="utf-8")
    return import_module("cupy").RawModule(code=text, options=tuple(options), backend="nvrtc")


@cache
def _kernel(device: int, source: str, dtype: str, name: str) -> tuple[int, object]:
    with OnDevice(device):
        kernel = _module(source, dtype).get_function(name).kernel
        return int(kernel.ptr), kernel


def function(device: int, source: str, dtype: str, name: str) -> int:
    """The ``CUfunction`` of a kernel on a device; compiles its program when it is the first.

    Parameters
    ----------
    device : int
        CUDA's number.
    source, dtype : str
        The program, as `aclnn_py.backends.cuda_kernels.programs` lists them.
    name : str
        Of the ``extern "C"`` kernel.
    """
    return _kernel(device, source, dtype, name)[0]


@cache
def launch() -> Any:
    """``cuLaunchKernel``, as CuPy has it."""
    return import_module("cupy").cuda.driver.launchKernel
