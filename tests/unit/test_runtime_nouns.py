# SPDX-License-Identifier: Apache-2.0
"""Device, Stream, Event, Buffer, Context as Python objects."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

import aclnn_py as acl
from aclnn_native import lib
from aclnn_py.testing import delay
from aclnn_runtime import enums
from support.process import in_thread

STATUS_CLOSED = 107017


@pytest.fixture
def device():
    with acl.Device(0) as opened:
        yield opened


@pytest.mark.parametrize("noun", [acl.Stream, acl.Event, acl.Buffer, acl.Context])
def test_direct_construction_names_the_right_door(noun):
    with pytest.raises(TypeError, match=r"acl|Device"):
        noun()


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda stream: acl.aclrtRecordEvent("e", stream), "an Event or None"),
        (lambda _: acl.aclrtSynchronizeStream("s"), "a Stream or None"),
    ],
    ids=["Event", "Stream"],
)
def test_a_wrong_noun_is_told_the_right_one(device, call, expected):
    with device.create_stream() as stream, pytest.raises(acl.AclError) as caught:
        call(stream)
    assert f"\n  expected: {expected}\n" in str(caught.value)


def test_a_device_by_number_and_by_name():
    with acl.Device(0) as number, acl.Device("cpu:0") as name, acl.Device() as default:
        assert number.index == name.index == default.index == 0
        assert repr(name) == "Device('cpu:0')"
    assert repr(name) == "Device('cpu:0') (closed)"


def test_nouns_need_no_context_and_leave_none():
    def body():
        with acl.Device(0) as device:
            stream, event, buffer = device.create_stream(), device.create_event(), device.malloc(8)
            stream.record(event)
            stream.wait(event)
            stream.launch_host_func(lambda: None)
            stream.synchronize()
            event.synchronize()
            device.synchronize()
            buffer.close()
            event.close()
            stream.close()
        with pytest.raises(acl.AclError) as caught:
            acl.aclrtGetCurrentContext()
        return caught.value.status

    assert in_thread(body) == 107002


def test_nouns_leave_the_current_context_alone(device):
    def body():
        context = acl.aclrtCreateContext(0)
        stream = device.create_stream()
        stream.synchronize()
        stream.close()
        same = acl.aclrtGetCurrentContext() == context
        acl.aclrtDestroyContext(context)
        return same

    assert in_thread(body)


def test_all_nouns_close_with_the_block_and_once(device):
    stream, event, buffer = device.create_stream(), device.create_event(), device.malloc(8)
    with stream, event, buffer:
        assert [noun.closed for noun in (stream, event, buffer)] == [False] * 3
        assert "closed" not in repr(stream) + repr(event) + repr(buffer)
    for noun in (stream, event, buffer):
        assert noun.closed
        assert "closed" in repr(noun)
        noun.close()


@pytest.mark.parametrize(
    "use",
    [
        lambda s: s.synchronize(),
        lambda s: s.query(),
        lambda s: s.record(),
        lambda s: s.launch_host_func(print),
    ],
)
def test_a_closed_stream_says_so(device, use):
    stream = device.create_stream()
    stream.close()
    with pytest.raises(acl.AclError) as caught:
        use(stream)
    assert caught.value.status == STATUS_CLOSED
    assert "stream" in str(caught.value)


@pytest.mark.parametrize("use", [lambda e: e.synchronize(), lambda e: e.query()])
def test_a_closed_event_says_so(device, use):
    event = device.create_event()
    event.close()
    with pytest.raises(acl.AclError) as caught:
        use(event)
    assert caught.value.status == STATUS_CLOSED
    assert "event" in str(caught.value)


@pytest.mark.parametrize(
    "use",
    [
        lambda d: d.create_stream(),
        lambda d: d.create_event(),
        lambda d: d.malloc(8),
        lambda d: d.synchronize(),
    ],
)
def test_a_closed_device_says_so(use):
    device = acl.Device(0)
    device.close()
    device.close()
    with pytest.raises(acl.AclError) as caught:
        use(device)
    assert caught.value.status == STATUS_CLOSED
    assert "Device('cpu:0')" in str(caught.value)


def test_what_is_made_on_a_device_keeps_it(device):
    made = acl.Device(0).create_stream()
    gc.collect()
    made.record().synchronize()
    made.close()


def test_collection_gives_everything_back(device):
    device.create_stream().record().synchronize()
    gc.collect()
    before = {kind: lib.aclpy_live_count(kind) for kind in (b"stream", b"event", b"memory")}
    for _ in range(10):
        stream = device.create_stream()
        stream.launch_host_func(lambda: None)
        stream.record().synchronize()
        device.create_event()
        device.malloc(64)
    del stream
    gc.collect()
    assert before == {kind: lib.aclpy_live_count(kind) for kind in before}


def test_handles_of_somebody_else_are_left_alone(device):
    stream = device.create_stream()
    with acl.Stream.from_handle(stream.handle) as borrowed:
        assert borrowed == stream
        assert hash(borrowed) == hash(stream)
        borrowed.launch_host_func(lambda: None)
    stream.synchronize()
    stream.close()
    with pytest.raises(acl.AclError) as caught:
        acl.Stream.from_handle(stream.handle)
    assert caught.value.status == STATUS_CLOSED


@pytest.mark.parametrize("noun", [acl.Stream, acl.Event, acl.Context])
@pytest.mark.parametrize("handle", [-1, 2**64, "x", None, 1.5, True], ids=repr)
def test_what_is_no_handle_is_refused(noun, handle):
    with pytest.raises(acl.AclError) as caught:
        noun.from_handle(handle)
    assert (caught.value.status, caught.value.argument) == (100000, "handle")


def test_context_objects_compare_by_context():
    def body():
        first = acl.aclrtCreateContext(0)
        second = acl.aclrtCreateContext(0)
        assert acl.aclrtGetCurrentContext() == second != first
        acl.aclrtSetCurrentContext(first)
        assert acl.aclrtGetCurrentContext() == first
        assert first.device == 0
        assert first != first.handle
        stream = acl.aclrtCreateStream()
        stream.launch_host_func(lambda: None)
        first.synchronize()
        assert stream.query()
        first.close()
        first.close()
        second.close()
        with pytest.raises(acl.AclError) as caught:
            first.synchronize()
        return caught.value.status

    assert in_thread(body) in (107000, 107002, STATUS_CLOSED)


def test_plain_names_are_the_enumeration_members():
    for enumeration in (
        enums.aclrtMemcpyKind,
        enums.aclrtMemMallocPolicy,
        enums.aclrtStreamStatus,
        enums.aclrtEventRecordedStatus,
    ):
        for member in enumeration:
            assert getattr(acl, member.name) is member


def test_an_event_with_a_flag_links_streams_in_a_capture(device):
    ran = []
    with device.create_stream() as one, device.create_stream() as other:
        there, back = (device.create_event(acl.ACL_EVENT_SYNC) for _ in range(2))
        with one.capture() as captured:
            one.record(there)
            other.wait(there)
            other.launch_host_func(lambda: ran.append("other"))
            other.record(back)
            one.wait(back)
            one.launch_host_func(lambda: ran.append("one"))
        captured.graph.replay(one)
        one.synchronize()
    assert ran == ["other", "one"]


@pytest.mark.parametrize(
    ("flag", "status"), [(0, 107000), (77, 107000), (-1, 100000), ("a", 100000)]
)
def test_a_wrong_flag_of_an_event(device, flag, status):
    with pytest.raises(acl.AclError, match=r"Device\.create_event: argument 'flag'") as caught:
        device.create_event(flag)
    assert caught.value.status == status


def test_slots_only(device):
    with device.create_stream() as stream:
        for noun in (stream, stream.record(), device.malloc(8)):
            with pytest.raises(AttributeError):
                noun.colour = "blue"


def test_a_child_of_a_fork_leaves_the_block_in_peace():
    program = (
        "import os, sys, aclnn_py as acl\n"
        "with acl.Device(0) as device, device.create_stream() as stream:\n"
        "    child = os.fork()\n"
        "if child == 0: sys.exit(0)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_time_of_an_event_is_there_once_it_has_happened(device):
    def refusal(event):
        with pytest.raises(acl.AclError, match=r"^Event\.timestamp_us: ") as caught:
            _ = event.timestamp_us
        return caught.value.status

    with device.create_stream() as stream, device.create_event() as event:
        assert refusal(event) == 507000
        with delay(stream):
            stream.record(event)
            assert refusal(event) == 107006
        event.synchronize()
        first = event.timestamp_us
        stream.record(event).synchronize()
        assert 0 < first <= event.timestamp_us
        captured = device.create_event(enums.ACL_EVENT_SYNC)
        with stream.capture():
            stream.record(captured)
            assert refusal(captured) == 107028
    assert refusal(event) == STATUS_CLOSED
