# SPDX-License-Identifier: Apache-2.0
"""The plan: everything phase 1 decides about a call, immutable and shared by all its executors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from aclnn_py.core.errors import INNER_FIND_KERNEL, operator_error
from aclnn_py.core.made import maker
from aclnn_py.plan.checks import run_checks
from aclnn_py.plan.choose import Choice, NoImplementationError, choose
from aclnn_py.plan.fuse import fuse
from aclnn_py.plan.recipe import Recipe, check_storage
from aclnn_py.plan.steps import WORKSPACE, Step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aclnn_py.plan.choose import Backend
    from aclnn_py.plan.fuse import Chain
    from aclnn_py.plan.problem import Problem
    from aclnn_py.plan.workspace import Placement

__all__ = ["Plan", "Slot", "make_plan"]


class Slot(NamedTuple):
    """What a plan needs of one tensor argument.

    Attributes
    ----------
    name : str
        The parameter.
    low_bytes, high_bytes : int
        Bytes the view touches, relative to the tensor's raw data address.
    captured : bool
        A first run uses the address the tensor had in phase 1: aclnn's contiguous outputs, and
        every tensor of a vocabulary that cannot set addresses.
    written : bool
        Whether some step writes it.
    used : bool
        Whether some step touches it.
    dtype : str
        Vendor name of the type, ``"FLOAT"``; with the shape, for timelines.
    shape : tuple of int
        Dimensions.
    itemsize : int
        Of an element, which some devices want its address to be a multiple of [bytes].
    """

    name: str
    low_bytes: int
    high_bytes: int
    captured: bool
    written: bool
    used: bool
    dtype: str
    shape: tuple[int, ...]
    itemsize: int = 0


_slot = maker(Slot)


class Plan(NamedTuple):
    """The outcome of a successful phase 1.

    Attributes
    ----------
    operator : str
        Phase-2 function name, ``"aclnnSoftmax"``.
    slots : tuple of Slot
        One for each tensor argument, in C order.
    steps : tuple of Step
        In launch order; none for an empty call.
    choices : tuple of Choice
        Who runs each step.
    placements : tuple of Placement
        The workspace, item by item.
    workspace_bytes : int
        Its size.
    vendor_cacheable : bool
        Whether the vendor's own cache would hold it.
    not_repeatable : str
        Why ``aclSetAclOpExecutorRepeatable`` is refused; empty when it is not.
    hazards : tuple of (int, int)
        Slots that one step reads and writes directly: their memory must be the same or disjoint.
    chains : tuple of Chain
        Steps that run block by block where their tensors' memory allows it.
    """

    operator: str
    slots: tuple[Slot, ...]
    steps: tuple[Step, ...] = ()
    choices: tuple[Choice, ...] = ()
    placements: tuple[Placement, ...] = ()
    workspace_bytes: int = 0
    vendor_cacheable: bool = False
    not_repeatable: str = ""
    hazards: tuple[tuple[int, int], ...] = ()
    chains: tuple[Chain, ...] = ()

    def explain(self) -> str:
        """Steps, kernels, refused candidates and workspace as text for people."""
        from aclnn_py.plan.explain import explain_plan  # noqa: PLC0415  # only for people

        return explain_plan(self)

    def fingerprint(self) -> bytes:
        """The plan as bytes: equal for equal plans, whichever face asked for it."""
        return repr(self).encode()


_plan = maker(Plan)


def make_plan(problem: Problem, backends: Sequence[Backend]) -> Plan:
    """The one function that turns a call into a plan, for every face.

    Parameters
    ----------
    problem : Problem
        Operator, descriptions, attributes, SoC profile.
    backends : sequence of Backend
        Candidates for each step, most preferred first.

    Returns
    -------
    Plan
        Without steps when the call is empty.

    Raises
    ------
    AclnnError
        As the operator's checks say; 561003 when no backend implements a step.
    """
    spec = problem.spec
    if run_checks(problem) or _is_empty(problem):
        return Plan(spec.function, _slots(problem, (), set()))
    recipe = Recipe(problem)
    spec.recipe(recipe)
    check_storage(problem)
    steps, placements, total = recipe.finish()
    choices = tuple([_choose(problem, step, backends) for step in steps])
    return _plan(
        (
            spec.function,
            _slots(problem, steps, recipe.captured_slots),
            steps,
            choices,
            placements,
            total,
            spec.dialect == "aclnn" and _vendor_caches(recipe, steps),
            recipe.device_copy,
            _hazards(steps),
            _chains(steps, choices, backends) if problem.fuse and len(steps) > 1 else (),
        )
    )


def _is_empty(problem: Problem) -> bool:
    for name in problem.spec.empty_when:  # noqa: SIM110  # a plain loop: this is timed
        if problem.tensors[name].is_empty:
            return True
    return False


def _chains(
    steps: tuple[Step, ...], choices: tuple[Choice, ...], backends: Sequence[Backend]
) -> tuple[Chain, ...]:
    return fuse(steps, _Launches(steps, choices, {backend.name: backend for backend in backends}))


@dataclass(frozen=True, slots=True)
class _Launches:
    steps: tuple[Step, ...]
    choices: tuple[Choice, ...]
    backends: dict[str, Backend]

    def divides(self, number: int, params: tuple[int, ...], by: Step | None = None) -> bool:
        backend = self.backends[self.choices[number].backend]
        known = by is None or bool(backend.accept(by)[0])
        return known and backend.divides(self.steps[number], params, by)

    def replaces(self, number: int, step: Step) -> bool:
        backend = self.backends[self.choices[number].backend]
        return bool(backend.accept(step)[0]) and backend.takes(step)


def _choose(problem: Problem, step: Step, backends: Sequence[Backend]) -> Choice:
    try:
        return choose(step, backends)
    except NoImplementationError as error:
        reasons = "; ".join(f"{r.candidate}: {r.reason}" for r in error.refused)
        numpy = ", or allow NumPy to run it (ACLNN_PY_FALLBACK=allow)" if len(backends) < 2 else ""
        raise operator_error(
            INNER_FIND_KERNEL,
            problem.spec.planner,
            problem.spec.tensors[-1].name,
            f"needs a step that nothing here implements: {step.kernel} {step.dtype}",
            got=reasons,
            expected="a kernel for every step of the plan",
            fix=f"choose another dtype (aclnn-py ops lists what is implemented){numpy}",
        ) from None


def _hazards(steps: Sequence[Step]) -> tuple[tuple[int, int], ...]:
    pairs = set()
    for step in steps:
        target = step.write.base
        for read in step.reads:
            if WORKSPACE not in (pair := (read.base, target)):
                pairs.add(pair)
    return tuple(sorted(pairs))


def _slots(problem: Problem, steps: Sequence[Step], captured: set[int]) -> tuple[Slot, ...]:
    count = len(problem.tensors)
    used, written = [False] * (count + 1), [False] * (count + 1)  # the last is of WORKSPACE, -1
    for step in steps:
        used[step.write.base] = written[step.write.base] = True
        for read in step.reads:
            used[read.base] = True
    rows = []
    foreign = problem.spec.dialect != "aclnn"
    for index, (name, desc) in enumerate(problem.tensors.items()):
        dtype = desc.dtype
        itemsize, (low, high) = dtype.itemsize, desc.extent if used[index] else (0, 0)
        rows.append(
            _slot(
                (
                    name,
                    low * itemsize,
                    high * itemsize,
                    foreign or index in captured,
                    written[index],
                    used[index],
                    dtype.name,
                    desc.shape,
                    itemsize,
                )
            )
        )
    return tuple(rows)


def _vendor_caches(recipe: Recipe, steps: tuple[Step, ...]) -> bool:
    # AI CPU work (DOUBLE), device copies and view copies at an offset never enter its cache.
    if recipe.device_copy or recipe.runs_on_ai_cpu:
        return False
    for step in steps:  # noqa: SIM110  # a plain loop: this is timed
        if step.name == "view_copy" and step.write.byte_offset:
            return False
    return True
