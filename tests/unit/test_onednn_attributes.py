# SPDX-License-Identifier: Apache-2.0
"""Attributes of the softmax primitive: what is taken and what is refused (section 1.6)."""

from __future__ import annotations

import numpy as np
import pytest

from aclnn_py.dialects import onednn as dnnl
from support.onednn import Bench, attr_of, md, ops_of, refused

SHAPE = (2, 3)
SRC, DST = dnnl.DNNL_ARG_SRC, dnnl.DNNL_ARG_DST
ALG = dnnl.algorithm
GPU = dnnl.engine_description(dnnl.engine_kind.gpu)


@pytest.fixture(scope="module")
def bench():
    return Bench()


def forward(engine, attr, src="f32", dst="f32", shape=SHAPE, layout=None):
    return dnnl.softmax_forward.primitive_desc(
        engine, 96, ALG.softmax_accurate, md(shape, src), md(shape, dst, layout), 1, attr
    )


def backward(engine, attr):
    desc = md(SHAPE)
    return dnnl.softmax_backward.primitive_desc(
        engine, ALG.softmax_accurate, desc, desc, desc, 1, None, attr
    )


# ---- modes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["strict", "relaxed", "any"])
def test_accumulation_modes_that_are_taken(bench, mode):
    attr = attr_of("set_accumulation_mode", dnnl.accumulation_mode[mode])
    made = forward(bench.engine, attr).get_primitive_attr()
    assert made.get_accumulation_mode().name == mode
    backward(bench.engine, attr)


@pytest.mark.parametrize("mode", ["s32", "f32", "f16"])
@pytest.mark.parametrize("make", [forward, backward])
def test_accumulation_modes_that_are_not(bench, mode, make):
    with refused("unimplemented", "accumulation"):
        make(bench.engine, attr_of("set_accumulation_mode", dnnl.accumulation_mode[mode]))


@pytest.mark.parametrize("mode", list(dnnl.fpmath_mode))
@pytest.mark.parametrize("make", [forward, backward])
def test_fpmath_modes(bench, mode, make):
    """Any mode, unless it is applied to integers."""
    make(bench.engine, attr_of("set_fpmath_mode", mode))
    with refused("unimplemented", "fpmath"):
        make(bench.engine, attr_of("set_fpmath_mode", mode, apply_to_int=True))


@pytest.mark.parametrize("mode", list(dnnl.scratchpad_mode))
@pytest.mark.parametrize("make", [forward, backward])
def test_scratchpad_modes(bench, mode, make):
    assert make(bench.engine, attr_of("set_scratchpad_mode", mode))


# ---- scales -------------------------------------------------------------------------------------

SCALED = [
    ("s8", "f32"), ("u8", "f32"), ("f32", "s8"), ("f32", "u8"), ("bf16", "s8"), ("s8", "s8"),
    ("f32", "f8_e5m2"), ("f16", "f8_e4m3"), ("f8_e5m2", "u8"),
]  # fmt: skip
UNSCALED = [("f32", "f32"), ("f32", "bf16"), ("f8_e5m2", "f32"), ("f16", "f16")]


@pytest.mark.parametrize("arg", [SRC, DST])
@pytest.mark.parametrize("types", SCALED, ids="-".join)
def test_scales_where_a_tensor_is_quantised(bench, arg, types):
    pd = forward(bench.engine, attr_of("set_scales_mask", arg, 0), *types)
    assert pd.query_md(dnnl.DNNL_ARG_ATTR_SCALES | arg) == md((1,))


@pytest.mark.parametrize("arg", [SRC, DST])
@pytest.mark.parametrize("types", UNSCALED, ids="-".join)
def test_scales_where_none_is(bench, arg, types):
    with refused("unimplemented", "scales"):
        forward(bench.engine, attr_of("set_scales_mask", arg, 0), *types)


@pytest.mark.parametrize(
    "values",
    [
        (SRC, 1),
        (DST, 2),
        (dnnl.DNNL_ARG_SRC_1, 0),
        (dnnl.DNNL_ARG_WORKSPACE, 0),
        (DST, 0, (2,)),
        (DST, 0, (), dnnl.data_type.bf16),
    ],
)
def test_scales_of_another_kind(bench, values):
    """Other argument, mask, groups or type: unimplemented."""
    with refused("unimplemented", "scales"):
        forward(bench.engine, attr_of("set_scales", *values), "f32", "s8")


