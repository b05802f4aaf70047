# SPDX-License-Identifier: Apache-2.0
"""Copies whose addresses stand in device memory are made with what stands there at their turn.

Statuses typed from section 2.2 of the facts: nothing to copy is success before any other check,
null pointers and kinds are 100000, more than the destination has is 107000.
"""

from __future__ import annotations

import numpy as np
import pytest

import aclnn_py as acl
from aclnn_py.testing import Latch, scheduler
from support.refusals import status_of

pytestmark = pytest.mark.usefixtures("current_device")

INNER, D2D, D2H, H2D = 6, 3, 2, 1
BYTES = 32


@pytest.fixture
def stream():
    made = acl.aclrtCreateStream()
    yield made
    acl.aclrtDestroyStream(made)


class Memory:
    """Two sources, a destination, cells for their addresses, a descriptor."""

    def __init__(self):
        self.open = [acl.aclrtMalloc(64, 0) for _ in range(6)]
        self.one, self.two, self.out, self.to, self.from_, self.desc = self.open
        for buffer, value in ((self.one, 1), (self.two, 2), (self.out, 0)):
            acl.aclrtMemset(buffer, 64, value, 64)
        self.point(self.to, self.out)
        self.point(self.from_, self.one)

    @staticmethod
    def point(cell, buffer):
        address = np.array([int(buffer)], np.uint64)
        acl.aclrtMemcpy(cell, 8, address, 8, H2D)

    def result(self):
        host = np.zeros(64, np.uint8)
        acl.aclrtMemcpy(host, 64, self.out, 64, D2H)
        return host.tolist()

    def copy(self, stream, count=BYTES, offsets=(0, 0)):
        acl.aclrtMemcpyAsyncWithOffset(
            self.to, BYTES, offsets[0], self.from_, count, offsets[1], INNER, stream
        )

    def describe(self, source, count=BYTES):
        acl.aclrtSetMemcpyDesc(self.desc, INNER, source, self.out, count)


@pytest.fixture
def memory():
    made = Memory()
    yield made
    for buffer in made.open:
        acl.aclrtFree(buffer)


def test_the_address_at_the_turn_of_the_copy_counts(memory, stream):
    with Latch(stream):
        memory.copy(stream)
        memory.point(memory.from_, memory.two)
        assert memory.result() == [0] * 64
    acl.aclrtSynchronizeStream(stream)
    assert memory.result() == [2] * BYTES + [0] * 32


def test_offsets_are_added_to_the_addresses(memory, stream):
    acl.aclrtMemset(int(memory.one) + 60, 4, 7, 4)
    memory.copy(stream, count=8, offsets=(16, 56))
    acl.aclrtSynchronizeStream(stream)
    assert memory.result() == [0] * 16 + [1] * 4 + [7] * 4 + [0] * 40


def test_a_descriptor_serves_many_copies_and_can_be_exchanged(memory, stream):
    memory.describe(memory.one)
    with Latch(stream):
        acl.aclrtMemcpyAsyncWithDesc(memory.desc, INNER, stream)
        memory.describe(memory.two, count=8)
        acl.aclrtMemcpyAsyncWithDesc(memory.desc, INNER, stream)
    acl.aclrtSynchronizeStream(stream)
    assert memory.result() == [2] * 8 + [0] * 56


def test_a_missing_wait_for_the_address_is_found(memory, stream):
    """The cell is written in one stream and read in another: one order gives the old address."""
    other = acl.aclrtCreateStream()
    seen = set()
    for policy in ("eager", "reverse"):
        memory.point(memory.from_, memory.one)
        with scheduler(policy):
            acl.aclrtValueWrite(memory.from_, int(memory.two), 0, other)
            memory.copy(stream)
            acl.aclrtSynchronizeDevice()
        seen.add(memory.result()[0])
    assert seen == {1, 2}
    acl.aclrtDestroyStream(other)


def test_captured_ones_read_the_address_at_every_replay(memory):
    stream = acl.aclrtCreateStream()
    acl.aclmdlRICaptureBegin(stream, 0)
    memory.copy(stream)
    graph = acl.aclmdlRICaptureEnd(stream)
    for source, value in ((memory.two, 2), (memory.one, 1)):
        memory.point(memory.from_, source)
        acl.aclmdlRIExecuteAsync(graph, stream)
        acl.aclrtSynchronizeStream(stream)
        assert memory.result()[:BYTES] == [value] * BYTES
    acl.aclmdlRIDestroy(graph)
    acl.aclrtDestroyStream(stream)


