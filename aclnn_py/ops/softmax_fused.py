# SPDX-License-Identifier: Apache-2.0
"""Softmax with scales, dropout, post operations, mixed types and statistics: specs by `Extras`.

What other vocabularies add to a softmax. The specs have no name of their own at the door; a dialect
gets them there by their `Extras` and does its own checks before.
"""

from __future__ import annotations

from functools import cache, partial
from math import prod
from typing import TYPE_CHECKING, Final, NoReturn

import numpy as np

from aclnn_native import lib
from aclnn_py.core.dtype import by_name
from aclnn_py.core.errors import PARAM_INVALID, operator_error
from aclnn_py.core.extras import Binary, Select
from aclnn_py.core.rules import (
    dim_in_range,
    dtype_in_list,
    not_null,
    rank_at_most,
    same_dtype,
    same_shape,
)
from aclnn_py.core.spec import AttrParam, OpSpec, TensorParam
from aclnn_py.ops._softmax_fused_program import Operation, launches
from aclnn_py.ops._softmax_fused_reference import FusedReference, dropout_mask, stats
from aclnn_py.ops.softmax import (
    around_axis,
    log_softmax_backward_reference,
    log_softmax_reference,
    softmax_backward_reference,
    softmax_reference,
)

if TYPE_CHECKING:
    from aclnn_py.core.dtype import DType
    from aclnn_py.core.extras import Algorithm, Extras
    from aclnn_py.plan.recipe import Recipe, Value

__all__ = ["SPECS", "backward_spec", "forward_spec"]

#: None with a name at the door.
SPECS: Final[tuple[OpSpec, ...]] = ()

_SMALL: Final = ("FLOAT8_E5M2", "FLOAT8_E4M3FN")
_NARROW: Final = ("FLOAT16", "BF16", *_SMALL)
_FORWARD_DTYPES: Final = ("FLOAT", "BF16", "FLOAT16", "INT8", "UINT8", *_SMALL, "DOUBLE")
_BACKWARD_DTYPES: Final = ("FLOAT", "BF16", "FLOAT16", "DOUBLE")
_OPERAND_DTYPES: Final = ("FLOAT", "BF16", "FLOAT16", "INT8", "UINT8", "INT32", *_SMALL)
_CONDITION_DTYPES: Final = ("INT8", "UINT8", "BOOL", "INT32")
_MOST_DIMS: Final = 12
_FLOAT: Final = by_name["FLOAT"]
_DOUBLE: Final = by_name["DOUBLE"]
_AXIS: Final = AttrParam(name="axis", doc="axis of the sums; -r to r - 1, r = rank")


def _input(name: str, dtypes: tuple[str, ...], doc: str) -> TensorParam:
    return TensorParam(name=name, kind="input", dtypes=dtypes, soc_gated=False, doc=doc)


def _output(name: str, dtypes: tuple[str, ...], doc: str) -> TensorParam:
    return TensorParam(name=name, kind="output", dtypes=dtypes, soc_gated=False, doc=doc)


def _tensors(extras: Extras) -> list[TensorParam]:
    """Tensor parameters in order."""
    one = "one element"
    found = [
        _input("src", _FORWARD_DTYPES, "any shape, rank <= 12"),
        _output("dst", _FORWARD_DTYPES, "shape of src, any pairing of dtypes"),
    ]
    if extras.src_scale:
        found.append(_input("src_scale", ("FLOAT",), f"{one}; multiplies the softmax value"))
    if extras.dst_scale:
        found.append(_input("dst_scale", ("FLOAT",), f"{one}; divides the result"))
    if extras.dropout:
        found.append(_input("dropout_probability", ("FLOAT",), f"{one}; of being zeroed"))
        found.append(_input("dropout_seed", ("INT64", "INT32"), one))
        if extras.dropout.has_offset:
            found.append(_input("dropout_offset", ("INT64",), f"{one}; position in the stream"))
        if extras.dropout.has_mask:
            found.append(_output("dropout_mask", ("UINT8",), "shape of dst; 1 where kept"))
    for number, op in enumerate(extras.post_ops):
        if isinstance(op, Binary | Select):
            doc = "rank of dst, each dimension 1 or dst's; the right operand"
            found.append(_input(f"post_op_{number}_src1", _OPERAND_DTYPES, doc))
        if isinstance(op, Select):
            doc = "rank of dst, each dimension 1 or dst's; not 0: the left operand"
            found.append(_input(f"post_op_{number}_src2", _CONDITION_DTYPES, doc))
    if extras.stats:
        found.append(_output("stats", ("FLOAT",), "shape of dst, the axis 1; max + log of the sum"))
    return found


