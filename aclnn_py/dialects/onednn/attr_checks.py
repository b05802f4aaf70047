# SPDX-License-Identifier: Apache-2.0
"""Whether softmax supports an attribute: step 8 of making a primitive descriptor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NoReturn

from aclnn_py.dialects.onednn.enums import (
    DNNL_ARG_DST,
    DNNL_ARG_SRC,
    accumulation_mode,
    data_type,
    engine_kind,
    format_kind,
)
from aclnn_py.dialects.onednn.operations import binary_entry, other_entry
from aclnn_py.dialects.onednn.statuses import refuse, status
from aclnn_py.dialects.onednn.tags import natural_tag

if TYPE_CHECKING:
    from aclnn_py.dialects.onednn.attr import Attributes
    from aclnn_py.dialects.onednn.descriptors import memory_desc
    from aclnn_py.dialects.onednn.engines import engine_description

__all__ = ["check_backward", "check_forward"]

_INTEGERS: Final = frozenset({data_type.s8, data_type.u8})
_F8: Final = frozenset({data_type.f8_e5m2, data_type.f8_e4m3})
_OPERANDS: Final = frozenset(
    data_type[name] for name in ["f32", "bf16", "f16", "f8_e5m2", "f8_e4m3", "s8", "u8", "s32"]
)
_ACCUMULATION: Final = frozenset(
    {accumulation_mode.strict, accumulation_mode.relaxed, accumulation_mode.any}
)
_DROPOUT_NDIMS: Final = range(2, 6)


def check_backward(function: str, attr: Attributes) -> None:
    """Refuse every non-default attribute but those that are always accepted."""
    _check_modes(function, attr)
    for name in ("scales", "zero_points", "dropout", "post_ops"):
        if getattr(attr, name):
            _unsupported(
                function,
                f"attr.{name}",
                "is not for the backward pass",
                _shown(attr, name),
                "default attributes (scratchpad, accumulation and fpmath modes apart)",
                "apply it in the forward pass, or beside the primitive",
            )


def _shown(attr: Attributes, name: str) -> str:
    """What an attribute was set to, as far as it helps to find the call that did."""
    if name == "dropout":
        return "dropout"
    if name == "post_ops":
        return f"{len(attr.post_ops)} post-ops" if len(attr.post_ops) > 1 else "1 post-op"
    args = ", ".join(str(arg) for arg, _ in getattr(attr, name))
    return f"{name.replace('_', ' ')} of argument {args}"


def check_forward(
    function: str,
    attr: Attributes,
    engine: engine_description,
    src: memory_desc,
    dst: memory_desc,
) -> None:
    """Refuse what the forward pass does not support."""
    _check_modes(function, attr)
    if attr.zero_points:
        _unsupported(
            function,
            "attr.zero_points",
            "is not supported",
            f"zero points of argument {attr.zero_points[0][0]}",
            "none; an integer source is loaded as its plain value",
            "fold the zero point into the data",
        )
    _check_scales(function, attr, engine, src, dst)
    _check_dropout_mask(function, attr, dst)
    for index, entry in enumerate(attr.post_ops):
        if isinstance(entry, other_entry):
            _unsupported(
                function,
                f"attr.post_ops[{index}]",
                "is of a kind that softmax does not take",
                entry.kind,
                "eltwise or binary",
                "express it with append_eltwise() or append_binary()",
            )
    operands = _binary_operands(attr)  # of any are looked at last
    for name, desc in operands:
        _check_operand(function, name, desc, engine, dst)
    # Whether an implementation takes them is asked when none of them is wrong (section 1.1).
    for name, desc in operands:
        _check_operand_fits(function, name, desc, dst)
    _check_dropout_layout(function, attr, engine, dst)  # an implementation's own limit comes last


def _check_modes(function: str, attr: Attributes) -> None:
    if attr.accumulation not in _ACCUMULATION:
        _unsupported(
            function,
            "attr.accumulation_mode",
            "is not supported",
            attr.accumulation.name,
            "strict, relaxed or any",
            "leave the default, strict",
        )
    if attr.fpmath_to_integers:
        _unsupported(
            function,
            "attr.fpmath_mode",
            "is applied to integers",
            f"{attr.fpmath.name}, apply_to_int",
            "any mode without apply_to_int",
            "leave apply_to_int out",
        )


def _check_scales(
    function: str,
    attr: Attributes,
    engine: engine_description,
    src: memory_desc,
    dst: memory_desc,
) -> None:
    for arg, scale in attr.scales:
        name = f"attr.scales[{arg}]"
        plain = scale.mask == 0 and not scale.groups and scale.element is data_type.f32
        if arg not in (DNNL_ARG_SRC, DNNL_ARG_DST) or not plain:
            _unsupported(
                function,
                name,
                "is not supported",
                f"mask {scale.mask}, groups {scale.groups}, {scale.element.name}",
                "DNNL_ARG_SRC or DNNL_ARG_DST with mask 0: one f32 for the tensor",
                _plain_scale(arg, on_host=scale.on_host),
            )
        if scale.on_host and engine.kind is engine_kind.gpu:
            _unsupported(
                function,
                name,
                "lives on the host, which a GPU engine refuses",
                "a host scalar",
                "a scale in device memory",
                _plain_scale(arg, on_host=False),
            )
        types = {src.data_type, dst.data_type}
        if not types & _INTEGERS and dst.data_type not in _F8:
            _unsupported(
                function,
                name,
                "has no quantised tensor",
                f"{src.data_type.name} -> {dst.data_type.name}",
                "src or dst of s8 or u8, or dst of f8_e5m2 or f8_e4m3",
                "drop the scale, or multiply with a binary or linear post-op",
            )


def _plain_scale(arg: int, *, on_host: bool) -> str:
    """The call that sets what is supported for the same argument: a scale of dst divides."""
    name = "DNNL_ARG_SRC" if arg == DNNL_ARG_SRC else "DNNL_ARG_DST"
    return f"set_host_scale({name})" if on_host else f"set_scales_mask({name}, 0)"


def _check_dropout_layout(
    function: str, attr: Attributes, engine: engine_description, dst: memory_desc
) -> None:
    if attr.dropout is None or engine.kind is not engine_kind.cpu:
        return
    tag = natural_tag(dst.ndims)
    dense = type(dst)(dst.dims, dst.data_type, tag)
    rank_fits = dst.ndims in _DROPOUT_NDIMS
    if not rank_fits or not dst.same_layout(dense):
        _unsupported(
            function,
            "attr.dropout",
            "needs another layout of dst" if rank_fits else "needs another rank of dst",
            repr(dst),
            "ab, abc, abcd or abcde (nc, ncw, nchw, ncdhw)",
            f"make dst row-major ({tag})" if rank_fits else "give the tensors 2 to 5 dimensions",
        )


def _check_dropout_mask(function: str, attr: Attributes, dst: memory_desc) -> None:
    mask = attr.dropout.mask_desc if attr.dropout else None
    if mask is None:
        return
    fits = mask.format_kind is format_kind.any or mask.same_layout(dst)
    if mask.dims != dst.dims or not fits:
        _unsupported(
            function,
            "attr.dropout",
            "has another mask",
            repr(mask),
            f"u8 with the dimensions and layout of {dst!r}",
            "memory_desc(dst.dims, data_type.u8, dst.strides)",
        )


def _binary_operands(attr: Attributes) -> list[tuple[str, memory_desc]]:
    """Those of the binary post-ops, by name."""
    return [
        (f"attr.post_ops[{index}].{name}", desc)
        for index, entry in enumerate(attr.post_ops)
        if isinstance(entry, binary_entry)
        for name, desc in (("src1_desc", entry.src1_desc), ("src2_desc", entry.src2_desc))
        if desc is not None
    ]


def _check_operand(
    function: str, name: str, desc: memory_desc, engine: engine_description, dst: memory_desc
) -> None:
    f64_on_cpu = desc.data_type is data_type.f64 and engine.kind is engine_kind.cpu
    if desc.ndims != dst.ndims or f64_on_cpu:
        refuse(
            status.invalid_arguments,
            function,
            name,
            "is f64, which a CPU engine refuses" if f64_on_cpu else "has another rank than dst",
            got=desc,
            expected=f"{dst.ndims} dimensions, each 1 or that of {dst!r}; not f64 on CPU",
            fix="add dimensions of 1; convert the operand to f32",
        )


def _check_operand_fits(function: str, name: str, desc: memory_desc, dst: memory_desc) -> None:
    whole = name.endswith("src2_desc")
    allowed = all(
        n == wanted or (n == 1 and not whole) for n, wanted in zip(desc.dims, dst.dims, strict=True)
    )
    types = {data_type.s8} if whole else _OPERANDS
    typed = desc.data_type in types
    if not allowed or not typed:
        _unsupported(
            function,
            name,
            "does not fit dst" if typed else f"is {desc.data_type.name}, which no operation takes",
            repr(desc),
            f"s8 with the dimensions of {dst!r}"
            if whole
            else f"dimensions of 1 or those of {dst!r}, of {_names()}",
            "repeat by dimensions of 1; a condition is never repeated"
            if typed
            else f"convert it to {'s8' if whole else 'f32'}",
        )


def _names() -> str:
    return " ".join(sorted(kind.name for kind in _OPERANDS))


def _unsupported(
    function: str, argument: str, what: str, got: str, expected: str, fix: str
) -> NoReturn:
    refuse(status.unimplemented, function, argument, what, got=got, expected=expected, fix=fix)
