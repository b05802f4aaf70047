# SPDX-License-Identifier: Apache-2.0
"""One way to call every dialect: arrays in, an array out, the axis given or left out.

``CALLS[dialect](family, entry, who, arrays, *axis)``: `arrays` is [x] or [gradient, forward
result], `entry` a key of the column's ``axis_defaults``, `who` one of its ``dtypes``.
"""

from __future__ import annotations

import numpy as np

import aclnn_py as acl
from aclnn_py.core import settings
from aclnn_py.dialects import onnx_ops, onnxruntime
from support.onednn_graph import Bench
from support.tensors import planner, runner

OPERATORS = {
    "softmax": "Softmax",
    "log-softmax": "LogSoftmax",
    "softmax-backward": "SoftmaxBackward",
    "log-softmax-backward": "LogSoftmaxBackward",
}


def run_two_phase(device, first, second, tensors, out):
    """Plan, allocate, enqueue, wait."""
    with device.create_stream() as stream:
        size, executor = first(*tensors)
        second(device.malloc(size) if size else None, size, executor, stream)
        stream.synchronize()
    return out.numpy()


def aclnn(family, _entry, who, arrays, *axis):
    name = OPERATORS[family]
    soc = "Ascend310P" if "others" in who else "Ascend910B"
    with acl.Device(0) as device, settings.override(soc=soc):
        tensors = [device.tensor(array) for array in arrays]
        out = device.empty(tensors[0].shape, tensors[0].dtype)
        return run_two_phase(device, planner(name), runner(name), [*tensors, *axis, out], out)


def onnx(family, entry, _who, arrays, *axis):
    row = onnx_ops.OPERATORS[OPERATORS[family], int(entry.removeprefix("version "))]
    with acl.Device(0) as device:
        (x,) = (device.tensor(array) for array in arrays)
        out = device.empty(x.shape, x.dtype)
        return run_two_phase(device, row.get_workspace_size, row.execute, [x, out, *axis], out)


def ort(_family, entry, who, arrays, *axis):
    return onnxruntime.run(entry, *arrays, *axis, provider=f"{who or 'CPU'}ExecutionProvider")


def graph(_family, entry, _who, arrays, *axis):
    return Bench().one(entry, arrays, **dict(zip(["axis"], axis, strict=False)))


CALLS = {"aclnn": aclnn, "oneDNN Graph": graph, "ONNX": onnx, "ONNX Runtime": ort}

try:
    from aclnn_py.dialects import onednn as dnnl
except ImportError:  # not part of this build: its column tells its documentation
    dnnl = None
else:

    def primitive(family, entry, _who, arrays, *axis):
        on = dnnl.engine(dnnl.engine_kind.cpu, 0)
        algorithm = dnnl.algorithm[entry]
        tag = "abcdefghijkl"[: arrays[0].ndim]
        kind = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "float64": "f64"}
        md = dnnl.memory_desc(arrays[0].shape, dnnl.data_type[kind[arrays[0].dtype.name]], tag)
        given = [dnnl.memory(md, on).write(array) for array in arrays]
        result = dnnl.memory(md, on)
        if family.endswith("backward"):
            pd = dnnl.softmax_backward.primitive_desc(on, algorithm, md, md, md, *axis)
            arguments = {dnnl.DNNL_ARG_DIFF_DST: given[0], dnnl.DNNL_ARG_DST: given[1]}
            arguments[dnnl.DNNL_ARG_DIFF_SRC] = result
            made = dnnl.softmax_backward(pd)
        else:
            forward = dnnl.prop_kind.forward_inference
            pd = dnnl.softmax_forward.primitive_desc(on, forward, algorithm, md, md, *axis)
            arguments = {dnnl.DNNL_ARG_SRC: given[0], dnnl.DNNL_ARG_DST: result}
            made = dnnl.softmax_forward(pd)
        stream = dnnl.stream(on)
        made.execute(stream, arguments)
        stream.wait()
        return np.asarray(result.numpy())

    CALLS["oneDNN primitive"] = primitive
