# SPDX-License-Identifier: Apache-2.0
"""The engine's short way to the driver: what Python has launched once, C launches again.

The driver's functions are those of the fake CuPy, called from C. What they mean is tested beside
the table's way in the other files, whose tests run by both.
"""

from __future__ import annotations

import threading

import numpy as np
import pytest

import aclnn_py as acl
from aclnn_py.backends import cuda
from aclnn_runtime import cuda_driver
from support import cuda_twin, fake_gpu
from support.fake_driver import Driver
from support.fake_gpu import VALUES, run_softmax, softmax
from support.problems import Call

pytestmark = [
    pytest.mark.skipif(cuda_twin.compiler() is None, reason="no C++ compiler"),
    pytest.mark.parametrize("driver", ["driver"], indirect=True),
]


@pytest.fixture
def steps(monkeypatch):
    """Kernels of the steps that Python has launched."""
    seen = []
    run = cuda._CudaStep.run

    def counted(self, *arguments):
        seen.append(self._step.kernel)
        return run(self, *arguments)

    monkeypatch.setattr(cuda._CudaStep, "run", counted)
    return seen


def launched(cupy):
    """(kernel, blocks, threads, stream) of every launch."""
    return [call[1:] for call in cupy.cuda.runtime.calls if call[0] == "launchKernel"]


# ---- launches -----------------------------------------------------------------------------------


def test_python_launches_once(cupy, gpu, queue, steps, driver):
    for count in range(1, 4):
        _, out = run_softmax(gpu, queue, VALUES)
        assert len(steps) == 1
        assert driver.called.count("cuLaunchKernel") == count - 1
        queue.synchronize()
        np.testing.assert_allclose(out.numpy(), softmax(VALUES), rtol=1e-6)
    assert len(set(launched(cupy))) == 1
    assert len(launched(cupy)) == 3
    assert driver.called.count("cuStreamSynchronize") >= 3


@pytest.mark.parametrize("operator", ["Softmax", "LogSoftmaxBackward"])
@pytest.mark.parametrize("shape", [(3, 70), (1, 40000), (2, 40, 5)], ids=str)
def test_the_same_launches_by_both_ways(cupy, gpu, queue, steps, operator, shape):
    """With scratch memory, several kernels and a tile."""
    call = Call(gpu, operator, shape, dim=1 if len(shape) > 2 else -1)
    for _ in range(3):
        call.go(queue)
        call.assert_right()
    assert len(steps) == 1
    third = len(launched(cupy)) // 3
    assert launched(cupy)[:third] == launched(cupy)[third : 2 * third]


def test_views_are_steps_of_their_own(gpu, queue, steps):
    values = np.random.default_rng(1).standard_normal((6, 40)).astype(np.float32)
    x, out = gpu.tensor(values).transpose(), gpu.zeros((40, 6), "float16")
    for _ in range(3):
        size, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, 0, out)
        workspace = gpu.malloc(size)
        acl.aclnnSoftmax(workspace, size, executor, queue)
        queue.synchronize()
        np.testing.assert_allclose(out.numpy(), softmax(values).T, rtol=2e-3)
    assert len(steps) == len(set(steps)) > 1


def test_scratch_memory_is_asked_for_once(cupy, gpu, queue, other, steps):
    call, larger = Call(gpu, "Softmax", (1, 40000)), Call(gpu, "Softmax", (2, 70000))
    for stream, count in ((queue, 1), (queue, 1), (other, 2), (other, 2), (queue, 2)):
        call.go(stream)
        call.assert_right()
        assert len(steps) == count
    before = fake_gpu.names(cupy).count("malloc")
    for done in (larger, call, larger):
        executor = done.plan()
        done.run(queue, executor)
        queue.synchronize()
        done.assert_right()
    assert len(steps) == 3
    assert fake_gpu.names(cupy).count("malloc") == before + 1


def test_a_repeatable_executor_reads_its_tensors_anew(gpu, queue, steps):
    x, out = gpu.tensor(VALUES), gpu.empty(VALUES.shape)
    _, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, -1, out)
    acl.aclSetAclOpExecutorRepeatable(executor)
    for factor in (1, 2, 3):
        source = gpu.tensor(VALUES * factor)
        x.set_data_ptr(source.data_ptr)
        acl.aclnnSoftmax(None, 0, executor, queue)
        queue.synchronize()
        np.testing.assert_allclose(out.numpy(), softmax(VALUES * factor), rtol=1e-6)
    assert len(steps) == 1


