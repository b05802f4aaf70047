# SPDX-License-Identifier: Apache-2.0
"""Plans as text for people."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from aclnn_py.plan.steps import WORKSPACE
from aclnn_py.plan.workspace import aligned

if TYPE_CHECKING:
    from aclnn_py.plan.fuse import Chain
    from aclnn_py.plan.plan import Plan
    from aclnn_py.plan.steps import Operand

__all__ = ["explain_plan"]


def explain_plan(plan: Plan, *, refusals: bool = True) -> str:
    """Steps, the kernel and ISA chosen, refused candidates, and the workspace item by item."""
    if not plan.steps:
        return f"{plan.operator}: nothing to do (empty tensor), workspace 0 bytes"
    lines = [f"{plan.operator}: {len(plan.steps)} step(s), workspace {plan.workspace_bytes} bytes"]
    for number, (step, choice) in enumerate(zip(plan.steps, plan.choices, strict=True), 1):
        reads = ", ".join(_operand(plan, operand) for operand in step.reads)
        lines.append(f"  {number}. {step.name}: {reads} -> {_operand(plan, step.write)}")
        lines.append(f"     {step.text}")
        lines.append(f"     runs on {choice.backend}: {choice.implementation}")
        if refusals:
            lines += [f"     refused {item.candidate}: {item.reason}" for item in choice.refused]
    lines += [
        f"  fused: steps {chain.first + 1}-{chain.first + chain.steps} run together, "
        + _together(plan, chain)
        for chain in plan.chains
    ]
    lines.append("  workspace:" if plan.placements else "  workspace: none")
    for place in plan.placements:
        item = place.item
        lines.append(
            f"    bucket {place.bucket} at {place.offset}: {item.label}, {item.nbytes} bytes "
            f"(takes {aligned(item.nbytes)}), alive in steps {item.first + 1}-{item.last + 1}"
        )
    lines.append(f"  repeatable: {plan.not_repeatable or 'yes'}")
    lines.append(f"  held by the vendor's cache: {'yes' if plan.vendor_cacheable else 'no'}")
    return "\n".join(lines)


def _together(plan: Plan, chain: Chain) -> str:
    whole = chain.whole
    if whole is not None:
        reads = ", ".join(_operand(plan, operand) for operand in whole.reads)
        return (
            f"without copies: {whole.kernel}, {reads} -> {_operand(plan, whole.write)}, "
            f"{whole.text} (the workspace stays untouched)"
        )
    count = prod(chain.digits)
    return (
        f"{chain.rows} rows at a time ({count} block{'s' * (count > 1)}, {chain.scratch_bytes} "
        "bytes a thread instead of the workspace)"
    )


def _operand(plan: Plan, operand: Operand) -> str:
    if operand.base == WORKSPACE:
        return f"workspace[{operand.byte_offset}]"
    name = plan.slots[operand.base].name
    return f"{name}[+{operand.byte_offset} bytes]" if operand.byte_offset else name
