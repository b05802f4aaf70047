# SPDX-License-Identifier: Apache-2.0
"""The machine's limit: the same bytes streamed by the same threads, and the size of its caches."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aclnn_native import lib
from benchmarks.build import compile_shared
from benchmarks.timing import Contestant

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.arena import Arena

__all__ = ["StreamLimit", "cache_bytes"]


@dataclass(frozen=True, slots=True)
class StreamLimit:
    """One or two reads and one non-temporal write."""

    function: Any

    @classmethod
    def build(cls, folder: Path) -> StreamLimit:
        stream = compile_shared("stream_limit", folder).bench_stream
        stream.restype = ctypes.c_int64
        stream.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_size_t, ctypes.c_int, ctypes.c_int]
        return cls(stream)

    def contestant(self, arena: Arena, nbytes: int, reads: int, threads: int) -> Contestant:
        """Streams of `nbytes` each over the arena's own memory; the output slot is overwritten."""
        second = arena.address(1) if reads == 2 else None

        def burst(calls: int) -> float:
            took = self.function(arena.address(0), second, arena.address(2), nbytes, threads, calls)
            if took < 0:
                raise RuntimeError("the streaming threads could not be started")
            return took / calls

        return Contestant("limit", burst, layer="limit")


def cache_bytes(level: int) -> int:
    """Bytes of a core's L2 (2) or of the last level (4), as the kernels reckon with them."""
    return int(lib.aclpy_cache_bytes_l2() if level == 2 else lib.aclpy_cache_bytes_last_level())
