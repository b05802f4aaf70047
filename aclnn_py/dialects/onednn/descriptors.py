# SPDX-License-Identifier: Apache-2.0
"""Memory descriptor: dimensions, element type and layout, without data."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from aclnn_py.core.desc import MOST_BYTES, TensorDesc
from aclnn_py.dialects.onednn.enums import (
    DNNL_MAX_NDIMS,
    DNNL_RUNTIME_DIM_VAL,
    data_type,
    format_kind,
    member,
    table_row,
)
from aclnn_py.dialects.onednn.sequences import integers
from aclnn_py.dialects.onednn.statuses import refuse, status
from aclnn_py.dialects.onednn.tags import axis_order, natural_tag
from aclnn_runtime.arguments import describe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aclnn_py.core.dtype import DType

__all__ = ["memory_desc"]

_NAME = "memory_desc"
# By these names inside of the class, which has fields of the others.
_DataType: TypeAlias = data_type
_FormatKind: TypeAlias = format_kind


class memory_desc:
    """Dimensions, element type and layout of a memory object; immutable.

    Parameters
    ----------
    dims : sequence of int
        At most 12, each >= 0 or ``DNNL_RUNTIME_DIM_VAL``; none makes the zero descriptor.
    data_type : data_type
        Element type, not undef.
    layout : str or sequence of int
        A plain format tag (``"ab"``, ``"nhwc"``, ``"any"``), or strides [elements], >= 0; a
        stride of 0 repeats the elements.

    Raises
    ------
    OneDnnError
        invalid_arguments for dims, types, tags or strides that are none; unimplemented for
        blocked tags and for the packed 4-bit types.
    """

    dims: tuple[int, ...]
    data_type: _DataType
    format_kind: _FormatKind
    strides: tuple[int, ...]

    def __init__(
        self,
        dims: Sequence[int] = (),
        data_type: _DataType | int = _DataType.undef,  # the C API's name
        layout: str | Sequence[int] = "undef",
    ) -> None:
        fields = vars(self)
        fields["dims"] = _integers("dims", dims)
        fields["data_type"] = _type(data_type, needed=bool(self.dims))
        fields["format_kind"] = format_kind.undef
        fields["strides"] = ()
        _check_dims(self.dims)
        if self.dims:
            self._lay_out(layout)

    # Sizes and keys are worked out once; memory and primitives rely on them.
    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(
            f"{_NAME} is immutable: make another one instead of setting {name}"
        )

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError(f"{_NAME} is immutable: {name} cannot be deleted")

    @classmethod
    def host_scalar(cls, data_type: _DataType | int) -> memory_desc:
        """The descriptor of one value that lives on the host."""
        desc = cls((1,), data_type, (1,))
        vars(desc)["format_kind"] = format_kind.host_scalar
        return desc

    def _lay_out(self, layout: str | Sequence[int]) -> None:
        if isinstance(layout, str):
            if layout == "any":
                vars(self)["format_kind"] = format_kind.any
                return
            if layout == "undef":
                refuse(
                    status.invalid_arguments,
                    _NAME,
                    "format_tag",
                    "is not given",
                    got=f"dims {self.dims} without a layout",
                    expected="a plain format tag, strides, or 'any'",
                    fix=f"pass {natural_tag(len(self.dims))!r} for row-major",
                )
            order = axis_order(_NAME, layout, len(self.dims))
            vars(self)["strides"] = _dense_strides(self.dims, order)
        else:
            vars(self)["strides"] = _integers("strides", layout)
            _check_strides(self.dims, self.strides)
        vars(self)["format_kind"] = format_kind.blocked
        _check_size(self)

    def get_dims(self) -> tuple[int, ...]:
        """Its sizes."""
        return self.dims

    def get_ndims(self) -> int:
        """Number of dimensions; 0 for the zero descriptor."""
        return len(self.dims)

    def get_data_type(self) -> _DataType:
        """Its element type."""
        return self.data_type

    def get_format_kind(self) -> _FormatKind:
        """What it says of its layout."""
        return self.format_kind

    def get_strides(self) -> tuple[int, ...]:
        """Its strides [elements]; none without a layout."""
        return self.strides

    @property
    def ndims(self) -> int:
        """Number of dimensions; 0 for the zero descriptor."""
        return len(self.dims)

    @cached_property
    def is_empty(self) -> bool:
        """Whether it describes no element: the zero descriptor, or some dimension 0."""
        return not self.dims or 0 in self.dims

    @cached_property
    def has_runtime_dims(self) -> bool:
        """Whether a dimension or stride is left open until execution."""
        return DNNL_RUNTIME_DIM_VAL in (*self.dims, *self.strides)

    @cached_property
    def has_repeated_elements(self) -> bool:
        """Whether several positions share one element (stride 0)."""
        return any(
            size > 1 and step == 0 for size, step in zip(self.dims, self.strides, strict=False)
        )

    @cached_property
    def storage_elements(self) -> int:
        """Elements of the memory behind it, gaps included."""
        if self.is_empty or not self.strides:
            return 0
        return max([1, *(size * step for size, step in self._axes if size > 1)])

    def get_size(self) -> int:
        """Bytes a memory object of this descriptor needs; 0 where there is no layout yet.

        Where dimensions or strides are open ``DNNL_RUNTIME_DIM_VAL``, which is no size.
        """
        row = table_row(self.data_type)
        if self.has_runtime_dims:
            return DNNL_RUNTIME_DIM_VAL
        return 0 if row is None else row.nbytes(self.storage_elements)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Axes from the slowest to the fastest; none without a layout."""
        if not self.strides:
            return ()
        fastest = sorted((step, size, axis) for axis, (size, step) in enumerate(self._axes))
        return tuple(axis for _, _, axis in reversed(fastest))

    @property
    def _axes(self) -> zip[tuple[int, int]]:
        return zip(self.dims, self.strides, strict=True)

    def in_order_of(self, other: memory_desc) -> memory_desc:
        """What ``any`` becomes beside `other`: dense, its axes in the other's order."""
        _check_other("in_order_of", other, self.ndims)
        return memory_desc(self.dims, self.data_type, _dense_strides(self.dims, other.order))

    def with_layout_of(self, other: memory_desc) -> memory_desc:
        """What ``any`` becomes in a backward pass: the other's layout, gaps included.

        Repeated elements are not taken over: a gradient has a place for each.
        """
        _check_other("with_layout_of", other, self.ndims)
        if self.dims != other.dims or other.has_repeated_elements:
            return self.in_order_of(other)
        return memory_desc(self.dims, self.data_type, other.strides)

    @property
    def row(self) -> DType:
        """The element type in the table of core/dtype.py."""
        row = table_row(self.data_type)
        if row is None:
            refuse(
                status.invalid_arguments,
                f"{_NAME}.row",
                "",
                "the zero descriptor has no element type",
                got=repr(self),
                expected="a descriptor with dimensions",
                fix="memory_desc((4, 8), data_type.f32, 'ab')",
            )
        return row

    @cached_property
    def tensor_desc(self) -> TensorDesc:
        """The same for the planner."""
        return TensorDesc(self.dims, self.strides, 0, (self.storage_elements,), self.row.value)

    @cached_property
    def _key(self) -> tuple[object, ...]:
        if not self.dims:
            return ()  # the zero descriptor, whatever type it was given
        # Strides of dimensions of one element, and of empty ones, move nothing.
        moving = (
            ()
            if self.is_empty
            else tuple(s for n, s in zip(self.dims, self.strides, strict=False) if n != 1)
        )
        return (self.dims, self.data_type, self.format_kind, moving)

    def same_layout(self, other: memory_desc) -> bool:
        """Whether both have the same dimensions at the same places; types may differ."""
        _check_other("same_layout", other)
        return self._key[:1] == other._key[:1] and self._key[2:] == other._key[2:]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, memory_desc) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        if not self.dims:
            return "<memory_desc zero>"
        dims = "x".join("?" if n == DNNL_RUNTIME_DIM_VAL else str(n) for n in self.dims)
        strided = self.strides and self.format_kind is not format_kind.host_scalar
        layout = f"strides {self.strides}" if strided else self.format_kind.name
        return f"<memory_desc {self.data_type.name} {dims} {layout}>"


