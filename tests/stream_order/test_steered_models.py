# SPDX-License-Identifier: Apache-2.0
"""Models whose streams start and end by what runs: activation, switches, loops."""

from __future__ import annotations

import ctypes
import operator
from itertools import count

import numpy as np
import pytest

import aclnn_py as acl
from aclnn_py.testing import scheduler
from support.refusals import status_of

HEAD, DEFAULT = acl.ACL_MODEL_STREAM_FLAG_HEAD, acl.ACL_MODEL_STREAM_FLAG_DEFAULT
SCHEDULES = (None, "eager", "lazy", "reverse", "3", "11")


class Bench:
    """A model of one stream that starts with it and three that do not, and values on the device."""

    def __init__(self, flags):
        self.streams = [
            acl.aclrtCreateStreamWithConfig(0, acl.ACL_STREAM_PERSISTENT) for _ in flags
        ]
        self.model = acl.aclmdlRIBuildBegin()
        for stream, flag in zip(self.streams, flags, strict=True):
            acl.aclmdlRIBindStream(self.model, stream, flag)
        self.values = acl.aclrtMalloc(64, 0)
        self.ran = []

    def place(self, index):
        return int(self.values) + 8 * index

    def put(self, index, value):
        acl.aclrtMemcpy(self.place(index), 8, np.array([value], np.int64), 8, 1)

    def poke(self, value):
        """From a host function, which must not call the runtime."""
        ctypes.c_int64.from_address(self.place(0)).value = value

    def mark(self, stream, name):
        acl.aclrtLaunchHostFunc(self.streams[stream], self.ran.append, name)

    def switch(self, condition, target, stream, *, wide=True):
        acl.aclrtSwitchStream(
            self.place(0),
            condition,
            self.place(1),
            int(wide),
            self.streams[target],
            None,
            self.streams[stream],
        )

    def activate(self, target, stream):
        acl.aclrtActiveStream(self.streams[target], self.streams[stream])

    def build(self):
        for stream in self.streams:
            acl.aclmdlRIEndTask(self.model, stream)
        acl.aclmdlRIBuildEnd(self.model)

    def execute(self):
        self.ran.clear()
        acl.aclmdlRIExecute(self.model, 60_000)
        return self.ran

    def close(self):
        if self.model._open:
            acl.aclmdlRIDestroy(self.model)
        for stream in self.streams:
            acl.aclrtDestroyStream(stream)
        acl.aclrtFree(self.values)


@pytest.fixture(params=SCHEDULES)
def schedule(request):
    """Under threads, and under every policy and some seeds."""
    acl.aclrtSetDevice(0)
    if request.param is None:
        yield
    else:
        with scheduler(request.param):
            yield
    acl.aclrtResetDevice(0)


@pytest.fixture
def bench(schedule):
    made = Bench((HEAD, DEFAULT, DEFAULT, DEFAULT))
    yield made
    made.close()


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (acl.ACL_RT_EQUAL, operator.eq),
        (acl.ACL_RT_NOT_EQUAL, operator.ne),
        (acl.ACL_RT_GREATER, operator.gt),
        (acl.ACL_RT_GREATER_OR_EQUAL, operator.ge),
        (acl.ACL_RT_LESS, operator.lt),
        (acl.ACL_RT_LESS_OR_EQUAL, operator.le),
    ],
)
def test_a_switch_goes_to_the_other_stream_or_on(bench, condition, holds):
    bench.mark(0, "before")
    bench.switch(condition, 1, 0)
    bench.mark(0, "behind")
    bench.mark(1, "other")
    bench.build()
    for left, right in ((-3, 3), (3, 3), (4, 3)):
        bench.put(0, left)
        bench.put(1, right)
        assert bench.execute() == ["before", "other" if holds(left, right) else "behind"]


@pytest.mark.parametrize(("wide", "expected"), [(False, "other"), (True, "behind")])
def test_32_bits_are_the_low_ones(bench, wide, expected):
    bench.put(0, 5 + (1 << 32))
    bench.put(1, 5)
    bench.switch(acl.ACL_RT_EQUAL, 1, 0, wide=wide)
    bench.mark(0, "behind")
    bench.mark(1, "other")
    bench.build()
    assert bench.execute() == [expected]


