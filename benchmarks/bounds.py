# SPDX-License-Identifier: Apache-2.0
"""What stops a large cell: bytes, vector work over the cores' peak, or its layout's own traffic.

The vector work of a kernel is counted, not estimated: it runs one instruction at a time (with the
processor's trap flag set) on a small tensor with the same rows. A slot is the work of one 32-byte
vector unit for one cycle, so 64-byte instructions count twice; loads and stores are not counted.
The peak is measured with independent multiply-adds and additions. Some processors multiply and add
in pipes apart, and conversions and their like take several steps on most: how much each kind of
instruction takes of the pipes that multiply, and of those that add, is measured beside
multiply-adds and beside additions, in whole steps of 64 bytes (native/work_kinds.h). A bound is
the largest of all slots over the peak and of what is done in either kind of pipe over its rate.
x86-64 and Linux only; elsewhere only bytes count.

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
_KIND_TURNS = 50_000
_STEP_SLOTS = 2  # of 64 bytes
# Half a step is what pipes take that are chosen badly: a bound counts only what is nearly whole.
_NEARLY = 0.25
# Of a turn of native/peak_loop.c.
_CHAINS, _BETWEEN, _NONE = 8, 4, -1
# In the order of native/work_kinds.h.
_KINDS = (
    "multiply",
    "add",
    "half to float",
    "half to float, from memory",
    "float to half",
    "float to double",
    "float to double, from memory",
    "floats to bfloat16",
    "scale by powers of two",
    "permute words",
)


@dataclass(frozen=True, slots=True)
class Work:
    """Counted, an element: all instructions, vector slots, vector loads and stores."""

    instructions: float
    slots: float
    moves: float
    multiplying: float  # slots of the pipes that multiply, and of those that add
    adding: float


@dataclass(frozen=True, slots=True)
class Pipes:
    """What one core does a nanosecond, in slots, and what instructions of 64 bytes take."""

    multiplying: float = 0.0
    adding: float = 0.0
    # By kind: of the pipes that multiply, and of those that add.
    kinds: dict[str, tuple[int, int]] = field(default_factory=dict)

    def most(self, kind: str) -> int:
        """Slots of one instruction, in the pipes that it holds up most."""
        return max(_STEP_SLOTS, *self.kinds.get(kind, (0, 0)))


@dataclass(slots=True)
class Bounds:
    """Counts kernels on demand; `missing` says why it cannot."""

    program: Path | None
    peak: float  # slots a nanosecond of one core
    missing: str = ""
    pipes: Pipes = field(default_factory=Pipes)
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
        return cls(program, peak, pipes=_pipes(loops))

    def work(self, cell: Cell) -> Work | None:
        """Of the cell's kernel on contiguous memory; None when it cannot be counted."""
        if self.program is None:
            return None
        kernel = cell.operator + ("_backward" if cell.direction == "backward" else "")
        key = (kernel, _DTYPES[cell.dtype], *_sample(cell))
        if key not in self._known:
            self._known[key] = self._count(cell, *key)
        return self._known[key]

    def nanoseconds(self, cell: Cell, work: Work | None, streaming_ns: float) -> tuple[float, str]:
        """The larger of bytes and vector work (in all, or in one kind of pipe), and which."""
        if work is None:
            return streaming_ns, "bytes"
        each = (work.slots + turning_slots(cell)) / self.peak
        if self.pipes.kinds:
            each = max(each, work.multiplying / self.pipes.multiplying)
            each = max(each, work.adding / self.pipes.adding)
        computing_ns = cell.elements * each / cell.threads
        return max((streaming_ns, "bytes"), (computing_ns, "instructions"))

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
        instructions, slots, moves, *several = (int(word) for word in done.stdout.split())
        multiplying = adding = 0
        for count, kind in zip(several, _KINDS, strict=True):
            slots += count * (self.pipes.most(kind) - _STEP_SLOTS)
            held = self.pipes.kinds.get(kind, (0, 0))
            multiplying, adding = multiplying + count * held[0], adding + count * held[1]
        numbers = (instructions, slots, moves, multiplying, adding)
        return Work(*(number / elements for number in numbers))

    def record(self) -> dict[str, Any]:
        return {
            "peak_slots_per_ns": self.peak,
            "multiplying_slots_per_ns": self.pipes.multiplying,
            "adding_slots_per_ns": self.pipes.adding,
            "missing": self.missing,
            "slots": self.pipes.kinds,
        }


def _pipes(loops: ctypes.CDLL) -> Pipes:
    """Measured with 64-byte instructions; nothing where this machine has none."""
    beside = loops.bench_beside
    beside.restype = ctypes.c_double
    beside.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64]

    def once_ns(kind: int, *, adds: bool) -> float:
        return float(beside(kind, adds, _KIND_TURNS))

    def turn_ns(kind: int, *, adds: bool) -> tuple[float, float]:
        """Without the kind and with it, in turn: a slow phase must not look like a step."""
        turns = [(once_ns(_NONE, adds=adds), once_ns(kind, adds=adds)) for _ in range(_PEAK_TRIALS)]
        return min(alone for alone, _ in turns), min(both for _, both in turns)

    if min(once_ns(_NONE, adds=adds) for adds in (False, True)) <= 0:
        return Pipes()
    rates = {False: 0.0, True: 0.0}

    def held(kind: int, *, adds: bool) -> int:
        alone_ns, both_ns = turn_ns(kind, adds=adds)
        rate = _CHAINS * _STEP_SLOTS / alone_ns
        rates[adds] = max(rates[adds], rate)
        more_ns = max(0.0, both_ns - alone_ns) / _BETWEEN
        return _STEP_SLOTS * int(more_ns * rate / _STEP_SLOTS + _NEARLY)

    kinds = {
        name: (held(kind, adds=False), held(kind, adds=True)) for kind, name in enumerate(_KINDS)
    }
    return Pipes(rates[False], rates[True], kinds)


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
