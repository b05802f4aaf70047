# SPDX-License-Identifier: Apache-2.0
"""Models built from persistent streams, under their C names; see also engine_models.c."""

from __future__ import annotations

import numpy as np
import pytest

import aclnn_py as acl
from aclnn_py.testing import record, scheduler
from support.latch import Latch

pytestmark = pytest.mark.usefixtures("current_device")


@pytest.fixture
def streams():
    made = [acl.aclrtCreateStreamWithConfig(0, acl.ACL_STREAM_PERSISTENT) for _ in range(2)]
    yield made
    for stream in made:
        acl.aclrtDestroyStream(stream)


@pytest.fixture
def model(streams):
    """One that is being built, with both streams bound."""
    made = acl.aclmdlRIBuildBegin()
    for stream in streams:
        acl.aclmdlRIBindStream(made, stream, acl.ACL_MODEL_STREAM_FLAG_HEAD)
    yield made
    if made._open:
        acl.aclmdlRIDestroy(made)


def finish(model, *streams):
    for stream in streams:
        acl.aclmdlRIEndTask(model, stream)
    acl.aclmdlRIBuildEnd(model)


def status_of(call, *arguments):
    with pytest.raises(acl.AclError) as raised:
        getattr(acl, call)(*arguments)
    return raised.value.status


def test_operators_run_at_each_execution_on_new_data(device, model, streams):
    x, out = device.tensor(np.zeros((2, 8), np.float32)), device.empty((2, 8), "float32")
    size, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, -1, out)
    assert size == 0
    acl.aclnnSoftmax(None, 0, executor, streams[0])
    finish(model, streams[0])
    for data in (np.eye(2, 8, dtype=np.float32), np.full((2, 8), 3, np.float32)):
        acl.aclrtMemcpy(x.data_ptr, data.nbytes, data, data.nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE)
        acl.aclmdlRIExecute(model, -1)
        want = np.exp(data) / np.exp(data).sum(-1, keepdims=True)
        np.testing.assert_allclose(out.numpy(), want, rtol=1e-6)


@pytest.mark.parametrize("policy", ["eager", "lazy", "reverse", "1", "2", "3"])
def test_events_order_a_model_under_every_schedule(model, streams, policy):
    seen, event = [], acl.aclrtCreateEventExWithFlag(acl.ACL_EVENT_SYNC)
    acl.aclrtLaunchHostFunc(streams[0], seen.append, "produced")
    acl.aclrtRecordEvent(event, streams[0])
    acl.aclrtStreamWaitEvent(streams[1], event)
    acl.aclrtLaunchHostFunc(streams[1], seen.append, "consumed")
    finish(model, *streams)
    plain = acl.aclrtCreateStream()
    with scheduler(policy):
        acl.aclrtLaunchHostFunc(plain, seen.append, "before")
        acl.aclmdlRIExecuteAsync(model, plain)
        acl.aclrtLaunchHostFunc(plain, seen.append, "behind")
        acl.aclrtSynchronizeStream(plain)
        assert seen == ["before", "produced", "consumed", "behind"]
        acl.aclmdlRIExecute(model, -1)
    assert seen[4:] == ["produced", "consumed"]
    acl.aclrtDestroyEvent(event)
    acl.aclrtDestroyStream(plain)


def test_107005_for_what_streams_and_models_may_not(model, streams):
    plain = acl.aclrtCreateStream()
    other = acl.aclmdlRIBuildBegin()
    assert status_of("aclmdlRIBindStream", other, plain, 0) == 107005
    assert status_of("aclmdlRIBindStream", other, streams[0], 0) == 107005
    assert status_of("aclmdlRIEndTask", other, streams[0]) == 107005
    assert status_of("aclmdlRIBuildEnd", other) == 107005
    assert status_of("aclmdlRICaptureBegin", streams[0], 0) == 107005
    assert status_of("aclrtDestroyStream", streams[0]) == 107005
    acl.aclmdlRIEndTask(model, streams[0])
    assert status_of("aclrtLaunchHostFunc", streams[0], print, 1) == 107005
    acl.aclmdlRIDestroy(other)
    acl.aclrtDestroyStream(plain)


def test_507011_before_the_end_and_after_unbinding(model, streams):
    assert status_of("aclmdlRIExecute", model, -1) == 507011
    assert status_of("aclmdlRIExecuteAsync", model, None) == 507011
    finish(model, streams[0])
    acl.aclmdlRIExecute(model, -1)
    acl.aclmdlRIUnbindStream(model, streams[0])
    assert status_of("aclmdlRIExecute", model, -1) == 507011


def test_arguments_are_checked(model, streams):
    assert status_of("aclmdlRIBuildBegin", 1) == 107000
    assert status_of("aclmdlRIBindStream", None, streams[0], 0) == 100000
    assert status_of("aclmdlRIBindStream", model, None, 0) == 100000
    assert status_of("aclmdlRIBindStream", model, streams[0], 5) == 107000
    assert status_of("aclrtPersistentTaskClean", streams[0]) == 207000
    finish(model, *streams)
    assert status_of("aclmdlRIExecute", model, 0) == 107000


def test_a_timeout_and_an_abort_have_their_statuses(model, streams):
    latch, ran = Latch(), []
    latch.park(streams[0])
    acl.aclrtLaunchHostFunc(streams[0], ran.append, 1)
    finish(model, streams[0])
    assert status_of("aclmdlRIExecute", model, 1) == 507046
    latch.wait_until_held()
    acl.aclmdlRIAbort(model)
    latch.open()
    assert status_of("aclmdlRIExecute", model, -1) == 507023
    assert ran == [1]  # by the second execution alone
    acl.aclmdlRIExecute(model, -1)


def test_streams_are_listed(model, streams):
    assert [s._handle for s in acl.aclmdlRIGetStreams(model)] == [s._handle for s in streams]


def test_functions_are_called_at_the_end(model):
    seen = []
    acl.aclmdlRIDestroyRegisterCallback(model, seen.append, "first")
    acl.aclmdlRIDestroyRegisterCallback(model, seen.append, "second")
    acl.aclmdlRIDestroyRegisterCallback(model, print, "never")
    acl.aclmdlRIDestroyUnregisterCallback(model, print)
    assert status_of("aclmdlRIDestroyUnregisterCallback", model, print) == 107000
    assert status_of("aclmdlRIDestroyRegisterCallback", model, None) == 107000
    acl.aclmdlRIDestroy(model)
    assert seen == ["first", "second"]
    assert status_of("aclmdlRIDestroyUnregisterCallback", model, print) == 107017


def test_a_recording_sees_the_model_run(model, streams):
    acl.aclrtLaunchHostFunc(streams[0], print, "")
    finish(model, streams[0])
    with record() as recording:
        acl.aclmdlRIExecute(model, -1)
    assert recording.tasks()
