# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime's four gradients: each row of the table of section 3, refusals included."""

from __future__ import annotations

import re
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

from aclnn_py.core import settings
from aclnn_py.core.desc import TensorDesc
from aclnn_py.core.dtype import as_dtype
from aclnn_py.dialects import onnxruntime as ort
from aclnn_py.dialects.onnx_errors import OrtError, OrtStatus
from support import oracle

CUDA, ROCM = "CUDAExecutionProvider", "ROCMExecutionProvider"
BF16 = ml_dtypes.bfloat16
FOUR = ["SoftmaxGrad", "SoftmaxGrad_13", "LogSoftmaxGrad", "LogSoftmaxGrad_13"]
SHAPE = (3, 4, 5)


def is_log(op_type):
    return op_type.startswith("Log")


def problem(op_type, shape=SHAPE, dtype=np.float32, axis=None, seed=0):
    """Gradient, and the forward result along the axis that the operator means."""
    random = np.random.default_rng(seed)
    g, x = random.standard_normal(shape), random.standard_normal(shape)
    rows, back = as_rows(op_type, x, axis)
    e = np.exp(rows - rows.max(axis=-1, keepdims=True))
    y = e / e.sum(axis=-1, keepdims=True)
    y = back(np.log(y) if is_log(op_type) else y)
    return g.astype(dtype), y.astype(dtype)


def as_rows(op_type, array, axis):
    """The array with rows last, and the way back: by section 3, not by the code."""
    axis = (1 if op_type in ("SoftmaxGrad", "LogSoftmaxGrad") else -1) if axis is None else axis
    if op_type.endswith("_13"):
        moved = np.moveaxis(array, axis, -1)
        return moved, lambda rows: np.moveaxis(rows, -1, axis)
    at = axis % array.ndim
    size = int(np.prod(array.shape[:at], dtype=np.int64))
    return array.reshape(size, -1), lambda rows: rows.reshape(array.shape)


def expected(op_type, g, y, axis=None):
    rows, back = as_rows(op_type, g, axis)
    saved, _ = as_rows(op_type, y, axis)
    name = "LogSoftmaxBackward" if is_log(op_type) else "SoftmaxBackward"
    found = oracle.answer(name, [np.ascontiguousarray(rows), np.ascontiguousarray(saved)], -1)
    terms = np.broadcast_to(found.terms, found.value.shape)
    return name, oracle.Answer(back(found.value), back(found.largest_term), back(terms))


def check(op_type, got, g, y, axis=None):
    """The two-phase bounds, and ONNX Runtime's own (section 6)."""
    name, wanted = expected(op_type, g, y, axis)
    assert got.dtype == g.dtype
    assert got.shape == g.shape
    assert oracle.worst(name, got, wanted) <= 1
    tolerance = {2: 1e-3, 4: 1e-4, 8: 1e-4}[g.dtype.itemsize] * (8 if g.dtype == BF16 else 1)
    np.testing.assert_allclose(
        got.astype(np.float64), wanted.value.astype(np.float64), rtol=tolerance, atol=tolerance
    )


def refused(status, argument, op_type, *arguments, **options):
    with pytest.raises(OrtError) as caught:
        ort.run(op_type, *arguments, **options)
    error = caught.value
    text = str(error)
    assert error.status == status, text
    assert error.status_name == status.name
    assert f"[{status.name} {int(status)}]" in text
    assert error.argument == argument
    assert error.operator == op_type
    for line in ("got:", "expected:", "fix:"):
        assert re.search(rf"^ *{line} *\S", text, re.MULTILINE), text
    assert error.hint
    return text


# ---- section 3: axis ----------------------------------------------------------------------------


def test_section_3_axis_defaults():
    assert {name: row.default_axis for name, row in ort.OPERATORS.items()} == {
        "SoftmaxGrad": 1, "SoftmaxGrad_13": -1, "LogSoftmaxGrad": 1, "LogSoftmaxGrad_13": -1,
    }  # fmt: skip


@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1, -2, -3])
@pytest.mark.parametrize("op_type", FOUR)
def test_section_3_axis_meaning(op_type, axis):
    """Coercion in the plain variants, a single axis in the others; negative axes in all four."""
    g, y = problem(op_type, axis=axis)
    check(op_type, ort.run(op_type, g, y, axis), g, y, axis)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64], ids=lambda t: t.__name__)
