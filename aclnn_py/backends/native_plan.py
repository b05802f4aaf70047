# SPDX-License-Identifier: Apache-2.0
"""Turns a Plan into the native object that executors are made from."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from aclnn_native import ffi, lib
from aclnn_py.plan.steps import WORKSPACE
from aclnn_runtime import AclnnError, raise_last

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aclnn_py.plan.plan import Plan, Slot
    from aclnn_py.plan.steps import Operand, Step

__all__ = ["Filler", "NativePlan", "operator_id"]


class Filler(Protocol):
    """A backend that can write a native step."""

    def fill(self, step: Step, native: Any, keep: list[object]) -> None:
        """Fill in what runs; objects that must live as long as the plan go to `keep`."""
        ...


@cache
def operator_id(function: str) -> int:
    """The native number of an operator, by phase-2 function name."""
    number: int = lib.aclpy_operator_id(function.encode())
    if not number:
        raise MemoryError(function)
    return number


class NativePlan:
    """Owns a native plan; executors made from it keep what they need of it.

    Attributes
    ----------
    handle : int
        The native plan.
    plan : Plan
        What it was made from.
    """

    __slots__ = ("_keep", "handle", "plan")

    def __init__(self, plan: Plan, fillers: Mapping[str, Filler]) -> None:
        keep: list[object] = []
        desc = ffi.new("aclpy_plan_desc *")
        desc.op = operator_id(plan.operator)
        desc.flags = lib.ACLPY_PLAN_VENDOR_CACHEABLE if plan.vendor_cacheable else 0
        desc.flags |= 0 if plan.not_repeatable else lib.ACLPY_PLAN_REPEATABLE
        desc.workspace_bytes = plan.workspace_bytes
        if plan.not_repeatable:
            desc.refusal = _text(plan.not_repeatable, keep)
        desc.n_slots, desc.slots = len(plan.slots), _slots(plan.slots, keep)
        desc.n_steps, desc.steps = len(plan.steps), _steps(plan, fillers, keep)
        hazards = ffi.new("aclpy_hazard[]", [list(pair) for pair in plan.hazards])
        desc.n_hazards, desc.hazards = len(plan.hazards), hazards
        handle = ffi.new("aclpy_handle *")
        status = lib.aclpy_plan_create(desc, handle)
        if status:
            raise_last(status, error=AclnnError)
        self.handle: int = handle[0]
        self.plan = plan
        self._keep = keep

    def __del__(self) -> None:
        if hasattr(self, "handle"):
            lib.aclpy_plan_release(self.handle)


def _text(text: str, keep: list[object]) -> Any:
    raw = ffi.new("char[]", text.encode())
    keep.append(raw)
    return raw


def _slots(slots: tuple[Slot, ...], keep: list[object]) -> Any:
    array = ffi.new("aclpy_slot_desc[]", len(slots))
    keep.append(array)
    for native, slot in zip(array, slots, strict=True):
        native.name = _text(slot.name, keep)
        native.low_bytes, native.high_bytes = slot.low_bytes, slot.high_bytes
        native.flags = lib.ACLPY_SLOT_CAPTURED if slot.captured else 0
        native.flags |= lib.ACLPY_SLOT_WRITTEN if slot.written else 0
        native.flags |= 0 if slot.used else lib.ACLPY_SLOT_UNUSED
    return array


def _steps(plan: Plan, fillers: Mapping[str, Filler], keep: list[object]) -> Any:
    array = ffi.new("aclpy_step_desc[]", len(plan.steps))
    keep.append(array)
    for native, step, choice in zip(array, plan.steps, plan.choices, strict=True):
        operands = (*step.reads, step.write)
        native.n_operands = len(operands)
        for index, operand in enumerate(operands):
            _operand(native.operands[index], operand)
        fillers[choice.backend].fill(step, native, keep)
    return array


def _operand(native: Any, operand: Operand) -> None:
    in_workspace = operand.base == WORKSPACE
    native.base = lib.ACLPY_BASE_WORKSPACE if in_workspace else operand.base
    native.byte_offset = operand.byte_offset
