# SPDX-License-Identifier: Apache-2.0
"""Lists of post operations as kernel parameters, cut where one launch takes no more operands."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

from aclnn_native import lib

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aclnn_py.core.dtype import DType
    from aclnn_py.core.extras import PostOp
    from aclnn_py.plan.recipe import Value

__all__ = ["Launch", "Operation", "code_of", "launches"]


def code_of(name: str) -> int:
    """The kernels' number of an operation, by the name of its algorithm."""
    plain = name.removesuffix("_use_dst_for_bwd").removesuffix("_v2")
    code: int = getattr(lib, f"ACLPY_POST_{plain.upper()}")
    return code


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation with its tensors.

    Attributes
    ----------
    name : str
        Of the algorithm, "select" or "dropout".
    alpha, beta : float
        Its constants.
    operands : tuple of Value
        Its tensors, dense; each dimension 1 or the destination's.
    """

    name: str
    alpha: float = 0.0
    beta: float = 0.0
    operands: tuple[Value, ...] = ()

    @classmethod
    def of(cls, op: PostOp, operands: tuple[Value, ...]) -> Operation:
        """The same operation as the caller described it."""
        name = getattr(op, "alg", "select")
        return cls(name, getattr(op, "alpha", 0.0), getattr(op, "beta", 0.0), operands)


@dataclass(slots=True)
class Launch:
    """Operations that one kernel launch does.

    Attributes
    ----------
    operations : list of Operation
        In order.
    """

    operations: list[Operation] = field(default_factory=list)

    @property
    def operands(self) -> tuple[Value, ...]:
        """The tensors of all operations, in order."""
        return tuple([value for op in self.operations for value in op.operands])

    def program(self, shape: tuple[int, ...], source: DType, target: DType) -> tuple[int, ...]:
        """The kernel parameters: see native/kernels/post_ops.h."""
        operands = self.operands
        dims, masks = _merge(shape, [value.shape for value in operands])
        words = [
            value.dtype.value | mask << 16 for value, mask in zip(operands, masks, strict=True)
        ]
        ops: list[int] = []
        first = 0
        for op in self.operations:
            bits = struct.unpack("<q", struct.pack("<ff", op.alpha, op.beta))[0]
            ops += [code_of(op.name) | first << 8, bits]
            first += len(op.operands)
        head = [source.value, target.value, len(dims), len(operands), len(self.operations)]
        return (*head, *dims, *words, *ops)


def launches(operations: Sequence[Operation]) -> list[Launch]:
    """Operations in order, as few launches as take them; at least one."""
    found = [Launch()]
    for op in operations:
        if len(found[-1].operands) + len(op.operands) > lib.ACLPY_POST_OPERANDS:
            found.append(Launch())
        found[-1].operations.append(op)
    return found


def _merge(
    shape: tuple[int, ...], operands: Sequence[tuple[int, ...]]
) -> tuple[list[int], list[int]]:
    """Dimensions with neighbours merged that no operand tells apart, and who broadcasts where."""
    dims: list[int] = []
    patterns: list[tuple[bool, ...]] = []
    scalars = [prod(dims_of) == 1 for dims_of in operands]
    for axis, size in enumerate(shape):
        if size == 1:
            continue
        pattern = tuple(
            [
                scalar or dims_of[axis] == 1
                for scalar, dims_of in zip(scalars, operands, strict=True)
            ]
        )
        if patterns and patterns[-1] == pattern:
            dims[-1] *= size
        else:
            dims.append(size)
            patterns.append(pattern)
    masks = [
        sum(1 << axis for axis, pattern in enumerate(patterns) if pattern[number])
        for number in range(len(operands))
    ]
    return dims, masks
