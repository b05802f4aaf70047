# SPDX-License-Identifier: Apache-2.0
"""pyACL's calls for streams, events and callbacks: what each returns, and what it refuses."""

from __future__ import annotations

import logging
import threading

import pytest

import aclnn_py.pyacl as acl
from aclnn_py import Stream
from support.latch import PATIENCE_S
from support.pyacl import SYNC, TIMED, UNKNOWN, first

# ---- streams ----


def test_streams(stream):
    assert acl.rt.stream_query(stream) == (0, 0)
    assert first(acl.rt.stream_get_id(stream)) == Stream.from_handle(stream).id
    made = first(acl.rt.create_stream_with_config(3, 1))
    assert acl.rt.stream_get_priority(made) == (3, 0)
    assert acl.rt.stream_get_flags(made) == (1, 0)
    assert first(acl.rt.get_stream_available_num()) > 0
    assert acl.rt.synchronize_stream_with_timeout(made, 0) == 107000
    assert acl.rt.synchronize_stream_with_timeout(made, 1000) == 0
    assert acl.rt.stream_abort(made) == 0
    assert acl.rt.stream_stop(0) == 107000
    assert acl.rt.destroy_stream_force(made) == 0
    assert acl.rt.destroy_stream(made) == 107017
    assert acl.rt.stream_query(made) == (0, 107017)
    assert acl.rt.synchronize_stream(0) == 0
    assert acl.rt.destroy_stream(0) == 100000


def test_attributes_of_streams():
    made = first(acl.rt.create_stream())
    assert acl.rt.get_stream_overflow_switch(made) == (0, 0)
    assert acl.rt.set_stream_overflow_switch(made, 1) == 0
    assert acl.rt.get_stream_overflow_switch(made) == (1, 0)
    assert acl.rt.set_stream_attribute(made, 3, {"userCustomTag": 5}) == 0
    assert acl.rt.get_stream_attribute(made, 3) == ({"userCustomTag": 5}, 0)
    assert acl.rt.set_stream_failure_mode(made, 0) == 0
    assert acl.rt.get_stream_attribute(made, 1) == ({"failureMode": 0}, 0)
    assert acl.rt.get_stream_attribute(made, 99)[1] == 107000
    assert acl.rt.set_stream_attribute(made, 99, {"failureMode": 1}) == 107000
    with pytest.raises(ValueError, match="needs the key 'failureMode'"):
        acl.rt.set_stream_attribute(made, 1, {"overflowSwitch": 0})
    with pytest.raises(TypeError, match="must be a dict"):
        acl.rt.set_stream_attribute(made, 1, 0)
    assert acl.rt.destroy_stream(made) == 0


# ---- events ----


def test_events(stream):
    start, end = (first(acl.rt.create_event()) for _ in range(2))
    assert acl.rt.query_event_status(start) == (0, 0)
    assert acl.rt.stream_wait_event(stream, start) == 107000
    assert acl.rt.event_elapsed_time(start, end) == (0.0, 507000)
    assert acl.rt.record_event(start, stream) == acl.rt.record_event(end, stream) == 0
    assert acl.rt.stream_wait_event_with_timeout(stream, end, 1) == 0
    assert acl.rt.synchronize_event(end) == 0
    assert acl.rt.synchronize_event_with_timeout(end, -1) == 0
    assert acl.rt.synchronize_event_with_timeout(end, 0) == 107000
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.query_event(end) == (0, 0)
    assert acl.rt.query_event_status(end) == (1, 0)
    assert acl.rt.query_event_wait_status(end) == (0, 0)
    ms, ret = acl.rt.event_elapsed_time(start, end)
    assert isinstance(ms, float)
    assert (ms >= 0, ret) == (True, 0)
    assert first(acl.rt.event_get_timestamp(end)) > 0
    assert acl.rt.get_event_id(end)[1] == 0
    assert first(acl.rt.get_event_avail_num()) > 0
    assert acl.rt.set_op_wait_timeout(0) == 0
    assert acl.rt.destroy_event(start) == acl.rt.destroy_event(end) == 0
    assert acl.rt.destroy_event(end) == 107017


