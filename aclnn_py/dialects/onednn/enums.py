# SPDX-License-Identifier: Apache-2.0
"""Enumerations and argument indices with oneDNN's names and values."""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import Final, TypeVar

from aclnn_py.core.dtype import DType, by_name
from aclnn_py.dialects.onednn.statuses import refuse, status
from aclnn_runtime.arguments import describe, whole_number

__all__ = [
    "DNNL_ARG_ATTR_DROPOUT_MASK",
    "DNNL_ARG_ATTR_DROPOUT_OFFSET",
    "DNNL_ARG_ATTR_DROPOUT_PROBABILITY",
    "DNNL_ARG_ATTR_DROPOUT_SEED",
    "DNNL_ARG_ATTR_MULTIPLE_POST_OP",
    "DNNL_ARG_ATTR_POST_OP_BASE",
    "DNNL_ARG_ATTR_SCALES",
    "DNNL_ARG_ATTR_ZERO_POINTS",
    "DNNL_ARG_DIFF_DST",
    "DNNL_ARG_DIFF_SRC",
    "DNNL_ARG_DST",
    "DNNL_ARG_SCRATCHPAD",
    "DNNL_ARG_SRC",
    "DNNL_ARG_SRC_1",
    "DNNL_ARG_SRC_2",
    "DNNL_ARG_WORKSPACE",
    "DNNL_MAX_NDIMS",
    "DNNL_POST_OPS_LIMIT",
    "DNNL_RUNTIME_DIM_VAL",
    "accumulation_mode",
    "algorithm",
    "data_type",
    "engine_kind",
    "format_kind",
    "fpmath_mode",
    "internal_algorithm",
    "member",
    "prop_kind",
    "scratchpad_mode",
    "stream_flags",
    "table_row",
]

DNNL_MAX_NDIMS: Final = 12
DNNL_RUNTIME_DIM_VAL: Final = -(2**63)

DNNL_ARG_SRC: Final = 1
DNNL_ARG_SRC_1: Final = 2
DNNL_ARG_SRC_2: Final = 3
DNNL_ARG_DST: Final = 17
DNNL_ARG_WORKSPACE: Final = 64
DNNL_ARG_SCRATCHPAD: Final = 80
DNNL_ARG_DIFF_SRC: Final = 129
DNNL_ARG_DIFF_DST: Final = 145
DNNL_ARG_ATTR_DROPOUT_OFFSET: Final = 507
DNNL_ARG_ATTR_DROPOUT_MASK: Final = 509
DNNL_ARG_ATTR_DROPOUT_PROBABILITY: Final = 510
DNNL_ARG_ATTR_DROPOUT_SEED: Final = 511
DNNL_ARG_ATTR_SCALES: Final = 4096
DNNL_ARG_ATTR_ZERO_POINTS: Final = 8192
DNNL_ARG_ATTR_POST_OP_BASE: Final = 32768


#: Entries that a sequence of post-ops takes.
DNNL_POST_OPS_LIMIT: Final = 32


def DNNL_ARG_ATTR_MULTIPLE_POST_OP(index: int) -> int:
    """The index to combine with ``DNNL_ARG_SRC_1`` or ``DNNL_ARG_SRC_2`` for one post-op.

    Raises
    ------
    OneDnnError
        invalid_arguments for what is no index of a post-op, 0 to 31.
    """
    number = whole_number(index)
    if number is None or not 0 <= number < DNNL_POST_OPS_LIMIT:
        refuse(
            status.invalid_arguments,
            "DNNL_ARG_ATTR_MULTIPLE_POST_OP",
            "index",
            "is no index of a post-op",
            got=describe(index),
            expected=f"an integer from 0 to {DNNL_POST_OPS_LIMIT - 1}",
            fix="count the post-ops from 0 in the order they were appended",
        )
    return DNNL_ARG_ATTR_POST_OP_BASE * (number + 1)


class engine_kind(IntEnum):
    """Where primitives run."""

    any = 0
    cpu = 1
    gpu = 2


class stream_flags(IntEnum):
    """How a stream runs what it is given."""

    in_order = 1
    out_of_order = 2
    profiling = 4


class format_kind(IntEnum):
    """What a memory descriptor says of the layout."""

    undef = 0
    any = 1
    blocked = 2
    host_scalar = 5


class data_type(IntEnum):
    """Element types."""

    undef = 0
    f16 = 1
    bf16 = 2
    f32 = 3
    s32 = 4
    s8 = 5
    u8 = 6
    f64 = 7
    boolean = 8
    f8_e5m2 = 9
    f8_e4m3 = 10
    s4 = 11
    u4 = 12
    e8m0 = 13
    f4_e2m1 = 14
    f4_e3m0 = 15
    s64 = 16


