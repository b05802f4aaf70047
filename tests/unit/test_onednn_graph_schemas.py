# SPDX-License-Identifier: Apache-2.0
"""Operators of the Graph API against their schemas: the tables of section 2, refusals included."""

from __future__ import annotations

from itertools import product

import ml_dtypes
import numpy as np
import pytest

from aclnn_py.dialects import onednn_graph as dnnl
from aclnn_py.dialects.onednn_graph.schemas import BINARY, SCHEMAS, UNARY
from support.cases import shown
from support.onednn import refused
from support.onednn_graph import ATTR, KIND, PARAMETERS, graph_of, lt, op, partitions

FAMILY = ("SoftMax", "SoftMaxBackward", "LogSoftmax", "LogSoftmaxBackward")
FLOATS = ("f32", "bf16", "f16")
OTHERS = ("s8", "u8", "s32", "f64", "f8_e5m2", "f8_e4m3", "undef")
INPUTS = {"SoftMax": 1, "SoftMaxBackward": 2, "LogSoftmax": 1, "LogSoftmaxBackward": 2}
SHAPE = (3, 4)


def simple(kind, inputs=None, dst="f32", **attributes):
    """An operator of the family; `inputs` are types."""
    names = ["f32"] * INPUTS[kind] if inputs is None else inputs
    given = [lt(number, name, SHAPE) for number, name in enumerate(names)]
    return op(0, kind, given, [lt(9, dst, SHAPE)], **attributes)


def added(one):
    """Whether a graph takes it; and what it does with one that it does not take."""
    graph = dnnl.graph(dnnl.engine_kind.cpu)
    answer = graph.add_op(one, allow_exception=False)
    assert graph.get_op_num() == (answer is dnnl.status.success)
    if answer is not dnnl.status.success:
        with refused(answer.name):
            graph.add_op(one)
    return answer.name


# ---- names, order and defaults (section 2, first table) -----------------------------------------

ROWS = [
    ("SoftMax", ["src"], ["dst", "stats"], 1, True),
    ("SoftMaxBackward", ["diff_dst", "dst"], ["diff_src"], 1, False),
    ("LogSoftmax", ["src"], ["dst"], -1, False),
    ("LogSoftmaxBackward", ["diff_dst", "dst"], ["diff_src"], -1, False),
]


@pytest.mark.parametrize(("kind", "inputs", "outputs", "axis", "has_mode"), ROWS)
def test_section_2_names_and_attributes(kind, inputs, outputs, axis, has_mode):
    schema = SCHEMAS[KIND[kind]]
    assert [port.name for port in schema.inputs] == inputs
    assert [port.name for port in schema.outputs] == outputs
    assert schema.attributes[ATTR.axis].default == axis
    assert (ATTR.mode in schema.attributes) == has_mode
    assert len(schema.attributes) == 1 + has_mode


def test_section_2_values_of_enumerations():
    """As C counts them."""
    expected = {
        "Abs": 0, "Add": 2, "Clamp": 10, "Divide": 20, "End": 25, "Exp": 26, "LogSoftmax": 37,
        "LogSoftmaxBackward": 38, "Maximum": 40, "Multiply": 46, "Quantize": 49, "SoftMax": 64,
        "SoftMaxBackward": 65, "Subtract": 74, "TypeCast": 77, "Wildcard": 78, "HardSigmoid": 79,
        "Dropout": 87,
    }  # fmt: skip
    assert {name: int(KIND[name]) for name in expected} == expected
    assert [int(one) for one in (ATTR.alpha, ATTR.axis, ATTR.zps, ATTR.mode, ATTR.qtype)] == [
        0x1, 0x30, 0x4D, 0x84, 0x85,
    ]  # fmt: skip
    assert [int(dnnl.status[name]) for name in (
        "invalid_graph", "invalid_graph_op", "invalid_shape", "invalid_data_type"
    )] == [7, 8, 9, 10]  # fmt: skip


def test_section_2_capitalisation():
    for name in ("Softmax", "LogSoftMax", "SoftmaxBackward"):
        assert name not in KIND.__members__


# ---- number of inputs and outputs ---------------------------------------------------------------


@pytest.mark.parametrize("kind", FAMILY)
def test_section_2_number_of_inputs(kind):
    for count in range(4):
        wanted = "success" if count == INPUTS[kind] else "invalid_graph_op"
        assert added(simple(kind, ["f32"] * count)) == wanted, count


