# SPDX-License-Identifier: Apache-2.0
"""The deterministic scheduler: order, replay, deadlocks, and what it leaves behind."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import textwrap
from contextlib import nullcontext

import numpy as np
import pytest

import aclnn_py as acl
from aclnn_py.testing import Latch, delay, scheduler

POLICIES = [{"policy": "lazy"}, {"policy": "eager"}, {"policy": "reverse"}] + [
    {"seed": seed} for seed in range(12)
]


def note(seen, text):
    return lambda: seen.append(text)


@pytest.mark.parametrize(
    ("policy", "wanted"),
    [
        ("lazy", ["|", "a", "b", "|", "x", "y"]),
        ("eager", ["a", "x", "b", "y", "|", "|"]),
        ("reverse", ["|", "x", "y", "a", "b", "|"]),
    ],
)
def test_a_policy_decides_the_order(stream, second, policy, wanted):
    seen = []
    with scheduler(policy):
        for place, text in [(stream, "a"), (second, "x"), (stream, "b"), (second, "y")]:
            place.launch_host_func(note(seen, text))
        seen.append("|")
        stream.synchronize()
        seen.append("|")
    assert seen == wanted


def random_order(stream, second, **how):
    seen = []
    with scheduler(**how) as schedule:
        for i in range(6):
            stream.launch_host_func(note(seen, f"a{i}"))
            second.launch_host_func(note(seen, f"b{i}"))
        second.synchronize()
        stream.synchronize()
    return seen, schedule


def test_a_seed_and_its_replay_give_one_order_and_seeds_differ(stream, second):
    orders = set()
    for seed in range(20):
        seen, schedule = random_order(stream, second, seed=seed)
        assert random_order(stream, second, seed=seed)[0] == seen
        again, replayed = random_order(stream, second, policy=schedule.replay)
        assert again == seen
        assert (replayed.diverged, replayed.steps, replayed.replay) == (0, 12, schedule.replay)
        assert [text for text in seen if text[0] == "a"] == [f"a{i}" for i in range(6)]
        orders.add(tuple(seen))
    assert len(orders) > 10


def test_a_replay_of_another_program_says_where_it_no_longer_fits(stream):
    with scheduler("r1:.2b") as schedule:
        stream.launch_host_func(lambda: None)
        stream.launch_host_func(lambda: None)
        stream.synchronize()
    assert schedule.diverged == 1


def test_the_test_may_decide(stream, second):
    seen = []
    with scheduler("lazy") as schedule:
        stream.launch_host_func(note(seen, "a"))
        second.launch_host_func(note(seen, "b"))
        assert schedule.ready == [stream.id, second.id]
        assert schedule.step(second)
        assert not schedule.step(second)
        assert seen == ["b"]
        assert schedule.step(stream)
        assert schedule.ready == []
        assert schedule.steps == 2


@pytest.mark.parametrize("how", POLICIES, ids=str)
def test_a_wait_holds_under_every_schedule(stream, second, how):
    seen = []
    acl.aclrtSetDevice(0)
    event = acl.aclrtCreateEventExWithFlag(acl.ACL_EVENT_SYNC)
    with scheduler(**how):
        stream.launch_host_func(note(seen, "produced"))
        stream.record(event)
        second.wait(event)
        second.launch_host_func(note(seen, "consumed"))
        second.synchronize()
        assert seen == ["produced", "consumed"]
    acl.aclrtResetDevice(0)


def test_a_missing_wait_fails_every_time(stream, second):
    for _ in range(20):
        seen = []
        with scheduler("lazy"):
            stream.launch_host_func(note(seen, "produced"))
            second.launch_host_func(note(seen, "consumed"))
            second.synchronize()
            assert seen == ["consumed"]


def test_an_exception_carries_the_replay(stream):
    def run():
        with scheduler("lazy") as schedule:
            stream.launch_host_func(lambda: None)
            stream.synchronize()
            found.append(schedule)
            raise ValueError("mine")

    found = []
    with pytest.raises(ValueError, match="mine") as caught:
        run()
    schedule = found[0]
    if sys.version_info >= (3, 11):
        assert caught.value.__notes__ == [f"replay this order with scheduler({schedule.replay!r})"]
    assert schedule.replay == "r1:.a"


def test_a_host_function_fails_as_without_a_schedule(stream):
    def broken():
        raise KeyError("inside")

    with scheduler("eager"):
        stream.launch_host_func(broken)
        with pytest.raises(acl.AclError) as caught:
            stream.synchronize()
        assert caught.value.status == 507000
        assert isinstance(caught.value.__cause__, KeyError)


def test_operators_and_copies_run_in_the_schedule(device, stream):
    values = np.array([[1.0, 2.0, 4.0]], np.float32)
    for how in POLICIES:
        with scheduler(**how) as schedule:
            source, result = device.tensor(values), device.tensor(np.zeros_like(values))
            acl.aclrtSetDevice(0)
            size, executor = acl.aclnnSoftmaxGetWorkspaceSize(source, -1, result)
            acl.aclnnSoftmax(0, size, executor, stream)
            found = result.numpy()
            acl.aclrtResetDevice(0)
        wanted = np.exp(values) / np.exp(values).sum()
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
        assert schedule.steps >= 1


@pytest.mark.parametrize("how", [{"policy": "lazy"}, {"policy": "eager"}, {"seed": 3}], ids=str)
def test_a_deadlock_names_its_cycle(device, stream, second, how):
    acl.aclrtSetDevice(0)
    one, other = (acl.aclrtCreateEventWithFlag(acl.ACL_EVENT_SYNC) for _ in range(2))

    def run():
        with scheduler(**how):
            stream.wait(one)
            stream.record(other)
            second.wait(other)
            second.record(one)
            for wait in (stream.synchronize, one.synchronize, lambda: stream.synchronize(3600_000)):
                with pytest.raises(acl.AclError) as caught:
                    wait()
                errors.append(caught.value)
            assert not stream.query()

    errors = []
    with pytest.raises(acl.AclError) as last:
        run()
    assert [error.status for error in errors] == [507046, 507047, 507046]
    assert last.value.status == 507046
    text = str(errors[0])
    assert (
        f"stream {stream.id} waits in aclrtStreamWaitEvent for task 2 of stream {second.id}" in text
    )
    assert (
        f"stream {second.id} waits in aclrtStreamWaitEvent for task 2 of stream {stream.id}" in text
    )
    assert "ACLNN_PY_SCHEDULE=r1:" in text
    for place in (stream, second):
        place.abort()
        with pytest.raises(acl.AclError):
            place.synchronize()
    acl.aclrtResetDevice(0)


@pytest.mark.parametrize("how", ["", "eager", "lazy", "7"])
def test_a_delay_holds_a_stream_back(stream, how):
    seen = []
    with scheduler(how) if how else nullcontext():
        with delay(stream):
            stream.launch_host_func(note(seen, "held"))
            assert not stream.query()
            assert seen == []
        stream.synchronize()
        assert seen == ["held"]


def test_a_latch_serves_several_streams(stream, second):
    seen = []
    latch = Latch()
    latch.park(stream)
    latch.park(second)
    stream.launch_host_func(note(seen, "a"))
    second.launch_host_func(note(seen, "b"))
    assert not stream.query()
    assert not second.query()
    latch.release()
    stream.synchronize()
    second.synchronize()
    assert sorted(seen) == ["a", "b"]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_latch_has_one_owner(stream, copied):
    """A copy would release the streams when it goes."""
    with Latch(stream) as latch, pytest.raises(TypeError, match="Latch"):
        copied(latch)
    stream.synchronize()


@pytest.mark.parametrize("wrong", [-1, 2**64, True, "x"])
def test_what_is_no_stream_is_refused(wrong):
    with scheduler("lazy") as schedule:
        for call in (Latch().park, schedule.step):
            with pytest.raises(acl.AclError, match="its handle, or None") as caught:
                call(wrong)
            assert (caught.value.status, caught.value.argument) == (100000, "stream")


def test_none_and_a_handle_are_streams(stream, current_device):
    with scheduler("lazy") as schedule, Latch() as latch:
        latch.park(None)
        latch.park(stream.handle)
        latch.release()
        assert schedule.step(None)
        assert schedule.step(stream.handle)


@pytest.mark.parametrize(
    ("how", "argument"),
    [
        ({}, "policy, seed"),
        ({"policy": "lazy", "seed": 1}, "policy, seed"),
        ({"policy": "sometimes"}, "policy"),
        ({"policy": "r1:?"}, "policy"),
        ({"policy": "\ud800"}, "policy"),
        ({"policy": "a\0b"}, "policy"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**64}, "seed"),
        ({"seed": "x"}, "seed"),
        ({"seed": "lazy"}, "seed"),
    ],
)
def test_what_is_no_schedule_is_refused(how, argument):
    with pytest.raises(acl.AclError) as caught, scheduler(**how):
        raise AssertionError("the block must not run")
    assert (caught.value.status, caught.value.argument) == (100000, argument)
    assert ("NUL" in str(caught.value)) == ("\0" in how.get("policy", ""))


def test_one_schedule_at_a_time_and_only_with_idle_streams(stream):
    with scheduler("lazy"), pytest.raises(acl.AclError) as caught, scheduler("eager"):
        raise AssertionError("the block must not run")
    assert caught.value.status == 100000
    with Latch(stream), pytest.raises(acl.AclError) as caught, scheduler("eager"):
        raise AssertionError("the block must not run")
    assert caught.value.status == 507004
    stream.synchronize()


PROGRAM = """
    import aclnn_py as acl
    with acl.Device(0) as device, device.create_stream() as one, device.create_stream() as two:
        seen = []
        for text in "ab":
            one.launch_host_func(lambda text=text: seen.append(text))
            two.launch_host_func(lambda text=text: seen.append(text.upper()))
        two.synchronize()
        one.synchronize()
        print("".join(seen))
