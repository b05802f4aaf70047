# SPDX-License-Identifier: Apache-2.0
"""Turns a Plan into the native object that executors are made from.

The plan's tuples are read in C (``native/cffi/call_plans.c``), but for chains, which are rare.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from aclnn_native import calls, ffi, lib
from aclnn_py.plan.steps import WORKSPACE
from aclnn_runtime import AclnnError, raise_last
from aclnn_runtime.step_call import release_step

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aclnn_py.plan.fuse import Chain, Part
    from aclnn_py.plan.plan import Plan
    from aclnn_py.plan.steps import Step

__all__ = ["Filler", "Launch", "native_plan", "operator_id"]

assert lib.ACLPY_BASE_WORKSPACE == WORKSPACE  # operands go over as they are
_CACHEABLE: Final[int] = lib.ACLPY_PLAN_VENDOR_CACHEABLE
_REPEATABLE: Final[int] = lib.ACLPY_PLAN_REPEATABLE
_FOREIGN: Final[int] = lib.ACLPY_PLAN_FOREIGN
# Addresses are multiples of the element size, but of no more than this [bytes].
_CPU_ALIGNMENT: Final = 8
_GPU_ALIGNMENT: Final = 16


class Launch(NamedTuple):
    """What runs a step, by addresses in C.

    Attributes
    ----------
    kernel : int
        An ``aclpy_kernel``; 0 where the step is a call.
    call, token : int
        An ``aclpy_step_call`` and what it is given.
    """

    kernel: int
    call: int = 0
    token: int = 0


class Filler(Protocol):
    """A backend that can say how its steps are launched."""

    def launch(self, step: Step) -> Launch:
        """What runs `step`; a call token has to mean it until the native plan has ended."""
        ...

    def fill(self, step: Step, native: Any, keep: list[object]) -> None:
        """Write a native step (steps of chains only)."""
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


def native_plan(plan: Plan, fillers: Mapping[str, Filler]) -> int:
    """The handle of a native plan, which is the caller's to release.

    Parameters
    ----------
    plan : Plan
        What it does.
    fillers : mapping of str to Filler
        The backends that `plan` has chosen among, by name.

    Raises
    ------
    AclnnError
        561101 without memory.
    """
    flags = _CACHEABLE if plan.vendor_cacheable else 0
    if not plan.not_repeatable:
        flags |= _REPEATABLE
    launches, foreign = [], False
    for step, choice in zip(plan.steps, plan.choices, strict=True):
        launches.append(fillers[choice.backend].launch(step))
        foreign = foreign or choice.backend == "cuda"
    made: list[object] = []
    handle = calls.plan(
        operator_id(plan.operator),
        flags | _FOREIGN if foreign else flags,
        plan.workspace_bytes,
        plan.slots,
        plan.steps,
        tuple(launches),
        plan.hazards,
        plan.not_repeatable or None,
        _GPU_ALIGNMENT if foreign else _CPU_ALIGNMENT,
        len(plan.chains),
        _chains(plan, fillers, made) if plan.chains else 0,
    )
    if handle < 0:
        for launch in launches:
            release_step(launch.token)
        raise_last(-handle, error=AclnnError)
    return handle


def _step(native: Any, step: Step, filler: Filler, keep: list[object]) -> None:
    places = [*step.reads, step.write]
    native.n_operands, native.operands = len(places), places
    filler.fill(step, native, keep)


def _chains(plan: Plan, fillers: Mapping[str, Filler], keep: list[object]) -> int:
    """Address of the chains' descriptions, which `keep` holds."""
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
    return int(ffi.cast("uintptr_t", array))


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
