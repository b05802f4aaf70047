# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ARG005, FBT003  # rows of one shape; wrong types are what is tested
"""Runtime statuses, one row each, typed from the vendor's facts; `w` is a World."""

from __future__ import annotations

import numpy as np
import pytest

import aclnn_py as acl
from support.process import in_thread

OK = 0
H2D = acl.ACL_MEMCPY_HOST_TO_DEVICE
D2H = acl.ACL_MEMCPY_DEVICE_TO_HOST
SYNC = acl.ACL_EVENT_SYNC


class World:
    """One object of every kind, in a thread with a context of its own."""

    def __init__(self):
        acl.aclrtSetDevice(0)
        self.foreign = acl.aclrtCreateContext(0)
        self.foreign_stream = acl.aclrtCreateStream()
        self.context = acl.aclrtCreateContext(0)
        self.stream = acl.aclrtCreateStream()
        self.gone_context = acl.aclrtCreateContext(0)
        acl.aclrtDestroyContext(self.gone_context)
        acl.aclrtSetCurrentContext(self.context)
        self.gone_stream = acl.aclrtCreateStream()
        acl.aclrtDestroyStream(self.gone_stream)
        self.event = acl.aclrtCreateEvent()
        self.recorded = acl.aclrtCreateEvent()
        acl.aclrtRecordEvent(self.recorded, self.stream)
        acl.aclrtSynchronizeEvent(self.recorded)
        self.gone_event = acl.aclrtCreateEvent()
        acl.aclrtDestroyEvent(self.gone_event)
        self.timeless = acl.aclrtCreateEventExWithFlag(SYNC)
        acl.aclrtRecordEvent(self.timeless, self.stream)
        acl.aclrtSynchronizeEvent(self.timeless)
        self.time_only = acl.aclrtCreateEventWithFlag(acl.ACL_EVENT_TIME_LINE)
        self.dev = acl.aclrtMalloc(64)
        self.gone_dev = acl.aclrtMalloc(64)
        acl.aclrtFree(self.gone_dev)
        self.pinned = acl.aclrtMallocHost(64)
        self.host = np.zeros(64, np.uint8)
        self.frozen = np.zeros(64, np.uint8)
        self.frozen.flags.writeable = False
        self.primary = in_thread(_primary)

    def close(self):
        acl.aclrtFree(self.dev)
        acl.aclrtFreeHost(self.pinned)
        acl.aclrtDestroyContext(self.context)
        acl.aclrtDestroyContext(self.foreign)
        acl.aclrtResetDevice(0)


def _primary():
    acl.aclrtSetDevice(0)
    context = acl.aclrtGetCurrentContext()
    acl.aclrtResetDevice(0)
    return context