def _check_other(method: str, value: object, rank: int | None = None) -> None:
    """`rank`: that of the layout which is asked for, where one is."""
    if isinstance(value, memory_desc) and rank is not None and len(value.strides) != rank:
        refuse(
            status.invalid_arguments,
            f"{_NAME}.{method}",
            "other",
            "has no layout for as many dimensions",
            got=repr(value),
            expected=f"a descriptor of rank {rank} with strides",
            fix="pass the descriptor of the tensor beside it, of the same rank and not 'any'",
        )
    if not isinstance(value, memory_desc):
        refuse(
            status.invalid_arguments,
            f"{_NAME}.{method}",
            "other",
            "is no memory_desc",
            got=describe(value),
            expected="a memory_desc",
            fix="memory_desc((4, 8), data_type.f32, 'ab')",
        )


def _type(value: object, *, needed: bool) -> data_type:
    kind = member(_NAME, "data_type", value, data_type)
    if needed and kind is data_type.undef:
        refuse(
            status.invalid_arguments,
            _NAME,
            "data_type",
            "is undefined",
            got="undef",
            expected="an element type",
            fix="for example data_type.f32",
        )
    if needed and table_row(kind) is None:
        refuse(
            status.unimplemented,
            _NAME,
            "data_type",
            "is a packed 4-bit type",
            got=kind.name,
            expected="a type of at least one byte",
            fix="softmax takes none of them in any direction",
        )
    return kind