def test_threads_launch_one_step_at_once(cupy, gpu, steps):
    x = gpu.tensor(VALUES)
    first = gpu.empty(VALUES.shape)
    with gpu.create_stream() as stream:
        size, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, -1, first)
        acl.aclnnSoftmax(None, size, executor, stream)
    failures = []

    def work():
        out = gpu.empty(VALUES.shape)
        with gpu.create_stream() as mine:
            for _ in range(20):
                size, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, -1, out)
                acl.aclnnSoftmax(None, size, executor, mine)
            mine.synchronize()
        if not np.allclose(out.numpy(), softmax(VALUES), rtol=1e-6):
            failures.append(out)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not failures
    assert len(launched(cupy)) == 81
    assert len(steps) == 5  # each stream's queue has to become known


# ---- order --------------------------------------------------------------------------------------


def test_a_launch_waits_for_nothing(cupy, gpu, queue):
    run_softmax(gpu, queue, VALUES)
    queue.synchronize()
    ran = len(cupy.cuda.runtime.ran)
    hold = fake_gpu.Hold(cupy, queue)
    _, out = run_softmax(gpu, queue, VALUES)
    assert not queue.query()
    assert len(cupy.cuda.runtime.ran) == ran
    hold.let_go()
    queue.synchronize()
    np.testing.assert_allclose(out.numpy(), softmax(VALUES), rtol=1e-6)


def test_launches_behind_host_functions_keep_their_place(cupy, gpu, queue, driver):
    seen = []
    run_softmax(gpu, queue, VALUES)
    queue.launch_host_func(lambda: seen.append(len(cupy.cuda.runtime.ran)))
    _, out = run_softmax(gpu, queue, VALUES)
    queue.launch_host_func(lambda: seen.append(len(cupy.cuda.runtime.ran)))
    queue.synchronize()
    assert seen == [1, 2]
    assert driver.called.count("cuLaunchKernel") == 1
    np.testing.assert_allclose(out.numpy(), softmax(VALUES), rtol=1e-6)


def test_events_go_the_short_way(gpu, queue, other, driver):
    run_softmax(gpu, queue, VALUES)
    run_softmax(gpu, other, VALUES)
    for _ in range(4):
        _, out = run_softmax(gpu, queue, VALUES)
        event = queue.record()
        other.wait(event)
        other.synchronize()
        del event
    assert "cuEventRecord" in driver.called
    np.testing.assert_allclose(out.numpy(), softmax(VALUES), rtol=1e-6)


def test_an_adopted_stream_is_its_owners(cupy, gpu, driver, steps):
    class Theirs:
        ptr = cupy.cuda.runtime.streamCreateWithFlags(1)

    theirs = Theirs()
    stream = acl.Stream.from_external(theirs, gpu)
    for _ in range(3):
        run_softmax(gpu, stream, VALUES)
    stream.synchronize()
    assert {call[-1] for call in launched(cupy)} == {theirs.ptr}
    assert driver.called.count("cuLaunchKernel") == 2
    stream.close()
    assert ("streamDestroy", theirs.ptr) not in cupy.cuda.runtime.calls


def test_what_is_recorded_has_scratch_of_its_own(cupy, gpu, queue, steps):
    call = Call(gpu, "Softmax", (1, 40000))
    call.go(queue)
    with queue.capture() as captured:
        call.run(queue, call.plan())
    mallocs = fake_gpu.names(cupy).count("malloc")
    for _ in range(4):
        captured.graph.replay(queue)
        queue.synchronize()
        call.assert_right()
    assert fake_gpu.names(cupy).count("malloc") == mallocs + 1
    assert len(steps) == 2  # the recording asks for it
    assert fake_gpu.names(cupy).count("graphLaunch") == 3


# ---- devices ------------------------------------------------------------------------------------


def test_the_programs_device_stays_its_own(cupy, gpu, queue, driver):
    with acl.Device("cuda:1") as second, second.create_stream() as there:
        for now in (0, 1):
            cupy.cuda.runtime.setDevice(now)
            before = cupy.cuda.driver.ctxGetCurrent()
            for place, stream in ((gpu, queue), (second, there)):
                for _ in range(2):
                    _, out = run_softmax(place, stream, VALUES)
                    assert cupy.cuda.driver.ctxGetCurrent() == before
                stream.synchronize()
                assert cupy.cuda.runtime.getDevice() == now
                np.testing.assert_allclose(out.numpy(), softmax(VALUES), rtol=1e-6)
        cupy.cuda.runtime.setDevice(0)
    assert sorted(driver.retained) == [0, 1]


def test_a_device_that_nobody_uses_gets_no_context(gpu, queue, driver):
    assert driver.retained == []
    for _ in range(2):
        run_softmax(gpu, queue, VALUES)
    queue.synchronize()
    assert driver.retained == [0]


