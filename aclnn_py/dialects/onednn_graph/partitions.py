# SPDX-License-Identifier: Apache-2.0
"""Partition: operators that are compiled and executed together."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NoReturn

from aclnn_py.dialects.onednn.engines import check_engine
from aclnn_py.dialects.onednn.enums import engine_kind as engine_kind_type
from aclnn_py.dialects.onednn.enums import member
from aclnn_py.dialects.onednn.statuses import refuse, status
from aclnn_py.dialects.onednn_graph.compiled_partitions import compiled_partition
from aclnn_py.dialects.onednn_graph.enums import DNNL_GRAPH_UNKNOWN_DIM, layout_type
from aclnn_py.dialects.onednn_graph.enums import policy as policy_type
from aclnn_py.dialects.onednn_graph.logical_tensors import check_logical_tensor
from aclnn_py.dialects.onednn_graph.ops import op
from aclnn_py.dialects.onednn_graph.schemas import BACKWARD, FORWARD
from aclnn_py.dialects.onednn_graph.shapes import axis_of, check_compatible, check_input, infer
from aclnn_py.dialects.onednn_graph.verification import verify
from aclnn_runtime.arguments import describe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aclnn_py.dialects.onednn.engines import engine
    from aclnn_py.dialects.onednn_graph.logical_tensors import logical_tensor

__all__ = ["partition"]

_COMPILE = "partition.compile"
_WITH_LAYOUT = "say it when compiling: logical_tensor(id, dtype, dims, layout_type.strided)"


class partition:
    """Operators that run together.

    Made by ``graph.get_partitions``, or here for a graph of one operator.

    Parameters
    ----------
    one : op
        The operator; its schema is checked (invalid_graph_op).
    engine_kind : engine_kind
        Where it is to be compiled.
    """

    policy: ClassVar[type[policy_type]] = policy_type

    def __init__(self, one: op, engine_kind: engine_kind_type | int) -> None:
        if not isinstance(one, op):
            _invalid("partition", "op", "is no op", describe(one), "an op")
        kind = member("partition", "engine_kind", engine_kind, engine_kind_type)
        verify(one)
        if {tensor.id for tensor in one.inputs} & {tensor.id for tensor in one.outputs}:
            refuse(
                status.invalid_graph,
                "partition",
                "op",
                "reads what it makes",
                got=repr(one),
                expected="an input that something else makes",
                fix="give the output an id of its own",
            )
        self._fill(0, (one.copy(),), [one], kind)

    @classmethod
    def of_group(
        cls, number: int, ops: tuple[op, ...], everything: list[op], on: engine_kind_type
    ) -> partition:
        """Partition of operators of a graph that holds `everything`."""
        made = cls.__new__(cls)
        made._fill(number, ops, everything, on)  # noqa: SLF001  # a second maker of the same class
        return made

    def _fill(
        self, number: int, ops: tuple[op, ...], everything: list[op], on: engine_kind_type
    ) -> None:
        self._number, self._ops, self._engine_kind = number, ops, on
        made = {tensor.id: tensor for one in ops for tensor in one.outputs}
        read = {tensor.id: tensor for one in ops for tensor in one.inputs}
        mine = {one.id for one in ops}
        outside = {t.id for one in everything if one.id not in mine for t in one.inputs}
        self._inputs = [one for tid, one in read.items() if tid not in made]
        self._outputs = [one for tid, one in made.items() if tid not in read or tid in outside]

    def get_id(self) -> int:
        """Its number in the graph."""
        return self._number

    def get_ops(self) -> list[int]:
        """Ids of its operators, in order."""
        return [one.id for one in self._ops]

    def get_ops_num(self) -> int:
        """How many operators it has."""
        return len(self._ops)

    def get_engine_kind(self) -> engine_kind_type:
        """Where it is to be compiled."""
        return self._engine_kind

    def get_input_ports(self) -> list[logical_tensor]:
        """What it reads from outside."""
        return list(self._inputs)

    def get_output_ports(self) -> list[logical_tensor]:
        """What it gives."""
        return list(self._outputs)

    def is_supported(self) -> bool:
        """Whether it can be compiled here: a softmax of either direction comes first."""
        return self._ops[0].op_kind in (*FORWARD, *BACKWARD)

    def compile(
        self,
        inputs: Sequence[logical_tensor],
        outputs: Sequence[logical_tensor],
        engine: engine,
    ) -> compiled_partition:
        """Decide shapes and layouts, and plan.

        Parameters
        ----------
        inputs : sequence of logical_tensor
            One for each input port, in any order: known dimensions, strided or opaque. A layout
            that is undef, as of tensors that were made without one, will not do.
        outputs : sequence of logical_tensor
            One for each output port. Unknown dimensions are inferred, unknown strides are
            row-major; ``any`` becomes opaque, undef is refused.
        engine : engine
            Of the graph's kind.

        Raises
        ------
        OneDnnError
            invalid_arguments for an unsupported partition, another engine, other ids, layouts
            that cannot be, an axis out of range; invalid_data_type for another element type than
            the graph's; invalid_shape. Nothing is kept then.

        Notes
        -----
        Values are computed in f32 and rounded once, at the end of the chain; a TypeCast before a
        Quantize rounds nothing in between. diff_dst and dst must have equal dimensions.
        """
        if not self.is_supported():
            self._refuse_unsupported()
        check_engine(_COMPILE, engine)
        if engine.get_kind() is not self._engine_kind:
            got, wanted = engine.get_kind().name, self._engine_kind.name
            _invalid(_COMPILE, "engine", "is of another kind", got, wanted)
        given = _by_id("inputs", inputs, self._inputs)
        wanted_outputs = _by_id("outputs", outputs, self._outputs)
        labels = {
            tid: f"{argument}[{number}]"
            for argument, ids in (("inputs", given), ("outputs", wanted_outputs))
            for number, tid in enumerate(ids)
        }
        for tid, tensor in given.items():
            _check_input(tensor, labels[tid])
        for port in self._inputs:
            check_input(given[port.id], port, labels[port.id])
        head = self._ops[0]
        axis_of(head, given[head.inputs[0].id].ndims)
        dims = infer(self._ops, {number: one.dims for number, one in given.items()})
        if dims[self._ops[-1].outputs[0].id] != dims[head.inputs[0].id]:
            _invalid_broadcast(dims[self._ops[-1].outputs[0].id], dims[head.inputs[0].id])
        settled = dict(given)
        for number, one in wanted_outputs.items():
            settled[number] = _settle_output(one, dims[number], labels[number])
        return compiled_partition.of_ops(self._ops, settled, engine)

    def _refuse_unsupported(self) -> NoReturn:
        family = ", ".join(kind.name for kind in (*FORWARD, *BACKWARD))
        _invalid(
            _COMPILE,
            "",
            "of a partition that is not supported",
            ", ".join(map(repr, self._ops)),
            f"a partition that begins with one of {family}",
            "compute its operators, whose ids get_ops() has, elsewhere; compile partitions of "
            "which is_supported() is true",
        )

    def __repr__(self) -> str:
        shown = " -> ".join(one.op_kind.name for one in self._ops)
        return f"<partition {self._number}: {shown}>"


def _by_id(
    argument: str, values: Sequence[logical_tensor], ports: list[logical_tensor]
) -> dict[int, logical_tensor]:
    """Logical tensors by id, in the order in which they were passed."""
    found: dict[int, logical_tensor] = {}
    wanted = {port.id: port for port in ports}
    for number, value in enumerate(_sequence(argument, values)):
        one = check_logical_tensor(_COMPILE, f"{argument}[{number}]", value)
        if one.id not in wanted or one.id in found:
            shown = "each of " + (", ".join(map(str, wanted)) or "none") + " once"
            _invalid(_COMPILE, argument, "have another id, or one twice", repr(one), shown)
        if one.dtype is not wanted[one.id].dtype:
            refuse(
                status.invalid_data_type,
                _COMPILE,
                f"{argument}[{number}]",
                "has another element type than in the graph",
                got=repr(one),
                expected=wanted[one.id].dtype.name,
                fix="keep the type that the operator was added with",
            )
        found[one.id] = one
    missing = [number for number in wanted if number not in found]
    if missing:
        shown = ", ".join(map(str, found)) or "none"
        _invalid(_COMPILE, argument, "leave one out", shown, ", ".join(map(str, wanted)))
    return found


def _sequence(argument: str, values: object) -> list[object]:
    try:
        return list(values)  # type: ignore[call-overload,no-any-return]  # asking is the test
    except TypeError:
        _invalid(_COMPILE, argument, "are no sequence", describe(values), "logical tensors")


def _check_input(one: logical_tensor, label: str) -> None:
    if one.layout not in (layout_type.strided, layout_type.opaque):
        wanted = "strided, or opaque as queried from a compiled partition"
        _invalid(_COMPILE, label, "has no definite layout", repr(one), wanted, _WITH_LAYOUT)
    one.memory_desc(_COMPILE, label)


def _settle_output(one: logical_tensor, dims: tuple[int, ...], label: str) -> logical_tensor:
    check_compatible(one, dims, label)
    if one.layout is layout_type.undef:
        wanted = "strided, any or opaque"
        fix = f"{_WITH_LAYOUT}, or layout_type.any to have it chosen"
        _invalid(_COMPILE, label, "has no layout", repr(one), wanted, fix)
    strided = one.layout is layout_type.strided
    known = strided and bool(one.strides) and DNNL_GRAPH_UNKNOWN_DIM not in one.strides
    kind = layout_type.strided if strided else layout_type.opaque
    settled = one.with_layout(dims, kind, one.strides if known else ())
    if settled.memory_desc(_COMPILE, label).has_repeated_elements:
        wanted = "an element of its own for each position"
        _invalid(_COMPILE, label, "repeats elements", repr(one), wanted)
    return settled


def _invalid_broadcast(got: tuple[int, ...], wanted: tuple[int, ...]) -> NoReturn:
    refuse(
        status.invalid_shape,
        _COMPILE,
        "inputs",
        "broadcast to more than the softmax result, which a fused operator cannot",
        got=got,
        expected=str(wanted),
        fix="give the operands' dimensions when the graph is built, so that it is cut before them",
    )


def _invalid(
    function: str,
    argument: str,
    what: str,
    got: str,
    expected: str,
    fix: str = "compare with is_supported(), get_input_ports() and get_output_ports()",
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
