# SPDX-License-Identifier: Apache-2.0
"""Graphs and how they are cut: add_op, finalize, get_partitions, the fusion chain (section 2)."""

from __future__ import annotations

import numpy as np
import pytest

from aclnn_py.dialects import onednn_graph as dnnl
from aclnn_py.dialects.onednn_graph.fusion import MOST_FUSED
from aclnn_py.dialects.onednn_graph.schemas import BINARY, UNARY
from support.cases import shown
from support.onednn import refused
from support.onednn_graph import ANY, KIND, PARAMETERS, Chain, graph_of, lt, op, partitions

DEBUG = dnnl.partition.policy.debug


def kinds(parts):
    """Names of the operators, partition by partition."""
    names = {}
    for part in parts:
        names[part.get_id()] = repr(part).partition(": ")[2].rstrip(">").split(" -> ")
    return [names[number] for number in sorted(names)]


# ---- logical tensors ----------------------------------------------------------------------------


def test_logical_tensors_say_what_is_known():
    nothing, rank, some = lt(1), lt(1, "f32", 2), lt(1, "f32", (3, dnnl.DNNL_GRAPH_UNKNOWN_DIM))
    assert [one.ndims for one in (nothing, rank, some)] == [-1, 2, 2]
    assert not any(one.is_shape_known for one in (nothing, rank, some))
    known = lt(1, "f16", (3, 4))
    assert known.get_dims() == (3, 4)
    assert known.get_strides() == (4, 1)
    assert known.get_mem_size() == 24
    assert lt(1, "f32", (3, 4), (1, 8)).get_mem_size() == 4 * 32
    assert lt(1, "f32", ()).get_mem_size() == 4
    assert lt(1, "f32", (0, 4)).get_mem_size() == 0
    assert known == lt(1, "f16", (3, 4), (4, 1))
    assert known.is_equal(lt(1, "f16", (3, 4), ptype=dnnl.property_type.constant))
    assert not known.is_equal(lt(2, "f16", (3, 4)))
    assert known.has_same_shape_and_layout(lt(2, "f32", (3, 4)))


@pytest.mark.parametrize("one", [lt(1), lt(1, "f32", 2), lt(1, "f32", (2, 3), ANY)], ids=repr)
def test_a_size_that_is_not_known(one):
    with refused("invalid_shape"):
        one.get_mem_size()


UNKNOWN = dnnl.DNNL_GRAPH_UNKNOWN_DIM
NO_MEMORY = [
    (lt(0, "f32", (2**40, 2**40)), "invalid_arguments", "dims", "is too large"),
    # Strides that would do for u8.
    (lt(0, "f32", (2, 3), (2**56, 1)), "invalid_arguments", "layout", "reach too far"),
    (lt(0, "undef", (2, 3)), "invalid_arguments", "dtype", "names no element type"),
    (lt(0, "s4", (2, 3)), "unimplemented", "dtype", "packed 4-bit"),
    (lt(0, "f32"), "invalid_shape", "dims", "dimensions open"),
    (lt(0, "f32", (2, UNKNOWN)), "invalid_shape", "dims", "dimensions open"),
    (lt(0, "f32", (2, 3), ANY), "invalid_shape", "layout", "layout open"),
    (lt(0, "f32", (2, 3), (UNKNOWN, 1)), "invalid_shape", "layout", "strides open"),
]


@pytest.mark.parametrize(("one", "status", "field", "what"), NO_MEMORY, ids=repr)
def test_what_has_no_memory_is_called_by_the_graph_s_names(one, status, field, what):
    engine = dnnl.engine(dnnl.engine_kind.cpu, 0)
    for call, function, argument in (
        (one.get_mem_size, "logical_tensor.get_mem_size", field),
        (lambda: dnnl.tensor(one, engine), "tensor", "lt"),
    ):
        with refused(status, f"^{argument}$") as caught:
            call()
        assert caught.value.function == function
        assert what in str(caught.value)
        assert "memory_desc" not in str(caught.value)


