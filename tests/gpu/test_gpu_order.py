# SPDX-License-Identifier: Apache-2.0
"""Order on a GPU: within a stream, between streams by events, and beside the host."""

from __future__ import annotations

import numpy as np
import pytest

import aclnn_py as acl
from support import oracle
from support.latch import Latch
from support.problems import Call

SHAPE = (512, 1000)


@pytest.mark.parametrize("turn", range(20))
def test_a_consumer_waits_for_its_producer(device, stream, second, turn):
    """Softmax on one stream, its gradient on the other; the event alone puts them in order."""
    x = np.random.default_rng(turn).standard_normal(SHAPE).astype(np.float32)
    g = np.random.default_rng(turn + 1).standard_normal(SHAPE).astype(np.float32)
    logits, gradient = device.tensor(x), device.tensor(g)
    y, out = (device.full(SHAPE, float("nan"), "float32") for _ in range(2))
    size, forward = acl.aclnnSoftmaxGetWorkspaceSize(logits, 1, y)
    assert size == 0
    _, backward = acl.aclnnSoftmaxBackwardGetWorkspaceSize(gradient, y, 1, out)
    acl.aclnnSoftmax(None, 0, forward, stream)
    second.wait(stream.record())
    acl.aclnnSoftmaxBackward(None, 0, backward, second)
    second.synchronize()
    want = oracle.answer("SoftmaxBackward", [g, y.numpy()], 1)
    assert oracle.worst("SoftmaxBackward", out.numpy(), want) <= 1


def test_an_event_is_open_until_its_stream_gets_there(device, stream, second):
    call = Call(device, "Softmax", SHAPE)
    call.plan()
    with Latch(stream):
        call.run(stream)
        event = stream.record()
        second.wait(event)
        behind = second.record()
        assert not event.query()
        assert not behind.query()
    behind.synchronize()
    assert event.query()
    call.assert_right()


def test_host_functions_see_what_ran_before_them(device, stream):
    call, seen = Call(device, "LogSoftmax", (64, 64)), []
    call.plan()
    call.run(stream)
    event = stream.record()
    stream.launch_host_func(lambda: seen.append(event.query()))
    stream.synchronize()
    assert seen == [True]
    call.assert_right()


def test_a_stream_keeps_the_order_of_its_work(device, stream):
    """Each call reads what the one before has written, in place, a hundred times."""
    x = np.random.default_rng(0).standard_normal((33, 257)).astype(np.float32)
    tensor, want = device.tensor(x), x.copy()
    for _ in range(100):
        _, executor = acl.aclnnSoftmaxGetWorkspaceSize(tensor, 1, tensor)
        acl.aclnnSoftmax(None, 0, executor, stream)
        shifted = np.exp(want - want.max(axis=1, keepdims=True, initial=-np.inf))
        want = (shifted / shifted.sum(axis=1, keepdims=True)).astype(np.float32)
    stream.synchronize()
    np.testing.assert_allclose(tensor.numpy(), want, rtol=1e-5)


def test_memory_freed_while_queued_work_uses_it(device, stream):
    for seed in range(20):
        call = Call(device, "SoftmaxBackward", (64, 300), seed=seed)
        want = call.expected()
        call.plan()
        call.run(stream)
        out = call.out
        del call
        stream.synchronize()
        assert oracle.worst("SoftmaxBackward", out.numpy(), want) <= 1


def test_a_repeatable_executor(device, stream):
    call = Call(device, "Softmax", (40, 500))
    executor = call.plan()
    acl.aclSetAclOpExecutorRepeatable(executor)
    for _ in range(5):
        call.run(stream, executor)
    stream.synchronize()
    call.assert_right()
    acl.aclDestroyAclOpExecutor(executor)


def test_events_measure_time(device, stream):
    call = Call(device, "Softmax", (4096, 1000))
    start = stream.record()
    call.plan()
    call.run(stream)
    end = stream.record()
    end.synchronize()
    assert acl.aclrtEventElapsedTime(start, end) >= 0
