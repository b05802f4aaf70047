# SPDX-License-Identifier: Apache-2.0
"""Phase 2: its checks, their order, and what a refusal leaves behind."""

from __future__ import annotations

import numpy as np
import pytest

import aclnn_py as acl
from support.problems import OPERATORS, Call, staged
from support.tensors import build, check_error, planner, runner

NULLPTR, INVALID, RUNTIME, UNKNOWN, INNER = 161001, 161002, 361001, 561000, 561103
POISON = 77


def refused(status, argument, function, *values, operator=None, says=()):
    with pytest.raises(acl.AclError) as caught:
        function(*values)
    text = check_error(caught.value, status, operator=operator, argument=argument)
    for word in says:
        assert str(word) in text, f"{word!r} missing in:\n{text}"
    return text


def untouched(call) -> bool:
    return bool(np.all(call.out.numpy().astype(np.float32) == POISON))


@pytest.fixture
def call(device, fresh):
    return staged(device)


def submit(call, queue, **changes):
    """Phase 2 with some arguments exchanged, in the C order."""
    values = {"workspace": call.workspace, "size": call.size, "executor": call.executor} | changes
    operator = values.pop("operator", call.operator)
    queue = values.pop("stream", queue)
    runner(operator)(values["workspace"], values["size"], values["executor"], queue)


# ---- one fault at a time ------------------------------------------------------------------------


@pytest.mark.parametrize("operator", OPERATORS)
def test_null_executor(operator, stream):
    refused(NULLPTR, "executor", runner(operator), None, 0, None, stream, operator=operator)


@pytest.mark.parametrize("repeatable", [False, True])
def test_null_workspace_with_a_size_destroys_the_executor(call, stream, repeatable):
    call.plan()
    if repeatable:
        acl.aclSetAclOpExecutorRepeatable(call.executor)
    assert call.size > 0
    with pytest.raises(acl.AclError) as caught:
        submit(call, stream, workspace=None)
    check_error(caught.value, NULLPTR, operator=call.operator, argument="workspace")
    refused(UNKNOWN, None, acl.aclDestroyAclOpExecutor, call.executor)
    assert untouched(call)


def test_null_workspace_with_a_size_is_refused_even_where_none_is_needed(device, fresh, stream):
    call = Call(device, "Softmax")
    call.plan()
    assert call.size == 0
    with pytest.raises(acl.AclError) as caught:
        submit(call, stream, size=1)
    check_error(caught.value, NULLPTR, operator="Softmax", argument="workspace")
    refused(UNKNOWN, None, acl.aclDestroyAclOpExecutor, call.executor)


@pytest.mark.parametrize("operator", OPERATORS)
def test_second_run_of_a_single_use_executor(device, fresh, stream, operator):
    call = Call(device, operator)
    call.go(stream)
    with pytest.raises(acl.AclError) as caught:
        submit(call, stream)
    text = check_error(caught.value, INVALID, operator=operator, argument="executor")
    assert "consumed" in text
    call.assert_right()


@pytest.mark.parametrize("other", [name for name in OPERATORS if name != "SoftmaxBackward"])
def test_phase_2_of_another_operator(call, stream, other):
    call.plan()
    with pytest.raises(acl.AclError) as caught:
        submit(call, stream, operator=other)
    text = check_error(caught.value, INVALID, operator=other, argument="executor")
    assert "aclnnSoftmaxBackward" in text
    assert f"aclnn{other}" in text
    assert untouched(call)
    call.run(stream)
    stream.synchronize()
    call.assert_right()


@pytest.mark.parametrize(
    "short", ["by one byte", "nothing at all", "past its allocation", "foreign", "freed", "host"]
)
def test_workspace_that_does_not_hold_the_plan(device, call, stream, short):
    call.plan()
    size, keep = call.size, device.malloc(call.size)
    changes = {
        "by one byte": lambda: {"size": size - 1},
        "nothing at all": lambda: {"workspace": None, "size": 0},
        "past its allocation": lambda: {"workspace": keep.ptr + 64},
        "foreign": lambda: {"workspace": 0xDEAD000},
        "freed": lambda: {"workspace": _freed_address(device, size)},
        "host": lambda: {"workspace": np.zeros(size, np.uint8).ctypes.data},
    }[short]()
    with pytest.raises(acl.AclError) as caught:
        submit(call, stream, **changes)
    text = check_error(
        caught.value, INVALID, operator=call.operator, argument="workspace/workspaceSize"
    )
    if short in ("by one byte", "nothing at all"):
        assert str(size) in text
        assert str(changes["size"]) in text
    assert untouched(call)
    call.run(stream)
    stream.synchronize()
    call.assert_right()


