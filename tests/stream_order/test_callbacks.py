# SPDX-License-Identifier: Apache-2.0
"""Subscribed callbacks run on their thread; notifies, counts and values order streams."""

from __future__ import annotations

import threading

import pytest

import aclnn_py as acl
from support.latch import PATIENCE_S

pytestmark = pytest.mark.usefixtures("current_device")


class Server:
    """A thread that runs callbacks until it serves no stream any more."""

    def __init__(self):
        self.subscribed = threading.Event()
        self._thread = threading.Thread(target=self._serve)
        self.status = None
        self._thread.start()

    @property
    def id(self):
        return self._thread.ident

    def _serve(self):
        assert self.subscribed.wait(PATIENCE_S)
        try:
            while True:
                acl.aclrtProcessReport(-1)
        except acl.AclError as error:
            self.status = error.status

    def join(self):
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()


@pytest.fixture
def server(stream):
    made = Server()
    acl.aclrtSubscribeReport(made.id, stream)
    made.subscribed.set()
    yield made
    acl.aclrtUnSubscribeReport(made.id, stream)
    made.join()
    assert made.status == 107012


@pytest.mark.parametrize("block", [acl.ACL_CALLBACK_NO_BLOCK, acl.ACL_CALLBACK_BLOCK])
def test_callbacks_run_on_the_subscribed_thread(stream, server, block):
    seen, begun, go = [], threading.Event(), threading.Event()

    def callback(data):
        seen.append((data, threading.get_ident()))
        begun.set()
        assert go.wait(PATIENCE_S)

    event = acl.aclrtCreateEvent()
    acl.aclrtLaunchCallback(callback, "data", block, stream)
    acl.aclrtRecordEvent(event, stream)
    assert begun.wait(PATIENCE_S)
    assert seen == [("data", server.id)]
    if block == acl.ACL_CALLBACK_BLOCK:
        assert not event.query()
    else:
        event.synchronize()
    go.set()
    stream.synchronize()
    acl.aclrtDestroyEvent(event)


def test_the_exception_of_a_callback_is_carried(stream, server):
    def callback(_):
        raise LookupError("inside")

    acl.aclrtLaunchCallback(callback, None, acl.ACL_CALLBACK_BLOCK, stream)
    with pytest.raises(acl.AclError) as raised:
        stream.synchronize()
    assert raised.value.status == 507000
    assert isinstance(raised.value.__cause__, LookupError)
    stream.synchronize()


def test_the_two_sorts_of_callbacks_do_not_mix(stream, second, server):
    with pytest.raises(acl.AclError) as raised:
        stream.launch_host_func(lambda: None)
    assert raised.value.status == 107011
    second.launch_host_func(lambda: None)
    with pytest.raises(acl.AclError) as raised:
        acl.aclrtSubscribeReport(server.id, second)
    assert raised.value.status == 107011


def test_a_thread_does_not_wait_for_itself(stream):
    ran = []
    acl.aclrtSubscribeReport(threading.get_ident(), stream)
    acl.aclrtLaunchCallback(ran.append, 1, acl.ACL_CALLBACK_BLOCK, stream)
    with pytest.raises(acl.AclError) as raised:
        acl.aclrtSynchronizeStream(stream)
    assert raised.value.status == 507000
    acl.aclrtProcessReport(-1)
    stream.synchronize()
    assert ran == [1]
    acl.aclrtUnSubscribeReport(threading.get_ident(), stream)


def test_a_thread_does_not_wait_for_an_event_behind_its_own_callback(stream):
    me, event = threading.get_ident(), acl.aclrtCreateEvent()
    acl.aclrtSubscribeReport(me, stream)
    acl.aclrtLaunchCallback(print, None, acl.ACL_CALLBACK_BLOCK, stream)
    acl.aclrtRecordEvent(event, stream)
    with pytest.raises(acl.AclError) as raised:
        acl.aclrtSynchronizeEvent(event)
    assert (raised.value.status, raised.value.argument) == (507000, "event")
    acl.aclrtProcessReport(-1)
    acl.aclrtSynchronizeEvent(event)
    acl.aclrtUnSubscribeReport(me, stream)
    acl.aclrtDestroyEvent(event)


def test_the_end_of_a_context_drops_callbacks_of_the_thread_that_ends_it():
    context = acl.aclrtCreateContext(0)
    served, ran = acl.aclrtCreateStream(), []
    acl.aclrtSubscribeReport(threading.get_ident(), served)
    acl.aclrtLaunchCallback(ran.append, 1, acl.ACL_CALLBACK_BLOCK, served)
    acl.aclrtDestroyContext(context)
    assert ran == []


def test_a_thread_that_unsubscribed_does_not_wait_for_itself(stream):
    me, statuses = threading.get_ident(), []

    def callback(_):
        acl.aclrtUnSubscribeReport(me, stream)
        with pytest.raises(acl.AclError) as raised:
            acl.aclrtSynchronizeStream(stream)
        statuses.append(raised.value.status)

    acl.aclrtSubscribeReport(me, stream)
    acl.aclrtLaunchCallback(callback, None, acl.ACL_CALLBACK_BLOCK, stream)
    acl.aclrtProcessReport(-1)
    stream.synchronize()
    assert statuses == [507000]


