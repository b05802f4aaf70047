# SPDX-License-Identifier: Apache-2.0
"""Softmax and log-softmax, forward and backward: four specs, one row each."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from aclnn_py.core.rules import (
    CAST_TARGETS,
    bf16_gate,
    dim_in_range,
    dtype_in_list,
    empty_returns,
    not_null,
    rank_at_most,
    same_dtype,
    same_shape,
)
from aclnn_py.core.spec import AttrParam, OpSpec, TensorParam

if TYPE_CHECKING:
    from collections.abc import Callable

    from aclnn_py.plan.recipe import Recipe

__all__ = [
    "SPECS",
    "around_axis",
    "log_softmax_backward_reference",
    "log_softmax_reference",
    "softmax_backward_reference",
    "softmax_reference",
]

_FORWARD_DTYPES: Final = ("FLOAT", "FLOAT16", "DOUBLE", "BF16")
_BACKWARD_DTYPES: Final = ("FLOAT", "FLOAT16", "BF16")
_SOURCE: Final = "CANN operator API reference, {0}, read at hicann/ops-nn e5c3fa9327ea"
_DIM: Final = "axis of the sums; -r to r - 1, r = rank (1 for a 0-d tensor)"


def around_axis(shape: tuple[int, ...], dim: int) -> tuple[int, int, int]:
    """Sizes left of, at and right of the axis."""
    if not shape:
        return 1, 1, 1
    axis = dim % len(shape)
    return prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])


def _around(recipe: Recipe, name: str) -> tuple[int, tuple[int, int, int]]:
    """How many axes are left of the axis of the sums, and sizes left of, at and right of it."""
    shape = recipe.desc(name).shape
    axis = recipe.problem.integer("dim") % max(len(shape), 1)
    return axis, around_axis(shape, axis)


# The operators in NumPy: what runs where no kernel fits. `params` is (outer, n, inner).


def softmax_reference(params: tuple[int, ...], x: Any) -> Any:
    """Softmax, exp(x - max) / sum, over the middle axis of (outer, n, inner)."""
    rows = x.reshape(params)
    e = np.exp(rows - rows.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def log_softmax_reference(params: tuple[int, ...], x: Any) -> Any:
    """Log-softmax, x - max - log(sum), over the middle axis of (outer, n, inner)."""
    rows = x.reshape(params)
    shifted = rows - rows.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def softmax_backward_reference(params: tuple[int, ...], gradient: Any, output: Any) -> Any:
    """Gradient of softmax, y * (g - sum(g * y)), over the middle axis of (outer, n, inner)."""
    g, y = gradient.reshape(params), output.reshape(params)
    return y * (g - (g * y).sum(axis=1, keepdims=True))


def log_softmax_backward_reference(params: tuple[int, ...], gradient: Any, output: Any) -> Any:
    """Gradient of log-softmax, g - exp(y) * sum(g), over the middle axis of (outer, n, inner)."""
    g, y = gradient.reshape(params), output.reshape(params)
    return g - np.exp(y) * g.sum(axis=1, keepdims=True)


def _softmax(recipe: Recipe) -> None:
    # The result is cast, so FLOAT16 -> FLOAT rounds to half first: the vendor's order.
    problem = recipe.problem
    axis, params = _around(recipe, "self")
    reserve = problem.profile.softmax_workspace_bytes
    x = recipe.contiguous("self")
    y = recipe.kernel(
        "softmax",
        (x,),
        params,
        reference=softmax_reference,
        reserve_bytes=reserve,
        leading=axis,
    )
    recipe.store(recipe.cast(y, recipe.desc("out").dtype, "out"), "out")


def _log_softmax(recipe: Recipe) -> None:
    # The input is cast, so FLOAT -> FLOAT16 rounds the input: the vendor's order.
    problem = recipe.problem
    axis, params = _around(recipe, "self")
    reserve = problem.profile.softmax_workspace_bytes
    x = recipe.cast(recipe.contiguous("self"), recipe.desc("out").dtype, "self")
    y = recipe.kernel(
        "log_softmax",
        (x,),
        params,
        reference=log_softmax_reference,
        reserve_bytes=reserve,
        leading=axis,
    )
    recipe.store(y, "out")


def _softmax_backward(recipe: Recipe) -> None:
    _backward(recipe, "softmax_backward", softmax_backward_reference)


def _log_softmax_backward(recipe: Recipe) -> None:
    _backward(recipe, "log_softmax_backward", log_softmax_backward_reference)


def _backward(recipe: Recipe, kernel: str, reference: Callable[..., Any]) -> None:
    problem = recipe.problem
    axis, params = _around(recipe, "gradOutput")
    reserve = problem.profile.softmax_workspace_bytes
    inputs = (recipe.contiguous("gradOutput"), recipe.contiguous("output"))
    result = recipe.kernel(
        kernel,
        inputs,
        params,
        reference=reference,
        reserve_bytes=reserve,
        leading=axis,
    )
    recipe.store(recipe.cast(result, recipe.desc("out").dtype, "out"), "out")


def _forward_params(what: str) -> tuple[TensorParam | AttrParam, ...]:
    return (
        TensorParam(
            name="self", kind="input", dtypes=_FORWARD_DTYPES, doc="any shape, rank <= 8; the input"
        ),
        AttrParam(name="dim", doc=_DIM),
        TensorParam(
            name="out",
            kind="output",
            dtypes=_FORWARD_DTYPES,
            doc=f"shape of self, any pairing of dtypes with it; {what}",
        ),
    )


def _backward_params(saved: str) -> tuple[TensorParam | AttrParam, ...]:
    return (
        TensorParam(
            name="gradOutput",
            kind="input",
            dtypes=_BACKWARD_DTYPES,
            doc="any shape, rank <= 8; gradient of the forward result",
        ),
        TensorParam(
            name="output",
            kind="input",
            dtypes=_BACKWARD_DTYPES,
            doc=f"shape and dtype of gradOutput; {saved}",
        ),
        AttrParam(name="dim", doc=_DIM),
        TensorParam(
            name="out",
            kind="output",
            dtypes=CAST_TARGETS,
            doc="shape of gradOutput, any dtype the result casts to; gradient of the input",
        ),
    )


_COMMON_NOTES: Final = (
    "Sums along the axis are kept in float64; the result is rounded once per plan step.",
    "Any tensor may be a strided view; out may be the very tensor of an input.",
    "NaN stays in its row (slice along dim).",
)

SPECS: Final = (
    OpSpec(
        acl_name="Softmax",
        header="aclnnop/aclnn_softmax.h",
        formula="out = exp(self - max) / sum(exp(self - max)), along dim",
        params=_forward_params("the probabilities"),
        checks=(
            not_null("self", "out"),
            empty_returns("self"),
            dtype_in_list("self", "out"),
            dim_in_range("dim", "self"),
            rank_at_most(8, "self"),
            same_shape("out", "self"),
        ),
        empty_when=("self",),
        recipe=_softmax,
        bound="float32: 1.2e-6 relative or 1.2e-7 absolute; float16/bfloat16: float32 rounded once",
        notes=(
            *_COMMON_NOTES,
            "Computes in the dtype of self and casts the result to the dtype of out.",
            "An empty self returns 0 with workspace 0 before any other check.",
            "A row of only -inf gives NaN.",
        ),
        source=_SOURCE.format("aclnnSoftmax"),
    ),
    OpSpec(
        acl_name="LogSoftmax",
        header="aclnnop/aclnn_logsoftmax.h",
        formula="out = self - max - log(sum(exp(self - max))), along dim",
        params=_forward_params("the log-probabilities"),
        checks=(
            not_null("self", "out"),
            dim_in_range("dim", "self"),
            bf16_gate("self", "out"),
            dtype_in_list("self", "out"),
            rank_at_most(8, "self", "out"),
            same_shape("out", "self"),
        ),
        empty_when=("self",),
        recipe=_log_softmax,
        bound="float32: 6e-6 relative or 1.2e-7 absolute; float16/bfloat16: float32 rounded once",
        notes=(
            *_COMMON_NOTES,
            "Casts self to the dtype of out and computes in that.",
            "An empty self is checked like any other, then nothing runs.",
            "A row of only -inf gives NaN.",
        ),
        source=_SOURCE.format("aclnnLogSoftmax"),
    ),
    OpSpec(
        acl_name="SoftmaxBackward",
        header="aclnnop/aclnn_softmax_backward.h",
        formula="out = output * (gradOutput - sum(gradOutput * output)), sums along dim",
        params=_backward_params("the result of the forward softmax"),
        checks=(
            not_null("gradOutput", "output", "out"),
            empty_returns("gradOutput", "output", unless_regbase=True),
            bf16_gate("gradOutput"),
            dtype_in_list("gradOutput", "output"),
            same_dtype("output", "gradOutput"),
            dim_in_range("dim", "gradOutput"),
            rank_at_most(8, "gradOutput"),
            same_shape("output", "gradOutput"),
            same_shape("out", "gradOutput"),
        ),
        empty_when=("gradOutput", "output"),
        recipe=_softmax_backward,
        bound=(
            "float32: 4.8e-6 relative or 1.2e-7 absolute; float16/bfloat16: float32 rounded once, "
            "but for bfloat16 whose terms nearly cancel: its sum is added up in another order, "
            "and it is within 1.2e-7"
        ),
        notes=(
            *_COMMON_NOTES,
            "Computes in the dtype of the inputs and casts the result to the dtype of out.",
            "An empty input returns 0 with workspace 0 before the checks (950: after them).",
        ),
        source=_SOURCE.format("aclnnSoftmaxBackward"),
    ),
    OpSpec(
        acl_name="LogSoftmaxBackward",
        header="aclnnop/aclnn_logsoftmax_backward.h",
        formula="out = gradOutput - exp(output) * sum(gradOutput), sums along dim",
        params=_backward_params("the result of the forward log-softmax (log-probabilities)"),
        checks=(
            not_null("output", "gradOutput", "out"),
            empty_returns("gradOutput", "output", unless_regbase=True),
            bf16_gate("output", "gradOutput"),
            dtype_in_list("output", "gradOutput"),
            same_dtype("output", "gradOutput"),
            rank_at_most(8, "gradOutput", "output"),
            same_shape("output", "gradOutput"),
            same_shape("out", "gradOutput"),
            dim_in_range("dim", "gradOutput"),
        ),
        empty_when=("gradOutput", "output"),
        recipe=_log_softmax_backward,
        bound="float32: 2.4e-5 relative or 1.2e-7 absolute; float16/bfloat16: float32 rounded once",
        notes=(
            *_COMMON_NOTES,
            "Computes in the dtype of the inputs and casts the result to the dtype of out.",
            (
                "exp(output) is a float32: where its product with the sum cancels gradOutput, "
                "1.2e-7 (1.6e-7 with SSE2) counts in units of max(1, size of that product)."
            ),
            "An empty input returns 0 with workspace 0 before the checks (950: after them).",
        ),
        source=_SOURCE.format("aclnnLogSoftmaxBackward"),
    ),
)
