# SPDX-License-Identifier: Apache-2.0
"""Who keeps what alive: executors their tensors, queued tasks the memory, views their storage."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import aclnn_py as acl
from aclnn_native import ffi, lib
from support import oracle
from support.latch import Latch
from support.problems import OPERATORS, Call, random_inputs, staged
from support.tensors import build, check_error, planner, runner


def churn(device):
    """Collect what nobody holds, and fill the memory that it leaves with something else."""
    gc.collect()
    return [device.full((512,), 1e30, np.float32) for _ in range(16)]


@pytest.mark.parametrize("operator", OPERATORS)
def test_an_executor_keeps_its_tensors_alive(device, fresh, stream, operator):
    arrays = random_inputs(operator, (8, 64), np.float32, 1)
    out = device.zeros((8, 64), "float32")
    size, executor = planner(operator)(*(device.tensor(a) for a in arrays), 1, out)
    held = churn(device)
    runner(operator)(None, size, executor, stream)
    stream.synchronize()
    assert oracle.worst(operator, out.numpy(), oracle.answer(operator, arrays, 1)) <= 1
    assert held


@pytest.mark.parametrize("operator", OPERATORS)
def test_a_queued_task_keeps_what_it_touches(device, fresh, stream, operator):
    """Inputs, workspace, executor and their Python objects all go while the stream is parked."""
    call = Call(device, operator, (8, 64), dtype=np.float16, out_dtype=np.float32)
    with Latch(stream):
        call.plan()
        call.run(stream)
        for tensor in call.inputs:
            buffer = acl.aclGetRawTensorAddr(tensor)
            tensor.close()
            assert buffer
        if call.workspace:
            call.workspace.close()
        del tensor
        call.inputs = call.workspace = call.executor = None
        held = churn(device)
        assert np.all(held[0].numpy() == np.float32(1e30))
    stream.synchronize()
    if operator == "LogSoftmax":  # casts its input, so computes in float32
        wide = [array.astype(np.float32) for array in call.arrays]
        assert oracle.worst(operator, call.out.numpy(), oracle.answer(operator, wide, -1)) <= 1
    else:
        assert oracle.worst(operator, call.out.numpy().astype(np.float16), call.expected()) <= 1


def test_freed_memory_is_given_back_only_when_the_task_has_run(device, fresh, stream):
    call = staged(device)
    before = lib.aclpy_memory_in_use()
    call.plan()
    planned = lib.aclpy_memory_in_use()
    assert planned >= before + call.size
    with Latch(stream):
        call.run(stream)
        call.workspace.close()
        assert lib.aclpy_memory_in_use() == planned
    stream.synchronize()
    assert lib.aclpy_memory_in_use() == before


def test_views_keep_their_storage(device, fresh, stream):
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    view = device.tensor(array).transpose(1, 0)
    held = churn(device)
    assert np.array_equal(view.numpy(), array.T)
    assert held


def test_results_outlive_their_tensor(device):
    tensor = device.tensor(np.arange(6, dtype=np.float32))
    copy = tensor.numpy()
    tensor.close()
    held = churn(device)
    assert copy.tolist() == [0, 1, 2, 3, 4, 5]
    assert held


@pytest.mark.parametrize("shift", [-3, 1, 5])
def test_an_out_that_overlaps_its_input_halfway_is_refused(device, fresh, stream, shift):
    """Undefined at the vendor's; here the kernel would read what it has just written."""
    memory = device.malloc(4 * 40)
    source = build("FLOAT[2,8] offset=8 storage=40", memory)
    out = build(f"FLOAT[2,8] offset={8 + shift} storage=40", memory)
    size, executor = planner("Softmax")(source, 1, out)
    assert size == 0
    with pytest.raises(acl.AclError) as caught:
        runner("Softmax")(None, size, executor, stream)
    check_error(caught.value, 161002, operator="Softmax", argument="self/out")
    acl.aclDestroyAclOpExecutor(executor)


def test_an_out_beside_its_input_in_one_allocation_is_fine(device, fresh, stream):
    base = device.tensor(np.arange(32, dtype=np.float32))
    source, out = base.view((2, 8), None, 0), base.view((2, 8), None, 16)
    size, executor = planner("Softmax")(source, 1, out)
    runner("Softmax")(None, size, executor, stream)
    stream.synchronize()
    array = np.arange(16, dtype=np.float32).reshape(2, 8)
    assert oracle.worst("Softmax", out.numpy(), oracle.answer("Softmax", [array], 1)) <= 1
    assert np.array_equal(source.numpy(), array)


def test_a_buffer_whose_memory_was_freed_by_address_frees_nobody_elses(device):
    size = 12345
    buffer = device.malloc(size)
    address = buffer.ptr
    acl.aclrtFree(address)
    others = []
    # The allocator hands freed memory out again sooner or later; usually at once.
    for _ in range(64):
        others.append(device.malloc(size))
        if others[-1].ptr == address:
            break
    del buffer
    gc.collect()
    info = ffi.new("aclpy_memory_info *")
    for other in others:
        lib.aclpy_memory_query(other.ptr, info)
        assert info.kind == lib.ACLPY_MEMORY_DEVICE