def test_a_tensor_without_an_engine():
    with refused("invalid_arguments", "engine") as caught:
        dnnl.tensor(lt(0, "f32", (2, 3)), None)
    assert caught.value.function == "tensor"


BAD = [
    ("tid", {"tid": -1}), ("tid", {"tid": 2**64}), ("tid", {"tid": "0"}),
    ("dtype", {"dtype": "f32"}), ("dtype", {"dtype": 77}),
    ("dims", {"dims": (1,) * 13}), ("dims", {"dims": 13}), ("dims", {"dims": -2}),
    ("dims", {"dims": 2**40}), ("dims", {"dims": 2**63}), ("dims", {"dims": True}),
    ("dims", {"dims": (-1, 2)}), ("dims", {"dims": (2.5,)}), ("dims", {"dims": object()}),
    ("dims", {"dims": (2**63,)}), ("layout", {"layout": 9}), ("layout", {"layout": (1,)}),
    ("layout", {"layout": (-1, 1)}), ("layout", {"layout": ("a", "b")}),
    ("layout", {"layout": (1, 1)}), ("layout", {"layout": (2**61, 1)}), ("ptype", {"ptype": 9}),
    ("ptype", {"ptype": dnnl.property_type.host_scalar}),
    ("layout_id", {"layout": dnnl.layout_type.opaque}),
    ("layout_id", {"layout": dnnl.layout_type.opaque, "layout_id": 5}),
    ("layout", {"layout": dnnl.property_type.variable}),
    ("layout", {"dims": dnnl.layout_type.any, "layout": dnnl.layout_type.any}),
    ("dims", {"dims": dnnl.property_type.variable}),
    ("layout_id", {"dims": dnnl.layout_type.opaque}),
    ("layout_id", {"layout_id": 1}), ("layout_id", {"layout_id": np.array([0, 1])}),
    # What has no order, more axes than one, or is one value though made of many.
    *[(name, {name: value}) for name in ("dims", "layout") for value in (
        {3: 2, 1: 4}, {3, 1}, frozenset([3, 1]), {3: 2, 1: 4}.keys(), b"\3\1", bytearray(b"\3\1"),
    )],
    *[("dims", {"dims": value}) for value in ({}, set(), b"", "", np.ones((0, 3), int))],
]  # fmt: skip


@pytest.mark.parametrize(("argument", "change"), BAD, ids=shown)
def test_bad_logical_tensors(argument, change):
    call = {"tid": 0, "dtype": dnnl.data_type.f32, "dims": (2, 3), **change}
    with refused("invalid_arguments", f"^{argument}$") as caught:
        dnnl.logical_tensor(**call)
    assert caught.value.function == "logical_tensor"
    assert " tag " not in str(caught.value)


@pytest.mark.parametrize(
    ("dims", "text"),
    [
        (None, "dims with a known rank, or a layout_type"),
        ((), "a layout_type: a scalar has no strides"),
        (3, "3 strides"),
        ((2,), "1 stride "),
    ],
    ids=str,
)
def test_strides_that_do_not_fit_say_why(dims, text):
    with refused("invalid_arguments", "layout") as caught:
        lt(0, "f32", dims, (2, 1))
    assert text in str(caught.value)


LAYOUT, F32 = dnnl.layout_type, dnnl.data_type.f32


@pytest.mark.parametrize("layout", [LAYOUT.undef, LAYOUT.any, LAYOUT.strided])
def test_a_layout_type_in_the_place_of_dims_is_the_layout(layout):
    """The C++ constructor without dimensions; the layout's number is no rank."""
    one = dnnl.logical_tensor(0, F32, layout)
    assert one == dnnl.logical_tensor(0, F32, None, layout)
    assert (one.ndims, one.get_layout_type()) == (-1, layout)
    opaque = dnnl.logical_tensor(0, F32, LAYOUT.opaque, layout_id=1)
    assert (opaque.ndims, opaque.get_layout_id()) == (-1, 1)


