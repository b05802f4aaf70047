# SPDX-License-Identifier: Apache-2.0
"""A GPU device over a CuPy without a GPU, for the tests that run on one."""

from __future__ import annotations

import pytest

import aclnn_py as acl
from support import cuda_twin, fake_gpu


@pytest.fixture
def cupy(monkeypatch, fresh):
    with fake_gpu.installed(monkeypatch, cuda_twin.library()) as module:
        yield module
        fake_gpu.let_all_go()


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
