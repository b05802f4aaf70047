# SPDX-License-Identifier: Apache-2.0
"""Logical tensor: an edge of a graph, without data."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, NoReturn

from aclnn_py.dialects.onednn.descriptors import memory_desc
from aclnn_py.dialects.onednn.enums import DNNL_MAX_NDIMS, member
from aclnn_py.dialects.onednn.enums import data_type as data_type_t
from aclnn_py.dialects.onednn.sequences import integers
from aclnn_py.dialects.onednn.statuses import OneDnnError, refuse, status
from aclnn_py.dialects.onednn_graph.enums import (
    DNNL_GRAPH_UNKNOWN_DIM,
    DNNL_GRAPH_UNKNOWN_NDIMS,
)
from aclnn_py.dialects.onednn_graph.enums import layout_type as layout_type_t
from aclnn_py.dialects.onednn_graph.enums import property_type as property_type_t
from aclnn_runtime.arguments import describe, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["check_logical_tensor", "dense_strides", "logical_tensor"]

_NAME: Final = "logical_tensor"
_MOST_ID: Final = 2**64

# The only opaque layout there is: row-major. What is opaque is that callers may not count on it.
_OPAQUE_ID: Final = 1

# What a memory descriptor refuses, by its argument: whose field that is here, and what to say.
_REFUSALS: Final = {
    "dims": (
        "dims",
        "is too large",
        "at most 2**57 bytes, gaps included",
        "check how its dimensions were computed",
    ),
    "strides": (
        "layout",
        "has strides that overlap or reach too far",
        "strides of 0, or at least the extent of the faster dimensions; at most 2**57 bytes",
        "leave the layout out for row-major",
    ),
    "data_type": (
        "dtype",
        "names a packed 4-bit type",
        "a type of at least one byte",
        "softmax takes none of them in any direction",
    ),
}


def dense_strides(dims: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides [elements]; unknown where a dimension is."""
    if DNNL_GRAPH_UNKNOWN_DIM in dims:
        return (DNNL_GRAPH_UNKNOWN_DIM,) * len(dims)
    strides, step = [0] * len(dims), 1
    for axis in reversed(range(len(dims))):
        strides[axis] = step
        step *= max(dims[axis], 1)
    return tuple(strides)


