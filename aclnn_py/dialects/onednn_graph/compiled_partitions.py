# SPDX-License-Identifier: Apache-2.0
"""Compiled partition: a planned softmax with its chain, ready to execute."""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from operator import is_
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

import numpy as np

from aclnn_native import calls
from aclnn_py.dialects.onednn.attr import Attributes
from aclnn_py.dialects.onednn.enums import (
    DNNL_ARG_DIFF_DST,
    DNNL_ARG_DIFF_SRC,
    DNNL_ARG_DST,
    DNNL_ARG_SCRATCHPAD,
    DNNL_ARG_SRC,
    algorithm,
    data_type,
    internal_algorithm,
    prop_kind,
    scratchpad_mode,
)
from aclnn_py.dialects.onednn.execution import Words
from aclnn_py.dialects.onednn.memories import memory
from aclnn_py.dialects.onednn.primitive import primitive
from aclnn_py.dialects.onednn.primitive_desc import softmax_primitive_desc
from aclnn_py.dialects.onednn.statuses import refuse, status
from aclnn_py.dialects.onednn_graph.enums import attr
from aclnn_py.dialects.onednn_graph.logical_tensors import logical_tensor
from aclnn_py.dialects.onednn_graph.lowering import lower
from aclnn_py.dialects.onednn_graph.schemas import BACKWARD
from aclnn_py.dialects.onednn_graph.tensors import tensor
from aclnn_runtime.arguments import describe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aclnn_py.dialects.onednn.engines import engine, stream
    from aclnn_py.dialects.onednn_graph.lowering import Lowered
    from aclnn_py.dialects.onednn_graph.ops import op

__all__ = ["compiled_partition"]

_EXECUTE: Final = "compiled_partition.execute"
# No edge of a graph can have it: it is what C makes of -1.
_SCRATCHPAD_ID: Final = 2**64 - 1
_SEQUENCES: Final = (list, tuple)
_PAIRS: Final = ((DNNL_ARG_SRC, DNNL_ARG_DST), (DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_SRC))


class _Planned(softmax_primitive_desc):
    """A partition as the primitive that runs it sees it."""

    __qualname__ = "partition.compile"
    words = Words(
        arguments="inputs or outputs",
        label="inputs or outputs, {name}",
        scratchpad="scratchpad",
        apart="separate memory, or a pair of get_inplace_ports()",
        fix="compare with query_logical_tensor(id), get_inplace_ports() and "
        "get_scratchpad_logical_tensor()",
    )

    def __init__(self, engine: engine, head: op, lowered: Lowered) -> None:
        backward = head.op_kind in BACKWARD
        self.engine = engine
        self.arguments = tuple(lowered.arguments)
        self.operator = lowered.operator
        self._axis = lowered.axis
        self._prop_kind = prop_kind.backward_data if backward else prop_kind.forward_inference
        self._algorithm = _algorithm(head)
        self._attr = Attributes()
        self._plan()

    def for_user_scratchpad(self) -> _Planned:
        """The same plan, to be given its scratchpad."""
        other = copy(self)
        other._attr = Attributes(scratchpad=scratchpad_mode.user)  # noqa: SLF001  # its own class
        return other


class _Runner(primitive):
    """Submits a planned partition."""

    __qualname__ = "compiled_partition"
    primitive_desc = _Planned


class _Bound(NamedTuple):
    """Tensors of the last call, and what the primitive is given for them."""

    call: tuple[object, ...]
    moves: int
    args: dict[int, memory]


