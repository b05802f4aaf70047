# SPDX-License-Identifier: Apache-2.0
"""The oneDNN Graph dialect in tests: graphs of a few operators, run on arrays."""

from __future__ import annotations

import numpy as np

from aclnn_py.dialects import onednn_graph as dnnl
from support.onednn import NUMPY

KIND, ATTR = dnnl.op.kind, dnnl.op.attr
ANY, STRIDED, OPAQUE = (dnnl.layout_type[name] for name in ("any", "strided", "opaque"))
#: Names in the dialect of NumPy's types.
NAMES = {dtype: name for name, dtype in NUMPY.items()}
#: Attributes that operators of the chain need.
PARAMETERS = {
    "Clamp": {"min": 0.0, "max": 1.0}, "Elu": {"alpha": 1.0},
    "HardSigmoid": {"alpha": 0.2, "beta": 0.5}, "LeakyReLU": {"alpha": 0.1},
    "Quantize": {"scales": [0.1]},
}  # fmt: skip


def lt(tid, dtype="f32", dims=None, layout=STRIDED, **options):
    return dnnl.logical_tensor(tid, dnnl.data_type[dtype], dims, layout, **options)


def op(number, kind, inputs, outputs, **attributes):
    made = dnnl.op(number, KIND[kind], inputs, outputs)
    for name, value in attributes.items():
        made.set_attr(ATTR[name], value)
    return made


def graph_of(*ops):
    made = dnnl.graph(dnnl.engine_kind.cpu)
    for one in ops:
        made.add_op(one)
    made.finalize()
    return made


def partitions(*ops, policy=dnnl.partition.policy.fusion):
    return graph_of(*ops).get_partitions(policy)


def part_of(kind, dims=None, dtype="f32", stats=False, **attributes):
    """A partition of one operator; ids 0 and 1 are inputs, 9 the result, 8 the statistics."""
    given = [lt(number, dtype, dims) for number in range(1 + kind.endswith("Backward"))]
    made = [lt(9, dtype), *([lt(8)] if stats else [])]
    (part,) = partitions(op(0, kind, given, made, **attributes))
    return part


def shaped(part, dims, dtype="f32"):
    """Its inputs as logical tensors of one shape."""
    return [lt(port.id, dtype, dims) for port in part.get_input_ports()]


class Chain:
    """SoftMax or LogSoftmax, then operators on its result; edges are numbered as they come."""

    def __init__(self, head="SoftMax", src="f32", dst="f32", dims=(4, 6), **attributes):
        self.dims, self.given, self.outputs = dims, [lt(0, src, dims)], []
        self.end = lt(1, dst)
        self.ops = [op(0, head, self.given, [self.end], **attributes)]
        self.next = 2

    def edge(self, dtype="f32", dims=None):
        self.next += 1
        return lt(self.next - 1, dtype, dims)

    def stats(self):
        self.outputs.append(self.edge())
        self.ops[0].add_output(self.outputs[0])
        return self

    def then(self, kind, *operands, dtype="f32", swapped=False, **attributes):
        """Append an operator; `operands` are (dtype, dims)."""
        others = [self.edge(*one) for one in operands]
        self.given += others
        inputs, made = [self.end, *others], self.edge(dtype)
        inputs = inputs[::-1] if swapped else inputs
        self.ops.append(op(len(self.ops), kind, inputs, [made], **attributes))
        self.end = made
        return self

    def partitions(self):
        return partitions(*self.ops)


class Bench:
    """An engine and a stream."""

    def __init__(self):
        self.engine = dnnl.engine(dnnl.engine_kind.cpu, 0)
        self.stream = dnnl.stream(self.engine)

    def compiled(self, part, inputs=None, outputs=None):
        return part.compile(
            part.get_input_ports() if inputs is None else inputs,
            part.get_output_ports() if outputs is None else outputs,
            self.engine,
        )

    def tensor(self, compiled, tid, values=None):
        made = dnnl.tensor(compiled.query_logical_tensor(tid), self.engine)
        if values is None:
            values = np.full(made.get_logical_tensor().dims, 77)
        return made.write(values)

    def run(self, compiled, inputs, outputs, scratchpad=None):
        compiled.execute(self.stream, inputs, outputs, scratchpad)
        self.stream.wait()
        return [one.numpy() for one in outputs]

    def answer(self, part, arrays, inputs=None, outputs=None):
        """Results in the order of the output ports; `arrays` in that of the input ports."""
        compiled = self.compiled(part, inputs, outputs)
        ports = zip(part.get_input_ports(), arrays, strict=True)
        given = [self.tensor(compiled, port.id, values) for port, values in ports]
        made = [self.tensor(compiled, port.id) for port in part.get_output_ports()]
        return self.run(compiled, given, made)

    def one(self, kind, arrays, dst=None, layout=STRIDED, **attributes):
        """One operator of the family on arrays of one shape; its first result."""
        dims = arrays[0].shape
        given = [lt(i, NAMES[array.dtype], dims) for i, array in enumerate(arrays)]
        made = lt(9, NAMES[arrays[0].dtype] if dst is None else dst, dims, layout)
        (part,) = partitions(op(0, kind, given, [made], **attributes))
        return self.answer(part, arrays)[0]
