# SPDX-License-Identifier: Apache-2.0
"""Interprets the ordered checks of a spec: the first hit decides, with its status and text."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from aclnn_py.core.errors import PARAM_INVALID, PARAM_NULLPTR, operator_error
from aclnn_py.core.soc import SOC_PROFILES
from aclnn_runtime.arguments import describe

if TYPE_CHECKING:
    from collections.abc import Callable

    from aclnn_py.core.desc import TensorDesc
    from aclnn_py.core.spec import Check, TensorParam
    from aclnn_py.plan.problem import Problem

__all__ = ["run_checks", "shape_text"]


@lru_cache(maxsize=64)  # the tensors of a call mostly have one shape
def shape_text(shape: tuple[int, ...]) -> str:
    """A shape the way the vendor's texts show it: ``[2, 3]``."""
    return str(list(shape))


def run_checks(problem: Problem) -> bool:
    """Run the spec's checks in order.

    Returns
    -------
    bool
        Whether an empty tensor ends the call successfully before the checks after it.

    Raises
    ------
    AclnnError
        161001 or 161002, by the first check that fails.
    """
    _attributes_are_numbers(problem)
    for check in problem.spec.checks:  # noqa: SIM110  # a plain loop: this is timed
        if _RULES[check.rule](problem, check):
            return True
    return False


def _attributes_are_numbers(problem: Problem) -> None:
    # C's compiler does this for C callers.
    for param in problem.spec.attributes:
        value = problem.attributes[param.name]
        expected = param.validate_value(value)
        if expected is not None:
            raise operator_error(
                PARAM_INVALID,
                problem.spec.planner,
                param.name,
                f"is no {param.ctype}",
                got=describe(value),
                expected=expected,
                fix=f"pass {param.name} as {expected}",
            )


def _not_null(problem: Problem, check: Check) -> bool:
    for name in check.params:
        if problem.tensors[name] is None:
            raise operator_error(
                PARAM_NULLPTR,
                problem.spec.planner,
                name,
                "is null",
                got="None (nullptr)",
                expected="an aclTensor",
                fix=f"create {name} with aclCreateTensor() or Device.tensor()",
            )
    return False


def _empty_returns(problem: Problem, check: Check) -> bool:
    if check.unless_regbase and problem.profile.regbase:
        return False
    for name in check.params:  # noqa: SIM110  # a plain loop: this is timed
        if problem.tensors[name].is_empty:
            return True
    return False


def _seen(desc: TensorDesc) -> str:
    return f"{desc.dtype_text}, shape {shape_text(desc.shape)}"


def _dtype_in_list(problem: Problem, check: Check) -> bool:
    named, profile = problem.spec.tensor_named, problem.profile
    for name in check.params:
        desc, param = problem.tensors[name], named[name]
        if not param.takes(desc.dtype.name, profile):
            raise operator_error(
                PARAM_INVALID,
                problem.spec.planner,
                name,
                "has an unsupported dtype",
                got=_seen(desc),
                expected=f"{' | '.join(param.dtypes_on(profile))} on {profile.name}",
                fix=_fix_of_dtype(param, desc.dtype.name),
            )
    return False


def _fix_of_dtype(param: TensorParam, dtype: str) -> str:
    if any(param.takes(dtype, profile) for profile in SOC_PROFILES.values()):
        return "cast it first, or choose a SoC profile that has the type (ACLNN_PY_SOC)"
    return "cast it to one of these first"


def _bf16_gate(problem: Problem, check: Check) -> bool:
    for name in check.params:
        if problem.tensors[name].dtype.name == "BF16" and not problem.profile.bf16:
            raise operator_error(
                PARAM_INVALID,
                problem.spec.planner,
                name,
                f"is bfloat16, which {problem.profile.name} does not have",
                got=_seen(problem.tensors[name]),
                expected=" | ".join(problem.spec.tensor_named[name].dtypes_on(problem.profile)),
                fix="use FLOAT16 or FLOAT, or a SoC profile with bfloat16 (ACLNN_PY_SOC)",
            )
    return False


def _same_dtype(problem: Problem, check: Check) -> bool:
    name, reference = check.params
    got, wanted = problem.tensors[name], problem.tensors[reference]
    if got.dtype_value != wanted.dtype_value:
        raise operator_error(
            PARAM_INVALID,
            problem.spec.planner,
            name,
            f"differs in dtype from '{reference}'",
            got=got.dtype_text,
            expected=f"{wanted.dtype_text} (the dtype of {reference})",
            fix=f"cast {name} to {wanted.dtype} first",
        )
    return False


def _dim_in_range(problem: Problem, check: Check) -> bool:
    attribute, tensor = check.params
    dim, desc = problem.integer(attribute), problem.tensors[tensor]
    rank = desc.rank or 1
    if not -rank <= dim < rank:
        raise operator_error(
            PARAM_INVALID,
            problem.spec.planner,
            attribute,
            f"is out of range for '{tensor}'",
            got=f"{dim}, {tensor} having shape {shape_text(desc.shape)}",
            expected=f"from {-rank} to {rank - 1} (rank {rank})",
            fix=f"choose an axis of {tensor}; negative ones count from the last",
        )
    return False


def _rank_at_most(problem: Problem, check: Check) -> bool:
    for name in check.params:
        desc = problem.tensors[name]
        if desc.rank > check.limit:
            raise operator_error(
                PARAM_INVALID,
                problem.spec.planner,
                name,
                "has too many dimensions",
                got=f"rank {desc.rank}, shape {shape_text(desc.shape)}",
                expected=f"at most {check.limit} dimensions",
                fix=f"merge dimensions of {name} that are not reduced",
            )
    return False


def _same_shape(problem: Problem, check: Check) -> bool:
    name, reference = check.params
    got, wanted = problem.tensors[name], problem.tensors[reference]
    if got.shape != wanted.shape:
        raise operator_error(
            PARAM_INVALID,
            problem.spec.planner,
            name,
            f"differs in shape from '{reference}'",
            got=shape_text(got.shape),
            expected=f"{shape_text(wanted.shape)} (the shape of {reference})",
            fix=f"create {name} with the shape of {reference}; [1] and [] are different shapes",
        )
    return False


_RULES: Final[dict[str, Callable[[Problem, Check], bool]]] = {
    "not_null": _not_null,
    "empty_returns": _empty_returns,
    "dtype_in_list": _dtype_in_list,
    "bf16_gate": _bf16_gate,
    "same_dtype": _same_dtype,
    "dim_in_range": _dim_in_range,
    "rank_at_most": _rank_at_most,
    "same_shape": _same_shape,
}
