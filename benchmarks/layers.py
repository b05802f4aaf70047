# SPDX-License-Identifier: Apache-2.0
"""Rates of one core that the bounds are explained with: lines between its caches, shuffles."""

from __future__ import annotations

import ctypes
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.build import compile_shared
from benchmarks.limit import cache_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.arena import Arena

__all__ = ["Rates"]

_LINE = 64
_TRIALS = 5
_AGAIN = 20
_TURNS = 200_000


@dataclass(frozen=True, slots=True)
class Rates:
    """Nanoseconds a line, and shuffles a nanosecond (0: not measured)."""

    l2_read: float  # from the second-level cache to a register
    l2_write: float  # stored: fetched from that cache and written back to it
    memory_read: float
    memory_read_beside_l2: float  # a line of memory and one of the second-level cache
    shuffles: float

    @classmethod
    def measure(cls, folder: Path, arena: Arena) -> Rates:
        """The least of a few trials; the arena's slots are overwritten."""
        loops = compile_shared("layer_rates", folder)
        near, far = cache_bytes(2) // 2 // _LINE, arena.slot_bytes // _LINE
        address = [arena.address(slot) for slot in range(3)]
        pointer, count = ctypes.c_void_p, ctypes.c_int64
        read = _loop(loops.bench_lines_read, pointer, count, count)
        write = _loop(loops.bench_lines_write, pointer, count, count)
        beside = _loop(loops.bench_lines_beside, pointer, count, pointer, count)
        shuffles = _loop(loops.bench_shuffles, count)
        trials = range(_TRIALS)
        return cls(
            l2_read=min(read(address[0], near, _AGAIN) for _ in trials) / near,
            l2_write=min(write(address[2], near, _AGAIN) for _ in trials) / near,
            memory_read=min(read(address[1], far, 0) for _ in trials) / far,
            memory_read_beside_l2=min(beside(address[1], far, address[0], near) for _ in trials)
            / far,
            shuffles=max(shuffles(_TURNS) for _ in trials),
        )

    def record(self) -> dict[str, Any]:
        return asdict(self)


def _loop(function: Any, *kinds: Any) -> Any:
    function.restype, function.argtypes = ctypes.c_double, kinds
    return function
