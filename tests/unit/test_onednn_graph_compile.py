# SPDX-License-Identifier: Apache-2.0
"""Compiling partitions: shapes, axis, ports, types, layouts, in-place pairs (section 2)."""

from __future__ import annotations

import numpy as np
import pytest

from aclnn_py.dialects import onednn_graph as dnnl
from support import onednn_oracle as oracle
from support.onednn import refused
from support.onednn_graph import (
    ANY,
    OPAQUE,
    Bench,
    Chain,
    lt,
    op,
    part_of,
    partitions,
    shaped,
)

FAMILY = ("SoftMax", "SoftMaxBackward", "LogSoftmax", "LogSoftmaxBackward")
UNKNOWN = dnnl.DNNL_GRAPH_UNKNOWN_DIM
SHAPE = (3, 4, 5)
X = np.random.default_rng(1).standard_normal(SHAPE).astype(np.float32)


@pytest.fixture(scope="module")
def bench():
    return Bench()


# ---- shapes (section 2, "Shapes") ---------------------------------------------------------------

GIVEN = [
    (None, "inferred"), (3, "inferred"), ((3, UNKNOWN, 5), "inferred"), (SHAPE, "inferred"),
    (2, "invalid_shape"), ((3, 4), "invalid_shape"), ((3, 4, 6), "invalid_shape"),
    ((UNKNOWN, UNKNOWN, 6), "invalid_shape"), ((), "invalid_shape"),
]  # fmt: skip


@pytest.mark.parametrize(("dims", "wanted"), GIVEN, ids=str)
@pytest.mark.parametrize("kind", FAMILY)
def test_section_2_output_shapes(bench, kind, dims, wanted):
    part = part_of(kind)
    if wanted == "invalid_shape":
        with refused(wanted):
            bench.compiled(part, shaped(part, SHAPE), [lt(9, "f32", dims)])
        return
    compiled = bench.compiled(part, shaped(part, SHAPE), [lt(9, "f32", dims)])
    found = compiled.query_logical_tensor(9)
    assert found.get_dims() == SHAPE
    assert found.get_strides() == (20, 5, 1)


def test_section_2_what_the_graph_said_of_shapes(bench):
    """An input or output of the graph must be compatible too."""
    part = part_of("SoftMax", (3, UNKNOWN, 5))
    bench.compiled(part, shaped(part, SHAPE), [lt(9)])
    with refused("invalid_shape"):
        bench.compiled(part, shaped(part, (3, 4, 6)), [lt(9)])
    (part,) = partitions(op(0, "SoftMax", [lt(0)], [lt(9, "f32", (2, 2))]))
    with refused("invalid_shape", r"as add_op\(\) got it"):
        bench.compiled(part, shaped(part, SHAPE), [lt(9)])


@pytest.mark.parametrize(
    ("port", "given", "wanted"),
    [
        ((2, 3), (4, 3), "2x3"),
        ((2, UNKNOWN), (4, 3), "2x?"),
        (3, (4, 3), "?x?x?"),
        ((), (4, 3), "scalar"),
    ],
    ids=str,
)
def test_an_input_of_another_shape_than_the_graph_s(bench, port, given, wanted):
    """What was passed is what was got."""
    with refused("invalid_shape", r"^inputs\[0\]$") as caught:
        bench.compiled(part_of("SoftMax", port), [lt(0, "f32", given)], [lt(9, "f32", given)])
    assert "got:      <logical_tensor 0 f32 4x3 strides (3, 1)>\n" in str(caught.value)
    assert f"expected: {wanted}, as in the graph\n" in str(caught.value)


@pytest.mark.parametrize("dims", [None, 3, (3, UNKNOWN, 5)])
def test_an_input_whose_shape_is_not_known(bench, dims):
    part = part_of("SoftMaxBackward")
    inputs = [lt(0, "f32", SHAPE), lt(1, "f32", dims)]
    for order, label in ((inputs, r"^inputs\[1\]$"), (inputs[::-1], r"^inputs\[0\]$")):
        with refused("invalid_shape", label) as caught:
            bench.compiled(part, order, [lt(9)])
        assert caught.value.hint == "give its dimensions"  # there is nothing to query yet