@pytest.mark.parametrize(
    ("dims", "layout"),
    [
        ((), "undef"), ((None,), "undef"), ((dnnl.DNNL_GRAPH_UNKNOWN_NDIMS,), "undef"),
        ((2,), "strided"), (((2, 3),), "strided"), (((),), "strided"), (((2, UNKNOWN),), "strided"),
    ],
    ids=str,
)  # fmt: skip
def test_without_a_layout(dims, layout):
    """undef as in C++ where nothing is known; with dims C++ has no default."""
    assert dnnl.logical_tensor(0, F32, *dims).get_layout_type() is LAYOUT[layout]


@pytest.mark.parametrize("number", [0, 1, 2, 3, 2**70, np.int64(1), True], ids=repr)
def test_a_number_is_no_layout(number):
    with refused("invalid_arguments", "^layout$") as caught:
        dnnl.logical_tensor(0, F32, (2, 3), number)
    for said in ("layout_type.undef, any, strided or opaque", "layout_id=", "query_logical_tensor"):
        assert said in str(caught.value)


def test_the_way_to_an_opaque_id():
    with refused("invalid_arguments", "^layout$") as caught:
        lt(0, "f32", (2, 3)).get_layout_id()
    assert "compiled_partition.query_logical_tensor(id)" in caught.value.hint
    assert "layout_type.any" in caught.value.hint


@pytest.mark.parametrize(
    ("argument", "given"),
    [
        ("dims", (None, LAYOUT.strided)), ("dims", (np.zeros(3, "f4"), LAYOUT.strided)),
        ("dims", (2, LAYOUT.strided)), ("dims", ((-1,), LAYOUT.any)), ("dims", ((1,) * 13, 1)),
        ("kind", ((2, 3), 5)), ("kind", ((2, 3), None)), ("kind", ((2, 3), (3, 1))),
        ("strides", ((2, 3), LAYOUT.strided, (1,))), ("strides", ((2, 3), LAYOUT.strided, (-3, 1))),
        ("strides", ((2, 3), LAYOUT.strided, None)), ("strides", ((2, 3), LAYOUT.any, (3, 1))),
    ],
    ids=shown,
)  # fmt: skip
def test_with_layout_refuses(argument, given):
    with refused("invalid_arguments", f"^{argument}$") as caught:
        lt(0).with_layout(*given)
    assert caught.value.function == "logical_tensor.with_layout"


def test_with_layout():
    one = dnnl.logical_tensor(0, F32)
    assert one.with_layout([2, 3], 2) == lt(0, "f32", (2, 3))
    assert one.with_layout((2, 3), LAYOUT.strided, (1, 2)) == lt(0, "f32", (2, 3), (1, 2))
    assert one.with_layout((2, 3), ANY) == lt(0, "f32", (2, 3), ANY)


def test_a_name_in_the_place_of_inputs():
    """The C++ constructor without tensors."""
    one = dnnl.op(5, KIND.SoftMax, "mine")
    assert (one.verbose_name, one.inputs, one.outputs) == ("mine", (), ())
    assert dnnl.op(5, KIND.SoftMax, "").verbose_name == "SoftMax_5"
    for more in ({"outputs": [lt(1)]}, {"outputs": 5}, {"verbose_name": "another"}):
        with refused("invalid_arguments", "^inputs$"):
            dnnl.op(5, KIND.SoftMax, "mine", **more)


def test_a_rank_as_a_numpy_integer():
    assert lt(0, "f32", np.int64(3)).ndims == 3


@pytest.mark.parametrize("call", ["add_inputs", "add_outputs"])
@pytest.mark.parametrize("tensors", [5, None, [5]], ids=repr)
def test_what_is_no_sequence_of_logical_tensors(call, tensors):
    one = op(0, "SoftMax", [lt(0)], [lt(1)])
    with refused("invalid_arguments"):
        getattr(one, call)(tensors)
    assert (len(one.inputs), len(one.outputs)) == (1, 1)


