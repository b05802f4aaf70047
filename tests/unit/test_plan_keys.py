# SPDX-License-Identifier: Apache-2.0
"""A plan is found for its own call alone, whichever door the call comes through."""

from __future__ import annotations

import ctypes as c

import pytest

from aclnn_py.abi.toolkit import library_path
from aclnn_py.twophase import operator
from support import oracle
from support.problems import OPERATORS, random_inputs
from support.tensors import planner, runner

LIBRARY = c.CDLL(str(library_path()))
SHAPE = (4, 4, 4)  # laid out alike whatever the axis


def by_function(name, tensors, dim):
    return planner(name)(*tensors[:-1], dim, tensors[-1])


def by_operator(name, tensors, dim):
    return operator(name).get_workspace_size(tensors, [dim])


def by_c(name, tensors, dim):
    size, executor = c.c_uint64(), c.c_void_p()
    handles = [c.c_void_p(tensor.handle) for tensor in tensors]
    status = LIBRARY[f"aclnn{name}GetWorkspaceSize"](
        *handles[:-1], c.c_int64(dim), handles[-1], c.byref(size), c.byref(executor)
    )
    assert status == 0
    return size.value, executor.value


def run_by_c(name, size, executor, stream):
    assert size == 0
    handles = c.c_void_p(executor), c.c_void_p(stream.handle)
    assert LIBRARY[f"aclnn{name}"](None, c.c_uint64(0), *handles) == 0


def run_by_function(name, size, executor, stream):
    assert size == 0
    runner(name)(None, 0, executor, stream)


DOORS = {
    "function": (by_function, run_by_function),
    "operator": (by_operator, run_by_function),
    "C": (by_c, run_by_c),
}


@pytest.mark.parametrize("dims", [(2, 0, 1, 2), (0, 1, -3, -1), (1, -1, 0)], ids=str)
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", OPERATORS)
def test_axes_in_turn(device, stream, fresh, name, door, dims):
    plan, run = DOORS[door]
    for dim in dims:
        arrays = random_inputs(name, SHAPE, "float32", dim, seed=dim + 3)
        tensors = [*(device.tensor(array) for array in arrays), device.empty(SHAPE, "float32")]
        run(name, *plan(name, tensors, dim), stream)
        stream.synchronize()
        error = oracle.worst(name, tensors[-1].numpy(), oracle.answer(name, arrays, dim))
        assert error <= 1, f"dim {dim} of {dims}: {error:.3g} times its bound"


@pytest.mark.parametrize("doors", [("C", "function"), ("operator", "C"), ("function", "operator")])
def test_doors_find_each_other_s_plans(device, stream, fresh, doors):
    x, y = device.empty(SHAPE, "float32"), device.empty(SHAPE, "float32")
    row = operator("Softmax")
    for door in doors:
        plan, run = DOORS[door]
        run("Softmax", *plan("Softmax", [x, y], 1), stream)
        assert len(row.plans) == 1
    stream.synchronize()
