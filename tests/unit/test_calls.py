# SPDX-License-Identifier: Apache-2.0
"""The call path in C (aclnn_native._calls): what it refuses, what it gives back, when it waits."""

from __future__ import annotations

import gc
import inspect
import threading
import weakref

import numpy as np
import pytest

import aclnn_py as acl
from aclnn_native import calls, lib
from aclnn_py.testing import Latch
from aclnn_py.twophase import operator
from support.problems import Call

PATIENCE_S = 60.0  # a call that waits with the interpreter lock would never let the test go on


@pytest.fixture
def call(device):
    return Call(device, "Softmax", (8, 32))


def entry_of(call):
    call.plan()
    return call.executor._keep[-1]


@pytest.mark.parametrize("kind", [calls.Executor, acl.Executor])
def test_executors_come_from_phase_1_only(kind):
    with pytest.raises(TypeError, match="cannot create"):
        kind()


def test_an_executor_that_is_never_run_goes_with_its_object(call):
    gc.collect()  # those of other tests
    before = lib.aclpy_live_count(b"executor")
    call.plan()
    assert lib.aclpy_live_count(b"executor") == before + 1
    watched = weakref.ref(call.executor)
    call.executor = None
    gc.collect()
    assert watched() is None
    assert lib.aclpy_live_count(b"executor") == before


def test_it_keeps_tensors_and_memory(device):
    x = device.tensor(np.ones((8, 32), np.float32))
    out = device.empty((8, 32), np.float32)
    executor = acl.aclnnSoftmaxGetWorkspaceSize(x, -1, out)[1]
    assert executor._keep[:4] == (x, out, x._buffer, out._buffer)
    for name in ("_handle", "_keep"):
        with pytest.raises((AttributeError, TypeError)):
            setattr(executor, name, 1)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((), TypeError),
        (("one", ()), TypeError),
        ((1.0, ()), TypeError),
        ((-1, ()), OverflowError),
        ((2**64, ()), OverflowError),
        ((*range(129), ()), TypeError),
    ],
    ids=["nothing", "text", "float", "negative", "65 bits", "too many"],
)
def test_bind_takes_handles(call, arguments, error):
    entry = entry_of(call)
    before = lib.aclpy_live_count(b"executor")
    with pytest.raises(error):
        entry.bind(*arguments)
    assert lib.aclpy_live_count(b"executor") == before


def test_bind_leaves_the_reason_in_the_library(call):
    entry = entry_of(call)
    assert entry.bind(call.out.handle, 2**64 - 1, ()) is None
    assert lib.aclpy_error_last().status == 161002
    five = [call.out.handle] * 5
    assert entry.bind(*five, ()) is None
    assert lib.aclpy_error_last().status == 561000


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((acl.Executor, 1.0, 0), TypeError),
        ((acl.Executor, -1, 0), OverflowError),
        ((acl.Executor, 1, "0"), TypeError),
        ((int, 1, 0), TypeError),
        (("Executor", 1, 0), TypeError),
    ],
)
def test_binders_check_what_they_are_made_of(arguments, error):
    with pytest.raises(error):
        calls.Binder(*arguments)


def test_execute_takes_numbers_and_an_executor(call, stream):
    call.plan()
    number = operator("Softmax").number
    for arguments, error in (
        ((number, 0, 0, call.executor), TypeError),
        ((number, 0, 0, None, stream.handle), TypeError),
        ((number, 0, 0, call.executor.handle, stream.handle), TypeError),
        ((number, None, 0, call.executor, stream.handle), TypeError),
        ((number, 0, 1.0, call.executor, stream.handle), TypeError),
        ((number, 0, -1, call.executor, stream.handle), OverflowError),
        ((number, 0, 0, call.executor, 2**64), OverflowError),
    ):
        with pytest.raises(error):
            calls.execute(*arguments)
    assert calls.execute(number, 0, 0, call.executor, stream.handle) == 0
    assert call.executor._state == calls.SPENT
    assert calls.execute(number, 0, 0, call.executor, stream.handle) == 161002
    stream.synchronize()
    call.assert_right()


SAME = np.ones((8, 32), np.float32)


def test_functions_of_phases_look_like_functions():
    signature = inspect.signature(acl.aclnnSoftmaxGetWorkspaceSize)
    assert list(signature.parameters) == ["self", "dim", "out"]
    assert list(inspect.signature(acl.aclnnSoftmax).parameters) == [
        "workspace", "workspaceSize", "executor", "stream",
    ]  # fmt: skip
    assert acl.aclnnSoftmax.__name__ == "aclnnSoftmax"
    assert acl.aclnnSoftmax.__module__ == "aclnn_py.dialects.aclnn"
    assert acl.aclnnSoftmax.__doc__.startswith("Run aclnnSoftmax")