def test_after_unsubscribing_no_callback_runs(stream):
    me, ran, event = threading.get_ident(), [], acl.aclrtCreateEvent()

    def first(_):
        ran.append("first")
        acl.aclrtUnSubscribeReport(me, stream)

    acl.aclrtSubscribeReport(me, stream)
    for callback in (first, ran.append):
        acl.aclrtLaunchCallback(callback, "second", acl.ACL_CALLBACK_NO_BLOCK, stream)
    acl.aclrtRecordEvent(event, stream)
    event.synchronize()  # both have been handed to this thread
    acl.aclrtProcessReport(-1)
    assert ran == ["first"]
    with pytest.raises(acl.AclError) as raised:
        stream.synchronize()
    assert raised.value.status == 107015
    with pytest.raises(acl.AclError) as raised:
        acl.aclrtProcessReport(1)
    assert raised.value.status == 107012
    acl.aclrtDestroyEvent(event)


def test_a_callback_may_let_the_others_run(stream):
    me, ran, event = threading.get_ident(), [], acl.aclrtCreateEvent()

    def first(_):
        acl.aclrtProcessReport(-1)
        ran.append("first")

    acl.aclrtSubscribeReport(me, stream)
    for callback in (first, ran.append):
        acl.aclrtLaunchCallback(callback, "second", acl.ACL_CALLBACK_NO_BLOCK, stream)
    acl.aclrtRecordEvent(event, stream)
    event.synchronize()
    acl.aclrtProcessReport(-1)
    assert ran == ["second", "first"]
    acl.aclrtUnSubscribeReport(me, stream)
    acl.aclrtDestroyEvent(event)


def test_a_notify_lets_one_stream_go(device, stream, second):
    notify, seen, one_is_gone = acl.aclrtCreateNotify(0), [], threading.Event()
    third = device.create_stream()
    for waiter in (stream, second):
        acl.aclrtWaitAndResetNotify(notify, waiter, 0)
        waiter.launch_host_func(lambda: (seen.append(1), one_is_gone.set()))
    acl.aclrtRecordNotify(notify, third)
    third.synchronize()
    assert one_is_gone.wait(PATIENCE_S)  # a second record beside one that nobody took is lost
    first_gone = threading.Event()
    threading.Thread(target=lambda: (stream.synchronize(), first_gone.set())).start()
    acl.aclrtRecordNotify(notify, third)
    second.synchronize()
    assert first_gone.wait(PATIENCE_S)
    assert len(seen) == 2
    acl.aclrtDestroyNotify(notify)
    third.close()


def test_a_value_in_memory_orders_streams(device, stream, second):
    memory, seen = device.malloc(64), []
    acl.aclrtMemset(memory, 64, 0, 64)
    acl.aclrtValueWait(memory, 3, 0, stream)
    stream.launch_host_func(lambda: seen.append("consumed"))
    second.launch_host_func(lambda: seen.append("produced"))
    acl.aclrtValueWrite(memory, 3, 0, second)
    stream.synchronize()
    assert seen == ["produced", "consumed"]


def test_counters_order_streams(stream, second):
    counter, seen = acl.aclrtCntNotifyCreate(0), []
    acl.aclrtCntNotifyWaitWithTimeout(counter, stream, 3, 2, 0)
    stream.launch_host_func(lambda: seen.append("both"))
    for number in (1, 2):
        second.launch_host_func(lambda number=number: seen.append(number))
        acl.aclrtCntNotifyRecord(counter, second, 1, 1)
    stream.synchronize()
    assert seen == [1, 2, "both"]
    acl.aclrtCntNotifyDestroy(counter)


def test_aborting_ends_a_wait_and_drops_the_rest(stream):
    event, ran = acl.aclrtCreateEventWithFlag(acl.ACL_EVENT_SYNC), []
    stream.wait(event)
    stream.launch_host_func(lambda: ran.append("dropped"))
    stream.abort()
    with pytest.raises(acl.AclError) as raised:
        stream.synchronize()
    assert raised.value.status == 107023
    stream.launch_host_func(lambda: ran.append("new"))
    stream.synchronize()  # usable again
    assert ran == ["new"]
    acl.aclrtDestroyEvent(event)


def test_listeners_hear_of_streams(device):
    heard = []
    acl.aclrtRegStreamStateCallback("test", lambda stream, state: heard.append((stream, state)))
    made = device.create_stream()
    made.close()
    acl.aclrtRegStreamStateCallback("test", None)
    assert [(stream.handle, state) for stream, state in heard] == [
        (made.handle, 1),
        (made.handle, 2),
    ]


def test_more_threads_than_there_may_be_are_refused(device):
    streams = [acl.aclrtCreateStream() for _ in range(1025)]
    threads = range(1, 1026)  # only numbers: none of them has to process anything
    for thread, stream in zip(threads[:-1], streams[:-1], strict=True):
        acl.aclrtSubscribeReport(thread, stream)
    with pytest.raises(acl.AclError) as raised:
        acl.aclrtSubscribeReport(threads[-1], streams[-1])
    assert raised.value.status == 207012
    for thread, stream in zip(threads[:-1], streams[:-1], strict=True):
        acl.aclrtUnSubscribeReport(thread, stream)
    for stream in streams:
        acl.aclrtDestroyStream(stream)
