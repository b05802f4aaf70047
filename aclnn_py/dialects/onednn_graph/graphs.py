# SPDX-License-Identifier: Apache-2.0
"""Graph: operators that are connected by the identities of their tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from aclnn_py.dialects.onednn.enums import engine_kind, fpmath_mode, member
from aclnn_py.dialects.onednn.statuses import OneDnnError, refuse, status
from aclnn_py.dialects.onednn.truths import truth
from aclnn_py.dialects.onednn_graph.enums import policy as policy_type
from aclnn_py.dialects.onednn_graph.fusion import cut
from aclnn_py.dialects.onednn_graph.ops import op
from aclnn_py.dialects.onednn_graph.partitions import partition
from aclnn_py.dialects.onednn_graph.verification import verify
from aclnn_runtime.arguments import describe

if TYPE_CHECKING:
    from aclnn_py.dialects.onednn_graph.logical_tensors import logical_tensor

__all__ = ["graph"]


class graph:
    """Operators to be cut into partitions.

    Parameters
    ----------
    engine_kind : engine_kind
        Where its partitions are to be compiled.
    fpmath_mode : fpmath_mode
        Kept; everything here computes in f32, whatever it allows.
    """

    def __init__(
        self,
        engine_kind: engine_kind | int,
        fpmath_mode: fpmath_mode | int = fpmath_mode.strict,
    ) -> None:
        self._engine_kind = _engine_kind(engine_kind)
        self._fpmath = _fpmath_mode("graph", fpmath_mode)
        self._ops: list[op] = []
        self._finalized = False

    def add_op(self, one: op, allow_exception: bool = True) -> status:
        """Add a copy of an operator.

        Parameters
        ----------
        one : op
            Its id must be new, or it is the operator that was added under that id.
        allow_exception : bool
            Whether a status other than success is raised, rather than returned.

        Raises
        ------
        OneDnnError
            invalid_graph_op where the schema is not kept or the id is taken; invalid_graph once
            the graph is final; invalid_arguments for what is no op.
        """
        raised = truth("graph.add_op", "allow_exception", allow_exception)
        try:
            self._add(one)
        except OneDnnError as error:
            if raised:
                raise
            return error.status
        return status.success

    def _add(self, one: op) -> None:
        if not isinstance(one, op):
            refuse(
                status.invalid_arguments,
                "graph.add_op",
                "op",
                "is no op",
                got=describe(one),
                expected="an op",
                fix="op(0, op.kind.SoftMax, [src], [dst])",
            )
        if self._finalized:
            _invalid_graph("graph.add_op", "op", "comes after finalize()", repr(one))
        for known in self._ops:
            if known.id == one.id:
                if _says(known) == _says(one):
                    return
                refuse(
                    status.invalid_graph_op,
                    "graph.add_op",
                    "op",
                    "has the id of another operator",
                    got=repr(one),
                    expected=f"an id other than that of {known!r}",
                    fix="number operators apart",
                )
        verify(one)
        self._ops.append(one.copy())

    def finalize(self) -> None:
        """Check the whole; nothing can be added then.

        Raises
        ------
        OneDnnError
            invalid_graph where one id stands for different tensors, two operators give the same
            tensor, or there is a cycle.
        """
        if not self._finalized:
            self._ops = _in_order(self._ops)
            self._finalized = True

    def is_finalized(self) -> bool:
        """Whether finalize() has succeeded."""
        return self._finalized

    def get_op_num(self) -> int:
        """How many operators it has."""
        return len(self._ops)

    def get_partitions(self, policy: policy_type | int = policy_type.fusion) -> list[partition]:
        """Cut it into partitions, in an order in which they can run.

        Parameters
        ----------
        policy : partition.policy
            fusion: softmax with the chain of operators after it. debug: operators one by one.

        Raises
        ------
        OneDnnError
            invalid_graph before finalize().

        Notes
        -----
        Every operator comes back. ``is_supported()`` is true where a partition is of the softmax
        family; the others are for the caller to compute.
        """
        rule = member("graph.get_partitions", "policy", policy, policy_type, policy_type.fusion)
        if not self._finalized:
            _invalid_graph(
                "graph.get_partitions",
                "",
                "comes before finalize()",
                "an open graph",
                "call finalize() first",
            )
        groups = cut(self._ops, fuse=rule is policy_type.fusion)
        return [
            partition.of_group(number, group, self._ops, self._engine_kind)
            for number, group in enumerate(groups)
        ]

    def set_fpmath_mode(self, mode: fpmath_mode | int) -> None:
        """Which down-conversions are allowed; invalid_graph after finalize()."""
        if self._finalized:
            _invalid_graph(
                "graph.set_fpmath_mode", "mode", "comes after finalize()", describe(mode)
            )
        self._fpmath = _fpmath_mode("graph.set_fpmath_mode", mode)

    def get_fpmath_mode(self) -> fpmath_mode:
        """Which down-conversions are allowed."""
        return self._fpmath

    def __repr__(self) -> str:
        return f"<graph {self._ops!r}{' final' if self._finalized else ''}>"


def _engine_kind(value: object) -> engine_kind:
    kind = member("graph", "engine_kind", value, engine_kind)
    if kind is engine_kind.any:
        refuse(
            status.invalid_arguments,
            "graph",
            "engine_kind",
            "is any",
            got="any",
            expected="cpu or gpu",
            fix="graph(engine_kind.cpu)",
        )
    return kind


def _fpmath_mode(function: str, value: object) -> fpmath_mode:
    return member(function, "mode", value, fpmath_mode)


def _says(one: op) -> tuple[object, ...]:
    return one.op_kind, one.inputs, one.outputs, one.attributes


def _in_order(ops: list[op]) -> list[op]:
    """Operators after those whose results they read, otherwise in the order given."""
    tensors: dict[int, logical_tensor] = {}
    producers: dict[int, op] = {}
    for one in ops:
        for tensor in (*one.inputs, *one.outputs):
            if tensors.setdefault(tensor.id, tensor) != tensor:
                got = f"{tensor!r} in {one!r}"
                _invalid_graph("graph.finalize", "", "has two tensors of one id", got)
        for tensor in one.outputs:
            if producers.setdefault(tensor.id, one) is not one:
                _invalid_graph("graph.finalize", "", "has a tensor of two operators", repr(tensor))
        if len({tensor.id for tensor in one.outputs}) < len(one.outputs):
            _invalid_graph("graph.finalize", "", "has an operator that gives one twice", repr(one))
    ordered: list[op] = []
    waiting = list(ops)
    ready = set(tensors) - set(producers)
    while waiting:
        runnable = [one for one in waiting if all(tensor.id in ready for tensor in one.inputs)]
        if not runnable:
            _invalid_graph("graph.finalize", "", "has a cycle", repr(waiting))
        ordered += runnable
        waiting = [one for one in waiting if one not in runnable]
        ready |= {tensor.id for one in runnable for tensor in one.outputs}
    return ordered


def _invalid_graph(
    function: str, argument: str, what: str, got: str, fix: str = "make a new graph"
) -> NoReturn:
    refuse(
        status.invalid_graph,
        function,
        argument,
        what,
        got=got,
        expected="add_op() for each operator, then finalize(), then get_partitions(); one id for "
        "one tensor, given by at most one operator, no cycles",
        fix=fix,
    )
