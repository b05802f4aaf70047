# SPDX-License-Identifier: Apache-2.0
"""100,000 two-phase calls: resident memory flat, and as many open objects as before."""

from __future__ import annotations

import gc

import psutil
import pytest

import aclnn_py as acl
from aclnn_native import lib
from support.problems import Call, staged

KINDS = (b"context", b"stream", b"event", b"memory", b"tensor", b"executor", b"task")
ALLOWED = 1 << 20  # bytes of growth after the first tenth: below 12 bytes a call
AHEAD = 20  # calls that wait at most: what a long queue once took, the heap may keep


def counts():
    gc.collect()
    return {kind: lib.aclpy_live_count(kind) for kind in KINDS}


def resident() -> int:
    gc.collect()
    return psutil.Process().memory_info().rss


def repeat(work, stream, rounds):
    for done in range(1, rounds + 1):
        work()
        if done % AHEAD == 0:
            stream.synchronize()
    stream.synchronize()


def flat(work, stream, rounds):
    """Run `work` `rounds` times; the first tenth warms up, the rest must leave nothing behind.

    What leaks does so each time; a heap that hundreds of tests have used may grow once.
    """
    repeat(work, stream, rounds // 10)
    for _ in range(2):
        before, bytes_before = counts(), resident()
        repeat(work, stream, rounds - rounds // 10)
        grown = resident() - bytes_before
        assert counts() == before
        if grown < ALLOWED:
            return
    pytest.fail(f"{grown} bytes more after {rounds} calls")


def test_a_hundred_thousand_calls(device, stream):
    call = Call(device, "SoftmaxBackward", (8, 32))
    arguments = call.arguments()
    phase1, phase2 = acl.aclnnSoftmaxBackwardGetWorkspaceSize, acl.aclnnSoftmaxBackward

    def work():
        size, executor = phase1(*arguments)
        phase2(None, size, executor, stream)

    flat(work, stream, 100_000)
    call.assert_right()


def refused_run(device, stream):
    call = staged(device)

    def work():
        call.size, call.executor = acl.aclnnSoftmaxBackwardGetWorkspaceSize(*call.arguments())
        with pytest.raises(acl.AclError):
            call.run(stream, workspace=0xDEAD000)
        acl.aclDestroyAclOpExecutor(call.executor)

    return work


def refused_plan(device, _stream):
    call = Call(device, "Softmax")

    def work():
        with pytest.raises(acl.AclError):
            acl.aclnnSoftmaxGetWorkspaceSize(call.inputs[0], 9, call.out)

    return work


def everything_anew(device, stream):
    def work():
        call = staged(device)
        call.plan()
        call.run(stream)
        stream.synchronize()

    return work


def repeatable(device, stream):
    call = staged(device)

    def work():
        call.plan()
        try:
            acl.aclSetAclOpExecutorRepeatable(call.executor)
        except acl.AclError:  # answered by the emulated cache
            acl.aclDestroyAclOpExecutor(call.executor)
            return
        for _ in range(3):
            call.run(stream)
        acl.aclDestroyAclOpExecutor(call.executor)

    return work


def dropped_executor(device, _stream):
    call = Call(device, "Softmax")
    return lambda: acl.aclDestroyAclOpExecutor(call.plan())


def never_run_executor(device, _stream):
    call = Call(device, "Softmax")

    def work():
        call.plan()
        call.executor = None  # garbage: nobody can run or destroy it any more

    return work


def streams_and_events(device, stream):
    def work():
        with device.create_stream() as other, device.create_event() as event:
            other.record(event)
            stream.wait(event)
            event.synchronize()

    return work


@pytest.mark.parametrize(
    ("make", "rounds"),
    [
        (refused_run, 5_000), (refused_plan, 5_000), (everything_anew, 5_000), (repeatable, 5_000),
        (dropped_executor, 5_000), (never_run_executor, 5_000), (streams_and_events, 1_500),
    ],
)  # fmt: skip
def test_other_loops(device, stream, fresh, make, rounds):
    flat(make(device, stream), stream, rounds)


def test_new_layouts_do_not_pile_up(device, stream, fresh):
    """Each call has a shape of its own: caches are bounded."""
    sizes = iter(range(10**9))

    def work():
        n = 1 + next(sizes) % 20_000
        tensor = device.empty((1, n), "float32")
        _, executor = acl.aclnnSoftmaxGetWorkspaceSize(tensor, 1, tensor)
        acl.aclnnSoftmax(None, 0, executor, stream)

    for _ in range(500):
        work()
    stream.synchronize()
    before = resident()
    for _ in range(3_000):
        work()
    stream.synchronize()
    assert resident() - before < 64 << 20
