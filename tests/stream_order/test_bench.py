# SPDX-License-Identifier: Apache-2.0
"""Recorder, planned failures and traces."""

from __future__ import annotations

import json
import threading
from contextlib import nullcontext

import numpy as np
import pytest

import aclnn_py as acl
from aclnn_py.testing import (
    assert_before,
    delay,
    fail_malloc,
    fail_task,
    label,
    record,
    scheduler,
    trace,
)


def submit(stream, name, work=lambda: None):
    with label(name):
        stream.launch_host_func(work)


def test_the_recorder_lists_starts_and_ends(stream):
    with record() as recording:
        submit(stream, "first")
        stream.record()
        stream.synchronize()
    found = [(e.sequence, e.kind, e.stream, e.label, e.status) for e in recording.events]
    assert found == [
        (1, "start", stream.id, "first", 0),
        (2, "finish", stream.id, "first", 0),
        (3, "start", stream.id, "aclrtRecordEvent", 0),
        (4, "finish", stream.id, "aclrtRecordEvent", 0),
    ]
    first, second = recording.tasks()
    assert (first.number + 1, first.start, first.finish) == (second.number, 1, 2)
    assert recording.tasks("first") == [first]


def test_what_has_not_ended_has_no_finish(stream):
    with record() as recording:
        with delay(stream):
            submit(stream, "later")
            assert recording.tasks("later") == []
        stream.synchronize()
    assert recording.tasks("later")[0].finish is not None


def test_before_holds_and_fails_with_the_events(stream, second):
    with record() as recording, scheduler("lazy") as schedule:
        submit(stream, "producer")
        submit(second, "consumer")
        second.synchronize()
        stream.synchronize()
        assert_before("consumer", "producer")
        with pytest.raises(AssertionError) as caught:
            assert_before("producer", "consumer", recording)
    text = str(caught.value)
    assert f"'producer' (task 1 of stream {stream.id}, started at 3, finished at 4)" in text
    assert "did not finish before 'consumer'" in text
    assert f"   1 start  consumer (stream {second.id}, task 1)" in text
    assert f"scheduler({schedule.replay!r})" in text


def test_before_takes_single_tasks_and_refuses_unknown_labels(stream):
    with record() as recording:
        for _ in range(2):
            submit(stream, "twice")
        stream.synchronize()
    one, other = recording.tasks("twice")
    assert_before(one, other)
    with pytest.raises(AssertionError, match="did not finish before"):
        assert_before("twice", "twice")
    with pytest.raises(AssertionError, match=r"no task 'thrice' has run; labels .*'twice'"):
        assert_before("twice", "thrice")


def test_one_recording_at_a_time():
    with record(), pytest.raises(acl.AclError) as caught, record():
        raise AssertionError("the block must not run")
    assert caught.value.status == 100000


@pytest.mark.parametrize("policy", ["", "lazy"])
def test_a_task_fails_as_planned_and_does_not_run(stream, policy):
    ran = []
    block = scheduler(policy) if policy else nullcontext()
    with record() as recording, fail_task("victim", nth=2, status=507014), block:
        for i in range(3):
            submit(stream, "victim", lambda i=i: ran.append(i))
        with pytest.raises(acl.AclError) as caught:
            stream.synchronize()
    assert caught.value.status == 507014
    assert "planned failure" in str(caught.value)
    assert ran == [0, 2]
    assert [task.status for task in recording.tasks("victim")] == [0, 507014, 0]
    stream.synchronize()


def test_a_failure_that_has_not_struck_is_taken_back(stream):
    ran = []
    with fail_task(nth=2):
        submit(stream, "only", lambda: ran.append(1))
        stream.synchronize()
    submit(stream, "next", lambda: ran.append(2))
    stream.synchronize()
    assert ran == [1, 2]


@pytest.mark.parametrize(
    "bad",
    [
        {"nth": 0}, {"nth": -1}, {"nth": 2**63}, {"status": 0}, {"label": "x" * 64}, {"label": 3},
        {"label": "a\0b"},
    ],
)  # fmt: skip
def test_what_is_no_failure_is_refused(bad):
    with pytest.raises(acl.AclError) as caught, fail_task(**bad):
        raise AssertionError("the block must not run")
    assert caught.value.status == 100000


def test_an_allocation_fails_as_planned(device):
    with fail_malloc(after=2):
        device.empty(16)
        with pytest.raises(acl.AclError) as caught:
            device.empty(16)
        device.empty(16)
    assert caught.value.status == 207001


@pytest.mark.parametrize("after", [0, -1, 2**63, "1"])
def test_what_is_no_count_is_refused(after):
    with pytest.raises(acl.AclError) as caught, fail_malloc(after):
        raise AssertionError("the block must not run")
    assert caught.value.status == 100000
    assert (caught.value.operator, caught.value.argument) == ("fail_malloc", "after")


@pytest.mark.parametrize("plan", [fail_task, fail_malloc])
def test_one_plan_at_a_time(device, stream, plan):
    """The end of an inner block would take back what the outer one has planned."""
    with plan():
        with pytest.raises(acl.AclError) as caught, plan():
            raise AssertionError("the block must not run")
        assert caught.value.status == 100000
        submit(stream, "any", lambda: None)
        with pytest.raises(acl.AclError):
            stream.synchronize() if plan is fail_task else device.malloc(16)


