# SPDX-License-Identifier: Apache-2.0
"""Finds consecutive steps that may run block by block, so that what lies between stays in cache.

A block is a range of leading rows of the shape that the steps share. The same kernels run on it, so
the bits are those of the steps one after the other; the workspace is reported and laid out as ever.
Where all copies only move dense rows closer or apart, turn inputs whose reduced axis is the dense
one, or leave gaps between rows of results, the kernel reads and writes the views itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Final, Protocol

from aclnn_py.core.desc import row_major_strides
from aclnn_py.plan.pitch import at_pitches, spread
from aclnn_py.plan.spaced import with_gaps
from aclnn_py.plan.steps import WORKSPACE, shares_elements
from aclnn_py.plan.transposed import as_they_lie
from aclnn_py.plan.workspace import Item, lay_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aclnn_py.plan.parts import Place, Rows
    from aclnn_py.plan.steps import Step

__all__ = ["BLOCK_BYTES", "Chain", "Clash", "Launches", "Part", "fuse"]

# A block's widest intermediate: a small part of a second-level cache, and large enough that the
# kernels' own start does not count. Tests change it.
BLOCK_BYTES = 64 * 1024
# All intermediates of a block: half of a second-level cache. Where lines of memory run along the
# axis that is cut, several of them at a time are worth more than a block that stays in that cache.
_SCRATCH_BYTES: Final = 512 * 1024
_GATHERED_BYTES: Final = 2 * 1024 * 1024 + 8 * 1024  # two items of 1 MiB and their slack
_LINE_BYTES: Final = 64
_GATHERED_ROWS: Final = 128  # or four lines of shorter elements
# Gathered rows this far apart, or a multiple of it, would evict each other from the caches: some
# lines more lie between them.
_COLLIDING_BYTES: Final = 1024
_APART_BYTES: Final = 3 * _LINE_BYTES
# Blocks, so that threads end at about the same time.
_FEWEST_BLOCKS: Final = 8
_MOST_STEPS: Final = 16
_MOST_DIGITS: Final = 8


@dataclass(frozen=True, slots=True)
class Part:
    """One step of a chain.

    Attributes
    ----------
    params, last_params : tuple of int
        Of a block, and of the last one along the axis that is cut.
    scratch : tuple of int
        Where in the thread's buffer each operand lies [bytes]; -1: the step's own operand.
    advance : tuple of tuple of int
        How far each operand moves from one block to the next along each digit [bytes].
    position : int
        Parameter that counts elements before the block; -1 for none.
    parts : int
        How many blocks make up what the step writes, where that is not scratch; otherwise 0.
    by : Step, optional
        The kernel that does a block, where it is not the step's own.
    """

    params: tuple[int, ...]
    last_params: tuple[int, ...]
    scratch: tuple[int, ...]
    advance: tuple[tuple[int, ...], ...]
    position: int
    parts: int
    by: Step | None = None


@dataclass(frozen=True, slots=True)
class Clash:
    """Two slots of a chain, the second of which it writes.

    Attributes
    ----------
    slot, written_slot : int
        Positions of the tensor arguments.
    same_layout : bool
        Whether sharing memory is fine where both begin at the same byte.
    """

    slot: int
    written_slot: int
    same_layout: bool


@dataclass(frozen=True, slots=True)
class Chain:
    """Steps that run block by block.

    Attributes
    ----------
    first : int
        The first step.
    rows : int
        Positions of the cut axis in a block.
    digits : tuple of int
        Blocks along each outer axis; the last digit counts pieces of the axis that is cut.
    position_advance : tuple of int
        Elements from one block to the next along each digit.
    scratch_bytes : int
        The thread's buffer.
    parts : tuple of Part
        One a step.
    clashes : tuple of Clash
        Where these share memory, the steps run one after the other instead.
    steps : int
        How many steps.
    whole : Step, optional
        One launch of the same outcome: then there are no blocks and no parts.
    runner : int
        The step whose backend runs `whole`.
    """

    first: int
    rows: int
    digits: tuple[int, ...]
    position_advance: tuple[int, ...]
    scratch_bytes: int
    parts: tuple[Part, ...]
    clashes: tuple[Clash, ...]
    steps: int
    whole: Step | None = None
    runner: int = -1


class Launches(Protocol):
    """What the kernels chosen for the steps of a plan can do besides."""

    def divides(self, number: int, params: tuple[int, ...], by: Step | None = None) -> bool:
        """Whether step `number`, launched with `params`, gives some of its rows the same bits.

        `by` is the kernel that is launched, where it is not the step's own.
        """
        ...

    def replaces(self, number: int, step: Step) -> bool:
        """Whether `step` can run in the place of step `number` with the same bits."""
        ...


def fuse(steps: Sequence[Step], launches: Launches) -> tuple[Chain, ...]:
    """The chains of a plan, the longest first where there is a choice.

    Parameters
    ----------
    steps : sequence of Step
        Of the whole plan, in launch order.
    launches : Launches
        What the steps' kernels can do.
    """
    return tuple(_within(steps, 0, len(steps), launches))


def _within(steps: Sequence[Step], begin: int, end: int, launches: Launches) -> list[Chain]:
    for count in range(min(end - begin, _MOST_STEPS), 1, -1):
        for first in range(begin, end - count + 1):
            chain = _chain(steps, first, first + count, launches)
            if chain is not None:
                before = _within(steps, begin, first, launches)
                return [*before, chain, *_within(steps, first + count, end, launches)]
    return []


def _chain(steps: Sequence[Step], first: int, end: int, launches: Launches) -> Chain | None:
    rows = _rows_in_any_order(steps[first:end])
    if rows is None:
        return None
    inside = _inside(steps, first, end)
    if not inside or _workspace_is_written(steps[first:end], inside):
        return None
    cuttable = all(cut.leading > 0 for cut in rows)
    direct = at_pitches(steps[first:end], inside) if cuttable else None
    direct = direct or as_they_lie(steps[first:end], inside) or with_gaps(steps[first:end], inside)
    if direct is not None and launches.replaces(first + direct[0], direct[1]):
        runner, whole = first + direct[0], direct[1]
        return Chain(
            first, 0, (), (), 0, (), _clashes(steps[first:end]), end - first, whole, runner
        )
    block = _block(rows, inside) if cuttable else None
    if block is None:
        return None
    axis, count = block
    padding = _padding(steps[first:end], rows, inside)
    parts = _parts(steps, first, end, inside, axis, count, padding, launches)
    if parts is None:
        return None
    shape = rows[0].shape
    moved = row_major_strides(shape)[: axis + 1]
    return Chain(
        first=first,
        rows=count,
        digits=_digits(shape, axis, count),
        position_advance=_along(moved, axis, count, 1),
        scratch_bytes=_scratch(rows, inside, _part_shape(shape, axis, count), padding)[1],
        parts=parts,
        clashes=_clashes(steps[first:end]),
        steps=end - first,
    )


def _rows_in_any_order(steps: Sequence[Step]) -> list[Rows] | None:
    """How the steps are cut, where all go over one shape and the order of its rows is free."""
    cuts = [step.rows for step in steps]
    rows = [cut for cut in cuts if cut is not None]
    if len(rows) < len(cuts) or any(cut.shape != rows[0].shape for cut in rows):
        return None
    # Of results that lie in one place the last one counts.
    ordered = any(shares_elements(cut.shape, cut.places[-1].strides, 1) for cut in rows)
    return None if ordered else rows


def _inside(steps: Sequence[Step], first: int, end: int) -> frozenset[int]:
    """Workspace items that only these steps touch, written before they are read."""
    written: set[int] = set()
    foreign: set[int] = set()
    for number, step in enumerate(steps):
        if step.rows is None:
            return frozenset()
        *reads, write = (place.item for place in step.rows.places)
        if first <= number < end:
            foreign |= {item for item in reads if item not in written}
            written.add(write)
        else:
            foreign |= {*reads, write}
    return frozenset(item for item in written - foreign if item >= 0)


def _workspace_is_written(steps: Sequence[Step], inside: frozenset[int]) -> bool:
    # Items that outlive the chain may share a bucket with ones that it reads: their lifetimes are
    # those of steps that run one after the other.
    written = False
    read = False
    for step in steps:
        assert step.rows is not None
        *reads, write = zip((*step.reads, step.write), step.rows.places, strict=True)
        written |= write[0].base == WORKSPACE and write[1].item not in inside
        read |= any(
            operand.base == WORKSPACE and place.item not in inside for operand, place in reads
        )
    return written and read


def _block(rows: Sequence[Rows], inside: frozenset[int]) -> tuple[int, int] | None:
    """The axis to cut and how many of its positions make a block; None where none fits."""
    shape = rows[0].shape
    found = None
    widest = max(place.itemsize for cut in rows for place in cut.places if place.item in inside)
    for axis in range(min(_MOST_DIGITS, *(cut.leading for cut in rows))):
        row_bytes = prod(shape[axis + 1 :]) * widest
        least = max(_lines(cut, axis) for cut in rows)
        if least == 0:
            break
        most = min(prod(shape[: axis + 1]) // _FEWEST_BLOCKS, shape[axis])
        count = max(min(BLOCK_BYTES // row_bytes, most) // least, 1) * least
        widest_block = min(most, max(_GATHERED_ROWS, 4 * least))
        wider = [least * lines for lines in (8, 4, 2) if count < least * lines <= widest_block]
        for rows_of_block in (*(wider if least > 1 else ()), min(count, shape[axis])):
            _, scratch = _scratch(rows, inside, _part_shape(shape, axis, rows_of_block))
            if scratch <= (_GATHERED_BYTES if least > 1 else _SCRATCH_BYTES):
                found = axis, rows_of_block
                break
        if found is not None and row_bytes <= BLOCK_BYTES:
            break  # else the next axis gives smaller blocks
    return found


def _lines(cut: Rows, axis: int) -> int:
    """Positions of `axis` that whole cache lines hold; 0 where lines run along an axis before."""
    most = 1
    for place in cut.places if cut.copies else ():
        steps = [
            (abs(stride), -index)
            for index, (stride, size) in enumerate(zip(place.strides, cut.shape, strict=True))
            if size > 1 and stride != 0
        ]
        if not steps:
            continue
        fastest = -min(steps)[1]
        if fastest < axis:
            return 0
        if fastest == axis:
            most = max(most, _LINE_BYTES // place.itemsize)
    return most


def _part_shape(shape: tuple[int, ...], axis: int, count: int) -> tuple[int, ...]:
    return (*([1] * axis), count, *shape[axis + 1 :])


def _digits(shape: tuple[int, ...], axis: int, count: int) -> tuple[int, ...]:
    return (*shape[:axis], -(-shape[axis] // count))


def _along(strides: Sequence[int], axis: int, count: int, itemsize: int) -> tuple[int, ...]:
    return (
        *[stride * itemsize for stride in strides[:axis]],
        strides[axis] * count * itemsize,
    )


def _scratch(
    rows: Sequence[Rows], inside: frozenset[int], part: tuple[int, ...], padding: int = 0
) -> tuple[dict[int, int], int]:
    """Where each item begins in the thread's buffer, and its size [bytes]."""
    born: dict[int, Place] = {}
    lives: dict[int, tuple[int, int]] = {}
    for number, cut in enumerate(rows):
        for place in cut.places:
            if place.item in inside:
                born.setdefault(place.item, place)
                lives[place.item] = (lives.get(place.item, (number, number))[0], number)
    numel = prod(part[:-1]) * (part[-1] + padding)
    items = tuple(
        Item(str(item), numel * place.itemsize, *lives[item]) for item, place in born.items()
    )
    placements, total = lay_out(items)
    return {int(place.item.label): place.offset for place in placements}, total