def _freed_address(device, size):
    buffer = device.malloc(size)
    address = buffer.ptr
    buffer.close()
    return address


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize(
    "fault", ["no data", "foreign address", "freed memory", "past the allocation"]
)
@pytest.mark.parametrize("which", [0, -1])
def test_tensor_without_live_data(device, fresh, stream, operator, fault, which):
    data = device.malloc(24)
    small = device.malloc(24)
    bad = {
        "no data": None,
        "foreign address": 0xDEAD000,
        "freed memory": _freed_address(device, 24),
        "past the allocation": small.ptr + small.nbytes,  # farther on others may begin
    }[fault]
    names = {"Softmax": ("self", "out"), "LogSoftmax": ("self", "out")}.get(
        operator, ("gradOutput", "out")
    )
    tensors = [build("FLOAT[2,3]", data) for _ in range(3 if "Backward" in operator else 2)]
    tensors[which] = build("FLOAT[2,3]", bad)
    size, executor = planner(operator)(*tensors[:-1], 1, tensors[-1])
    with pytest.raises(acl.AclError) as caught:
        runner(operator)(None, size, executor, stream)
    check_error(caught.value, INVALID, operator=operator, argument=names[which])
    acl.aclDestroyAclOpExecutor(executor)


def test_closed_stream(device, call):
    closed = device.create_stream()
    closed.close()
    call.plan()
    acl.aclGetRecentErrMsg()
    with pytest.raises(acl.AclError) as caught:
        submit(call, closed)
    text = check_error(caught.value, RUNTIME, operator=call.operator, argument="stream")
    assert "107017" in text
    told = acl.aclGetRecentErrMsg() or ""
    assert told.count("destroyed already") == 2, told  # the runtime's own message, and the call's
    with device.create_stream() as alive:
        call.run(alive)
        alive.synchronize()
    call.assert_right()


# ---- two faults at a time: the first in the list decides ----------------------------------------

ORDER = [
    # (what is wrong, status, argument); the row's faults are all present at once
    (("executor NULL", "workspace NULL"), NULLPTR, "executor"),
    (("workspace NULL", "consumed"), NULLPTR, "workspace"),
    (("workspace NULL", "other operator"), NULLPTR, "workspace"),
    (("workspace NULL", "stream closed"), NULLPTR, "workspace"),
    (("consumed", "other operator"), INVALID, "executor consumed"),
    (("consumed", "workspace small"), INVALID, "executor consumed"),
    (("consumed", "stream closed"), INVALID, "executor consumed"),
    (("other operator", "workspace small"), INVALID, "executor"),
    (("other operator", "no data"), INVALID, "executor"),
    (("other operator", "stream closed"), INVALID, "executor"),
    (("workspace small", "no data"), INVALID, "workspace/workspaceSize"),
    (("workspace small", "stream closed"), INVALID, "workspace/workspaceSize"),
    (("no data", "stream closed"), INVALID, "gradOutput"),
]


@pytest.mark.parametrize(
    ("faults", "status", "argument"), ORDER, ids=[" + ".join(row[0]) for row in ORDER]
)
def test_order_of_the_checks(device, call, stream, faults, status, argument):
    call.plan()
    changes = {}
    if "consumed" in faults:
        call.run(stream)
        stream.synchronize()
    if "no data" in faults:
        acl.aclSetRawTensorAddr(call.inputs[0], None)
    if "executor NULL" in faults:
        changes["executor"] = None
    if "workspace NULL" in faults:
        changes["workspace"] = None
    if "workspace small" in faults:
        changes["size"] = call.size - 1
    if "other operator" in faults:
        changes["operator"] = "Softmax"
    if "stream closed" in faults:
        closed = device.create_stream()
        closed.close()
        changes["stream"] = closed
    with pytest.raises(acl.AclError) as caught:
        submit(call, stream, **changes)
    argument, *word = argument.split()
    text = check_error(caught.value, status, argument=argument)
    assert all(w in text for w in word)
    assert ("consumed" in text) == bool(word)


# ---- empty calls --------------------------------------------------------------------------------


@pytest.mark.parametrize("operator", OPERATORS)
def test_empty_call_launches_nothing_and_looks_at_nothing(device, fresh, stream, operator):
    tensors = [build("FLOAT[0,3]", 0xDEAD000) for _ in range(3 if "Backward" in operator else 2)]
    size, executor = planner(operator)(*tensors[:-1], 1, tensors[-1])
    assert size == 0
    for tensor in tensors:
        acl.aclDestroyTensor(tensor)
    runner(operator)(None, 0, executor, stream)
    stream.synchronize()
    with pytest.raises(acl.AclError) as caught:
        runner(operator)(None, 0, executor, stream)
    check_error(caught.value, INVALID, operator=operator, argument="executor")


@pytest.mark.parametrize("victim", ["self", "out"])
def test_workspace_inside_a_tensor(device, stream, fresh, victim):
    x, out = device.zeros((64, 64), "float16"), device.zeros((64, 64), "float32")
    size, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, 1, out)
    memory = device.malloc(size + out.nbytes)
    inside = {"self": x, "out": out}[victim]
    acl.aclSetRawTensorAddr(inside, memory + 256)
    if victim == "out":  # a contiguous out counts as it was in phase 1
        size, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, 1, out)
    with pytest.raises(acl.AclError) as caught:
        acl.aclnnSoftmax(memory, size, executor, stream)
    check_error(caught.value, 161002, operator="Softmax", argument="workspace")
    assert victim in str(caught.value)
    acl.aclDestroyAclOpExecutor(executor)
