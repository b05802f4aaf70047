# SPDX-License-Identifier: Apache-2.0
"""Workspace layout by the vendor's rules: per-item rounding, lifetimes, bucket reuse."""

from __future__ import annotations

from typing import NamedTuple

from aclnn_py.core.made import maker

__all__ = ["Item", "Placement", "aligned", "lay_out", "new_item"]


def aligned(nbytes: int) -> int:
    """Size an item takes: 32 bytes of slack, then up to a multiple of 512 [bytes]."""
    return (nbytes + 32 + 511) // 512 * 512


class Item(NamedTuple):
    """One thing that lives in the workspace.

    Attributes
    ----------
    label : str
        What it is, for people.
    nbytes : int
        Its size before rounding [bytes].
    first, last : int
        The steps between which it lives, both included.
    """

    label: str
    nbytes: int
    first: int
    last: int


new_item = maker(Item)


class Placement(NamedTuple):
    """Where an item ended up.

    Attributes
    ----------
    item : Item
        The item.
    bucket : int
        Which bucket it shares with items of disjoint lifetime.
    offset : int
        Its first byte in the workspace.
    """

    item: Item
    bucket: int
    offset: int


def lay_out(items: tuple[Item, ...]) -> tuple[tuple[Placement, ...], int]:
    """Place items, given in launch order.

    A new item joins the last bucket whose most recent member is dead before it begins; otherwise
    it opens a bucket. A bucket is as large as its largest member.

    Returns
    -------
    placements : tuple of Placement
        In the order of `items`.
    total : int
        Size of the workspace [bytes].
    """
    if not items:
        return (), 0
    newest: list[Item] = []
    sizes: list[int] = []
    chosen: list[int] = []
    for item in items:
        free = [
            index
            for index, member in enumerate(newest)
            if member.last < item.first or item.last < member.first
        ]
        if free:
            bucket = free[-1]
            newest[bucket] = item
            sizes[bucket] = max(sizes[bucket], aligned(item.nbytes))
        else:
            bucket = len(newest)
            newest.append(item)
            sizes.append(aligned(item.nbytes))
        chosen.append(bucket)
    starts = [sum(sizes[:index]) for index in range(len(sizes))]
    placements = tuple(
        [
            Placement(item, bucket, starts[bucket])
            for item, bucket in zip(items, chosen, strict=True)
        ]
    )
    return placements, sum(sizes)
