# SPDX-License-Identifier: Apache-2.0
"""What the layout of a cell costs by itself: its lines moved, no arithmetic.

Every result needs the sums over its axis, so each line of the inputs is read for these and once
more for the results; a method may choose how many columns it does at a time, so several widths are
tried and the fastest counts. What a method moves besides (copies, exponentials kept in scratch) is
not in here.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from benchmarks.build import compile_shared
from benchmarks.cells import ITEM_BYTES
from benchmarks.limit import cache_bytes
from benchmarks.timing import Contestant

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmarks.arena import Arena
    from benchmarks.cells import Cell

__all__ = ["Traffic"]

_LINE = 64
_MOST_LINES = 64  # across a tile
_TRIALS = 3
_FAR = 1.5
_AHEAD = (0, 8, 32, 128)
_TOGETHER, _APART, _ONE_BY_ONE = range(3)


@dataclass(frozen=True, slots=True)
class _How:
    """The structure of traffic_limit.c, field by field."""

    outer: int = 1
    tiles: int = 1
    in_outer: int = 0
    out_outer: int = 0
    in_tile: int = 0
    out_tile: int = 0
    a: int = 1
    b: int = 1
    s: int = 1
    in_a: int = 0
    in_b: int = _LINE
    in_s: int = 0
    out_a: int = 0
    out_b: int = _LINE
    out_s: int = 0
    runs: int = 1
    run_lines: int = 1
    run_pitch: int = 0
    run: int = 0
    step: int = 0
    twice: int = 1
    plain: int = 0
    ahead: int = 0
    order: int = 0
    dense: int = 0


@dataclass(slots=True)
class Traffic:
    """Finds the fastest way for each kind of cell and remembers it."""

    function: Any
    _best: dict[tuple[object, ...], ctypes.Array[ctypes.c_int64] | None] = field(
        default_factory=dict
    )

    @classmethod
    def build(cls, folder: Path) -> Traffic:
        traffic = compile_shared("traffic_limit", folder).bench_traffic
        traffic.restype = ctypes.c_int64
        traffic.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_int, ctypes.c_int]
        return cls(traffic)

    def contestant(self, arena: Arena, cell: Cell) -> Contestant | None:
        """None where rows are dense: the streaming limit has all of their lines."""
        key = (
            (cell.shape, cell.axis, ITEM_BYTES[cell.dtype], cell.threads, cell.layout),
            (cell.inputs, cell.operator if cell.inputs == 2 else ""),
        )
        if key not in self._best:
            self._best[key] = self._choose(arena, cell)
        how = self._best[key]
        if how is None:
            return None
        return Contestant("traffic", lambda calls: self._run(arena, cell, how, calls), "limit")

    def _choose(self, arena: Arena, cell: Cell) -> ctypes.Array[ctypes.c_int64] | None:
        """The way whose least time is least; those that are far behind are tried once."""
        took = [(self._run(arena, cell, how, 1), how) for how in map(_words, _ways(cell))]
        near = [how for first, how in took if first <= _FAR * min(took, key=_first)[0]]
        tried = [(min(self._run(arena, cell, how, 1) for _ in range(_TRIALS)), how) for how in near]
        return min(tried, key=_first)[1] if tried else None

    def _run(
        self, arena: Arena, cell: Cell, how: ctypes.Array[ctypes.c_int64], calls: int
    ) -> float:
        second = arena.address(1) if cell.inputs == 2 else None
        took = self.function(how, arena.address(0), second, arena.address(2), cell.threads, calls)
        if took < 0:
            raise RuntimeError("the threads of the traffic loop could not be started")
        return float(took) / calls


def _first(pair: tuple[float, object]) -> float:
    return pair[0]


def _words(how: _How) -> ctypes.Array[ctypes.c_int64]:
    values = [getattr(how, name) for name in _How.__slots__]
    return (ctypes.c_int64 * len(values))(*values)


def _ways(cell: Cell) -> Iterator[_How]:
    item = ITEM_BYTES[cell.dtype]
    axis = cell.axis % len(cell.shape)
    outer, n, inner = prod(cell.shape[:axis]), cell.shape[axis], prod(cell.shape[axis + 1 :])
    twice = int(not (cell.operator == "log_softmax" and cell.inputs == 2))
    if cell.layout == "transposed" and len(cell.shape) - axis <= 2:
        found = _turned(cell, item, axis)
    elif inner == 1:
        return  # rows are read and written in streams
    else:
        found = _tiles(cell, (outer, n, inner * item), item)
    for how in found:
        orders = (_APART,) if how.order == _APART else (_TOGETHER, _ONE_BY_ONE)
        turned = how.s > 1
        for ahead, order in product(_AHEAD, orders):
            each = replace(how, twice=twice, ahead=ahead, order=order)
            yield each
            if how.run:
                yield replace(each, plain=1)
            if turned:
                yield replace(each, dense=1 if inner == 1 else 2)


def _tiles(cell: Cell, sizes: tuple[int, int, int], item: int) -> Iterator[_How]:
    """Columns of the inputs as they lie, the result likewise or with gaps."""
    outer, n, row = sizes
    base = _How(outer=outer, in_outer=n * row, out_outer=n * row, out_a=row)
    if cell.layout == "strided_out":
        # Also where two axes lie behind: their rows are the dense runs.
        axis = cell.axis % len(cell.shape)
        strides = cell.out_layout.strides
        step = strides[-2] * item if axis < len(cell.shape) - 2 else row
        base = replace(
            base,
            out_outer=strides[axis - 1] * item if axis else 0,
            out_a=strides[axis] * item,
            run=cell.shape[-1] * item,
            step=step,
        )
        if not (base.out_a | base.out_outer | base.run | base.step) % _LINE and base.run == row:
            base = replace(base, run=0)
    yield from _chunks(base, n, row)
    for width in _widths(row // _LINE, n * cell.inputs):
        across = width * _LINE
        yield replace(
            base, tiles=row // across, in_tile=across, out_tile=across, a=n, b=width,
            in_a=row, runs=n, run_lines=width, run_pitch=row,
        )  # fmt: skip


def _chunks(base: _How, n: int, row: int) -> Iterator[_How]:
    """Some whole rows at a time, which need no cache where everything is read twice."""
    count = next(count for count in (64, 32, 16, 8, 4, 2, 1) if n % count == 0)
    lines = row // _LINE
    if base.outer == 1:
        yield replace(
            base, outer=n // count, in_outer=count * row, out_outer=count * base.out_a, a=count,
            b=lines, in_a=row, runs=count, run_lines=lines, run_pitch=row, order=_APART,
        )  # fmt: skip


def _turned(cell: Cell, item: int, axis: int) -> Iterator[_How]:
    """Squares of whole lines: what is dense in the inputs is not dense in the result."""
    side = _LINE // item
    *leading, rows, columns = cell.shape  # of the result; the inputs have [columns][rows]
    outer, matrix = prod(leading), rows * columns * item
    in_pitch, out_pitch = rows * item, columns * item // _LINE * _LINE
    base = _How(outer=outer, in_outer=matrix, out_outer=matrix, in_s=in_pitch, out_s=out_pitch)
    if axis == len(cell.shape) - 1:  # a tile: some rows of the result, whole
        for width in _widths(rows // side, columns * cell.inputs):
            yield replace(
                base, tiles=rows // side // width, in_tile=width * _LINE,
                out_tile=width * side * out_pitch, a=columns // side, b=width, s=side,
                in_a=side * in_pitch, out_a=_LINE, in_b=_LINE, out_b=side * out_pitch,
                runs=columns, run_lines=width, run_pitch=in_pitch,
            )  # fmt: skip
        return
    for width in _widths(columns // side, rows * cell.inputs):  # some columns of the result
        yield replace(
            base, tiles=columns // side // width, in_tile=width * side * in_pitch,
            out_tile=width * _LINE, a=rows // side, b=width, s=side,
            in_a=_LINE, out_a=side * out_pitch, in_b=side * in_pitch, out_b=_LINE,
            runs=width * side, run_lines=in_pitch // _LINE, run_pitch=in_pitch,
        )  # fmt: skip


def _widths(lines: int, rows: int) -> Iterator[int]:
    """Lines across a tile that divide a row and leave the tile in the second-level cache."""
    for width in range(1, min(lines, _MOST_LINES) + 1):
        if lines % width == 0 and (width == 1 or width * _LINE * rows <= cache_bytes(2)):
            yield width
