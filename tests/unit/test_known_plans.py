# SPDX-License-Identifier: Apache-2.0
"""What a thread's C calls have planned lately is remembered in C: when the planner is asked."""

from __future__ import annotations

import ctypes as c
import gc

import pytest

from aclnn_native import ffi, lib
from aclnn_py.abi.toolkit import library_path
from aclnn_py.core import settings
from aclnn_py.dialects import capi
from aclnn_py.twophase import operator
from support.process import in_thread

LIBRARY = c.CDLL(str(library_path()))


class Asked:
    """Counts how often the planner is asked, and passes the question on."""

    def __init__(self):
        self.count = 0
        self.entry = ffi.callback("aclpy_planner", self)

    def __call__(self, name, key, n_key, handles, workspace):
        self.count += 1
        return lib.aclpy_py_plan(name, key, n_key, handles, workspace)


@pytest.fixture
def asked():
    counter = Asked()
    lib.aclpy_planner_install(counter.entry)
    lib.aclpy_planner_forget()
    yield counter
    lib.aclpy_planner_install(lib.aclpy_py_plan)


def phase_one(x, dim, y):
    """Status and workspace size; the executor is destroyed."""
    size, executor = c.c_uint64(), c.c_void_p()
    status = LIBRARY.aclnnSoftmaxGetWorkspaceSize(
        c.c_void_p(x.handle), c.c_int64(dim), c.c_void_p(y.handle), c.byref(size), c.byref(executor)
    )
    if status == 0:
        assert LIBRARY.aclDestroyAclOpExecutor(executor) == 0
    return status, size.value


def test_a_known_call_does_not_ask(device, asked):
    x, y = device.empty((3, 4)), device.empty((3, 4))
    for _ in range(3):
        assert phase_one(x, 1, y) == (0, 0)
    assert asked.count == 1
    assert phase_one(device.empty((3, 4)), 1, y) == (0, 0)  # another tensor of the same layout
    assert asked.count == 1


def test_what_tells_calls_apart(device, asked):
    x, y, wide = device.empty((4, 4)), device.empty((4, 4)), device.empty((4, 5))
    half, view = device.empty((4, 4), "float16"), device.empty((4, 8)).view((4, 4), (8, 1))
    calls = [(x, 0, y), (x, 1, y), (x, -1, y), (x, 1, x), (half, 1, half), (x, 1, half)]
    calls += [(wide, 1, wide), (view, 1, y), (x, 1, view)]
    found = [phase_one(*call) for call in calls]
    assert asked.count == len(calls)
    assert [phase_one(*call) for call in calls] == found
    again = asked.count - len(calls)  # two of these calls may share a place of the table
    assert again <= 4
    assert len(set(found)) > 1  # a workspace of one was not given to another
    planned = [operator("Softmax").get_workspace_size([a, b], [d]) for a, d, b in calls]
    assert found == [(0, size) for size, _ in planned]


def test_more_calls_than_are_remembered(device, asked):
    """Places are shared, answers never: every size is the planner's, in any order."""
    shapes = [(5, 64 * n) for n in range(1, 301)]
    inputs = [device.empty(shape).view(shape, (1, 5)) for shape in shapes]
    tensors = [(x, device.empty(x.shape, "float16")) for x in inputs]
    wanted = [operator("Softmax").get_workspace_size([x, y], [1])[0] for x, y in tensors]
    assert len(set(wanted)) > 100
    for order in (range(300), range(299, -1, -1), range(0, 300, 7)):
        for at in order:
            x, y = tensors[at]
            assert phase_one(x, 1, y) == (0, wanted[at])


def test_refusals_are_not_remembered(device, asked):
    x, y = device.empty((3, 4)), device.empty((3, 5))
    for times in range(1, 4):
        assert phase_one(x, 1, y)[0] == 161002
        assert asked.count == times


def test_each_thread_asks_for_itself(device, asked):
    x, y = device.empty((3, 4)), device.empty((3, 4))
    assert phase_one(x, 1, y) == (0, 0)
    assert in_thread(phase_one, x, 1, y) == (0, 0)
    assert asked.count == 2
    assert phase_one(x, 1, y) == (0, 0)
    assert asked.count == 2


def test_other_settings_are_asked_about(device, asked):
    """bfloat16 is one that not every chip has."""
    x, y = device.empty((3, 4), "bfloat16"), device.empty((3, 4), "bfloat16")
    assert phase_one(x, 1, y) == (0, 0)
    with settings.override(soc="Ascend310P"):
        assert phase_one(x, 1, y)[0] == 161002
    assert phase_one(x, 1, y) == (0, 0)
    assert asked.count == 3


def test_a_dropped_plan_is_planned_anew(device, asked):
    x, y = device.empty((3, 4)), device.empty((3, 4))
    assert phase_one(x, 1, y) == (0, 0)
    operator("Softmax").plans.clear()
    for face in capi._faces.values():
        face.entries, face.older = {}, {}  # without a word to C
    gc.collect()
    assert phase_one(x, 1, y) == (0, 0)
    assert asked.count == 2


def test_a_destroyed_tensor_is_refused(device, asked):
    x, y = device.empty((3, 4)), device.empty((3, 4))
    assert phase_one(x, 1, y) == (0, 0)
    x.close()
    assert phase_one(x, 1, y)[0] == 161002
    assert asked.count == 1