@dataclass(frozen=True, init=False, repr=False)
class logical_tensor:
    """An edge of a graph: identity, element type, and as much of shape and layout as is known.

    Parameters
    ----------
    tid : int
        Identity; operators that name the same one are connected.
    dtype : data_type
        Element type; undef where it is not known.
    dims : sequence of int, int or None
        Sizes (``DNNL_GRAPH_UNKNOWN_DIM`` for one that is not known), a rank alone, or nothing
        known. An empty sequence is a scalar.
    layout : layout_type or sequence of int
        Or strides [elements]. Strided without strides is row-major.
    ptype : property_type
        Whether the data is constant.
    layout_id : int
        Of an opaque layout, as ``compiled_partition.query_logical_tensor`` gave it.

    Raises
    ------
    OneDnnError
        invalid_arguments.
    """

    data_type: ClassVar[type[data_type_t]] = data_type_t
    layout_type: ClassVar[type[layout_type_t]] = layout_type_t
    property_type: ClassVar[type[property_type_t]] = property_type_t

    id: int
    dtype: data_type_t
    ndims: int
    dims: tuple[int, ...]
    layout: layout_type_t
    strides: tuple[int, ...]
    layout_id: int
    ptype: property_type_t = field(compare=False)

    def __init__(
        self,
        tid: int,
        dtype: data_type_t | int = data_type_t.undef,
        dims: Sequence[int] | int | None = None,
        layout: layout_type_t | Sequence[int] | int = layout_type_t.strided,
        ptype: property_type_t | int = property_type_t.undef,
        layout_id: int = 0,
    ) -> None:
        put: Any = object.__setattr__
        put(self, "id", _id(tid))
        put(self, "dtype", member(_NAME, "dtype", dtype, data_type_t))
        ndims, sizes = _dims(dims)
        put(self, "ndims", ndims)
        put(self, "dims", sizes)
        constant, strided = property_type_t.constant, layout_type_t.strided
        put(self, "ptype", member(_NAME, "ptype", ptype, property_type_t, constant))
        given = isinstance(layout, int)
        kind = member(_NAME, "layout", layout, layout_type_t, strided) if given else strided
        put(self, "layout", kind)
        put(self, "strides", _strides(ndims, sizes, kind, None if given else layout))
        put(self, "layout_id", layout_id)
        _check_opaque(self)
        _check_host_scalar(self)

    @property
    def is_shape_known(self) -> bool:
        """Whether rank and all dimensions are."""
        return self.ndims >= 0 and DNNL_GRAPH_UNKNOWN_DIM not in self.dims

    @property
    def shape_text(self) -> str:
        """Its shape for texts: ``2x?``."""
        return "?" if self.ndims < 0 else "x".join(map(_size, self.dims)) or "scalar"

    def get_id(self) -> int:
        """Its identity."""
        return self.id

    def get_data_type(self) -> data_type_t:
        """Its element type."""
        return self.dtype

    def get_dims(self) -> tuple[int, ...]:
        """Its sizes."""
        if self.ndims < 0:
            _invalid("dims", "are not known", repr(self), "a tensor whose rank is known")
        return self.dims

    def get_layout_type(self) -> layout_type_t:
        """What it says of its layout."""
        return self.layout

    def get_strides(self) -> tuple[int, ...]:
        """Its strides [elements]."""
        if self.layout is not layout_type_t.strided:
            _invalid("layout", "is not strided", repr(self), "layout_type.strided")
        return self.strides

    def get_layout_id(self) -> int:
        """The id of its opaque layout."""
        if self.layout is not layout_type_t.opaque:
            _invalid("layout", "is not opaque", repr(self), "layout_type.opaque")
        return self.layout_id

    def get_property_type(self) -> property_type_t:
        """Whether its data is constant."""
        return self.ptype

    def get_mem_size(self) -> int:
        """Bytes of memory behind it; invalid_shape where shape or layout are not known yet."""
        return self.memory_desc("logical_tensor.get_mem_size").get_size()

    def is_equal(self, other: logical_tensor) -> bool:
        """Whether both say the same; the property does not count."""
        return self == other

    def has_same_shape_and_layout(self, other: logical_tensor) -> bool:
        """Whether memory of one fits the other, types aside."""
        check_logical_tensor("logical_tensor.has_same_shape_and_layout", "other", other)
        mine = (self.dims, self.layout, self.strides)
        return mine == (other.dims, other.layout, other.strides)

    def with_layout(
        self, dims: tuple[int, ...], kind: layout_type_t, strides: tuple[int, ...] = ()
    ) -> logical_tensor:
        """The same edge, its shape and layout decided."""
        fixed = strides or (dense_strides(dims) if kind is layout_type_t.strided else ())
        number = _OPAQUE_ID if kind is layout_type_t.opaque else 0
        made = object.__new__(logical_tensor)
        state = {
            "id": self.id, "dtype": self.dtype, "ndims": len(dims), "dims": dims, "layout": kind,
            "strides": fixed, "layout_id": number, "ptype": self.ptype,
        }  # fmt: skip
        for name, value in state.items():
            object.__setattr__(made, name, value)
        return made

    def memory_desc(self, function: str, argument: str = "") -> memory_desc:
        """The same for memory; a scalar has one dimension of 1.

        Parameters
        ----------
        function, argument : str
            What a refusal names: the call, and the argument that this tensor is. Without one it
            names the field to blame.

        Raises
        ------
        OneDnnError
            invalid_shape where shape or layout are open; what a memory descriptor refuses.
        """
        _check_definite(self, function, argument)
        if self.dtype is data_type_t.undef:
            refuse(
                status.invalid_arguments,
                function,
                argument or "dtype",
                "names no element type",
                got=repr(self),
                expected="an element type other than undef",
                fix="logical_tensor(id, data_type.f32, (4, 8))",
            )
        dims, strides = self.dims or (1,), self.strides or dense_strides(self.dims) or (1,)
        return _described(function, argument, repr(self), dims, self.dtype, strides)

    def __repr__(self) -> str:
        layout = f"strides {self.strides}" if self.strides else self.layout.name
        return f"<logical_tensor {self.id} {self.dtype.name} {self.shape_text} {layout}>"


def check_logical_tensor(function: str, argument: str, value: object) -> logical_tensor:
    """`value`, where it is a logical tensor."""
    if not isinstance(value, logical_tensor):
        refuse(
            status.invalid_arguments,
            function,
            argument,
            "is no logical_tensor",
            got=describe(value),
            expected="a logical_tensor",
            fix="logical_tensor(id, data_type.f32, (4, 8))",
        )
    return value


def _size(size: int) -> str:
    return "?" if size == DNNL_GRAPH_UNKNOWN_DIM else str(size)


def _id(value: object) -> int:
    number = whole_number(value)
    if number is None or not 0 <= number < _MOST_ID:
        _invalid("tid", "is no id", describe(value), "an integer from 0")
    return number


