# SPDX-License-Identifier: Apache-2.0
"""Operators in stream order: asynchronous to the host, in order, ordered by events, kept alive."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import aclnn_py as acl
from support import oracle
from support.latch import Latch

POISON = np.float32(-77.0)
NAMES = ("Softmax", "LogSoftmax", "SoftmaxBackward", "LogSoftmaxBackward")


class Call:
    """One planned call whose output is full of poison."""

    def __init__(self, device, name, shape=(8, 32), seed=3):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal(shape).astype(np.float32)
        forward = "LogSoftmax" if name.startswith("Log") else "Softmax"
        saved = oracle.answer(forward, [x], -1).value.astype(np.float32)
        self.name = name
        self.arrays = [x, saved] if name.endswith("Backward") else [x]
        self.inputs = [device.tensor(array) for array in self.arrays]
        self.out = device.full(shape, POISON)
        plan = getattr(acl, f"aclnn{name}GetWorkspaceSize")
        self.size, self.executor = plan(*self.inputs, -1, self.out)

    def run(self, stream):
        getattr(acl, f"aclnn{self.name}")(None, self.size, self.executor, stream)

    def assert_right(self):
        wanted = oracle.answer(self.name, self.arrays, -1)
        assert oracle.worst(self.name, self.out.numpy(), wanted) <= 1


def raw(tensor):
    """The memory as it is now, without waiting for anything: the device is this host."""
    count = tensor.nbytes // 4
    return np.ctypeslib.as_array(
        (np.ctypeslib.ctypes.c_float * count).from_address(tensor.data_ptr)
    )


@pytest.mark.parametrize("name", NAMES)
def test_phase_2_returns_before_it_runs(device, stream, name):
    call = Call(device, name)
    with Latch(stream):
        call.run(stream)
        assert (raw(call.out) == POISON).all()
    stream.synchronize()
    call.assert_right()


def test_an_async_copy_returns_before_it_runs(device, stream):
    source, target = device.zeros((64,)), device.full((64,), POISON)
    with acl.aclrtCreateContext(0), Latch(stream):
        acl.aclrtMemcpyAsync(target.data_ptr, 256, source.data_ptr, 256, 3, stream)
        assert (raw(target) == POISON).all()
    stream.synchronize()
    assert (raw(target) == 0).all()


def test_two_parked_streams_both_hold_an_operator_back(device, stream):
    with device.create_stream() as second:
        calls = [Call(device, "Softmax"), Call(device, "LogSoftmaxBackward")]
        with Latch(stream), Latch(second):
            calls[0].run(stream)
            calls[1].run(second)
            assert all((raw(call.out) == POISON).all() for call in calls)
            assert not stream.query()
            assert not second.query()
        for queue, call in zip((stream, second), calls, strict=True):
            queue.synchronize()
            call.assert_right()


def test_a_stream_that_is_parked_holds_no_other_up(device, stream):
    with device.create_stream() as second, Latch(stream):
        call = Call(device, "SoftmaxBackward")
        call.run(second)
        second.synchronize()
        call.assert_right()


def test_a_consumer_behind_an_event_sees_the_producer(device, stream):
    with device.create_stream() as second:
        producer = Call(device, "LogSoftmax")
        gradient, out = device.tensor(producer.arrays[0]), device.full((8, 32), POISON)
        size, executor = acl.aclnnLogSoftmaxBackwardGetWorkspaceSize(
            gradient, producer.out, -1, out
        )
        with Latch(stream):
            producer.run(stream)
            second.wait(stream.record())
            acl.aclnnLogSoftmaxBackward(None, size, executor, second)
            assert (raw(out) == POISON).all()
        second.synchronize()
        arrays = [producer.arrays[0], producer.out.numpy()]
        wanted = oracle.answer("LogSoftmaxBackward", arrays, -1)
        assert oracle.worst("LogSoftmaxBackward", out.numpy(), wanted) <= 1


@pytest.mark.parametrize("name", NAMES)
def test_everything_may_be_dropped_after_phase_2(device, stream, name):
    call = Call(device, name)
    wanted = oracle.answer(name, call.arrays, -1)
    out = call.out
    with Latch(stream):
        call.run(stream)
        for tensor in call.inputs:
            acl.aclDestroyTensor(tensor)
        del call, tensor
        gc.collect()
        # New memory of the same size would take the place of memory that was let go too early.
        decoys = [device.full((8, 32), 1e6) for _ in range(8)]
    stream.synchronize()
    assert oracle.worst(name, out.numpy(), wanted) <= 1
    assert len(decoys) == 8


def test_memory_freed_while_queued_is_released_after_the_task(device, stream):
    rng = np.random.default_rng(5)
    x = rng.standard_normal((64, 64)).astype(np.float32)
    memory = device.malloc(x.nbytes)
    source = acl.aclCreateTensor(x.shape, acl.ACL_FLOAT, None, 0, acl.ACL_FORMAT_ND, None, memory)
    np.copyto(raw(source).reshape(x.shape), x)
    out = device.empty(x.shape)
    size, executor = acl.aclnnSoftmaxGetWorkspaceSize(source, -1, out)
    with Latch(stream):
        acl.aclnnSoftmax(None, size, executor, stream)
        memory.close()
        decoy = device.full(x.shape, 9.0)
        assert decoy.data_ptr != source.data_ptr
    stream.synchronize()
    wanted = oracle.answer("Softmax", [x], -1)
    assert oracle.worst("Softmax", out.numpy(), wanted) <= 1


def test_numpy_waits_for_the_tasks_on_its_memory_and_no_others(device, stream):
    with device.create_stream() as second:
        call = Call(device, "Softmax")
        with Latch(second):
            call.run(stream)
            call.assert_right()  # reads without a synchronize, while the other stream is parked


def test_a_repeatable_executor_may_be_in_flight_several_times(device, stream, fresh):
    call = Call(device, "Softmax")
    acl.aclSetAclOpExecutorRepeatable(call.executor)
    outs = [device.full((8, 32), POISON) for _ in range(4)]
    with Latch(stream):
        for out in outs:
            acl.aclSetOutputTensorAddr(call.executor, 0, call.out, out.data_ptr)
            call.run(stream)
    stream.synchronize()
    wanted = oracle.answer("Softmax", call.arrays, -1)
    for out in outs:
        assert oracle.worst("Softmax", out.numpy(), wanted) <= 1
    acl.aclDestroyAclOpExecutor(call.executor)


def test_order_within_a_stream_over_shared_memory(device, stream):
    x = np.random.default_rng(9).standard_normal((16, 40)).astype(np.float32)
    tensor = device.tensor(x)
    with Latch(stream):
        for _ in range(5):
            size, executor = acl.aclnnSoftmaxGetWorkspaceSize(tensor, -1, tensor)
            acl.aclnnSoftmax(None, size, executor, stream)
    stream.synchronize()
    wanted = x.astype(np.float64)
    for _ in range(5):
        e = np.exp(wanted - wanted.max(-1, keepdims=True))
        wanted = e / e.sum(-1, keepdims=True)
    np.testing.assert_allclose(tensor.numpy(), wanted, rtol=1e-5)
