# SPDX-License-Identifier: Apache-2.0
"""What a step becomes on a GPU: kernel launches with their grids, and their argument structure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

__all__ = ["LANES", "Launch", "Launches", "blocks_of", "ceil_div"]

LANES: Final = 32
_MOST_BLOCKS: Final = 1 << 16  # kernels stride over what is left


@dataclass(frozen=True, slots=True)
class Launch:
    """One kernel launch.

    Attributes
    ----------
    function : str
        Name of the ``extern "C"`` kernel.
    blocks, threads : int
        The grid and the block, both of one dimension.
    shared : int
        Shared memory that a block asks for [bytes], besides what the kernel has of its own.
    """

    function: str
    blocks: int
    threads: int
    shared: int = 0

    def of(self, dtype: str) -> Launch:
        """The same of the program of a dtype."""
        return replace(self, function=f"{self.function}_{dtype}")


@dataclass(frozen=True, slots=True)
class Launches:
    """What one step becomes: launches one after another on one stream.

    Attributes
    ----------
    source, dtype : str
        The program: a file of ``native/cuda`` and ``ACLPY_T``; the dtype is "" for copies and for
        kernels that take any types.
    launches : tuple of Launch
        Empty where there is nothing to do.
    fields : tuple of int
        The argument structure behind its addresses, as 64-bit integers.
    scratch_bytes : int
        Partial results, alive between the launches [bytes].
    """

    source: str
    dtype: str
    launches: tuple[Launch, ...]
    fields: tuple[int, ...]
    scratch_bytes: int = 0


def ceil_div(a: int, b: int) -> int:
    """`a` / `b`, rounded up."""
    return -(-a // b)


def blocks_of(items: int) -> int:
    """The grid for so many items: at least one block."""
    return max(1, min(items, _MOST_BLOCKS))
