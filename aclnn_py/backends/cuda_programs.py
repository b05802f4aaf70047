# SPDX-License-Identifier: Apache-2.0
"""CUDA kernels, compiled at first use and cached by content and architecture.

CuPy's NVRTC compiles and CuPy loads. CuPy's own ``RawModule`` does not serve: it appends
``-ftz=true`` to every caller's options, which takes subnormal results away, and its cache knows
nothing of included files.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import RLock
from typing import Any, Final

import aclnn_native
from aclnn_py.backends.cuda_rows import own_share
from aclnn_runtime.cuda_queues import OnDevice

__all__ = ["OPTIONS", "folder", "function", "includes", "launch", "processors", "shared_memory"]

#: Of every compilation, besides architecture, dtype and folders: no shortcut in the arithmetic.
OPTIONS: Final = (
    "-std=c++17", "--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true",
)  # fmt: skip
_MULTIPROCESSORS: Final = 16  # cudaDevAttrMultiProcessorCount
_MAJOR: Final = 75  # cudaDevAttrComputeCapabilityMajor
_SHARED: Final = 97  # cudaDevAttrMaxSharedMemoryPerBlockOptin
_SHARED_SIZE: Final = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
_FETCHING: Final = 8  # cards from sm_80 on fetch into shared memory while they go on
_MARK: Final = "softmax.cu"
_loading: Final = RLock()
_CODES: Final = "post_ops_codes.h"  # shared with the C kernels
_DIGEST_BYTES: Final = 32


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
def includes() -> tuple[Path, ...]:
    """Folders that the sources include from."""
    sources = folder()
    kernels = sources.resolve().parent / "kernels"
    return (sources,) if (sources / _CODES).is_file() else (sources, kernels)


@cache
def processors(device: int) -> int:
    """Multiprocessors of a device."""
    with OnDevice(device) as calls:
        return int(calls.deviceGetAttribute(_MULTIPROCESSORS, device))


@cache
def shared_memory(device: int) -> int:
    """Shared memory that a block may ask for [bytes]; 0 where asking for it does not pay."""
    with OnDevice(device) as calls:
        if int(calls.deviceGetAttribute(_MAJOR, device)) < _FETCHING:
            return 0
        return int(calls.deviceGetAttribute(_SHARED, device))


@cache
def _content() -> bytes:
    """A digest of everything that the compiler may read."""
    state = hashlib.sha256()
    for path in sorted((*folder().glob("*.cu"), *folder().glob("*.h"), includes()[-1] / _CODES)):
        state.update(path.name.encode() + b"\0" + path.read_bytes())
    return state.digest()


def _cached(key: bytes) -> Path:
    """The file of a machine program, in the folder that CuPy has for its own."""
    # Not Path.home(), which raises for a user without a home.
    place = os.environ.get("CUPY_CACHE_DIR") or os.path.expanduser("~/.cupy/kernel_cache")  # noqa: PTH111
    return Path(place) / f"aclnn_py_{hashlib.sha256(key).hexdigest()}.cubin"


def _read(path: Path) -> bytes | None:
    """What was written, or None where there is nothing, or not all of it."""
    with suppress(OSError):
        data = path.read_bytes()
        digest, code = data[:_DIGEST_BYTES], data[_DIGEST_BYTES:]
        if digest == hashlib.sha256(code).digest():
            return code
    return None


def _write(path: Path, code: bytes) -> None:
    """Leave `code` for later processes; without it they compile anew."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(code).digest() + code)
        Path(name).replace(path)


def _compiled(source: str, dtype: str, architecture: str) -> bytes:
    cupy = import_module("cupy")
    compiler = import_module("cupy.cuda.compiler")
    chosen = [*OPTIONS, *([f"-DACLPY_T={dtype}"] if dtype else [])]
    key = repr((source, chosen, architecture, cupy.cuda.nvrtc.getVersion())).encode()
    path = _cached(_content() + key)
    code = _read(path)
    if code is None:
        text = (folder() / source).read_text(encoding="utf-8")
        options = (*chosen, *[f"-I{place}" for place in includes()])
        made, _ = compiler.compile_using_nvrtc(text, options, architecture, source)
        code = made.encode() if isinstance(made, str) else bytes(made)
        _write(path, code)
    return code


@cache
def _module(device: int, source: str, dtype: str) -> Any:
    """A program in a device's memory."""
    with OnDevice(device):
        cuda = import_module("cupy").cuda
        module = import_module("cupy.cuda.function").Module()
        module.load(_compiled(source, dtype, cuda.Device(device).compute_capability))
        return module


@cache
def _kernel(device: int, source: str, dtype: str, name: str) -> tuple[int, object]:
    kernel = _module(device, source, dtype).get_function(name)
    return int(kernel.ptr), kernel


@cache
def _ask(device: int, pointer: int, shared: int) -> None:
    """Let a kernel be launched with more shared memory than every kernel may have."""
    with OnDevice(device):
        driver = import_module("cupy").cuda.driver
        driver.funcSetAttribute(pointer, _SHARED_SIZE, shared)


def function(device: int, source: str, dtype: str, name: str, shared: int = 0) -> int:
    """The ``CUfunction`` of a kernel on a device; compiles its program when it is the first.

    Parameters
    ----------
    device : int
        CUDA's number.
    source, dtype : str
        The program, as `aclnn_py.backends.cuda_kernels.programs` lists them.
    name : str
        Of the ``extern "C"`` kernel.
    shared : int
        Shared memory that launches will ask for [bytes].
    """
    # A second program of the same text would end when the first is kept, and its kernels with it.
    with _loading:
        pointer = _kernel(device, source, dtype, name)[0]
        if shared:  # all there is, so that no launch that asks for less comes first
            _ask(device, pointer, shared_memory(device) - own_share(name))
        return pointer


@cache
def launch() -> Any:
    """``cuLaunchKernel``, as CuPy has it."""
    return import_module("cupy").cuda.driver.launchKernel
