# SPDX-License-Identifier: Apache-2.0
"""The executor's life: repeatable, destroyed, given other addresses, a hit of the cache."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import aclnn_py as acl
from aclnn_py import twophase
from aclnn_py.core import settings
from support import oracle
from support.problems import FORWARD, OPERATORS, Call, refused_as_cache_hit, staged
from support.process import in_thread
from support.tensors import build, check_error, planner, runner

INVALID, UNKNOWN, INNER = 161002, 561000, 561103
PADDED = "FLOAT[2,3] storage=12"  # contiguous, in a storage larger than the view


def refused(status, argument, function, *values):
    with pytest.raises(acl.AclError) as caught:
        function(*values)
    return check_error(caught.value, status, argument=argument)


# ---- aclDestroyAclOpExecutor --------------------------------------------------------------------


def test_destroy_null():
    refused(INNER, "executor", acl.aclDestroyAclOpExecutor, None)


def test_destroy_before_phase_2_then_again(device, fresh, stream):
    call = Call(device, "Softmax")
    executor = call.plan()
    acl.aclDestroyAclOpExecutor(executor)
    refused(UNKNOWN, "executor", acl.aclDestroyAclOpExecutor, executor)
    refused(INVALID, "executor", call.run, stream)


def test_destroy_a_consumed_executor(device, fresh, stream):
    call = Call(device, "Softmax")
    call.go(stream)
    refused(UNKNOWN, "executor", acl.aclDestroyAclOpExecutor, call.executor)


def test_destroy_a_cache_hit(device, fresh, stream):
    call = Call(device, "Softmax")
    call.go(stream)
    call.plan()
    acl.aclDestroyAclOpExecutor(call.executor)
    refused(UNKNOWN, "executor", acl.aclDestroyAclOpExecutor, call.executor)


# ---- aclSetAclOpExecutorRepeatable --------------------------------------------------------------


def test_repeatable_null():
    refused(INNER, "executor", acl.aclSetAclOpExecutorRepeatable, None)


def test_repeatable_of_a_destroyed_executor(device, fresh):
    executor = Call(device, "Softmax").plan()
    acl.aclDestroyAclOpExecutor(executor)
    refused(UNKNOWN, "executor", acl.aclSetAclOpExecutorRepeatable, executor)


REPEATED = [(name, dtype) for name in OPERATORS for dtype in (np.float32, np.float16)]
REPEATED += [(name, np.float64) for name in FORWARD]


@pytest.mark.parametrize(("operator", "dtype"), REPEATED)
def test_repeatable_runs_many_times_with_any_workspace(device, fresh, stream, operator, dtype):
    call = Call(device, operator, (3, 5), dtype=dtype, out_dtype=np.float32)
    call.plan()
    acl.aclSetAclOpExecutorRepeatable(call.executor)
    results = []
    for seed in range(4):
        fed = Call(device, operator, (3, 5), dtype=dtype, seed=seed)
        for mine, other in zip(call.inputs, fed.inputs, strict=True):
            acl.aclSetRawTensorAddr(mine, acl.aclGetRawTensorAddr(other))
        workspace = device.malloc(call.size) if call.size else None
        call.run(stream, workspace=workspace)
        stream.synchronize()
        results.append(call.out.numpy())
        single = Call(device, operator, (3, 5), dtype=dtype, out_dtype=np.float32, seed=seed)
        assert oracle.same_bits(results[-1], single.go(stream))
    assert not np.array_equal(results[0], results[1])
    acl.aclDestroyAclOpExecutor(call.executor)
    refused(INVALID, "executor", call.run, stream)


def test_repeatable_empty_call(device, fresh, stream):
    size, executor = acl.aclnnSoftmaxGetWorkspaceSize(build("FLOAT[0]"), 0, build("FLOAT[0]"))
    acl.aclSetAclOpExecutorRepeatable(executor)
    for _ in range(3):
        acl.aclnnSoftmax(None, size, executor, stream)
    acl.aclDestroyAclOpExecutor(executor)


@pytest.mark.parametrize(
    ("soc", "allowed"),
    [("Ascend910", False), ("Ascend310P", False), ("Ascend910B", True), ("Ascend950", True)],
)
def test_repeatable_is_refused_where_a_device_copy_ends_the_plan(device, soc, allowed):
    with settings.override(soc=soc):
        call = Call(device, "Softmax")
        _, executor = planner("Softmax")(call.inputs[0], 1, build(PADDED))
        if allowed:
            acl.aclSetAclOpExecutorRepeatable(executor)
        else:
            refused(UNKNOWN, "executor", acl.aclSetAclOpExecutorRepeatable, executor)
        acl.aclDestroyAclOpExecutor(executor)


def test_repeatable_must_follow_phase_1_at_once(device, fresh):
    first, second = Call(device, "Softmax", (2, 3)), Call(device, "Softmax", (2, 4))
    first.plan()
    second.plan()
    refused(UNKNOWN, "executor", acl.aclSetAclOpExecutorRepeatable, first.executor)
    acl.aclSetAclOpExecutorRepeatable(second.executor)
    for call in (first, second):
        acl.aclDestroyAclOpExecutor(call.executor)


def test_phase_1_on_another_thread_does_not_count_as_in_between(device, fresh):
    first = Call(device, "Softmax", (2, 3))
    first.plan()
    in_thread(lambda: acl.aclDestroyAclOpExecutor(Call(device, "Softmax", (2, 4)).plan()))
    acl.aclSetAclOpExecutorRepeatable(first.executor)
    acl.aclDestroyAclOpExecutor(first.executor)


# ---- the emulated vendor cache ------------------------------------------------------------------


@pytest.mark.parametrize("operator", OPERATORS)
def test_identical_call_hits_after_a_completed_run(device, fresh, stream, operator):
    def plan_again():
        return Call(device, operator).plan()

    first = Call(device, operator)
    first.plan()
    early = plan_again()
    assert not refused_as_cache_hit(early)
    acl.aclDestroyAclOpExecutor(early)
    first.go(stream)
    late = plan_again()
    assert refused_as_cache_hit(late)
    acl.aclDestroyAclOpExecutor(late)


def test_a_hit_still_runs_right_and_once(device, fresh, stream):
    for seed in range(3):
        call = staged(device, seed=seed)
        call.go(stream)
        assert (
            oracle.worst(call.operator, call.out.numpy().astype(np.float16), call.expected()) <= 1
        )
        refused(INVALID, "executor", call.run, stream)


@pytest.mark.parametrize(
    ("change", "hits"),
    [
        ("nothing", True), ("another seed", True), ("dim", False), ("shape", False),
        ("dtype", False),
        ("operator", False), ("another thread", False), ("in place", False), ("never ran", False),
        ("only repeatable ran", False), ("switched off", False), ("refused run", False),
    ],
)  # fmt: skip
def test_what_the_cache_remembers(device, fresh, stream, change, hits):
    first = Call(device, "Softmax", (4, 4), dim=0)
    first.plan()
    if change == "only repeatable ran":
        acl.aclSetAclOpExecutorRepeatable(first.executor)
    if change == "refused run":
        with pytest.raises(acl.AclError):
            first.run(stream, operator="LogSoftmax")
    elif change != "never ran":
        first.run(stream)
        stream.synchronize()
    options = {
        "dim": {"dim": 1},
        "dtype": {"dtype": np.float16},
        "another seed": {"seed": 5},
    }.get(change, {})
    second = Call(
        device,
        "LogSoftmax" if change == "operator" else "Softmax",
        (4, 5) if change == "shape" else (4, 4),
        **({"dim": 0} | options),
    )
    if change == "in place":
        second.out = second.inputs[0]
    seen = []

    def look():
        executor = second.plan()
        seen.append(refused_as_cache_hit(executor))
        acl.aclDestroyAclOpExecutor(executor)

    if change == "another thread":
        in_thread(look)
    elif change == "switched off":
        with settings.override(vendor_cache=False):
            first.go(stream)
            look()
    else:
        look()
    assert seen == [hits]


@pytest.mark.parametrize(
    ("soc", "line", "hits"), [("Ascend910B", PADDED, True), ("Ascend910", PADDED, False)]
)
def test_copy_tasks_are_never_cached(device, stream, soc, line, hits):
    with settings.override(soc=soc):
        call, memory = Call(device, "Softmax"), device.malloc(48)
        for round_ in range(2):
            size, executor = planner("Softmax")(call.inputs[0], 1, build(line, memory))
            if round_ == 1:
                assert refused_as_cache_hit(executor) == hits or soc == "Ascend910"
                acl.aclDestroyAclOpExecutor(executor)
                return
            workspace = device.malloc(size) if size else None
            runner("Softmax")(workspace, size, executor, stream)
            stream.synchronize()


@pytest.mark.parametrize(
    ("operator", "dtype", "out_dtype"),
    [
        ("LogSoftmax", np.float64, np.float64),
        ("LogSoftmax", np.float64, np.float32),
        ("Softmax", np.float32, np.float64),
        ("SoftmaxBackward", np.float16, np.float64),
    ],
)
def test_double_work_is_never_cached(device, fresh, stream, operator, dtype, out_dtype):
    for _ in range(2):
        call = Call(device, operator, dtype=dtype, out_dtype=out_dtype)
        call.plan()
        assert not refused_as_cache_hit(call.executor)
        acl.aclDestroyAclOpExecutor(call.executor)
        call.go(stream)
        call.assert_right()


def test_two_threads_that_plan_the_same_call_share_its_plan(device, fresh, monkeypatch):
    """Two plans would be two entries of the emulated cache, of which one never hits again."""
    both, made = threading.Barrier(2), twophase.make_plan

    def slow(*arguments):
        both.wait(20)
        return made(*arguments)

    monkeypatch.setattr(twophase, "make_plan", slow)
    found = []

    def plan():
        found.append(Call(device, "Softmax").plan())

    threads = [threading.Thread(target=plan) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first, second = found
    assert first.plan is second.plan


# ---- addresses between the phases ---------------------------------------------------------------


@pytest.mark.parametrize("hit", [False, True])
def test_which_addresses_count(device, fresh, stream, hit):
    """A first call reads inputs late and a contiguous out early, a cache hit all of them early."""
    if hit:
        Call(device, "Softmax").go(stream)
    early, late = Call(device, "Softmax"), Call(device, "Softmax", seed=9)
    address = acl.aclGetRawTensorAddr
    source = build("FLOAT[2,3]", address(early.inputs[0]))
    out = build("FLOAT[2,3]", address(early.out))
    size, executor = planner("Softmax")(source, -1, out)
    assert executor.is_cache_hit == hit
    acl.aclSetRawTensorAddr(source, address(late.inputs[0]))
    acl.aclSetRawTensorAddr(out, address(late.out))
    runner("Softmax")(None, size, executor, stream)
    stream.synchronize()
    assert np.all(late.out.numpy() == 77)
    read = early if hit else late
    assert oracle.worst("Softmax", early.out.numpy(), read.expected()) <= 1


def test_a_strided_out_and_inputs_follow_their_tensors(device, fresh, stream):
    call, other = Call(device, "Softmax", (3, 4)), Call(device, "Softmax", (3, 4), seed=9)
    strided = build("FLOAT[3,4] strides=1,3 storage=12", acl.aclGetRawTensorAddr(call.out))
    size, executor = planner("Softmax")(call.inputs[0], 1, strided)
    acl.aclSetRawTensorAddr(call.inputs[0], acl.aclGetRawTensorAddr(other.inputs[0]))
    acl.aclSetRawTensorAddr(strided, acl.aclGetRawTensorAddr(other.out))
    workspace = device.malloc(size)
    runner("Softmax")(workspace, size, executor, stream)
    stream.synchronize()
    assert np.all(call.out.numpy() == 77)
    got = other.out.numpy().reshape(4, 3).T
    assert oracle.worst("Softmax", got, other.expected()) <= 1


@pytest.mark.parametrize(
    "setter", ["aclSetInputTensorAddr", "aclSetOutputTensorAddr", "aclSetTensorAddr"]
)
@pytest.mark.parametrize("index", [0, 1, 99])
def test_address_setters_ignore_the_index(device, fresh, setter, index):
    call = Call(device, "Softmax")
    call.plan()
    getattr(acl, setter)(call.executor, index, call.inputs[0], 4096)
    assert acl.aclGetRawTensorAddr(call.inputs[0]) == 4096
    acl.aclDestroyAclOpExecutor(call.executor)


@pytest.mark.parametrize(
    "setter", ["aclSetInputTensorAddr", "aclSetOutputTensorAddr", "aclSetTensorAddr"]
)
def test_address_setters_store_before_they_look_at_the_executor(device, fresh, setter):
    tensor = build("FLOAT[2]")
    refused(INNER, "tensor", getattr(acl, setter), None, 0, None, 4096)
    refused(INNER, "executor", getattr(acl, setter), None, 0, tensor, 4096)
    assert acl.aclGetRawTensorAddr(tensor) == 4096


@pytest.mark.parametrize("setter", ["set_data_ptr", "aclSetRawTensorAddr", "aclSetTensorAddr"])
def test_a_tensor_may_return_to_its_own_memory(device, fresh, setter):
    """By a plain number, which keeps nothing alive: the tensor does."""
    call, away = Call(device, "Softmax"), device.malloc(1 << 12)
    executor = call.plan()
    x = device.tensor(np.arange(6.0).reshape(2, 3))  # no executor keeps it
    home = x.data_ptr
    for address in (home, away, home):
        if setter == "aclSetTensorAddr":
            acl.aclSetTensorAddr(executor, 0, x, address)
        elif setter == "aclSetRawTensorAddr":
            acl.aclSetRawTensorAddr(x, address)
        else:
            x.set_data_ptr(address)
    assert np.array_equal(x.numpy(), [[0, 1, 2], [3, 4, 5]])
    acl.aclDestroyAclOpExecutor(executor)


def test_a_view_of_a_tensor_that_has_moved_may_return_there(device):
    x = device.zeros((2, 3))
    x.set_data_ptr(device.malloc(24))
    seen = x.view((3, 2))
    x.close()
    there, before = seen.data_ptr, seen.numpy()
    seen.set_data_ptr(device.malloc(24))
    seen.set_data_ptr(there)
    assert seen.numpy().tobytes() == before.tobytes()


@pytest.mark.parametrize("kind", ["Input", "Output", ""])
def test_address_setters_say_who_refused(device, fresh, kind):
    plain, listed = f"aclSet{kind}TensorAddr", f"aclSetDynamic{kind}TensorAddr"
    tensor = build("FLOAT[2]")
    for status, function, values in (
        (INNER, plain, (None, 0, None, 4096)),
        (INNER, plain, (None, 0, tensor, 4096)),
        (INVALID, plain, ("x", 0, tensor, 4096)),
        (INNER, listed, (None, 0, 0, None, 4096)),
        (INNER, listed, (None, 0, 0, [tensor], 4096)),
        (INVALID, listed, (None, 0, 1, [tensor], 4096)),
        (INVALID, listed, (None, 0, 0, 5, 4096)),
    ):
        with pytest.raises(acl.AclnnError) as caught:
            getattr(acl, function)(*values)
        assert (caught.value.status, caught.value.operator) == (status, function)
    for function in ("aclSetAclOpExecutorRepeatable", "aclDestroyAclOpExecutor"):
        with pytest.raises(acl.AclnnError) as caught:
            getattr(acl, function)("x")
        assert caught.value.operator == function


def test_repeatable_out_follows_its_tensor(device, fresh, stream):
    call = Call(device, "Softmax")
    target = device.full((2, 3), 5, np.float32)
    call.plan()
    acl.aclSetAclOpExecutorRepeatable(call.executor)
    call.run(stream)
    acl.aclSetOutputTensorAddr(call.executor, 0, call.out, acl.aclGetRawTensorAddr(target))
    call.run(stream)
    stream.synchronize()
    assert oracle.worst("Softmax", target.numpy(), call.expected()) <= 1
    acl.aclDestroyAclOpExecutor(call.executor)


# ---- tensors between the phases -----------------------------------------------------------------


@pytest.mark.parametrize("operator", OPERATORS)
def test_tensors_may_be_destroyed_after_phase_1(device, fresh, stream, operator):
    call = Call(device, operator)
    owners = [device.tensor(array) for array in call.arrays]
    target = device.full((2, 3), 77, np.float32)
    handles = [build("FLOAT[2,3]", acl.aclGetRawTensorAddr(t)) for t in (*owners, target)]
    size, executor = planner(operator)(*handles[:-1], -1, handles[-1])
    for handle in handles:
        acl.aclDestroyTensor(handle)
    runner(operator)(None, size, executor, stream)
    stream.synchronize()
    assert oracle.worst(operator, target.numpy(), call.expected()) <= 1


def test_destroying_a_tensor_twice_and_destroying_null(device):
    tensor = build("FLOAT[2]")
    acl.aclDestroyTensor(None)
    acl.aclDestroyTensor(tensor)
    refused(INVALID, "tensor", acl.aclDestroyTensor, tensor)