@pytest.mark.parametrize(
    ("setter", "values", "fix"),
    [
        ("set_scales", (SRC, 1), "set_scales_mask(DNNL_ARG_SRC, 0)"),
        ("set_scales", (DST, 0, (), dnnl.data_type.bf16), "set_scales_mask(DNNL_ARG_DST, 0)"),
        ("set_host_scale", (SRC, dnnl.data_type.bf16), "set_host_scale(DNNL_ARG_SRC)"),
    ],
)
def test_the_fix_for_a_scale_is_of_the_same_argument(bench, setter, values, fix):
    with pytest.raises(dnnl.OneDnnError) as caught:
        forward(bench.engine, attr_of(setter, *values), "s8", "s8")
    assert caught.value.hint == fix


@pytest.mark.parametrize(
    ("call", "fix"),
    [
        (lambda: dnnl.primitive_attr().set_accumulation_mode("strict"), "accumulation_mode.strict"),
        (lambda: dnnl.primitive_attr().set_accumulation_mode("x"), "accumulation_mode.strict"),
        (lambda: dnnl.primitive_attr().set_fpmath_mode("any"), "fpmath_mode.any"),
        (lambda: dnnl.engine("cpu"), "engine_kind.cpu"),
        (lambda: dnnl.engine("here"), "engine_kind.cpu"),
        (lambda: dnnl.memory_desc((2,), "bf16", "a"), "data_type.bf16"),
    ],
)
def test_the_example_is_what_was_meant(call, fix):
    with pytest.raises(dnnl.OneDnnError) as caught:
        call()
    assert caught.value.hint == f"for example {fix}"


def test_host_scales(bench):
    attr = attr_of("set_host_scale", DST)
    pd = forward(bench.engine, attr, "f32", "s8")
    wanted = dnnl.memory_desc.host_scalar(dnnl.data_type.f32)
    assert pd.query_md(dnnl.DNNL_ARG_ATTR_SCALES | DST) == wanted
    with refused("unimplemented", "scales"):
        forward(GPU, attr, "f32", "s8")


def test_zero_points(bench):
    with refused("unimplemented", "zero_points"):
        forward(bench.engine, attr_of("set_zero_points_mask", SRC, 0), "s8", "s8")


@pytest.mark.parametrize(
    ("setter", "values", "argument"),
    [
        ("set_scales_mask", (-1, 0), "arg"),
        ("set_scales_mask", (DST, -1), "mask"),
        ("set_scales_mask", (DST, 0.5), "mask"),
        ("set_host_scale", (-1,), "arg"),
        ("set_scales", (DST, 0, (0,)), "groups"),
        ("set_scales", (DST, 0, 3), "groups"),
        ("set_scales", (DST, 0, b"a"), "groups"),
        ("set_scales", (DST, 0, {}), "groups"),
        ("set_scales", (DST, 0, {2}), "groups"),
        ("set_scales", (DST, 0, (), "f32"), "data_type"),
        ("set_scales", (DST, 0, (), dnnl.data_type.f32, "yes"), "is_on_host"),
        ("set_zero_points_mask", (DST, None), "mask"),
        ("set_post_ops", ([],), "ops"),
        ("set_accumulation_mode", (9,), "mode"),
        ("set_scratchpad_mode", (None,), "mode"),
        ("set_fpmath_mode", ("any",), "mode"),
        ("set_fpmath_mode", (dnnl.fpmath_mode.any, 2), "apply_to_int"),
        ("set_fpmath_mode", (dnnl.fpmath_mode.any, None), "apply_to_int"),
        ("set_dropout", ((2, 3),), "mask_desc"),
        ("set_dropout", (dnnl.memory_desc.host_scalar(dnnl.data_type.u8),), "mask_desc"),
        ("set_dropout", (md(SHAPE, "s8"),), "mask_desc"),
        ("set_dropout", (md(SHAPE, "f32", "any"),), "mask_desc"),
        ("set_dropout", (None, dnnl.data_type.u8), "seed_dt"),
        ("set_dropout", (None, dnnl.data_type.s64, 7), "use_offset"),
        ("set_dropout", (None, dnnl.data_type.s64, 1, np.zeros(2)), "use_host_scalars"),
    ],
)
def test_setters_refuse(setter, values, argument):
    with refused("invalid_arguments", argument):
        attr_of(setter, *values)


