# SPDX-License-Identifier: Apache-2.0
"""Kernels that read inputs whose axes lie in another order, so that no step turns them."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from aclnn_py.core.desc import row_major_strides
from aclnn_py.plan.pitch import FAMILY
from aclnn_py.plan.steps import Step

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aclnn_py.plan.parts import Rows
    from aclnn_py.plan.steps import Operand

__all__ = ["as_they_lie"]

_TRANSPOSED: Final = "transposed"  # inputs (outer, inner, n)
_SWAPPED: Final = "swapped"  # inputs (outer, n, columns, rows), inner = rows * columns


class _Order(NamedTuple):
    """A kernel and how its inputs lie."""

    form: str
    params: tuple[int, ...]
    strides: tuple[int, ...]
    text: str


def as_they_lie(steps: Sequence[Step], inside: frozenset[int]) -> tuple[int, Step] | None:
    """One launch that does what a kernel and the copies of its inputs do; see `pitch.at_pitches`.

    None where some input lies otherwise.
    """
    *copies, step = steps
    if step.kernel not in FAMILY or step.rows is None or not copies:
        return None
    for order in _orders(step.rows, step.params):
        reads = _read(copies, step, step.rows, order, inside)
        if reads is not None:
            return len(copies), Step(
                name=step.name,
                kernel=f"{step.kernel}_{order.form}",
                dtype=step.dtype,
                reads=reads,
                write=step.write,
                params=order.params,
                told=order.text,
            )
    return None


def _read(
    copies: Sequence[Step], step: Step, rows: Rows, order: _Order, inside: frozenset[int]
) -> tuple[Operand, ...] | None:
    """What the kernel reads where its inputs, as the copies find them, lie in this order."""
    *inputs, _ = rows.places
    reads = dict.fromkeys(range(len(inputs)), step.write)
    for copy in copies:
        if copy.kernel != "copy_strided" or copy.rows is None or not copy.rows.copies:
            return None
        source, target = copy.rows.places
        if target.item not in inside or source.strides != order.strides:
            return None
        reads |= {
            index: copy.reads[0] for index, place in enumerate(inputs) if place.item == target.item
        }
    if any(operand is step.write for operand in reads.values()):
        return None
    return tuple(reads.values())


def _orders(kernel: Rows, params: tuple[int, ...]) -> Iterator[_Order]:
    """Those of an input that some kernel reads; none where the axis is the last one."""
    outer, n, inner = params
    shape, axis = kernel.shape, kernel.leading
    sizes = prod(shape[:axis]), shape[axis] if axis < len(shape) else 1, prod(shape[axis + 1 :])
    if inner == 1 or sizes != (outer, n, inner):
        return
    last = row_major_strides((*shape[:axis], *shape[axis + 1 :], n))
    text = f"{outer} times {inner} rows of {n}, written as columns"
    yield _Order(_TRANSPOSED, params, _moving(shape, (*last[:axis], 1, *last[axis:-1])), text)
    for split in range(axis + 2, len(shape)):
        front, back = shape[axis + 1 : split], shape[split:]
        swapped = row_major_strides((*shape[: axis + 1], *back, *front))
        turn = axis + 1 + len(back)
        strides = (*swapped[: axis + 1], *swapped[turn:], *swapped[axis + 1 : turn])
        text = f"{outer} times {n} planes of {prod(back)} by {prod(front)}, written turned"
        yield _Order(_SWAPPED, (outer, n, prod(front), prod(back)), _moving(shape, strides), text)


def _moving(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    """As places have them: 0 along an axis of one position."""
    return tuple([step if size > 1 else 0 for size, step in zip(shape, strides, strict=True)])
