# SPDX-License-Identifier: Apache-2.0
"""Statuses of streams, events, notifies, callbacks and captures, row by row of the reference.

Not here (those of models are in stream_order/test_models, which statuses exist at all is counted in
test_statuses_complete), because no host program can provoke them on the emulated device:

- 107045: sub-graphs are not emulated;
- 107012 for a thread that serves another device: see the C harness;
- 107034: an interrupted task group is refused as 107040 or 107033 before it can be interrupted;
- 207003, 207016, 207017 and the 507xxx of chips: kernels of the CPU do not overflow or trap. What a
  failed task does to its stream is shown with host functions.

The C harnesses engine_capture, engine_callbacks, engine_order and engine_events provoke the same
statuses below Python, and those that need several threads in C.
"""

from __future__ import annotations

import threading
from contextlib import nullcontext

import numpy as np
import pytest

import aclnn_py as acl
from support.latch import Latch


@pytest.fixture(autouse=True)
def _current_device():
    acl.aclrtSetDevice(0)
    yield
    acl.aclrtResetDevice(0)


@pytest.fixture
def world():
    made = World()
    yield made
    made.close()


class World:
    """One of everything, and what is dead."""

    def __init__(self):
        self.stream = acl.aclrtCreateStream()
        self.side = acl.aclrtCreateStream()
        self.plain = acl.aclrtCreateEvent()
        self.flag = acl.aclrtCreateEventWithFlag(acl.ACL_EVENT_SYNC)
        self.ex = acl.aclrtCreateEventExWithFlag(acl.ACL_EVENT_SYNC)
        self.timing = acl.aclrtCreateEventExWithFlag(acl.ACL_EVENT_TIME_LINE)
        self.notify = acl.aclrtCreateNotify(0)
        self.counter = acl.aclrtCntNotifyCreate(0)
        self.memory = acl.aclrtMalloc(64, 0)
        self.dead_stream = acl.aclrtCreateStream()
        acl.aclrtDestroyStream(self.dead_stream)
        self.dead_event = acl.aclrtCreateEvent()
        acl.aclrtDestroyEvent(self.dead_event)
        self.me = threading.get_ident()

    def captured(self, mode=0):
        acl.aclmdlRICaptureBegin(self.stream, mode)
        return self

    def graph(self):
        acl.aclmdlRICaptureBegin(self.stream, 2)
        return acl.aclmdlRICaptureEnd(self.stream)

    def close(self):
        for stream in (self.stream, self.side):
            state, _ = acl.aclmdlRICaptureGetInfo(stream)
            if state:
                with pytest.raises(acl.AclError) if state == 2 else nullcontext():
                    acl.aclmdlRICaptureEnd(stream)
        for stream in (self.stream, self.side):
            acl.aclrtDestroyStreamForce(stream)
        for event in (self.plain, self.flag, self.ex, self.timing):
            acl.aclrtDestroyEvent(event)
        acl.aclrtDestroyNotify(self.notify)
        acl.aclrtCntNotifyDestroy(self.counter)
        acl.aclrtFree(self.memory)


def f(name, *arguments):
    """A call of a C name, with what it is given looked up when it is made."""

    def call(world):
        values = [getattr(world, a[1:]) if _is_name(a) else a for a in arguments]
        return getattr(acl, name)(*values)

    call.__name__ = f"{name}{arguments}"
    return call


def _is_name(value):
    return isinstance(value, str) and value.startswith("@")