def test_a_descriptor_copies_its_attributes(bench):
    attr = dnnl.primitive_attr()
    pd = forward(bench.engine, attr)
    attr.set_scratchpad_mode(dnnl.scratchpad_mode.user)
    assert pd.get_primitive_attr().get_scratchpad_mode() is dnnl.scratchpad_mode.library
    assert attr.get_scratchpad_mode() is dnnl.scratchpad_mode.user
    ops = dnnl.post_ops()
    attr.set_post_ops(ops)
    ops.append_eltwise(ALG.eltwise_relu)
    assert attr.values.post_ops == ()
    assert len(ops) == len(list(ops)) == 1


# ---- dropout ------------------------------------------------------------------------------------

PLAIN = [((2, 3), "nc"), ((2, 3, 4), "ncw"), ((2, 3, 4, 5), "nchw"), ((2, 3, 4, 5, 6), "ncdhw")]


@pytest.mark.parametrize(("shape", "tag"), PLAIN)
def test_dropout_layouts_that_are_taken(bench, shape, tag):
    attr = attr_of("set_dropout", md(shape, "u8", "any"), use_offset=True)
    pd = forward(bench.engine, attr, shape=shape, layout=tag)
    assert pd.query_md(dnnl.DNNL_ARG_ATTR_DROPOUT_MASK) == md(shape, "u8", tag)
    assert pd.query_md(dnnl.DNNL_ARG_ATTR_DROPOUT_PROBABILITY) == md((1,))
    assert pd.query_md(dnnl.DNNL_ARG_ATTR_DROPOUT_SEED) == md((1,), "s32", "a").__class__(
        (1,), dnnl.data_type.s64, "a"
    )
    assert pd.query_md(dnnl.DNNL_ARG_ATTR_DROPOUT_OFFSET).data_type is dnnl.data_type.s64


@pytest.mark.parametrize(
    ("shape", "layout"),
    [((2, 3), "cn"), ((2, 3, 4), "nwc"), ((2, 3), (4, 1)), ((2, 3, 1, 1, 1, 1), "abcdef")],
)
def test_dropout_layouts_that_are_not(bench, shape, layout):
    with refused("unimplemented", "dropout"):
        forward(bench.engine, attr_of("set_dropout"), shape=shape, layout=layout)


@pytest.mark.parametrize("operand", [md((3,)), md(SHAPE, "f64")])
def test_an_operands_error_comes_before_the_layout_that_dropout_needs(bench, operand):
    """Section 1.1: attributes are step 8, what an implementation cannot do is step 9."""
    attr = ops_of(("append_binary", ALG.binary_add, operand))
    attr.set_dropout()
    with refused("invalid_arguments", "post_ops"):
        forward(bench.engine, attr, layout="cn")


def test_dropout_is_not_for_one_dimension(bench):
    desc = md((4,))
    with refused("unimplemented", "dropout") as caught:
        dnnl.softmax_forward.primitive_desc(
            bench.engine, 96, ALG.softmax_log, desc, desc, 0, attr_of("set_dropout")
        )
    assert caught.value.hint == "give the tensors 2 to 5 dimensions"


@pytest.mark.parametrize("mask", [md((3, 2), "u8"), md(SHAPE, "u8", "ba")])
def test_masks_that_are_not_dsts(bench, mask):
    with refused("unimplemented", "dropout"):
        forward(bench.engine, attr_of("set_dropout", mask))


@pytest.mark.parametrize("mask", [None, dnnl.memory_desc()])
def test_dropout_without_mask(bench, mask):
    pd = forward(bench.engine, attr_of("set_dropout", mask, dnnl.data_type.s32))
    assert pd.query_md(dnnl.DNNL_ARG_ATTR_DROPOUT_MASK) == dnnl.memory_desc()
    assert pd.query_md(dnnl.DNNL_ARG_ATTR_DROPOUT_OFFSET) == dnnl.memory_desc()
    assert pd.query_md(dnnl.DNNL_ARG_ATTR_DROPOUT_SEED) == md((1,), "s32")


# ---- post-ops -----------------------------------------------------------------------------------

ELTWISE = [kind for kind in ALG if kind.name.startswith("eltwise_")]
BINARY = [kind for kind in ALG if kind.name.startswith("binary_")]


def test_all_of_the_table_are_there():
    """Section 1.6: 21 functions and their seven twins; thirteen binary algorithms."""
    assert len(ELTWISE) == 21 + 7
    assert len(BINARY) == 12 + 1


@pytest.mark.parametrize("alg", ELTWISE, ids=lambda alg: alg.name)
@pytest.mark.parametrize("dst", ["f32", "s8"])
def test_eltwise_is_taken(bench, alg, dst):
    """Also round, whose "f32 only" holds: post-ops see f32 whatever dst is."""
    assert forward(bench.engine, ops_of(("append_eltwise", alg, 0.25, 0.5)), "f32", dst)