@pytest.mark.parametrize("kind", FAMILY)
def test_section_2_number_of_outputs(kind):
    for count in range(4):
        one = simple(kind)
        one.outputs = ()
        one.add_outputs([lt(9 + number, "f32", None) for number in range(count)])
        most = 2 if kind == "SoftMax" else 1  # its statistics are optional
        assert added(one) == ("success" if 1 <= count <= most else "invalid_graph_op"), count


@pytest.mark.parametrize(
    ("kind", "inputs", "outputs", "wanted"),
    [
        ("SoftMax", 1, 0, "1 or 2: dst, stats (optional)"),
        ("SoftMax", 1, 3, "1 or 2: dst, stats (optional)"),
        ("SoftMax", 2, 1, "1: src"),
        ("SoftMaxBackward", 1, 1, "2: diff_dst, dst"),
        ("Add", 1, 1, "2: src_0, src_1"),
        ("LogSoftmax", 1, 2, "1: dst"),
        ("End", 1, 1, "0: none"),
    ],
)
def test_section_2_what_is_optional_is_said(kind, inputs, outputs, wanted):
    given, made = (
        [lt(10 * i + n) for n in range(count)] for i, count in ((1, inputs), (2, outputs))
    )
    with refused("invalid_graph_op", "puts") as caught:
        dnnl.graph(dnnl.engine_kind.cpu).add_op(op(0, kind, given, made))
    assert f"expected: {wanted}\n" in str(caught.value)


# ---- element types (section 2, second table) ----------------------------------------------------


@pytest.mark.parametrize(("src", "dst"), list(product((*FLOATS, *OTHERS), repeat=2)))
def test_section_2_softmax_types(src, dst):
    """The same type, or exactly one side f32; bf16 <-> f16 refused; no integers, f8, f64."""
    fine = {src, dst} <= set(FLOATS) and (src == dst or "f32" in (src, dst))
    assert added(simple("SoftMax", [src], dst)) == ("success" if fine else "invalid_graph_op")


@pytest.mark.parametrize("stats", [*FLOATS, *OTHERS])
def test_section_2_stats_are_f32(stats):
    one = simple("SoftMax", ["bf16"], "bf16")
    one.add_output(lt(10, stats))
    assert added(one) == ("success" if stats == "f32" else "invalid_graph_op")


@pytest.mark.parametrize(("given", "dst", "diff_src"), list(product((*FLOATS, "s8"), repeat=3)))
def test_section_2_softmax_backward_types(given, dst, diff_src):
    """Inputs alike; the result like them, or f32."""
    fine = given == dst and given in FLOATS and diff_src in (given, "f32")
    wanted = "success" if fine else "invalid_graph_op"
    assert added(simple("SoftMaxBackward", [given, dst], diff_src)) == wanted


@pytest.mark.parametrize("types", list(product((*FLOATS, "u8"), repeat=3)))
def test_section_2_log_types(types):
    """One type for everything."""
    fine = len(set(types)) == 1 and types[0] in FLOATS
    wanted = "success" if fine else "invalid_graph_op"
    assert added(simple("LogSoftmaxBackward", types[:2], types[2])) == wanted
    if types[0] == types[1]:
        assert added(simple("LogSoftmax", types[:1], types[2])) == wanted


# ---- attributes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FAMILY)
def test_section_2_axis_is_an_integer(kind):
    for value in (0, 1, -1, 17, -17, np.int64(2)):  # the range is for compilation to check
        assert added(simple(kind, axis=value)) == "success", value
    for value in (1.0, "1", True, [1], [1.0]):
        assert added(simple(kind, axis=value)) == "invalid_graph_op", value


def test_section_2_mode():
    for value in ("none", "inf_as_zero"):
        assert added(simple("SoftMax", mode=value)) == "success"
    for value in ("zero", "", "NONE", 1, 0.5, False, [1]):
        assert added(simple("SoftMax", mode=value)) == "invalid_graph_op", value
    for kind in FAMILY[1:]:  # no mode
        assert added(simple(kind, mode="none")) == "invalid_graph_op"


def test_an_attribute_of_another_operator():
    assert added(simple("SoftMax", alpha=1.0)) == "invalid_graph_op"


class LikeAnArray:
    """Another library's."""

    dtype = "float32"


NO_VALUES = [
    None, object(), float("nan"), 2**63, [1, None], 1j, ["none"], LikeAnArray(), [LikeAnArray()],
    np.ones((2, 2), np.float32), np.array([1, np.nan]), np.ones(2, np.complex64),
    np.array([True]), np.array(["a"]), np.zeros(1, [("a", "f4")]),
    # What has no order, more axes than one, or is one value though made of many.
    {}, {3: 4}, {3: 4}.keys(), {1, 2}, frozenset([1]), b"x", bytearray(b"x"), np.ones((0, 3)),
]  # fmt: skip


