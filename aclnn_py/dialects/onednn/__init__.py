# SPDX-License-Identifier: Apache-2.0
"""oneDNN's softmax primitive, in its vocabulary, on this project's planner and kernels.

::

    from aclnn_py.dialects import onednn as dnnl

    eng = dnnl.engine(dnnl.engine_kind.cpu, 0)
    md = dnnl.memory_desc((4, 1000), dnnl.data_type.f32, "ab")
    pd = dnnl.softmax_forward.primitive_desc(
        eng, dnnl.prop_kind.forward_inference, dnnl.algorithm.softmax_accurate, md, md, 1
    )
    src, dst = dnnl.memory(md, eng).write(x), dnnl.memory(md, eng)
    s = dnnl.stream(eng)
    dnnl.softmax_forward(pd).execute(s, {dnnl.DNNL_ARG_SRC: src, dnnl.DNNL_ARG_DST: dst})
    s.wait()
    y = dst.numpy()

A status other than success is raised as `OneDnnError`.
"""

from aclnn_py.dialects.onednn.attr import primitive_attr
from aclnn_py.dialects.onednn.descriptors import memory_desc
from aclnn_py.dialects.onednn.engines import engine, engine_description, stream
from aclnn_py.dialects.onednn.enums import (
    DNNL_ARG_ATTR_DROPOUT_MASK,
    DNNL_ARG_ATTR_DROPOUT_OFFSET,
    DNNL_ARG_ATTR_DROPOUT_PROBABILITY,
    DNNL_ARG_ATTR_DROPOUT_SEED,
    DNNL_ARG_ATTR_MULTIPLE_POST_OP,
    DNNL_ARG_ATTR_POST_OP_BASE,
    DNNL_ARG_ATTR_SCALES,
    DNNL_ARG_ATTR_ZERO_POINTS,
    DNNL_ARG_DIFF_DST,
    DNNL_ARG_DIFF_SRC,
    DNNL_ARG_DST,
    DNNL_ARG_SCRATCHPAD,
    DNNL_ARG_SRC,
    DNNL_ARG_SRC_1,
    DNNL_ARG_SRC_2,
    DNNL_ARG_WORKSPACE,
    DNNL_MAX_NDIMS,
    DNNL_RUNTIME_DIM_VAL,
    accumulation_mode,
    algorithm,
    data_type,
    engine_kind,
    format_kind,
    fpmath_mode,
    internal_algorithm,
    prop_kind,
    scratchpad_mode,
    stream_flags,
)
from aclnn_py.dialects.onednn.memories import DNNL_MEMORY_ALLOCATE, DNNL_MEMORY_NONE, memory
from aclnn_py.dialects.onednn.operations import post_ops
from aclnn_py.dialects.onednn.softmax import softmax_backward, softmax_forward
from aclnn_py.dialects.onednn.statuses import OneDnnError, status

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
    "DNNL_MEMORY_ALLOCATE",
    "DNNL_MEMORY_NONE",
    "DNNL_RUNTIME_DIM_VAL",
    "OneDnnError",
    "accumulation_mode",
    "algorithm",
    "data_type",
    "engine",
    "engine_description",
    "engine_kind",
    "format_kind",
    "fpmath_mode",
    "internal_algorithm",
    "memory",
    "memory_desc",
    "post_ops",
    "primitive_attr",
    "prop_kind",
    "scratchpad_mode",
    "softmax_backward",
    "softmax_forward",
    "status",
    "stream",
    "stream_flags",
]
