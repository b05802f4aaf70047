# SPDX-License-Identifier: Apache-2.0
"""Which CUDA kernel takes the rows of a softmax whose axis is the last one. Pure."""

from __future__ import annotations

from typing import Final, NamedTuple

from aclnn_py.backends.cuda_launch import LANES, Launch, blocks_of, ceil_div

__all__ = ["VECTOR", "own_share", "rows"]

VECTOR: Final = 16  # bytes a thread moves at once


class _Held(NamedTuple):
    """A kernel of a block for rows that it holds in registers."""

    name: str
    units: int  # of a thread: what the sources call UNITS, or HELD
    fewest: int  # threads
    most: int


class _Spare(NamedTuple):
    """A kernel of a block for rows whose rest it holds in shared memory."""

    name: str
    threads: int
    blocks: int  # of a multiprocessor, which divide its memory among themselves
    most: int = 1 << 20  # units of a thread


#: Units of a thread of the kernels of a warp for a row; by whether it is backward, and whether
#: elements have two bytes.
_WARP_UNITS: Final = {
    (False, False): (1, 2, 4, 8),
    (False, True): (1, 2, 4),
    (True, False): (1, 2, 4),
    (True, True): (1, 2, 4),
}
_BACKWARD: Final = (
    _Held("block2", 2, 128, 128),
    _Held("block128", 4, 128, 128),
    _Held("block256", 4, 256, 256),
    _Held("block512", 4, 512, 512),
)
#: Kernels of a block, shortest rows first; few threads with much each leave others something to do
#: while these wait for each other.
_HELD: Final = {
    (False, False): (_Held("block4", 4, 128, 256), _Held("block8", 8, 128, 512)),
    (False, True): (
        _Held("block4", 4, 64, 320),
        _Held("kept256", 8, 256, 256),
        _Held("kept384", 8, 384, 384),
    ),
    (True, False): _BACKWARD,
    (True, True): _BACKWARD,
}
#: Then those with shared memory, where the card has enough. Longer rows of a float32 softmax are
#: not faster so: their exponentials take as long as the second reading that this saves.
_BOTH: Final = (_Spare("spare512", 512, 2), _Spare("spare1024", 1024, 1))
_SPARE: Final = {
    (False, "f32"): (_Spare("spare512", 512, 2, 13),),
    (False, "f16"): _BOTH,
    (False, "bf16"): _BOTH,
    (True, "f32"): _BOTH,
    (True, "f16"): _BOTH,
    (True, "bf16"): _BOTH,
}
#: Behind these.
_HELD_LONG: Final = {(False, "f32"): _Held("held1024", 8, 1024, 1024)}
#: What a block takes of shared memory besides: the driver's part [bytes].
_DRIVERS_SHARE: Final = 1024
#: Longer rows go to the last one, which keeps a part of them and reads the rest twice: threads.
_LONGEST: Final = {
    (False, False): 1024,
    (False, True): 512,
    (True, False): 1024,
    (True, True): 1024,
}


def own_share(function: str) -> int:
    """Shared memory that a kernel has of its own at most, for sums and maxima [bytes]."""
    return 13_312 if "strip" in function else 512


def rows(kernel: str, dtype: str, itemsize: int, outer: int, n: int, shared: int) -> Launch:
    """The launch of a kernel for whole rows.

    Parameters
    ----------
    kernel, dtype : str
        Of the step.
    itemsize : int
        Bytes of an element.
    outer, n : int
        Rows, and their elements.
    shared : int
        Shared memory that a block may ask for [bytes]; 0 where that is not to be used.
    """
    backward = kernel.endswith("_backward")
    unit = VECTOR // itemsize
    # A row that ends inside of a unit may begin inside of one.
    room = n if n % unit == 0 else n + unit - 1
    for units in _WARP_UNITS[backward, itemsize == 2]:
        if room <= LANES * units * unit:
            return Launch(f"{kernel}_warp{units}", blocks_of(ceil_div(outer, 4)), 128)
    for held in _HELD[backward, itemsize == 2]:
        threads = _threads(held, room, unit)
        if threads <= held.most:
            return Launch(f"{kernel}_{held.name}", blocks_of(outer), threads)
    for spare in _SPARE.get((backward, dtype), ()):
        units = ceil_div(room, spare.threads * unit)
        wanted = _spare_units(kernel, units) * spare.threads * VECTOR
        there = (shared + _DRIVERS_SHARE) // spare.blocks - _DRIVERS_SHARE - own_share(spare.name)
        if units <= spare.most and wanted <= there:
            return Launch(f"{kernel}_{spare.name}", blocks_of(outer), spare.threads, wanted)
    long = _HELD_LONG.get((backward, dtype))
    if long and _threads(long, room, unit) <= long.most:
        return Launch(f"{kernel}_{long.name}", blocks_of(outer), long.most)
    threads = _LONGEST[backward, itemsize == 2]
    return Launch(f"{kernel}_kept{threads}", blocks_of(outer), threads)


def _threads(held: _Held, room: int, unit: int) -> int:
    """Threads of a block that hold so many elements, perhaps more than it may have."""
    return max(held.fewest, ceil_div(ceil_div(room, held.units * unit), LANES) * LANES)


def _spare_units(kernel: str, units: int) -> int:
    """Units of a thread in shared memory, of both operands where both are held.

    Of cards from sm_80 on; those before hold fewer in registers, and are given none of these.
    """
    if kernel == "softmax_backward":
        return 2 * max(0, units - 4)
    return max(0, units - 8)
