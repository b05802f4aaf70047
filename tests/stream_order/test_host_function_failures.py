# SPDX-License-Identifier: Apache-2.0
"""A failed host function: reported once, at the next synchronise, with its exception."""

from __future__ import annotations

import gc
import weakref

import pytest

import aclnn_py as acl
from aclnn_runtime import host_function
from support.latch import Latch
from support.tensors import check_error


class Reason(Exception):
    pass


def broken():
    raise Reason("as intended")


def test_the_failure_arrives_with_its_cause_once(stream):
    stream.launch_host_func(broken)
    with pytest.raises(acl.AclError) as caught:
        stream.synchronize()
    error = caught.value
    assert error.status == 507000
    assert error.operator == "aclrtLaunchHostFunc"
    assert isinstance(error.__cause__, Reason)
    assert error.__cause__.__traceback__.tb_next.tb_frame.f_code.co_name == "broken"
    assert "507000" in str(error)
    stream.synchronize()


class Unprintable(Exception):
    def __repr__(self):
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    ("exception", "told"),
    [
        (KeyError("key"), "the function raised KeyError('key')\n"),
        (SystemExit(), "the function raised SystemExit()\n"),
        (ValueError("x" * 1000), "the function raised ValueError('xxx"),
        (Unprintable(), "the function raised Unprintable, which cannot be printed\n"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_text_names_the_exception(stream, exception, told):
    def function():
        raise exception

    stream.launch_host_func(function)
    with pytest.raises(acl.AclError) as caught:
        stream.synchronize()
    text = check_error(caught.value, 507000)
    assert f"got:      {told}" in text
    assert "__cause__" in caught.value.hint
    assert len(text) < 600


def test_closing_tells_of_a_failure_that_nobody_was_told_of(device):
    with pytest.raises(acl.AclError) as caught, device.create_stream() as stream:
        stream.launch_host_func(broken)
    assert caught.value.status == 507000
    assert isinstance(caught.value.__cause__, Reason)
    assert stream.closed
    with pytest.raises(acl.AclError) as caught:
        stream.synchronize()
    assert caught.value.status == 107017


def test_closing_hides_no_other_error(device):
    stream = device.create_stream()

    def block():
        with stream:
            stream.launch_host_func(broken)
            raise LookupError("of the block")

    with pytest.raises(LookupError):
        block()
    assert stream.closed


def test_later_work_still_runs(stream):
    seen = []
    stream.launch_host_func(broken)
    stream.launch_host_func(lambda: seen.append(1))
    with pytest.raises(acl.AclError):
        stream.synchronize()
    assert seen == [1]


def test_launching_behind_a_failure_is_no_error(stream):
    with Latch(stream):
        stream.launch_host_func(broken)
        stream.launch_host_func(lambda: None)
        event = stream.record()
    event.synchronize()  # the event is reached all the same
    with pytest.raises(acl.AclError):
        stream.synchronize()


def test_each_stream_reports_its_own(device, stream):
    with device.create_stream() as second:
        stream.launch_host_func(broken)
        second.launch_host_func(lambda: 1 / 0)
        with pytest.raises(acl.AclError) as caught:
            second.synchronize()
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
        with pytest.raises(acl.AclError) as caught:
            stream.synchronize()
        assert isinstance(caught.value.__cause__, Reason)


def test_synchronizing_the_device_reports_it_too(device, stream):
    stream.launch_host_func(broken)
    with pytest.raises(acl.AclError) as caught:
        device.synchronize()
    assert isinstance(caught.value.__cause__, Reason)


@pytest.mark.parametrize("leave", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_nothing_unwinds_into_the_worker(stream, leave):
    def function():
        raise leave

    stream.launch_host_func(function)
    with pytest.raises(acl.AclError) as caught:
        stream.synchronize()
    assert isinstance(caught.value.__cause__, leave)
    stream.launch_host_func(lambda: None)
    stream.synchronize()


def test_results_are_ignored(stream):
    stream.launch_host_func(lambda: 12345)
    stream.synchronize()


def test_functions_and_arguments_are_let_go(stream):
    class Payload:
        def __call__(self, *_):
            pass

    function, argument = Payload(), Payload()
    alive = [weakref.ref(function), weakref.ref(argument)]
    acl.aclrtSetDevice(0)
    with Latch(stream):
        stream.launch_host_func(function)
        acl.aclrtLaunchHostFunc(stream, lambda _: None, argument)
        del function, argument
        gc.collect()
        assert all(reference() is not None for reference in alive)
    stream.synchronize()
    gc.collect()
    assert [reference() for reference in alive] == [None, None]
    assert not host_function._queued
    acl.aclrtResetDevice(0)


def test_a_refused_launch_lets_go_too(device):
    stream = device.create_stream()
    stream.close()
    before = len(host_function._queued)
    with pytest.raises(acl.AclError):
        stream.launch_host_func(broken)
    assert len(host_function._queued) == before


def test_the_argument_is_handed_over(stream):
    acl.aclrtSetDevice(0)
    seen = []
    for argument in (None, 5, "text", [1]):
        acl.aclrtLaunchHostFunc(stream, seen.append, argument)
    acl.aclrtSynchronizeStream(stream)
    assert seen == [None, 5, "text", [1]]
    acl.aclrtResetDevice(0)
