# SPDX-License-Identifier: Apache-2.0
"""What a plan is made of: operands, steps, and the parameters of strided copies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from aclnn_py.core.made import maker
from aclnn_py.plan.checks import shape_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aclnn_py.plan.parts import Rows

__all__ = [
    "WORKSPACE",
    "Operand",
    "Step",
    "StridedCopy",
    "new_step",
    "operand",
    "shares_elements",
    "strided_copy",
]

WORKSPACE = -1


class Operand(NamedTuple):
    """An address known only when the plan runs.

    Attributes
    ----------
    base : int
        Position of a tensor argument, or ``WORKSPACE``.
    byte_offset : int
        From the tensor's raw data address, or from the start of the workspace.
    """

    base: int
    byte_offset: int


operand = maker(Operand)


class Step(NamedTuple):
    """One unit of work: a kernel by name, its operands and its parameters.

    Attributes
    ----------
    name : str
        The role in the plan: "contiguous", "softmax", "cast", "view_copy", "device_copy".
    kernel, dtype : str
        What to look up: ("copy_strided", "b4"), ("cast", "f32_f16"), ("softmax", "f32").
    reads : tuple of Operand
        Inputs, in kernel order.
    write : Operand
        The output.
    params : tuple of int
        As the kernel documents them.
    told : str or (str, tuple of int)
        What `text` is made of: all of it, or a type and a shape of a compute step.
    shapes : tuple of tuple of int
        Dense shapes of the operands, inputs first; only compute steps have them.
    dtypes : tuple of str
        Kernel names of the operands' types where they differ, inputs first: `reference` then gets
        the inputs as they are.
    reference : callable, optional
        The same step in NumPy: gets `params` and the inputs in a wide type, returns the output.
    rows : Rows, optional
        How it can be done part by part.
    """

    name: str
    kernel: str
    dtype: str
    reads: tuple[Operand, ...]
    write: Operand
    params: tuple[int, ...]
    told: str | tuple[str, tuple[int, ...]]
    shapes: tuple[tuple[int, ...], ...] = ()
    dtypes: tuple[str, ...] = ()
    reference: Callable[..., Any] | None = None
    rows: Rows | None = None

    @property
    def text(self) -> str:
        """One line for `explain`."""
        if isinstance(self.told, str):
            return self.told
        dtype, shape = self.told
        return f"{dtype} {shape_text(shape)}, params {self.params}"

    def __repr__(self) -> str:
        # Without the two last ones, which say nothing that the others do not.
        shown = zip(self._fields[:-2], self, strict=False)
        return f"Step({', '.join(f'{name}={value!r}' for name, value in shown)})"


new_step = maker(Step)


@dataclass(frozen=True, slots=True)
class StridedCopy:
    """A copy between two views of one shape, reduced to as few dimensions as possible.

    Attributes
    ----------
    kernel : str
        "copy_strided", or "copy_ordered" where elements of the destination share memory: then the
        last one in row-major order stays.
    params : tuple of int
        rank, dims, source strides [bytes], destination strides [bytes].
    source_shift : int
        Bytes to add to the source address: where the destination repeats an element, only the
        last value written to it is copied.
    """

    kernel: str
    params: tuple[int, ...]
    source_shift: int


def strided_copy(
    shape: Sequence[int], source: Sequence[int], destination: Sequence[int], itemsize: int
) -> StridedCopy:
    """Parameters of the copy kernel; strides are given in elements."""
    shift = 0
    axes: list[tuple[int, int, int]] = []
    for size, from_stride, to_stride in zip(shape, source, destination, strict=True):
        if size != 1 and to_stride == 0:
            shift += (size - 1) * from_stride * itemsize
        elif size != 1:
            axes.append((size, from_stride * itemsize, to_stride * itemsize))
    ordered = shares_elements([axis[0] for axis in axes], [axis[2] for axis in axes], itemsize)
    if not ordered:
        # Order does not matter then: the destination is walked in address order.
        axes.sort(key=lambda axis: (-abs(axis[2]), -abs(axis[1])))
    merged: list[tuple[int, int, int]] = []
    for size, from_stride, to_stride in axes:
        if merged:
            outer_size, outer_from, outer_to = merged[-1]
            if outer_from == from_stride * size and outer_to == to_stride * size:
                merged[-1] = (outer_size * size, from_stride, to_stride)
                continue
        merged.append((size, from_stride, to_stride))
    columns = [column for axis in range(3) for column in (row[axis] for row in merged)]
    kernel = "copy_ordered" if ordered else "copy_strided"
    return StridedCopy(kernel, (len(merged), *columns), shift)


def shares_elements(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> bool:
    """Whether two elements of a view (strides in bytes) may overlap; never a false "no"."""
    reach = 0
    for stride, size in sorted(
        (abs(step), size) for size, step in zip(shape, strides, strict=True)
    ):
        if size > 1 and stride < reach + itemsize:
            return True
        reach += stride * (size - 1)
    return False