@pytest.mark.parametrize("value", NO_VALUES, ids=shown)
def test_what_cannot_be_an_attribute(value):
    with refused("invalid_arguments", "value"):
        simple("SoftMax").set_attr(ATTR.axis, value)


@pytest.mark.parametrize(
    ("kind", "name", "value", "example"),
    [
        ("SoftMax", "mode", b"none", "set_attr(op.attr.mode, 'none')"),
        ("GELU", "mode", {}, "set_attr(op.attr.mode, 'gelu_erf')"),
        ("SoftMax", "axis", {1}, "set_attr(op.attr.axis, 1)"),
        ("Quantize", "scales", {0.5}, "set_attr(op.attr.scales, [0.5])"),
        ("Quantize", "zps", {1: 0}, "set_attr(op.attr.zps, [0])"),
        ("Elu", "alpha", None, "set_attr(op.attr.alpha, 0.5)"),
        ("SoftMax", "alpha", None, "pass one of these"),  # which it does not have
    ],
)
def test_what_cannot_be_an_attribute_has_a_fix_for_the_same_one(kind, name, value, example):
    with refused("invalid_arguments", "value") as caught:
        dnnl.op(0, KIND[kind]).set_attr(ATTR[name], value)
    assert caught.value.hint.endswith(example)


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (float("nan"), "is NaN"),
        ([0.5, float("nan")], "holds NaN"),
        (np.array([1, np.nan]), "holds NaN"),
        ([np.float32("nan")], "holds NaN"),
        (1e60, "is 1e+60, which is beyond float32"),
        ([0.5, -1e60], "holds -1e+60, which is beyond float32"),
    ],
    ids=shown,
)
def test_floats_that_cannot_be_attributes_are_named(value, fault):
    with refused("invalid_arguments", "value") as caught:
        dnnl.op(0, KIND.Quantize).set_attr(ATTR.scales, value)
    assert f"argument 'value' {fault}\n" in str(caught.value)
    assert caught.value.hint == "check how scales was computed"


@pytest.mark.parametrize(
    ("scale", "fault"),
    [(float("inf"), "divide by infinity"), (0.0, "divide by nothing"), (1e-60, "by nothing")],
)
def test_scales_that_divide_by_nothing_or_by_infinity(scale, fault):
    one = op(0, "Quantize", [lt(0)], [lt(1, "u8")], scales=[scale])
    with refused("invalid_graph_op", "scales") as caught:
        dnnl.graph(dnnl.engine_kind.cpu).add_op(one)
    assert fault in str(caught.value)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", np.longdouble, ml_dtypes.bfloat16, ">f4"])
@pytest.mark.parametrize("values", [[0.5, 0.25], [0.5], []], ids=str)
def test_arrays_of_floats_are_lists(values, dtype):
    array = np.array(values, dtype)
    for given in (array, list(array)):
        assert simple("SoftMax").set_attr(ATTR.scales, given).attributes[ATTR.scales] == (
            "f32s" if values else "s64s",
            tuple(values),
        )


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", np.longdouble, ml_dtypes.bfloat16])
def test_one_float_of_any_type(dtype):
    for given in (np.array(0.5, dtype), np.array([0.5], dtype)[0]):
        assert simple("SoftMax").set_attr(ATTR.beta, given).attributes[ATTR.beta] == ("f32", 0.5)


@pytest.mark.parametrize("name", [None, "axis", 0x31F, 1.0, []])
def test_what_is_no_attribute(name):
    with refused("invalid_arguments", "name"):
        simple("SoftMax").set_attr(name, 1)
    with refused("invalid_arguments", "name"):
        simple("SoftMax").get(name)


def test_what_an_operator_has_not_is_not_got():
    with refused("invalid_arguments", "name"):
        simple("SoftMax").get(ATTR.scales)
    assert simple("SoftMax").set_attr(ATTR.scales, 2).get(ATTR.scales) == 2  # till it is added
    assert simple("SoftMax").get(int(ATTR.axis)) == 1


# ---- LogSoftmaxBackward's second input ----------------------------------------------------------


