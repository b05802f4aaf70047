# SPDX-License-Identifier: Apache-2.0
"""Kernels that read inputs whose reduced axis is the dense one, so that no step turns them."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from aclnn_py.core.desc import row_major_strides
from aclnn_py.plan.pitch import FAMILY
from aclnn_py.plan.steps import Step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aclnn_py.plan.parts import Rows

__all__ = ["as_they_lie"]

_TRANSPOSED: Final = {name: f"{name}_transposed" for name in FAMILY}  # inputs (outer, inner, n)


def as_they_lie(steps: Sequence[Step], inside: frozenset[int]) -> tuple[int, Step] | None:
    """One launch that does what a kernel and the copies of its inputs do; see `pitch.at_pitches`.

    None where some input lies otherwise.
    """
    *copies, step = steps
    if step.kernel not in _TRANSPOSED or step.rows is None or not copies:
        return None
    *inputs, _ = step.rows.places
    lying = _strides(step.rows, step.params)
    reads = dict.fromkeys(range(len(inputs)), step.write)
    for copy in copies:
        if copy.kernel != "copy_strided" or copy.rows is None or not copy.rows.copies:
            return None
        source, target = copy.rows.places
        if target.item not in inside or source.strides != lying:
            return None
        reads |= {
            index: copy.reads[0] for index, place in enumerate(inputs) if place.item == target.item
        }
    if any(operand is step.write for operand in reads.values()):
        return None
    outer, n, inner = step.params
    return len(copies), Step(
        name=step.name,
        kernel=_TRANSPOSED[step.kernel],
        dtype=step.dtype,
        reads=tuple(reads.values()),
        write=step.write,
        params=step.params,
        text=f"{outer} times {inner} rows of {n}, written as columns",
    )


def _strides(kernel: Rows, params: tuple[int, ...]) -> tuple[int, ...] | None:
    """Those of an input that lies as (outer, inner, n); None where the axis is the last one."""
    outer, n, inner = params
    shape, axis = kernel.shape, kernel.leading
    sizes = prod(shape[:axis]), shape[axis] if axis < len(shape) else 1, prod(shape[axis + 1 :])
    if inner == 1 or sizes != (outer, n, inner):
        return None
    swapped = row_major_strides((*shape[:axis], *shape[axis + 1 :], n))
    strides = (*swapped[:axis], 1, *swapped[axis:-1])
    return tuple([step if size > 1 else 0 for size, step in zip(shape, strides, strict=True)])
