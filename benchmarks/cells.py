# SPDX-License-Identifier: Apache-2.0
"""The softmax cells: operator, direction, dtype, shape, axis, threads and layout of each."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod

__all__ = ["ITEM_BYTES", "OURS_BESIDE", "Cell", "Layout", "all_cells", "quick_cells"]

ITEM_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2, "float64": 8}
# Which of our two timings is at a peer's layer.
OURS_BESIDE = {"PyTorch": "ours", "NumPy": "ours", "oneDNN": "ours (C)"}
_OPERATORS = ("softmax", "log_softmax")
_DIRECTIONS = ("forward", "backward")
_SHAPES = (
    ((8, 32), -1),
    ((32, 1000), -1),
    ((128, 1024), -1),
    ((8192, 512), -1),
    ((4096, 4096), -1),
    ((64, 50257), -1),
    ((12, 1024, 1024), -1),
    ((512, 512, 64), 1),
    ((4096, 1024), 0),
    ((16, 256, 56, 56), 1),
)
_QUICK_SHAPES = (_SHAPES[0], _SHAPES[2], _SHAPES[3], ((64, 512, 64), 1))
# Elements between the rows of a strided `out`: a slice of a wider tensor.
_OUT_PADDING = 16


@dataclass(frozen=True, slots=True)
class Layout:
    """Strides in elements and the elements from the first to the last, that one included."""

    strides: tuple[int, ...]
    span: int

    @classmethod
    def dense(cls, shape: tuple[int, ...]) -> Layout:
        return cls(_row_major(shape), prod(shape))

    @classmethod
    def transposed(cls, shape: tuple[int, ...]) -> Layout:
        """A view of dense memory with the last two dimensions swapped."""
        swapped = _row_major((*shape[:-2], shape[-1], shape[-2]))
        return cls((*swapped[:-2], swapped[-1], swapped[-2]), prod(shape))

    @classmethod
    def padded(cls, shape: tuple[int, ...]) -> Layout:
        """The front of each row of a tensor with wider rows."""
        wide = (*shape[:-1], shape[-1] + _OUT_PADDING)
        return cls(_row_major(wide), prod(wide) - _OUT_PADDING)


@dataclass(frozen=True, slots=True)
class Cell:
    """One row of the table."""

    operator: str  # softmax | log_softmax
    direction: str  # forward | backward
    dtype: str
    shape: tuple[int, ...]
    axis: int
    threads: int = 2
    layout: str = "contiguous"  # | transposed | strided_out

    @property
    def name(self) -> str:
        """What the table says."""
        extra = {"contiguous": "", "transposed": " transposed", "strided_out": " strided-out"}
        return (
            f"{self.operator}_{self.direction} {self.dtype} {self.shape_text} axis {self.axis}"
            f"{extra[self.layout]}{' 1 thread' if self.threads == 1 else ''}"
        )

    @property
    def shape_text(self) -> str:
        return "x".join(map(str, self.shape))

    @property
    def elements(self) -> int:
        return prod(self.shape)

    @property
    def tensor_bytes(self) -> int:
        return self.elements * ITEM_BYTES[self.dtype]

    @property
    def inputs(self) -> int:
        return 2 if self.direction == "backward" else 1

    @property
    def moved_bytes(self) -> int:
        """The least that must be read and written."""
        return self.tensor_bytes * (self.inputs + 1)

    @property
    def in_layout(self) -> Layout:
        make = Layout.transposed if self.layout == "transposed" else Layout.dense
        return make(self.shape)

    @property
    def out_layout(self) -> Layout:
        make = Layout.padded if self.layout == "strided_out" else Layout.dense
        return make(self.shape)

    @property
    def group(self) -> tuple[object, ...]:
        """Cells of one group share their inputs."""
        return (self.dtype, self.shape, self.axis, self.layout)


def all_cells() -> list[Cell]:
    """Every cell, grouped by input."""
    return _with_variants(_SHAPES, tuple(ITEM_BYTES), ("float32", "bfloat16"))


def quick_cells() -> list[Cell]:
    """A few cells of each kind, for a look while working."""
    return _with_variants(_QUICK_SHAPES, ("float32", "bfloat16"), ()) + [
        Cell(operator, direction, dtype, (128, 1024), -1, threads, layout)
        for dtype, threads, layout in (
            ("float16", 2, "contiguous"),
            ("float64", 2, "contiguous"),
            ("float32", 1, "contiguous"),
            ("float32", 2, "transposed"),
            ("float32", 2, "strided_out"),
        )
        for operator, direction in product(_OPERATORS, _DIRECTIONS)
    ]


def _with_variants(
    shapes: tuple[tuple[tuple[int, ...], int], ...],
    dtypes: tuple[str, ...],
    variant_dtypes: tuple[str, ...],
) -> list[Cell]:
    cells = []
    for (shape, axis), dtype in product(shapes, dtypes):
        variants = [(2, "contiguous")]
        if dtype in variant_dtypes:
            variants += [(1, "contiguous"), (2, "transposed"), (2, "strided_out")]
        cells += [
            Cell(operator, direction, dtype, shape, axis, threads, layout)
            for threads, layout in variants
            for operator, direction in product(_OPERATORS, _DIRECTIONS)
        ]
    return cells


def _row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides = [1]
    for size in reversed(shape[1:]):
        strides.append(strides[-1] * size)
    return tuple(reversed(strides))