STREAMS = [
    (100000, f("aclrtDestroyStream", None)),
    (100000, f("aclrtDestroyStreamForce", None)),
    (107017, f("aclrtDestroyStreamForce", "@dead_stream")),
    (107000, f("aclrtSynchronizeStreamWithTimeout", "@stream", 0)),
    (107000, f("aclrtSynchronizeStreamWithTimeout", "@stream", -2)),
    (107000, f("aclrtSynchronizeDeviceWithTimeout", 0)),
    # NULL is refused above the runtime, whatever else is wrong
    (100000, f("aclrtSynchronizeEventWithTimeout", None, 0)),
    (100000, f("aclrtStreamWaitEventWithTimeout", "@stream", None, -1)),
    (100000, f("aclrtStreamWaitEventWithFlag", "@stream", None, 0, 9)),
    (100000, f("aclrtRecordEventWithFlag", None, "@stream", 9)),
    (107017, f("aclrtSynchronizeStreamWithTimeout", "@dead_stream", 1)),
    (107017, f("aclrtStreamGetId", "@dead_stream")),
    (107017, f("aclrtStreamGetPriority", "@dead_stream")),
    (107017, f("aclrtStreamGetFlags", "@dead_stream")),
    (107000, f("aclrtSetStreamFailureMode", "@stream", 2)),
    (100000, f("aclrtSetStreamFailureMode", None, 1)),
    (107000, f("aclrtSetStreamAttribute", "@stream", 9, 1)),
    (107000, f("aclrtGetStreamAttribute", "@stream", 0)),
    (107000, f("aclrtSetStreamOverflowSwitch", "@stream", 2)),
    (107017, f("aclrtStreamAbort", "@dead_stream")),
    (107000, f("aclrtStreamStop", None)),
    (107005, f("aclrtActiveStream", "@side", "@stream")),
    (107005, f("aclrtPersistentTaskClean", "@stream")),
    (100000, f("aclrtCreateStreamV2", None)),
    (100000, f("aclrtDestroyStreamConfigHandle", None)),
    (100000, f("aclrtRegStreamStateCallback", "name", 5)),
]

EVENTS = [
    (107000, f("aclrtCreateEventWithFlag", 0)),
    (107000, f("aclrtCreateEventExWithFlag", 0)),
    (107000, f("aclrtCreateEventExWithFlag", acl.ACL_EVENT_EXTERNAL)),
    (107000, f("aclrtCreateEventWithFlag", acl.ACL_EVENT_IPC)),
    (107000, f("aclrtCreateEventWithFlag", 0x80)),
    (107000, f("aclrtStreamWaitEvent", "@stream", "@plain")),
    (207000, f("aclrtStreamWaitEvent", "@stream", "@timing")),
    (107000, f("aclrtStreamWaitEventWithTimeout", "@stream", "@flag", -1)),
    (107000, f("aclrtStreamWaitEventWithFlag", "@stream", "@flag", 0, 2)),
    (107000, f("aclrtStreamWaitEventWithFlag", "@stream", "@ex", 1, 1)),
    (107029, f("aclrtStreamWaitEventWithFlag", "@stream", "@ex", 0, 1)),
    (107000, f("aclrtRecordEventWithFlag", "@ex", "@stream", 2)),
    (107029, f("aclrtRecordEventWithFlag", "@ex", "@stream", 1)),
    (207000, f("aclrtResetEvent", "@ex", "@stream")),
    (100000, f("aclrtResetEvent", None, "@stream")),
    (207000, f("aclrtQueryEvent", "@ex")),
    (207000, f("aclrtQueryEventWaitStatus", "@ex")),
    (107000, f("aclrtSynchronizeEventWithTimeout", "@plain", 0)),
    (107000, f("aclrtSynchronizeEventWithTimeout", "@plain", -5)),
    (507000, f("aclrtEventGetTimestamp", "@plain")),
    (507000, f("aclrtEventElapsedTime", "@plain", "@plain")),
    (207000, f("aclrtIpcGetEventHandle", "@ex")),
    (107017, f("aclrtGetEventId", "@dead_event")),
    (107017, f("aclrtQueryEvent", "@dead_event")),
    (107017, f("aclrtDestroyEvent", "@dead_event")),
    (100000, f("aclrtDestroyEvent", None)),
    (107000, f("aclrtCreateNotify", 2)),
    (100000, f("aclrtRecordNotify", None, "@stream")),
    (107017, f("aclrtRecordNotify", "@notify", "@dead_stream")),
    (100000, f("aclrtNotifyBatchReset", [])),
    (100000, f("aclrtNotifyBatchReset", 5)),
    (100000, f("aclmdlRISetName", None, 5)),
    (100000, f("aclmdlRIDebugJsonPrint", None, 5, 0)),
    (100000, f("aclDataTypeSize", None)),
    (207000, f("aclrtNotifyGetExportKey", "@notify")),
    (107000, f("aclrtCntNotifyRecord", "@counter", "@stream", 3, 1)),
    (107000, f("aclrtCntNotifyWaitWithTimeout", "@counter", "@stream", 5, 1, 0)),
    (100000, f("aclrtValueWrite", None, 1, 0, "@stream")),
    (107000, f("aclrtValueWrite", "@memory", 1, 1, "@stream")),
    (107000, f("aclrtValueWait", "@memory", 1, 4, "@stream")),
]

