# SPDX-License-Identifier: Apache-2.0
"""Order within a stream, freedom between streams, and calls that return before the work is done."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

import aclnn_py as acl
from support.latch import PATIENCE_S, Latch
from support.process import in_thread

pytestmark = pytest.mark.usefixtures("current_device")


def test_a_stream_keeps_the_order(stream):
    seen = []
    for number in range(1000):
        stream.launch_host_func(lambda number=number: seen.append(number))
    stream.synchronize()
    assert seen == list(range(1000))


def test_launching_returns_before_the_function_runs(stream):
    with Latch(stream):
        seen = []
        stream.launch_host_func(lambda: seen.append(1))
        assert seen == []
        assert not stream.query()
    stream.synchronize()
    assert seen == [1]
    assert stream.query()


def test_host_functions_run_on_another_thread(stream):
    seen = []
    stream.launch_host_func(lambda: seen.append(threading.get_ident()))
    stream.synchronize()
    assert seen != [threading.get_ident()]


def test_two_streams_have_a_task_in_flight_each(stream, second):
    with Latch(stream) as one, Latch(second) as two:
        assert one.held
        assert two.held
        assert not stream.query()
        assert not second.query()


def test_streams_meet(stream, second):
    """Each function waits for the other one: only streams that run side by side get through."""
    meeting = threading.Barrier(2)
    stream.launch_host_func(lambda: meeting.wait(PATIENCE_S))
    second.launch_host_func(lambda: meeting.wait(PATIENCE_S))
    stream.synchronize()
    second.synchronize()


def test_the_default_stream_holds_nobody_up(stream):
    latch = Latch()
    acl.aclrtLaunchHostFunc(None, latch.hold, None)
    with latch:
        stream.launch_host_func(lambda: None)
        stream.synchronize()
        assert acl.aclrtStreamQuery(None) == acl.ACL_STREAM_STATUS_NOT_READY
        assert acl.aclrtStreamQuery(stream) == acl.ACL_STREAM_STATUS_COMPLETE
    acl.aclrtSynchronizeStream(None)
    assert acl.aclrtStreamQuery(None) == acl.ACL_STREAM_STATUS_COMPLETE


def test_nobody_holds_the_default_stream_up(stream):
    with Latch(stream):
        seen = []
        acl.aclrtLaunchHostFunc(None, seen.append, 1)
        acl.aclrtSynchronizeStream(None)
        assert seen == [1]


def test_threads_of_one_context_share_its_default_stream():
    latch = Latch()
    acl.aclrtLaunchHostFunc(None, latch.hold, None)

    def other():
        acl.aclrtSetDevice(0)
        try:
            return acl.aclrtStreamQuery(None)
        finally:
            acl.aclrtResetDevice(0)

    with latch:
        assert in_thread(other) == acl.ACL_STREAM_STATUS_NOT_READY
    acl.aclrtSynchronizeStream(None)


def test_async_copies_and_fills_return_at_once(stream):
    there = acl.aclrtMalloc(64)
    source, target = acl.aclrtMallocHost(64), acl.aclrtMallocHost(64)
    np.asarray(source)[:] = 7
    np.asarray(target)[:] = 0xEE
    with Latch(stream):
        acl.aclrtMemsetAsync(there, 64, 1, 64, stream)
        acl.aclrtMemcpyAsync(there, 64, source, 32, acl.ACL_MEMCPY_HOST_TO_DEVICE, stream)
        acl.aclrtMemcpyAsync(target, 64, there, 64, acl.ACL_MEMCPY_DEVICE_TO_HOST, stream)
        assert (np.asarray(target) == 0xEE).all()
        np.asarray(source)[:] = 8  # read when its turn comes
    stream.synchronize()
    assert np.asarray(target).tolist() == [8] * 32 + [1] * 32
    acl.aclrtFree(there)
    acl.aclrtFreeHost(source)
    acl.aclrtFreeHost(target)


def test_synchronous_copies_do_not_wait_for_streams(stream):
    there = acl.aclrtMalloc(64)
    with Latch(stream):
        acl.aclrtMemsetAsync(there, 64, 1, 64, stream)
        acl.aclrtMemset(there, 64, 2, 64)
        back = np.zeros(64, np.uint8)
        acl.aclrtMemcpy(back, 64, there, 64, acl.ACL_MEMCPY_DEVICE_TO_HOST)
        assert (back == 2).all()
    stream.synchronize()
    acl.aclrtMemcpy(back, 64, there, 64, acl.ACL_MEMCPY_DEVICE_TO_HOST)
    assert (back == 1).all()
    acl.aclrtFree(there)


def test_device_synchronize_waits_for_all_streams_of_the_context(device, stream, second):
    seen = []
    latch = Latch()
    latch.park(stream)
    stream.launch_host_func(lambda: seen.append(1))
    second.launch_host_func(lambda: seen.append(2))
    latch.wait_until_held()
    waiting = threading.Thread(target=lambda: (device.synchronize(), seen.append("done")))
    waiting.start()
    second.synchronize()
    assert "done" not in seen
    latch.open()
    waiting.join(PATIENCE_S)
    assert not waiting.is_alive()
    assert sorted(seen[:2]) == [1, 2]
    assert seen[2] == "done"


def test_closing_waits_and_collecting_does_not(device):
    seen = []
    closing = device.create_stream()
    closing.launch_host_func(lambda: seen.append("closed"))
    closing.close()
    assert seen == ["closed"]

    done = threading.Event()
    collected = device.create_stream()
    latch = Latch()
    latch.park(collected)
    collected.launch_host_func(done.set)
    latch.wait_until_held()
    del collected
    gc.collect()
    assert not done.is_set()
    latch.open()
    assert done.wait(PATIENCE_S), "work of a collected stream was lost"


def test_closing_a_device_does_not_wait_for_its_streams():
    device = acl.Device(0)
    stream = device.create_stream()
    done = threading.Event()
    with Latch(stream):
        stream.launch_host_func(done.set)
        device.close()
        assert not done.is_set()
    assert done.wait(PATIENCE_S), "work queued before the close was lost"
    stream.close()


def test_destroying_another_threads_stream_waits_for_its_queue():
    stream = acl.aclrtCreateStream()
    latch = Latch(stream)
    seen = []
    stream.launch_host_func(lambda: seen.append("ran"))
    latch.wait_until_held()

    def destroy():
        acl.aclrtSetDevice(0)
        acl.aclrtDestroyStream(stream)
        acl.aclrtResetDevice(0)
        seen.append("destroyed")

    thread = threading.Thread(target=destroy)
    thread.start()
    latch.open()
    thread.join(PATIENCE_S)
    assert seen == ["ran", "destroyed"]


def test_many_threads_feed_one_stream(stream):
    seen = []

    def feed(name):
        for _ in range(200):
            stream.launch_host_func(lambda: seen.append(name))

    threads = [threading.Thread(target=feed, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stream.synchronize()
    assert sorted(seen) == sorted([0, 1, 2, 3] * 200)


def test_many_streams(device):
    streams = [device.create_stream() for _ in range(64)]
    seen = []
    for number, each in enumerate(streams):
        each.launch_host_func(lambda number=number: seen.append(number))
    device.synchronize()
    assert sorted(seen) == list(range(64))
    for each in streams:
        each.close()
