# SPDX-License-Identifier: Apache-2.0
"""One gradient in four vocabularies: Ascend's aclnn, oneDNN's primitive and Graph, ONNX Runtime.

Where they agree, the numbers agree. Where they do not, it is the default of the axis, its meaning,
its sign, or the element types; this sample calls each of them the same way and shows the
difference. `aclnn-py dialects softmax-backward` prints the whole comparison.
"""

import ml_dtypes
import numpy as np
from _check import expect, expect_close

import aclnn_py as acl
from aclnn_py.dialects import onednn as dnnl
from aclnn_py.dialects import onednn_graph as dnnl_graph
from aclnn_py.dialects import onnx_ops, onnxruntime

# ---- the four, each called in its own words -----------------------------------------------------


def aclnn(g, y, *axis, log=False):
    """Phase 1 checks, plans and sizes; phase 2 runs on a stream."""
    name = "aclnnLogSoftmaxBackward" if log else "aclnnSoftmaxBackward"
    with acl.Device(0) as device, device.create_stream() as stream:
        out = device.zeros(g.shape, g.dtype)
        planner, run = getattr(acl, f"{name}GetWorkspaceSize"), getattr(acl, name)
        tensors = {"gradOutput": device.tensor(g), "output": device.tensor(y), "out": out}
        size, executor = planner(**tensors, **dict(zip(["dim"], axis, strict=False)))
        run(device.malloc(size) if size else None, size, executor, stream)
        stream.synchronize()
        return out.numpy()


def primitive(g, y, *axis, log=False):
    """A descriptor is made and checked first; tensors come by argument index."""
    engine = dnnl.engine(dnnl.engine_kind.cpu, 0)
    dtype = {"float32": "f32", "bfloat16": "bf16"}[g.dtype.name]
    desc = dnnl.memory_desc(g.shape, dnnl.data_type[dtype], "abcdef"[: g.ndim])
    algorithm = dnnl.algorithm.softmax_log if log else dnnl.algorithm.softmax_accurate
    backward = dnnl.softmax_backward
    planned = backward.primitive_desc(engine, algorithm, desc, desc, desc, *axis)
    result, stream = dnnl.memory(desc, engine), dnnl.stream(engine)
    arguments = {
        dnnl.DNNL_ARG_DIFF_DST: dnnl.memory(desc, engine).write(g),
        dnnl.DNNL_ARG_DST: dnnl.memory(desc, engine).write(y),
        dnnl.DNNL_ARG_DIFF_SRC: result,
    }
    backward(planned).execute(stream, arguments)
    stream.wait()
    return result.numpy()


def through_graph(kind, arrays, **attributes):
    """Operators are added to a graph, which is cut into partitions; shapes may come late."""
    first = arrays[0]
    dtype = dnnl_graph.data_type[{"float32": "f32", "bfloat16": "bf16"}[first.dtype.name]]
    edges = [
        dnnl_graph.logical_tensor(number, dtype, first.shape) for number in range(len(arrays) + 1)
    ]
    inputs, outputs = edges[:-1], edges[-1:]
    node = dnnl_graph.op(0, kind, inputs, outputs)
    for name, value in attributes.items():
        node.set_attr(dnnl_graph.op.attr[name], value)
    whole = dnnl_graph.graph(dnnl_graph.engine_kind.cpu)
    whole.add_op(node)
    whole.finalize()
    (partition,) = whole.get_partitions()
    engine = dnnl_graph.engine(dnnl_graph.engine_kind.cpu, 0)
    compiled = partition.compile(inputs, outputs, engine)
    given = [dnnl_graph.tensor(edge, engine) for edge in inputs]
    for tensor, array in zip(given, arrays, strict=True):
        tensor.write(array)
    result, stream = dnnl_graph.tensor(outputs[0], engine), dnnl_graph.stream(engine)
    compiled.execute(stream, given, [result])
    stream.wait()
    return result.numpy()


def graph(g, y, *axis, log=False):
    """An operator of a graph; the axis is an attribute that may be left out."""
    kind = dnnl_graph.op.kind
    operator = kind.LogSoftmaxBackward if log else kind.SoftMaxBackward
    return through_graph(operator, [g, y], **dict(zip(["axis"], axis, strict=False)))


def ort(g, y, *axis, log=False):
    """A node of a model; the axis is where the tensor is cut into a matrix."""
    name = "LogSoftmaxGrad" if log else "SoftmaxGrad"
    return onnxruntime.run(name, g, y, *axis, provider="CUDAExecutionProvider")


def ort_13(g, y, *axis, log=False):
    """The later node: the axis is a single one."""
    name = "LogSoftmaxGrad_13" if log else "SoftmaxGrad_13"
    return onnxruntime.run(name, g, y, *axis, provider="CUDAExecutionProvider")


FOUR = {
    "aclnn": aclnn,
    "oneDNN primitive": primitive,
    "oneDNN Graph": graph,
    "ORT SoftmaxGrad": ort,
    "ORT SoftmaxGrad_13": ort_13,
}