CALLBACKS = [
    (100000, f("aclrtProcessReport", 0)),
    (100000, f("aclrtProcessReport", -2)),
    (107012, f("aclrtProcessReport", 1)),
    (107011, f("aclrtUnSubscribeReport", 1, "@stream")),
    (100000, f("aclrtSubscribeReport", 1, None)),
    (107015, f("aclrtLaunchCallback", print, None, 0, "@stream")),
    (100000, f("aclrtLaunchCallback", print, None, 2, "@stream")),
    (107000, f("aclrtLaunchCallback", None, None, 0, "@stream")),
    (100000, f("aclrtLaunchCallback", "no function", None, 0, "@stream")),
]

CAPTURE = [
    (100000, f("aclmdlRICaptureBegin", None, 0)),
    (107000, f("aclmdlRICaptureBegin", "@stream", 3)),
    (107017, f("aclmdlRICaptureBegin", "@dead_stream", 0)),
    (100000, f("aclmdlRICaptureEnd", None)),
    (107029, f("aclmdlRICaptureEnd", "@stream")),
    (100000, f("aclmdlRICaptureGetInfo", None)),
    (107000, f("aclmdlRICaptureThreadExchangeMode", 3)),
    (100000, f("aclmdlRIExecuteAsync", None, "@stream")),
    (100000, f("aclmdlRIDestroy", None)),
    (107029, f("aclmdlRICaptureTaskGrpBegin", "@stream")),
    (107029, f("aclmdlRICaptureTaskGrpEnd", "@stream")),
    (107033, f("aclmdlRICaptureTaskUpdateEnd", "@stream")),
    (100000, f("aclmdlRICaptureTaskUpdateBegin", "@stream", None)),
]

# On a stream that is being captured, mode global.
CAPTURING = [
    (107027, f("aclmdlRICaptureBegin", "@stream", 0)),
    (107027, f("aclrtSynchronizeStream", "@stream")),
    (107027, f("aclrtStreamQuery", "@stream")),
    (107027, f("aclrtDestroyStream", "@stream")),
    (107027, f("aclrtDestroyStreamForce", "@stream")),
    (107027, f("aclrtStreamAbort", "@stream")),
    (107027, f("aclrtSynchronizeDevice")),
    (107027, f("aclrtSynchronizeDeviceWithTimeout", 1)),
    (107030, f("aclrtMemset", "@memory", 64, 0, 64)),
    (107030, f("aclrtMemcpy", "@memory", 8, np.zeros(8, np.uint8), 8, 1)),
    (107000, f("aclrtMemcpyAsync", "@memory", 8, np.zeros(8, np.uint8), 8, 1, "@stream")),
    (107041, f("aclrtMemcpyAsync", "@memory", 8, np.zeros(8, np.uint8), 8, 1, "@side")),
    (207000, f("aclrtRecordEvent", "@plain", "@stream")),
    (207000, f("aclrtRecordEvent", "@flag", "@stream")),
    (207000, f("aclrtStreamWaitEvent", "@stream", "@flag")),
    (207000, f("aclrtResetEvent", "@flag", "@stream")),
    (207000, f("aclrtRecordEventWithFlag", "@plain", "@stream", 1)),
    (107033, f("aclmdlRICaptureTaskGrpEnd", "@stream")),
]


@pytest.mark.parametrize(
    ("status", "call"),
    STREAMS + EVENTS + CALLBACKS + CAPTURE,
    ids=lambda v: getattr(v, "__name__", str(v)),
)
def test_status(world, status, call):
    with pytest.raises(acl.AclError) as raised:
        call(world)
    assert raised.value.status == status


