# SPDX-License-Identifier: Apache-2.0
"""oneDNN Graph's softmax family, in its vocabulary, on this project's planner and kernels.

::

    from aclnn_py.dialects import onednn_graph as dnnl

    x = dnnl.logical_tensor(0, dnnl.data_type.f32, (4, 1000))
    y = dnnl.logical_tensor(1, dnnl.data_type.f32, (4, 1000))
    g = dnnl.graph(dnnl.engine_kind.cpu)
    g.add_op(dnnl.op(0, dnnl.op.kind.SoftMax, [x], [y]).set_attr(dnnl.op.attr.axis, -1))
    g.finalize()
    (part,) = g.get_partitions()

    eng = dnnl.engine(dnnl.engine_kind.cpu, 0)
    compiled = part.compile([x], [y], eng)
    src = dnnl.tensor(compiled.query_logical_tensor(0), eng).write(values)
    dst = dnnl.tensor(compiled.query_logical_tensor(1), eng)
    s = dnnl.stream(eng)
    compiled.execute(s, [src], [dst])
    s.wait()
    result = dst.numpy()

A status other than success is raised as `OneDnnError`: 7 to 10 are the Graph API's own.
"""

from aclnn_py.dialects.onednn import (
    DNNL_MEMORY_ALLOCATE,
    DNNL_MEMORY_NONE,
    OneDnnError,
    data_type,
    engine,
    engine_kind,
    fpmath_mode,
    status,
    stream,
)
from aclnn_py.dialects.onednn_graph.compiled_partitions import compiled_partition
from aclnn_py.dialects.onednn_graph.enums import (
    DNNL_GRAPH_UNKNOWN_DIM,
    DNNL_GRAPH_UNKNOWN_NDIMS,
    layout_type,
    property_type,
)
from aclnn_py.dialects.onednn_graph.graphs import graph
from aclnn_py.dialects.onednn_graph.logical_tensors import logical_tensor
from aclnn_py.dialects.onednn_graph.ops import op
from aclnn_py.dialects.onednn_graph.partitions import partition
from aclnn_py.dialects.onednn_graph.tensors import tensor

__all__ = [
    "DNNL_GRAPH_UNKNOWN_DIM",
    "DNNL_GRAPH_UNKNOWN_NDIMS",
    "DNNL_MEMORY_ALLOCATE",
    "DNNL_MEMORY_NONE",
    "OneDnnError",
    "compiled_partition",
    "data_type",
    "engine",
    "engine_kind",
    "fpmath_mode",
    "graph",
    "layout_type",
    "logical_tensor",
    "op",
    "partition",
    "property_type",
    "status",
    "stream",
    "tensor",
]