def test_what_the_fast_way_does_not_take_is_checked(device, stream):
    x, out = device.tensor(SAME), device.empty(SAME.shape, SAME.dtype)
    plan, run = acl.aclnnSoftmaxGetWorkspaceSize, acl.aclnnSoftmax
    for positional, named in (
        ((x, -1, out), {}),  # perhaps not in the cache
        ((x, -1, out), {}),
        ((x,), {"out": out, "dim": -1}),
        ((x, np.int64(-1), out), {}),
    ):
        size, executor = plan(*positional, **named)
        run(workspace=None, workspaceSize=size, executor=executor, stream=stream)
        stream.synchronize()
        assert out.numpy()[0, 0] == np.float32(1 / 32)
        out._host_view("test")[...] = 0
    for arguments, error, text in (
        ((x, -1), TypeError, "missing 1 required positional argument: 'out'"),
        ((x, -1, out, 1), TypeError, "takes 3 positional arguments"),
        ((x, True, out), None, ""),
        ((x, 2, out), acl.AclnnError, "out of range"),
        ((None, -1, out), acl.AclnnError, "null"),
        ((stream, -1, out), acl.AclnnError, "wrong kind"),
    ):
        if error is None:
            plan(*arguments)
            continue
        with pytest.raises(error, match=text):
            plan(*arguments)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"executor": 3}, "executor"),
        ({"executor": None}, "executor"),
        ({"stream": 7}, "stream"),
        ({"workspaceSize": -1}, "workspaceSize"),
        ({"workspaceSize": "0"}, "workspaceSize"),
        ({"workspace": "0"}, "workspace"),
    ],
)
def test_phase_two_refuses_by_name(call, stream, change, text):
    call.plan()
    right = {"workspace": None, "workspaceSize": 0, "executor": call.executor, "stream": stream}
    with pytest.raises(acl.AclnnError, match=f"argument '{text}'"):
        acl.aclnnSoftmax(*(right | change).values())
    acl.aclnnSoftmax(*right.values())
    stream.synchronize()
    call.assert_right()


def test_a_closed_tensor_or_workspace_is_refused(device, stream):
    x, out = device.tensor(SAME), device.empty(SAME.shape, SAME.dtype)
    acl.aclnnSoftmaxGetWorkspaceSize(x, -1, out)
    executor = acl.aclnnSoftmaxGetWorkspaceSize(x, -1, out)[1]
    gone = device.malloc(64)
    gone.close()
    with pytest.raises(acl.AclnnError, match="not been freed"):
        acl.aclnnSoftmax(gone, 64, executor, stream)
    acl.aclnnSoftmax(device.malloc(64), 64, executor, stream)
    stream.synchronize()
    x.close()
    with pytest.raises(acl.AclnnError, match="has been destroyed"):
        acl.aclnnSoftmaxGetWorkspaceSize(x, -1, out)


def test_plans_of_other_settings_are_not_taken(device, monkeypatch):
    x, out = device.tensor(SAME), device.empty(SAME.shape, SAME.dtype)
    door = operator("Softmax")
    acl.aclnnSoftmaxGetWorkspaceSize(x, -1, out)
    first = acl.aclnnSoftmaxGetWorkspaceSize(x, -1, out)[1]._keep[-1]
    door.plans.clear()
    assert acl.aclnnSoftmaxGetWorkspaceSize(x, -1, out)[1]._keep[-1] is not first


@pytest.mark.parametrize(
    "change",
    [
        {"kinds": "tx"},
        {"kinds": "ttttt"},
        {"kinds": "i" * 17},
        {"plans": ()},
        {"name": 1},
        {"names": ()},
        {"defaults": (1, 2)},
    ],
)
def test_functions_of_phases_are_made_of_what_they_need(change):
    right = {
        "name": "f", "doc": "f(x)\n--\n\nF.", "module": "m", "kinds": "t", "plans": {},
        "names": ("x",), "defaults": (), "checked": list, "fail": list,
    }  # fmt: skip
    assert calls.phase_one(**right).__name__ == "f"
    with pytest.raises((TypeError, ValueError)):
        calls.phase_one(**(right | change))