class compiled_partition(calls.Prepared):
    """A planned partition; made by ``partition.compile``.

    Raises
    ------
    OneDnnError
        invalid_arguments where it is made directly.
    """

    def __init__(self, *given: object, **named: object) -> None:
        refuse(
            status.invalid_arguments,
            "compiled_partition",
            "",
            "cannot be made directly",
            got=f"{len(given) + len(named)} arguments",
            expected="a partition that is compiled",
            fix="use partition.compile(inputs, outputs, engine)",
        )

    @classmethod
    def of_ops(
        cls, ops: tuple[op, ...], settled: dict[int, logical_tensor], engine: engine
    ) -> compiled_partition:
        """What ``partition.compile`` returns, once everything is checked."""
        made = cls.__new__(cls)
        made._fill(ops, settled, engine)  # noqa: SLF001  # the one maker of its own class
        return made

    def _fill(
        self, ops: tuple[op, ...], settled: dict[int, logical_tensor], engine: engine
    ) -> None:
        lowered = lower(ops, settled)
        self._settled = settled
        self._arguments = {
            lowered.ids[argument.index]: [
                one for one in lowered.arguments if lowered.ids.get(one.index) == tid
            ]
            for argument in lowered.arguments
            if (tid := lowered.ids.get(argument.index)) is not None
        }
        self._outputs = {
            lowered.ids[argument.index] for argument in lowered.arguments if argument.written
        }
        self._planned = _Planned(engine, ops[0], lowered)
        self._runner = _Runner(self._planned)
        user = self._planned.for_user_scratchpad()
        self._scratchpad_desc = user.scratchpad_desc()
        self._user_runner = _Runner(user)
        self._constants = {
            argument.index: memory(argument.desc, engine).write(
                np.reshape(lowered.constants[argument.index], argument.desc.dims)
            )
            for argument in lowered.arguments
            if argument.index in lowered.constants
        }
        self._pairs = self._find_pairs(lowered.ids)
        self._last: _Bound | None = None

    def _find_pairs(self, ids: dict[int, int]) -> list[tuple[int, int]]:
        descs = {argument.index: argument.desc for argument in self._planned.arguments}
        return [
            (ids[given], ids[made])
            for given, made in _PAIRS
            if given in descs
            and made in descs
            and descs[given] == descs[made]
            and len(self._arguments[ids[given]]) == 1  # nothing else reads it after
        ]

    def query_logical_tensor(self, tid: int) -> logical_tensor:
        """An input or output with its shape and layout decided.

        Raises
        ------
        OneDnnError
            invalid_arguments for an id that the partition does not have.
        """
        found = None
        with suppress(TypeError):  # a list or another thing without a hash
            found = self._settled.get(tid)
        if found is None:
            shown = ", ".join(map(str, self._settled))
            _invalid("compiled_partition.query_logical_tensor", "tid", "is unknown", tid, shown)
        return found

    def get_inplace_ports(self) -> list[tuple[int, int]]:
        """Pairs of input and output ids that may share memory: same type, same layout."""
        return list(self._pairs)

    def get_scratchpad_logical_tensor(self) -> logical_tensor:
        """What ``execute`` may be given: one dimension, the size in bytes, u8; 0 for none."""
        size = self._planned.workspace_bytes
        return logical_tensor(_SCRATCHPAD_ID, data_type.u8, (size,))

    def explain(self) -> str:
        """The plan as text for people."""
        return self._planned.explain()

    if TYPE_CHECKING:

        def execute(
            self,
            stream: stream,
            inputs: Sequence[tensor],
            outputs: Sequence[tensor],
            scratchpad: tensor | None = None,
        ) -> None:
            """Submit to a stream; the docstring at run time is the base's."""

    # `execute` is the base's, in C: it runs what `_prepare` gave it while it is called with the
    # same objects, and comes here for everything else.
    def _execute(
        self,
        stream: stream,
        inputs: Sequence[tensor],
        outputs: Sequence[tensor],
        scratchpad: tensor | None = None,
    ) -> None:
        self._forget()
        runner = self._runner
        if scratchpad is not None and self._scratchpad_desc.dims:
            runner = self._user_runner
        first, second = inputs, outputs
        try:
            if not isinstance(inputs, _SEQUENCES) or not isinstance(outputs, _SEQUENCES):
                first, second = tuple(inputs), tuple(outputs)  # what can be gone through once only
            call = (*first, None, *second, scratchpad)
        except TypeError:
            got = f"{type(inputs).__name__} and {type(outputs).__name__}"
            _invalid(_EXECUTE, "inputs", "or outputs are no sequence", got, "tensors")
        last, moves = self._last, calls.moves()
        if last is None or last.moves != moves or not _same(last.call, call):
            args = self._bind(list(first), list(second), scratchpad)
            last = self._last = _Bound(call, moves, args)
        runner.execute(stream, last.args)
        if type(inputs) in _SEQUENCES and type(outputs) in _SEQUENCES:
            given = (stream, inputs, outputs, scratchpad)
            runner.let_repeat(last.args, self, given if scratchpad is not None else given[:-1])

    _execute.__qualname__ = "compiled_partition.execute"  # what a TypeError names

    def _refused(self, code: int) -> NoReturn:
        self._runner._refused(code)  # noqa: SLF001  # its function's name is ours

    def _bind(
        self, inputs: list[tensor], outputs: list[tensor], scratchpad: tensor | None
    ) -> dict[int, memory]:
        args = dict(self._constants)
        found: set[int] = set()
        for argument, tensors in (("inputs", inputs), ("outputs", outputs)):
            for number, one in enumerate(tensors):
                label = f"{argument}[{number}]"
                tid = self._check(label, one, found, written=argument == "outputs")
                found.add(tid)
                for wanted in self._arguments[tid]:
                    args[wanted.index] = one.memory_as(wanted.desc)
        missing = set(self._settled) - found
        if missing:
            got, shown = f"{len(found)} tensors", ", ".join(map(str, sorted(missing)))
            _invalid(_EXECUTE, "inputs or outputs", "leave tensors out", got, f"also {shown}")
        if scratchpad is not None:
            self._check_scratchpad(scratchpad)
            if self._scratchpad_desc.dims:
                args[DNNL_ARG_SCRATCHPAD] = scratchpad.memory_as(self._scratchpad_desc)
        return args

    def _check(self, label: str, one: object, found: set[int], *, written: bool) -> int:
        if not isinstance(one, tensor):
            _invalid(_EXECUTE, label, "is no tensor", describe(one), "a tensor")
        lt = one.get_logical_tensor()
        wanted = self._settled.get(lt.id)
        if wanted is None or (lt.id in self._outputs) != written or lt.id in found:
            ports = self._outputs if written else set(self._settled) - self._outputs
            shown = "each of " + ", ".join(map(str, sorted(ports))) + " once"
            _invalid(_EXECUTE, label, "has another id, or one twice", repr(lt), shown)
        if lt != wanted and not _same_places(lt, wanted):
            _invalid(_EXECUTE, label, "is not what was compiled", repr(lt), repr(wanted))
        if one.is_gone:
            _invalid(_EXECUTE, label, "has no data any more", repr(one), "a buffer that is open")
        if one.get_data_handle() == 0 and 0 not in lt.dims:
            _invalid(_EXECUTE, label, "has no data", repr(one), "a data handle")
        return lt.id

    def _check_scratchpad(self, one: object) -> None:
        size = self._planned.workspace_bytes
        if not isinstance(one, tensor) or (size and one.get_logical_tensor().get_mem_size() < size):
            wanted = f"a tensor of at least {size} bytes"
            got = repr(one) if isinstance(one, tensor) else describe(one)
            _invalid(_EXECUTE, "scratchpad", "is no tensor, or too small", got, wanted)

    def __repr__(self) -> str:
        return f"<compiled_partition {self._planned.impl_info_str()}>"


