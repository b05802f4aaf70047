# SPDX-License-Identifier: Apache-2.0
"""ONNX's Softmax and LogSoftmax: one row for both, one rule of the axis for each version."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

from aclnn_py.core.rules import dtype_in_list, not_null, same_dtype, same_shape
from aclnn_py.core.spec import AttrParam, OpSpec, TensorParam
from aclnn_py.ops.softmax import around_axis, log_softmax_reference, softmax_reference

if TYPE_CHECKING:
    from collections.abc import Callable

    from aclnn_py.plan.recipe import Recipe

__all__ = ["SPECS"]

_DTYPES: Final = ("FLOAT16", "FLOAT", "DOUBLE", "BF16")


def _forward(kernel: str, reference: Callable[..., Any]) -> Callable[[Recipe], None]:
    def recipe_of(recipe: Recipe) -> None:
        shape, axis = recipe.desc("input").shape, recipe.problem.integer("axis")
        if recipe.problem.integer("coerce"):
            at = axis + len(shape) if axis < 0 else axis  # may be the rank: rows of one element
            params = (prod(shape[:at]), prod(shape[at:]), 1)
        else:
            params = around_axis(shape, axis)
        x = recipe.contiguous("input")
        recipe.store(recipe.kernel(kernel, (x,), params, reference=reference), "output")

    return recipe_of


def _row(name: str, kernel: str, reference: Callable[..., Any], formula: str, bound: str) -> OpSpec:
    def tensor(title: str, doc: str, *, output: bool = False) -> TensorParam:
        return TensorParam(
            name=title,
            kind="output" if output else "input",
            dtypes=_DTYPES,
            soc_gated=False,
            doc=doc,
        )

    return OpSpec(
        acl_name=name,
        dialect="onnx",
        formula=formula,
        params=(
            tensor("input", "any shape; the input"),
            AttrParam(name="axis", doc="where rows begin (coerce 1), or the axis of the sums"),
            AttrParam(name="coerce", default=0, doc="1: versions 1 and 11; 0: version 13"),
            tensor("output", "shape and dtype of the input", output=True),
        ),
        checks=(
            not_null("input", "output"),
            dtype_in_list("input"),
            same_dtype("output", "input"),
            same_shape("output", "input"),
        ),
        empty_when=("input",),
        recipe=_forward(kernel, reference),
        bound=f"float32: {bound} relative or 1.2e-7 absolute; float16/bfloat16: float32 rounded "
        "once",
        notes=("Sums accumulate in float32 (float64 for DOUBLE).", "NaN stays in its row."),
        source=f"ONNX operator {name}, versions 1, 11 and 13",
    )


SPECS: Final = (
    _row(
        "Softmax",
        "softmax",
        softmax_reference,
        "output = exp(input - max) / sum(exp(input - max))",
        "1.2e-6",
    ),
    _row(
        "LogSoftmax",
        "log_softmax",
        log_softmax_reference,
        "output = input - max - log(sum(exp(input - max)))",
        "6e-6",
    ),
)