def test_an_input_whose_strides_are_not_known(bench):
    with refused("invalid_shape", r"^inputs\[0\]$") as caught:
        bench.compiled(part_of("SoftMax"), [lt(0, "f32", SHAPE, (UNKNOWN, 5, 1))], [lt(9)])
    assert caught.value.hint.startswith("give its strides")


LARGE = (2**29, 2**30)


@pytest.mark.parametrize("kind", FAMILY)
def test_inputs_that_are_too_large_are_refused_in_the_graph_s_words(bench, kind):
    part = part_of(kind)
    with refused("invalid_arguments", r"^inputs\[0\]$") as caught:
        bench.compiled(part, shaped(part, LARGE), [lt(9)])
    text = str(caught.value)
    assert text.startswith("partition.compile: argument 'inputs[0]' is too large\n")
    for foreign in ("GetWorkspaceSize", "viewDims", "161002", "memory_desc"):
        assert foreign not in text


@pytest.mark.parametrize("layout", [dnnl.layout_type.strided, ANY])
def test_an_output_that_is_too_large(bench, layout):
    """Of twice the input's size."""
    (part,) = partitions(op(0, "SoftMax", [lt(0, "bf16")], [lt(9, "f32", None, layout)]))
    dims = (2**28, 2**28)
    with refused("invalid_arguments", r"^outputs\[0\]$") as caught:
        bench.compiled(part, [lt(0, "bf16", dims)])
    assert "is too large" in str(caught.value)


@pytest.mark.parametrize("given", [(), ((), {}, None)], ids=str)
def test_only_partitions_make_compiled_ones(given):
    with refused("invalid_arguments") as caught:
        dnnl.compiled_partition(*given)
    assert "cannot be made directly" in str(caught.value)
    assert caught.value.hint == "use partition.compile(inputs, outputs, engine)"


def test_section_2_inferred_strides_are_dense(bench):
    """Row-major, not those of the input."""
    part = part_of("SoftMax")
    compiled = bench.compiled(part, [lt(0, "f32", SHAPE, (1, 3, 12))], [lt(9)])
    assert compiled.query_logical_tensor(0).get_strides() == (1, 3, 12)
    assert compiled.query_logical_tensor(9).get_strides() == (20, 5, 1)


@pytest.mark.parametrize(("axis", "wanted"), [(0, (1, 4, 5)), (1, (3, 1, 5)), (-1, (3, 4, 1))])
def test_section_2_stats_shape(bench, axis, wanted):
    part = part_of("SoftMax", stats=True, axis=axis)
    compiled = bench.compiled(part, shaped(part, SHAPE), [lt(8), lt(9)])
    assert compiled.query_logical_tensor(8).get_dims() == wanted
    with refused("invalid_shape"):
        bench.compiled(part, shaped(part, SHAPE), [lt(8, "f32", SHAPE), lt(9)])


def test_gradients_of_two_shapes(bench):
    """Section 2: the schema does not compare diff_dst and dst; here compilation does."""
    for kind in FAMILY[1::2]:
        part = part_of(kind)
        with refused("invalid_shape"):
            bench.compiled(part, [lt(0, "f32", SHAPE), lt(1, "f32", (3, 4, 6))], [lt(9)])


BROADCAST = [
    ((5,), "numpy", True), ((4, 1), "numpy", True), ((), "numpy", True), (SHAPE, "none", True),
    ((4,), "numpy", False), ((2, 3, 4, 5), "numpy", False), ((5,), "none", False),
]  # fmt: skip


@pytest.mark.parametrize(("dims", "rule", "fine"), BROADCAST, ids=str)
def test_broadcasting_of_operands(bench, dims, rule, fine):
    chain = Chain(dims=None).then("Add", ("f32", None), auto_broadcast=rule)
    (part,) = chain.partitions()
    inputs = [lt(0, "f32", SHAPE), lt(2, "f32", dims)]
    if fine:
        compiled = bench.compiled(part, inputs)
        assert compiled.query_logical_tensor(chain.end.id).get_dims() == SHAPE
        return
    with refused("invalid_shape"):
        bench.compiled(part, inputs)


