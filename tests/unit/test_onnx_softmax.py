# SPDX-License-Identifier: Apache-2.0
"""ONNX Softmax and LogSoftmax: each row of the table of section 4, refusals included."""

from __future__ import annotations

import re
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

from aclnn_py.core import settings
from aclnn_py.core.desc import TensorDesc
from aclnn_py.core.dtype import as_dtype
from aclnn_py.dialects import onnx_ops
from aclnn_py.dialects.onnx_errors import OnnxError
from aclnn_py.twophase import dialect_operators, operator
from support import oracle

BF16 = ml_dtypes.bfloat16
BOTH = ["Softmax", "LogSoftmax"]
SHAPE = (3, 4, 5)
X = np.random.default_rng(0).standard_normal(SHAPE)


def rows_of(x, version, axis):
    """Section 4: coercion at the axis before version 13, the axis alone since."""
    axis = (1 if version < 13 else -1) if axis is None else axis
    if version == 13:
        return np.moveaxis(x, axis, -1), lambda rows: np.moveaxis(rows, -1, axis)
    at = axis + x.ndim if axis < 0 else axis
    size = int(np.prod(x.shape[:at], dtype=np.int64))
    return x.reshape(size, -1), lambda rows: rows.reshape(x.shape)


def check(op_type, got, x, version, axis=None):
    """The two-phase bounds, and ONNX's own (section 6)."""
    rows, back = rows_of(x, version, axis)
    found = oracle.answer(op_type, [np.ascontiguousarray(rows)], -1)
    wanted = oracle.Answer(back(found.value), back(found.largest_term))
    assert got.dtype == x.dtype
    assert got.shape == x.shape
    assert oracle.worst(op_type, got, wanted) <= 1
    if x.dtype.itemsize >= 4:
        exact = wanted.value.astype(np.float64)
        np.testing.assert_allclose(got.astype(np.float64), exact, rtol=1e-3, atol=1e-7)


def refused(kind, argument, op_type, *arguments, **options):
    with pytest.raises(OnnxError) as caught:
        onnx_ops.run(op_type, *arguments, **options)
    error, text = caught.value, str(caught.value)
    assert (error.kind, error.argument, error.status_name) == (kind, argument, kind), text
    assert error.operator == op_type
    assert f"[{kind}]" in text
    for line in ("got:", "expected:", "fix:"):
        assert re.search(rf"^ *{line} *\S", text, re.MULTILINE), text
    return text


def test_section_4_axis_defaults():
    assert {key: row.default_axis for key, row in onnx_ops.OPERATORS.items()} == {
        (name, version): axis for name in BOTH for version, axis in ((1, 1), (11, 1), (13, -1))
    }


@pytest.mark.parametrize(
    ("opset", "version"),
    [(1, 1), (6, 1), (10, 1), (11, 11), (12, 11), (13, 13), (18, 13), (25, 13)],
)
@pytest.mark.parametrize("op_type", BOTH)
def test_section_4_opsets(op_type, opset, version):
    assert onnx_ops.of_opset(op_type, opset).version == version


@pytest.mark.parametrize("op_type", ["Hardmax", "softmax"])
def test_what_no_opset_has(op_type):
    refused("ValidationError", "op_type", op_type, X)


@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1, -2, -3])
@pytest.mark.parametrize("version", [1, 11, 13])
@pytest.mark.parametrize("op_type", BOTH)
def test_section_4_axis_meaning(op_type, version, axis):
    x = X.astype(np.float32)
    check(op_type, onnx_ops.run(op_type, x, axis, opset=version), x, version, axis)


@pytest.mark.parametrize("op_type", BOTH)
def test_section_4_versions_agree_on_the_last_axis_only(op_type):
    old, new = (onnx_ops.run(op_type, X, 2, opset=version) for version in (11, 13))
    np.testing.assert_array_equal(old, new)
    old, new = (onnx_ops.run(op_type, X, 1, opset=version) for version in (11, 13))
    assert np.abs(old - new).max() > 1e-2


@pytest.mark.parametrize("axis", [3, -4, 100])
@pytest.mark.parametrize("version", [11, 13])
@pytest.mark.parametrize("op_type", BOTH)
def test_section_4_axis_is_validated_since_11(op_type, version, axis):
    text = refused("ShapeInferenceError", "axis", op_type, X, axis, opset=version)
    assert "from -3 to 2" in text


@pytest.mark.parametrize("op_type", BOTH)
def test_section_4_version_1_does_not_validate(op_type):
    """The rank itself cuts into rows of one element; what cannot be cut at all is refused."""
    alone = onnx_ops.run(op_type, X, 3, opset=1)
    np.testing.assert_array_equal(alone, np.full(SHAPE, 0.0 if op_type == "LogSoftmax" else 1.0))
    for axis in (4, -4):
        refused("ShapeInferenceError", "axis", op_type, X, axis, opset=1)


