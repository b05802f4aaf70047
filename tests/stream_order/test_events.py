# SPDX-License-Identifier: Apache-2.0
"""Events: order between streams, and the behaviour of the three kinds."""

from __future__ import annotations

import pytest

import aclnn_py as acl
from support.latch import Latch

pytestmark = pytest.mark.usefixtures("current_device")

NOT_READY = acl.ACL_EVENT_RECORDED_STATUS_NOT_READY
COMPLETE = acl.ACL_EVENT_RECORDED_STATUS_COMPLETE


def plain():
    return acl.aclrtCreateEvent()


def with_flag():
    return acl.aclrtCreateEventWithFlag(acl.ACL_EVENT_SYNC)


def ex_with_flag():
    return acl.aclrtCreateEventExWithFlag(acl.ACL_EVENT_SYNC)


KINDS = pytest.mark.parametrize("kind", [plain, with_flag, ex_with_flag])


@KINDS
def test_a_consumer_waits_for_its_producer(stream, second, kind):
    event = kind()
    seen = []
    with Latch(stream):
        stream.launch_host_func(lambda: seen.append("produced"))
        stream.record(event)
        second.wait(event)
        second.launch_host_func(lambda: seen.append("consumed"))
        assert not second.query()
        assert not event.query()
        assert seen == []
    second.synchronize()
    assert seen == ["produced", "consumed"]
    assert event.query()


@KINDS
def test_an_event_covers_what_was_queued_before_it(stream, kind):
    event = kind()
    latch = Latch()
    stream.record(event)
    latch.park(stream)  # behind the event
    event.synchronize()
    assert acl.aclrtQueryEventStatus(event) == COMPLETE
    assert not stream.query()
    latch.open()


@pytest.mark.parametrize(
    ("kind", "status"), [(plain, NOT_READY), (with_flag, NOT_READY), (ex_with_flag, COMPLETE)]
)
def test_before_the_first_record(kind, status):
    event = kind()
    assert acl.aclrtQueryEventStatus(event) == status
    event.synchronize()


def test_waiting_for_a_plain_event_that_was_never_recorded_is_refused(stream):
    with pytest.raises(acl.AclError) as caught:
        stream.wait(plain())
    assert caught.value.status == 107000
    assert caught.value.argument == "event"


def test_waiting_for_an_ex_event_that_was_never_recorded_does_nothing(stream):
    stream.wait(ex_with_flag())
    stream.synchronize()


def test_waiting_for_a_flag_event_lasts_until_a_later_record(stream, second):
    event = with_flag()
    seen = []
    second.wait(event)
    second.launch_host_func(lambda: seen.append("after"))
    stream.launch_host_func(lambda: seen.append("before"))
    assert not second.query()
    stream.record(event)
    second.synchronize()
    assert seen == ["before", "after"]


@pytest.mark.parametrize("kind", [plain, ex_with_flag])
def test_earlier_waits_keep_the_earlier_snapshot(device, stream, second, kind):
    event = kind()
    latch = Latch()
    stream.record(event)
    with device.create_stream() as late:
        latch.park(late)
        second.wait(event)
        late.record(event)  # moved behind the latch; the wait above is not
        second.synchronize()
        assert not event.query()
        latch.open()
        late.synchronize()
    assert event.query()


@KINDS
def test_waiting_in_the_recording_stream_passes(stream, kind):
    event = kind()
    stream.record(event)
    stream.wait(event)
    stream.launch_host_func(lambda: None)
    stream.synchronize()


@KINDS
def test_closing_an_event_in_use_does_not_block_or_break(stream, second, kind):
    event = kind()
    seen = []
    with Latch(stream):
        stream.record(event)
        second.wait(event)
        second.launch_host_func(lambda: seen.append(1))
        event.close()
        assert seen == []
    second.synchronize()
    assert seen == [1]


def test_record_makes_an_event_that_keeps_time(stream):
    start = stream.record()
    stream.launch_host_func(lambda: sum(range(10_000)))
    end = stream.record()
    with pytest.raises(acl.AclError) as caught:
        start.elapsed_ms(plain())
    assert caught.value.status == 507000
    end.synchronize()
    assert 0 < start.elapsed_ms(end) < 60_000
    assert start.elapsed_ms(end) == -end.elapsed_ms(start)
    assert acl.aclrtEventElapsedTime(start, end) == start.elapsed_ms(end)


def test_elapsed_time_needs_finished_events(stream):
    start = stream.record()
    start.synchronize()
    with Latch(stream):
        end = stream.record()
        with pytest.raises(acl.AclError) as caught:
            start.elapsed_ms(end)
        assert caught.value.status == 107006
    stream.synchronize()


def test_events_order_streams_of_two_contexts(device, stream):
    acl.aclrtCreateContext(0)
    context = acl.aclrtGetCurrentContext()
    other = acl.aclrtCreateStream()
    seen = []
    with Latch(stream):
        stream.launch_host_func(lambda: seen.append(1))
        event = stream.record()
        other.wait(event)
        other.launch_host_func(lambda: seen.append(2))
        assert not other.query()
    other.synchronize()
    assert seen == [1, 2]
    acl.aclrtDestroyContext(context)
