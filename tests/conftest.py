# SPDX-License-Identifier: Apache-2.0
"""Fixtures that every folder of tests shares."""

from __future__ import annotations

import os

import hypothesis
import pytest

import aclnn_py as acl
from aclnn_py.core import settings

_OFTEN = {
    "deadline": None,
    "suppress_health_check": [
        hypothesis.HealthCheck.function_scoped_fixture,
        hypothesis.HealthCheck.too_slow,
        hypothesis.HealthCheck.data_too_large,
    ],
}
hypothesis.settings.register_profile("suite", max_examples=60, derandomize=True, **_OFTEN)
hypothesis.settings.register_profile("explore", max_examples=2000, **_OFTEN)
hypothesis.settings.load_profile("suite")


_MOST_WORKERS = 8  # each builds what its tests share


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """How many processes ``pytest -n auto`` shares the tests out to."""
    affinity = getattr(os, "sched_getaffinity", None)
    return min(len(affinity(0)) if affinity else os.cpu_count() or 1, _MOST_WORKERS)


@pytest.fixture(scope="session")
def device():
    """The CPU device, as a noun: it needs no initialisation and leaves the thread alone."""
    with acl.Device(0) as opened:
        yield opened


@pytest.fixture
def stream(device):
    with device.create_stream() as opened:
        yield opened


@pytest.fixture
def fresh():
    """A planner that remembers nothing of earlier tests, vendor-cache flags included."""
    with settings.override() as active:
        yield active
