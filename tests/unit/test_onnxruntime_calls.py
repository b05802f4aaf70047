# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime's two-phase functions: what passed its checks once is not checked again."""

from __future__ import annotations

import numpy as np
import pytest

import aclnn_py as acl
from aclnn_py.core.errors import AclnnError
from aclnn_py.dialects import onnxruntime as ort
from aclnn_py.dialects.onnx_errors import OrtError
from aclnn_py.dialects.onnxruntime_grad import GradOperator

SHAPE = (2, 3, 4)
GRADIENT = np.linspace(-1, 1, 24, dtype=np.float32).reshape(SHAPE)
FORWARD = np.full(SHAPE, 0.25, np.float32)


@pytest.fixture
def checks(monkeypatch):
    """How many calls were checked."""
    seen = []
    real = GradOperator.get_workspace_size

    def counted(row, *arguments, **named):
        seen.append(row.op_type)
        return real(row, *arguments, **named)

    monkeypatch.setattr(GradOperator, "get_workspace_size", counted)
    return seen


@pytest.mark.parametrize("name", list(ort.OPERATORS))
def test_a_second_call_is_not_checked(device, stream, checks, name):
    plan, run = getattr(ort, f"{name}GetWorkspaceSize"), getattr(ort, name)
    gradient, saved = device.tensor(GRADIENT), device.tensor(FORWARD)
    row = ort.OPERATORS[name]
    want = ort.run(name, GRADIENT, FORWARD)
    checks.clear()
    axis = row.default_axis
    for positional, named in (
        ((gradient, saved), {"axis": axis}),
        ((gradient, saved), {}),
        ((gradient,), {"Y": saved, "axis": axis}),
    ):
        result = device.zeros(SHAPE, np.float32)
        size, executor = plan(*positional, dX=result, **named)
        run(device.malloc(size) if size else None, size, executor, stream)
        stream.synchronize()
        np.testing.assert_array_equal(result.numpy(), want)
    assert len(checks) <= 1  # 0 where another test was first


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"axis": 3}, "RUNTIME_EXCEPTION"),
        ({"axis": True}, "INVALID_GRAPH"),
        ({"axis": 1.0}, "INVALID_GRAPH"),
        ({"provider": "NoProvider"}, "INVALID_ARGUMENT"),
        ({"Y": None}, "INVALID_ARGUMENT"),
        ({"swap": True}, None),
        ({"dX": "other"}, "INVALID_ARGUMENT"),
    ],
    ids=str,
)
def test_bad_calls_are_refused_after_good_ones(device, checks, change, status):
    tensors = {"dY": device.tensor(GRADIENT), "Y": device.tensor(FORWARD)}
    right = tensors | {"dX": device.empty(SHAPE, np.float32), "axis": 1}
    plan = ort.SoftmaxGrad_13GetWorkspaceSize
    plan(**right)
    plan(**right)
    checks.clear()
    if change.get("dX") == "other":
        change = {"dX": device.empty((2, 3), np.float32)}
    if status is None:
        plan(**(right | change))
    else:
        with pytest.raises(OrtError, match=status):
            plan(**(right | change))
    assert len(checks) == 1


def test_refusals_of_the_library_are_in_its_words(device, stream):
    tensors = [device.tensor(GRADIENT), device.tensor(FORWARD), device.empty(SHAPE, np.float32)]
    plan = ort.SoftmaxGrad_13GetWorkspaceSize
    plan(*tensors, 1)
    size, executor = plan(*tensors, 1)
    ort.SoftmaxGrad_13(None, size, executor, stream)
    with pytest.raises(OrtError, match="consumed"):
        ort.SoftmaxGrad_13(None, size, executor, stream)
    tensors[0].close()
    with pytest.raises(OrtError, match="destroyed"):
        plan(*tensors, 1)
    with pytest.raises(TypeError):
        plan()


@pytest.mark.parametrize("name", ["dY", "Y", "X"])
def test_what_is_no_array_of_numbers_is_named(name):
    given = {"dY": GRADIENT, "Y": FORWARD, "X": None} | {name: "abc"}
    with pytest.raises(
        OrtError, match=rf"argument '{name}'(.|\n)*ORT_INVALID_ARGUMENT 2"
    ) as caught:
        ort.run("SoftmaxGrad_13", given["dY"], given["Y"], 1, X=given["X"])
    assert (caught.value.operator, caught.value.argument) == ("SoftmaxGrad_13", name)


def test_a_repeatable_executor_reads_addresses_anew(device, stream):
    gradient, saved = device.tensor(GRADIENT), device.tensor(FORWARD)
    results = [device.zeros(SHAPE, np.float32) for _ in range(2)]
    _, executor = ort.SoftmaxGrad_13GetWorkspaceSize(gradient, saved, dX=results[0])
    acl.aclSetAclOpExecutorRepeatable(executor)
    for result in results:
        acl.aclSetRawTensorAddr(results[0], acl.aclGetRawTensorAddr(result))
        ort.SoftmaxGrad_13(None, 0, executor, stream)
    stream.synchronize()
    want = ort.run("SoftmaxGrad_13", GRADIENT, FORWARD)
    np.testing.assert_array_equal(results[1].numpy(), want)
    acl.aclDestroyAclOpExecutor(executor)


def test_what_is_destroyed_after_phase_1_cannot_be_read_anew(device, stream):
    gradient, saved = device.tensor(GRADIENT), device.tensor(FORWARD)
    result = device.zeros(SHAPE, np.float32)
    lost = acl.aclCreateTensor(
        SHAPE, acl.ACL_FLOAT, None, 0, acl.ACL_FORMAT_ND, SHAPE, acl.aclGetRawTensorAddr(result)
    )
    _, executor = ort.SoftmaxGrad_13GetWorkspaceSize(gradient, saved, dX=lost)
    acl.aclDestroyTensor(lost)
    with pytest.raises(AclnnError, match="dX") as caught:
        acl.aclSetAclOpExecutorRepeatable(executor)
    assert caught.value.status == 161002
    ort.SoftmaxGrad_13(None, 0, executor, stream)  # once, as planned
    stream.synchronize()
    np.testing.assert_array_equal(result.numpy(), ort.run("SoftmaxGrad_13", GRADIENT, FORWARD))