@pytest.mark.parametrize(("dims", "operand", "fused"), [((3, 4), (1, 4), 2), ((1, 4), (3, 4), 1)])
def test_a_chain_has_the_shape_of_its_input(bench, dims, operand, fused):
    """Results of unknown shape: an operand that enlarges them ends the chain."""
    found = partitions(
        op(0, "SoftMax", [lt(0, "f32", dims)], [lt(1)]),
        op(1, "Add", [lt(1), lt(2, "f32", operand)], [lt(3)]),
    )
    assert len(found[0].get_ops()) == fused
    bench.compiled(found[0])


def test_a_chain_has_the_shape_that_one_of_its_results_tells():
    found = partitions(
        op(0, "SoftMax", [lt(0)], [lt(1)]),
        op(1, "Multiply", [lt(1), lt(2, "f32", (1, 4))], [lt(3, "f32", (1, 4))]),
        op(2, "Add", [lt(3, "f32", (1, 4)), lt(4, "f32", (3, 4))], [lt(5, "f32", (3, 4))]),
    )
    assert [len(part.get_ops()) for part in found] == [2, 1]


def test_scales_for_each_channel(bench):
    for count, fine in ((4, True), (5, False)):
        chain = Chain(dims=SHAPE)
        chain.then("Quantize", dtype="u8", scales=[1.0] * count, qtype="per_channel")
        (part,) = chain.partitions()
        if fine:
            bench.compiled(part)
        else:
            with refused("invalid_shape", "scales"):
                bench.compiled(part)


# ---- axis (section 2: checked late) -------------------------------------------------------------


@pytest.mark.parametrize("stats", [False, True])
@pytest.mark.parametrize("kind", FAMILY)
def test_section_2_the_axis_fails_late(bench, kind, stats):
    """add_op, finalize and get_partitions take any axis; compilation takes [-rank, rank)."""
    stats = stats and kind == "SoftMax"
    for axis in range(-5, 5):
        part = part_of(kind, stats=stats, axis=axis)
        if -3 <= axis < 3:
            bench.compiled(part, shaped(part, SHAPE))
            continue
        with refused("invalid_arguments", "axis"):
            bench.compiled(part, shaped(part, SHAPE))


@pytest.mark.parametrize("kind", FAMILY)
def test_section_2_axis_defaults(bench, kind):
    """1 for SoftMax and its gradient: a vector needs an axis; -1 for the log forms."""
    part = part_of(kind)
    if kind.startswith("Log"):
        bench.compiled(part, shaped(part, (5,)))
    else:
        with refused("invalid_arguments", "axis"):
            bench.compiled(part, shaped(part, (5,)))
    with refused("invalid_arguments", "axis"):  # a scalar has none
        bench.compiled(part, shaped(part, ()))


# ---- ports, types and layouts -------------------------------------------------------------------


def test_ports_by_id(bench):
    part = part_of("SoftMaxBackward")
    g, y = shaped(part, SHAPE)
    out = lt(9)
    bench.compiled(part, [y, g], [out])  # in any order
    for inputs, outputs, argument in (
        ([g], [out], "inputs"),
        ([g, y, y], [out], "inputs"),
        ([g, lt(7, "f32", SHAPE)], [out], "inputs"),
        ([g, y], [], "outputs"),
        ([g, y], [lt(7)], "outputs"),
        ([g, out], [y], "inputs"),
        (None, [out], None),
        ([g, "y"], [out], "inputs"),
        (5, [out], "inputs"),
    ):
        if inputs is not None:
            with refused("invalid_arguments", argument):
                part.compile(inputs, outputs, bench.engine)


@pytest.mark.parametrize("dtype", ["bf16", "undef", "s8"])
def test_types_other_than_the_graph_s(bench, dtype):
    part = part_of("SoftMax")
    with refused("invalid_data_type", "inputs"):
        bench.compiled(part, [lt(0, dtype, SHAPE)], [lt(9)])
    with refused("invalid_data_type", "outputs"):
        bench.compiled(part, shaped(part, SHAPE), [lt(9, dtype)])


