# SPDX-License-Identifier: Apache-2.0
"""Compiles the C halves of the benchmarks, once a run, with the machine's own compiler."""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = [
    "BuildError",
    "compile_linked",
    "compile_program",
    "compile_shared",
    "library_folder",
    "onednn_prefix",
]

_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parent
_FLAGS = ("-std=gnu11", "-O3", "-march=native", "-Wall", "-Wextra")


class BuildError(RuntimeError):
    """The compiler is missing or refused."""


def compile_shared(name: str, folder: Path, *, engine: bool = False) -> ctypes.CDLL:
    """Compile ``native/<name>.c`` and load it; `engine` links it to the project's library."""
    target = folder / f"{name}.so"
    before, after = _with_library() if engine else ([], [])
    _compile(name, target, ["-fPIC", "-shared", "-pthread", *before], after)
    return ctypes.CDLL(str(target))


def compile_linked(name: str, folder: Path) -> Path:
    """Compile ``native/<name>.c`` to a program linked to the project's library."""
    _compile(name, folder / name, *_with_library())
    return folder / name


def compile_program(name: str, folder: Path, prefix: Path) -> Path:
    """Compile ``native/<name>.c`` against the oneDNN below `prefix`."""
    target = folder / name
    library = prefix / "lib"
    # An rpath of the old kind also serves the libraries of the libraries.
    after = [f"-L{library}", "-ldnnl", f"-Wl,-rpath,{library}", "-Wl,--disable-new-dtags"]
    _compile(
        name,
        target,
        [f"-I{prefix / 'include'}"],
        [*after, "-Wl,--allow-shlib-undefined"],
    )
    return target


def library_folder() -> Path:
    """Folder of the loaded libaclnn_py."""
    from aclnn_native import _native  # noqa: PLC0415  # only ours needs it

    return Path(_native.__file__).resolve().parent


def onednn_prefix() -> Path | None:
    """Where the packages onednn and onednn-devel put lib/ and include/, if they are installed."""
    prefix = Path(sys.prefix)
    complete = (prefix / "include/oneapi/dnnl/dnnl.h").exists() and any(
        (prefix / "lib").glob("libdnnl.so*")
    )
    return prefix if complete else None


def _with_library() -> tuple[list[str], list[str]]:
    where = library_folder()
    headers = [f"-I{_ROOT / 'native' / part}" for part in ("engine", "kernels", "include/toolkit")]
    return headers, [f"-L{where}", "-laclnn_py", f"-Wl,-rpath,{where}"]


def _compile(name: str, target: Path, before: list[str], after: list[str]) -> None:
    compiler = shlex.split(os.environ.get("CC", "cc"))
    if shutil.which(compiler[0]) is None:
        raise BuildError(f"no C compiler: {compiler[0]} was not found")
    source = _HERE / "native" / f"{name}.c"
    command = [*compiler, *_FLAGS, *before, str(source), "-o", str(target), *after]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        first = next(iter(done.stderr.strip().splitlines()), "no message")
        raise BuildError(f"{compiler[0]} could not build {name}.c: {first}")