def test_an_address_of_no_device_memory_fails_the_task_and_copies_nothing(memory, stream):
    acl.aclrtMemset(memory.from_, 8, 0, 8)
    memory.copy(stream)
    assert status_of(lambda: acl.aclrtSynchronizeStream(stream)) == 507053
    memory.point(memory.from_, memory.two)
    memory.copy(stream, offsets=(0, 33))  # one byte too far
    assert status_of(lambda: acl.aclrtSynchronizeStream(stream)) == 507053
    acl.aclrtMemcpyAsyncWithDesc(memory.desc, INNER, stream)  # never written
    assert status_of(lambda: acl.aclrtSynchronizeStream(stream)) == 507053
    assert memory.result() == [0] * 64
    memory.copy(stream)  # the stream goes on
    acl.aclrtSynchronizeStream(stream)
    assert memory.result() == [2] * BYTES + [0] * 32


def test_statuses(memory, stream):
    host, gone = acl.aclrtMallocHost(64), acl.aclrtCreateStream()
    acl.aclrtDestroyStream(gone)
    here = acl.aclrtGetCurrentContext()
    other = acl.aclrtCreateContext(0)
    foreign = acl.aclrtCreateStream()
    acl.aclrtSetCurrentContext(here)
    to, from_, desc = memory.to, memory.from_, memory.desc
    offset, set_, run = (
        acl.aclrtMemcpyAsyncWithOffset,
        acl.aclrtSetMemcpyDesc,
        acl.aclrtMemcpyAsyncWithDesc,
    )
    rows = (
        (0, lambda: offset(None, 0, 0, None, 0, 0, 99, stream)),
        (100000, lambda: offset(None, 8, 0, from_, 8, 0, INNER, stream)),
        (100000, lambda: offset(to, 8, 0, None, 8, 0, INNER, stream)),
        (100000, lambda: offset(to, 8, 0, from_, 8, 0, D2D, stream)),
        (100000, lambda: offset(to, 4, 0, from_, 8, 0, 7, stream)),
        (107000, lambda: offset(to, 4, 0, from_, 8, 0, INNER, stream)),
        (107000, lambda: offset(host, 8, 0, from_, 8, 0, INNER, stream)),
        (107000, lambda: offset(to, 8, 0, int(from_) + 60, 8, 0, INNER, stream)),
        (107003, lambda: offset(to, 8, 0, from_, 8, 0, INNER, foreign)),
        (107017, lambda: offset(to, 8, 0, from_, 8, 0, INNER, gone)),
        (100000, lambda: acl.aclrtGetMemcpyDescSize(D2D)),
        (100000, lambda: set_(None, INNER, memory.one, memory.out, 8)),
        (100000, lambda: set_(desc, INNER, None, memory.out, 8)),
        (100000, lambda: set_(desc, INNER, memory.one, None, 8)),
        (100000, lambda: set_(desc, D2D, memory.one, memory.out, 8)),
        (107000, lambda: set_(int(desc) + 1, INNER, memory.one, memory.out, 8)),
        (107000, lambda: set_(desc, INNER, memory.one, memory.out, 65)),
        (107000, lambda: set_(desc, INNER, host, memory.out, 8)),
        (107000, lambda: set_(host, INNER, memory.one, memory.out, 8)),
        (100000, lambda: run(None, INNER, stream)),
        (100000, lambda: run(desc, 4, stream)),
        (107000, lambda: run(host, INNER, stream)),
        (107003, lambda: run(desc, INNER, foreign)),
        (107017, lambda: run(desc, INNER, gone)),
    )
    assert [status_of(call) for _, call in rows] == [status for status, _ in rows]
    acl.aclrtSetCurrentContext(other)
    acl.aclrtDestroyStream(foreign)
    acl.aclrtDestroyContext(other)
    acl.aclrtSetDevice(0)
    acl.aclrtResetDevice(0)
    acl.aclrtFreeHost(host)


def test_where_an_allocation_begins(memory):
    assert acl.aclrtMemGetAddressRange(int(memory.one) + 63) == (int(memory.one), 64)
    assert acl.aclrtMemGetAddressRange(memory.two) == (int(memory.two), 64)
    assert status_of(lambda: acl.aclrtMemGetAddressRange(None)) == 100000
    assert status_of(lambda: acl.aclrtMemGetAddressRange(8)) == 107000
