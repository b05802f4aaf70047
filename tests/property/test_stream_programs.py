# SPDX-License-Identifier: Apache-2.0
"""Random stream programs under many schedules against their happens-before order.

``ACLNN_PY_SOAK=1`` (``make soak``) runs all 1,000 programs, otherwise a fifth of them.
"""

from __future__ import annotations

import logging
import os
import random
from contextlib import suppress

import numpy as np
import pytest

import aclnn_py as acl
from aclnn_native import lib
from aclnn_py.testing import scheduler
from support.run_programs import Bench
from support.stream_programs import (
    MOST_STREAMS,
    ancestors,
    any_order,
    expected,
    generate,
    outcome,
    races,
    without_a_wait,
)

log = logging.getLogger(__name__)  # pytest --log-cli-level=INFO shows the figure
PROGRAMS = 1000 if os.environ.get("ACLNN_PY_SOAK") else 200
BATCH = 50
# A policy, the stream that the host waits for first, and how it gets through the callbacks.
SCHEDULES = [
    ("eager", 0, "late"),
    ("reverse", 0, "early"),
    *(("lazy", first, "needed") for first in range(MOST_STREAMS)),
    *(("lazy", first, "last") for first in range(MOST_STREAMS)),
    *(("lazy", first, "ranked") for first in range(3)),
    *((str(seed), 0, "ranked") for seed in range(3)),
]
assert len(SCHEDULES) == 20
CAUGHT = 0.99


@pytest.fixture(scope="module")
def bench(device):
    acl.aclrtSetDevice(0)
    made = Bench(device)
    yield made
    made.close()
    acl.aclrtResetDevice(0)


class Host:
    """The host thread, which runs the callbacks itself, among the tasks of streams."""

    def __init__(self, step, how, seed):
        self._step, self._how = step, how
        self._rng = random.Random(f"{how} {seed}")
        self._order = []

    def __call__(self, streams):
        """Run tasks and callbacks, at least one callback."""
        getattr(self, self._how)(streams)

    def early(self, _):
        acl.aclrtProcessReport(-1)

    def late(self, streams):
        while any(self._step(stream) for stream in streams):
            pass
        acl.aclrtProcessReport(-1)

    def needed(self, streams):
        """What the first stream needs: it is waited for until only callbacks let it go on."""
        with suppress(acl.AclError):
            acl.aclrtSynchronizeStreamWithTimeout(streams[0], 1)
        acl.aclrtProcessReport(-1)

    def _process(self):
        if not lib.aclpy_live_count(b"callback"):
            return False
        acl.aclrtProcessReport(-1)
        return True

    def last(self, streams):
        """Of the first stream as little as lets the others go on."""
        while any(self._step(stream) for stream in streams[1:]) or self._process():
            pass
        self._step(streams[0])

    def ranked(self, streams):
        """Streams and callbacks by rank; one of them loses its rank now and then."""
        self._order = self._order or self._rng.sample([None, *streams], len(streams) + 1)
        if self._rng.random() < 0.1:
            self._order.append(self._order.pop(self._rng.randrange(len(self._order))))
        any(self._process() if lane is None else self._step(lane) for lane in self._order)


def run(bench, program, policy, first, how):
    """Memory after the program under one schedule, and the string that replays it."""
    with scheduler(policy) as schedule:
        host = Host(schedule.step, how, first)
        return bench.run(program, first, host), schedule.replay


@pytest.mark.parametrize("first", range(0, PROGRAMS, BATCH))
def test_every_schedule_ends_as_the_order_of_events_says(bench, first):
    for seed in range(first, first + BATCH):
        program = generate(seed)
        want = expected(program)
        for policy, waited, how in SCHEDULES:
            got, replay = run(bench, program, policy, waited, how)
            assert np.array_equal(got, want), f"program {seed}, schedule {policy}: {replay}"


@pytest.mark.parametrize("first", range(0, PROGRAMS, BATCH))
def test_threads_end_as_the_order_of_events_says(bench, first):
    for seed in range(first, first + BATCH):
        program = generate(seed)
        assert np.array_equal(bench.run(program), expected(program)), f"program {seed}"


@pytest.mark.parametrize("first", range(0, PROGRAMS, BATCH))
def test_schedules_with_threads_for_callbacks_end_so_too(bench, first):
    """Not exact, with several threads that wait: but every order is one of the allowed ones."""
    for seed in range(first, first + BATCH):
        program = generate(seed)
        policy, waited, _ = SCHEDULES[seed % len(SCHEDULES)]
        with scheduler(policy) as schedule:
            got = bench.run(program, waited)
        assert np.array_equal(got, expected(program)), f"program {seed}, {schedule.replay}"


def caught_by(bench, broken, want):
    """The first schedule whose result is wrong: its replay string, and how the host waited."""
    for policy, *waited in SCHEDULES:
        got, replay = run(bench, broken, policy, *waited)
        if not np.array_equal(got, want):
            return replay, *waited
    return None


def test_a_forgotten_wait_is_caught(bench):
    missed, tried = [], 0
    for seed in range(PROGRAMS):
        program = generate(seed)
        want = expected(program)
        broken = without_a_wait(program, want)
        if broken is None:
            continue
        tried += 1
        caught = caught_by(bench, broken, want)
        if caught is None:
            missed.append(seed)
        elif seed % 10 == 0:  # and the string shows the same fault again
            got, again = run(bench, broken, *caught)
            assert again == caught[0]
            assert not np.array_equal(got, want), f"program {seed} does not fail again"
    log.info("%d of %d programs without a wait were caught", tried - len(missed), tried)
    assert tried > 0.9 * PROGRAMS
    assert len(missed) <= (1 - CAUGHT) * tried, f"programs {missed} of {tried} were not caught"


# ---- the model itself ----


def test_the_model_sees_no_race_in_what_it_generates():
    for seed in range(200):
        program = generate(seed)
        assert not races(program)
        want = expected(program)
        assert np.abs(want).max() < 2**24  # exact in float32
        before = ancestors(program)
        for again in range(3):
            order = any_order(program, before, random.Random(again))
            assert np.array_equal(outcome(program, order), want)


def test_callbacks_of_every_kind_are_among_the_programs():
    blocking = other = shared = fences = 0
    for seed in range(PROGRAMS):
        program = generate(seed)
        for index, task in enumerate(program.tasks):
            if task.kind != "post":
                continue
            blocking += program.blocks(index)
            other += not program.blocks(index)
            fences += not program.tasks[index + 1].writes
        used = [thread for thread in program.threads if thread >= 0]
        shared += len(set(used)) < len(used)
    assert min(blocking, other, shared, fences) >= PROGRAMS / 10


def test_the_model_sees_races_where_waits_are_missing():
    for seed in range(50):
        program = generate(seed)
        bare = program
        for index in reversed(program.waits):
            bare = bare.without(index)
        assert races(bare), seed