@pytest.mark.parametrize("layout", ["undef", "any"])
def test_an_input_needs_a_layout(bench, layout):
    part = part_of("SoftMax")
    with refused("invalid_arguments", "input"):
        bench.compiled(part, [lt(0, "f32", SHAPE, dnnl.layout_type[layout])], [lt(9)])


def test_a_tensor_without_layout_is_an_edge_and_no_port(bench):
    """undef is what C++ makes without a layout: the graph takes it, compilation does not."""
    f32 = dnnl.data_type.f32
    x, y = dnnl.logical_tensor(0, f32), dnnl.logical_tensor(9, f32)
    (part,) = partitions(op(0, "SoftMax", [x], [y]))
    assert part.get_output_ports() == [y]
    known = lt(0, "f32", SHAPE)
    undef = dnnl.logical_tensor(0, f32, SHAPE, dnnl.layout_type.undef)
    for inputs, outputs, label in (
        ([x], [lt(9)], "inputs"),
        ([undef], [lt(9)], "inputs"),
        ([known], [y], "outputs"),
    ):
        with refused("invalid_arguments", rf"^{label}\[0\]$") as caught:
            part.compile(inputs, outputs, bench.engine)
        assert "layout_type.strided" in caught.value.hint
    assert bench.compiled(part, [known], [lt(9)]).query_logical_tensor(9).get_dims() == SHAPE


def test_outputs_that_cannot_be_written(bench):
    part = part_of("SoftMax")
    with refused("invalid_arguments", "output"):
        bench.compiled(part, shaped(part, SHAPE), [lt(9, "f32", None, dnnl.layout_type.undef)])
    with refused("invalid_arguments", "output"):
        bench.compiled(part, shaped(part, SHAPE), [lt(9, "f32", SHAPE, (0, 5, 1))])


def test_engines(bench):
    part = part_of("SoftMax")
    for engine in (None, dnnl.stream(bench.engine), dnnl.engine_kind.cpu):
        with refused("invalid_arguments", "engine"):
            part.compile(shaped(part, SHAPE), [lt(9)], engine)
    graph = dnnl.graph(dnnl.engine_kind.gpu)  # cut without a card, compiled only with one
    graph.add_op(op(0, "SoftMax", [lt(0)], [lt(9)]))
    graph.finalize()
    (part,) = graph.get_partitions()
    with refused("invalid_arguments", "engine"):
        bench.compiled(part, shaped(part, SHAPE))


def test_a_partition_that_is_not_supported(bench):
    (part,) = partitions(op(0, "Exp", [lt(0)], [lt(9)]))
    with refused("invalid_arguments") as caught:
        bench.compiled(part, shaped(part, SHAPE))
    assert "got:      <op 0 Exp>\n" in str(caught.value)
    assert "get_ops()" in caught.value.hint
    assert "is_supported() is true" in caught.value.hint


def test_opaque_layouts(bench):
    """`any` becomes opaque, and what is opaque feeds the next partition."""
    first, second = partitions(
        op(0, "SoftMax", [lt(0)], [lt(1, "f32", None, ANY)], axis=2),
        op(1, "LogSoftmax", [lt(1, "f32", None, ANY)], [lt(2)]),
    )
    one = bench.compiled(first, [lt(0, "f32", SHAPE)])
    middle = one.query_logical_tensor(1)
    assert middle.get_layout_type() is OPAQUE
    assert middle.get_mem_size() == 4 * 60
    again = dnnl.logical_tensor(
        1, dnnl.data_type.f32, SHAPE, OPAQUE, layout_id=middle.get_layout_id()
    )
    assert again == middle
    two = bench.compiled(second, [again])
    x, y, z = bench.tensor(one, 0, X), bench.tensor(one, 1), bench.tensor(two, 2)
    one.execute(bench.stream, [x], [y])
    (got,) = bench.run(two, [y], [z])
    want = oracle.value(oracle.value(X, 2, log=False), 2, log=True)
    np.testing.assert_allclose(got, want, rtol=6e-6)


