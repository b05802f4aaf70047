# SPDX-License-Identifier: Apache-2.0
"""Plans of fused softmax calls: steps, refusals, keys; and the extras themselves."""

from __future__ import annotations

import numpy as np
import pytest

from aclnn_native import lib
from aclnn_py import twophase
from aclnn_py.core import settings
from aclnn_py.core.desc import TensorDesc
from aclnn_py.core.dtype import as_dtype, by_name
from aclnn_py.core.errors import AclnnError
from aclnn_py.core.extras import Binary, Dropout, Eltwise, Extras, Select
from aclnn_py.ops.softmax_fused import backward_spec, forward_spec
from support.fused import call, forward


def desc(shape, dtype="float32"):
    return TensorDesc.dense(shape, as_dtype(dtype))


def plan(extras, *descs, axis=1):
    with settings.override(fallback="error"):
        return twophase.make_plan(forward_spec(extras), descs, [axis])


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64"])
@pytest.mark.parametrize("algorithm", ["softmax", "log_softmax"])
def test_a_plain_call_is_the_plain_kernel(algorithm, dtype):
    made = plan(Extras(algorithm), desc((4, 9), dtype), desc((4, 9), dtype))
    assert [(step.kernel, step.params) for step in made.steps] == [(algorithm, (4, 9, 1))]
    assert made.workspace_bytes == 0


def test_four_operands_are_one_launch_and_five_are_two():
    x, one = desc((4, 9)), desc((1, 1))
    for count, kernels in ((4, ["softmax_fused"]), (5, ["softmax_fused", "post_ops"])):
        made = plan(Extras(post_ops=(Binary("add"),) * count), x, x, *[one] * count)
        assert [step.kernel for step in made.steps] == kernels
    assert made.workspace_bytes >= 4 * 9 * 4


def test_a_mask_output_is_written_where_the_user_keeps_it():
    extras = Extras(dropout=Dropout(has_mask=True))
    x, one = desc((4, 9)), desc((1,))
    made = plan(extras, x, x, one, desc((1,), "int64"), desc((4, 9), "uint8"))
    assert [step.kernel for step in made.steps] == ["dropout_mask", "softmax_fused"]
    assert made.workspace_bytes == 0


def test_one_double_makes_the_softmax_double():
    for source, target, kernels in (
        ("float32", "float64", ["post_ops", "softmax"]),
        ("float64", "float32", ["softmax", "post_ops"]),
    ):
        made = plan(Extras(), desc((4, 9), source), desc((4, 9), target))
        assert [step.kernel for step in made.steps] == kernels


ADD = Extras(post_ops=(Binary("add"),))


@pytest.mark.parametrize(
    ("extras", "descs", "argument"),
    [
        (Extras(), [desc((4, 9)), desc((4, 8))], "dst"),
        (Extras(), [desc((4, 9)), desc((4, 9), "int32")], "dst"),
        (Extras(zero_rows="zero"), [desc((4, 9), "float64")] * 2, "src"),
        (Extras(zero_rows="zero"), [desc((4, 9)), desc((4, 9), "float64")], "dst"),
        (Extras(src_scale=True), [desc((4, 9)), desc((4, 9)), desc((2,))], "src_scale"),
        (Extras(dst_scale=True), [desc((4, 9)), desc((4, 9)), desc((1,), "float16")], "dst_scale"),
        (ADD, [desc((4, 9)), desc((4, 9)), desc((9,))], "post_op_0_src1"),
        (ADD, [desc((4, 9)), desc((4, 9)), desc((4, 3))], "post_op_0_src1"),
        (ADD, [desc((4, 9)), desc((4, 9)), desc((4, 9), "float64")], "post_op_0_src1"),
        (Extras(stats=True), [desc((4, 9)), desc((4, 9)), desc((1, 9))], "stats"),
        (Extras(), [desc((1,) * 13), desc((1,) * 13)], "src"),
    ],
)  # fmt: skip
def test_refusals_name_the_argument(extras, descs, argument):
    with pytest.raises(AclnnError, match=f"argument '{argument}'") as caught:
        plan(extras, *descs)
    assert caught.value.status == 161002