@pytest.mark.parametrize("axis", [1.5, "0", True, None.__class__, np.array([1])])
def test_axis_is_an_integer(axis):
    refused("ValidationError", "axis", "Softmax", X, axis)


@pytest.mark.parametrize("opset", ["13", None, 12.5, True, 0])
def test_opset_is_an_integer(opset):
    refused("ValidationError", "opset", "Softmax", X, opset=opset)


@pytest.mark.parametrize("value", [[["a"]], [[1], [1, 2]]])
def test_what_is_no_array_of_numbers(value):
    refused("ValidationError", "input", "Softmax", value)


@pytest.mark.parametrize("rank", [26, 33, 64])
def test_more_dimensions_than_a_tensor_has(rank):
    text = refused("ValidationError", "input", "Softmax", np.zeros((1,) * rank, np.float32))
    assert "has too many dimensions" in text
    assert f"{rank} dimensions" in text
    assert "at most 25" in text


@pytest.mark.parametrize("version", [11, 13])
@pytest.mark.parametrize("op_type", BOTH)
def test_section_4_rank_0_is_rejected_since_11(op_type, version):
    refused("ShapeInferenceError", "input", op_type, np.float32(2), 0, opset=version)


def test_section_4_rank_0_in_version_1():
    assert onnx_ops.run("Softmax", np.float32(2), 0, opset=1) == 1
    refused("ShapeInferenceError", "axis", "Softmax", np.float32(2), opset=1)


TYPES = {1: "f16 f32 f64", 11: "f16 f32 f64", 13: "f16 f32 f64 bf16"}  # section 4, column T
FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "bf16": BF16}


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("version", TYPES)
@pytest.mark.parametrize("op_type", BOTH)
def test_section_4_types(op_type, version, name):
    x = X.astype(FLOATS[name])
    if name in TYPES[version].split():
        check(op_type, onnx_ops.run(op_type, x, opset=version), x, version)
    else:
        text = refused("TypeInferenceError", "input", op_type, x, opset=version)
        assert "version 13" in text


@pytest.mark.parametrize("dtype", [np.int32, np.bool_, np.complex64, np.uint8])
@pytest.mark.parametrize("version", TYPES)
def test_section_4_types_that_none_has(version, dtype):
    for op_type in BOTH:
        refused("TypeInferenceError", "input", op_type, np.ones(SHAPE, dtype), opset=version)


def test_the_soc_profile_has_no_say():
    x = X.astype(BF16)
    with settings.override(soc="Ascend310P"):
        check("Softmax", onnx_ops.run("Softmax", x), x, 13)


@pytest.mark.parametrize("op_type", BOTH)
@pytest.mark.parametrize("version", TYPES)
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 0, 4)])
def test_empty_tensors(op_type, version, shape):
    assert onnx_ops.run(op_type, np.ones(shape), opset=version).shape == shape


@pytest.mark.parametrize(
    ("op_type", "row", "wanted"),
    [
        ("Softmax", [-1, 0, 1], [0.09003058, 0.24472848, 0.66524094]),
        ("LogSoftmax", [-1, 0, 1], [-2.407606, -1.407606, -0.407606]),
        ("Softmax", [0, 1, 2, 3], [0.0320586, 0.08714432, 0.23688284, 0.6439143]),
        ("LogSoftmax", [0, 1, 2, 3], [-3.4401896, -2.4401896, -1.4401896, -0.4401897]),
    ],
)
@pytest.mark.parametrize("shift", [0, 10000])
def test_section_4_expected_numbers(op_type, row, wanted, shift):
    got = onnx_ops.run(op_type, np.array([row], np.float32) + shift)
    np.testing.assert_allclose(got, [wanted], rtol=1e-6)


def test_section_4_log_softmax_of_underflow_is_finite():
    """As the function body's, not as log(softmax(x)) would have it."""
    got = onnx_ops.run("LogSoftmax", np.array([[0.0, -200.0]], np.float32))
    np.testing.assert_array_equal(got, [[0.0, -200.0]])


@pytest.mark.parametrize("op_type", BOTH)
def test_two_phases(device, stream, op_type):
    x = X.astype(np.float32)
    row = onnx_ops.OPERATORS[op_type, 11]
    source = device.tensor(x.transpose(2, 0, 1)).transpose(1, 2, 0)
    result = device.zeros(SHAPE)
    size, executor = row.get_workspace_size(source, result, 1)
    assert size > 0  # the view is made dense
    row.execute(device.malloc(size), size, executor, stream)
    stream.synchronize()
    check(op_type, result.numpy(), x, 11, 1)
    with pytest.raises(OnnxError, match=r"consumed[^$]*\[ValidationError\]"):
        row.execute(device.malloc(size), size, executor, stream)


def test_two_phases_refuse_what_does_not_fit(device):
    x, row = device.zeros(SHAPE), onnx_ops.OPERATORS["Softmax", 13]
    for output, kind in (
        (device.zeros((4, 3, 5)), "ShapeInferenceError"),
        (device.zeros(SHAPE, "float16"), "TypeInferenceError"),
        (None, "ValidationError"),
    ):
        with pytest.raises(OnnxError, match="'output'") as caught:
            row.get_workspace_size(x, output)
        assert caught.value.kind == kind