def phase_one(missing, plans):
    return calls.phase_one(
        name="f", doc="f(x, n, y)\n--\n\nF.", module="m", kinds="tit", names=("x", "n", "y"),
        defaults=(), plans=plans, checked=lambda *_: "checked", fail=list, missing=missing,
    )  # fmt: skip


def test_a_call_without_a_plan_is_planned_by_its_key(device):
    x, out = device.tensor(SAME), device.empty(SAME.shape, SAME.dtype)
    door, seen = operator("Softmax"), []

    def missing(*arguments):
        seen.append(arguments)
        return door.new_entry(*arguments)

    size, executor = phase_one(missing, {})(y=out, x=x, n=-1)
    assert seen == [((x._layout, -1, out._layout, False), [x, out], [-1])]
    assert size == executor._keep[-1].workspace_bytes
    assert executor._keep[:4] == (x, out, x._buffer, out._buffer)
    assert phase_one(missing, door.plans)(x, -1, out)[1].plan is executor.plan
    assert phase_one(missing, {})(x, None, out) == "checked"
    assert phase_one(None, {})(x, -1, out) == "checked"
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("missing", "error", "text"),
    [(lambda *_: None, TypeError, "Binder"), (lambda *_: {}["it"], KeyError, "it")],
)
def test_a_call_that_is_not_planned_ends_in_an_exception(device, missing, error, text):
    x, out = device.tensor(SAME), device.empty(SAME.shape, SAME.dtype)
    with pytest.raises(error, match=text):
        phase_one(missing, {})(x, -1, out)


def test_a_buffer_deleted_while_its_call_is_planned_is_none(device):
    x, out = device.tensor(SAME), device.empty(SAME.shape, SAME.dtype)
    buffer = x._buffer

    def missing(*arguments):
        del x._buffer
        return operator("Softmax").new_entry(*arguments)

    executor = phase_one(missing, {})(x, -1, out)[1]
    assert executor._keep[:4] == (x, out, None, out._buffer)
    assert not buffer.closed


def test_nouns_do_not_leak_what_they_hold(device):
    tensor = device.empty((2, 2), np.float32)
    owner = {"tensor": tensor}  # a cycle through what the tensor keeps alive
    watched = weakref.ref(tensor)
    tensor._buffer = owner
    del tensor, owner
    gc.collect()
    assert watched() is None


def test_waits_take_numbers_as_many_as_they_need(stream):
    assert calls.wait(calls.STREAM, stream._context, stream.handle) == 0
    for arguments in ((), (99, 0), (calls.STREAM,), (calls.STREAM, 0), (calls.STREAM, 0, "1")):
        with pytest.raises(TypeError):
            calls.wait(*arguments)
    for arguments in ((calls.STREAM, 0, 1, 2), (calls.EVENT, 1, 2), (calls.STREAM_UNTIL, 0, 1)):
        with pytest.raises(TypeError):
            calls.wait(*arguments)
    assert calls.wait(calls.STREAM, 0, 1) == 107017
    assert calls.wait(calls.EVENT, 1) == 107017
    assert calls.wait(calls.REPORT, -2) == 100000
    with pytest.raises(OverflowError):
        calls.wait(calls.REPORT, -(2**70))


def test_a_wait_lets_other_threads_run(stream):
    latch, begun = Latch(), threading.Event()
    latch.park(stream)

    def wait():
        begun.set()
        stream.synchronize()

    waiting = threading.Thread(target=wait)
    waiting.start()
    assert begun.wait(PATIENCE_S)
    latch.release()
    waiting.join(PATIENCE_S)
    assert not waiting.is_alive()


def test_calls_behind_a_latch_return_at_once(call, stream):
    with Latch(stream):
        for _ in range(3):
            call.plan()
            call.run(stream)
    stream.synchronize()
    call.assert_right()


def test_watchers_see_every_executor_and_may_refuse(call):
    seen = []
    assert calls.watch(seen.append) is None
    try:
        call.plan()
        operator("Softmax").get_workspace_size(*call_parts(call))
        assert len(seen) == 2
        assert seen[0] is call.executor

        def refuse(executor):
            raise LookupError(hex(executor.handle))

        assert calls.watch(refuse).__self__ is seen
        before = lib.aclpy_live_count(b"executor")
        with pytest.raises(LookupError):
            call.plan()
        assert lib.aclpy_live_count(b"executor") == before
    finally:
        calls.watch(None)


def call_parts(call):
    arguments = call.arguments()
    tensors = [value for value in arguments if isinstance(value, acl.Tensor)]
    return tensors, [value for value in arguments if not isinstance(value, acl.Tensor)]