@cache
def forward_spec(extras: Extras) -> OpSpec:
    """The spec of one forward softmax.

    Parameters
    ----------
    extras : Extras
        What it does besides.

    Returns
    -------
    OpSpec
        Tensors ``src``, ``dst``, then those `extras` asks for; attribute ``axis``.

    Notes
    -----
    Empty tensors: nothing runs, nothing is written. A NaN stays in its row. The all -inf row gives
    NaN, or zeros where `extras` says so, each row on its own.
    """
    tensors = _tensors(extras)
    log = extras.algorithm == "log_softmax"
    return OpSpec(
        acl_name="LogSoftmaxForward" if log else "SoftmaxForward",
        dialect="fused",
        formula="dst = round(post_ops(dropout(softmax(src) * src_scale)) / dst_scale)",
        params=(*tensors, _AXIS),
        checks=(
            not_null(*[param.name for param in tensors]),
            dtype_in_list(*[param.name for param in tensors]),
            dim_in_range("axis", "src"),
            rank_at_most(_MOST_DIMS, "src"),
            same_shape("dst", "src"),
        ),
        empty_when=("src",),
        recipe=partial(_forward, extras),
        bound="float32: 1.2e-6 (log: 6e-6) relative or 1.2e-7 absolute before post operations",
        notes=(
            "Computes in float32 and rounds once.",
            "From or to DOUBLE the softmax is in float64, and what follows it in float32.",
            "To INT8 and UINT8: clamp, then nearest even; NaN gives 0.",
        ),
        source="oneDNN 3.14, softmax primitive and its attributes",
    )


@cache
def backward_spec(algorithm: Algorithm) -> OpSpec:
    """The spec of one backward softmax whose result has a dtype of its own.

    Parameters
    ----------
    algorithm : {"softmax", "log_softmax"}
        What the forward computed.

    Returns
    -------
    OpSpec
        Tensors ``diff_dst``, ``dst``, ``diff_src``; attribute ``axis``. Three equal dtypes are one
        step; otherwise computed in float32 (DOUBLE in float64) and rounded once.
    """
    log = algorithm == "log_softmax"
    formula = "diff_dst - exp(dst) * S" if log else "dst * (diff_dst - S)"
    return OpSpec(
        acl_name="LogSoftmaxBackward" if log else "SoftmaxBackward",
        dialect="fused",
        formula=f"diff_src = {formula}, S = sum of diff_dst{'' if log else ' * dst'} along axis",
        params=(
            _input("diff_dst", _BACKWARD_DTYPES, "any shape, rank <= 12"),
            _input("dst", _BACKWARD_DTYPES, "shape and dtype of diff_dst; the forward's result"),
            _output("diff_src", _BACKWARD_DTYPES, "shape of diff_dst, any of the dtypes"),
            _AXIS,
        ),
        checks=(
            not_null("diff_dst", "dst", "diff_src"),
            dtype_in_list("diff_dst", "dst", "diff_src"),
            dim_in_range("axis", "diff_dst"),
            rank_at_most(_MOST_DIMS, "diff_dst"),
            same_shape("dst", "diff_dst"),
            same_shape("diff_src", "diff_dst"),
            same_dtype("dst", "diff_dst"),
        ),
        empty_when=("diff_dst",),
        recipe=partial(_backward, algorithm),
        bound="float32: 4.8e-6 (log: 2.4e-5) relative or 1.2e-7 absolute",
        notes=("Computes in float32 (DOUBLE in float64) and rounds once.",),
        source="oneDNN 3.14, softmax primitive",
    )


def _refuse(recipe: Recipe, name: str, what: str, got: object, expected: str) -> NoReturn:
    raise operator_error(
        PARAM_INVALID,
        recipe.problem.spec.planner,
        name,
        what,
        got=str(got),
        expected=expected,
        fix=f"give {name} what is expected",
    )