def test_section_2_and_8_the_old_name_of_input_1():
    """`src` on older pages is the forward's output all the same."""
    g, y, out = lt(0, "f32", SHAPE), lt(1, "f32", SHAPE), lt(2, "f32", SHAPE)
    log, made = KIND.LogSoftmaxBackward, {"diff_src": out}
    for name in ("dst", "src"):
        for given in ({"diff_dst": g, name: y}, {name: y, "diff_dst": g}):
            one = dnnl.op(0, log, given, made)
            assert (one.inputs, one.outputs) == ((g, y), (out,))
    for wrong in ({"diff_dst": g, "dst": y, "src": y}, {"diff_dst": g, "y": y}, {"dst": y}):
        with refused("invalid_arguments", "inputs"):
            dnnl.op(0, log, wrong, made)
    with refused("invalid_arguments", "inputs"):  # only there
        dnnl.op(0, KIND.SoftMaxBackward, {"diff_dst": g, "src": y}, made)


# ---- operators of the chain ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", [one.name for one in UNARY])
def test_unary_operators(kind):
    needed = PARAMETERS.get(kind, {})
    for src, dst in product((*FLOATS, "s8"), repeat=2):
        one = op(0, kind, [lt(0, src)], [lt(1, dst)], **needed)
        fine = src == dst and src in FLOATS
        assert added(one) == ("success" if fine else "invalid_graph_op"), (src, dst)
    for name in needed:
        rest = {key: value for key, value in needed.items() if key != name}
        assert added(op(0, kind, [lt(0)], [lt(1)], **rest)) == "invalid_graph_op", name
        worse = {**needed, name: "1"}
        assert added(op(0, kind, [lt(0)], [lt(1)], **worse)) == "invalid_graph_op", name


@pytest.mark.parametrize("kind", [one.name for one in BINARY])
def test_binary_operators(kind):
    for value, wanted in (("none", "success"), ("numpy", "success"), ("c", "invalid_graph_op")):
        one = op(0, kind, [lt(0), lt(1)], [lt(2)], auto_broadcast=value)
        assert added(one) == wanted
    alike = kind in ("Maximum", "Minimum")
    mixed = op(0, kind, [lt(0), lt(1, "bf16")], [lt(2)])
    assert added(mixed) == ("invalid_graph_op" if alike else "success")
    integers = op(0, kind, [lt(0), lt(1, "s32")], [lt(2)])
    assert added(integers) == ("success" if kind in ("Add", "Subtract") else "invalid_graph_op")
    assert added(op(0, kind, [lt(0)], [lt(2)])) == "invalid_graph_op"


def test_type_cast():
    for src, dst in product((*FLOATS, "s8"), repeat=2):
        fine = {src, dst} <= set(FLOATS) and src != dst and "f32" in (src, dst)
        one = op(0, "TypeCast", [lt(0, src)], [lt(1, dst)])
        assert added(one) == ("success" if fine else "invalid_graph_op"), (src, dst)


QUANTIZE = [
    ({"scales": [0.1]}, "success"),
    ({"scales": [0.1], "zps": [3]}, "success"),
    ({"scales": [0.1, 0.2], "qtype": "per_channel"}, "success"),
    ({"scales": [0.1, 0.2], "zps": [1, 2], "qtype": "per_channel", "axis": 0}, "success"),
    ({}, "invalid_graph_op"),
    ({"zps": [3]}, "invalid_graph_op"),
    ({"scales": 0.1}, "invalid_graph_op"),
    ({"scales": []}, "invalid_graph_op"),
    ({"scales": [0.0]}, "invalid_graph_op"),
    ({"scales": [float("inf")]}, "invalid_graph_op"),
    ({"scales": [0.1, 0.2]}, "invalid_graph_op"),
    ({"scales": [0.1], "zps": [1, 2]}, "invalid_graph_op"),
    ({"scales": [0.1], "zps": [2**24]}, "invalid_graph_op"),
    ({"scales": [0.1], "zps": [0.5]}, "invalid_graph_op"),
    ({"scales": [0.1], "qtype": "per_group"}, "invalid_graph_op"),
]


@pytest.mark.parametrize(("attributes", "wanted"), QUANTIZE, ids=str)
def test_quantize(attributes, wanted):
    assert added(op(0, "Quantize", [lt(0)], [lt(1, "u8")], **attributes)) == wanted


def test_quantize_types():
    for src, dst in product((*FLOATS, "s8"), (*FLOATS, "s8", "u8", "s32")):
        one = op(0, "Quantize", [lt(0, src)], [lt(1, dst)], scales=[0.5])
        fine = src in FLOATS and dst in ("s8", "u8")
        assert added(one) == ("success" if fine else "invalid_graph_op"), (src, dst)


def test_an_operator_without_a_schema_is_carried():
    """Other operators come back as partitions that are not supported."""
    (part,) = partitions(op(0, "MatMul", [lt(0), lt(1)], [lt(2)], transpose_a=True))
    assert not part.is_supported()


