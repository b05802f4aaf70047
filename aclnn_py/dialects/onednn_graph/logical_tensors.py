# SPDX-License-Identifier: Apache-2.0
"""Logical tensor: an edge of a graph, without data."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
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
_SIZES: Final = f"at most {DNNL_MAX_NDIMS} sizes, each >= 0 or DNNL_GRAPH_UNKNOWN_DIM"

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
    dims : sequence of int, int, layout_type or None
        Sizes (``DNNL_GRAPH_UNKNOWN_DIM`` for one that is not known), a rank alone, or nothing
        known. An empty sequence is a scalar. A layout type in this place is that of a tensor of
        unknown rank, as in the C++ constructor without dimensions.
    layout : layout_type or sequence of int, optional
        Or strides [elements]. Strided without strides is row-major.
    ptype : property_type
        Whether the data is constant.
    layout_id : int
        Of an opaque layout, as ``compiled_partition.query_logical_tensor`` gave it.

    Raises
    ------
    OneDnnError
        invalid_arguments.

    Notes
    -----
    Without a layout a tensor of unknown rank is undef, as in C++: it can be an edge of a graph,
    while ``partition.compile`` asks for a layout. With a rank or sizes C++ has no default; here it
    is strided. An integer is no layout: the id that C++ takes in this place is `layout_id`.
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
        dims: Sequence[int] | layout_type_t | int | None = None,
        layout: layout_type_t | Sequence[int] | None = None,
        ptype: property_type_t | int = property_type_t.undef,
        layout_id: int = 0,
    ) -> None:
        put: Any = object.__setattr__
        put(self, "id", _id(tid))
        put(self, "dtype", member(_NAME, "dtype", dtype, data_type_t))
        if isinstance(dims, layout_type_t):
            if layout is not None:
                got = f"{describe(dims)}, {describe(layout)}"
                _invalid("layout", "is given twice, in the place of dims, too", got, "one layout")
            dims, layout = None, dims
        ndims, sizes = _dims(dims)
        put(self, "ndims", ndims)
        put(self, "dims", sizes)
        constant = property_type_t.constant
        put(self, "ptype", member(_NAME, "ptype", ptype, property_type_t, constant))
        kind = _layout_type(layout, ndims)
        put(self, "layout", kind)
        steps = None if isinstance(layout, layout_type_t) else layout
        put(self, "strides", _strides(ndims, sizes, kind, steps))
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
            _invalid(
                "layout",
                "is not opaque",
                repr(self),
                "layout_type.opaque",
                "logical_tensor.get_layout_id",
                "compile the port with layout_type.any and ask what compiled_partition."
                "query_logical_tensor(id) gives",
            )
        return self.layout_id

    def get_property_type(self) -> property_type_t:
        """Whether its data is constant."""
        return self.ptype

    def get_mem_size(self) -> int:
        """Bytes of memory behind it; invalid_shape where shape or layout are not known yet."""
        return self.memory_desc("logical_tensor.get_mem_size").get_size()

    def is_equal(self, other: logical_tensor) -> bool:
        """Whether both say the same; the property does not count."""
        return self == check_logical_tensor("logical_tensor.is_equal", "other", other)

    def has_same_shape_and_layout(self, other: logical_tensor) -> bool:
        """Whether memory of one fits the other, types aside."""
        check_logical_tensor("logical_tensor.has_same_shape_and_layout", "other", other)
        mine = (self.dims, self.layout, self.strides)
        return mine == (other.dims, other.layout, other.strides)

    def with_layout(
        self, dims: Sequence[int], kind: layout_type_t | int, strides: Sequence[int] = ()
    ) -> logical_tensor:
        """The same edge, its shape and layout decided; without strides, strided is row-major.

        Raises
        ------
        OneDnnError
            invalid_arguments for what is no shape or layout. Strides that overlap are refused
            where memory is asked for.
        """
        function = "logical_tensor.with_layout"
        sizes, strided = _sizes(dims, function), layout_type_t.strided
        layout = member(function, "kind", kind, layout_type_t, strided)
        steps = _steps(strides, len(sizes) if layout is strided else 0, function)
        fixed = steps or (dense_strides(sizes) if layout is strided else ())
        number = _OPAQUE_ID if layout is layout_type_t.opaque else 0
        made = object.__new__(logical_tensor)
        state = {
            "id": self.id, "dtype": self.dtype, "ndims": len(sizes), "dims": sizes,
            "layout": layout, "strides": fixed, "layout_id": number, "ptype": self.ptype,
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
    rank = None if isinstance(value, Enum) else whole_number(value)  # no enumerator is a rank
    if rank is None:
        sizes = _sizes(value)
        return len(sizes), sizes
    if rank == DNNL_GRAPH_UNKNOWN_NDIMS:
        return DNNL_GRAPH_UNKNOWN_NDIMS, ()
    if not 0 <= rank <= DNNL_MAX_NDIMS:
        _invalid("dims", "are no sizes", describe(value), _SIZES)
    return rank, (DNNL_GRAPH_UNKNOWN_DIM,) * rank


def _sizes(value: object, function: str = _NAME) -> tuple[int, ...]:
    sizes = integers(value)
    if sizes is None:
        wanted = "a list, tuple or one-dimensional array of integers"
        _invalid("dims", "are no sizes", describe(value), wanted, function)
    negative = [size for size in sizes if size < 0 and size != DNNL_GRAPH_UNKNOWN_DIM]
    if negative or len(sizes) > DNNL_MAX_NDIMS or any(size >= 2**63 for size in sizes):
        _invalid("dims", "are no sizes", describe(value), _SIZES, function)
    return sizes


def _steps(value: object, count: int, function: str) -> tuple[int, ...]:
    """Strides that a layout of `count` of them is given; none are fine, too."""
    steps = integers(value)
    unknown = DNNL_GRAPH_UNKNOWN_DIM
    if steps is None or len(steps) not in (0, count) or any(s < 0 and s != unknown for s in steps):
        wanted = (
            f"none, or {count} integers >= 0" if count else "none: only what is strided has some"
        )
        _invalid("strides", "do not fit the layout", describe(value), wanted, function)
    return steps


def _layout_type(value: object, ndims: int) -> layout_type_t:
    """What is said of the layout, by a type, strides or nothing."""
    if isinstance(value, layout_type_t):
        return value
    if value is None and ndims < 0:
        return layout_type_t.undef
    if isinstance(value, bool | Enum) or whole_number(value) is not None:
        refuse(
            status.invalid_arguments,
            _NAME,
            "layout",
            "is no layout_type",
            got=describe(value),
            expected="layout_type.undef, any, strided or opaque, or strides; the id of an opaque "
            "layout is layout_id=, as get_layout_id() of what compiled_partition."
            "query_logical_tensor(id) gives",
            fix="for example layout_type.strided",
        )
    return layout_type_t.strided


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


def _invalid(
    argument: str,
    what: str,
    got: str,
    expected: str,
    function: str = _NAME,
    fix: str = "logical_tensor(id, data_type.f32, (4, 8), layout_type.strided)",
) -> NoReturn:
    refuse(
        status.invalid_arguments,
        function,
        argument,
        what,
        got=got,
        expected=expected,
        fix=fix,
    )
