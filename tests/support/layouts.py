# SPDX-License-Identifier: Apache-2.0
"""Ways to lay a tensor out in memory, and the memory seen whole, so that stray writes show."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from support import oracle

LAYOUTS = ("contiguous", "transposed", "sliced", "padded", "negative", "broadcast")
OUT_LAYOUTS = ("contiguous", "offset", "transposed", "sliced", "padded", "negative")


def row_major(shape) -> tuple[int, ...]:
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


@dataclass(frozen=True)
class Layout:
    """Strides and offset [elements] of a view inside a flat storage of `storage` elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    storage: int

    def elements(self) -> np.ndarray:
        """The storage index of every element of the view."""
        index = np.full(self.shape, self.offset, np.int64)
        for axis, (size, stride) in enumerate(zip(self.shape, self.strides, strict=True)):
            along = np.arange(size, dtype=np.int64) * stride
            index += along.reshape([-1 if a == axis else 1 for a in range(len(self.shape))])
        return index


def layout(name: str, shape) -> Layout:
    """A named layout for a view of `shape`."""
    shape = tuple(shape)
    dense, rank = row_major(shape), len(shape)
    if name == "contiguous" or rank == 0:
        return Layout(shape, dense, 0, prod(shape))
    if name == "offset":
        return Layout(shape, dense, 7, prod(shape) + 7)
    if name == "transposed":
        return Layout(shape, tuple(reversed(row_major(shape[::-1]))), 0, prod(shape))
    if name == "negative":
        return Layout(shape, tuple(-s for s in dense), max(prod(shape) - 1, 0), prod(shape))
    if name == "padded":
        pitch = row_major((*shape[:-1], shape[-1] + 3))
        return Layout(shape, pitch, 0, prod((*shape[:-1], shape[-1] + 3)))
    if name == "sliced":
        wide = tuple(2 * size + 1 for size in shape)
        return Layout(
            shape, tuple(2 * s for s in row_major(wide)), 1 if rank else 0, prod(wide) + 1
        )
    if name == "broadcast":
        axis = int(np.argmax(shape)) if rank > 1 else 0
        rest = row_major(tuple(1 if a == axis else size for a, size in enumerate(shape)))
        strides = tuple(0 if a == axis else s for a, s in enumerate(rest))
        return Layout(shape, strides, 0, prod(shape) // max(shape[axis], 1))
    raise AssertionError(name)


def poison(count: int, dtype) -> np.ndarray:
    """A storage whose elements are recognisable and all different from results."""
    size = count * np.dtype(dtype).itemsize
    raw = np.frombuffer(b"\xc3\x5a\x96\x3c\xa5\x69\x0f" * (size // 7 + 1), np.uint8)[:size]
    return (raw & 1).view(np.bool_) if np.dtype(dtype) == np.bool_ else raw.copy().view(dtype)


class Placed:
    """A device tensor in some layout, with its whole storage at hand."""

    def __init__(self, device, spread: Layout, dtype, array=None):
        self.layout = spread
        flat = poison(spread.storage, dtype)
        if array is not None:
            flat[spread.elements()] = array
        self.flat = flat
        self.base = device.tensor(flat)
        self.tensor = self.base.view(spread.shape, spread.strides, spread.offset)
        #: The values of the view (overlapping layouts keep the last one written).
        self.array = flat[spread.elements()]

    def holds(self, result: np.ndarray) -> None:
        """Assert that the view holds `result` and nothing between its elements has changed."""
        after = self.base.numpy()
        index = self.layout.elements()
        assert oracle.same_bits(after[index], result), "the view does not hold the result"
        between = np.ones(after.shape, bool)
        between[index.ravel()] = False
        assert after[between].tobytes() == self.flat[between].tobytes(), (
            "elements between strides changed"
        )

    def read(self) -> np.ndarray:
        """The view's values, after asserting that the rest of the storage is untouched."""
        values = self.base.numpy()[self.layout.elements()]
        self.holds(values)
        return values