def _check_shapes(recipe: Recipe, axis: int) -> None:
    dst = recipe.desc("dst").shape
    reduced = tuple([1 if number == axis else size for number, size in enumerate(dst)])
    for param in recipe.problem.spec.tensors[2:]:
        shape = recipe.desc(param.name).shape
        if param.name.startswith("post_op_"):
            fits = len(shape) == len(dst) and all(
                size in (1, full) for size, full in zip(shape, dst, strict=True)
            )
            expected = f"rank {len(dst)}, each dimension 1 or that of {list(dst)}"
        elif param.name == "dropout_mask":
            fits, expected = shape == dst, f"{list(dst)} (the shape of dst)"
        elif param.name == "stats":
            fits, expected = shape == reduced, f"{list(reduced)} (dst with the axis 1)"
        else:
            fits, expected = prod(shape) == 1, "one element"
        if not fits:
            _refuse(recipe, param.name, "has the wrong shape", list(shape), expected)


def _check_double(recipe: Recipe, extras: Extras) -> bool:
    """Whether the softmax runs in double."""
    source, target = recipe.desc("src").dtype.name, recipe.desc("dst").dtype.name
    if "DOUBLE" not in (source, target):
        return False
    if extras.stats or extras.zero_rows == "zero":
        name, got = ("src", source) if source == "DOUBLE" else ("dst", target)
        _refuse(recipe, name, "is DOUBLE", got, "FLOAT, BF16 or FLOAT16 with stats, zero rows")
    return True


def _operations(recipe: Recipe, extras: Extras) -> list[Operation]:
    """Everything that follows the softmax value, in order."""
    found: list[Operation] = []
    if extras.src_scale:
        found.append(Operation("mul", operands=(recipe.contiguous("src_scale"),)))
    if extras.dropout:
        found.append(Operation("dropout", operands=_dropout(recipe, extras)))
    for number, op in enumerate(extras.post_ops):
        names = [f"post_op_{number}_src1"] if isinstance(op, Binary | Select) else []
        names += [f"post_op_{number}_src2"] if isinstance(op, Select) else []
        operands = tuple([recipe.contiguous(name) for name in names])
        found.append(Operation.of(op, operands))
    if extras.dst_scale:
        found.append(Operation("div", operands=(recipe.contiguous("dst_scale"),)))
    return found


def _dropout(recipe: Recipe, extras: Extras) -> tuple[Value, Value]:
    """The probability, and the mask as a tensor."""
    assert extras.dropout is not None
    dst = recipe.desc("dst")
    probability, seed = (
        recipe.contiguous(name) for name in ("dropout_probability", "dropout_seed")
    )
    offset = (recipe.contiguous("dropout_offset"),) if extras.dropout.has_offset else ()
    dims, strides = _memory_dims(dst.shape, dst.strides, dense=dst.is_contiguous)
    params = (dst.numel, seed.dtype.value, len(offset), len(dims), *dims, *strides)
    mask = recipe.kernel(
        "dropout_mask",
        (probability, seed, *offset),
        params,
        reference=partial(_mask_reference, dims, strides),
        shape=dst.shape,
        dtype=by_name["UINT8"],
    )
    return probability, mask


def _mask_reference(
    dims: tuple[int, ...], strides: tuple[int, ...], params: tuple[int, ...], *inputs: object
) -> object:
    index = np.zeros(dims, np.int64)
    for axis, (size, stride) in enumerate(zip(dims, strides, strict=True)):
        along = [1] * len(dims)
        along[axis] = size
        index = index + (np.arange(size, dtype=np.int64) * stride).reshape(along)
    return dropout_mask(index, params, *inputs)


