# SPDX-License-Identifier: Apache-2.0
"""How a step is cut into blocks of leading rows, as its recipe knows it."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

from aclnn_py.core.desc import row_major_strides
from aclnn_py.plan.steps import strided_copy

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Place", "Rows", "place_of"]


class Place(NamedTuple):
    """Where an operand's elements lie.

    Attributes
    ----------
    item : int
        The workspace item that holds it, or -1 for a tensor argument.
    itemsize : int
        Bytes an element.
    strides : tuple of int
        Along the axes of `Rows.shape` [elements]; 0 everywhere where every block reads it all.
    """

    item: int
    itemsize: int
    strides: tuple[int, ...]

    @property
    def shared(self) -> bool:
        """Whether every block gets the same bytes."""
        return not any(self.strides)


def place_of(
    item: int, itemsize: int, shape: tuple[int, ...], strides: Sequence[int] | None
) -> Place:
    """The place of an operand; without `strides` every block reads all of it."""
    if strides is None:
        return Place(item, itemsize, (0,) * len(shape))
    # An axis of one position never moves: layouts that differ only there are the same.
    moving = [stride if size > 1 else 0 for size, stride in zip(shape, strides, strict=True)]
    return Place(item, itemsize, tuple(moving))


class Rows(NamedTuple):
    """A step as something that can be done for a part of its leading axes.

    Attributes
    ----------
    shape : tuple of int
        What the step runs over.
    leading : int
        How many of the first axes may be cut; 0: none.
    places : tuple of Place
        One an operand, inputs first.
    copies : bool
        A strided copy, whose parameters are made from strides; otherwise ``params[0]`` counts
        the positions of the leading axes.
    position : int
        Parameter that the row-major index of a block's first element is added to; -1 for none.
    """

    shape: tuple[int, ...]
    leading: int
    places: tuple[Place, ...]
    copies: bool = False
    position: int = -1

    def params(
        self,
        whole: tuple[int, ...],
        part: tuple[int, ...],
        scratch: Sequence[bool],
        padding: int = 0,
    ) -> tuple[int, ...] | None:
        """Parameters of the step for a block.

        Parameters
        ----------
        whole : tuple of int
            Those of the step.
        part : tuple of int
            Shape of the block.
        scratch : sequence of bool
            Which operands lie in a buffer of the block's own.
        padding : int
            What its rows are apart in that buffer [elements]; only copies know of it.

        Returns
        -------
        tuple of int or None
            None where a copy needs more than one launch's worth of order or shifting.
        """
        if not self.copies:
            return (prod(part[: self.leading]), *whole[1:])
        dense = row_major_strides((*part[:-1], part[-1] + padding))
        source, target = (
            dense if inside else place.strides
            for place, inside in zip(self.places, scratch, strict=True)
        )
        copy = strided_copy(part, source, target, self.places[0].itemsize)
        plain = copy.kernel == "copy_strided" and copy.source_shift == 0
        return copy.params if plain else None