@pytest.mark.parametrize("name", [3, "a\0b", "\ud800", "x" * 64, "\u00e9" * 32])
def test_what_is_no_label_is_refused(name):
    with pytest.raises(acl.AclError) as caught, label(name):
        raise AssertionError("the block must not run")
    assert caught.value.status == 100000
    assert (caught.value.operator, caught.value.argument) == ("label", "name")


def test_labels_nest(stream):
    """Behind an inner block, however it ends, the outer label is in force again."""
    longest = "\u00e9" * 31 + "x"
    with record() as recording, label("outer"):
        stream.launch_host_func(print)
        with pytest.raises(ZeroDivisionError), label(longest):
            raise ZeroDivisionError(stream.launch_host_func(print))
        with pytest.raises(acl.AclError), label(3):
            raise AssertionError("the block must not run")
        stream.launch_host_func(print)
        with label(None):
            stream.record()
        stream.synchronize()
    names = [task.label for task in recording.tasks()]
    assert names == ["outer", longest, "outer", "aclrtRecordEvent"]


def test_labels_are_of_their_thread(stream):
    with record() as recording, label("of this thread"):
        other = threading.Thread(target=submit, args=(stream, "of the other"))
        other.start()
        other.join()
        stream.launch_host_func(print)
        stream.synchronize()
    assert [task.label for task in recording.tasks()] == ["of the other", "of this thread"]


@pytest.mark.parametrize("recording", ["x", 0, []])
def test_what_is_no_recording_is_refused(recording):
    with pytest.raises(acl.AclError) as caught:
        assert_before("a", "b", recording=recording)
    assert (caught.value.status, caught.value.argument) == (100000, "recording")


@pytest.mark.parametrize("path", [None, 3, "a\0b", "\ud800"])
def test_what_is_no_path_of_a_trace_is_refused(path):
    with pytest.raises(acl.AclError) as caught, trace(path):
        raise AssertionError("the block must not run")
    assert (caught.value.status, caught.value.argument) == (100000, "path")


def test_a_callback_that_only_the_waiting_thread_could_call(stream):
    """Leaving the schedule would wait for it for ever."""
    acl.aclrtSetDevice(0)
    served = acl.aclrtCreateStream()
    block = scheduler("lazy")
    block.__enter__()
    acl.aclrtSubscribeReport(threading.get_ident(), served)
    acl.aclrtLaunchCallback(print, None, acl.ACL_CALLBACK_BLOCK, served)
    with pytest.raises(acl.AclError) as caught:
        block.__exit__(None, None, None)
    assert caught.value.status == 507046
    acl.aclrtUnSubscribeReport(threading.get_ident(), served)
    acl.aclrtResetDevice(0)


def test_a_trace_shows_lanes_arrows_and_operators(device, stream, second, tmp_path):
    path = tmp_path / "trace.json"
    values = np.array([[1.0, 2.0, 4.0]], np.float32)
    acl.aclrtSetDevice(0)
    with trace(path):
        source, result = device.tensor(values), device.tensor(np.zeros_like(values))
        size, executor = acl.aclnnSoftmaxGetWorkspaceSize(source, -1, result)
        acl.aclnnSoftmax(0, size, executor, stream)
        with delay(stream):
            event = stream.record()
            second.wait(event)
        second.synchronize()
        stream.synchronize()  # the record's slice may end after it has let the wait go
    acl.aclrtResetDevice(0)
    events = json.loads(path.read_text())["traceEvents"]
    by_phase = {phase: [e for e in events if e["ph"] == phase] for phase in "MXsfC"}
    lanes = {e["args"]["name"] for e in by_phase["M"] if e["name"] == "thread_name"}
    # The last slice of a stream before may end in here, too.
    assert lanes >= {f"stream {stream.id}", f"stream {second.id}"}
    assert {e["tid"] for e in by_phase["X"] if e["name"] == "aclnnSoftmax"} == {stream.id}
    softmax = next(e for e in by_phase["X"] if e["name"] == "aclnnSoftmax")
    assert softmax["tid"] == stream.id
    assert softmax["args"]["kernel"].startswith("softmax")
    assert softmax["args"]["isa"]
    shown = "FLOAT [1, 3], 12 bytes"
    assert softmax["args"]["tensors"] == {"self": shown, "out": shown}
    (start,) = [e for e in by_phase["s"] if e["tid"] == stream.id]
    (end,) = [e for e in by_phase["f"] if e["tid"] == second.id]
    assert start["id"] == end["id"]
    assert start["ts"] <= end["ts"]
    assert any("bytes" in e["args"] for e in by_phase["C"])
    assert any("tasks" in e["args"] for e in by_phase["C"])


def test_a_trace_that_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(acl.AclError) as caught, trace(tmp_path / "nowhere" / "trace.json"):
        raise AssertionError("the block must not run")
    assert caught.value.status == 100003


def test_a_trace_without_room_says_so():
    with pytest.raises(acl.AclError) as caught, trace("/dev/full"):
        pass
    assert caught.value.status == 100004
