# SPDX-License-Identifier: Apache-2.0
"""Python functions as steps of a plan."""

from __future__ import annotations

import pytest

import aclnn_py as acl
from aclnn_native import ffi, lib
from aclnn_runtime.step_call import find_step, forget_retired, register_step, release_step


def run(device, token, operands):
    """Execute a plan of one call step, whose operands lie 8 bytes apart in the workspace."""
    step = ffi.new("aclpy_step_desc[1]")
    step[0].call = lib.aclpy_py_step_call
    step[0].call_token = token
    step[0].n_operands = operands
    step[0].shape.cost_ns = 1e9
    for number in range(operands):
        step[0].operands[number].base = lib.ACLPY_BASE_WORKSPACE
        step[0].operands[number].byte_offset = 8 * number
    op = lib.aclpy_operator_id(b"aclnnTest")
    desc = ffi.new("aclpy_plan_desc *", {"op": op, "workspace_bytes": 64, "n_steps": 1})
    desc.steps = step
    plan, executor = ffi.new("aclpy_handle *"), ffi.new("aclpy_handle *")
    assert lib.aclpy_plan_create(desc, plan) == 0
    assert lib.aclpy_executor_create(plan[0], ffi.NULL, 0, executor) == 0
    with device.create_stream() as stream, device.malloc(64) as workspace:
        assert lib.aclpy_execute(op, workspace.ptr, 64, executor[0], stream.handle) == 0
        try:
            stream.synchronize()
        finally:
            lib.aclpy_plan_release(plan[0])
        return workspace.ptr


def test_a_step_gets_its_addresses(device):
    seen = []
    token = register_step((seen.append, 3))
    workspace = run(device, token, 3)
    assert seen == [(workspace, workspace + 8, workspace + 16)]
    forget_retired()
    with pytest.raises(KeyError):
        find_step(token)


def test_a_failed_step_fails_the_task_with_its_cause(device):
    def broken(_):
        raise ValueError("as intended")

    token = register_step((broken, 1))
    with pytest.raises(acl.AclError) as caught:
        run(device, token, 1)
    assert caught.value.status == 507000
    assert caught.value.operator == "aclnnTest"
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_released_step_never_counts_as_done(device):
    token = register_step((print, 1))
    release_step(token)
    with pytest.raises(acl.AclError) as caught:
        run(device, token, 1)
    assert caught.value.status == 507000
    assert isinstance(caught.value.__cause__, KeyError)
