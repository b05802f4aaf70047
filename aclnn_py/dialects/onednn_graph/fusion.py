# SPDX-License-Identifier: Apache-2.0
"""How a graph is cut: softmax with the chain that it fuses with, everything else alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aclnn_py.dialects.onednn.enums import data_type
from aclnn_py.dialects.onednn_graph.enums import kind
from aclnn_py.dialects.onednn_graph.schemas import BINARY, UNARY
from aclnn_py.dialects.onednn_graph.shapes import foresee

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aclnn_py.dialects.onednn_graph.logical_tensors import logical_tensor
    from aclnn_py.dialects.onednn_graph.ops import op

__all__ = ["MOST_FUSED", "cut", "operand_of"]

#: Unary and binary operators in one partition.
MOST_FUSED: Final = 20
_COMMUTATIVE: Final = (kind.Add, kind.Multiply, kind.Maximum, kind.Minimum)


def operand_of(one: op, value: int) -> logical_tensor | None:
    """The other operand of a binary operator that reads the tensor with id `value`.

    None where that one is not the left operand and the order matters, or is both.
    """
    left, right = one.inputs
    if left.id == right.id:
        return None
    if left.id == value:
        return right
    return left if one.op_kind in _COMMUTATIVE else None


class _Cutter:
    """Groups of operators; each operator is in one."""

    def __init__(self, ops: list[op]) -> None:
        self.ops = ops
        self.dims = foresee(ops)
        self.groups = {one.id: [one] for one in ops}
        self.producers = {tensor.id: one for one in ops for tensor in one.outputs}
        self.consumers: dict[int, list[op]] = {}
        for one in ops:
            for tensor in one.inputs:
                self.consumers.setdefault(tensor.id, []).append(one)

    def grow(self, softmax: op) -> None:
        """Take in what follows, as far as the chain goes."""
        group, end, fused = self.groups[softmax.id], softmax.outputs[0], 0
        known = self.dims.get(end.id)
        while len(self.consumers.get(end.id, [])) == 1:
            (after,) = self.consumers[end.id]
            if after.op_kind in (*UNARY, *BINARY):
                if fused == MOST_FUSED or group[-1].op_kind is kind.TypeCast:
                    return
                if not self._fits(after, end, group, known):
                    return
                fused += 1
            elif after.op_kind is kind.TypeCast:
                if end.dtype is not data_type.f32:
                    return
            elif after.op_kind is not kind.Quantize or not _is_wide(group, end):
                return
            group.append(after)
            self.groups[after.id] = group
            end = after.outputs[0]
            # All results of a chain have one shape, also that of an operand not known yet.
            known = self.dims.get(end.id, known)
            if after.op_kind is kind.Quantize:
                return

    def _fits(
        self, after: op, end: logical_tensor, group: list[op], known: tuple[int, ...] | None
    ) -> bool:
        kept = end.dtype is data_type.f32 and after.outputs[0].dtype is data_type.f32
        if after.op_kind in UNARY or not kept:
            return kept
        other = operand_of(after, end.id)
        return (
            other is not None
            and not self._enlarges(after, known, other)
            and not self._waits(other, group)
        )

    def _enlarges(self, after: op, known: tuple[int, ...] | None, other: logical_tensor) -> bool:
        """Whether broadcasting is known to make the result larger than the value."""
        if known is None:
            return False
        operand, result = self.dims.get(other.id), self.dims.get(after.outputs[0].id, known)
        return result != known or (operand is not None and not _spreads(operand, known))

    def _waits(self, tensor: logical_tensor, group: list[op]) -> bool:
        """Whether a tensor can only be there after `group` has run."""
        open_ids, seen = [tensor.id], set()
        while open_ids:
            producer = self.producers.get(open_ids.pop())
            if producer is None or producer.id in seen:
                continue
            members = self.groups[producer.id]
            if members is group:
                return True
            seen |= {one.id for one in members}
            open_ids += [given.id for one in members for given in one.inputs]
        return False

    def ordered(self) -> list[tuple[op, ...]]:
        """Groups after those whose results they read."""
        found: list[tuple[op, ...]] = []
        seen: set[int] = set()
        for one in self.ops:
            first = self.groups[one.id]
            if first[0].id in seen:
                continue
            seen.add(first[0].id)
            # A list, not recursion: graphs may be deeper than Python's stack.
            waiting = [(first, self._sources(first))]
            while waiting:
                group, sources = waiting[-1]
                source = next((made for made in sources if made[0].id not in seen), None)
                if source is None:
                    found.append(tuple(group))
                    waiting.pop()
                else:
                    seen.add(source[0].id)
                    waiting.append((source, self._sources(source)))
        return found

    def _sources(self, group: list[op]) -> Iterator[list[op]]:
        """Groups whose results a group reads, itself among them."""
        for one in group:
            for tensor in one.inputs:
                producer = self.producers.get(tensor.id)
                if producer is not None:
                    yield self.groups[producer.id]


def cut(ops: list[op], *, fuse: bool) -> list[tuple[op, ...]]:
    """Groups of operators in an order in which they can run.

    Parameters
    ----------
    ops : list of op
        Each after those whose results it reads.
    fuse : bool
        Whether SoftMax takes its chain in: up to 20 unary and binary operators on its f32 result,
        a TypeCast to bf16 or f16, a Quantize. A value that something else reads ends the chain,
        and so does an operand that is known to make the result larger: from what tensors state,
        and what follows from that.
    """
    cutter = _Cutter(ops)
    if fuse:
        for one in ops:
            if one.op_kind is kind.SoftMax:
                cutter.grow(one)
    return cutter.ordered()


def _is_wide(group: list[op], end: logical_tensor) -> bool:
    """Whether Quantize reads the f32 result, or the TypeCast of it."""
    return end.dtype is data_type.f32 or group[-1].op_kind is kind.TypeCast


def _spreads(operand: tuple[int, ...], dims: tuple[int, ...]) -> bool:
    """Whether an operand is broadcast to `dims`, and no further."""
    if len(operand) > len(dims):
        return False
    tail = dims[len(dims) - len(operand) :]
    return all(size in (1, full) for size, full in zip(operand, tail, strict=True))