def test_an_operator_that_reads_what_it_makes():
    with refused("invalid_graph", "op"):
        dnnl.partition(op(0, "SoftMax", [lt(0)], [lt(0)]), dnnl.engine_kind.cpu)


def test_getters_that_do_not_apply():
    for call in (lt(0).get_dims, lt(0, "f32", 2, ANY).get_strides, lt(0).get_layout_id):
        with refused("invalid_arguments"):
            call()


# ---- add_op and finalize ------------------------------------------------------------------------


def test_the_order_of_calls():
    graph = dnnl.graph(dnnl.engine_kind.cpu)
    one = op(0, "SoftMax", [lt(0)], [lt(1)])
    assert graph.add_op(one) is dnnl.status.success
    assert not graph.is_finalized()
    with refused("invalid_graph"):
        graph.get_partitions()
    graph.set_fpmath_mode(dnnl.fpmath_mode.bf16)
    graph.finalize()
    graph.finalize()
    assert graph.is_finalized()
    assert graph.get_fpmath_mode() is dnnl.fpmath_mode.bf16
    other = op(1, "SoftMax", [lt(1)], [lt(2)])
    assert graph.add_op(other, allow_exception=False) is dnnl.status.invalid_graph
    assert graph.add_op(other, False) is dnnl.status.invalid_graph  # noqa: FBT003  # as in C++
    with refused("invalid_graph"):
        graph.add_op(other)
    with refused("invalid_arguments", "allow_exception"):
        graph.add_op(other, "yes")
    with refused("invalid_graph"):
        graph.set_fpmath_mode(dnnl.fpmath_mode.any)
    assert graph.get_op_num() == 1


def test_an_id_that_is_taken():
    graph, one = dnnl.graph(dnnl.engine_kind.cpu), op(0, "SoftMax", [lt(0)], [lt(1)])
    graph.add_op(one)
    assert graph.add_op(one) is dnnl.status.success  # the same again: nothing happens
    assert graph.get_op_num() == 1
    with refused("invalid_graph_op"):
        graph.add_op(op(0, "SoftMax", [lt(0)], [lt(2)]))


INCONSISTENT = {
    "another type": [
        op(0, "SoftMax", [lt(0)], [lt(1)]),
        op(1, "SoftMax", [lt(1, "bf16")], [lt(2)]),
    ],
    "another shape": [
        op(0, "SoftMax", [lt(0)], [lt(1, "f32", (2, 3))]),
        op(1, "Exp", [lt(1, "f32", (3, 2))], [lt(2)]),
    ],
    "two producers": [op(0, "SoftMax", [lt(0)], [lt(1)]), op(1, "Exp", [lt(2)], [lt(1)])],
    "one tensor twice": [op(0, "SoftMax", [lt(0)], [lt(1), lt(1)])],
    "a cycle": [op(0, "SoftMax", [lt(0)], [lt(1)]), op(1, "Exp", [lt(1)], [lt(0)])],
    "itself": [op(0, "SoftMax", [lt(0)], [lt(0)])],
}


@pytest.mark.parametrize("name", INCONSISTENT)
def test_graphs_that_cannot_be(name):
    graph = dnnl.graph(dnnl.engine_kind.cpu)
    for one in INCONSISTENT[name]:
        graph.add_op(one)
    with refused("invalid_graph"):
        graph.finalize()
    assert not graph.is_finalized()
    with refused("invalid_graph"):
        graph.get_partitions()


@pytest.mark.parametrize("kind", ["cpu", 0, dnnl.engine_kind.any, None])
def test_bad_arguments_of_graph(kind):
    with refused("invalid_arguments", "kind"):
        dnnl.graph(kind)


def test_an_unknown_policy():
    with refused("invalid_arguments", "policy"):
        graph_of().get_partitions(3)
    assert graph_of().get_partitions() == []


