# SPDX-License-Identifier: Apache-2.0
"""Traces are what viewers of Chrome's trace event format read, with and without a schedule."""

from __future__ import annotations

import threading
from contextlib import nullcontext

import numpy as np
import pytest

import aclnn_py as acl
from aclnn_py.testing import label, scheduler, trace
from support.trace_events import arrows, faults, read

pytestmark = pytest.mark.usefixtures("current_device")


def everything(device, streams):
    """Operators, copies, records, waits of every kind, callbacks, a graph and a failure."""
    one, two, three = streams
    x, out = device.tensor(np.eye(4, dtype=np.float32)), device.empty((4, 4), "float32")
    plain, ex = acl.aclrtCreateEvent(), acl.aclrtCreateEventExWithFlag(acl.ACL_EVENT_SYNC)
    flag, notify = acl.aclrtCreateEventWithFlag(acl.ACL_EVENT_SYNC), acl.aclrtCreateNotify(0)
    word, other = acl.aclrtMalloc(64, 0), acl.aclrtMalloc(64, 0)
    acl.aclrtMemset(word, 64, 0, 64)
    for _ in range(3):  # the same addresses again
        _, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, -1, out)
        with label('a "quoted" \\ label'):
            acl.aclnnSoftmax(None, 0, executor, one)
        acl.aclrtRecordEvent(ex, one)
        acl.aclrtStreamWaitEvent(two, ex)
        acl.aclrtStreamWaitEvent(three, ex)  # one record, two waits
        acl.aclrtRecordEvent(plain, two)
        acl.aclrtStreamWaitEvent(three, plain)
        acl.aclrtRecordNotify(notify, three)
        acl.aclrtWaitAndResetNotify(notify, one, 0)
    acl.aclrtRecordEvent(flag, one)
    acl.aclrtStreamWaitEvent(two, flag)
    acl.aclrtValueWait(word, 1, 0, three)
    acl.aclrtValueWrite(word, 1, 0, one)
    acl.aclrtMemsetAsync(other, 64, 0, 8, two)
    acl.aclrtSubscribeReport(threading.get_ident(), two)
    acl.aclrtLaunchCallback(lambda _: None, None, acl.ACL_CALLBACK_BLOCK, two)
    acl.aclrtProcessReport(-1)
    for stream in streams:
        acl.aclrtSynchronizeStream(stream)
    acl.aclrtUnSubscribeReport(threading.get_ident(), two)
    for event in (plain, ex, flag):
        acl.aclrtDestroyEvent(event)
    acl.aclrtDestroyNotify(notify)
    acl.aclrtFree(word)
    acl.aclrtFree(other)


@pytest.mark.parametrize("policy", [None, "eager", "lazy", "reverse", "5"])
def test_a_viewer_reads_the_whole_trace(device, tmp_path, policy):
    streams = [acl.aclrtCreateStream() for _ in range(3)]
    with trace(tmp_path / "trace.json"), scheduler(policy) if policy else nullcontext():
        everything(device, streams)
    events = read(tmp_path / "trace.json")
    assert faults(events) == []
    seen = [(start["args"]["call"], end["args"]["call"]) for start, end in arrows(events)]
    assert seen.count(("aclrtRecordNotify", "aclrtWaitAndResetNotify")) == 3
    assert seen.count(("aclrtValueWrite", "aclrtValueWait")) == 1
    # A wait for what has happened already is no task; each of the others has its arrow.
    tasks = [e["args"]["call"] for e in events if e["ph"] == "X" and e["cat"] == "task"]
    waits = tasks.count("aclrtStreamWaitEvent")
    # One waits for the callback.
    assert seen.count(("aclrtLaunchCallback", "aclrtStreamWaitEvent")) == 1
    assert seen.count(("aclrtRecordEvent", "aclrtStreamWaitEvent")) == waits - 1
    assert {e["name"].split()[0] for e in events if e["ph"] == "C"} == {"memory", "queue"}
    for stream in streams:
        acl.aclrtDestroyStream(stream)


def test_the_reader_sees_what_is_wrong():
    lane = {"pid": 1, "tid": 1, "ts": 1.0}
    slice_ = {"ph": "X", "name": "a", "dur": 2.0, "cat": "task", "args": {}, **lane}
    names = [
        {**lane, "ph": "M", "name": "process_name", "args": {"name": "p"}},
        {**lane, "ph": "M", "name": "thread_name", "args": {"name": "t"}},
    ]
    other = {**names[1], "tid": 2}
    start = {**lane, "ph": "s", "name": "o", "cat": "o", "id": 1}
    end = {**start, "ph": "f", "bp": "e", "ts": 2.0}
    assert faults([*names, slice_, start, end]) == []
    early = {**slice_, "tid": 2, "ts": 0.5}
    released = {**early, "ts": 2.0, "dur": 0.5, "cat": "order"}
    far = {**end, "tid": 2}
    assert faults([*names, other, slice_, early, start, released, far]) == []
    for wrong in (
        [slice_],
        [*names, {**slice_, "ph": "Y"}],
        [*names, {**slice_, "dur": 0}],
        [*names, slice_, {**slice_, "ts": 2.0}],
        [*names, slice_, start],
        [*names, slice_, end],
        [*names, other, slice_, early, start, far],
        [*names, slice_, start, {**end, "ts": 3.0}],
        [*names, slice_, start, {k: v for k, v in end.items() if k != "bp"}],
        [*names, {**lane, "ph": "C", "name": "c", "args": {"x": "1"}}],
        [*names, *names],
    ):
        assert faults(wrong), wrong
