# SPDX-License-Identifier: Apache-2.0
"""Enumerations of the Graph API with oneDNN's names and values."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

__all__ = [
    "DNNL_GRAPH_UNKNOWN_DIM",
    "DNNL_GRAPH_UNKNOWN_NDIMS",
    "attr",
    "kind",
    "layout_type",
    "policy",
    "property_type",
]

DNNL_GRAPH_UNKNOWN_NDIMS: Final = -1
DNNL_GRAPH_UNKNOWN_DIM: Final = -(2**63)


class layout_type(IntEnum):
    """What a logical tensor says of its layout."""

    undef = 0
    any = 1
    strided = 2
    opaque = 3


class property_type(IntEnum):
    """Whether a tensor's data may change between executions."""

    undef = 0
    variable = 1
    constant = 2
    host_scalar = 3


class policy(IntEnum):
    """How a graph is cut into partitions: chains, or operators one by one."""

    fusion = 1
    debug = 2


class kind(IntEnum):
    """Operator kinds, spelled as in the C++ interface."""

    Abs = 0
    AbsBackward = 1
    Add = 2
    AvgPool = 3
    AvgPoolBackward = 4
    BatchNormTrainingBackward = 5
    BatchNormForwardTraining = 6
    BatchNormInference = 7
    BiasAdd = 8
    BiasAddBackward = 9
    Clamp = 10
    ClampBackward = 11
    Concat = 12
    Convolution = 13
    ConvolutionBackwardData = 14
    ConvolutionBackwardWeights = 15
    ConvTranspose = 16
    ConvTransposeBackwardData = 17
    ConvTransposeBackwardWeights = 18
    Dequantize = 19
    Divide = 20
    DynamicDequantize = 21
    DynamicQuantize = 22
    Elu = 23
    EluBackward = 24
    End = 25
    Exp = 26
    GELU = 27
    GELUBackward = 28
    HardSwish = 29
    HardSwishBackward = 30
    Interpolate = 31
    InterpolateBackward = 32
    LayerNorm = 33
    LayerNormBackward = 34
    LeakyReLU = 35
    Log = 36
    LogSoftmax = 37
    LogSoftmaxBackward = 38
    MatMul = 39
    Maximum = 40
    MaxPool = 41
    MaxPoolBackward = 42
    Minimum = 43
    Mish = 44
    MishBackward = 45
    Multiply = 46
    PReLU = 47
    PReLUBackward = 48
    Quantize = 49
    Reciprocal = 50
    ReduceL1 = 51
    ReduceL2 = 52
    ReduceMax = 53
    ReduceMean = 54
    ReduceMin = 55
    ReduceProd = 56
    ReduceSum = 57
    ReLU = 58
    ReLUBackward = 59
    Reorder = 60
    Round = 61
    Sigmoid = 62
    SigmoidBackward = 63
    SoftMax = 64
    SoftMaxBackward = 65
    SoftPlus = 66
    SoftPlusBackward = 67
    Sqrt = 68
    SqrtBackward = 69
    Square = 70
    SquaredDifference = 71
    StaticReshape = 72
    StaticTranspose = 73
    Subtract = 74
    Tanh = 75
    TanhBackward = 76
    TypeCast = 77
    Wildcard = 78
    HardSigmoid = 79
    HardSigmoidBackward = 80
    Select = 81
    Pow = 82
    GroupNorm = 83
    GenIndex = 84
    GreaterEqual = 85
    RMSNorm = 86
    Dropout = 87


class attr(IntEnum):
    """Attributes of operators."""

    undef = 0
    alpha = 0x1
    beta = 0x2
    epsilon = 0x3
    max = 0x4
    min = 0x5
    momentum = 0x6
    scales = 0x20
    axis = 0x30
    begin_norm_axis = 0x31
    groups = 0x32
    axes = 0x40
    dilations = 0x41
    dst_shape = 0x42
    kernel = 0x43
    order = 0x44
    output_padding = 0x45
    pads_begin = 0x46
    pads_end = 0x47
    shape = 0x48
    sizes = 0x49
    src_shape = 0x4A
    strides = 0x4B
    weights_shape = 0x4C
    zps = 0x4D
    group_shape = 0x4E
    exclude_pad = 0x60
    keep_dims = 0x61
    keep_stats = 0x62
    per_channel_broadcast = 0x63
    special_zero = 0x64
    transpose_a = 0x65
    transpose_b = 0x66
    use_affine = 0x67
    use_dst = 0x68
    auto_broadcast = 0x80
    auto_pad = 0x81
    coordinate_transformation_mode = 0x82
    data_format = 0x83
    mode = 0x84
    qtype = 0x85
    rounding_type = 0x86
    weights_format = 0x87
    accumulation_mode = 0x88