def _memory_dims(
    shape: tuple[int, ...], strides: tuple[int, ...], *, dense: bool
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Dimensions and strides [elements], neighbours merged that follow each other in memory."""
    if dense:
        return (prod(shape),), (1,)
    merged: list[tuple[int, int]] = []
    for size, stride in zip(shape, strides, strict=True):
        if size == 1:
            continue
        if merged and merged[-1][1] == stride * size:
            merged[-1] = (merged[-1][0] * size, stride)
        else:
            merged.append((size, stride))
    return tuple([size for size, _ in merged]), tuple([stride for _, stride in merged])


def _forward(extras: Extras, recipe: Recipe) -> None:
    src, dst = recipe.desc("src"), recipe.desc("dst")
    rank = len(src.shape)
    axis = recipe.problem.integer("axis") % rank if rank else 0
    _check_shapes(recipe, axis)
    double = _check_double(recipe, extras)
    geometry = around_axis(src.shape, axis)
    x = recipe.contiguous("src")
    if extras.stats:
        _stats(recipe, extras, x, geometry, axis)
    operations = _operations(recipe, extras)
    rounds = extras.accumulation == "dst" and src.dtype is dst.dtype and src.dtype.name in _NARROW
    own = src.dtype is dst.dtype and src.dtype.name in ("FLOAT", "FLOAT16", "BF16", "DOUBLE")
    plain = own and not operations and not rounds and extras.zero_rows == "nan"
    if plain or double:
        log = extras.algorithm == "log_softmax"
        reference = log_softmax_reference if log else softmax_reference
        if double and src.dtype is not _DOUBLE:
            x = _launch(recipe, extras, x, (), [], into=_DOUBLE)
        x = recipe.kernel(extras.algorithm, (x,), geometry, reference=reference, leading=axis)
        if operations or x.dtype is not dst.dtype:
            x = _launch(recipe, extras, x, (), operations)
    else:
        x = _launch(recipe, extras, x, geometry, operations, dst.dtype if rounds else None)
    recipe.store(x, "dst")
    if extras.dropout and extras.dropout.has_mask:
        mask = next(op.operands[1] for op in operations if op.name == "dropout")
        recipe.store(mask, "dropout_mask")


def _flags(extras: Extras, round_to: DType | None) -> int:
    flags: int = lib.ACLPY_FUSED_LOG if extras.algorithm == "log_softmax" else 0
    flags |= lib.ACLPY_FUSED_ZERO_ROWS if extras.zero_rows == "zero" else 0
    flags |= round_to.value << lib.ACLPY_FUSED_ROUND_SHIFT if round_to else 0
    return flags


def _launch(
    recipe: Recipe,
    extras: Extras,
    x: Value,
    geometry: tuple[int, ...],
    operations: list[Operation],
    round_to: DType | None = None,
    into: DType | None = None,
) -> Value:
    """softmax_fused (post_ops where there is no geometry), then post_ops for what is left over."""
    shape, target = x.shape, into or recipe.desc("dst").dtype
    parts = launches(operations)
    for number, part in enumerate(parts):
        to = target if number == len(parts) - 1 else _FLOAT
        fused = geometry if number == 0 else ()
        reference = FusedReference(
            geometry=fused,
            shape=shape,
            algorithm=extras.algorithm,
            zero_rows=extras.zero_rows == "zero",
            round_to=round_to,
            target=to,
            operations=tuple(
                [(op.name, op.alpha, op.beta, len(op.operands)) for op in part.operations]
            ),
        )
        head = (*fused, _flags(extras, round_to)) if fused else (prod(shape),)
        x = recipe.kernel(
            "softmax_fused" if fused else "post_ops",
            (x, *part.operands),
            (*head, *part.program(shape, x.dtype, to)),
            reference=reference,
            dtype=to,
        )
    return x


def _stats(recipe: Recipe, extras: Extras, x: Value, geometry: tuple[int, ...], axis: int) -> None:
    shape = tuple([1 if number == axis else size for number, size in enumerate(x.shape)])
    zero = extras.zero_rows == "zero"
    found = recipe.kernel(
        "softmax_stats",
        (x,),
        (*geometry, lib.ACLPY_FUSED_ZERO_ROWS if zero else 0, x.dtype.value),
        reference=partial(stats, zero),
        shape=shape,
        dtype=_FLOAT,
    )
    recipe.store(found, "stats")


def _backward(algorithm: Algorithm, recipe: Recipe) -> None:
    log = algorithm == "log_softmax"
    desc, target = recipe.desc("diff_dst"), recipe.desc("diff_src").dtype
    axis = recipe.problem.integer("axis") % desc.rank if desc.rank else 0
    inputs = [recipe.contiguous("diff_dst"), recipe.contiguous("dst")]
    if target is not desc.dtype and desc.dtype.name != "DOUBLE":
        inputs = [
            recipe.cast(value, _FLOAT, name)
            for value, name in zip(inputs, ("diff_dst", "dst"), strict=True)
        ]
    result = recipe.kernel(
        f"{algorithm}_backward",
        tuple(inputs),
        around_axis(desc.shape, axis),
        reference=log_softmax_backward_reference if log else softmax_backward_reference,
        leading=axis,
    )
    recipe.store(recipe.cast(result, target, "diff_src"), "diff_src")
