# SPDX-License-Identifier: Apache-2.0
"""From attributes to what the door takes: extras of the operator, and arguments in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aclnn_py.core.extras import Algorithm, Binary, Dropout, Eltwise, Extras, Select
from aclnn_py.dialects.onednn.descriptors import memory_desc
from aclnn_py.dialects.onednn.enums import (
    DNNL_ARG_ATTR_DROPOUT_MASK,
    DNNL_ARG_ATTR_DROPOUT_OFFSET,
    DNNL_ARG_ATTR_DROPOUT_PROBABILITY,
    DNNL_ARG_ATTR_DROPOUT_SEED,
    DNNL_ARG_ATTR_MULTIPLE_POST_OP,
    DNNL_ARG_ATTR_SCALES,
    DNNL_ARG_DIFF_DST,
    DNNL_ARG_DIFF_SRC,
    DNNL_ARG_DST,
    DNNL_ARG_SRC,
    DNNL_ARG_SRC_1,
    DNNL_ARG_SRC_2,
    accumulation_mode,
    algorithm,
    data_type,
    format_kind,
    internal_algorithm,
)
from aclnn_py.dialects.onednn.operations import binary_entry, eltwise_entry

if TYPE_CHECKING:
    from aclnn_py.dialects.onednn.attr import Attributes
    from aclnn_py.dialects.onednn.operations import Entry

__all__ = ["Argument", "backward_arguments", "forward_arguments", "forward_extras", "log_or_not"]

_INTEGERS: Final = frozenset({data_type.s8, data_type.u8})


@dataclass(frozen=True)
class Argument:
    """One execution argument.

    Attributes
    ----------
    index : int
        Its ``DNNL_ARG_*``.
    name : str
        For texts.
    desc : memory_desc
        What its memory must be.
    written : bool
        Whether it is an output.
    """

    index: int
    name: str
    desc: memory_desc
    written: bool = False


def log_or_not(kind: algorithm | internal_algorithm) -> Algorithm:
    """The operator family's name of an algorithm."""
    return "log_softmax" if kind is algorithm.softmax_log else "softmax"


def forward_extras(
    kind: algorithm | internal_algorithm, attr: Attributes, src: memory_desc, dst: memory_desc
) -> Extras:
    """The extras of a checked forward call."""
    scaled = {arg for arg, _ in attr.scales}
    dropout = attr.dropout
    # Elsewhere the mode changes nothing, and the call stays the plain one.
    in_dst = (
        attr.accumulation is not accumulation_mode.strict
        and src.data_type is dst.data_type
        and src.data_type not in (_INTEGERS | {data_type.f32, data_type.f64})
    )
    to_zero = kind is internal_algorithm.softmax_accurate_inf_as_zero
    return Extras(
        algorithm=log_or_not(kind),
        zero_rows="zero" if to_zero else "nan",
        src_scale=DNNL_ARG_SRC in scaled,
        dst_scale=DNNL_ARG_DST in scaled,
        dropout=Dropout(dropout.use_offset, dropout.mask_desc is not None) if dropout else None,
        post_ops=tuple(_post_op(entry) for entry in attr.post_ops),
        accumulation="dst" if in_dst else "f32",
    )


def _post_op(entry: Entry) -> Eltwise | Binary | Select:
    if isinstance(entry, eltwise_entry):
        return Eltwise(entry.alg.name.removeprefix("eltwise_"), entry.alpha, entry.beta)
    assert isinstance(entry, binary_entry), entry
    if entry.alg is algorithm.binary_select:
        return Select()
    return Binary(entry.alg.name.removeprefix("binary_"))


def forward_arguments(attr: Attributes, src: memory_desc, dst: memory_desc) -> tuple[Argument, ...]:
    """Arguments of a checked forward call in the order of the operator's tensors."""
    found = [Argument(DNNL_ARG_SRC, "src", src), Argument(DNNL_ARG_DST, "dst", dst, written=True)]
    scales = dict(attr.scales)
    for arg, name in ((DNNL_ARG_SRC, "src scale"), (DNNL_ARG_DST, "dst scale")):
        if arg in scales:
            desc = _single(data_type.f32, on_host=scales[arg].on_host)
            found.append(Argument(DNNL_ARG_ATTR_SCALES | arg, name, desc))
    found += _dropout_arguments(attr, dst)
    for index, entry in enumerate(attr.post_ops):
        if isinstance(entry, binary_entry):
            base = DNNL_ARG_ATTR_MULTIPLE_POST_OP(index)
            operand = _definite(entry.src1_desc, dst)
            found.append(Argument(base | DNNL_ARG_SRC_1, f"post-op {index} src1", operand))
            if entry.src2_desc is not None:
                operand = _definite(entry.src2_desc, dst)
                found.append(Argument(base | DNNL_ARG_SRC_2, f"post-op {index} src2", operand))
    return tuple(found)


def _dropout_arguments(attr: Attributes, dst: memory_desc) -> list[Argument]:
    dropout = attr.dropout
    if dropout is None:
        return []
    host = dropout.use_host_scalars
    rows = [
        (DNNL_ARG_ATTR_DROPOUT_PROBABILITY, "dropout probability", data_type.f32),
        (DNNL_ARG_ATTR_DROPOUT_SEED, "dropout seed", dropout.seed_dt),
    ]
    if dropout.use_offset:
        rows.append((DNNL_ARG_ATTR_DROPOUT_OFFSET, "dropout offset", data_type.s64))
    found = [Argument(index, name, _single(kind, on_host=host)) for index, name, kind in rows]
    if dropout.mask_desc is not None:
        mask = _definite(dropout.mask_desc, dst)
        found.append(Argument(DNNL_ARG_ATTR_DROPOUT_MASK, "dropout mask", mask, written=True))
    return found


def backward_arguments(
    dst: memory_desc, diff_dst: memory_desc, diff_src: memory_desc
) -> tuple[Argument, ...]:
    """Arguments of a checked backward call in the order of the operator's tensors."""
    return (
        Argument(DNNL_ARG_DIFF_DST, "diff_dst", diff_dst),
        Argument(DNNL_ARG_DST, "dst", dst),
        Argument(DNNL_ARG_DIFF_SRC, "diff_src", diff_src, written=True),
    )


def _single(kind: data_type, *, on_host: bool) -> memory_desc:
    return memory_desc.host_scalar(kind) if on_host else memory_desc((1,), kind, "a")


def _definite(desc: memory_desc, dst: memory_desc) -> memory_desc:
    return desc.in_order_of(dst) if desc.format_kind is format_kind.any else desc