# Columns: status, argument (None: not looked at), call.
WITH_CONTEXT = [
    # devices and contexts
    (107001, "deviceId", lambda w: acl.aclrtSetDevice(-1)),
    (107001, "deviceId", lambda w: acl.aclrtSetDevice(4096)),
    (100000, "deviceId", lambda w: acl.aclrtSetDevice("0")),
    (100000, "deviceId", lambda w: acl.aclrtSetDevice(0.0)),
    (100000, "deviceId", lambda w: acl.aclrtSetDevice(None)),
    (100000, "deviceId", lambda w: acl.aclrtSetDevice(True)),
    (100000, "deviceId", lambda w: acl.aclrtSetDevice(2**31)),
    (OK, None, lambda w: (acl.aclrtSetDevice(np.int32(0)), acl.aclrtResetDevice(0))),
    (107001, "deviceId", lambda w: acl.aclrtResetDevice(4096)),
    (107001, "deviceId", lambda w: acl.aclrtCreateContext(4096)),
    (100000, "context", lambda w: acl.aclrtDestroyContext(None)),
    (100000, "context", lambda w: acl.aclrtDestroyContext(w.stream)),
    (107002, "context", lambda w: acl.aclrtDestroyContext(w.primary)),
    (100000, "context", lambda w: acl.aclrtSetCurrentContext(None)),
    (107000, "context", lambda w: acl.aclrtSetCurrentContext(w.gone_context)),
    # allocation
    (100000, "size", lambda w: acl.aclrtMalloc(0)),
    (100000, "size", lambda w: acl.aclrtMalloc(2**64 - 1)),
    (100000, "size", lambda w: acl.aclrtMalloc(2**64)),
    (100000, "size", lambda w: acl.aclrtMalloc(-1)),
    (100000, "size", lambda w: acl.aclrtMalloc(None)),
    (100000, "size", lambda w: acl.aclrtMalloc(1.0)),
    (100000, "size", lambda w: acl.aclrtMalloc(np.float64(1))),
    (100000, "size", lambda w: acl.aclrtMalloc(np.bool_(True))),
    (207001, None, lambda w: acl.aclrtMalloc(2**60)),
    (100000, "policy", lambda w: acl.aclrtMalloc(64, None)),
    (OK, None, lambda w: acl.aclrtFree(acl.aclrtMalloc(64, 12345))),
    (OK, None, lambda w: acl.aclrtFree(acl.aclrtMalloc(64, acl.ACL_MEM_MALLOC_NORMAL_ONLY))),
    (100000, "size", lambda w: acl.aclrtMallocHost(0)),
    (207001, None, lambda w: acl.aclrtMallocHost(2**60)),
    (100000, "devPtr", lambda w: acl.aclrtFree(None)),
    (100000, "devPtr", lambda w: acl.aclrtFree(0)),
    (100000, "devPtr", lambda w: acl.aclrtFree("64")),
    (107000, "devPtr", lambda w: acl.aclrtFree(w.gone_dev)),
    (107000, "devPtr", lambda w: acl.aclrtFree(w.dev + 8)),
    (107000, "devPtr", lambda w: acl.aclrtFree(12345)),
    (107000, "devPtr", lambda w: acl.aclrtFree(w.pinned)),
    (100000, "hostPtr", lambda w: acl.aclrtFreeHost(None)),
    (107000, "hostPtr", lambda w: acl.aclrtFreeHost(w.dev)),
    (107000, "hostPtr", lambda w: acl.aclrtFreeHost(w.pinned + 8)),
    # copies: count 0 comes first, then null, kind, destMax
    (OK, None, lambda w: acl.aclrtMemcpy(None, 0, None, 0, 99)),
    (OK, None, lambda w: acl.aclrtMemcpy(w.dev, 0, w.host, 0, H2D)),
    (100000, "dst", lambda w: acl.aclrtMemcpy(None, 64, w.host, 64, 99)),
    (100000, "src", lambda w: acl.aclrtMemcpy(w.dev, 64, None, 64, 99)),
    (100000, "kind", lambda w: acl.aclrtMemcpy(w.dev, 32, w.host, 64, 6)),
    (100000, "kind", lambda w: acl.aclrtMemcpy(w.dev, 64, w.host, 64, 7)),
    (100000, "kind", lambda w: acl.aclrtMemcpy(w.dev, 64, w.host, 64, -1)),
    (100000, "kind", lambda w: acl.aclrtMemcpy(w.dev, 64, w.host, 64, None)),
    (107000, "count", lambda w: acl.aclrtMemcpy(w.dev, 32, w.host, 64, H2D)),
    (OK, None, lambda w: acl.aclrtMemcpy(w.dev, 64, w.host, 64, D2H)),  # the addresses decide
    (OK, None, lambda w: acl.aclrtMemcpy(w.host, 64, w.host, 64, 0)),
    (OK, None, lambda w: acl.aclrtMemcpy(w.dev, 64, bytes(64), 64, 5)),
    (OK, None, lambda w: acl.aclrtMemcpy(w.dev + 60, 4, bytes(4), 4, H2D)),
    (107000, "dst", lambda w: acl.aclrtMemcpy(w.dev + 60, 64, w.host, 8, H2D)),
    (107000, "src", lambda w: acl.aclrtMemcpy(w.host, 64, w.dev + 60, 8, D2H)),
    (107000, "dst", lambda w: acl.aclrtMemcpy(w.host[:8], 64, w.dev, 16, D2H)),
    (107000, "src", lambda w: acl.aclrtMemcpy(w.dev, 64, w.host[:8], 16, H2D)),
    (107000, "src", lambda w: acl.aclrtMemcpy(w.dev, 64, b"short", 6, H2D)),
    (100000, "dst", lambda w: acl.aclrtMemcpy(w.frozen, 64, w.dev, 64, D2H)),
    (OK, None, lambda w: acl.aclrtMemcpy(w.dev, 64, w.frozen, 64, H2D)),
    (100000, "dst", lambda w: acl.aclrtMemcpy(b"frozen too", 10, w.dev, 10, D2H)),
    (100000, "dst", lambda w: acl.aclrtMemcpy(w.host.reshape(8, 8).T, 64, w.dev, 64, D2H)),
    (100000, "src", lambda w: acl.aclrtMemcpy(w.dev, 64, w.host[::2], 32, H2D)),
    (100000, "src", lambda w: acl.aclrtMemcpy(w.dev, 64, memoryview(bytes(64))[::2], 32, H2D)),
    (100000, "src", lambda w: acl.aclrtMemcpy(w.dev, 64, np.zeros(8, ">f4"), 32, H2D)),
    (100000, "src", lambda w: acl.aclrtMemcpy(w.dev, 64, np.array([None]), 8, H2D)),
    (100000, "src", lambda w: acl.aclrtMemcpy(w.dev, 64, "text", 4, H2D)),
    (100000, "src", lambda w: acl.aclrtMemcpy(w.dev, 64, [1, 2], 4, H2D)),
    (100000, "src", lambda w: acl.aclrtMemcpy(w.dev, 64, True, 4, H2D)),
    (100000, "src", lambda w: acl.aclrtMemcpy(w.dev, 64, w.stream, 4, H2D)),
    (107017, "src", lambda w: acl.aclrtMemcpy(w.host, 64, w.gone_dev, 64, D2H)),
    (100000, "destMax", lambda w: acl.aclrtMemcpy(w.dev, -1, w.host, 64, H2D)),
    (100000, "count", lambda w: acl.aclrtMemcpy(w.dev, 64, w.host, 6.4, H2D)),
    # copies in stream order
    (OK, None, lambda w: acl.aclrtMemcpyAsync(None, 0, None, 0, 99, None)),
    (100000, "dst", lambda w: acl.aclrtMemcpyAsync(None, 64, w.pinned, 64, H2D, w.stream)),
    (100000, "kind", lambda w: acl.aclrtMemcpyAsync(w.dev, 64, w.pinned, 64, 6, w.stream)),
    (107000, "count", lambda w: acl.aclrtMemcpyAsync(w.dev, 32, w.pinned, 64, H2D, w.stream)),
    (107000, "src", lambda w: acl.aclrtMemcpyAsync(w.dev, 99, w.pinned + 60, 8, H2D, w.stream)),
    (
        107003,
        "stream",
        lambda w: acl.aclrtMemcpyAsync(w.dev, 9, w.pinned, 9, H2D, w.foreign_stream),
    ),
    (107017, "stream", lambda w: acl.aclrtMemcpyAsync(w.dev, 64, w.pinned, 64, H2D, w.gone_stream)),
    (100000, "stream", lambda w: acl.aclrtMemcpyAsync(w.dev, 64, w.pinned, 64, H2D, 1)),
    (207000, "kind", lambda w: acl.aclrtMemcpyAsync(w.pinned, 64, w.pinned + 32, 8, 0, w.stream)),
    (107000, "kind", lambda w: acl.aclrtMemcpyAsync(w.dev, 64, w.host, 64, D2H, w.stream)),
    (OK, None, lambda w: acl.aclrtMemcpyAsync(w.dev, 64, w.pinned, 64, D2H, w.stream)),
    (OK, None, lambda w: acl.aclrtMemcpyAsync(w.dev, 64, w.host, 64, H2D, None)),
    # fills
    (OK, None, lambda w: acl.aclrtMemset(None, 0, 0, 0)),
    (100000, "devPtr", lambda w: acl.aclrtMemset(None, 64, 0, 64)),
    (107000, "count", lambda w: acl.aclrtMemset(w.dev, 32, 0, 64)),
    (107000, "devPtr", lambda w: acl.aclrtMemset(w.dev, 128, 0, 128)),
    (100000, "value", lambda w: acl.aclrtMemset(w.dev, 64, 2**31, 64)),
    (OK, None, lambda w: acl.aclrtMemset(w.dev, 64, -1, 64)),
    (OK, None, lambda w: acl.aclrtMemsetAsync(None, 0, 0, 0, None)),
    (107000, "count", lambda w: acl.aclrtMemsetAsync(w.dev, 32, 0, 64, w.stream)),
    (107003, "stream", lambda w: acl.aclrtMemsetAsync(w.dev, 64, 0, 64, w.foreign_stream)),
    # streams
    (100000, "stream", lambda w: acl.aclrtDestroyStream(None)),
    (100000, "stream", lambda w: acl.aclrtDestroyStream(5)),
    (107003, "stream", lambda w: acl.aclrtDestroyStream(w.foreign_stream)),
    (107017, "stream", lambda w: acl.aclrtDestroyStream(w.gone_stream)),
    (107017, "stream", lambda w: acl.aclrtSynchronizeStream(w.gone_stream)),
    (OK, None, lambda w: acl.aclrtSynchronizeStream(w.foreign_stream)),  # switches by itself
    (OK, None, lambda w: acl.aclrtSynchronizeStream(None)),
    (107017, "stream", lambda w: acl.aclrtStreamQuery(w.gone_stream)),
    (OK, None, lambda w: acl.aclrtStreamQuery(None)),
    # events
    (107000, "flag", lambda w: acl.aclrtCreateEventWithFlag(0)),
    (107000, "flag", lambda w: acl.aclrtCreateEventExWithFlag(0)),
    (107000, "flag", lambda w: acl.aclrtCreateEventWithFlag(0x80)),
    (107000, "flag", lambda w: acl.aclrtCreateEventWithFlag(acl.ACL_EVENT_IPC)),
    (107000, "flag", lambda w: acl.aclrtCreateEventExWithFlag(acl.ACL_EVENT_EXTERNAL)),
    (107000, "flag", lambda w: acl.aclrtCreateEventExWithFlag(acl.ACL_EVENT_IPC | SYNC)),
    (107000, "flag", lambda w: acl.aclrtCreateEventWithFlag(acl.ACL_EVENT_DEVICE_USE_ONLY | SYNC)),
    (100000, "flag", lambda w: acl.aclrtCreateEventWithFlag(None)),
    (OK, None, lambda w: acl.aclrtDestroyEvent(acl.aclrtCreateEventExWithFlag(acl.ACL_EVENT_IPC))),
    (100000, "event", lambda w: acl.aclrtDestroyEvent(None)),
    (107017, "event", lambda w: acl.aclrtDestroyEvent(w.gone_event)),
    (100000, "event", lambda w: acl.aclrtRecordEvent(None, w.stream)),
    (107017, "event", lambda w: acl.aclrtRecordEvent(w.gone_event, w.stream)),
    (107003, "stream", lambda w: acl.aclrtRecordEvent(w.event, w.foreign_stream)),
    (107017, "stream", lambda w: acl.aclrtRecordEvent(w.event, w.gone_stream)),
    (100000, "event", lambda w: acl.aclrtRecordEvent(w.stream, w.stream)),
    (100000, "event", lambda w: acl.aclrtStreamWaitEvent(w.stream, None)),
    (107000, "event", lambda w: acl.aclrtStreamWaitEvent(w.stream, w.event)),
    (207000, "event", lambda w: acl.aclrtStreamWaitEvent(w.stream, w.time_only)),
    (107003, "stream", lambda w: acl.aclrtStreamWaitEvent(w.foreign_stream, w.recorded)),
    (107017, "event", lambda w: acl.aclrtStreamWaitEvent(w.stream, w.gone_event)),
    (OK, None, lambda w: acl.aclrtStreamWaitEvent(w.stream, w.recorded)),
    (100000, "event", lambda w: acl.aclrtSynchronizeEvent(None)),
    (107017, "event", lambda w: acl.aclrtSynchronizeEvent(w.gone_event)),
    (OK, None, lambda w: acl.aclrtSynchronizeEvent(w.event)),  # never recorded: at once
    (100000, "event", lambda w: acl.aclrtQueryEventStatus(None)),
    (107017, "event", lambda w: acl.aclrtQueryEventStatus(w.gone_event)),
    (507000, "end", lambda w: acl.aclrtEventElapsedTime(w.recorded, w.event)),
    (507000, "start", lambda w: acl.aclrtEventElapsedTime(w.event, w.recorded)),
    (107006, "end", lambda w: acl.aclrtEventElapsedTime(w.recorded, w.timeless)),
    (107017, "start", lambda w: acl.aclrtEventElapsedTime(w.gone_event, w.recorded)),
    (100000, "start", lambda w: acl.aclrtEventElapsedTime(None, w.recorded)),
    (OK, None, lambda w: acl.aclrtEventElapsedTime(w.recorded, w.recorded)),
    # host functions
    (107000, "fn", lambda w: acl.aclrtLaunchHostFunc(w.stream, None, None)),
    (100000, "fn", lambda w: acl.aclrtLaunchHostFunc(w.stream, "f", None)),
    (107003, "stream", lambda w: acl.aclrtLaunchHostFunc(w.foreign_stream, print, None)),
    (107017, "stream", lambda w: acl.aclrtLaunchHostFunc(w.gone_stream, print, None)),
    # initialisation
    (100000, "configPath", lambda w: acl.aclInit(5)),
    (100000, "configPath", lambda w: acl.aclInit("a\0b")),
    (100003, "configPath", lambda w: acl.aclInit("/no/such/file.json")),
    (100000, "configPath", lambda w: acl.aclnnInit(5)),
    (OK, None, lambda w: (acl.aclnnInit(), acl.aclnnInit(None), acl.aclnnFinalize())),
    # nouns
    (107001, None, lambda w: acl.Device(4096)),
    (107001, None, lambda w: acl.Device("cpu:4096")),
    (107001, None, lambda w: acl.Device(-1)),
    (100000, "index", lambda w: acl.Device("npu:0")),
    (100000, "index", lambda w: acl.Device("cpu:")),
    (100000, "index", lambda w: acl.Device(None)),
    (100000, "index", lambda w: acl.Device(0.0)),
    (100000, "index", lambda w: acl.Device(False)),
    (100000, "event", lambda w: w.stream.wait(w.stream)),
    (100000, "event", lambda w: w.stream.record(5)),
    (107017, "stream", lambda w: w.gone_stream.record()),
    (107017, "event", lambda w: w.gone_event.query()),
    (100000, "end", lambda w: w.recorded.elapsed_ms(5)),
]