def test_explain_names_the_operator_and_its_rows():
    desc = TensorDesc.dense(SHAPE, as_dtype("float32"))
    assert "params (3, 20, 1)" in onnx_ops.OPERATORS["Softmax", 11].explain(desc, desc)
    assert "params (12, 5, 1)" in onnx_ops.OPERATORS["Softmax", 13].explain(desc, desc)


def test_explain_wants_descriptions():
    desc = TensorDesc.dense(SHAPE, as_dtype("float32"))
    for given, name in (((None, None), "input"), ((desc, None), "output")):
        with pytest.raises(OnnxError, match="is no description of a tensor") as caught:
            onnx_ops.OPERATORS["Softmax", 13].explain(*given)
        assert (caught.value.kind, caught.value.argument) == ("ValidationError", name)


def test_explain_of_a_description_outside_its_storage():
    desc = TensorDesc.dense(SHAPE, as_dtype("float32"))
    outside = replace(desc, offset=1)
    with pytest.raises(OnnxError, match="storage") as caught:
        onnx_ops.OPERATORS["Softmax", 13].explain(outside, desc)
    assert caught.value.kind == "ValidationError"


# ---- the operators of the function bodies, behind the door --------------------------------------

MATHS = ["Constant", "Exp", "Log", "Sub", "Div", "ReduceMax", "ReduceSum"]


def through_the_door(device, stream, name, arrays, attributes, shape):
    door = operator(f"onnx.{name}")
    out = device.empty(shape, arrays[0].dtype)
    tensors = [*map(device.tensor, arrays), out]
    size, executor = door.get_workspace_size(tensors, attributes)
    door.execute(device.malloc(size) if size else None, size, executor, stream)
    stream.synchronize()
    return out.numpy(), executor


A, B = X, np.random.default_rng(1).standard_normal((4, 1)) + 3
CASES = {
    "Constant": ([A], [], SHAPE, A),
    "Exp": ([A], [], SHAPE, np.exp(A)),
    "Log": ([np.abs(A)], [], SHAPE, np.log(np.abs(A))),
    "Sub": ([A, B], [], SHAPE, A - B),
    "Div": ([A, B], [], SHAPE, A / B),
    "ReduceMax": ([A], [0b101, 1], (1, 4, 1), A.max(axis=(0, 2), keepdims=True)),
    "ReduceSum": ([A], [0b010, 0], (3, 5), A.sum(axis=1)),
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", MATHS)
def test_function_body_operators(device, stream, name, dtype):
    arrays, attributes, shape, wanted = CASES[name]
    arrays = [array.astype(FLOATS[dtype]) for array in arrays]
    got, executor = through_the_door(device, stream, name, arrays, attributes, shape)
    tolerance = {"f16": 4e-3, "bf16": 6e-2, "f32": 1e-5, "f64": 1e-12}[dtype]
    np.testing.assert_allclose(got.astype(np.float64), wanted, rtol=tolerance, atol=tolerance)
    if name != "Constant":  # a copy, which has a kernel
        assert "runs on reference: numpy" in executor.plan.explain()


def test_all_of_them_are_here():
    assert {f"onnx.{name}" for name in [*MATHS, *BOTH]} == {
        name for name in dialect_operators if name.startswith("onnx.")
    }


def test_only_the_function_bodies_need_the_reference_backend(device, stream, fresh):
    with settings.override(fallback="error"):
        check("Softmax", onnx_ops.run("Softmax", A.astype(np.float32)), A.astype(np.float32), 13)
        with pytest.raises(RuntimeError, match="onnx_exp") as caught:
            through_the_door(device, stream, "Exp", [A], [], SHAPE)
    assert caught.value.status == 561003
    assert "ACLNN_PY_FALLBACK=allow" in str(caught.value)


def test_reductions_of_nothing(device, stream):
    empty = np.ones((2, 0), np.float32)
    total, _ = through_the_door(device, stream, "ReduceSum", [empty], [0b10, 1], (2, 1))
    largest, _ = through_the_door(device, stream, "ReduceMax", [empty], [0b10, 1], (2, 1))
    np.testing.assert_array_equal(total, [[0], [0]])
    np.testing.assert_array_equal(largest, [[-np.inf], [-np.inf]])


@pytest.mark.parametrize(
    ("name", "shapes", "argument"),
    [("Sub", [(2, 3), (2,), (2, 3)], "B"), ("Div", [(2, 3), (3,), (3,)], "C")],
)
def test_shapes_that_do_not_fit_are_refused(device, name, shapes, argument):
    tensors = [device.zeros(shape) for shape in shapes]
    with pytest.raises(RuntimeError, match=f"'{argument}'") as caught:
        operator(f"onnx.{name}").get_workspace_size(tensors, [])
    assert caught.value.status == 161002