# ---- arguments of op ----------------------------------------------------------------------------


@pytest.mark.parametrize(("argument", "change"), [
    ("id", {"id": -1}), ("id", {"id": 1.5}), ("id", {"id": 2**64}),
    ("kind", {"kind": "SoftMax"}), ("kind", {"kind": 999}),
    ("inputs", {"inputs": 3}), ("inputs", {"inputs": [np.zeros(3)]}),
    ("outputs", {"outputs": [None]}), ("outputs", {"outputs": {"y": lt(0)}}),
    ("inputs", {"inputs": {lt(0)}}), ("outputs", {"outputs": frozenset([lt(1)])}),
])  # fmt: skip
def test_bad_arguments_of_op(argument, change):
    call = {"id": 0, "kind": KIND.SoftMax, "inputs": [lt(0)], "outputs": [lt(1)], **change}
    with refused("invalid_arguments", argument):
        dnnl.op(**call)


@pytest.mark.parametrize("value", [None, "x", []], ids=repr)
@pytest.mark.parametrize("name", ["add_input", "add_output"])
def test_one_tensor_is_called_by_its_parameter(name, value):
    one = simple("SoftMax")
    for call in (lambda: getattr(one, name)(value), lambda: getattr(one, name)(tensor=value)):
        with refused("invalid_arguments", "^tensor$"):
            call()


@pytest.mark.parametrize("name", ["add_inputs", "add_outputs"])
def test_several_tensors_are_refused_by_the_call_s_name(name):
    for value, argument in (
        (3, "^tensors$"),
        ({lt(0)}, "^tensors$"),
        ([lt(0), 3], r"tensors\[1\]"),
    ):
        with refused("invalid_arguments", argument) as caught:
            getattr(simple("SoftMax"), name)(value)
        assert caught.value.function == f"op.{name}"


@pytest.mark.parametrize(
    ("call", "example"),
    [
        (lambda: dnnl.op(0, None), "kind.SoftMax"),
        (lambda: simple("SoftMax").set_attr(None, 1), "attr.axis"),
        (lambda: simple("SoftMax").get(None), "attr.axis"),
        (lambda: graph_of().get_partitions(None), "policy.fusion"),
        (lambda: dnnl.logical_tensor(0, ptype=None), "property_type.constant"),
        (lambda: dnnl.logical_tensor(0, layout=9), "layout_type.strided"),
    ],
)
def test_hints_name_what_is_asked_for_most(call, example):
    with refused("invalid_arguments") as caught:
        call()
    assert caught.value.hint == f"for example {example}"


def test_a_graph_keeps_what_was_added():
    one = simple("SoftMax", axis=0)
    graph = dnnl.graph(dnnl.engine_kind.cpu)
    graph.add_op(one)
    one.set_attr(ATTR.axis, 5).add_output(lt(33))
    graph.finalize()
    assert len(graph.get_partitions()[0].get_output_ports()) == 1


def test_what_is_no_operator():
    with refused("invalid_arguments", "op"):
        graph_of(KIND.SoftMax)


# ---- constants of functions ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "attributes", "wanted"),
    [
        ("Clamp", {"min": 1.0, "max": 0.0}, "invalid_graph_op"),
        ("Clamp", {"min": 1.0, "max": 1.0}, "success"),
        ("Clamp", {"min": 0.0, "max": float("inf")}, "success"),
        ("SoftPlus", {"beta": 0.0}, "invalid_graph_op"),
        ("SoftPlus", {"beta": 1e-60}, "invalid_graph_op"),  # 0 as float32
        ("SoftPlus", {"beta": -1.0}, "success"),
        ("SoftPlus", {}, "success"),
    ],
)
def test_section_1_6_rules_of_constants_hold_in_graphs(kind, attributes, wanted):
    one = op(0, kind, [lt(0, "f32", SHAPE)], [lt(9, "f32", SHAPE)], **attributes)
    assert added(one) == wanted


@pytest.mark.parametrize(("scale", "wanted"), [(1e-60, "invalid_graph_op"), (1e-30, "success")])
def test_scales_are_float32(scale, wanted):
    one = op(0, "Quantize", [lt(0, "f32", SHAPE)], [lt(9, "u8", SHAPE)], scales=[scale])
    assert added(one) == wanted


@pytest.mark.parametrize(("name", "value"), [("alpha", 1e300), ("max", -1e39), ("scales", [1e60])])
def test_numbers_beyond_float32_are_no_attributes(name, value):
    with refused("invalid_arguments"):
        dnnl.op(0, dnnl.op.kind.ReLU, [], []).set_attr(ATTR[name], value)