@pytest.mark.parametrize("strides", [(1, 3, 12), (60, 15, 3), (4, 1, 12), (0, 5, 1)], ids=str)
@pytest.mark.parametrize("kind", FAMILY)
def test_strided_layouts(bench, kind, strides):
    """Inputs with any strides, repeated elements included; outputs with strides of their own."""
    part = part_of(kind, axis=1)
    inputs = [lt(one.id, "f32", SHAPE, strides) for one in part.get_input_ports()]
    made = strides if 0 not in strides else (1, 15, 3)
    y = np.abs(X) if not kind.startswith("Log") else -np.abs(X)
    arrays = [X, y][: len(inputs)]
    if 0 in strides:
        arrays = [np.broadcast_to(one[:1], SHAPE) for one in arrays]
    (got,) = bench.answer(part, arrays, inputs, [lt(9, "f32", SHAPE, made)])
    log = kind.startswith("Log")
    if len(arrays) == 2:
        want, tolerance = oracle.backward(arrays[1], arrays[0], 1, log=log)
    else:
        want, tolerance, _ = oracle.forward(arrays[0], 1, log=log)
    oracle.assert_stored(got, want, tolerance)


# ---- in-place pairs (section 2) -----------------------------------------------------------------

PAIRS = [
    ("SoftMax", "f32", "f32", [(0, 9)]), ("SoftMax", "bf16", "f32", []),
    ("SoftMax", "f32", "f16", []), ("LogSoftmax", "bf16", "bf16", [(0, 9)]),
    ("SoftMaxBackward", "f16", "f16", [(0, 9)]), ("SoftMaxBackward", "bf16", "f32", []),
    ("LogSoftmaxBackward", "f32", "f32", [(0, 9)]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "src", "dst", "pairs"), PAIRS)
def test_section_2_in_place_pairs(bench, kind, src, dst, pairs):
    given = [lt(number, src, SHAPE) for number in range(1 + kind.endswith("Backward"))]
    (part,) = partitions(op(0, kind, given, [lt(9, dst)]))
    compiled = bench.compiled(part)
    assert compiled.get_inplace_ports() == pairs
    values = [X, np.abs(X)][: len(given)]
    apart = bench.answer(part, values)[0]
    if pairs:
        tensors = [bench.tensor(compiled, n, v) for n, v in enumerate(values)]
        handle = tensors[0]._memory.handle
        out = dnnl.tensor(compiled.query_logical_tensor(9), bench.engine, handle)
        np.testing.assert_array_equal(bench.run(compiled, tensors, [out])[0], apart)


def test_in_place_needs_one_layout_and_nobody_else_who_reads(bench):
    part = part_of("SoftMax")
    compiled = bench.compiled(part, [lt(0, "f32", SHAPE, (1, 3, 12))], [lt(9)])
    assert compiled.get_inplace_ports() == []
    x, y, z = lt(0, "f32", SHAPE), lt(1, "f32", SHAPE), lt(2, "f32", SHAPE)
    (part,) = partitions(op(0, "SoftMax", [x], [y]), op(1, "Add", [y, x], [z]))
    compiled = bench.compiled(part)
    assert compiled.get_inplace_ports() == []
    (got,) = bench.run(compiled, [bench.tensor(compiled, 0, X)], [bench.tensor(compiled, 2)])
    np.testing.assert_allclose(got, oracle.value(X, 1, log=False) + X, rtol=1e-5, atol=1e-6)


def test_in_place_through_the_chain_and_with_statistics(bench):
    chain = Chain(dims=SHAPE).stats().then("Square")
    (part,) = chain.partitions()
    compiled = bench.compiled(part)
    assert compiled.get_inplace_ports() == [(0, chain.end.id)]
    x = bench.tensor(compiled, 0, X)
    lse = bench.tensor(compiled, chain.outputs[0].id)
    lt_out = compiled.query_logical_tensor(chain.end.id)
    out = dnnl.tensor(lt_out, bench.engine, x._memory.handle)
    got, stats = bench.run(compiled, [x], [out, lse])
    p = oracle.value(X, 1, log=False)
    np.testing.assert_allclose(got, p * p, rtol=1e-5)
    want = np.log(np.exp(X.astype(float)).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(stats, want, rtol=4e-5)