@pytest.mark.parametrize("alg", BINARY, ids=lambda alg: alg.name)
def test_binary_is_taken(bench, alg):
    third = [md(SHAPE, "s8")] if alg is ALG.binary_select else []
    pd = forward(bench.engine, ops_of(("append_binary", alg, md((1, 3), "bf16"), *third)))
    base = dnnl.DNNL_ARG_ATTR_MULTIPLE_POST_OP(0)
    assert pd.query_md(base | dnnl.DNNL_ARG_SRC_1) == md((1, 3), "bf16")
    assert pd.query_md(base | dnnl.DNNL_ARG_SRC_2) == (third or [dnnl.memory_desc()])[0]


def test_section_1_6_constants_are_float32():
    """Rules hold for the numbers that a kernel takes."""
    ops = dnnl.post_ops()
    ops.append_eltwise(ALG.eltwise_clip, 0.1000000001, 0.1)
    ops.append_eltwise(ALG.eltwise_relu_use_dst_for_bwd, -1e-50)
    ops.append_eltwise(ALG.eltwise_linear, float("inf"), 3.4028235e38)
    assert len(ops) == 3


ILLEGAL = [
    ("append_eltwise", ALG.eltwise_clip, 1.0, 0.5),
    ("append_eltwise", ALG.eltwise_clip_v2, 1.0, 0.5),
    ("append_eltwise", ALG.eltwise_clip_v2_use_dst_for_bwd, 1.0, 0.5),
    ("append_eltwise", ALG.eltwise_relu_use_dst_for_bwd, -0.5),
    ("append_eltwise", ALG.eltwise_elu_use_dst_for_bwd, -0.5),
    ("append_eltwise", ALG.eltwise_soft_relu, 0.0),
    ("append_eltwise", ALG.eltwise_soft_relu, 1e-50),  # 0 as float32
    ("append_eltwise", ALG.eltwise_linear, 1e39),
    ("append_eltwise", ALG.eltwise_clip, 0.0, 1e40),
    ("append_eltwise", ALG.eltwise_linear, float("nan")),
    ("append_eltwise", ALG.eltwise_linear, "1"),
    ("append_eltwise", ALG.eltwise_linear, None),
    ("append_eltwise", ALG.binary_add),
    ("append_eltwise", ALG.softmax_log),
    ("append_eltwise", 0x999),
    ("append_binary", ALG.eltwise_relu, md(SHAPE)),
    ("append_binary", 0x1FFFD, md(SHAPE)),
    ("append_binary", ALG.binary_add, None),
    ("append_binary", ALG.binary_add, md(SHAPE), np.array([1, 2])),
    ("append_binary", ALG.binary_add, dnnl.memory_desc()),
    ("append_binary", ALG.binary_add, md((dnnl.DNNL_RUNTIME_DIM_VAL, 3))),
    ("append_binary", ALG.binary_add, md(SHAPE), md(SHAPE, "s8")),
    ("append_binary", ALG.binary_select, md(SHAPE)),
    ("append_binary", ALG.binary_add, dnnl.memory_desc.host_scalar(dnnl.data_type.f32)),
    ("append_sum", "x"),
    ("append_prelu", None),
    ("append_prelu", 1.5),
    ("append_dw", 3, 3, "f32"),
]


@pytest.mark.parametrize("call", ILLEGAL)
def test_illegal_parameters_are_refused_when_appended(call):
    with refused("invalid_arguments"):
        ops_of(call)


def test_a_depthwise_post_op_names_the_type_that_is_none():
    with refused("invalid_arguments", "bias_data_type"):
        ops_of(("append_dw", 3, "f32", 3))


@pytest.mark.parametrize("index", ["x", None, -1, 1.5, True, 32], ids=repr)
def test_arguments_of_post_ops_are_those_of_32(index):
    assert dnnl.DNNL_ARG_ATTR_MULTIPLE_POST_OP(31) == 32768 * 32
    with refused("invalid_arguments", "index"):
        dnnl.DNNL_ARG_ATTR_MULTIPLE_POST_OP(index)


LEGAL = [
    (ALG.eltwise_clip, 0.5, 0.5),
    (ALG.eltwise_relu, -0.5, 0.0),
    (ALG.eltwise_elu, -0.5, 0.0),
    (ALG.eltwise_soft_relu, -1.0, 0.0),
    (ALG.eltwise_relu_use_dst_for_bwd, 0.0, 0.0),
]