def _same_places(one: logical_tensor, other: logical_tensor) -> bool:
    """Whether they differ in nothing but steps along dimensions of 1, which nobody takes."""
    said = [(lt.id, lt.dtype, lt.dims, lt.layout, lt.layout_id) for lt in (one, other)]
    steps = zip(one.dims, one.strides, other.strides, strict=False)
    return said[0] == said[1] and all(size == 1 or a == b for size, a, b in steps)


def _same(first: tuple[object, ...], second: tuple[object, ...]) -> bool:
    # By identity: what is no tensor may compare in its own way.
    return len(first) == len(second) and all(map(is_, first, second))


def _algorithm(head: op) -> algorithm | internal_algorithm:
    if head.op_kind.name.startswith("Log"):
        return algorithm.softmax_log
    to_zero = head.op_kind not in BACKWARD and head.get(attr.mode) == "inf_as_zero"
    inf_as_zero = internal_algorithm.softmax_accurate_inf_as_zero
    return inf_as_zero if to_zero else algorithm.softmax_accurate


def _invalid(function: str, argument: str, what: str, got: object, expected: str) -> NoReturn:
    refuse(
        status.invalid_arguments,
        function,
        argument,
        what,
        got=got,
        expected=expected,
        fix="tensor(compiled_partition.query_logical_tensor(id), engine) for every port",
    )