def test_a_thread_without_a_context_has_none_afterwards(cupy, gpu, queue, driver):
    x, out = gpu.tensor(VALUES), gpu.full(VALUES.shape, 9)
    size, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, -1, out)
    acl.aclnnSoftmax(None, size, executor, queue)
    size, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, -1, out)
    found = []

    def launch():
        acl.aclnnSoftmax(None, size, executor, queue)
        found.append(cupy.cuda.driver.ctxGetCurrent())

    thread = threading.Thread(target=launch)
    thread.start()
    thread.join()
    queue.synchronize()
    assert found == [0]
    assert driver.called.count("cuLaunchKernel") == 1
    np.testing.assert_allclose(out.numpy(), softmax(VALUES), rtol=1e-6)


# ---- failures -----------------------------------------------------------------------------------


def let_finish(cupy):
    """A wait that fails does not wait: what is queued has to end before its memory goes."""
    for stream in list(cupy.cuda.runtime._streams.values()):
        stream.synchronize()


def failure_of(cupy, gpu, queue, name, number):
    call = Call(gpu, "Softmax", VALUES.shape)
    executor = call.plan()
    cupy.cuda.runtime.fail_next[name] = number
    call.run(queue, executor)
    with pytest.raises(acl.AclError) as caught:
        queue.synchronize()
    assert not cupy.cuda.runtime.fail_next
    let_finish(cupy)
    return caught.value.status, caught.value.hint, str(caught.value)


@pytest.mark.parametrize("name", ["launchKernel", "streamSynchronize"])
@pytest.mark.parametrize("number", [1, 2, 400, 700, 719, 999])
def test_failures_say_the_same_by_both_ways(cupy, gpu, name, number):
    with gpu.create_stream() as fresh:
        by_table = failure_of(cupy, gpu, fresh, name, number)
    with gpu.create_stream() as stream:
        run_softmax(gpu, stream, VALUES)
        stream.synchronize()
        assert failure_of(cupy, gpu, stream, name, number) == by_table
        _, out = run_softmax(gpu, stream, VALUES)
        stream.synchronize()
        np.testing.assert_allclose(out.numpy(), softmax(VALUES), rtol=1e-6)


def test_the_text_is_cupys(cupy, gpu, queue):
    run_softmax(gpu, queue, VALUES)
    queue.synchronize()
    cupy.cuda.runtime.fail_next["launchKernel"] = 719
    run_softmax(gpu, queue, VALUES)
    with pytest.raises(acl.AclError, match="CUDADriverError: CUDA_ERROR_LAUNCH_FAILED") as caught:
        queue.synchronize()
    assert caught.value.status == 507015
    assert "restart" in caught.value.hint
    call = Call(gpu, "Softmax", VALUES.shape)
    executor = call.plan()
    cupy.cuda.runtime.fail_next["streamSynchronize"] = 700
    call.run(queue, executor)
    with pytest.raises(acl.AclError, match="CUDARuntimeError: cudaErrorIllegalAddress"):
        queue.synchronize()
    let_finish(cupy)


def test_a_fault_stays(cupy, gpu):
    stream = gpu.create_stream()
    run_softmax(gpu, stream, VALUES)
    stream.synchronize()
    cupy.cuda.runtime.fault_in = "*"
    for _ in range(2):
        run_softmax(gpu, stream, VALUES)
        with pytest.raises(acl.AclError, match="cudaErrorIllegalAddress") as caught:
            stream.synchronize()
        assert caught.value.status == 507015


# ---- without ------------------------------------------------------------------------------------


class Lacking:
    """A driver that is too old for one of the functions."""

    def __init__(self, driver, lacks):
        for name in vars(driver):
            if name != lacks:
                setattr(self, name, getattr(driver, name))


def retains_another(place, _device):
    place._obj.value = 0x1234
    return 0


@pytest.mark.parametrize("lack", ["library", "function", "context", "retain"])
def test_without_it_everything_goes_by_the_table(cupy, driver, monkeypatch, steps, lack):
    found = Driver(cupy)
    if lack == "library":
        found = None
    elif lack == "function":
        found = Lacking(found, "cuStreamWaitEvent")
    elif lack == "context":
        found.cuDevicePrimaryCtxRetain = retains_another
    else:
        found.cuDevicePrimaryCtxRetain = lambda _place, _device: 3
    monkeypatch.setattr(cuda_driver, "library", lambda: found)
    with acl.Device("cuda:0") as gpu, gpu.create_stream() as stream:
        for _ in range(2):
            _, out = run_softmax(gpu, stream, VALUES)
        stream.synchronize()
        np.testing.assert_allclose(out.numpy(), softmax(VALUES), rtol=1e-6)
    assert len(steps) == 2