# ---- fusion (section 2) -------------------------------------------------------------------------


def test_section_2_the_whole_chain():
    chain = Chain().then("Multiply", ("f32", (6,))).then("ReLU").then("TypeCast", dtype="bf16")
    chain.then("Quantize", dtype="u8", scales=[0.1])
    (part,) = chain.partitions()
    assert kinds([part]) == [["SoftMax", "Multiply", "ReLU", "TypeCast", "Quantize"]]
    assert part.is_supported()
    assert part.get_ops() == [0, 1, 2, 3, 4]
    assert part.get_ops_num() == 5
    assert part.get_engine_kind() is dnnl.engine_kind.cpu
    assert [port.id for port in part.get_input_ports()] == [0, 2]
    assert [port.id for port in part.get_output_ports()] == [chain.end.id]


@pytest.mark.parametrize("kind", [one.name for one in (*UNARY, *BINARY)])
def test_section_2_every_operator_fuses(kind):
    operands = [("f32", (6,))] if KIND[kind] in BINARY else []
    chain = Chain().then(kind, *operands, **PARAMETERS.get(kind, {}))
    assert kinds(chain.partitions()) == [["SoftMax", kind]]


@pytest.mark.parametrize("count", [1, MOST_FUSED, MOST_FUSED + 1, 2 * MOST_FUSED + 3])
def test_section_2_up_to_20_operators(count):
    chain = Chain()
    for _ in range(count):
        chain.then("Square")
    first, *rest = chain.partitions()
    assert MOST_FUSED == 20
    assert first.get_ops_num() == 1 + min(count, 20)
    assert first.is_supported()
    assert [part.get_ops_num() for part in rest] == [1] * max(0, count - 20)
    assert not any(part.is_supported() for part in rest)


def test_section_2_twenty_operators_then_a_cast_and_a_quantize():
    chain = Chain()
    for _ in range(20):
        chain.then("Abs")
    chain.then("TypeCast", dtype="f16").then("Quantize", dtype="s8", scales=[1.0])
    assert [part.get_ops_num() for part in chain.partitions()] == [23]


ALONE = {
    "LogSoftmax does not fuse": Chain("LogSoftmax").then("ReLU"),
    "its result is bf16": Chain(dst="bf16", src="bf16").then("Exp", dtype="bf16"),
    "its result is f16, quantized": Chain(dst="f16").then("Quantize", dtype="u8", scales=[1.0]),
    "its result is cast to f32": Chain(dst="bf16").then("TypeCast"),
    "no unary operator of the list": Chain().then("Pow", beta=2.0),
    "Reciprocal is none either": Chain().then("Reciprocal"),
    "the right operand of a division": Chain().then("Divide", ("f32", (6,)), swapped=True),
    "the right operand of a difference": Chain().then("Subtract", ("f32", (6,)), swapped=True),
    "an operand that makes it larger": Chain().then("Add", ("f32", (2, 4, 6))),
    "a dimension that makes it larger": Chain(dims=(1, 6)).then("Add", ("f32", (4, 6))),
    "a sum of another type": Chain().then("Add", ("bf16", (6,)), dtype="bf16"),
}
for _chain in ALONE.values():  # shapes are what tells
    _chain.ops[0].outputs = (lt(1, _chain.ops[0].outputs[0].dtype.name, _chain.dims),)
    _chain.ops[1].inputs = tuple(
        _chain.ops[0].outputs[0] if one.id == 1 else one for one in _chain.ops[1].inputs
    )


@pytest.mark.parametrize("name", ALONE)
def test_section_2_what_does_not_fuse(name):
    first, second = ALONE[name].partitions()
    assert (first.get_ops_num(), second.get_ops_num()) == (1, 1)
    assert first.is_supported()
    assert not second.is_supported()