def _integers(argument: str, values: object) -> tuple[int, ...]:
    found = integers(values)
    if found is None or not all(-(2**63) <= value < 2**63 for value in found):
        refuse(
            status.invalid_arguments,
            _NAME,
            argument,
            "is no sequence of 64-bit integers",
            got=describe(values),
            expected="a sequence of int",
            fix=f"pass {argument} as a tuple of ints",
        )
    return found


def _check_dims(dims: tuple[int, ...]) -> None:
    bad = [n for n in dims if n < 0 and n != DNNL_RUNTIME_DIM_VAL]
    if bad or len(dims) > DNNL_MAX_NDIMS:
        refuse(
            status.invalid_arguments,
            _NAME,
            "dims",
            "has a negative dimension" if bad else "has too many dimensions",
            got=dims,
            expected=f"at most {DNNL_MAX_NDIMS} sizes, each >= 0 or DNNL_RUNTIME_DIM_VAL",
            fix="check how dims was computed",
        )


def _check_strides(dims: tuple[int, ...], strides: tuple[int, ...]) -> None:
    negative = [step for step in strides if step < 0 and step != DNNL_RUNTIME_DIM_VAL]
    fine = len(strides) == len(dims) and not negative
    if fine and 0 not in dims and DNNL_RUNTIME_DIM_VAL not in (*dims, *strides):
        reach = 1
        for step, size in sorted(zip(strides, dims, strict=True)):
            if step != 0 and size != 1:  # 0 repeats the elements; one element needs no step
                fine = fine and step >= reach
                reach = step * size
    if not fine:
        refuse(
            status.invalid_arguments,
            _NAME,
            "strides",
            "include a negative one" if negative else "do not fit the dimensions",
            got=f"strides {strides} for dims {dims}",
            expected="one for each dimension; 0, or at least the extent of the faster dimensions",
            fix=f"for a row-major tensor pass the tag {natural_tag(len(dims))!r}",
        )


def _check_size(desc: memory_desc) -> None:
    if desc.has_runtime_dims:
        return
    dense = desc.row.nbytes(prod(desc.dims))
    if max(dense, desc.row.nbytes(desc.storage_elements)) <= MOST_BYTES:
        return
    blamed = "dims" if dense > MOST_BYTES else "strides"
    refuse(
        status.invalid_arguments,
        _NAME,
        blamed,
        "is too large" if blamed == "dims" else "reach too far",
        got=desc.dims if blamed == "dims" else f"strides {desc.strides} for dims {desc.dims}",
        expected="at most 2**57 bytes, gaps included",
        fix=f"check how {blamed} was computed",
    )


def _dense_strides(dims: tuple[int, ...], order: tuple[int, ...]) -> tuple[int, ...]:
    if DNNL_RUNTIME_DIM_VAL in dims:
        return (DNNL_RUNTIME_DIM_VAL,) * len(dims)
    strides, step = [0] * len(dims), 1
    for axis in reversed(order):
        strides[axis] = step
        step *= max(dims[axis], 1)
    return tuple(strides)
