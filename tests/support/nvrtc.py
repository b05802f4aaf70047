# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's run-time compiler from its wheel, through ctypes: no driver, no card, no toolkit."""

from __future__ import annotations

import ctypes
import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path

from aclnn_py.backends import cuda_programs
from support.sources import ROOT

KERNELS = ROOT / "native" / "cuda"
CODES = ROOT / "native" / "kernels" / "post_ops_codes.h"
ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120")
INCLUDES = (f"-I{KERNELS}", f"-I{CODES.parent}")
OPTIONS = (*cuda_programs.OPTIONS, "--ptxas-options=-v", *INCLUDES)
#: What ptxas tells of a kernel when asked to; anything else in the log is a warning.
_TOLD = re.compile(
    r"ptxas info\s+: (\d+ bytes gmem|Compiling entry|Function properties|Used \d+ reg|Compile time)"
    r"|ptxas\s+\.\s+\d+ bytes stack frame"
)


def find() -> Path | None:
    """The compiler's library among the installed ``nvidia`` packages."""
    spec = importlib.util.find_spec("nvidia")
    folders = spec.submodule_search_locations if spec else None
    found = [
        path
        for folder in folders or ()
        for path in sorted(Path(folder).glob("*/lib/libnvrtc.so.*"))
        if ".alt." not in path.name
    ]
    return found[-1] if found else None


@dataclass(frozen=True)
class Resources:
    """What one kernel takes of a card: registers a thread, bytes a thread, bytes a block."""

    kernel: str
    registers: int
    stack: int
    spill_stores: int
    spill_loads: int
    shared: int


@dataclass(frozen=True)
class Compiled:
    """A machine program, what its kernels take, and every other line of the log."""

    code: bytes
    kernels: tuple[Resources, ...]
    warnings: tuple[str, ...]


class Nvrtc:
    """The loaded compiler."""

    def __init__(self, library: Path):
        # It looks for its own headers by name, beside itself only in some versions of the wheel.
        for path in sorted(library.parent.glob("libnvrtc-builtins.so.*")):
            ctypes.CDLL(str(path), ctypes.RTLD_GLOBAL)
        self._lib = ctypes.CDLL(str(library))

    def version(self) -> tuple[int, int]:
        major, minor = ctypes.c_int(), ctypes.c_int()
        assert self._lib.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)) == 0
        return major.value, minor.value

    def compile(self, text: str, name: str, *options: str) -> Compiled:
        """Compiles with `options` and OPTIONS; an error fails with the compiler's own text."""
        program = ctypes.c_void_p()
        made = self._lib.nvrtcCreateProgram(
            ctypes.byref(program), text.encode(), name.encode(), 0, None, None
        )
        assert made == 0
        given = [option.encode() for option in (*OPTIONS, *options)]
        array = (ctypes.c_char_p * len(given))(*given)
        status = self._lib.nvrtcCompileProgram(program, len(given), array)
        log = self._bytes(program, "ProgramLog").rstrip(b"\0").decode()
        try:
            assert status == 0, f"{name} {options}\n{log}"
            code = self._bytes(program, "CUBIN")
        finally:
            self._lib.nvrtcDestroyProgram(ctypes.byref(program))
        lines = [line for line in log.splitlines() if line.strip()]
        return Compiled(code, resources(log), tuple(x for x in lines if not _TOLD.match(x)))

    def _bytes(self, program, what: str) -> bytes:
        size = ctypes.c_size_t()
        assert getattr(self._lib, f"nvrtcGet{what}Size")(program, ctypes.byref(size)) == 0
        buffer = ctypes.create_string_buffer(size.value)
        assert getattr(self._lib, f"nvrtcGet{what}")(program, buffer) == 0
        return buffer.raw


def resources(log: str) -> tuple[Resources, ...]:
    """The figures in a log, kernel by kernel."""
    found = []
    for part in log.split("Compiling entry function '")[1:]:
        frame = re.search(
            r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", part
        )
        used = re.search(r"Used (\d+) registers", part)
        shared = re.search(r"(\d+) bytes smem", part)
        assert frame, part
        assert used, part
        stack, stores, loads = (int(value) for value in frame.groups())
        found.append(
            Resources(
                part.split("'")[0],
                int(used[1]),
                stack,
                stores,
                loads,
                int(shared[1]) if shared else 0,
            )
        )
    return tuple(found)


def _for_dtype(text, dtype):
    """Without what ``#if ACLPY_JOIN(NAME, ACLPY_T)`` takes away for a dtype."""

    def chosen(part):
        holds = re.search(rf"^#define {part[1]}_{dtype} 1$", text, re.MULTILINE)
        return part[2] if holds else part[3] or ""

    sides = r"^#if ACLPY_JOIN\((\w+), ACLPY_T\)\n(.*?)(?:^#else\n(.*?))?^#endif\n"
    return re.sub(sides, chosen, text, flags=re.MULTILINE | re.DOTALL)


def declared(source, dtype):
    """Threads of each kernel that a source names for a dtype."""
    text = (KERNELS / source).read_text(encoding="utf-8")
    if source == "copy_strided.cu":
        return {
            f"{kind}_b{size}": int(threads)
            for kind, threads in re.findall(r"GLOBAL\((copy_\w+)_b##bytes, View, (\d+)\)", text)
            for size in re.findall(r"^COPY_\((\d+),", text, flags=re.MULTILINE)
        }
    if source == "softmax_fused.cu":
        listed = re.findall(r"^FUSED_\((\w+), (\d+)", text, flags=re.MULTILINE)
        return {f"softmax_{name}": int(threads) for name, threads in listed}
    if source == "post_ops.cu":
        listed = re.findall(r"^ACLPY_GLOBAL\((\w+), \w+, (\d+)", text, flags=re.MULTILINE)
        return {name: int(threads) for name, threads in listed}
    if source == "cast.cu":
        targets = re.findall(r"^CAST_\((\w+), ", text, flags=re.MULTILINE)
        return {f"cast_{dtype}_{target}": 256 for target in targets}
    text = _for_dtype(text, dtype)
    stem = source.removesuffix(".cu")
    both = re.findall(r"^BOTH_\((\w+), (\d+)", text, flags=re.MULTILINE)
    single = re.findall(r"^ACLPY_GLOBAL\(ACLPY_NAME\((\w+)\), Problem, (\d+)", text, re.MULTILINE)
    names = {f"{log}{stem}_{kind}": int(n) for kind, n in both for log in ("", "log_")}
    names |= {name: int(n) for name, n in single}
    return {f"{name}_{dtype}": threads for name, threads in names.items()}
