# SPDX-License-Identifier: Apache-2.0
"""Plans whose steps the twin of the CUDA kernels runs, on the memory of the CPU device."""

from __future__ import annotations

import os

import aclnn_py as acl
from aclnn_py.plan.steps import WORKSPACE
from aclnn_py.twophase import make_plan, operators
from support.cuda_twin import Twin
from support.invoke import Workspace

#: Many, so that long rows are divided among blocks; in a full run also one, so that they are not.
PROCESSORS = (132, 1) if os.environ.get("TWIN") == "full" else (132,)


class TwinPlans:
    """Takes the place of both phases."""

    def __init__(self, twin: Twin, processors: int):
        self.twin, self.processors = twin, processors

    def execute(self, device, _stream, operator, tensors, dim) -> int:
        """As `support.invoke.execute`: a workspace with guards, every step of the plan."""
        return self._run(device, operators[operator], tensors, dim)

    def call(self, device, _stream, operator, tensors, axis) -> int:
        """As `support.fused.call`."""
        return self._run(device, operator.spec, tensors, axis)

    def _run(self, device, spec, tensors, axis) -> int:
        plan = make_plan(spec, [tensor.desc for tensor in tensors], [axis])
        workspace = Workspace(device, plan.workspace_bytes)
        bases = {n: int(acl.aclGetRawTensorAddr(t) or 0) for n, t in enumerate(tensors)}
        bases[WORKSPACE] = workspace.ptr or 0

        def place(operand):
            return bases[operand.base] + operand.byte_offset

        for step in plan.steps:
            reads = [place(operand) for operand in step.reads]
            write = place(step.write)
            self.twin.step(step.kernel, step.dtype, step.params, reads, write, self.processors)
        workspace.check()
        return plan.workspace_bytes
