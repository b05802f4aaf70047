# SPDX-License-Identifier: Apache-2.0
"""Phase 2 and async copies return while their stream is parked: the result is not there yet."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import aclnn_py as acl
from aclnn_native import lib
from support.latch import Latch
from support.problems import OPERATORS, Call

POISON = 77
SMALL, LARGE = (
    (2, 3),
    (256, 1024),
)  # one that may run at once on an idle stream, one that never does


def now(tensor) -> np.ndarray:
    """What the memory holds at this moment; `Tensor.numpy` would wait for queued work."""
    address = acl.aclGetRawTensorAddr(tensor)
    raw = ctypes.string_at(address, tensor.nbytes)
    return np.frombuffer(raw, tensor.dtype).reshape(tensor.shape)


@pytest.mark.parametrize("shape", [SMALL, LARGE], ids=["small", "large"])
@pytest.mark.parametrize("out_dtype", [np.float32, np.float16], ids=["one step", "staged"])
@pytest.mark.parametrize("operator", OPERATORS)
def test_phase_2_returns_before_the_result_is_there(device, stream, operator, shape, out_dtype):
    call = Call(device, operator, shape, out_dtype=out_dtype)
    call.plan()
    with Latch(stream):
        call.run(stream)
        assert np.all(now(call.out) == POISON)
        assert not stream.query()
    stream.synchronize()
    assert not np.any(now(call.out) == POISON)
    if out_dtype == np.float32:
        call.assert_right()


@pytest.mark.parametrize("operator", OPERATORS)
def test_reading_a_tensor_waits_for_the_work_on_it(device, stream, operator):
    call, bystander = Call(device, operator), device.full((2, 3), 5, np.float32)
    latch = Latch(stream)
    latch.wait_until_held()
    call.plan()
    call.run(stream)
    assert np.all(bystander.numpy() == 5)  # nothing queued touches it: no waiting
    latch.open()
    call.assert_right()


def test_two_parked_streams_have_a_call_in_flight_each(device, stream):
    with device.create_stream() as second:
        calls = [Call(device, "Softmax", seed=seed) for seed in range(2)]
        for call in calls:
            call.plan()
        with Latch(stream):
            with Latch(second):
                for call, queue in zip(calls, (stream, second), strict=True):
                    call.run(queue)
                assert all(np.all(now(call.out) == POISON) for call in calls)
                assert not stream.query()
                assert not second.query()
            second.synchronize()
            calls[1].assert_right()
            assert np.all(now(calls[0].out) == POISON)
        stream.synchronize()
        calls[0].assert_right()


def test_a_consumer_on_another_stream_waits_for_its_event(device, stream):
    """softmax on one stream, its gradient on another: ordered by an event and by nothing else."""
    forward = Call(device, "Softmax", (64, 100))
    backward = Call(device, "SoftmaxBackward", (64, 100))
    backward.inputs[1] = forward.out
    forward.plan()
    backward.plan()
    with device.create_stream() as second:
        with Latch(stream):
            forward.run(stream)
            second.wait(stream.record())
            backward.run(second)
            assert np.all(now(backward.out) == POISON)
        second.synchronize()
    backward.arrays[1] = forward.out.numpy()
    forward.assert_right()
    backward.assert_right()


def test_calls_of_one_stream_run_in_order(device, stream):
    """Twenty softmaxes in place, one upon the other."""
    array = np.random.default_rng(0).normal(size=(3, 50)).astype(np.float32)
    tensor = device.tensor(array)
    expected = array.astype(np.float64)
    with Latch(stream):
        for _ in range(20):
            size, executor = acl.aclnnSoftmaxGetWorkspaceSize(tensor, 1, tensor)
            acl.aclnnSoftmax(None, size, executor, stream)
        assert np.array_equal(now(tensor), array)
    for _ in range(20):
        expected = np.exp(expected - expected.max(1, keepdims=True))
        expected /= expected.sum(1, keepdims=True)
    stream.synchronize()
    np.testing.assert_allclose(tensor.numpy(), expected, rtol=1e-5)


@pytest.mark.parametrize("nbytes", [16, 1 << 20])
def test_an_async_copy_between_device_buffers_returns_at_once(device, stream, nbytes):
    source = device.full((nbytes,), 3, np.uint8)
    target = device.full((nbytes,), POISON, np.uint8)
    address = acl.aclGetRawTensorAddr
    kind = acl.ACL_MEMCPY_DEVICE_TO_DEVICE
    with Latch(stream):
        acl.aclrtMemcpyAsync(address(target), nbytes, address(source), nbytes, kind, stream)
        assert np.all(now(target) == POISON)
    stream.synchronize()
    assert np.all(now(target) == 3)
    assert lib.aclpy_live_count(b"task") == 0