@pytest.mark.parametrize(
    ("shape", "axis"),  # rows on both sides of the 1024 elements where kernels change there
    [((7, 1024), 1), ((7, 1025), 1), ((8, 16, 65), 0), ((8, 16, 129), 1), ((2, 3, 4, 5), -2)],
)
@pytest.mark.parametrize("op_type", FOUR)
def test_section_6_accuracy(op_type, shape, axis, dtype):
    g, y = problem(op_type, shape, dtype, axis, seed=1)
    check(op_type, ort.run(op_type, g, y, axis, provider=CUDA), g, y, axis)


@pytest.mark.parametrize("log", ["", "Log"])
def test_section_3_the_variants_agree_on_the_last_axis_only(log):
    g, y = problem(f"{log}SoftmaxGrad_13")
    single = ort.run(f"{log}SoftmaxGrad_13", g, y, -1)
    np.testing.assert_array_equal(ort.run(f"{log}SoftmaxGrad", g, y, 2), single)
    assert np.abs(ort.run(f"{log}SoftmaxGrad", g, y, 1) - single).max() > 1e-2
    by_default = ort.run(f"{log}SoftmaxGrad", g, y)
    np.testing.assert_array_equal(by_default, ort.run(f"{log}SoftmaxGrad", g, y, -2))


@pytest.mark.parametrize("op_type", FOUR)
@pytest.mark.parametrize(("shape", "axis"), [((2, 3), 2), ((2, 3), -3), ((4,), None), ((4,), 7)])
def test_section_3_axis_out_of_range(op_type, shape, axis):
    if axis is None and op_type.endswith("_13"):
        axis = 1  # the default of the others, which rank 1 does not have
    array = np.ones(shape, np.float32)
    text = refused(OrtStatus.ORT_RUNTIME_EXCEPTION, "axis", op_type, array, array, axis)
    number, rank = 1 if axis is None else axis, len(shape)
    assert f"axis {number} is not in valid range [-{rank},{rank - 1}]" in text


@pytest.mark.parametrize("op_type", FOUR)
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_section_3_rank_0_always_fails(op_type, axis):
    one = np.float32(1)
    text = refused(OrtStatus.ORT_RUNTIME_EXCEPTION, "axis", op_type, one, one, axis)
    assert "is not in valid range [-0,-1]" in text
    assert "rank 1" in text


@pytest.mark.parametrize("axis", [1.0, "1", True, [1], np.array([1]), np.True_])
def test_section_3_axis_is_an_integer(axis):
    g, y = problem("SoftmaxGrad")
    refused(OrtStatus.ORT_INVALID_GRAPH, "axis", "SoftmaxGrad", g, y, axis)


@pytest.mark.parametrize("swap", ["x", None, 1])
def test_swap_is_a_truth_value(swap):
    g, y = problem("SoftmaxGrad_13")
    refused(OrtStatus.ORT_INVALID_ARGUMENT, "swap", "SoftmaxGrad_13", g, y, swap=swap)


@pytest.mark.parametrize("provider", [[], None, 5])
def test_provider_is_a_name(provider):
    g, y = problem("SoftmaxGrad")
    refused(OrtStatus.ORT_INVALID_ARGUMENT, "provider", "SoftmaxGrad", g, y, provider=provider)


@pytest.mark.parametrize("value", [[["a"]], np.zeros((1, 1), np.longdouble), [[1], [1, 2]]])
def test_what_is_no_array_of_numbers(value):
    one = np.ones((1, 1), np.float32)
    with pytest.raises(ort.OrtError) as caught:
        ort.run("SoftmaxGrad", value, one)
    assert caught.value.status == OrtStatus.ORT_INVALID_ARGUMENT


def test_more_dimensions_than_a_tensor_has():
    one = np.ones((1,) * 26, np.float32)
    with pytest.raises(
        ort.OrtError, match=r"'dY' has too many(.|\n)*26 (.|\n)*at most 25"
    ) as caught:
        ort.run("SoftmaxGrad", one, one)
    assert caught.value.status == OrtStatus.ORT_INVALID_ARGUMENT


def test_explain_wants_descriptions():
    with pytest.raises(ort.OrtError, match="is no description of a tensor"):
        ort.OPERATORS["SoftmaxGrad"].explain(None, None, None)


def test_explain_of_a_description_outside_its_storage():
    desc = TensorDesc.dense(SHAPE, as_dtype("float32"))
    outside = replace(desc, offset=1)
    with pytest.raises(OrtError, match="storage") as caught:
        ort.OPERATORS["SoftmaxGrad"].explain(desc, outside, desc)
    assert caught.value.status == OrtStatus.ORT_INVALID_ARGUMENT


# ---- section 3: inputs --------------------------------------------------------------------------