def test_an_activated_stream_runs_beside_the_one_that_activates_it(bench):
    """Each waits for an event of the other: neither may wait for the other's end."""
    there, back = (acl.aclrtCreateEventExWithFlag(acl.ACL_EVENT_SYNC) for _ in range(2))
    bench.mark(0, "first")
    acl.aclrtRecordEvent(there, bench.streams[0])
    bench.activate(1, 0)
    acl.aclrtStreamWaitEvent(bench.streams[1], there)
    bench.mark(1, "second")
    acl.aclrtRecordEvent(back, bench.streams[1])
    acl.aclrtStreamWaitEvent(bench.streams[0], back)
    bench.mark(0, "third")
    bench.build()
    for _ in range(3):
        assert bench.execute() == ["first", "second", "third"]
    for event in (there, back):
        acl.aclrtDestroyEvent(event)


def test_a_stream_that_nothing_activates_does_not_run_and_the_model_ends_without_it(bench):
    bench.mark(1, "never")
    bench.mark(0, "ran")
    bench.build()
    assert bench.execute() == ["ran"]


def test_the_model_is_over_when_the_last_activated_stream_is(bench):
    bench.activate(1, 0)
    bench.activate(2, 1)
    bench.mark(2, "deep")
    acl.aclrtMemsetAsync(bench.place(2), 8, 7, 8, bench.streams[2])
    bench.build()
    assert bench.execute() == ["deep"]
    host = np.zeros(8, np.uint8)
    acl.aclrtMemcpy(host, 8, bench.place(2), 8, 2)
    assert host.tolist() == [7] * 8


def test_a_time_passes_although_something_is_always_ready():
    """A loop without end under a schedule, whose waiting threads run the tasks."""
    acl.aclrtSetDevice(0)
    bench, stream = Bench([acl.ACL_MODEL_STREAM_FLAG_HEAD]), acl.aclrtCreateStream()
    bench.put(0, 1)
    bench.put(1, 1)
    bench.switch(acl.ACL_RT_EQUAL, 0, 0)
    bench.build()
    with scheduler("lazy"):
        acl.aclmdlRIExecuteAsync(bench.model, stream)
        with pytest.raises(acl.AclError) as caught:
            acl.aclrtSynchronizeStreamWithTimeout(stream, 5)
        assert caught.value.status == 507046
        acl.aclmdlRIAbort(bench.model)
        with pytest.raises(acl.AclError) as caught:
            acl.aclrtSynchronizeStream(stream)
        assert caught.value.status == 507023
    acl.aclmdlRIDestroy(bench.model)
    acl.aclrtResetDevice(0)


def test_streams_that_switch_back_and_forth_are_a_loop(bench):
    """Stream 0 counts and goes to stream 1 while there are fewer than five, which goes back."""
    numbers = count()

    def step(_):
        bench.ran.append(next(numbers) + 1)
        bench.poke(bench.ran[-1])

    acl.aclrtLaunchHostFunc(bench.streams[0], step, None)
    bench.switch(acl.ACL_RT_LESS, 1, 0)
    bench.mark(0, "over")
    bench.switch(acl.ACL_RT_LESS, 0, 1)
    bench.build()
    bench.put(1, 5)
    assert bench.execute() == [1, 2, 3, 4, 5, "over"]


def test_blocking_callbacks_of_a_loop_hold_the_stream_each_time(bench):
    done = acl.aclrtMalloc(64, 0)
    acl.aclrtMemset(done, 64, 0, 64)
    numbers = count(1)

    def step(_):
        bench.ran.append(next(numbers))
        bench.poke(bench.ran[-1])

    acl.aclrtLaunchHostFunc(bench.streams[0], step, None)
    acl.aclrtMemcpyAsync(done, 8, bench.place(0), 8, 3, bench.streams[0])
    acl.aclrtMemcpyAsync(bench.place(3), 8, done, 8, 3, bench.streams[0])
    bench.switch(acl.ACL_RT_LESS, 0, 0)
    bench.build()
    bench.put(1, 3)
    assert bench.execute() == [1, 2, 3]
    host = np.zeros(1, np.int64)
    acl.aclrtMemcpy(host, 8, bench.place(3), 8, 2)
    assert host[0] == 3
    acl.aclrtFree(done)