def ask(title, g, y, *axis, log=False):
    """The same call to all of them: answers and refusals by name."""
    print(f"\n== {title}")
    answers = {}
    for name, call in FOUR.items():
        try:
            answers[name] = call(g, y, *axis, log=log)
            print(f"{name:20} {np.array2string(answers[name].ravel()[:4], precision=4)} ...")
        except (RuntimeError, TypeError) as refusal:  # noqa: PERF203  # each may refuse
            answers[name] = refusal
            text = str(refusal).splitlines()
            print(f"{name:20} refuses: {text[0]} {text[-1].partition('[')[2].rstrip(']')}")
    return answers


def gradient(g, y, axis):
    """The textbook, in float64."""
    g, y = g.astype(np.float64), y.astype(np.float64)
    return y * (g - (g * y).sum(axis=axis, keepdims=True))


# ---- where they agree, and where they do not ----------------------------------------------------

random = np.random.default_rng(0)
g = random.standard_normal((2, 3, 4)).astype(np.float32)
y = random.dirichlet(np.ones(4), (2, 3)).astype(np.float32)  # rows along the last axis sum to 1

for name, answer in ask("the last axis, counted from the front", g, y, 2).items():
    expect_close(name, answer, gradient(g, y, 2), 4.8e-6)

found = ask("the axis left out", g, y)
expect(isinstance(found["aclnn"], TypeError), "aclnn's dim is mandatory")
expect(isinstance(found["oneDNN primitive"], TypeError), "so is the primitive's axis")
expect_close("oneDNN Graph means axis 1 alone", found["oneDNN Graph"], gradient(g, y, 1), 4.8e-6)
cut = gradient(g.reshape(2, 12), y.reshape(2, 12), 1).reshape(g.shape)
expect_close("ORT SoftmaxGrad means axis 1", found["ORT SoftmaxGrad"], cut, 4.8e-6)
expect_close("ORT SoftmaxGrad_13 the last", found["ORT SoftmaxGrad_13"], gradient(g, y, 2), 4.8e-6)

found = ask("axis 1 of three: a single axis, or where a matrix begins", g, y, 1)
expect_close("aclnn", found["aclnn"], gradient(g, y, 1), 4.8e-6)
expect_close("oneDNN primitive", found["oneDNN primitive"], gradient(g, y, 1), 4.8e-6)
expect_close("oneDNN Graph", found["oneDNN Graph"], gradient(g, y, 1), 4.8e-6)
expect_close("ORT SoftmaxGrad_13", found["ORT SoftmaxGrad_13"], gradient(g, y, 1), 4.8e-6)
expect_close("ORT SoftmaxGrad, cut there", found["ORT SoftmaxGrad"], cut, 4.8e-6)
apart = np.abs(found["ORT SoftmaxGrad"] - found["aclnn"]).max()
expect(apart > 0.01, f"the two meanings differ, here by up to {apart:.2g}")

found = ask("axis -1", g, y, -1)
expect_close("aclnn", found["aclnn"], gradient(g, y, 2), 4.8e-6)
expect_close("ORT", found["ORT SoftmaxGrad"], gradient(g, y, 2), 4.8e-6)
expect_close("oneDNN Graph", found["oneDNN Graph"], gradient(g, y, 2), 4.8e-6)
refusal = found["oneDNN primitive"]
expect(isinstance(refusal, dnnl.OneDnnError), "the primitive takes no negative axis")
expect(refusal.status == dnnl.status.invalid_arguments, "its status is invalid_arguments")

half = ml_dtypes.bfloat16
found = ask("log-softmax in bfloat16", g.astype(half), np.log(y).astype(half), 2, log=True)
answers = [answer for answer in found.values() if isinstance(answer, np.ndarray)]
expect(all(np.array_equal(answers[0], answer) for answer in answers), "who answers, agrees")
expect(found["ORT SoftmaxGrad_13"].status_name == "ORT_INVALID_GRAPH", "ORT's log schemas lack it")

print("\n== a row of only -inf")
x = np.array([[-np.inf, -np.inf], [0.0, 1.0]], dtype=np.float32)
probabilities = onnx_ops.run("Softmax", x)
expect(bool(np.isnan(probabilities[0]).all()), "its softmax is NaN, and stays in its row")
ones = np.ones_like(x)
found = ask("its gradient, from NaN", ones, probabilities, 1)
for name, answer in found.items():
    expect(bool(np.isnan(answer[0]).all() and np.isfinite(answer[1]).all()), f"NaN in {name}")
softmax = dnnl_graph.op.kind.SoftMax
plain = through_graph(softmax, [x], axis=1, mode="none")
expect(bool(np.isnan(plain[0]).all()), "so it is in oneDNN Graph, whose mode is none")
zeros = through_graph(softmax, [x], axis=1, mode="inf_as_zero")
expect(not zeros[0].any(), "with its mode inf_as_zero the row is zeros")
expect(np.array_equal(zeros[1], plain[1]), "and the other row is as before")
for name, answer in ask("its gradient, from zeros", ones, zeros, 1).items():
    expect(not answer[0].any(), f"zeros in {name}")
