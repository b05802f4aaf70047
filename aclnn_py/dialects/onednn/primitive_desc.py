# SPDX-License-Identifier: Apache-2.0
"""What forward and backward primitive descriptors share: the plan, and the queries."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from aclnn_py.dialects.onednn import engines
from aclnn_py.dialects.onednn.attr import primitive_attr
from aclnn_py.dialects.onednn.descriptors import memory_desc
from aclnn_py.dialects.onednn.engines import engine_description
from aclnn_py.dialects.onednn.enums import (
    DNNL_ARG_SCRATCHPAD,
    DNNL_ARG_WORKSPACE,
    algorithm,
    data_type,
    engine_kind,
    internal_algorithm,
    prop_kind,
    scratchpad_mode,
)
from aclnn_py.dialects.onednn.execution import Words
from aclnn_py.dialects.onednn.statuses import refuse, status, translated
from aclnn_py.twophase import make_plan
from aclnn_runtime.arguments import describe, whole_number

if TYPE_CHECKING:
    from aclnn_py.dialects.onednn.attr import Attributes
    from aclnn_py.dialects.onednn.extras import Argument
    from aclnn_py.twophase import Operator

__all__ = ["description_of", "softmax_primitive_desc"]


class softmax_primitive_desc:
    """A checked and planned softmax; made by the two ``primitive_desc`` classes.

    Attributes
    ----------
    engine : engine or engine_description
        What it was made for; only an engine can execute it.
    arguments : tuple of Argument
        What execution takes, without the scratchpad.
    operator : Operator
        Behind the door.
    """

    engine: engines.engine | engine_description
    arguments: tuple[Argument, ...]
    operator: Operator
    _prop_kind: prop_kind
    _algorithm: algorithm | internal_algorithm
    _axis: int
    _attr: Attributes
    words = Words()

    def _plan(self) -> None:
        """Phase 1 without tensors: steps, kernels and the size of the workspace."""
        self.is_empty = any(argument.desc.is_empty for argument in self.arguments)
        self.plan = None
        if isinstance(self.engine, engines.engine) and not self.is_empty:
            kind = self.engine.device.kind
            descs = [replace(a.desc.tensor_desc, device=kind) for a in self.arguments]
            with translated(self._name):
                self.plan = make_plan(self.operator.spec, descs, [self._axis])

    @property
    def _name(self) -> str:
        return f"{type(self).__qualname__}"

    @property
    def workspace_bytes(self) -> int:
        """What phase 2 needs, whoever owns it [bytes]."""
        return 0 if self.plan is None else self.plan.workspace_bytes

    def get_engine(self) -> engines.engine | engine_description:
        """What it was made for."""
        return self.engine

    def get_kind(self) -> str:
        """The primitive's kind."""
        return "softmax"

    def get_prop_kind(self) -> prop_kind:
        """Its direction."""
        return self._prop_kind

    def get_algorithm(self) -> algorithm | internal_algorithm:
        """Its algorithm."""
        return self._algorithm

    def get_axis(self) -> int:
        """The axis of the sums."""
        return self._axis

    def get_primitive_attr(self) -> primitive_attr:
        """A copy of its attributes, which another descriptor may be given."""
        return primitive_attr.of(self._attr)

    def query_md(self, index: int) -> memory_desc:
        """Descriptor of an execution argument; the zero descriptor for one it does not take.

        Raises
        ------
        OneDnnError
            invalid_arguments for what is no integer.
        """
        number = whole_number(index)
        if number is None:
            refuse(
                status.invalid_arguments,
                f"{self._name}.query_md",
                "index",
                "is no index of an argument",
                got=describe(index),
                expected="an integer",
                fix="for example DNNL_ARG_SRC",
            )
        if number == DNNL_ARG_SCRATCHPAD:
            return self.scratchpad_desc()
        return next((a.desc for a in self.arguments if a.index == number), memory_desc())

    def scratchpad_desc(self) -> memory_desc:
        """1-D u8 of the workspace's size in user mode; zero without one, or in library mode."""
        if self._attr.scratchpad is scratchpad_mode.library or not self.workspace_bytes:
            return memory_desc()
        return memory_desc((self.workspace_bytes,), data_type.u8, "a")

    def workspace_desc(self) -> memory_desc:
        """The zero descriptor: softmax passes nothing from forward to backward but dst."""
        return self.query_md(DNNL_ARG_WORKSPACE)

    def memory_consumption_s64(self) -> int:
        """Bytes that the library allocates itself for an execution: 0 in user mode."""
        return self.workspace_bytes if self._attr.scratchpad is scratchpad_mode.library else 0

    def impl_info_str(self) -> str:
        """Which kernels run, step by step, as this project names them."""
        if self.plan is not None:
            return ", ".join(f"{c.backend}:{c.implementation}" for c in self.plan.choices)
        return "none: some dimension is 0" if self.is_empty else "none: no device"

    def next_impl(self) -> bool:
        """Whether there is another implementation to move to: there never is."""
        return False

    def explain(self) -> str:
        """The plan as text for people."""
        return self.impl_info_str() if self.plan is None else self.plan.explain()

    def __str__(self) -> str:
        shown = ", ".join(f"{a.name} {a.desc!r}" for a in self.arguments)
        attributes = str(self._attr)
        kinds = f"{self._prop_kind.name} {self._algorithm.name} axis {self._axis}"
        return f"{kinds}: {shown}{'; ' if attributes else ''}{attributes}"

    def __repr__(self) -> str:
        return f"<{self._name} {self}>"


def description_of(function: str, value: object) -> engine_description:
    """The description behind an engine argument; invalid_arguments for anything else."""
    found = value.description if isinstance(value, engines.engine) else value
    if not isinstance(found, engine_description) or found.kind is engine_kind.any:
        refuse(
            status.invalid_arguments,
            function,
            "engine",
            "is no engine",
            got=describe(value),
            expected="an engine, or an engine_description of a cpu or gpu",
            fix="engine(engine_kind.cpu, 0)",
        )
    return found
