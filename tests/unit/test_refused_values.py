# SPDX-License-Identifier: Apache-2.0
"""Values that are hard to print: each face answers its own error, with a short "got" line."""

from __future__ import annotations

import re

import numpy as np
import pytest

import aclnn_py as acl
from aclnn_py.dialects import onednn as dnnl
from aclnn_py.dialects import onednn_graph as graph
from aclnn_py.dialects import onnx_ops
from aclnn_py.dialects import onnxruntime as ort
from aclnn_py.dialects.onednn.statuses import refuse
from aclnn_py.dialects.onnx_errors import OnnxError, OrtError, OrtStatus


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no text for this object")


UNPRINTABLE = Unprintable()
LARGE = np.zeros((1000, 1000))
SHOWN = [
    (UNPRINTABLE, "Unprintable unprintable"),
    (LARGE, "float64 array of shape (1000, 1000), strides (8000, 8) bytes"),
]


def aclnn_dim(device, value):
    x, out = device.zeros((2, 3)), device.empty((2, 3))
    acl.aclnnSoftmaxGetWorkspaceSize(x, value, out)


def aclnn_tensor(device, value):
    acl.aclnnSoftmaxGetWorkspaceSize(value, 0, device.empty((2, 3)))


def tensor_view(device, value):
    device.zeros((2, 3)).view(value)


def memory_desc(_device, value):
    dnnl.memory_desc(value, dnnl.data_type.f32, "ab")


def logical_tensor(_device, value):
    graph.logical_tensor(0, graph.data_type.f32, value)


def logical_tensor_strides(_device, value):
    graph.logical_tensor(0, graph.data_type.f32, (2, 3), value)


def onnx_tensor(device, value):
    onnx_ops.OPERATORS["Softmax", 13].get_workspace_size(value, device.empty((2, 3)))


def onnx_axis(_device, value):
    onnx_ops.run("Softmax", np.zeros((2, 3), np.float32), value)


def onnx_operator(_device, value):
    onnx_ops.run(value, np.zeros((2, 3), np.float32))


def onnx_opset(_device, value):
    onnx_ops.run("Softmax", np.zeros((2, 3), np.float32), opset=value)


def ort_operator(_device, value):
    ort.run(value, np.zeros((2, 3), np.float32), np.zeros((2, 3), np.float32))


def ort_gradient(device, value):
    ort.OPERATORS["SoftmaxGrad"].get_workspace_size(value, device.empty((2, 3)), None)


def ort_axis(device, value):
    x = device.zeros((2, 3))
    ort.OPERATORS["SoftmaxGrad"].get_workspace_size(x, x, device.empty((2, 3)), value)


def ort_provider(device, value):
    x = device.zeros((2, 3))
    row = ort.OPERATORS["SoftmaxGrad"]
    row.get_workspace_size(x, x, device.empty((2, 3)), provider=value)


FACES = [
    (aclnn_dim, acl.AclnnError, 161002), (aclnn_tensor, acl.AclnnError, 161002),
    (tensor_view, acl.AclnnError, 161002),
    (memory_desc, dnnl.OneDnnError, dnnl.status.invalid_arguments),
    (logical_tensor, dnnl.OneDnnError, dnnl.status.invalid_arguments),
    (logical_tensor_strides, dnnl.OneDnnError, dnnl.status.invalid_arguments),
    (onnx_tensor, OnnxError, 100000), (onnx_axis, OnnxError, 100000),
    (onnx_operator, OnnxError, 100000), (onnx_opset, OnnxError, 100000),
    (ort_operator, OrtError, OrtStatus.ORT_NOT_IMPLEMENTED),
    (ort_gradient, OrtError, OrtStatus.ORT_INVALID_ARGUMENT),
    (ort_axis, OrtError, OrtStatus.ORT_INVALID_GRAPH),
    (ort_provider, OrtError, OrtStatus.ORT_INVALID_ARGUMENT),
]  # fmt: skip


@pytest.mark.parametrize(("value", "shown"), SHOWN, ids=["unprintable", "large"])
@pytest.mark.parametrize(
    ("face", "error", "status"), FACES, ids=[face.__name__ for face, _, _ in FACES]
)
def test_got_line(device, fresh, face, error, status, value, shown):
    with pytest.raises(error) as caught:
        face(device, value)
    assert caught.value.status == status
    text = str(caught.value)
    got = re.search(r"^  got: +(.*)$", text, re.MULTILINE)
    assert got, text
    assert shown in got[1]
    assert len(got[1]) < 120


def onnx_name():
    onnx_ops.run("\udcff", np.zeros((2, 3), np.float32))


def onnxruntime_name():
    ort.run("\udcff", np.zeros((2, 3), np.float32), np.zeros((2, 3), np.float32))


def onednn_line():
    refuse(dnnl.status.runtime_error, "f", "x", "is bad", got="\udcff", expected="y", fix="z")


@pytest.mark.parametrize("face", [onnx_name, onnxruntime_name, onednn_line])
def test_text_with_a_lone_surrogate_can_be_printed(face):
    with pytest.raises((OnnxError, OrtError, dnnl.OneDnnError)) as caught:
        face()
    assert rb"\udcff" in str(caught.value).encode()
