# SPDX-License-Identifier: Apache-2.0
"""A GPU device over a CuPy without a GPU, for the tests that run on one."""

from __future__ import annotations

import pytest

import aclnn_py as acl
from aclnn_runtime import cuda_driver
from support import cuda_twin, fake_gpu
from support.fake_driver import Driver


@pytest.fixture(params=["table", "driver"])
def driver(request, monkeypatch, cupy_alone):
    """How the engine reaches the device: by the table alone (None), or by a driver as well."""
    found = Driver(cupy_alone) if request.param == "driver" else None
    monkeypatch.setattr(cuda_driver, "library", lambda: found)
    return found


@pytest.fixture
def cupy_alone(monkeypatch, fresh):
    with fake_gpu.installed(monkeypatch, cuda_twin.library()) as module:
        yield module
        fake_gpu.let_all_go()


@pytest.fixture
def cupy(cupy_alone, driver):
    return cupy_alone


@pytest.fixture
def gpu(cupy):
    with acl.Device("cuda:0") as device:
        yield device


@pytest.fixture
def queue(gpu):
    with gpu.create_stream() as stream:
        yield stream
        fake_gpu.let_all_go()


@pytest.fixture
def other(gpu):
    with gpu.create_stream() as stream:
        yield stream
        fake_gpu.let_all_go()