def test_section_2_commutative_operands_either_way():
    for kind in ("Add", "Multiply", "Maximum", "Minimum"):
        chain = Chain().then(kind, ("f32", (6,)), swapped=True)
        assert kinds(chain.partitions()) == [["SoftMax", kind]]


def test_section_2_what_comes_after_the_end():
    chain = Chain().then("TypeCast", dtype="bf16").then("Exp", dtype="bf16")
    assert kinds(chain.partitions()) == [["SoftMax", "TypeCast"], ["Exp"]]
    chain = Chain().then("Quantize", dtype="u8", scales=[1.0])
    chain.ops.append(op(9, "End", [chain.end], []))
    assert kinds(chain.partitions()) == [["SoftMax", "Quantize"], ["End"]]


def test_a_value_that_something_else_reads_ends_the_chain():
    chain = Chain().then("ReLU").then("Exp")
    between = chain.ops[1].outputs[0]
    chain.ops.append(op(9, "End", [between], []))
    assert kinds(chain.partitions()) == [["SoftMax", "ReLU"], ["Exp"], ["End"]]


def test_an_operator_on_twice_the_same_value_does_not_fuse():
    x, y, z = lt(0), lt(1), lt(2)
    parts = partitions(op(0, "SoftMax", [x], [y]), op(1, "Add", [y, y], [z]))
    assert kinds(parts) == [["SoftMax"], ["Add"]]


def test_an_operand_that_waits_for_the_softmax_does_not_fuse():
    x, y, stats, other, z = (lt(number) for number in range(5))
    parts = partitions(
        op(0, "SoftMax", [x], [y, stats]),
        op(1, "Exp", [stats], [other]),
        op(2, "Add", [y, other], [z]),
    )
    assert kinds(parts) == [["SoftMax"], ["Exp"], ["Add"]]


def test_partitions_that_would_wait_for_each_other():
    a, b, sa, sb = lt(0), lt(1), lt(2), lt(3)
    parts = partitions(
        op(0, "SoftMax", [a], [lt(10), sa]),
        op(1, "SoftMax", [b], [lt(11), sb]),
        op(2, "Add", [lt(10), sb], [lt(12)]),
        op(3, "Add", [lt(11), sa], [lt(13)]),
    )
    done = {0, 1}
    for part in parts:  # each can run after those before it
        assert {port.id for port in part.get_input_ports()} <= done
        done |= {port.id for port in part.get_output_ports()}
    assert sorted(len(group) for group in kinds(parts)) == [1, 1, 2]


def test_partitions_come_in_an_order_in_which_they_can_run():
    """Operators may be added in any order."""
    later = op(1, "SoftMax", [lt(1)], [lt(2)])
    first = op(0, "LogSoftmax", [lt(0)], [lt(1)])
    assert [part.get_ops() for part in partitions(later, first)] == [[0], [1]]
    bias = op(5, "Exp", [lt(7)], [lt(8)])  # an operand made elsewhere comes before the chain
    chain = [op(0, "SoftMax", [lt(0)], [lt(1)]), op(1, "Add", [lt(1), lt(8)], [lt(2)])]
    assert [part.get_ops() for part in partitions(*chain, bias)] == [[5], [0, 1]]


def test_policy_debug_takes_operators_one_by_one():
    chain = Chain().then("ReLU").then("TypeCast", dtype="bf16")
    parts = partitions(*chain.ops, policy=DEBUG)
    assert [part.get_ops() for part in parts] == [[0], [1], [2]]
    assert [part.is_supported() for part in parts] == [True, False, False]


def test_a_partition_of_one_operator():
    part = dnnl.partition(op(3, "SoftMax", [lt(0)], [lt(1)]), dnnl.engine_kind.cpu)
    assert part.is_supported()
    assert part.get_ops() == [3]
    with refused("invalid_graph_op"):
        dnnl.partition(op(3, "SoftMax", [], [lt(1)]), dnnl.engine_kind.cpu)
    with refused("invalid_arguments"):
        dnnl.partition(None, dnnl.engine_kind.cpu)
