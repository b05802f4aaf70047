# SPDX-License-Identifier: Apache-2.0
"""Nodes of an ONNX graph as calls through the door: which versions, attributes, result shapes.

Free of the ``onnx`` package: a node arrives as its type, the version of its schema and a dict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NoReturn

import numpy as np

from aclnn_py.core.tensor import Tensor
from aclnn_py.dialects.onnx_errors import OnnxError
from aclnn_py.dialects.onnx_ops import OPERATORS, normalised_axis
from aclnn_py.twophase import dialect_operators
from aclnn_runtime.errors import refusal_text

__all__ = ["NODES", "Call", "Node", "constant_value", "element_types"]

Attributes = Mapping[str, Any]


@dataclass(frozen=True)
class Call:
    """What a node becomes.

    Attributes
    ----------
    key : str
        The operator behind the door.
    tensors : tuple of Tensor
        Its inputs.
    attributes : tuple of int
        In the spec's order.
    shape : tuple of int
        Of the result; its type is that of the first input.
    """

    key: str
    tensors: tuple[Tensor, ...]
    attributes: tuple[int, ...]
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Node:
    """How nodes of one type become calls.

    Attributes
    ----------
    versions : frozenset of int
        Versions of the schema that are implemented.
    call : callable
        From (version, attributes, inputs) to the `Call`.
    inputs : tuple of int
        How many inputs it takes, at least and at most.
    attributes : frozenset of str
        Those it understands.
    """

    versions: frozenset[int]
    call: Callable[[int, Attributes, Sequence[Tensor | None]], Call]
    inputs: tuple[int, int]
    attributes: frozenset[str]


def element_types(op_type: str, version: int) -> tuple[str, ...]:
    """Element types of the first input, by vendor name."""
    if (op_type, version) in OPERATORS:
        return OPERATORS[op_type, version].dtypes
    return dialect_operators[f"onnx.{op_type}"].tensors[0].dtypes


def constant_value(attributes: Attributes) -> np.ndarray[Any, Any] | None:
    """The value of a Constant node; ``None`` for text and sparse ones, and for none or several."""
    if len(attributes) != 1:
        return None
    kinds = {
        "value": None,
        "value_float": np.float32,
        "value_floats": np.float32,
        "value_int": np.int64,
        "value_ints": np.int64,
    }
    for name, dtype in kinds.items():
        if name in attributes:
            return np.asarray(attributes[name], dtype)
    return None


def _softmax(op_type: str) -> Callable[[int, Attributes, Sequence[Tensor | None]], Call]:
    def call(version: int, attributes: Attributes, inputs: Sequence[Tensor | None]) -> Call:
        x = _given(op_type, inputs, 0)
        row = OPERATORS[op_type, version]
        found = row.attributes(x.desc, x.desc, attributes.get("axis"))
        return Call(row.spec.key, (x,), tuple(found), x.shape)

    return call


def _unary(op_type: str) -> Callable[[int, Attributes, Sequence[Tensor | None]], Call]:
    def call(_: int, __: Attributes, inputs: Sequence[Tensor | None]) -> Call:
        x = _given(op_type, inputs, 0)
        return Call(f"onnx.{op_type}", (x,), (), x.shape)

    return call


def _binary(op_type: str) -> Callable[[int, Attributes, Sequence[Tensor | None]], Call]:
    def call(_: int, __: Attributes, inputs: Sequence[Tensor | None]) -> Call:
        a, b = _given(op_type, inputs, 0), _given(op_type, inputs, 1)
        if a.dtype != b.dtype:
            _refuse(op_type, "B", "differs in type from 'A'", f"{b.dtype}, A being {a.dtype}")
        try:
            shape = np.broadcast_shapes(a.shape, b.shape)
        except ValueError:
            shapes = f"{list(b.shape)}, A having {list(a.shape)}"
            _refuse(op_type, "B", "does not broadcast with 'A'", shapes)
        return Call(f"onnx.{op_type}", (a, b), (), shape)

    return call


def _reduce(op_type: str, axes_input_since: int) -> Callable[..., Call]:
    def call(version: int, attributes: Attributes, inputs: Sequence[Tensor | None]) -> Call:
        x = _given(op_type, inputs, 0)
        rank = len(x.shape)
        if version >= axes_input_since:
            given = inputs[1] if len(inputs) > 1 else None
            if given is not None and given.dtype != np.int64:
                _refuse(op_type, "axes", "are no INT64", str(given.dtype))
            # Waits for the work that makes the axes; they decide the shape of the result.
            axes = None if given is None else [int(axis) for axis in given.numpy().ravel()]
        else:
            axes = attributes.get("axes")
        if not axes:
            untouched = version >= axes_input_since and attributes.get("noop_with_empty_axes", 0)
            axes = [] if untouched else list(range(rank))
        found = {normalised_axis(op_type, axis, rank, most=rank - 1) for axis in axes}
        keepdims = int(attributes.get("keepdims", 1))
        sizes = enumerate(x.shape)
        shape = tuple(
            1 if axis in found else size for axis, size in sizes if keepdims or axis not in found
        )
        mask = sum(1 << axis for axis in found)
        return Call(f"onnx.{op_type}", (x,), (mask, keepdims), shape)

    return call


def _given(op_type: str, inputs: Sequence[Tensor | None], index: int) -> Tensor:
    found = inputs[index] if index < len(inputs) else None
    if found is None:
        _refuse(op_type, f"input {index}", "is missing", "nothing")
    return found


def _refuse(op_type: str, argument: str, what: str, got: str) -> NoReturn:
    fix = "correct the model or its inputs"
    raise OnnxError(
        refusal_text(
            f"{op_type}: argument '{argument}' {what}", got, "what the operator's schema says", fix,
            "ValidationError",
        ),
        operator=op_type, argument=argument, hint=fix,
    )  # fmt: skip


_EMPTY: Final[frozenset[str]] = frozenset()
_REDUCTION: Final = frozenset({"axes", "keepdims", "noop_with_empty_axes"})

#: Every node type that this project runs. ``Constant`` has no call: its value is known beforehand.
NODES: Final[Mapping[str, Node]] = {
    **{
        name: Node(frozenset({1, 11, 13}), _softmax(name), (1, 1), frozenset({"axis"}))
        for name in ("Softmax", "LogSoftmax")
    },
    **{name: Node(frozenset({6, 13}), _unary(name), (1, 1), _EMPTY) for name in ("Exp", "Log")},
    **{
        name: Node(frozenset({7, 13, 14}), _binary(name), (2, 2), _EMPTY) for name in ("Sub", "Div")
    },
    "ReduceMax": Node(
        frozenset({1, 11, 12, 13, 18, 20}), _reduce("ReduceMax", 18), (1, 2), _REDUCTION
    ),
    "ReduceSum": Node(frozenset({1, 11, 13}), _reduce("ReduceSum", 13), (1, 2), _REDUCTION),
}
