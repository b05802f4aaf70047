# SPDX-License-Identifier: Apache-2.0
"""Kernels that read and write dense rows where they are, so that no step has to copy them."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from aclnn_py.plan.steps import Step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aclnn_py.plan.parts import Rows
    from aclnn_py.plan.steps import Operand

__all__ = ["FAMILY", "at_pitches", "spread"]

# Kernels with params (outer, n, inner) that have forms which read and write where tensors are.
FAMILY: Final = ("softmax", "log_softmax", "softmax_backward", "log_softmax_backward")
_PITCHED: Final = {name: f"{name}_pitched" for name in FAMILY}  # a pitch an operand


def at_pitches(steps: Sequence[Step], inside: frozenset[int]) -> tuple[int, Step] | None:
    """One launch that does what a kernel and the copies around it do.

    Parameters
    ----------
    steps : sequence of Step
        Consecutive ones, of one shape.
    inside : frozenset of int
        Workspace items that only they touch.

    Returns
    -------
    tuple of (int, Step) or None
        The kernel's position among the steps and the launch that stands for all of them; None
        where some copy does more than move dense rows closer or apart.
    """
    kernels = [number for number, step in enumerate(steps) if step.kernel in _PITCHED]
    if len(kernels) != 1 or len(steps) == 1:
        return None
    step = steps[kernels[0]]
    rows, n, inner = step.params
    if inner != 1 or step.rows is None:
        return None
    operands = [*step.reads, step.write]
    pitches = [n] * len(operands)
    copies = [one for one in steps if one is not step]
    for copy in copies:
        found = _beside(copy, step.rows, n, inside)
        if found is None:
            return None
        for index in found[0]:
            operands[index], pitches[index] = found[1:]
    pitched = Step(
        name=step.name,
        kernel=_PITCHED[step.kernel],
        dtype=step.dtype,
        reads=tuple(operands[:-1]),
        write=operands[-1],
        params=(rows, n, *pitches),
        told=f"{rows} rows of {n}, {', '.join(map(str, pitches))} elements from row to row",
    )
    return kernels[0], pitched


def spread(step: Step, inside: Sequence[bool], padding: int) -> Step | None:
    """The form of a kernel whose rows in scratch memory are apart.

    Parameters
    ----------
    step : Step
        The kernel, its operands dense.
    inside : sequence of bool
        Which operands lie in scratch memory, the result last.
    padding : int
        What the rows there are apart [elements].

    Returns
    -------
    Step or None
        With the parameters of the whole step; None where there is no such form.
    """
    if step.kernel not in _PITCHED or step.params[2] != 1:
        return None
    rows, n, _ = step.params
    pitches = [n + padding if within else n for within in inside]
    return Step(
        name=step.name,
        kernel=_PITCHED[step.kernel],
        dtype=step.dtype,
        reads=step.reads,
        write=step.write,
        params=(rows, n, *pitches),
        told=step.text,
    )


def _beside(
    copy: Step, kernel: Rows, n: int, inside: frozenset[int]
) -> tuple[list[int], Operand, int] | None:
    """Operands of the kernel that `copy` makes dense or takes on, where they really lie: pitch."""
    cut = copy.rows
    if cut is None or not cut.copies or copy.kernel != "copy_strided":
        return None
    source, target = cut.places
    *reads, write = kernel.places
    indices = [index for index, place in enumerate(reads) if place.item == target.item]
    if target.item in inside and indices:
        pitch = _pitch(cut.shape, source.strides, n)
        return None if pitch is None else (indices, copy.reads[0], pitch)
    if source.item in inside and source.item == write.item:
        pitch = _pitch(cut.shape, target.strides, n)
        repeats = any(
            size > 1 and step == 0 for size, step in zip(cut.shape, target.strides, strict=True)
        )
        return None if pitch is None or repeats else ([len(reads)], copy.write, pitch)
    return None


def _pitch(shape: tuple[int, ...], strides: tuple[int, ...], n: int) -> int | None:
    """Elements from one dense row of `n` to the next; None for anything but such rows."""
    leading = [(size, step) for size, step in zip(shape, strides, strict=True) if size > 1]
    row = 1
    while row < n:  # the axis is not the last one where ones follow it
        size, step = leading.pop()
        if step != row:
            return None
        row *= size
    if row > n:
        return None
    if not leading:
        return n
    pitch = leading[-1][1]
    for index, (_, step) in enumerate(leading[:-1]):
        if step != pitch * prod(size for size, _ in leading[index + 1 :]):
            return None
    return pitch
