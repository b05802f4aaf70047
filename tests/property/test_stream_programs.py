# SPDX-License-Identifier: Apache-2.0
"""Random stream programs under many schedules against their happens-before order.

``ACLNN_PY_SOAK=1`` (``make soak``) runs all 1,000 programs, otherwise a fifth of them.
"""

from __future__ import annotations

import os
import random

import numpy as np
import pytest

import aclnn_py as acl
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

PROGRAMS = 1000 if os.environ.get("ACLNN_PY_SOAK") else 200
BATCH = 50
# A policy, and the stream that the host waits for first: "lazy" hurries that one.
SCHEDULES = [
    ("eager", 0),
    ("reverse", 0),
    *(("lazy", first) for first in range(MOST_STREAMS)),
    *((str(seed), 0) for seed in range(12)),
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


def run(bench, program, policy, first):
    """Memory after the program under one schedule, and the string that replays it."""
    with scheduler(policy) as schedule:
        return bench.run(program, first), schedule.replay


@pytest.mark.parametrize("first", range(0, PROGRAMS, BATCH))
def test_every_schedule_ends_as_the_order_of_events_says(bench, first):
    for seed in range(first, first + BATCH):
        program = generate(seed)
        want = expected(program)
        for policy, waited in SCHEDULES:
            got, replay = run(bench, program, policy, waited)
            assert np.array_equal(got, want), f"program {seed}, schedule {policy}: {replay}"


@pytest.mark.parametrize("first", range(0, PROGRAMS, BATCH))
def test_threads_end_as_the_order_of_events_says(bench, first):
    for seed in range(first, first + BATCH):
        program = generate(seed)
        assert np.array_equal(bench.run(program), expected(program)), f"program {seed}"


def caught_by(bench, broken, want):
    """The first schedule whose result is wrong: its replay string, and the stream waited for."""
    for policy, first in SCHEDULES:
        got, replay = run(bench, broken, policy, first)
        if not np.array_equal(got, want):
            return replay, first
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


def test_the_model_sees_races_where_waits_are_missing():
    for seed in range(50):
        program = generate(seed)
        bare = program
        for index in reversed(program.waits):
            bare = bare.without(index)
        assert races(bare), seed