@pytest.mark.parametrize("call", LEGAL)
def test_parameters_at_the_edge_are_taken(bench, call):
    forward(bench.engine, ops_of(("append_eltwise", *call)))


def test_33_post_ops():
    """Section 1.6: at most 32, out_of_memory beyond, whatever kind the last one is."""
    ops = dnnl.post_ops()
    for _ in range(32):
        ops.append_eltwise(ALG.eltwise_linear, 1.0, 0.0)
    for name, *values in (
        ("append_eltwise", ALG.eltwise_relu),
        ("append_binary", ALG.binary_add, md(SHAPE)),
        ("append_sum",),
    ):
        with refused("out_of_memory"):
            getattr(ops, name)(*values)
    assert len(ops) == 32


@pytest.mark.parametrize("call", [("append_sum",), ("append_prelu", 0), ("append_dw", 3, 3, 3)])
def test_other_post_ops(bench, call):
    with refused("unimplemented", "post_ops"):
        forward(bench.engine, ops_of(call))


def test_kinds_come_before_operands(bench):
    """As in oneDNN 3.13: an operand that would be invalid_arguments is not looked at."""
    f64 = ("append_binary", ALG.binary_mul, md(SHAPE, "f64"))
    with refused("unimplemented", r"post_ops\[1\]"):
        forward(bench.engine, ops_of(f64, ("append_sum",)))


@pytest.mark.parametrize(
    ("operand", "status"),
    [
        (md((3,)), "invalid_arguments"),  # rank
        (md((1, 2, 3)), "invalid_arguments"),
        (md(SHAPE, "f64"), "invalid_arguments"),
        (md((2, 2)), "unimplemented"),
        (md((3, 2)), "unimplemented"),
    ],
)
def test_operands_that_do_not_fit(bench, operand, status):
    with refused(status, r"post_ops\[1\].src1_desc"):
        forward(
            bench.engine,
            ops_of(
                ("append_eltwise", ALG.eltwise_relu), ("append_binary", ALG.binary_add, operand)
            ),
        )


@pytest.mark.parametrize("wrong", [md((3,)), md(SHAPE, "f64")])
def test_wrong_operands_come_before_those_that_nobody_takes(bench, wrong):
    """Section 1.1, rows 8 and 9: of all entries, as in oneDNN 3.13."""
    odd, wrong = (("append_binary", ALG.binary_add, desc) for desc in (md((2, 2)), wrong))
    with refused("invalid_arguments", r"post_ops\[1\].src1_desc"):
        forward(bench.engine, ops_of(odd, wrong))


@pytest.mark.parametrize("cond", [md((1, 3), "s8"), md(SHAPE, "u8"), md(SHAPE, "f32")])
def test_a_condition_is_s8_and_never_repeated(bench, cond):
    with refused("unimplemented", "src2_desc"):
        forward(bench.engine, ops_of(("append_binary", ALG.binary_select, md(SHAPE), cond)))


@pytest.mark.parametrize("dtype", ["f32", "bf16", "f16", "f8_e5m2", "f8_e4m3", "s8", "u8", "s32"])
@pytest.mark.parametrize("dims", [(1, 1), (1, 3), (2, 1), (2, 3)])
def test_operands_that_fit(bench, dtype, dims):
    assert forward(bench.engine, ops_of(("append_binary", ALG.binary_mul, md(dims, dtype))))


def test_an_operand_left_open_adopts_dsts_layout(bench):
    attr = ops_of(("append_binary", ALG.binary_mul, md(SHAPE, "f32", "any")))
    pd = forward(bench.engine, attr, layout="ba")
    base = dnnl.DNNL_ARG_ATTR_MULTIPLE_POST_OP(0)
    assert pd.query_md(base | dnnl.DNNL_ARG_SRC_1) == md(SHAPE, "f32", "ba")


# ---- backward -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "attr",
    [
        attr_of("set_scales_mask", SRC, 0),
        attr_of("set_zero_points_mask", SRC, 0),
        attr_of("set_dropout"),
        ops_of(("append_eltwise", ALG.eltwise_relu)),
        ops_of(("append_binary", ALG.binary_add, md(SHAPE))),
        ops_of(("append_sum",)),
    ],
    ids=["scales", "zero points", "dropout", "eltwise", "binary", "sum"],
)
def test_backward_refuses_every_other_attribute(bench, attr):
    with refused("unimplemented", "attr"):
        backward(bench.engine, attr)
