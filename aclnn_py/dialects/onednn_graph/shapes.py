# SPDX-License-Identifier: Apache-2.0
"""Shapes of results, from those of inputs: of a partition, and before it is cut of a graph."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from aclnn_py.dialects.onednn.statuses import OneDnnError, refuse, status
from aclnn_py.dialects.onednn_graph.enums import DNNL_GRAPH_UNKNOWN_DIM, attr, kind
from aclnn_py.dialects.onednn_graph.schemas import BACKWARD, BINARY, SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aclnn_py.dialects.onednn_graph.logical_tensors import logical_tensor
    from aclnn_py.dialects.onednn_graph.ops import op

__all__ = ["axis_of", "check_compatible", "check_input", "foresee", "infer"]

_NAME = "partition.compile"
_FIX = (
    "compare with the shape of the partition's first input; leave output dimensions unknown, when "
    "the graph is built as well, to have them inferred"
)


def axis_of(one: op, ndims: int) -> int:
    """The axis of an operator of the family, counted from the front.

    Raises
    ------
    OneDnnError
        invalid_arguments outside of [-ndims, ndims): only now, as neither ``add_op`` nor shape
        inference look at it.
    """
    axis = one.get(attr.axis)
    assert isinstance(axis, int), axis
    if not -ndims <= axis < ndims:
        refuse(
            status.invalid_arguments,
            _NAME,
            "axis",
            f"of {one!r} is out of range",
            got=f"{axis} for {ndims} dimensions",
            expected=f"{-ndims} <= axis < {ndims}" if ndims else "at least one dimension",
            fix="set_attr(op.attr.axis, ...); SoftMax and SoftMaxBackward default to 1, the log "
            "forms to -1",
        )
    return axis % ndims


def check_compatible(given: logical_tensor, dims: tuple[int, ...], what: str) -> None:
    """What a tensor says of its shape must not contradict `dims` (invalid_shape)."""
    if not _allows(given, dims):
        _invalid_shape(what, repr(given), f"dimensions {dims}, or unknown ones")


def check_input(given: logical_tensor, port: logical_tensor, what: str) -> None:
    """An input's dimensions must not contradict what the graph says of its port (invalid_shape)."""
    if not _allows(port, given.dims):
        _invalid_shape(
            what,
            repr(given),
            f"{port.shape_text}, as in the graph",
            "compile for the graph's shape, or leave dimensions unknown when the graph is built",
        )


def _allows(one: logical_tensor, dims: tuple[int, ...]) -> bool:
    """Whether a tensor can be of `dims`, by what it says of its shape."""
    return one.ndims < 0 or (
        one.ndims == len(dims)
        and all(
            size in (DNNL_GRAPH_UNKNOWN_DIM, wanted)
            for size, wanted in zip(one.dims, dims, strict=True)
        )
    )


def infer(ops: tuple[op, ...], known: Mapping[int, tuple[int, ...]]) -> dict[int, tuple[int, ...]]:
    """Dimensions of every tensor of a partition, by id.

    Raises
    ------
    OneDnnError
        invalid_shape, or invalid_arguments for an axis.
    """
    dims = dict(known)
    for one in ops:
        inputs = [dims[tensor.id] for tensor in one.inputs]
        if one.op_kind in BACKWARD and inputs[0] != inputs[1]:
            _invalid_shape("dst", str(inputs[1]), f"{inputs[0]}, the dimensions of diff_dst")
        if one.op_kind is kind.Quantize:
            _check_channels(one, inputs[0])
        for tensor, sizes in zip(one.outputs, _results(one, inputs), strict=True):
            check_compatible(tensor, sizes, f"an output of {one!r} as add_op() got it")
            dims[tensor.id] = sizes
    return dims


def foresee(ops: Sequence[op]) -> dict[int, tuple[int, ...]]:
    """Dimensions by id, of the tensors of a graph that state theirs or whose follow from these.

    Shapes that contradict each other are left to ``compile``, which says what is wrong.
    """
    dims = {
        tensor.id: tensor.dims
        for one in ops
        for tensor in (*one.inputs, *one.outputs)
        if tensor.is_shape_known
    }
    for one in ops:
        inputs = [dims[tensor.id] for tensor in one.inputs if tensor.id in dims]
        if one.op_kind not in SCHEMAS or not one.outputs or len(inputs) < len(one.inputs):
            continue
        with suppress(OneDnnError):
            for tensor, sizes in zip(one.outputs, _results(one, inputs), strict=True):
                dims.setdefault(tensor.id, sizes)
    return dims


def _results(one: op, inputs: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    result = _broadcast(one, *inputs) if one.op_kind in BINARY else inputs[0]
    if len(one.outputs) == 1:
        return [result]
    axis = axis_of(one, len(result))  # of SoftMax's statistics
    return [result, (*result[:axis], 1, *result[axis + 1 :])]


def _broadcast(one: op, left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    if one.get(attr.auto_broadcast) == "none":
        if left != right:
            _invalid_shape(repr(one), f"{left} and {right}", "equal shapes, without broadcasting")
        return left
    rank = max(len(left), len(right))
    padded = [(1,) * (rank - len(sizes)) + sizes for sizes in (left, right)]
    found = []
    for a, b in zip(*padded, strict=True):
        if a != b and 1 not in (a, b):
            _invalid_shape(repr(one), f"{left} and {right}", "shapes that broadcast")
        found.append(b if a == 1 else a)
    return tuple(found)


def _check_channels(one: op, dims: tuple[int, ...]) -> None:
    if one.get(attr.qtype) == "per_tensor":
        return
    scales = one.get(attr.scales)
    assert isinstance(scales, tuple), scales
    axis = axis_of(one, len(dims))
    if len(scales) != dims[axis]:
        _invalid_shape("scales", str(len(scales)), f"{dims[axis]}, one for each of axis {axis}")


def _invalid_shape(argument: str, got: str, expected: str, fix: str = _FIX) -> NoReturn:
    refuse(
        status.invalid_shape,
        _NAME,
        argument,
        "has another shape",
        got=got,
        expected=expected,
        fix=fix,
    )