"""


def run_program(schedule):
    environment = dict(os.environ, ACLNN_PY_SCHEDULE=schedule)
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)],
        env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def test_the_environment_schedules_a_whole_process():
    lazy = run_program("lazy")
    assert lazy.stdout == "ABab\n", lazy.stderr
    assert lazy.stderr == "aclnn_py: schedule r1:.4b2a2\n"
    seeded = run_program("5")
    replay = seeded.stderr.removeprefix("aclnn_py: schedule ").strip()
    assert replay.startswith("r1:")
    assert run_program(replay).stdout == seeded.stdout


FORKING = """
    import os
    import aclnn_py as acl
    acl.aclInit(None)
    child = os.fork()
    if child == 0:
        acl.aclrtSetDevice(0)
        stream = acl.aclrtCreateStream()
        acl.aclrtWaitAndResetNotify(acl.aclrtCreateNotify(0), stream, 0)
        try:
            acl.aclrtSynchronizeStream(stream)
        except acl.AclError as error:
            print(error.status, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


def test_a_forked_child_has_the_schedule_of_the_environment():
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(FORKING)],
        env=dict(os.environ, ACLNN_PY_SCHEDULE="eager"),
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.stdout == "507046\n", done.stderr


def test_an_interrupt_in_a_host_function_is_one(device):
    """A schedule runs tasks on the thread that waits: Ctrl-C there is no failure of the task."""

    def interrupted():
        raise KeyboardInterrupt

    with scheduler("lazy"), device.create_stream() as stream:
        stream.launch_host_func(interrupted)
        with pytest.raises(KeyboardInterrupt):
            stream.synchronize()
        stream.synchronize()