def _dims(value: object) -> tuple[int, tuple[int, ...]]:
    if value is None:
        return DNNL_GRAPH_UNKNOWN_NDIMS, ()
    rank = whole_number(value)
    if rank == DNNL_GRAPH_UNKNOWN_NDIMS:
        return DNNL_GRAPH_UNKNOWN_NDIMS, ()
    unnamed = (DNNL_GRAPH_UNKNOWN_DIM,) * min(max(rank or 0, 0), DNNL_MAX_NDIMS)
    sizes = integers(value) if rank is None else unnamed
    if sizes is None:
        wanted = "a list, tuple or one-dimensional array of integers"
        _invalid("dims", "are no sizes", describe(value), wanted)
    negative = [size for size in sizes if size < 0 and size != DNNL_GRAPH_UNKNOWN_DIM]
    rank = len(sizes) if rank is None else rank
    if negative or not 0 <= rank <= DNNL_MAX_NDIMS or any(size >= 2**63 for size in sizes):
        expected = f"at most {DNNL_MAX_NDIMS} sizes, each >= 0 or DNNL_GRAPH_UNKNOWN_DIM"
        _invalid("dims", "are no sizes", describe(value), expected)
    return rank, sizes


def _strides(
    ndims: int, dims: tuple[int, ...], kind: layout_type_t, given: object
) -> tuple[int, ...]:
    if given is None:
        return dense_strides(dims) if kind is layout_type_t.strided else ()
    found = integers(given)
    steps = found or ()
    unknown = DNNL_GRAPH_UNKNOWN_DIM
    sizes = "of an unknown rank" if ndims < 0 else "x".join(map(_size, dims)) or "()"
    got = f"{describe(given)}, dims being {sizes}"
    if found is None or len(steps) != len(dims) or any(s < 0 and s != unknown for s in steps):
        _invalid("layout", "does not fit the dimensions", got, _layouts(ndims))
    if dims and unknown not in (*dims, *steps):
        _described(_NAME, "", got, dims, data_type_t.u8, steps)  # refuses strides that overlap
    return steps


def _described(
    function: str,
    argument: str,
    got: str,
    dims: tuple[int, ...],
    dtype: data_type_t,
    strides: tuple[int, ...],
) -> memory_desc:
    """A memory descriptor; what it refuses is refused in the names of `function`."""
    with _renamed(function, argument, got):
        return memory_desc(dims, dtype, strides)


@contextmanager
def _renamed(function: str, argument: str, got: str) -> Iterator[None]:
    """Refusals of a memory descriptor in words of the Graph API, which has no tags."""
    try:
        yield
    except OneDnnError as error:
        field_name, what, expected, fix = _REFUSALS[error.argument]
        blamed = argument or field_name
        refuse(error.status, function, blamed, what, got=got, expected=expected, fix=fix)


def _check_definite(tensor: logical_tensor, function: str, argument: str) -> None:
    """Memory has all its dimensions, and a layout."""
    settled = tensor.layout in (layout_type_t.strided, layout_type_t.opaque)
    if not tensor.is_shape_known:
        blamed, what, fix = "dims", "leaves dimensions open", "give its dimensions"
    elif not settled:
        blamed, what = "layout", "leaves the layout open"
        fix = "pass what compiled_partition.query_logical_tensor(id) says"
    elif DNNL_GRAPH_UNKNOWN_DIM in tensor.strides:
        blamed, what = "layout", "leaves strides open"
        fix = "give its strides, or leave the layout out for row-major"
    else:
        return
    refuse(
        status.invalid_shape,
        function,
        argument or blamed,
        what,
        got=repr(tensor),
        expected="known dimensions, strided or opaque",
        fix=fix,
    )


def _layouts(ndims: int) -> str:
    """What a tensor of so many dimensions can have as its layout."""
    if ndims < 0:
        return "dims with a known rank, or a layout_type"
    if not ndims:
        return "a layout_type: a scalar has no strides"
    return f"a layout_type, or {ndims} stride{'s' if ndims > 1 else ''} >= 0 [elements]"


def _check_opaque(tensor: logical_tensor) -> None:
    wanted = _OPAQUE_ID if tensor.layout is layout_type_t.opaque else 0
    if whole_number(tensor.layout_id) != wanted:
        _invalid(
            "layout_id",
            "is no opaque layout of this tensor",
            f"{tensor.layout_id!r} for {tensor!r}",
            "what get_layout_id() of a queried logical tensor says; 0 where it is not opaque",
        )


def _check_host_scalar(tensor: logical_tensor) -> None:
    kinds = (data_type_t.s32, data_type_t.f32, data_type_t.s64)
    if tensor.ptype is property_type_t.host_scalar and (
        tensor.ndims != 0 or tensor.dtype not in kinds
    ):
        _invalid("ptype", "is for scalars", repr(tensor), "no dimension, of f32, s32 or s64")


def _invalid(argument: str, what: str, got: str, expected: str) -> NoReturn:
    refuse(
        status.invalid_arguments,
        _NAME,
        argument,
        what,
        got=got,
        expected=expected,
        fix="logical_tensor(id, data_type.f32, (4, 8), layout_type.strided)",
    )