def test_executions_follow_each_other_in_the_stream(bench):
    bench.switch(acl.ACL_RT_EQUAL, 1, 0)
    bench.mark(0, "behind")
    bench.mark(1, "other")
    bench.build()
    stream = acl.aclrtCreateStream()
    bench.put(0, 0)
    bench.put(1, 1)
    acl.aclmdlRIExecuteAsync(bench.model, stream)
    acl.aclrtValueWrite(bench.place(0), 1, 0, stream)
    acl.aclmdlRIExecuteAsync(bench.model, stream)
    acl.aclrtValueWrite(bench.place(0), 2, 0, stream)
    acl.aclmdlRIExecuteAsync(bench.model, stream)
    acl.aclrtSynchronizeStream(stream)
    assert bench.ran == ["behind", "other", "behind"]
    acl.aclrtDestroyStream(stream)


def test_an_abort_ends_a_loop_and_a_wait_for_a_stream_that_never_starts(bench):
    acl.aclrtLaunchHostFunc(bench.streams[0], lambda _: acl.aclmdlRIAbort(bench.model), None)
    bench.switch(acl.ACL_RT_EQUAL, 0, 0)  # for ever
    bench.mark(0, "behind")
    bench.build()
    bench.put(0, 1)
    bench.put(1, 1)
    assert status_of(bench.execute) == 507023
    assert bench.ran == []


def test_an_abort_lets_a_wait_go_that_nothing_records(schedule):
    bench, event = Bench((HEAD, DEFAULT)), acl.aclrtCreateEventExWithFlag(acl.ACL_EVENT_SYNC)
    acl.aclrtRecordEvent(event, bench.streams[1])
    acl.aclrtLaunchHostFunc(bench.streams[0], lambda _: acl.aclmdlRIAbort(bench.model), None)
    acl.aclrtStreamWaitEvent(bench.streams[0], event)
    bench.mark(0, "behind")
    bench.build()
    assert status_of(bench.execute) == 507023
    assert bench.ran == []
    acl.aclrtDestroyEvent(event)
    bench.close()


def test_a_failed_task_is_told_and_the_model_goes_on(bench):
    def fail(_):
        raise RuntimeError("planned")

    acl.aclrtLaunchHostFunc(bench.streams[1], fail, None)
    bench.mark(1, "behind")
    bench.activate(1, 0)
    bench.build()
    with pytest.raises(acl.AclError) as raised:
        bench.execute()
    assert isinstance(raised.value.__cause__, RuntimeError)
    assert bench.ran == ["behind"]


def test_statuses(schedule):
    bench, other = Bench((HEAD, DEFAULT)), Bench((HEAD,))
    one, two = bench.streams
    loose = acl.aclrtCreateStreamWithConfig(0, acl.ACL_STREAM_PERSISTENT)
    left, right, host = bench.place(0), bench.place(1), acl.aclrtMallocHost(8)

    def switch(left=left, cond=0, right=right, kind=1, to=two, otherwise=None, stream=one):
        return lambda: acl.aclrtSwitchStream(left, cond, right, kind, to, otherwise, stream)

    def activate(target, stream):
        return lambda: acl.aclrtActiveStream(target, stream)

    rows = (
        (100000, switch(left=None)),
        (100000, switch(right=None)),
        (100000, switch(to=None)),
        (100000, switch(stream=None)),
        (107000, switch(cond=6)),
        (107000, switch(cond=-1)),
        (107000, switch(kind=2)),
        (107000, switch(otherwise=two)),
        (107000, switch(left=host)),
        (107000, switch(right=int(bench.values) + 64)),
        (107008, switch(left=left + 4)),
        (107005, switch(to=loose)),
        (107005, switch(to=other.streams[0])),
        (107005, switch(stream=loose)),
        (100000, activate(None, one)),
        (100000, activate(two, None)),
        (107005, activate(loose, one)),
        (107005, activate(other.streams[0], one)),
        (107005, activate(two, loose)),
        (0, switch(left=left + 4, kind=0)),
    )
    assert [status_of(call) for _, call in rows] == [status for status, _ in rows]
    acl.aclmdlRIEndTask(bench.model, one)
    assert status_of(activate(two, one)) == 107005
    acl.aclrtFreeHost(host)
    acl.aclrtDestroyStream(loose)
    bench.close()
    other.close()


def test_a_model_needs_a_stream_that_starts_with_it(schedule):
    bench = Bench((DEFAULT, DEFAULT))
    acl.aclmdlRIEndTask(bench.model, bench.streams[0])
    assert status_of(lambda: acl.aclmdlRIBuildEnd(bench.model)) == 107005
    bench.close()