# In a thread that never chose a context.
WITHOUT_CONTEXT = [
    (107002, lambda w: acl.aclrtGetDevice()),
    (107002, lambda w: acl.aclrtGetCurrentContext()),
    (107002, lambda w: acl.aclrtSynchronizeDevice()),
    (107002, lambda w: acl.aclrtMalloc(64)),
    (107002, lambda w: acl.aclrtMallocHost(64)),
    (107002, lambda w: acl.aclrtMemcpy(w.dev, 64, w.host, 64, H2D)),
    (107002, lambda w: acl.aclrtMemset(w.dev, 64, 0, 64)),
    (107002, lambda w: acl.aclrtMemcpyAsync(w.dev, 64, w.pinned, 64, H2D, w.stream)),
    (107002, lambda w: acl.aclrtMemcpyAsync(w.dev, 64, w.pinned, 64, H2D, None)),
    (107002, lambda w: acl.aclrtMemsetAsync(w.dev, 64, 0, 64, None)),
    (107002, lambda w: acl.aclrtCreateStream()),
    (107002, lambda w: acl.aclrtDestroyStream(w.stream)),
    (107002, lambda w: acl.aclrtSynchronizeStream(None)),
    (107002, lambda w: acl.aclrtStreamQuery(None)),
    (107002, lambda w: acl.aclrtCreateEvent()),
    (107002, lambda w: acl.aclrtCreateEventWithFlag(SYNC)),
    (107002, lambda w: acl.aclrtCreateEventExWithFlag(SYNC)),
    (107002, lambda w: acl.aclrtRecordEvent(w.event, None)),
    (107002, lambda w: acl.aclrtStreamWaitEvent(None, w.recorded)),
    (107002, lambda w: acl.aclrtLaunchHostFunc(None, print, None)),
    (OK, lambda w: acl.aclrtGetDeviceCount()),
    (OK, lambda w: acl.aclrtSynchronizeStream(w.stream)),
    (OK, lambda w: acl.aclrtMemcpy(w.dev, 64, w.dev, 64, 3)),  # dst == src comes first
    (100000, lambda w: acl.aclrtMalloc(0)),
    (OK, lambda w: w.stream.synchronize()),
    (OK, lambda w: w.stream.record()),
    (OK, lambda w: acl.Device(0).malloc(64).close()),
]


@pytest.fixture(scope="module")
def world():
    made = World()
    yield made
    made.close()


def outcome(call, world) -> tuple[int, str | None, str]:
    try:
        call(world)
    except acl.AclError as error:
        return error.status, error.argument, str(error)
    return OK, None, ""


@pytest.mark.parametrize("row", range(len(WITH_CONTEXT)))
def test_status(world, row):
    status, argument, call = WITH_CONTEXT[row]
    acl.aclrtSetCurrentContext(world.context)  # some rows change it
    got, blamed, text = outcome(call, world)
    assert got == status, text
    if status != OK:
        assert str(status) in text
        assert "expected:" in text, text
        assert "fix:" in text, text
    if argument is not None:
        assert blamed is not None, text
        assert blamed.startswith(argument), text


@pytest.mark.parametrize("row", range(len(WITHOUT_CONTEXT)))
def test_status_without_context(world, row):
    status, call = WITHOUT_CONTEXT[row]
    got, _, text = in_thread(outcome, call, world)
    assert got == status, text