@pytest.mark.parametrize("op_type", ["LogSoftmaxGrad", "LogSoftmaxGrad_13"])
def test_section_3_input_1_of_the_log_variants_is_y_under_the_name_x(op_type):
    g, y = problem(op_type)
    got = ort.run(op_type, g, X=y)
    check(op_type, got, g, y)
    np.testing.assert_array_equal(got, ort.run(op_type, g, y))
    assert [param.name for param in ort.OPERATORS[op_type].spec.tensors] == ["dY", "X", "dX"]
    text = refused(OrtStatus.ORT_INVALID_ARGUMENT, "X", op_type, g, y, X=y)
    assert "twice" in text


@pytest.mark.parametrize("op_type", ["SoftmaxGrad", "SoftmaxGrad_13"])
def test_section_3_the_others_call_it_y(op_type):
    g, y = problem(op_type)
    assert [param.name for param in ort.OPERATORS[op_type].spec.tensors] == ["dY", "Y", "dX"]
    refused(OrtStatus.ORT_INVALID_ARGUMENT, "X", op_type, g, X=y)


@pytest.mark.parametrize("op_type", FOUR)
def test_a_missing_input_is_named(op_type):
    g, _ = problem(op_type)
    refused(OrtStatus.ORT_INVALID_ARGUMENT, "X" if is_log(op_type) else "Y", op_type, g)


@pytest.mark.parametrize("op_type", FOUR)
@pytest.mark.parametrize("shape", [(3, 4), (3, 4, 1), (4, 3, 5), (60,), (0, 4, 5)])
def test_section_3_shapes_that_differ_are_refused(op_type, shape):
    """Undefined upstream: which shape counts depends on the provider there."""
    g, _ = problem(op_type)
    other = np.ones(shape, np.float32)
    saved = "X" if is_log(op_type) else "Y"
    text = refused(OrtStatus.ORT_INVALID_ARGUMENT, saved, op_type, g, other)
    assert "undefined" in text


# ---- section 3: element types -------------------------------------------------------------------

KERNELS = {  # section 3, the rows "CPU kernel T", "CUDA kernel T" and "ROCm kernel T"
    ort.CPU: [np.float32],
    CUDA: [np.float32, np.float64, np.float16, BF16],
    ROCM: [np.float32, np.float16, BF16],
}
FLOATS = [np.float16, np.float32, np.float64, BF16]


