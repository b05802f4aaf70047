# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ARG005  # rows of one shape
"""What a signal's handler raises ends every wait, as Ctrl-C and a test's time limit do."""

from __future__ import annotations

import signal
import threading
from functools import partial

import numpy as np
import pytest

import aclnn_py as acl
from aclnn_py import pyacl
from support.latch import PATIENCE_S

SOON_S = 0.15


class Interrupted(Exception):
    """Raised by the handler."""


@pytest.fixture
def alarm():
    """Sets a signal off soon; its handler is the argument."""
    before = signal.getsignal(signal.SIGALRM)

    def set_off(handler):
        signal.signal(signal.SIGALRM, lambda *_: handler())
        signal.setitimer(signal.ITIMER_REAL, SOON_S)

    yield set_off
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def gate():
    """Holds a stream until it is set."""
    made = threading.Event()
    yield made
    made.set()


def interrupt():
    raise Interrupted


WAITS = {
    "Stream.synchronize": lambda w: w.stream.synchronize(),
    "Stream.synchronize with a time": lambda w: w.stream.synchronize(timeout_ms=60_000),
    "Stream.close": lambda w: w.stream.close(),
    "Event.synchronize": lambda w: w.event.synchronize(),
    "Event.synchronize with a time": lambda w: w.event.synchronize(timeout_ms=60_000),
    "Device.synchronize": lambda w: w.device.synchronize(),
    "Tensor.numpy": lambda w: w.tensor.numpy(),
    "aclrtSynchronizeStream": lambda w: acl.aclrtSynchronizeStream(w.stream),
    "aclrtSynchronizeEvent": lambda w: acl.aclrtSynchronizeEvent(w.event),
    "aclrtSynchronizeDeviceWithTimeout": lambda w: acl.aclrtSynchronizeDeviceWithTimeout(60_000),
    "aclrtDestroyStream": lambda w: acl.aclrtDestroyStream(w.stream),
    "aclrtProcessReport": lambda w: acl.aclrtProcessReport(-1),
    "acl.rt.synchronize_stream": lambda w: pyacl.rt.synchronize_stream(w.stream.handle),
}


class World:
    """A stream that does not go on, and what waits for it."""

    def __init__(self, gate):
        acl.aclrtSetDevice(0)
        self.device = acl.Device(0)
        self.served, self.stream = acl.aclrtCreateStream(), acl.aclrtCreateStream()
        acl.aclrtSubscribeReport(threading.get_ident(), self.served)
        self.tensor = self.device.zeros(4)
        self.stream.launch_host_func(partial(gate.wait, PATIENCE_S))
        acl.aclrtMemsetAsync(self.tensor.data_ptr, 16, 0, 16, self.stream)
        self.event = acl.aclrtCreateEvent()
        acl.aclrtRecordEvent(self.event, self.stream)


@pytest.mark.parametrize("wait", WAITS)
def test_what_a_handler_raises_ends_the_wait(gate, alarm, wait):
    world = World(gate)
    acl.aclrtGetLastError(0)
    acl.aclGetRecentErrMsg()
    alarm(interrupt)
    with pytest.raises(Interrupted):
        WAITS[wait](world)
    assert not gate.is_set()
    assert acl.aclrtPeekAtLastError(0) == 0  # no status was returned, so none is the last
    assert not acl.aclGetRecentErrMsg()
    gate.set()
    acl.aclrtSynchronizeDevice()
    assert np.array_equal(world.tensor.numpy(), [0] * 4)
    acl.aclrtResetDevice(0)


def test_a_handler_that_raises_nothing_lets_the_wait_go_on(device, gate, alarm):
    ran = []
    with device.create_stream() as stream:
        stream.launch_host_func(partial(gate.wait, PATIENCE_S))
        stream.launch_host_func(partial(ran.append, 1))
        alarm(gate.set)
        stream.synchronize()
    assert ran == [1]


def test_a_block_that_is_interrupted_does_not_wait(device, gate):
    ran = threading.Event()

    def block():
        with device.create_stream() as stream:
            stream.launch_host_func(partial(gate.wait, PATIENCE_S))
            stream.launch_host_func(ran.set)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        block()
    assert not gate.is_set()
    gate.set()
    assert ran.wait(PATIENCE_S)  # what was queued still runs
