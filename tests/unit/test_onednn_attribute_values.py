# SPDX-License-Identifier: Apache-2.0
"""Attributes as values: what they say, whom they equal, what comes back from a descriptor."""

from __future__ import annotations

import numpy as np
import pytest

from aclnn_py.dialects import onednn as dnnl
from support.onednn import Bench, attr_of, md, ops_of, refused

SHAPE = (2, 3)
SRC, DST = dnnl.DNNL_ARG_SRC, dnnl.DNNL_ARG_DST
ALG = dnnl.algorithm
DESC = md(SHAPE)


@pytest.fixture(scope="module")
def bench():
    return Bench()


BY_POSITION = [
    ("set_fpmath_mode", (1, True), {"mode": 1, "apply_to_int": True}),
    ("set_dropout", (None, dnnl.data_type.s32, True, np.True_), {
        "seed_dt": dnnl.data_type.s32, "use_offset": 1, "use_host_scalars": True,
    }),
    ("set_scales", (DST, 2, (3, 1), dnnl.data_type.bf16, True), {
        "arg": DST, "mask": 2, "groups": [3, 1], "data_type": 2, "is_on_host": True,
    }),
]  # fmt: skip


@pytest.mark.parametrize(("setter", "values", "named"), BY_POSITION)
def test_arguments_by_position_as_in_cpp(setter, values, named):
    assert attr_of(setter, *values) == attr_of(setter, **named) != dnnl.primitive_attr()


SETTINGS = [
    (("set_scales_mask", DST, 0), "scales of 17: mask 0 f32"),
    (("set_scales", SRC, 1, (2, 1), 2, True), "scales of 1: mask 1 groups (2, 1) bf16 on host"),
    (("set_zero_points_mask", SRC, 0), "zero points of 1: mask 0 s32"),
    (("set_dropout",), "dropout: no mask, seed s64"),
    (("set_dropout", md(SHAPE, "u8"), 4, True, True), ", seed s32, offset, on host"),
    (("set_accumulation_mode", 1), "accumulation relaxed"),
    (("set_fpmath_mode", 1), "fpmath bf16>"),
    (("set_fpmath_mode", 0, True), "fpmath strict, of integers too"),
    (("set_scratchpad_mode", 1), "scratchpad user"),
]


@pytest.mark.parametrize(("setting", "text"), SETTINGS, ids=[text for _, text in SETTINGS])
def test_attributes_are_equal_where_they_say_the_same(setting, text):
    one, other, default = attr_of(*setting), attr_of(*setting), dnnl.primitive_attr()
    assert one == other != default
    assert text in repr(one)
    assert repr(default) == "<primitive_attr of defaults>"
    assert one != text
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)


def test_the_order_of_scales_says_nothing():
    one, other = attr_of("set_scales_mask", SRC, 0), attr_of("set_scales_mask", DST, 0)
    one.set_scales_mask(DST, 0)
    other.set_scales_mask(SRC, 0)
    assert one == other


def test_attributes_of_a_descriptor_serve_another(bench):
    attr = ops_of(("append_eltwise", ALG.eltwise_linear, 2, 1))
    attr.set_scratchpad_mode(dnnl.scratchpad_mode.user)
    pd = bench.forward_pd(DESC, DESC, 1, "accurate", attr)
    found = pd.get_primitive_attr()
    assert found == attr
    assert bench.forward_pd(DESC, DESC, 1, "accurate", found).get_primitive_attr() == attr
    found.set_fpmath_mode(dnnl.fpmath_mode.tf32)  # a copy
    assert found.get_fpmath_mode() is dnnl.fpmath_mode.tf32
    assert pd.get_primitive_attr() == attr != found


def test_what_descriptors_primitives_and_operations_show(bench):
    attr = ops_of(("append_eltwise", ALG.eltwise_linear, 2, 1), ("append_sum",))
    ops = attr.get_post_ops()
    assert repr(ops) == "<post_ops eltwise_linear(2, 1), sum>"
    assert repr(dnnl.post_ops()) == "<post_ops none>"
    assert repr(attr) == "<primitive_attr post-ops: eltwise_linear(2, 1), sum>"
    pd = bench.forward_pd(
        DESC, DESC, 1, "accurate", ops_of(("append_binary", ALG.binary_add, md((1, 3))))
    )
    said = (
        "forward_inference softmax_accurate axis 1: src <memory_desc f32 2x3 strides (3, 1)>, "
        "dst <memory_desc f32 2x3 strides (3, 1)>, post-op 0 src1 <memory_desc f32 1x3 strides "
        "(3, 1)>; post-ops: binary_add(<memory_desc f32 1x3 strides (3, 1)>)"
    )
    assert repr(pd) == f"<softmax_forward.primitive_desc {said}>"
    assert repr(dnnl.softmax_forward(pd)) == f"<softmax_forward {said}>"
    desc = bench.backward_pd(DESC, DESC, DESC, 1)
    assert repr(dnnl.softmax_backward(desc)).startswith("<softmax_backward backward_data softmax_a")


def test_operations_tell_their_kinds():
    f32 = dnnl.data_type.f32
    attr = ops_of(
        ("append_eltwise", ALG.eltwise_relu), ("append_binary", ALG.binary_add, md((1, 3))),
        ("append_sum",), ("append_prelu", 0), ("append_dw", f32, f32, f32),
    )  # fmt: skip
    ops = attr.get_post_ops()
    kinds = ["eltwise", "binary", "sum", "prelu", "convolution"]
    assert [ops.kind(index) for index in range(ops.len())] == kinds
    ops.append_sum()  # to a copy
    assert (ops.len(), attr.get_post_ops().len()) == (6, 5)
    for index in (-1, 6, 2**70, True, 1.0, None, "0"):
        with refused("invalid_arguments", "^index$"):
            ops.kind(index)
