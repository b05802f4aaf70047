# SPDX-License-Identifier: Apache-2.0
"""A truth value is no integer: each face that asks for a number says so with its own error."""

from __future__ import annotations

import numpy as np
import pytest

import aclnn_py as acl
from aclnn_py.dialects import onednn as dnnl
from aclnn_py.dialects import onednn_graph as graph
from aclnn_py.dialects import onnxruntime as ort
from aclnn_py.dialects.onnx_errors import OrtStatus

F32 = dnnl.data_type.f32
CPU = dnnl.engine_kind.cpu
INVALID = dnnl.status.invalid_arguments


def _memory(value):
    desc = dnnl.memory_desc((2, 3), F32, "ab")
    dnnl.memory(desc, dnnl.engine(CPU, 0)).set_data_handle(value)


def _query(value):
    desc = dnnl.memory_desc((2, 3), F32, "ab")
    forward = dnnl.softmax_forward.primitive_desc(
        dnnl.engine(CPU, 0),
        dnnl.prop_kind.forward_inference,
        dnnl.algorithm.softmax_accurate,
        desc,
        desc,
        1,
    )
    forward.query_md(value)


def _onnxruntime(_device, value):
    ones = np.ones((2, 3), np.float32)
    ort.run("SoftmaxGrad_13", ones, ones, value)


CASES = {
    "Device.empty, a size": (161002, lambda device, value: device.empty((value, 3))),
    "Device.empty, the one size": (161002, lambda device, value: device.empty(value)),
    "Tensor.view, shape": (161002, lambda device, value: device.empty(3).view((value, 3))),
    "Tensor.view, offset": (
        161002,
        lambda device, value: device.empty(3).view((1,), offset=value),
    ),
    "Tensor.transpose": (161002, lambda device, value: device.empty((2, 3)).transpose(value, 0)),
    "aclCreateTensor, viewDims": (
        161002,
        lambda _, value: acl.aclCreateTensor((value, 3), acl.ACL_FLOAT, (3, 1), 0, 2, (1, 3), 0),
    ),
    "aclrtMalloc": (100000, lambda _, value: acl.aclrtMalloc(value)),
    "memory_desc, dims": (INVALID, lambda _, value: dnnl.memory_desc((value, 3), F32, "ab")),
    "memory_desc, strides": (INVALID, lambda _, value: dnnl.memory_desc((2, 3), F32, (3, value))),
    "memory.set_data_handle": (INVALID, lambda _, value: _memory(value)),
    "engine, index": (INVALID, lambda _, value: dnnl.engine(CPU, value)),
    "primitive_desc.query_md": (INVALID, lambda _, value: _query(value)),
    "primitive_attr.set_scales, mask": (
        INVALID,
        lambda _, value: dnnl.primitive_attr().set_scales(dnnl.DNNL_ARG_SRC, value),
    ),
    "logical_tensor, id": (INVALID, lambda _, value: graph.logical_tensor(value, F32, (2, 3))),
    "logical_tensor, dims": (INVALID, lambda _, value: graph.logical_tensor(0, F32, (value, 3))),
    "logical_tensor, a rank": (INVALID, lambda _, value: graph.logical_tensor(0, F32, value)),
    "op, id": (INVALID, lambda _, value: graph.op(value, graph.op.kind.SoftMax)),
    "op.set_attr, a list": (
        INVALID,
        lambda _, value: graph.op(0, graph.op.kind.SoftMax).set_attr(graph.op.attr.axis, [value]),
    ),
    "SoftmaxGrad_13, axis": (OrtStatus.ORT_INVALID_GRAPH, _onnxruntime),
}


def status_of(call, device, value):
    try:
        call(device, value)
    except (acl.AclError, dnnl.OneDnnError) as error:
        return error.status, str(error)
    return 0, ""


@pytest.mark.parametrize("value", [True, np.True_], ids=["bool", "numpy.bool"])
@pytest.mark.parametrize("case", CASES)
def test_a_truth_value_is_no_integer(device, case, value):
    wanted, call = CASES[case]
    status, text = status_of(call, device, value)
    assert status == wanted, text
    assert "True" in text  # what was passed, as it was passed


@pytest.mark.parametrize("case", CASES)
def test_an_integer_of_numpy_is_one(device, case):
    _, call = CASES[case]
    assert status_of(call, device, np.int32(1))[0] == status_of(call, device, 1)[0]