# Names of the same types in the table of core/dtype.py; the packed 4-bit types have no place here.
_TABLE_NAMES: Final = {
    data_type.f16: "FLOAT16",
    data_type.bf16: "BF16",
    data_type.f32: "FLOAT",
    data_type.s32: "INT32",
    data_type.s8: "INT8",
    data_type.u8: "UINT8",
    data_type.f64: "DOUBLE",
    data_type.boolean: "BOOL",
    data_type.f8_e5m2: "FLOAT8_E5M2",
    data_type.f8_e4m3: "FLOAT8_E4M3FN",
    data_type.e8m0: "FLOAT8_E8M0",
    data_type.s64: "INT64",
}


def table_row(kind: data_type) -> DType | None:
    """The row of the dtype table, or None for a type that tensors here cannot have."""
    name = _TABLE_NAMES.get(kind)
    return None if name is None else by_name[name]


class prop_kind(IntEnum):
    """Direction of a primitive."""

    undef = 0
    forward_training = 64
    forward_inference = 96
    forward = 64
    backward = 128
    backward_data = 160
    backward_weights = 192
    backward_bias = 193


class algorithm(IntEnum):
    """The algorithms of softmax, eltwise and binary."""

    undef = 0
    eltwise_relu = 0x20
    eltwise_tanh = 0x21
    eltwise_elu = 0x22
    eltwise_square = 0x23
    eltwise_abs = 0x24
    eltwise_sqrt = 0x25
    eltwise_linear = 0x26
    eltwise_soft_relu = 0x27
    eltwise_hardsigmoid = 0x28
    eltwise_logistic = 0x29
    eltwise_exp = 0x2A
    eltwise_gelu_tanh = 0x2B
    eltwise_swish = 0x2C
    eltwise_log = 0x2D
    eltwise_clip = 0x2E
    eltwise_clip_v2 = 0x2F
    eltwise_pow = 0x30
    eltwise_gelu_erf = 0x31
    eltwise_round = 0x32
    eltwise_mish = 0x33
    eltwise_hardswish = 0x34
    eltwise_relu_use_dst_for_bwd = 0x100
    eltwise_tanh_use_dst_for_bwd = 0x101
    eltwise_elu_use_dst_for_bwd = 0x102
    eltwise_sqrt_use_dst_for_bwd = 0x103
    eltwise_logistic_use_dst_for_bwd = 0x104
    eltwise_exp_use_dst_for_bwd = 0x105
    eltwise_clip_v2_use_dst_for_bwd = 0x106
    binary_add = 0x1FFF0
    binary_mul = 0x1FFF1
    binary_max = 0x1FFF2
    binary_min = 0x1FFF3
    binary_div = 0x1FFF4
    binary_sub = 0x1FFF5
    binary_ge = 0x1FFF6
    binary_gt = 0x1FFF7
    binary_le = 0x1FFF8
    binary_lt = 0x1FFF9
    binary_eq = 0x1FFFA
    binary_ne = 0x1FFFB
    binary_select = 0x1FFFC
    softmax_accurate = 0x30000
    softmax_log = 0x30001


class internal_algorithm(Enum):
    """Algorithms without a public number; the Graph dialect asks for them."""

    softmax_accurate_inf_as_zero = "softmax_accurate_inf_as_zero"


class accumulation_mode(IntEnum):
    """Where sums and intermediates are kept."""

    strict = 0
    relaxed = 1
    any = 2
    s32 = 3
    f32 = 4
    f16 = 5


class fpmath_mode(IntEnum):
    """Which down-conversions of f32 arithmetic are allowed."""

    strict = 0
    bf16 = 1
    f16 = 2
    any = 3
    tf32 = 4


class scratchpad_mode(IntEnum):
    """Who owns a primitive's temporary memory."""

    library = 0
    user = 1


Member = TypeVar("Member", bound=IntEnum)


# What is fine wherever one of the kind is asked for.
_EXAMPLES: Final[dict[type[IntEnum], IntEnum]] = {
    data_type: data_type.f32,
    prop_kind: prop_kind.forward_inference,
    algorithm: algorithm.softmax_accurate,
    stream_flags: stream_flags.in_order,
    accumulation_mode: accumulation_mode.strict,
    fpmath_mode: fpmath_mode.strict,
    engine_kind: engine_kind.cpu,
}


def _example(value: object, kind: type[Member], example: IntEnum | None) -> IntEnum:
    """What may have been meant: a member whose name was given as text, else one that is fine."""
    named = kind.__members__.get(value) if isinstance(value, str) else None
    for found in (named, example, _EXAMPLES.get(kind)):
        if found is not None:  # members may be 0
            return found
    return list(kind)[-1]


def member(
    function: str,
    argument: str,
    value: object,
    kind: type[Member],
    example: IntEnum | None = None,
) -> Member:
    """`value`, an enumerator or its number, as a member of `kind`: invalid_arguments otherwise."""
    foreign = isinstance(value, Enum | bool) and not isinstance(value, kind)
    number = value if isinstance(value, int) else whole_number(value)
    if number is None or foreign or number not in kind._value2member_map_:
        refuse(
            status.invalid_arguments,
            function,
            argument,
            f"is no {kind.__name__}",
            got=describe(value),
            expected=f"a member of {kind.__name__}, or its number",
            fix=f"for example {kind.__name__}.{_example(value, kind, example).name}",
        )
    return kind(number)
