# SPDX-License-Identifier: Apache-2.0
"""The NumPy backend alone, without a single kernel: slower, as right, and it says so."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import aclnn_py as acl
from aclnn_py import twophase
from aclnn_py.backends import ReferenceBackend
from aclnn_py.core import settings
from aclnn_runtime import step_call
from support import oracle
from support.latch import Latch
from support.problems import OPERATORS, random_inputs
from support.tensors import planner, runner


@pytest.fixture
def no_kernels(monkeypatch, fresh):
    monkeypatch.setattr(twophase, "BACKENDS", (ReferenceBackend(),))
    yield
    for name in OPERATORS:
        twophase.operator(name).plans.clear()


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("operator", OPERATORS)
def test_every_operator(device, stream, no_kernels, operator, dim):
    arrays = random_inputs(operator, (5, 7, 3), np.float32, dim)
    tensors = [device.tensor(array.transpose(2, 0, 1)).transpose(1, 2, 0) for array in arrays]
    out = device.zeros((5, 14, 3)).view((5, 7, 3), (42, 6, 1))
    size, executor = planner(operator)(*tensors, dim, out)
    assert "reference: numpy" in executor.plan.explain()
    workspace = device.malloc(size)
    runner(operator)(workspace, size, executor, stream)
    stream.synchronize()
    assert oracle.worst(operator, out.numpy(), oracle.answer(operator, arrays, dim)) <= 1


@pytest.mark.parametrize("target", ["int8", "bool", "float16", "complex64"])
def test_casts(device, stream, no_kernels, target):
    arrays = random_inputs("SoftmaxBackward", (4, 6), np.float32, 1)
    scaled = [arrays[0] * np.float32(1000), arrays[1]]
    out = device.zeros((4, 6), target)
    size, executor = acl.aclnnSoftmaxBackwardGetWorkspaceSize(*map(device.tensor, scaled), 1, out)
    acl.aclnnSoftmaxBackward(device.malloc(size), size, executor, stream)
    stream.synchronize()
    wanted = oracle.answer("SoftmaxBackward", scaled, 1).value.astype(np.float32)
    got = out.numpy().astype(np.complex128).real
    if target == "int8":
        np.testing.assert_array_equal(got, np.clip(np.trunc(wanted), -128, 127))
    elif target == "bool":
        np.testing.assert_array_equal(got, wanted != 0)
    else:
        np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=1e-3)


def test_what_is_queued_and_captured_outlives_the_cache_of_plans(device, stream, no_kernels):
    """The cache holds so many plans an operator; what runs an older one holds that by itself."""
    before = set(step_call._steps)
    x = device.tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    queued, captured = device.zeros((2, 3)), device.zeros((2, 3))
    plans = twophase.operator("Softmax").plans
    with stream.capture() as capture:
        size, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, 1, captured)
        acl.aclnnSoftmax(None, size, executor, stream)
    size, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, 1, queued)
    tokens = set(step_call._steps) - before
    assert tokens
    with Latch(stream):
        acl.aclnnSoftmax(None, size, executor, stream)
        del executor
        plans.clear()
        gc.collect()
        step_call.forget_retired()
        assert tokens <= set(step_call._steps)
    stream.synchronize()
    capture.graph.replay(stream)
    stream.synchronize()
    for out in (queued, captured):
        np.testing.assert_allclose(out.numpy().sum(axis=1), 1, rtol=1e-6)
    capture.graph.close()
    del capture
    for rows in range(3, 40):  # the call itself remembers a few plans: other ones now
        other = device.zeros((rows, 1))
        acl.aclnnSoftmaxGetWorkspaceSize(other, 1, other)
    gc.collect()
    step_call.forget_retired()
    assert not tokens & set(step_call._steps)


def test_a_failure_surfaces_at_synchronise(device, stream, no_kernels, monkeypatch):
    x, out = device.zeros((2, 3)), device.zeros((2, 3))
    size, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, 1, out)
    monkeypatch.setattr(np, "errstate", None)
    acl.aclnnSoftmax(None, size, executor, stream)
    with pytest.raises(acl.AclError) as caught:
        stream.synchronize()
    assert isinstance(caught.value.__cause__, TypeError)


def test_fallback_error_refuses_such_plans(device, monkeypatch):
    monkeypatch.setattr(twophase, "BACKENDS", (_Nobody(), ReferenceBackend()))
    x, out = device.zeros((2, 3)), device.zeros((2, 3))
    with settings.override(fallback="error"), pytest.raises(acl.AclnnError) as caught:
        acl.aclnnSoftmaxGetWorkspaceSize(x, 1, out)
    assert caught.value.status == 561003
    with settings.override(fallback="allow"):
        acl.aclnnSoftmaxGetWorkspaceSize(x, 1, out)


class _Nobody:
    name = "nobody"

    def accept(self, _step):
        return "", ()
