# SPDX-License-Identifier: Apache-2.0
"""Executor: a plan bound to tensors, as a thin wrapper of the native object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_native import calls, ffi, lib
from aclnn_runtime import AclnnError, raise_last

if TYPE_CHECKING:
    from typing import Protocol

    class Plan(Protocol):
        """What an executor says of its plan (floor 2 defines it)."""

        @property
        def operator(self) -> str:
            """Phase-2 function."""
            ...

        def explain(self) -> str:
            """Steps, kernels and workspace as text."""
            ...


__all__ = ["ONE_SHOT", "REPEATABLE", "SPENT", "Executor"]

SPENT, ONE_SHOT, REPEATABLE = calls.SPENT, calls.ONE_SHOT, calls.REPEATABLE


class Executor(calls.Executor):
    """A plan bound to tensors; made by phase 1, run by phase 2.

    It keeps its tensors and their memory alive. Single use unless
    ``aclSetAclOpExecutorRepeatable`` made it repeatable. One that is never run is destroyed with
    this object.
    """

    # Made by the hot path, in C. `_keep` is the tensors, and the memory they had then: it may be
    # what phase 2 writes to even when a tensor is given another address in between. Last, whose
    # `plan` it runs.
    __slots__ = ()

    @property
    def plan(self) -> Plan:
        """What phase 1 decided."""
        plan: Plan = self._keep[-1].plan
        return plan

    @property
    def handle(self) -> int:
        """The native handle."""
        return self._handle

    @property
    def operator(self) -> str:
        """Phase-2 function this executor is for."""
        return self.plan.operator

    @property
    def is_cache_hit(self) -> bool:
        """Whether the vendor's own cache would have answered this phase 1.

        Raises
        ------
        AclnnError
            561000 once phase 2 has used the executor up.
        """
        hit = ffi.new("int32_t *")
        status = lib.aclpy_executor_is_cache_hit(self._handle, hit)
        if status:
            raise_last(status, error=AclnnError)
        return bool(hit[0])

    def close(self) -> None:
        """Destroy the executor if it has not been used up; a second call does nothing."""
        if self._state:
            self._state = SPENT
            lib.aclpy_executor_discard(self._handle)

    def __repr__(self) -> str:
        return f"<Executor of {self.operator} {self._handle:#x}>"
