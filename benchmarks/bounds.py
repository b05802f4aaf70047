# SPDX-License-Identifier: Apache-2.0
"""What stops a large cell: bytes, vector work over the cores' peak, or its layout's own traffic.

The vector work of a kernel is counted, not estimated: it runs one instruction at a time (with the
processor's trap flag set) on a small tensor with the same rows. The same instructions are then
timed where none waits for another and all memory lies in the first-level cache: what they take of
a core's pipes, decoders and ports at least (native/replay.h). A slot is the work of one 32-byte
vector unit for one cycle, so 64-byte instructions count twice; the peak is measured with
multiplications and additions that wait for nothing. x86-64 and Linux only; elsewhere only bytes
count.

Where what is dense in the inputs is not dense in the result, squares must be turned: the least of
the ways that we know loads 16 bytes of lines to their places and zips what is within them. Only
these zips are added, on the ports of the arithmetic.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aclnn_py.core.isa import supported
from benchmarks.build import BuildError, compile_linked, compile_shared
from benchmarks.cells import ITEM_BYTES

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.cells import Cell

__all__ = ["Bounds", "Work", "turning_slots"]

_DTYPES = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "float64": "f64"}
_ELEMENTS = 1 << 14
# Fewer rows than this would make the kernels split long ones, which the whole cell's do not.
_LEAST_ROWS = 8
_PEAK_TURNS = 200_000
_PEAK_TRIALS = 15


@dataclass(frozen=True, slots=True)
class Work:
    """Counted, an element: all instructions, vector slots, vector loads and stores."""

    instructions: float
    slots: float
    moves: float
    replay_ns: float  # of one core; below 0: it could not be timed


@dataclass(slots=True)
class Bounds:
    """Counts kernels on demand; `missing` says why it cannot, `untimed` what was counted only."""

    program: Path | None
    peak: float  # slots a nanosecond of one core
    missing: str = ""
    untimed: set[str] = field(default_factory=set)
    _known: dict[tuple[object, ...], Work | None] = field(default_factory=dict)

    @classmethod
    def build(cls, folder: Path) -> Bounds:
        if os.uname().machine not in {"x86_64", "AMD64"}:
            return cls(None, 0.0, "instructions are counted on x86-64 only")
        try:
            loops = compile_shared("peak_loop", folder)
            program = compile_linked("count_steps", folder)
        except BuildError as error:
            return cls(None, 0.0, str(error))
        loops.bench_peak.restype = ctypes.c_double
        loops.bench_peak.argtypes = [ctypes.c_int64]
        peak = max(loops.bench_peak(_PEAK_TURNS) for _ in range(_PEAK_TRIALS))
        return cls(program, peak)

    def work(self, cell: Cell) -> Work | None:
        """Of the cell's kernel on contiguous memory; None when it cannot be counted."""
        if self.program is None:
            return None
        key = self._key(cell)
        if key not in self._known:
            self._known[key] = self._count(cell, *key)
        return self._known[key]

    def again(self, cell: Cell) -> Work | None:
        """The same timed once more, for a core may have been slow: the least time counts."""
        before = self.work(cell)
        after = self._count(cell, *self._key(cell)) if before else None
        if before and after and 0 <= after.replay_ns < before.replay_ns:
            self._known[self._key(cell)] = after
        return self.work(cell)

    def nanoseconds(self, cell: Cell, work: Work | None, streaming_ns: float) -> tuple[float, str]:
        """The larger of bytes and vector work, and which."""
        if work is None:
            return streaming_ns, "bytes"
        each = max(work.slots / self.peak, work.replay_ns) + turning_slots(cell) / self.peak
        computing_ns = cell.elements * each / cell.threads
        return max((streaming_ns, "bytes"), (computing_ns, "instructions"))

    @staticmethod
    def _key(cell: Cell) -> tuple[str, str, int, int, int]:
        kernel = cell.operator + ("_backward" if cell.direction == "backward" else "")
        return (kernel, _DTYPES[cell.dtype], *_sample(cell))

    def _count(self, cell: Cell, kernel: str, dtype: str, *shape: int) -> Work | None:
        isa = os.environ.get("ACLNN_PY_ISA") or supported()[-1]
        numbers = [str(number) for number in (cell.inputs, *shape)]
        done = subprocess.run(  # noqa: S603  # our own program
            [str(self.program), kernel, dtype, isa, *numbers],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            self.missing = f"counting ended with status {done.returncode}"
            return None
        elements = shape[0] * shape[1] * shape[2]
        work = Work(*(float(word) / elements for word in done.stdout.split()))
        if work.replay_ns < 0:
            self.untimed.add(f"{kernel} {dtype}")
        return work

    def record(self) -> dict[str, Any]:
        return {
            "peak_slots_per_ns": self.peak,
            "missing": self.missing,
            "untimed": sorted(self.untimed),
        }


def turning_slots(cell: Cell) -> float:
    """Of zips, an element; a shuffle of 64 bytes is two slots."""
    if cell.layout != "transposed":
        return 0.0
    item = ITEM_BYTES[cell.dtype]
    rounds = (16 // item).bit_length() - 1
    return 2.0 * rounds * item / 64


def _sample(cell: Cell) -> tuple[int, int, int]:
    """(outer, n, inner) of a small tensor with the cell's axis; its inner size as far as fits."""
    axis = cell.axis % len(cell.shape)
    n = cell.shape[axis]
    inner = 1
    for size in cell.shape[axis + 1 :]:
        inner *= size
    if inner > 1:
        n = min(n, 64)
        inner = min(inner, _ELEMENTS // n)
        return max(1, _ELEMENTS // (n * inner)), n, inner
    return min(cell.elements // n, max(_LEAST_ROWS, _ELEMENTS // n)), n, 1
