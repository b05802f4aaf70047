# SPDX-License-Identifier: Apache-2.0
"""The same fixtures as everywhere, on the first GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

import aclnn_py as acl
from support import gpu

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    reason = gpu.why_not()
    if reason:
        for item in items:
            if HERE in item.path.parents:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def device():
    with acl.Device("cuda:0") as opened:
        yield opened


@pytest.fixture
def stream(device):
    with device.create_stream() as opened:
        yield opened


@pytest.fixture
def second(device):
    with device.create_stream() as opened:
        yield opened


@pytest.fixture(scope="session")
def cupy():
    found = pytest.importorskip("cupy")
    if not hasattr(found, "asarray"):
        pytest.skip("the stand-in for CuPy has no arrays and no streams of its own")
    return found