def test_a_missing_tensor_is_a_null_pointer():
    with pytest.raises(AclnnError, match="dst_scale") as caught:
        plan(Extras(dst_scale=True), desc((2, 2)), desc((2, 2)), None)
    assert caught.value.status == 161001


def test_an_empty_call_does_nothing(device, stream):
    got = forward(device, stream, Extras(stats=True), np.zeros((0, 3), np.float32), "int8", 1)
    assert got["dst"].shape == (0, 3)
    assert got["stats"].shape == (0, 1)


def test_specs_are_made_once():
    same = (
        Extras(post_ops=(Eltwise("relu"), Select())),
        Extras(post_ops=(Eltwise("relu"), Select())),
    )
    assert forward_spec(same[0]) is forward_spec(same[1])
    assert twophase.fused_forward(same[0]) is twophase.fused_forward(same[1])
    assert twophase.fused_backward("softmax") is twophase.fused_backward("softmax")


@pytest.mark.parametrize("name", ["alpha", "beta"])
def test_constants_are_told_apart_by_their_bits(name):
    def made(value):
        return forward_spec(Extras(post_ops=(Eltwise("clip", **{name: value}),)))

    assert made(0.0) is not made(-0.0)
    assert made(float("nan")) is made(float("nan"))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Eltwise("cosine"),
        lambda: Binary("prelu"),
        lambda: Extras("softplus"),
        lambda: Extras("log_softmax", zero_rows="zero"),
        lambda: Extras(post_ops=(Select(),) * 33),
        lambda: Extras(accumulation="f16"),
    ],
)
def test_extras_refuse_what_nobody_specifies(make):
    with pytest.raises(ValueError, match="expected"):
        make()


def test_kernels_number_types_as_the_vendor_does():
    numbered = {
        name[11:]: getattr(lib, name) for name in dir(lib) if name.startswith("ACLPY_TYPE_")
    }
    assert numbered == {name: by_name[name].value for name in numbered}
    assert len(numbered) == 11


BACKWARD = ["float32", "float16", "bfloat16"]


@pytest.mark.parametrize("algorithm", ["softmax", "log_softmax"])
@pytest.mark.parametrize("result", [*BACKWARD, "float64"])
@pytest.mark.parametrize("given", [*BACKWARD, "float64"])
@pytest.mark.parametrize(("shape", "axis"), [((6, 40), 1), ((3, 17, 20), 1)])
def test_backward_rounds_once(device, stream, algorithm, given, result, shape, axis):
    rng = np.random.default_rng(3)
    kind, out = as_dtype(given).numpy, as_dtype(result).numpy
    g = rng.normal(size=shape).astype(kind)
    y = rng.normal(size=shape)
    y = y - np.log(np.exp(y).sum(axis=axis, keepdims=True))
    y = (y if algorithm == "log_softmax" else np.exp(y)).astype(kind)
    operator = twophase.fused_backward(algorithm)
    tensors = [device.tensor(g), device.tensor(y), device.empty(shape, result)]
    with settings.override(fallback="error"):
        call(device, stream, operator, tensors, axis)
        wide = [device.tensor(a.astype(np.float32)) for a in (g, y)]
        full = device.empty(shape, "float32")
        call(device, stream, operator, [*wide, full], axis)
    g, y = g.astype(np.float64), y.astype(np.float64)
    sums = (g if algorithm == "log_softmax" else g * y).sum(axis=axis, keepdims=True)
    want = g - np.exp(y) * sums if algorithm == "log_softmax" else y * (g - sums)
    np.testing.assert_allclose(full.numpy(), want, rtol=2.4e-5, atol=1e-6)
    if given == "float64":
        np.testing.assert_array_equal(
            tensors[2].numpy().astype(np.float64), want.astype(out).astype(np.float64)
        ) if out.itemsize < 4 else np.testing.assert_allclose(tensors[2].numpy(), want, rtol=1e-6)
    else:
        np.testing.assert_array_equal(tensors[2].numpy(), full.numpy().astype(out))


def test_backward_of_equal_types_is_one_step():
    with settings.override(fallback="error"):
        made = twophase.make_plan(backward_spec("softmax"), [desc((4, 9), "float16")] * 3, [1])
    assert [step.kernel for step in made.steps] == ["softmax_backward"]
    assert made.workspace_bytes == 0