def _padding(steps: Sequence[Step], rows: Sequence[Rows], inside: frozenset[int]) -> int:
    """Elements to leave between gathered rows in scratch; 0 where they need or allow none."""
    sizes = {place.itemsize for cut in rows for place in cut.places if place.item in inside}
    itemsize = min(sizes)
    padding = _APART_BYTES // itemsize
    last = len(rows[0].shape) - 1
    if len(sizes) > 1 or rows[0].shape[-1] * itemsize % _COLLIDING_BYTES:
        return 0
    if all(_lines(cut, last) for cut in rows):
        return 0  # nothing is gathered: lines run along the rows
    for step, cut in zip(steps, rows, strict=True):
        within = [place.item in inside for place in cut.places]
        if not cut.copies and spread(step, within, padding) is None:
            return 0
    return padding


def _parts(
    steps: Sequence[Step],
    first: int,
    end: int,
    inside: frozenset[int],
    axis: int,
    count: int,
    padding: int,
    launches: Launches,
) -> tuple[Part, ...] | None:
    rows = [step.rows for step in steps[first:end] if step.rows is not None]
    shape = rows[0].shape
    digits = _digits(shape, axis, count)
    part = _part_shape(shape, axis, count)
    last = _part_shape(shape, axis, shape[axis] - (digits[-1] - 1) * count)
    offsets, _ = _scratch(rows, inside, part, padding)
    found = []
    for number, cut in enumerate(rows, first):
        within = [place.item in inside for place in cut.places]
        by = spread(steps[number], within, padding) if padding and not cut.copies else None
        whole = (by or steps[number]).params
        params = cut.params(whole, part, within, padding)
        last_params = cut.params(whole, last, within, padding)
        if params is None or last_params is None:
            return None
        if not all(launches.divides(number, each, by) for each in (params, last_params)):
            return None
        found.append(
            Part(
                params=params,
                last_params=last_params,
                scratch=tuple([offsets.get(place.item, -1) for place in cut.places]),
                advance=tuple(
                    [_along(place.strides, axis, count, place.itemsize) for place in cut.places]
                ),
                position=cut.position,
                parts=0 if within[-1] else prod(digits),
                by=by,
            )
        )
    return tuple(found)


def _clashes(steps: Sequence[Step]) -> tuple[Clash, ...]:
    """Every pair of tensor arguments of which one is written."""
    touched = []
    written = []
    for step in steps:
        assert step.rows is not None
        *reads, write = zip((*step.reads, step.write), step.rows.places, strict=True)
        for operand, place in (*reads, write):
            if operand.base != WORKSPACE:
                apart = not (place.shared or shares_elements(step.rows.shape, place.strides, 1))
                touched.append((operand.base, place, apart, place is write[1]))
        if step.write.base != WORKSPACE:
            written.append((step.write.base, write[1]))
    clashes: dict[tuple[int, int], bool] = {}
    for slot, target in written:
        for other, place, apart, is_write in touched:
            if other == slot and place == target and (apart or is_write):
                continue
            key = (other, slot)
            clashes[key] = place == target and apart and clashes.get(key, True)
    return tuple(Clash(slot, target, same) for (slot, target), same in sorted(clashes.items()))
