# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime's four gradients of softmax: two operators, each with two meanings of its axis."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

from aclnn_py.core.rules import dim_in_range, dtype_in_list, not_null, same_dtype, same_shape
from aclnn_py.core.spec import AttrParam, OpSpec, TensorParam
from aclnn_py.ops.softmax import (
    around_axis,
    log_softmax_backward_reference,
    softmax_backward_reference,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from aclnn_py.plan.recipe import Recipe

__all__ = ["SPECS"]

_SOURCE: Final = "ONNX Runtime training operator schemas and kernels, com.microsoft version 1"
_KERNELS: Final[dict[str, Callable[..., Any]]] = {
    "softmax_backward": softmax_backward_reference,
    "log_softmax_backward": log_softmax_backward_reference,
}


def _coerced(kernel: str, saved: str) -> Callable[[Recipe], None]:
    """The gradient over all elements from the axis on: one row for each index before it."""

    def recipe_of(recipe: Recipe) -> None:
        shape = recipe.desc("dY").shape
        axis = recipe.problem.integer("axis") % max(len(shape), 1)
        params = (prod(shape[:axis]), prod(shape[axis:]), 1)
        inputs = (recipe.contiguous("dY"), recipe.contiguous(saved))
        recipe.store(recipe.kernel(kernel, inputs, params, reference=_KERNELS[kernel]), "dX")

    return recipe_of


def _single_axis(kernel: str, saved: str) -> Callable[[Recipe], None]:
    """The gradient along one axis: by a kernel that takes strides, or by swapping the axis last."""

    def recipe_of(recipe: Recipe) -> None:
        shape = recipe.desc("dY").shape
        axis = recipe.problem.integer("axis") % max(len(shape), 1)
        if recipe.problem.integer("swap") and axis != len(shape) - 1:
            rows = (recipe.swapped("dY", axis), recipe.swapped(saved, axis))
            params = around_axis(rows[0].shape, -1)
            result = recipe.kernel(kernel, rows, params, reference=_KERNELS[kernel])
            recipe.store_swapped(result, "dX", axis)
            return
        inputs = (recipe.contiguous("dY"), recipe.contiguous(saved))
        params = around_axis(shape, axis)
        recipe.store(recipe.kernel(kernel, inputs, params, reference=_KERNELS[kernel]), "dX")

    return recipe_of


def _row(name: str, *, log: bool, single_axis: bool) -> OpSpec:
    saved = "X" if log else "Y"
    # The schemas of the log variants leave bfloat16 out.
    dtypes = ("FLOAT16", "FLOAT", "DOUBLE") + (() if log else ("BF16",))

    def tensor(title: str, doc: str, *, output: bool = False) -> TensorParam:
        return TensorParam(
            name=title,
            kind="output" if output else "input",
            dtypes=dtypes,
            soc_gated=False,
            doc=doc,
        )

    kernel = "log_softmax_backward" if log else "softmax_backward"
    what = "log-softmax (log-probabilities), never its input" if log else "softmax"
    axis = "axis of the sums" if single_axis else "first of the axes that a row is made of"
    swap = AttrParam(name="swap", default=0, doc="1: swap the axis with the last and back")
    recipe = (_single_axis if single_axis else _coerced)(kernel, saved)
    body = "dY - exp(Y) * sum(dY)" if log else "Y * (dY - sum(dY * Y))"
    bound = "2.4e-5" if log else "4.8e-6"
    return OpSpec(
        acl_name=name,
        dialect="onnxruntime",
        formula=f"dX = {body}, sums {'along axis' if single_axis else 'from axis to the last'}",
        params=(
            tensor("dY", "rank 1 or more; gradient of the forward result"),
            tensor(saved, f"shape and dtype of dY; the result of the forward {what}"),
            AttrParam(name="axis", doc=f"{axis}; -r to r - 1, r = rank"),
            *((swap,) if single_axis else ()),
            tensor("dX", "shape and dtype of dY; gradient of the input", output=True),
        ),
        checks=(
            not_null("dY", saved, "dX"),
            dtype_in_list("dY"),
            same_dtype(saved, "dY"),
            same_dtype("dX", "dY"),
            same_shape(saved, "dY"),
            same_shape("dX", "dY"),
            dim_in_range("axis", "dY"),
        ),
        empty_when=("dY",),
        recipe=recipe,
        bound=f"float32: {bound} relative or 1.2e-7 absolute; float16/bfloat16: float32 rounded "
        "once",
        notes=("Sums along the axis are kept in float64.", "NaN stays in its row."),
        source=_SOURCE,
    )


SPECS: Final = (
    _row("SoftmaxGrad", log=False, single_axis=False),
    _row("SoftmaxGrad_13", log=False, single_axis=True),
    _row("LogSoftmaxGrad", log=True, single_axis=False),
    _row("LogSoftmaxGrad_13", log=True, single_axis=True),
)
