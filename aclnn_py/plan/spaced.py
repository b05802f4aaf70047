# SPDX-License-Identifier: Apache-2.0
"""Kernels that reduce over an axis before the last one and write results with gaps between rows."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from aclnn_py.plan.pitch import FAMILY
from aclnn_py.plan.steps import Step

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["with_gaps"]

_SPACED: Final = {name: f"{name}_spaced" for name in FAMILY}
# Shorter dense runs of results would be written element by element.
_LEAST_RUN: Final = 16


def with_gaps(steps: Sequence[Step], inside: frozenset[int]) -> tuple[int, Step] | None:
    """One launch that does what a kernel and the copy of its result do; see `pitch.at_pitches`.

    None where the result lies otherwise.
    """
    if len(steps) != 2:
        return None
    step, copy = steps
    if step.kernel not in _SPACED or step.rows is None or copy.rows is None:
        return None
    if copy.kernel != "copy_strided" or not copy.rows.copies or step.params[2] == 1:
        return None
    source, target = copy.rows.places
    if source.item not in inside or source.item != step.rows.places[-1].item:
        return None
    spacing = _spacing(step.rows.shape, step.rows.leading, target.strides, step.params)
    if spacing is None:
        return None
    outer, n, inner = step.params
    return 0, Step(
        name=step.name,
        kernel=_SPACED[step.kernel],
        dtype=step.dtype,
        reads=step.reads,
        write=copy.write,
        params=(*step.params, *spacing),
        told=f"{outer} times {n} rows of {inner}, written in dense runs of {spacing[2]}",
    )


def _spacing(
    shape: tuple[int, ...], axis: int, strides: tuple[int, ...], params: tuple[int, ...]
) -> tuple[int, int, int, int] | None:
    """Elements between outer positions, between rows, in a dense run, and from run to run."""
    if axis >= len(shape):
        return None
    outer = _joined(shape[:axis], strides[:axis])
    inner = _joined(shape[axis + 1 :], strides[axis + 1 :])
    sizes = prod(size for size, _ in outer), shape[axis], prod(size for size, _ in inner)
    if sizes != params or len(outer) > 1 or not inner or len(inner) > 2:
        return None
    run, step = inner[-1]
    if step != 1 or run < _LEAST_RUN or any(each == 0 for _, each in (*outer, *inner)):
        return None
    between = inner[0][1] if len(inner) == 2 else run
    return outer[0][1] if outer else 0, strides[axis], run, between


def _joined(shape: Sequence[int], strides: Sequence[int]) -> list[tuple[int, int]]:
    """(size, stride) of axes, slowest first; neighbours that are one axis are one."""
    found: list[tuple[int, int]] = []
    for size, step in zip(shape, strides, strict=True):
        if size == 1:
            continue
        if found and found[-1][1] == size * step:
            found[-1] = found[-1][0] * size, step
        else:
            found.append((size, step))
    return found