def test_kinds_of_events(stream):
    flagged = first(acl.rt.create_event_with_flag(SYNC))
    assert acl.rt.record_event(flagged, stream) == 0
    assert acl.rt.reset_event(flagged, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.destroy_event(flagged) == 0
    late = first(acl.rt.create_event_ex_with_flag(SYNC | TIMED))
    assert acl.rt.stream_wait_event(stream, late) == 0
    assert acl.rt.reset_event(late, stream) == 207000
    assert acl.rt.query_event_status(late) == (1, 0)
    assert acl.rt.destroy_event(late) == 0
    assert acl.rt.create_event_with_flag(0) == (0, 107000)
    assert acl.rt.create_event_ex_with_flag(0) == (0, 107000)


def test_notifies(stream):
    notify = first(acl.rt.create_notify(0))
    assert acl.rt.get_notify_id(notify)[1] == 0
    assert acl.rt.record_notify(notify, stream) == 0
    assert acl.rt.wait_and_reset_notify(notify, stream, 0) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.destroy_notify(notify) == 0


# ---- callbacks and failures ----


def serve(argument):
    ready, done, _ = argument
    assert ready.wait(PATIENCE_S)
    while acl.rt.process_report(-1) == 0:
        pass
    done.set()


def test_callbacks_run_on_their_thread(stream, caplog):
    ready, done, seen = threading.Event(), threading.Event(), []
    thread = first(acl.util.start_thread(serve, (ready, done, seen)))
    assert acl.rt.launch_callback(seen.append, 1, 1, stream) == 107015
    assert acl.rt.subscribe_report(thread, stream) == 0
    assert acl.rt.subscribe_report(thread, stream) == 107011
    ready.set()
    note = lambda data: seen.append((data, threading.get_ident()))  # noqa: E731  # one argument
    assert acl.rt.launch_callback(note, "first", 1, stream) == 0
    assert acl.rt.launch_callback(lambda data: 1 / data, 0, 1, stream) == 0
    assert acl.rt.launch_callback(note, None, 0, stream) == 0
    assert acl.rt.launch_callback(note, None, 2, stream) == 100000
    with caplog.at_level(logging.ERROR):
        assert acl.rt.synchronize_stream(stream) == 0  # an exception is no failure of the stream
        assert acl.rt.unsubscribe_report(thread, stream) == 0
        assert done.wait(PATIENCE_S)
    assert seen[0] == ("first", thread)
    assert "ZeroDivisionError" in caplog.text
    assert acl.util.stop_thread(thread) == 0
    assert acl.util.stop_thread(thread) == 100000
    assert acl.rt.process_report(0) == 100000
    assert acl.rt.unsubscribe_report(thread, stream) == 107011


def test_host_functions(stream):
    seen = []
    assert acl.rt.launch_host_func(stream, seen.append, "called") == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert seen == ["called"]


def test_exception_callback_and_last_error(stream):
    seen = []

    def on_failure(info):
        seen.append(
            (
                acl.rt.get_error_code_from_exception_info(info),
                acl.rt.get_stream_id_from_exception_info(info),
                acl.rt.get_device_id_from_exception_info(info),
                acl.rt.get_task_id_from_exception_info(info) != 0xFFFFFFFF,
                acl.rt.get_thread_id_from_exception_info(info) != 0xFFFFFFFF,
            )
        )

    def fail():
        raise ArithmeticError

    assert acl.rt.set_exception_info_callback(on_failure) == 0
    Stream.from_handle(stream).launch_host_func(fail)
    assert acl.rt.synchronize_stream(stream) == 507000
    assert acl.rt.set_exception_info_callback(None) == 0
    number = first(acl.rt.stream_get_id(stream))
    assert seen == [(507000, number, 0, True, True)]
    assert acl.rt.get_error_code_from_exception_info(UNKNOWN) == 0xFFFFFFFF
    assert acl.rt.peek_at_last_error(0) == 507000
    assert acl.rt.get_last_error(0) == 507000
    assert acl.rt.get_last_error(0) == 0
    assert acl.rt.get_last_error(1) == 100000
