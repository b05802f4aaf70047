# SPDX-License-Identifier: Apache-2.0
"""Any graph of softmax and what it fuses with: whatever is supported compiles."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from support.onednn_graph import Bench, lt, op, partitions

DIMS = ((1, 6), (4, 6), (6,), (4, 1), (2, 1, 6), (0, 6))
KINDS = (
    "SoftMax",
    "SoftMax",
    "LogSoftmax",
    "binary",
    "binary",
    "unary",
    "TypeCast",
    "SoftMaxBackward",
)
UNARY = ("Abs", "Exp", "ReLU")
BINARY = ("Add", "Multiply", "Maximum", "Subtract", "Divide")


@pytest.fixture(scope="module")
def bench():
    return Bench()


class Plan:
    """Operators as rows (kind, inputs, outputs); type and true dimensions of each edge."""

    def __init__(self):
        self.rows, self.edges = [], []

    def edge(self, dtype, dims):
        self.edges.append((dtype, dims))
        return len(self.edges) - 1

    def of_type(self, dtype):
        return [number for number, edge in enumerate(self.edges) if edge[0] == dtype]

    def ops(self, stated):
        """Operators whose edges say their dimensions where `stated` has their number."""
        edges = [
            lt(number, dtype, dims if number in stated else None)
            for number, (dtype, dims) in enumerate(self.edges)
        ]
        return [
            op(number, kind, [edges[i] for i in given_], [edges[i] for i in made],
               **({"axis": -1} if kind.startswith("SoftMax") else {}))
            for number, (kind, given_, made) in enumerate(self.rows)
        ]  # fmt: skip

    @property
    def given(self):
        made = {edge for _, _, results in self.rows for edge in results}
        return set(range(len(self.edges))) - made


@st.composite
def plans(draw):
    plan = Plan()
    for _ in range(draw(st.integers(1, 3))):
        plan.edge("f32", draw(st.sampled_from(DIMS)))
    end = 0
    for _ in range(draw(st.integers(3, 12))):
        # Mostly on from the last result, so that chains come about.
        source = end if draw(st.integers(0, 5)) else draw(st.sampled_from(range(len(plan.edges))))
        dtype, dims = plan.edges[source]
        kind = draw(st.sampled_from(KINDS))
        inputs, result = [source], dtype
        if kind == "unary":
            kind = draw(st.sampled_from(UNARY))
        elif kind == "SoftMaxBackward":
            same = [i for i in plan.of_type(dtype) if plan.edges[i][1] == dims]
            inputs.append(draw(st.sampled_from(same)))
        elif kind == "binary":
            kind = draw(st.sampled_from(BINARY))
            dims, other = draw(operands(plan, dtype, dims))
            inputs = draw(st.permutations([source, other]))
        elif kind == "TypeCast":
            result = "bf16" if dtype == "f32" else "f32"
        outputs = [plan.edge(result, dims)]
        end = outputs[0]
        if kind == "SoftMax" and draw(st.booleans()):
            outputs.append(plan.edge("f32", (*dims[:-1], 1)))
        plan.rows.append((kind, inputs, outputs))
    return plan


@st.composite
def operands(draw, plan, dtype, dims):
    """Another operand that broadcasts, new or there already, and the result's dimensions."""
    there = [i for i in plan.of_type(dtype) if broadcast(dims, plan.edges[i][1]) is not None]
    fits = [one for one in DIMS if broadcast(dims, one) is not None]
    other = draw(st.sampled_from(there)) if draw(st.integers(0, 5)) == 1 else None
    if other is None:
        other = plan.edge(dtype, draw(st.sampled_from([*fits, dims])))
    return broadcast(dims, plan.edges[other][1]), other


def broadcast(one, other):
    try:
        return np.broadcast_shapes(one, other)
    except ValueError:
        return None


@given(plan=plans(), data=st.data())
def test_what_is_supported_compiles(bench, plan, data):
    """All inputs say their dimensions, results may; the cut is one and the same."""
    made = sorted(set(range(len(plan.edges))) - plan.given)
    some = set(data.draw(st.lists(st.sampled_from(made), unique=True)))
    cuts = [partitions(*plan.ops(plan.given | stated)) for stated in (set(made), some, set())]
    assert len({tuple(tuple(part.get_ops()) for part in parts) for parts in cuts}) == 1
    for part in (part for part in cuts[-1] if part.is_supported()):
        inputs = [lt(port.id, *plan.edges[port.id]) for port in part.get_input_ports()]
        outputs = part.get_output_ports()
        compiled = bench.compiled(part, inputs, outputs)
        for port in outputs:
            assert compiled.query_logical_tensor(port.id).dims == plan.edges[port.id][1]
