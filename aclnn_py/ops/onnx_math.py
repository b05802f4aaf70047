# SPDX-License-Identifier: Apache-2.0
"""The ONNX operators that the function bodies of Softmax and LogSoftmax are made of, in NumPy."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from aclnn_py.core.errors import PARAM_INVALID, operator_error
from aclnn_py.core.rules import dtype_in_list, not_null, same_dtype, same_shape
from aclnn_py.core.spec import AttrParam, Check, OpSpec, TensorParam

if TYPE_CHECKING:
    from collections.abc import Callable

    from aclnn_py.plan.recipe import Recipe, Value

__all__ = ["SPECS", "reduced_axes", "reduced_shape"]

_FLOATS: Final = ("FLOAT", "FLOAT16", "DOUBLE", "BF16")
_INTEGERS: Final = ("INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64")
_BOUND: Final = "float32: computed in float64, rounded once"


def _input(name: str, dtypes: tuple[str, ...] = _FLOATS) -> TensorParam:
    return TensorParam(
        name=name, kind="input", dtypes=dtypes, soc_gated=False, doc="operand, any shape"
    )


def _output(name: str, dtypes: tuple[str, ...] = _FLOATS) -> TensorParam:
    return TensorParam(
        name=name, kind="output", dtypes=dtypes, soc_gated=False, doc="the result, dtype of input 0"
    )


def _spec(
    name: str,
    formula: str,
    inputs: tuple[TensorParam, ...],
    output: TensorParam,
    recipe: Callable[[Recipe], None],
    attributes: tuple[AttrParam, ...] = (),
    more_checks: tuple[Check, ...] = (),
) -> OpSpec:
    names = [param.name for param in (*inputs, output)]
    return OpSpec(
        acl_name=name,
        dialect="onnx",
        formula=formula,
        params=(*inputs, *attributes, output),
        checks=(
            not_null(*names),
            dtype_in_list(names[0]),
            *(same_dtype(other, names[0]) for other in names[1:]),
            *more_checks,
        ),
        empty_when=(output.name,),
        recipe=recipe,
        bound=_BOUND,
        notes=("Runs on the NumPy reference backend.",),
        source=f"ONNX operator {name}",
    )


def _store(recipe: Recipe, value: Value, name: str) -> None:
    """Deliver a result whose shape follows from the inputs."""
    given = recipe.desc(name).shape
    if given != value.shape:
        raise operator_error(
            PARAM_INVALID,
            recipe.problem.spec.planner,
            name,
            "has another shape than the result",
            got=str(list(given)),
            expected=str(list(value.shape)),
            fix=f"create {name} with the shape that follows from the inputs",
        )
    recipe.store(value, name)


# ---- element by element -------------------------------------------------------------------------


def _unary(kernel: str, function: Callable[[Any], Any]) -> Callable[[Recipe], None]:
    def recipe_of(recipe: Recipe) -> None:
        x = recipe.contiguous("input")
        value = recipe.kernel(kernel, (x,), (), reference=lambda _, values: function(values))
        _store(recipe, value, "output")

    return recipe_of


def _binary(kernel: str, function: Callable[[Any, Any], Any]) -> Callable[[Recipe], None]:
    def recipe_of(recipe: Recipe) -> None:
        operands = (recipe.contiguous("A"), recipe.contiguous("B"))
        try:
            shape = np.broadcast_shapes(*(operand.shape for operand in operands))
        except ValueError:
            raise operator_error(
                PARAM_INVALID,
                recipe.problem.spec.planner,
                "B",
                "does not broadcast with 'A'",
                got=f"{list(operands[1].shape)}, A having {list(operands[0].shape)}",
                expected="sizes that are equal or 1, counted from the last",
                fix="reshape B",
            ) from None
        value = recipe.kernel(
            kernel, operands, (), reference=lambda _, a, b: function(a, b), shape=shape
        )
        _store(recipe, value, "C")

    return recipe_of


# ---- reductions ---------------------------------------------------------------------------------


def reduced_axes(mask: int, rank: int) -> tuple[int, ...]:
    """The axes whose bits are set."""
    return tuple(axis for axis in range(rank) if mask >> axis & 1)


def reduced_shape(shape: tuple[int, ...], mask: int, *, keepdims: bool) -> tuple[int, ...]:
    """What reducing these axes leaves of a shape."""
    gone = reduced_axes(mask, len(shape))
    if keepdims:
        return tuple(1 if axis in gone else size for axis, size in enumerate(shape))
    return tuple(size for axis, size in enumerate(shape) if axis not in gone)


def _reduce(kernel: str, function: Callable[..., Any]) -> Callable[[Recipe], None]:
    def reference(params: tuple[int, ...], values: Any) -> Any:
        return function(values, axis=params)

    def recipe_of(recipe: Recipe) -> None:
        x = recipe.contiguous("data")
        mask, keepdims = recipe.problem.integer("axes"), recipe.problem.integer("keepdims")
        shape = reduced_shape(x.shape, mask, keepdims=bool(keepdims))
        axes = reduced_axes(mask, len(x.shape))
        value = recipe.kernel(kernel, (x,), axes, reference=reference, shape=shape)
        _store(recipe, value, "reduced")

    return recipe_of


def _constant(recipe: Recipe) -> None:
    recipe.store(recipe.contiguous("value"), "output")


_REDUCTION: Final = (
    AttrParam(name="axes", doc="bit i is set when axis i is reduced; 0 reduces nothing"),
    AttrParam(name="keepdims", default=1, doc="1: reduced axes stay with size 1"),
)
_SAME: Final = (same_shape("output", "input"),)

SPECS: Final = (
    _spec(
        "Constant",
        "output = value",
        (_input("value", (*_FLOATS, *_INTEGERS, "BOOL")),),
        _output("output", (*_FLOATS, *_INTEGERS, "BOOL")),
        _constant,
        more_checks=(same_shape("output", "value"),),
    ),
    _spec(
        "Exp", "output = exp(input)", (_input("input"),), _output("output"),
        _unary("onnx_exp", np.exp), more_checks=_SAME,
    ),
    _spec(
        "Log", "output = log(input)", (_input("input"),), _output("output"),
        _unary("onnx_log", np.log), more_checks=_SAME,
    ),
    _spec(
        "Sub", "C = A - B", (_input("A"), _input("B")), _output("C"),
        _binary("onnx_sub", np.subtract),
    ),
    _spec(
        "Div", "C = A / B", (_input("A"), _input("B")), _output("C"),
        _binary("onnx_div", np.divide),
    ),
    _spec(
        "ReduceMax", "reduced = max(data), over axes", (_input("data"),), _output("reduced"),
        _reduce("onnx_reduce_max", partial(np.max, initial=-np.inf)), _REDUCTION,
    ),
    _spec(
        "ReduceSum", "reduced = sum(data), over axes", (_input("data"),), _output("reduced"),
        _reduce("onnx_reduce_sum", np.sum), _REDUCTION,
    ),
)  # fmt: skip