@pytest.mark.parametrize(
    ("status", "call"), CAPTURING, ids=lambda v: getattr(v, "__name__", str(v))
)
def test_status_while_capturing(world, status, call):
    world.captured()
    with pytest.raises(acl.AclError) as raised:
        call(world)
    assert raised.value.status == status


QUESTIONS = [
    f("aclrtSynchronizeEvent", "@ex"),
    f("aclrtSynchronizeEventWithTimeout", "@ex", 1),
    f("aclrtQueryEventStatus", "@ex"),
    f("aclrtEventElapsedTime", "@ex", "@ex"),
    f("aclrtEventGetTimestamp", "@ex"),
]


@pytest.mark.parametrize("call", QUESTIONS, ids=lambda call: call.__name__)
def test_107028_for_questions_about_a_captured_event(world, call):
    world.captured()
    acl.aclrtRecordEvent(world.ex, world.stream)
    with pytest.raises(acl.AclError) as raised:
        call(world)
    assert raised.value.status == 107028


def test_a_context_of_its_own(world):
    first = acl.aclrtGetCurrentContext()
    other = acl.aclrtCreateContext(0)
    for name, arguments in (
        ("aclrtDestroyStream", (world.stream,)),
        ("aclrtRecordEvent", (world.plain, world.stream)),
        ("aclrtStreamWaitEvent", (world.stream, world.flag)),
        ("aclrtLaunchCallback", (print, None, 0, world.stream)),
        ("aclmdlRICaptureBegin", (world.stream, 0)),
        ("aclrtRecordNotify", (world.notify, world.stream)),
    ):
        with pytest.raises(acl.AclError) as raised:
            getattr(acl, name)(*arguments)
        assert raised.value.status == 107003, name
    acl.aclrtSynchronizeStream(world.stream)  # the exception to the rule
    acl.aclrtSetCurrentContext(first)
    graph_of_first = world.graph()
    acl.aclrtSetCurrentContext(other)
    mine = acl.aclrtCreateStream()
    with pytest.raises(acl.AclError) as raised:
        acl.aclmdlRIExecuteAsync(graph_of_first, mine)
    assert raised.value.status == 107004
    acl.aclrtDestroyContext(other)
    acl.aclrtSetCurrentContext(first)
    acl.aclmdlRIDestroy(graph_of_first)
    acl.aclrtSetDevice(0)
    acl.aclrtResetDevice(0)


def test_timeouts_have_their_own_statuses(world):
    with Latch(world.stream):
        acl.aclrtRecordEvent(world.plain, world.stream)
        for status, call in (
            (507046, f("aclrtSynchronizeStreamWithTimeout", "@stream", 1)),
            (507046, f("aclrtSynchronizeDeviceWithTimeout", 1)),
            (507047, f("aclrtSynchronizeEventWithTimeout", "@plain", 1)),
            (107006, f("aclrtEventGetTimestamp", "@plain")),
        ):
            with pytest.raises(acl.AclError) as raised:
                call(world)
            assert raised.value.status == status
    acl.aclrtSynchronizeStreamWithTimeout(world.stream, -1)
    assert acl.aclrtEventGetTimestamp(world.plain) > 0


def test_a_failure_mode_is_not_taken_back():
    context = acl.aclrtCreateContext(0)
    stream = acl.aclrtCreateStream()
    acl.aclrtSetStreamFailureMode(stream, 1)
    with pytest.raises(acl.AclError) as raised:
        acl.aclrtSetStreamFailureMode(stream, 0)
    assert raised.value.status == 207000

    def fail():
        raise ValueError("first")

    ran = []
    stream.launch_host_func(fail)
    for _ in range(2):
        with pytest.raises(acl.AclError) as raised:
            acl.aclrtSynchronizeStream(stream)
        assert raised.value.status == 507000
    with pytest.raises(acl.AclError) as raised:
        acl.aclrtLaunchHostFunc(acl.aclrtCreateStream(), ran.append, 1)
    assert raised.value.status == 507000
    assert "ACL_STOP_ON_FAILURE" in str(raised.value)  # the text is of the call that failed first
    assert ran == []
    acl.aclrtDestroyContext(context)
    acl.aclrtSetDevice(0)
    acl.aclrtResetDevice(0)
