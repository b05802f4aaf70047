# SPDX-License-Identifier: Apache-2.0
"""This library as a contestant: the two-phase cycle in Python, and phase 2 in a loop of C."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import aclnn_py as acl
from aclnn_native import lib
from aclnn_py.core import settings
from aclnn_py.core.spec import TensorParam
from aclnn_py.twophase import Operator, operator
from benchmarks.build import compile_shared
from benchmarks.timing import Contestant, python_burst

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmarks.arena import View

__all__ = ["EngineLoop", "Ours", "admit_double", "operator_name", "set_threads"]

_NAMES = {
    ("softmax", "forward"): "Softmax",
    ("log_softmax", "forward"): "LogSoftmax",
    ("softmax", "backward"): "SoftmaxBackward",
    ("log_softmax", "backward"): "LogSoftmaxBackward",
}


def operator_name(operator: str, direction: str) -> str:
    """``"SoftmaxBackward"`` of ``"softmax", "backward"``."""
    return _NAMES[operator, direction]


def set_threads(count: int) -> None:
    """Threads of the compute pool from the next step on."""
    status = lib.aclpy_set_thread_count(count)
    if status:
        raise RuntimeError(f"{count} threads were refused with status {status}")


def admit_double(name: str, tensors: list[acl.Tensor], axis: int) -> None:
    """Put the plan of a float64 gradient into the plan cache.

    The kernels have it; the vendor's operators take no DOUBLE there and neither do ours. With its
    plan in the cache the call runs as every other one, so that the cell can be timed.
    """
    door = operator(name)
    params = [
        replace(param, dtypes=(*param.dtypes, "DOUBLE"))
        if isinstance(param, TensorParam) and param.kind == "input"
        else param
        for param in door.spec.params
    ]
    wide = Operator(replace(door.spec, params=tuple(params)))
    entry, known = wide._entry(tensors, [axis])  # noqa: SLF001  # see above
    door.plans[door._key(known, [axis])] = entry  # noqa: SLF001


@dataclass(frozen=True, slots=True)
class EngineLoop:
    """The C loop around ``aclpy_execute``."""

    function: Any

    @classmethod
    def build(cls, folder: Path) -> EngineLoop:
        loop = compile_shared("engine_loop", folder, engine=True).bench_execute
        loop.restype = ctypes.c_int64
        loop.argtypes = [ctypes.c_uint32] + [ctypes.c_uint64] * 5 + [ctypes.c_int64]
        return cls(loop)


class Ours:
    """One operator on one set of tensors."""

    def __init__(
        self,
        device: acl.Device,
        stream: acl.Stream,
        name: str,
        inputs: tuple[View, ...],
        axis: int,
        out: View,
    ) -> None:
        self.name = name
        self._device = device
        self._stream = stream
        self._plan = getattr(acl, f"aclnn{name}GetWorkspaceSize")
        self._run = getattr(acl, f"aclnn{name}")
        self._arguments = (*(view.tensor for view in inputs), axis, out.tensor)
        # Cells share layouts; after the first the emulated vendor cache would refuse to repeat.
        if name.endswith("Backward") and out.dtype == "float64":
            admit_double(name, [*(view.tensor for view in inputs), out.tensor], axis)
        now = settings.current()
        lib.aclpy_set_vendor_cache(0, now.vendor_cache_limit)
        try:
            self.workspace_bytes, self.executor = self._plan(*self._arguments)
            acl.aclSetAclOpExecutorRepeatable(self.executor)
        finally:
            lib.aclpy_set_vendor_cache(now.vendor_cache, now.vendor_cache_limit)
        self.workspace = device.malloc(self.workspace_bytes) if self.workspace_bytes else None

    def cycle(self) -> Callable[[], None]:
        """Phase 1, phase 2 and synchronise as a user writes them."""
        plan, run, arguments = self._plan, self._run, self._arguments
        workspace, stream = self.workspace, self._stream
        synchronize = stream.synchronize
        if len(arguments) == 3:
            x, axis, out = arguments

            def forward() -> None:
                size, executor = plan(x, axis, out)
                run(workspace, size, executor, stream)
                synchronize()

            return forward
        grad, output, axis, out = arguments

        def backward() -> None:
            size, executor = plan(grad, output, axis, out)
            run(workspace, size, executor, stream)
            synchronize()

        return backward

    def repeat(self) -> Callable[[], None]:
        """Phase 2 of the repeatable executor and synchronise."""
        run, executor, size = self._run, self.executor, self.workspace_bytes
        workspace, stream = self.workspace, self._stream
        synchronize = stream.synchronize

        def again() -> None:
            run(workspace, size, executor, stream)
            synchronize()

        return again

    def python(self) -> Contestant:
        return Contestant("ours", python_burst(self.cycle()))

    def c(self, loop: EngineLoop) -> Contestant:
        """Phase 2 of the repeatable executor from C."""
        number = lib.aclpy_operator_id(f"aclnn{self.name}".encode())
        address = self.workspace.ptr if self.workspace else 0
        fixed = (number, address, self.workspace_bytes, self.executor.handle)
        context, stream = self._device._ctx, self._stream.handle  # noqa: SLF001  # no public name

        def burst(calls: int) -> float:
            took = loop.function(*fixed, context, stream, calls)
            if took < 0:
                raise RuntimeError(f"aclnn{self.name} failed with status {-took}")
            return took / calls

        return Contestant("ours (C)", burst, layer="c")

    def kernels(self) -> str:
        """What phase 1 chose, one line a step."""
        return self.executor.plan.explain()

    def close(self) -> None:
        self._stream.synchronize()
        self.executor.close()
        if self.workspace:
            self.workspace.close()
