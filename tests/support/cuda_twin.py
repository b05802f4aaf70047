# SPDX-License-Identifier: Apache-2.0
"""The CUDA kernels as host code: built with the host's C++ compiler, launched block by block."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from aclnn_py.backends.cuda_kernels import addresses, launches
from support.sources import ROOT

KERNELS = ROOT / "native" / "cuda"
CODES = ROOT / "native" / "kernels"  # of post_ops_codes.h
TWIN = ROOT / "tests" / "cuda"
FLAGS = (
    "-std=c++17", "-O1", "-ffp-contract=off", "-U_FORTIFY_SOURCE", "-Wall", "-Wextra",
    "-Werror", "-Wno-unknown-pragmas", "-fPIC", "-shared",
    f"-I{KERNELS}", f"-I{CODES}", f"-I{TWIN}",
)  # fmt: skip
SANITIZE = (
    "-g1", "-fno-omit-frame-pointer", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
)  # fmt: skip
_FOLDERS: list[tempfile.TemporaryDirectory] = []
GUARD = 64  # bytes on both sides of an output
SHARED = 232_448  # bytes of shared memory that a block may ask for, as on an H100


def compiler() -> str | None:
    """The C++ compiler: ``$CXX``, or the first that is found."""
    names = (os.environ.get("CXX", ""), "c++", "g++", "clang++")
    return next((found for name in names if name and (found := shutil.which(name))), None)


def build(folder: Path, *flags: str) -> Path:
    """The shared library of the twin."""
    library = folder / "twin.so"
    done = subprocess.run(
        [compiler(), *FLAGS, *flags, str(TWIN / "twin.cpp"), "-o", str(library)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return library


@cache
def library() -> Path:
    """The twin that all tests of this process share."""
    folder = tempfile.TemporaryDirectory(prefix="aclnn-py-twin-")
    _FOLDERS.append(folder)  # lives until the process ends
    return build(Path(folder.name))


def placed(array: np.ndarray, offset: int) -> np.ndarray:
    """A copy `offset` elements behind a 16-byte boundary; its memory ends with it."""
    shift = offset * array.itemsize
    memory = np.empty(shift + array.nbytes, np.uint8)  # allocators align to 16 bytes
    assert memory.ctypes.data % 16 == 0
    view = memory[shift:]
    if array.nbytes:
        view[:] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return view.view(array.dtype).reshape(array.shape)


class Guarded:
    """Memory of an output with known bytes on both sides."""

    def __init__(self, shape, dtype, offset=0):
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        self._memory = np.full(size + 2 * GUARD + 16 + offset * 16, 0xA5, np.uint8)
        begin = GUARD + -(self._memory.ctypes.data + GUARD) % 16
        begin += offset * np.dtype(dtype).itemsize
        self._inside = slice(begin, begin + size)
        self.array = self._memory[self._inside].view(dtype).reshape(shape)

    def intact(self) -> bool:
        """Whether nothing was written outside."""
        outside = np.ones(self._memory.size, bool)
        outside[self._inside] = False
        return bool((self._memory[outside] == 0xA5).all())


class Twin:
    """The loaded twin; `seen` are the kernels that it ran."""

    def __init__(self, library: Path):
        self._lib = ctypes.CDLL(str(library))
        self.seen: set[str] = set()

    def launch(
        self, function, blocks, threads, arguments, *, shared=0, only=None, backwards=False
    ) -> int:
        """0, or why not; `only`: (first, count) of the grid's blocks, all of them otherwise."""
        kernel = ctypes.cast(getattr(self._lib, function), ctypes.c_void_p)
        words = (ctypes.c_int64 * len(arguments))(*arguments)
        first, count = only or (0, blocks)
        grid = (blocks, threads, shared)
        return self._lib.twin_launch(kernel, words, *grid, first, count, int(backwards))

    def most_threads(self, function) -> int:
        return ctypes.c_uint.in_dll(self._lib, f"{function}_threads").value

    def run(self, kernel, dtype, params, inputs, out, *, processors=132, **how):
        """Runs a step as a card would; `inputs` and `out` are arrays."""
        reads = [array.ctypes.data for array in inputs]
        self.step(kernel, dtype, params, reads, out.ctypes.data, processors, **how)

    def step(
        self, kernel, dtype, params, reads, write, processors, *, shared=SHARED, backwards=False,
        most_blocks=None,
    ):  # fmt: skip
        """The same by addresses; `most_blocks`: a smaller grid, whose blocks take several items."""
        plan = launches(kernel, dtype, params, processors, shared)
        assert plan is not None, (kernel, dtype)
        scratch = np.full(plan.scratch_bytes // 8, np.nan)
        head = addresses(kernel, reads, write, scratch.ctypes.data)
        for one in plan.launches:
            assert one.threads <= self.most_threads(one.function)
            arguments = [*head, *plan.fields]
            blocks = min(one.blocks, most_blocks or one.blocks)
            code = self.launch(
                one.function, blocks, one.threads, arguments, shared=one.shared, backwards=backwards
            )
            assert code == 0, one
            self.seen.add(one.function)


def sanitizer_runtime() -> Path | None:
    """The address sanitizer's library, which must be in a process before all others."""
    machine = os.uname().machine
    for name in ("libasan.so", f"libclang_rt.asan-{machine}.so"):
        asked = [compiler(), f"-print-file-name={name}"]
        said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
        if Path(said).is_absolute():
            return Path(said)
    return None


def run_sanitized(runtime: Path, library: Path, code: str) -> subprocess.CompletedProcess:
    """Runs `code` in a Python into which the sanitizer is loaded; argv[1] is the twin."""
    return subprocess.run(
        [sys.executable, "-c", code, str(library)],
        env={
            **os.environ,
            "LD_PRELOAD": str(runtime),
            "ASAN_OPTIONS": "detect_leaks=0:use_sigaltstack=0",  # leaks: the interpreter's own
            "PYTHONMALLOC": "malloc",
            "PYTHONPATH": str(ROOT / "tests"),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