@pytest.mark.parametrize("provider", KERNELS)
@pytest.mark.parametrize("dtype", FLOATS, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("op_type", FOUR)
def test_section_3_types(op_type, dtype, provider):
    g, y = problem(op_type, dtype=dtype)
    name = np.dtype(dtype).name
    if is_log(op_type) and name == "bfloat16":  # the schema leaves it out, whoever has a kernel
        text = refused(OrtStatus.ORT_INVALID_GRAPH, "dY", op_type, g, y, provider=provider)
        assert "BF16" in text
    elif dtype in KERNELS[provider] or op_type == "SoftmaxGrad":  # has a function body
        check(op_type, ort.run(op_type, g, y, provider=provider), g, y)
    else:
        text = refused(OrtStatus.ORT_NOT_IMPLEMENTED, "dY", op_type, g, y, provider=provider)
        assert provider in text
        assert "BF16" not in text or op_type.startswith("Softmax")  # the log schemas have none


@pytest.mark.parametrize("op_type", FOUR)
def test_section_3_explain_says_when_it_is_the_function_body(op_type):
    desc = TensorDesc.dense(SHAPE, as_dtype("float64"))
    row = ort.OPERATORS[op_type]
    if op_type == "SoftmaxGrad":
        assert "function body" in row.explain(desc, desc, desc)
    assert "function body" not in row.explain(desc, desc, desc, provider=CUDA)


@pytest.mark.parametrize("dtype", [np.int32, np.bool_, np.complex64, np.int8])
def test_section_3_types_outside_of_the_schema(dtype):
    array = np.ones(SHAPE, dtype)
    for op_type in FOUR:
        refused(OrtStatus.ORT_INVALID_GRAPH, "dY", op_type, array, array, provider=CUDA)


def test_section_3_one_type_for_all():
    g, y = problem("SoftmaxGrad")
    refused(OrtStatus.ORT_INVALID_GRAPH, "Y", "SoftmaxGrad", g, y.astype(np.float16), provider=CUDA)


@pytest.mark.parametrize("provider", ["cpu", "", None, "TensorrtExecutionProvider"])
def test_unknown_providers(provider):
    g, y = problem("SoftmaxGrad")
    refused(OrtStatus.ORT_INVALID_ARGUMENT, "provider", "SoftmaxGrad", g, y, provider=provider)


def test_the_soc_profile_has_no_say():
    g, y = problem("SoftmaxGrad_13", dtype=BF16)
    with settings.override(soc="Ascend310P"):
        check("SoftmaxGrad_13", ort.run("SoftmaxGrad_13", g, y, provider=CUDA), g, y)


def test_an_operator_of_another_name():
    g, y = problem("SoftmaxGrad")
    refused(OrtStatus.ORT_NOT_IMPLEMENTED, "op_type", "SoftmaxGrad_14", g, y)


# ---- section 3: edges ---------------------------------------------------------------------------


@pytest.mark.parametrize("op_type", FOUR)
@pytest.mark.parametrize("shape", [(0,), (0, 4), (4, 0), (2, 0, 3), (0, 0)])
@pytest.mark.parametrize("axis", [0, -1])
def test_section_3_empty_tensors(op_type, shape, axis):
    empty = np.ones(shape, np.float32)
    assert ort.run(op_type, empty, empty, axis).shape == shape


@pytest.mark.parametrize("op_type", FOUR)
def test_section_3_empty_tensors_do_not_hide_a_wrong_axis(op_type):
    empty = np.ones((0, 3), np.float32)
    refused(OrtStatus.ORT_RUNTIME_EXCEPTION, "axis", op_type, empty, empty, 2)


@pytest.mark.parametrize(
    ("op_type", "shape", "axis"),
    [
        ("SoftmaxGrad", (2**16, 2**15), 0),
        ("SoftmaxGrad", (2**31, 1), 1),
        ("SoftmaxGrad_13", (2**31,), 0),
        ("LogSoftmaxGrad_13", (2**16, 2, 2**15), 1),
    ],
)
def test_section_3_sizes_are_32_bit_numbers(op_type, shape, axis):
    desc = TensorDesc.dense(shape, as_dtype("float32"))
    with pytest.raises(OrtError, match="too many rows") as caught:
        ort.OPERATORS[op_type].explain(desc, desc, desc, axis)
    assert caught.value.status == OrtStatus.ORT_RUNTIME_EXCEPTION
    smaller = TensorDesc.dense((2**15, *shape[1:-1], 2**15), as_dtype("float32"))
    assert "1 step" in ort.OPERATORS[op_type].explain(smaller, smaller, smaller, axis)


@pytest.mark.parametrize("shape", [(0, 2**31), (2**31, 0)])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("op_type", FOUR)
def test_section_3_empty_tensors_have_any_sizes(op_type, shape, axis):
    desc = TensorDesc.dense(shape, as_dtype("float32"))
    assert "nothing to do" in ort.OPERATORS[op_type].explain(desc, desc, desc, axis)


@pytest.mark.parametrize("op_type", FOUR)
def test_numerics_y_that_is_no_probability_and_special_values(op_type):
    g = np.array([[1.0, -88.0, 88.0], [np.nan, 1.0, 1.0], [0.0, np.inf, 1.0]], np.float32)
    y = np.array([[3.0, -2.0, 0.0], [0.5, 0.25, 0.25], [0.0, 0.0, 1.0]], np.float32)
    check(op_type, got := ort.run(op_type, g, y, 1), g, y, 1)
    assert np.isnan(got[1]).all()
    assert not np.isnan(got[0]).any()


# ---- section 3: swap, rows, swap back -----------------------------------------------------------

ALIGNED = 512  # what a temporary of SHAPE takes


@pytest.mark.parametrize("op_type", ["SoftmaxGrad_13", "LogSoftmaxGrad_13"])
@pytest.mark.parametrize("axis", [0, 1, -2, -3])
def test_section_3_swap_takes_three_temporaries(device, stream, op_type, axis):
    g, y = problem(op_type, axis=axis)
    row = ort.OPERATORS[op_type]
    tensors = [device.tensor(g), device.tensor(y), device.empty(SHAPE)]
    size, executor = row.get_workspace_size(*tensors, axis, swap=True)
    assert size == 3 * ALIGNED
    kernel = "log_softmax_backward" if is_log(op_type) else "softmax_backward"
    steps = [step.name for step in executor.plan.steps]
    assert steps == ["swap", "swap", kernel, "swap back"]
    assert executor.plan.steps[2].params[2] == 1  # rows
    row.execute(device.malloc(size), size, executor, stream)
    stream.synchronize()
    check(op_type, tensors[2].numpy(), g, y, axis)
    name, wanted = expected(op_type, g, y, axis)
    assert oracle.worst(name, ort.run(op_type, g, y, axis), wanted) <= 1


@pytest.mark.parametrize("op_type", ["SoftmaxGrad_13", "LogSoftmaxGrad_13"])
def test_section_3_explain_shows_which(op_type):
    desc = TensorDesc.dense(SHAPE, as_dtype("float32"))
    row = ort.OPERATORS[op_type]
    swapped = row.explain(desc, desc, desc, 1, swap=True)
    assert (
        swapped.index("swap: dY")
        < swapped.index("softmax_backward:")
        < swapped.index("swap back: ")
    )
    assert f"workspace {3 * ALIGNED} bytes" in swapped
    strided = row.explain(desc, desc, desc, 1)
    assert "swap" not in strided
    assert "params (3, 4, 5)" in strided
    assert "workspace 0 bytes" in strided
    assert "swap" not in row.explain(desc, desc, desc, -1, swap=True)


def test_swap_of_views(device, stream):
    """Strided inputs and a strided result, over the very memory of an input."""
    g, y = problem("SoftmaxGrad_13", (5, 3, 4), axis=1)
    gradient = device.tensor(g.transpose(2, 0, 1)).transpose(1, 2, 0)
    saved = device.tensor(np.repeat(y, 2, axis=1)).view((5, 3, 4), (24, 8, 1))
    row = ort.OPERATORS["SoftmaxGrad_13"]
    size, executor = row.get_workspace_size(gradient, saved, gradient, 1, swap=True)
    row.execute(device.malloc(size), size, executor, stream)
    stream.synchronize()
    check("SoftmaxGrad_13", gradient.numpy(), g, y, 1)


@pytest.mark.parametrize("op_type", ["SoftmaxGrad", "LogSoftmaxGrad"])
def test_swap_has_no_meaning_for_a_coerced_axis(op_type):
    g, y = problem(op_type)
    refused(OrtStatus.ORT_INVALID_ARGUMENT, "swap", op_type, g, y, swap=True)


# ---- two phases ---------------------------------------------------------------------------------


@pytest.mark.parametrize("op_type", FOUR)
def test_two_phases_in_their_own_names(device, stream, op_type):
    g, y = problem(op_type)
    gradient, saved, result = device.tensor(g), device.tensor(y), device.zeros(SHAPE)
    planner = getattr(ort, f"{op_type}GetWorkspaceSize")
    size, executor = planner(gradient, saved, result)
    assert executor.operator == op_type
    assert not result.numpy().any()
    getattr(ort, op_type)(None if not size else device.malloc(size), size, executor, stream)
    stream.synchronize()
    check(op_type, result.numpy(), g, y)


def test_phase_two_refuses_with_a_status_of_this_dialect(device, stream):
    g, y = problem("SoftmaxGrad_13", axis=0)
    tensors = [device.tensor(g), device.tensor(y), device.zeros(SHAPE)]
    size, executor = ort.SoftmaxGrad_13GetWorkspaceSize(*tensors, 0, swap=True)
    for workspace, given in ((device.malloc(size - 1), size), (device.malloc(size), size - 1)):
        with pytest.raises(OrtError, match="workspace") as caught:
            ort.SoftmaxGrad_13(workspace, given, executor, stream)
        assert caught.value.status == OrtStatus.ORT_INVALID_ARGUMENT
    with pytest.raises(OrtError, match="SoftmaxGrad_13"):
        ort.SoftmaxGrad(device.malloc(size), size, executor, stream)
    ort.SoftmaxGrad_13(device.malloc(size), size, executor, stream)
    stream.synchronize()
    check("SoftmaxGrad_13", tensors[2].numpy(), g, y, 0)
    with pytest.raises(OrtError, match=r"consumed[^$]*\[ORT_INVALID_ARGUMENT 2\]"):
        ort.SoftmaxGrad_13(device.malloc(size), size, executor, stream)


def test_phase_one_refuses_what_is_no_tensor_and_destroyed_ones(device):
    x = device.zeros(SHAPE)
    with pytest.raises(OrtError, match="'dX' is missing"):
        ort.SoftmaxGradGetWorkspaceSize(x, x)
    with pytest.raises(OrtError, match="'dY' is no Tensor"):
        ort.SoftmaxGradGetWorkspaceSize(np.zeros(SHAPE), x, x)
    gone = device.zeros(SHAPE)
    gone.close()
    with pytest.raises(OrtError, match="destroyed"):
        ort.SoftmaxGradGetWorkspaceSize(x, gone, x)
