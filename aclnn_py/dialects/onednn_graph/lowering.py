# SPDX-License-Identifier: Apache-2.0
"""From a partition to what the door takes: extras, arguments in order, and constants."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from aclnn_py.core.extras import Binary, Eltwise, Extras
from aclnn_py.dialects.onednn.descriptors import memory_desc
from aclnn_py.dialects.onednn.enums import (
    DNNL_ARG_ATTR_MULTIPLE_POST_OP,
    DNNL_ARG_ATTR_SCALES,
    DNNL_ARG_DST,
    DNNL_ARG_SRC,
    DNNL_ARG_SRC_1,
    data_type,
)
from aclnn_py.dialects.onednn.extras import Argument, backward_arguments
from aclnn_py.dialects.onednn_graph.enums import attr, kind
from aclnn_py.dialects.onednn_graph.fusion import operand_of
from aclnn_py.dialects.onednn_graph.schemas import BACKWARD, BINARY
from aclnn_py.dialects.onednn_graph.shapes import axis_of
from aclnn_py.twophase import fused_backward, fused_forward

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aclnn_py.core.extras import Algorithm, PostOp
    from aclnn_py.dialects.onednn_graph.logical_tensors import logical_tensor
    from aclnn_py.dialects.onednn_graph.ops import op
    from aclnn_py.twophase import Operator

__all__ = ["STATS", "Lowered", "lower"]

#: Where the statistics are among arguments; the primitive has no index for them.
STATS: Final = -1

_SIMPLE: Final = {
    kind.Abs: "abs", kind.Exp: "exp", kind.Log: "log", kind.Mish: "mish", kind.Round: "round",
    kind.Sigmoid: "logistic", kind.Sqrt: "sqrt", kind.Square: "square", kind.Tanh: "tanh",
}  # fmt: skip
_PARAMETERS: Final = {
    kind.Clamp: ("clip", (attr.min, attr.max)),
    kind.Elu: ("elu", (attr.alpha,)),
    kind.HardSigmoid: ("hardsigmoid", (attr.alpha, attr.beta)),
    kind.LeakyReLU: ("relu", (attr.alpha,)),
    kind.SoftPlus: ("soft_relu", (attr.beta,)),
}
_BINARY_NAMES: Final = {
    kind.Add: "add", kind.Multiply: "mul", kind.Maximum: "max", kind.Minimum: "min",
    kind.Divide: "div", kind.Subtract: "sub",
}  # fmt: skip


@dataclass
class Lowered:
    """One call behind the door.

    Attributes
    ----------
    operator : Operator
        What runs.
    axis : int
        From the front.
    arguments : list of Argument
        In the operator's order.
    ids : dict
        Argument index to the id of the tensor that is passed there.
    constants : dict
        Argument index to values that the operators' attributes hold.
    """

    operator: Operator
    axis: int
    arguments: list[Argument] = field(default_factory=list)
    ids: dict[int, int] = field(default_factory=dict)
    constants: dict[int, tuple[float, ...]] = field(default_factory=dict)


def lower(ops: tuple[op, ...], settled: Mapping[int, logical_tensor]) -> Lowered:
    """What runs for a partition.

    Parameters
    ----------
    ops : tuple of op
        An operator of the family, then its chain.
    settled : mapping of int to logical_tensor
        The partition's inputs and outputs by id, shapes and layouts decided.
    """
    head = ops[0]
    descs = {number: one.memory_desc("partition.compile") for number, one in settled.items()}
    axis = axis_of(head, settled[head.inputs[0].id].ndims)
    algorithm: Algorithm = "log_softmax" if head.op_kind.name.startswith("Log") else "softmax"
    if head.op_kind in BACKWARD:
        lowered = _backward(head, axis, descs, algorithm)
    else:
        lowered = _Forward(ops, axis, descs).lowered(algorithm)
    lowered.arguments = [_with_id(one, lowered.ids) for one in lowered.arguments]
    return lowered


def _with_id(argument: Argument, ids: Mapping[int, int]) -> Argument:
    """Callers know tensors by their ids; a constant has none."""
    tid = ids.get(argument.index)
    return argument if tid is None else replace(argument, name=f"tensor {tid} ({argument.name})")


def _backward(
    head: op, axis: int, descs: Mapping[int, memory_desc], algorithm: Algorithm
) -> Lowered:
    diff_dst, dst = (tensor.id for tensor in head.inputs)
    diff_src = head.outputs[0].id
    lowered = Lowered(fused_backward(algorithm), axis)
    lowered.arguments += backward_arguments(descs[dst], descs[diff_dst], descs[diff_src])
    indices = [argument.index for argument in lowered.arguments]
    lowered.ids = dict(zip(indices, (diff_dst, dst, diff_src), strict=True))
    return lowered


class _Forward:
    """A softmax and its chain, turned into post operations one by one."""

    def __init__(self, ops: tuple[op, ...], axis: int, descs: Mapping[int, memory_desc]) -> None:
        self.ops, self.axis, self.descs = ops, axis, descs
        self.post_ops: list[PostOp] = []
        self.operands: list[Argument] = []
        self.ids = {DNNL_ARG_SRC: ops[0].inputs[0].id, DNNL_ARG_DST: ops[-1].outputs[0].id}
        self.constants: dict[int, tuple[float, ...]] = {}
        self.dst = descs[self.ids[DNNL_ARG_DST]]
        self.dst_scale = False
        self.finite = True

    def lowered(self, algorithm: Algorithm) -> Lowered:
        head = self.ops[0]
        end = head.outputs[0].id
        for one in self.ops[1:]:
            self._take(one, end)
            end = one.outputs[0].id
        stats = len(head.outputs) > 1
        to_zero = algorithm == "softmax" and head.get(attr.mode) == "inf_as_zero"
        extras = Extras(
            algorithm=algorithm,
            zero_rows="zero" if to_zero else "nan",
            dst_scale=self.dst_scale,
            post_ops=tuple(self.post_ops),
            stats=stats,
        )
        src = self.descs[self.ids[DNNL_ARG_SRC]]
        arguments = [
            Argument(DNNL_ARG_SRC, "src", src),
            Argument(DNNL_ARG_DST, "dst", self.dst, written=True),
        ]
        if self.dst_scale:
            desc = memory_desc((1,), data_type.f32, "a")
            arguments.append(Argument(DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, "scales", desc))
        arguments += self.operands
        if stats:
            self.ids[STATS] = head.outputs[1].id
            arguments.append(Argument(STATS, "stats", self.descs[self.ids[STATS]], written=True))
        return Lowered(fused_forward(extras), self.axis, arguments, self.ids, self.constants)

    def _take(self, one: op, end: int) -> None:
        if one.op_kind in BINARY:
            other = operand_of(one, end)
            assert other is not None, one
            desc = _of_rank(self.descs[other.id], self.dst.ndims)
            label = f"operand of {one!r}"
            self.ids[self._binary(_BINARY_NAMES[one.op_kind], desc, label)] = other.id
            self.finite = False  # operands may be anything
        elif one.op_kind is kind.Quantize:
            self._quantize(one)
        elif one.op_kind is not kind.TypeCast:  # which dst's type says
            self.post_ops.append(_eltwise(one, finite=self.finite))
            self.finite = self.finite and one.op_kind is not kind.Log

    def _binary(self, name: str, desc: memory_desc, label: str) -> int:
        index = DNNL_ARG_ATTR_MULTIPLE_POST_OP(len(self.post_ops)) | DNNL_ARG_SRC_1
        self.operands.append(Argument(index, label, desc))
        self.post_ops.append(Binary(name))
        return index

    def _quantize(self, one: op) -> None:
        """Saturate(round(t / scale + zp)), with one rounding."""
        scales, zps = one.get(attr.scales), one.get(attr.zps)
        assert isinstance(scales, tuple), scales
        offsets = zps if isinstance(zps, tuple) else (0,) * len(scales)
        if len(scales) == 1 and offsets[0] == 0:
            self.dst_scale = True
            self.constants[DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST] = scales
            return
        per_channel = one.get(attr.qtype) == "per_channel"
        axis = axis_of(one, self.dst.ndims) if per_channel else None
        dims = tuple([len(scales) if number == axis else 1 for number in range(self.dst.ndims)])
        desc = memory_desc(dims, data_type.f32, "abcdefghijkl"[: len(dims)])
        self.constants[self._binary("div", desc, "scales")] = scales
        if any(offsets):
            self.constants[self._binary("add", desc, "zps")] = offsets


def _of_rank(desc: memory_desc, ndims: int) -> memory_desc:
    """The same elements with dimensions of 1 in front, as NumPy broadcasts."""
    missing = ndims - desc.ndims
    if missing <= 0:
        return desc
    strides = (desc.storage_elements,) * missing + desc.strides
    return memory_desc((1,) * missing + desc.dims, desc.data_type, strides)


def _eltwise(one: op, *, finite: bool) -> Eltwise:
    """`finite`: what it is done to is no infinity."""
    if one.op_kind in _SIMPLE:
        return Eltwise(_SIMPLE[one.op_kind])
    if one.op_kind is kind.GELU:
        return Eltwise(str(one.get(attr.mode)))
    if one.op_kind is kind.ReLU:
        # max(x, 0). The primitive's relu multiplies by a slope of 0, and -inf times 0 is NaN; elu
        # multiplies e^x - 1.
        return Eltwise("relu") if finite else Eltwise("elu", 0.0)
    if one.op_kind is kind.HardSwish:
        return Eltwise("hardswish", 1 / 6, 0.5)
    name, parameters = _PARAMETERS[one.op_kind]
    values = [one.get(which) for which in parameters]
    return Eltwise(name, *[float(value) for value in values if isinstance(value, float)])
