# SPDX-License-Identifier: Apache-2.0
"""What the planner knows of a tensor: a value object without data."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Final

from aclnn_native import calls
from aclnn_py.core.dtype import DType, by_value
from aclnn_py.core.fact import Fact
from aclnn_py.core.format import PRIVATE_FORMATS

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["MOST_BYTES", "TensorDesc", "device_of_layout", "row_major_strides"]

#: No processor's address space is larger, and sums of a few such sizes fit 63 bits.
MOST_BYTES: Final = 2**57


def row_major_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides [elements] of a dense row-major tensor of `shape`."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    strides.reverse()
    return tuple(strides)


def device_of_layout(layout: int) -> str:
    """Kind of device of an interned layout: the native library numbers the two kinds apart."""
    return "cuda" if layout & 1 else "cpu"


@dataclass(frozen=True)
class TensorDesc:
    """Shape, strides and storage of one tensor argument.

    Attributes
    ----------
    shape, strides : tuple of int
        View dimensions, and their strides [elements].
    offset : int
        First element of the view, counted from the start of the storage [elements].
    storage_shape : tuple of int
        Dimensions of the storage.
    dtype_value, format_value : int
        Numbers of ``aclDataType`` and ``aclFormat``, possibly without a name: creation checks
        nothing, the planner does.
    device : str
        Kind of device that the memory belongs to: ``"cpu"`` or ``"cuda"``.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    storage_shape: tuple[int, ...]
    dtype_value: int
    format_value: int = 2
    device: str = "cpu"

    @classmethod
    def dense(cls, shape: Sequence[int], dtype: DType) -> TensorDesc:
        """A contiguous tensor that fills its storage."""
        dims = tuple(shape)
        return cls(dims, row_major_strides(dims), 0, dims, dtype.value)

    def look(self) -> None:
        """Work out at once what phase 1 asks of the usual tensor: dense, and all of its storage.

        Of any other tensor each fact is worked out when somebody asks for it.
        """
        facts = self.__dict__
        if "is_plain" in facts or self.offset:
            return
        shape, storage = self.shape, self.storage_shape
        numel = calls.dense_numel(shape, self.strides)  # in C: this is timed
        if numel < 0 or storage not in (shape, (numel,)):
            return
        dtype = by_value.get(self.dtype_value, by_value[-1])
        facts.update(
            {
                "dtype": dtype,
                "numel": numel,
                "storage_numel": numel,
                "is_empty": numel == 0,
                "is_contiguous": True,
                "is_plain": numel * (dtype.itemsize or 1) <= MOST_BYTES,
                "extent": (0, numel),
            }
        )

    @Fact
    def dtype(self) -> DType:
        """The row of the dtype table; numbers without a name count as undefined."""
        return by_value.get(self.dtype_value, by_value[-1])

    @property
    def dtype_text(self) -> str:
        """The dtype for messages; of a number without a name that number, too."""
        number = f" (aclDataType {self.dtype_value})" if self.dtype.value == -1 else ""
        return f"{self.dtype}{number}"

    @property
    def rank(self) -> int:
        """Number of view dimensions."""
        return len(self.shape)

    @Fact
    def numel(self) -> int:
        """Elements of the view (1 for a 0-d tensor)."""
        return prod(self.shape)

    @Fact
    def storage_numel(self) -> int:
        """Elements of the storage."""
        return prod(self.storage_shape)

    @Fact
    def is_empty(self) -> bool:
        """Whether some view dimension is 0."""
        return 0 in self.shape

    @Fact
    def is_contiguous(self) -> bool:
        """The vendor's test: private format, one element, or row-major but for size-1 dims."""
        if self.format_value in PRIVATE_FORMATS or self.numel in (0, 1):
            return True
        if self.strides == (dense := row_major_strides(self.shape)):
            return True
        return all(
            size == 1 or stride == wanted
            for size, stride, wanted in zip(self.shape, self.strides, dense, strict=True)
        )

    @Fact
    def is_plain(self) -> bool:
        """Whether it is dense from the start of a storage that is large enough: the usual case."""
        if self.offset or not self.is_contiguous or self.storage_numel < self.numel:
            return False
        if min((0, *self.shape, *self.storage_shape)) < 0:
            return False
        return self.storage_numel * max(self.dtype.itemsize, 1) <= MOST_BYTES

    @Fact
    def extent(self) -> tuple[int, int]:
        """First and one-past-last element of the storage that the view touches."""
        if self.is_empty:
            return self.offset, self.offset
        if self.is_contiguous:
            return self.offset, self.offset + self.numel
        spans = [stride * (size - 1) for size, stride in zip(self.shape, self.strides, strict=True)]
        low = self.offset + sum(span for span in spans if span < 0)
        high = self.offset + sum(span for span in spans if span > 0)
        return low, high + 1

    @Fact
    def fits_storage(self) -> bool:
        """Whether every element of the view lies inside the storage."""
        low, high = self.extent
        return self.is_empty or (low >= 0 and high <= self.storage_numel)

    @Fact
    def is_countable(self) -> bool:
        """Whether no dimension is negative and no size in bytes passes MOST_BYTES."""
        if min((0, *self.shape, *self.storage_shape)) < 0:
            return False
        low, high = self.extent
        most = max(self.numel, self.storage_numel, abs(low), abs(high))
        return most * max(self.dtype.itemsize, 1) <= MOST_BYTES

    @property
    def is_permuted_dense(self) -> bool:
        """Whether the view is a dense tensor with its axes reordered."""
        axes = sorted(
            (axis for axis in range(self.rank) if self.shape[axis] != 1),
            key=lambda axis: -self.strides[axis],
        )
        step = 1
        for axis in reversed(axes):
            if self.strides[axis] != step:
                return False
            step *= self.shape[axis]
        return True
