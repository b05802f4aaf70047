# SPDX-License-Identifier: Apache-2.0
"""Turns a Plan into the native object that executors are made from."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, Protocol

from aclnn_native import ffi, lib
from aclnn_py.plan.steps import WORKSPACE
from aclnn_runtime import AclnnError, raise_last

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aclnn_py.plan.fuse import Chain, Part
    from aclnn_py.plan.plan import Plan, Slot
    from aclnn_py.plan.steps import Step

__all__ = ["Filler", "NativePlan", "operator_id"]

assert lib.ACLPY_BASE_WORKSPACE == WORKSPACE  # operands go over as they are
_CAPTURED: Final[int] = lib.ACLPY_SLOT_CAPTURED
_WRITTEN: Final[int] = lib.ACLPY_SLOT_WRITTEN
_UNUSED: Final[int] = lib.ACLPY_SLOT_UNUSED
_ALIGNMENT: Final[int] = lib.ACLPY_SLOT_ALIGNMENT


class Filler(Protocol):
    """A backend that can write a native step."""

    def fill(self, step: Step, native: Any, keep: list[object]) -> None:
        """Fill in what runs; objects that must live as long as the plan go to `keep`."""
        ...

    def shape(self, step: Step, params: tuple[int, ...]) -> Any:
        """How a launch of `step` with other parameters splits (steps of chains only)."""
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
        foreign = "cuda" in [choice.backend for choice in plan.choices]
        flags = lib.ACLPY_PLAN_FOREIGN if foreign else 0
        if plan.vendor_cacheable:
            flags |= lib.ACLPY_PLAN_VENDOR_CACHEABLE
        if not plan.not_repeatable:
            flags |= lib.ACLPY_PLAN_REPEATABLE
        # The fields of aclpy_plan_desc in their order: this is timed.
        fields = (
            operator_id(plan.operator),
            flags,
            plan.workspace_bytes,
            len(plan.slots),
            _slots(plan.slots, keep, aligned=foreign),
            len(plan.steps),
            _steps(plan, fillers, keep),
            len(plan.hazards),
            _array("aclpy_hazard[]", plan.hazards, keep),
            _text(plan.not_repeatable, keep) if plan.not_repeatable else ffi.NULL,
            len(plan.chains),
            _chains(plan, fillers, keep),
        )
        handle = ffi.new("aclpy_handle *")
        status = lib.aclpy_plan_create(ffi.new("aclpy_plan_desc *", fields), handle)
        if status:
            raise_last(status, error=AclnnError)
        self.handle: int = handle[0]
        self.plan = plan
        self._keep = keep

    def __del__(self) -> None:
        # At interpreter exit the module may be gone before its plans are.
        if hasattr(self, "handle") and lib is not None:
            lib.aclpy_plan_release(self.handle)


def _array(kind: str, rows: Sequence[object], keep: list[object]) -> Any:
    """An array in C; NULL for none."""
    if not rows:
        return ffi.NULL
    raw = ffi.new(kind, rows)
    keep.append(raw)
    return raw


def _text(text: str, keep: list[object]) -> Any:
    return _array("char[]", text.encode(), keep)


@cache
def _name(name: str) -> Any:
    """A parameter's name in C: few, and the same in every plan."""
    return ffi.new("char[]", name.encode())


def _slots(slots: tuple[Slot, ...], keep: list[object], *, aligned: bool) -> Any:
    rows = []
    about, text = "", ffi.NULL  # neighbours mostly look alike
    for slot in slots:
        if slot.about != about:
            about, text = slot.about, _text(slot.about, keep)
        flags = _flags(slot.captured, slot.written, slot.used)
        if aligned:
            flags |= slot.itemsize << _ALIGNMENT
        rows.append((_name(slot.name), slot.low_bytes, slot.high_bytes, flags, text))
    return _array("aclpy_slot_desc[]", rows, keep)


@cache
def _flags(captured: bool, written: bool, used: bool) -> int:  # timed
    flags = _CAPTURED if captured else 0
    flags |= _WRITTEN if written else 0
    return flags if used else flags | _UNUSED


def _steps(plan: Plan, fillers: Mapping[str, Filler], keep: list[object]) -> Any:
    if not plan.steps:
        return ffi.NULL
    array = ffi.new("aclpy_step_desc[]", len(plan.steps))
    keep.append(array)
    for native, step, choice in zip(array, plan.steps, plan.choices, strict=True):
        _step(native, step, fillers[choice.backend], keep)
    return array


def _step(native: Any, step: Step, filler: Filler, keep: list[object]) -> None:
    places = [*step.reads, step.write]
    native.n_operands, native.operands = len(places), places
    filler.fill(step, native, keep)


def _chains(plan: Plan, fillers: Mapping[str, Filler], keep: list[object]) -> Any:
    if not plan.chains:
        return ffi.NULL
    array = ffi.new("aclpy_chain_desc[]", len(plan.chains))
    keep.append(array)
    for native, chain in zip(array, plan.chains, strict=True):
        native.first_step, native.n_steps = chain.first, chain.steps
        native.n_digits, native.digits = len(chain.digits), chain.digits
        native.scratch_bytes = chain.scratch_bytes
        parts = ffi.new("aclpy_part_desc[]", len(chain.parts))
        for number, part in enumerate(chain.parts):
            step = plan.steps[chain.first + number]
            filler = fillers[plan.choices[chain.first + number].backend]
            _part(parts[number], chain, part, step, filler, keep)
        rows = [(item.slot, item.written_slot, item.same_layout) for item in chain.clashes]
        clashes = ffi.new("aclpy_clash[]", rows)
        if chain.whole is not None:
            whole = ffi.new("aclpy_step_desc *")
            keep.append(whole)
            native.whole = whole
            _step(whole, chain.whole, fillers[plan.choices[chain.runner].backend], keep)
        native.n_clashes, native.clashes, native.parts = len(rows), clashes, parts
        keep += [parts, clashes]
    return array


def _part(
    native: Any, chain: Chain, part: Part, step: Step, filler: Filler, keep: list[object]
) -> None:
    if part.by is not None:
        launch = ffi.new("aclpy_step_desc *")
        filler.fill(part.by, launch, keep)
        native.run = launch.run
    for tail, params in enumerate((part.params, part.last_params)):
        shape = filler.shape(part.by or step, params)
        values = ffi.new("int64_t[]", params)
        keep.append(values)
        native.n_params[tail], native.params[tail] = len(params), values
        native.items[tail] = shape.items[0]
        native.thread_scratch_bytes = max(native.thread_scratch_bytes, shape.thread_scratch_bytes)
    native.parts, native.position = part.parts, part.position
    native.position_advance = chain.position_advance
    for operand, scratch, advance in zip(native.operands, part.scratch, part.advance, strict=False):
        operand.scratch, operand.advance = scratch, advance
