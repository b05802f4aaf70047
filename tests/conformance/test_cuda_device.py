# SPDX-License-Identifier: Apache-2.0
"""``Device("cuda:0")`` over a CuPy without a GPU: plans, launches, order, streams of others.

The fake's device memory faults when the host touches it, its streams are late threads, and kernels
run as host code; so numbers, order and addresses are real, and speed is nobody's.
"""

from __future__ import annotations

import importlib
import threading

import numpy as np
import pytest

import aclnn_py as acl
from aclnn_py import twophase
from aclnn_py.backends import CudaBackend, cuda_programs
from aclnn_py.backends.cuda_kernels import launches
from aclnn_py.core.cuda_arrays import put
from aclnn_py.plan.steps import Operand, Step
from support import cuda_twin, fake_gpu, oracle
from support.cases import shown
from support.fake_gpu import VALUES, run_softmax, softmax
from support.oracle import BF16
from support.problems import Call
from support.tensors import planner

pytestmark = pytest.mark.skipif(cuda_twin.compiler() is None, reason="no C++ compiler")


# ---- numbers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "operator", ["Softmax", "LogSoftmax", "SoftmaxBackward", "LogSoftmaxBackward"]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, BF16, np.float64], ids=str)
@pytest.mark.parametrize(
    ("shape", "dim"), [((3, 70), -1), ((2, 40, 5), 1), ((1, 40000), -1)], ids=str
)
def test_results_hold_the_oracle_bound(gpu, queue, operator, dtype, shape, dim):
    if shape[-1] > 1000 and np.dtype(dtype) != np.float32:
        pytest.skip("divided rows are one matter, whatever the dtype")
    if np.dtype(dtype) == np.float64 and operator.endswith("Backward"):
        pytest.skip("no SoC profile takes DOUBLE there")
    call = Call(gpu, operator, shape, dtype=dtype, dim=dim)
    got = call.go(queue)
    assert oracle.worst(operator, got, call.expected()) <= 1


def test_views_and_casts_are_planned_as_on_the_cpu(gpu, device, queue):
    values = np.random.default_rng(1).standard_normal((6, 40)).astype(np.float32)
    sizes, results = [], []
    for place in (gpu, device):
        x, out = place.tensor(values).transpose(), place.zeros((40, 6), "float16")
        size, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, 0, out)
        workspace = place.malloc(size)
        if place is gpu:
            acl.aclnnSoftmax(workspace, size, executor, queue)
            queue.synchronize()
        else:
            with device.create_stream() as other:
                acl.aclnnSoftmax(workspace, size, executor, other)
        sizes.append(size)
        results.append(out.numpy().astype(np.float32))
    assert sizes[0] == sizes[1] > 0
    np.testing.assert_allclose(results[0], results[1], rtol=2e-3)


def test_the_plan_says_who_runs_it(gpu):
    x, out = gpu.zeros((2, 3)), gpu.empty((2, 3))
    assert x.desc.device == out.desc.device == "cuda"
    said = twophase.explain("Softmax", [x.desc, out.desc], [-1])
    assert "cuda" in said


def test_what_has_no_kernel_is_refused(gpu):
    x, out = gpu.zeros((2, 3), "float16"), gpu.empty((2, 3), "float16")
    step = Step(
        "softmax", "softmax_pitched", "f32", (Operand(0, 0),), Operand(1, 0), (2, 3, 3, 3), ""
    )
    name, refused = CudaBackend().accept(step)
    assert name == ""
    assert "no CUDA kernel" in refused[0].reason
    assert planner("Softmax")(x, -1, out)[0] == 0


# ---- programs -----------------------------------------------------------------------------------


def forget_programs():
    """As a process that has loaded none."""
    for cached in (cuda_programs._kernel, cuda_programs._module):
        cached.cache_clear()


def test_programs_are_compiled_once_and_without_shortcuts(cupy, gpu, queue, monkeypatch, tmp_path):
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path / "cache"))
    compiled = cupy._module.compiled
    for rows in (1, 2):  # another plan each time
        forget_programs()
        _, out = run_softmax(gpu, queue, VALUES[:rows])
        queue.synchronize()
        np.testing.assert_allclose(out.numpy(), softmax(VALUES[:rows]), rtol=1e-6)
    ((_, options, architecture, name),) = compiled
    assert {"--ftz=false", "--fmad=false", "-DACLPY_T=f32"} <= set(options)
    assert (architecture, name) == ("90", "softmax.cu")
    # What is in the cache but not whole does not count.
    (file,) = (tmp_path / "cache").iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    forget_programs()
    run_softmax(gpu, queue, VALUES)
    queue.synchronize()
    assert len(compiled) == 2


def test_threads_that_need_one_program_at_once_load_it_once(cupy, gpu, monkeypatch):
    """A second one would end, and its kernels with it, while some plan still launches them."""
    loaded, second = [], threading.Event()
    module = importlib.import_module("cupy.cuda.function").Module
    load = module.load

    def slowly(self, code):
        loaded.append(self)
        if len(loaded) > 1:
            second.set()
        second.wait(0.3)
        load(self, code)

    monkeypatch.setattr(module, "load", slowly)
    forget_programs()
    plan = launches("softmax", "f32", (3, 70, 1), 4)
    program = (0, plan.source, plan.dtype, plan.launches[0].function)
    threads = [threading.Thread(target=cuda_programs.function, args=program) for _ in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(loaded) == 1


def test_another_text_is_another_program(cupy, gpu, queue, monkeypatch, tmp_path):
    """Included files count, too."""
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path / "cache"))
    found = set()
    for rows, content in enumerate((b"one", b"one", b"two"), start=1):
        monkeypatch.setattr(cuda_programs, "_content", lambda content=content: content)
        forget_programs()
        run_softmax(gpu, queue, VALUES[:rows])
        queue.synchronize()
        found |= set((tmp_path / "cache").iterdir())
    assert len(found) == len(cupy._module.compiled) == 2


def test_a_folder_that_cannot_be_written_only_costs_time(cupy, gpu, queue, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path / "file" / "cache"))
    _, out = run_softmax(gpu, queue, VALUES)
    queue.synchronize()
    np.testing.assert_allclose(out.numpy(), softmax(VALUES), rtol=1e-6)
    assert len(cupy._module.compiled) == 1


def test_a_thread_may_begin_with_a_launch(cupy, gpu, queue):
    """CUDA gives a thread its context when it first chooses a device, and refuses it launches."""
    x, out = gpu.tensor(VALUES), gpu.full(VALUES.shape, 9)
    size, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, -1, out)
    thread = threading.Thread(target=acl.aclnnSoftmax, args=(None, size, executor, queue))
    thread.start()
    thread.join()
    queue.synchronize()
    np.testing.assert_allclose(out.numpy(), softmax(VALUES), rtol=1e-6)


# ---- order --------------------------------------------------------------------------------------


def test_a_call_launches_and_returns(cupy, gpu, queue):
    hold = fake_gpu.Hold(cupy, queue)
    _, out = run_softmax(gpu, queue, VALUES)
    assert fake_gpu.names(cupy)[-1] != "launchKernel" or not cupy.cuda.runtime.ran
    assert "launchKernel" in fake_gpu.names(cupy)  # put there by the call itself
    assert not queue.query()
    assert cupy.cuda.runtime.ran == []
    hold.let_go()
    queue.synchronize()
    np.testing.assert_allclose(out.numpy(), softmax(VALUES), rtol=1e-6)


def test_streams_wait_for_events_on_the_device(cupy, gpu, queue, other):
    second = gpu.full(VALUES.shape, 5)
    hold = fake_gpu.Hold(cupy, queue)
    x, out = run_softmax(gpu, queue, VALUES)
    event = queue.record()
    other.wait(event)
    size, executor = acl.aclnnSoftmaxGetWorkspaceSize(out, -1, second)
    acl.aclnnSoftmax(None, size, executor, other)
    called = fake_gpu.names(cupy)
    assert called.count("streamWaitEvent") == 1
    assert called.count("launchKernel") == 2  # nobody has waited on the host
    assert not event.query()
    hold.let_go()
    other.synchronize()
    np.testing.assert_allclose(second.numpy(), softmax(softmax(VALUES)), rtol=1e-6)
    assert x.shape == out.shape


def test_host_functions_keep_their_place(cupy, gpu, queue):
    seen = []
    hold = fake_gpu.Hold(cupy, queue)
    _, first = run_softmax(gpu, queue, VALUES)
    queue.launch_host_func(lambda: seen.append(list(cupy.cuda.runtime.ran)))
    _, second = run_softmax(gpu, queue, VALUES)
    assert fake_gpu.names(cupy).count("launchKernel") == 1  # what follows waits for the function
    hold.let_go()
    queue.synchronize()
    assert [len(ran) for ran in seen] == [1]
    assert len(cupy.cuda.runtime.ran) == 2
    for out in (first, second):
        np.testing.assert_allclose(out.numpy(), softmax(VALUES), rtol=1e-6)


def test_an_emulated_device_and_a_gpu_wait_for_each_other(cupy, gpu, device, queue):
    latch, seen = threading.Event(), []
    with device.create_stream() as cpu:
        cpu.launch_host_func(latch.wait)
        event = cpu.record()
        queue.wait(event)
        run_softmax(gpu, queue, VALUES)
        assert "launchKernel" not in fake_gpu.names(cupy)
        back = queue.record()
        cpu.wait(back)
        cpu.launch_host_func(lambda: seen.append(list(cupy.cuda.runtime.ran)))
        latch.set()
        cpu.synchronize()
        assert [len(ran) for ran in seen] == [1]


def test_pinned_copies_are_asynchronous(cupy, gpu, queue):
    with acl_current(gpu):
        pinned = acl.aclrtMallocHost(48)
    host = np.asarray(pinned).view(np.float32)
    host[:] = VALUES.reshape(-1)
    memory = gpu.malloc(48)
    hold = fake_gpu.Hold(cupy, queue)
    acl.aclrtMemcpyAsync(memory, 48, pinned, 48, acl.ACL_MEMCPY_HOST_TO_DEVICE, queue)
    assert not queue.query()
    hold.let_go()
    queue.synchronize()
    back = np.zeros(12, np.float32)
    with acl_current(gpu):
        acl.aclrtMemcpy(back, 48, memory, 48, acl.ACL_MEMCPY_DEVICE_TO_HOST)
        acl.aclrtFreeHost(pinned)
    np.testing.assert_array_equal(back, VALUES.reshape(-1))


class acl_current:
    """The device's primary context as the thread's, for C names."""

    def __init__(self, device):
        self.device = device

    def __enter__(self):
        acl.aclrtSetDevice(self.device._number)

    def __exit__(self, *_):
        acl.aclrtResetDevice(self.device._number)


def test_captured_work_becomes_a_graph(cupy, gpu, queue):
    x, out = gpu.tensor(VALUES), gpu.empty(VALUES.shape)
    size, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, -1, out)
    with queue.capture() as captured:
        acl.aclnnSoftmax(None, size, executor, queue)
    assert "launchKernel" not in fake_gpu.names(cupy)
    for _ in range(4):
        captured.graph.replay(queue)
        queue.synchronize()
        np.testing.assert_allclose(out.numpy(), softmax(VALUES), rtol=1e-6)
    called = fake_gpu.names(cupy)
    # Once by itself, once recorded; then the recording is launched.
    assert called.count("launchKernel") == 2
    assert called.count("streamBeginCapture") == called.count("graphInstantiate") == 1
    assert called.count("graphLaunch") == 3
    assert len(cupy.cuda.runtime.ran) == 4


def test_what_cannot_be_recorded_runs_all_the_same(cupy, gpu, queue):
    x, out = gpu.tensor(VALUES), gpu.empty(VALUES.shape)
    size, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, -1, out)
    with queue.capture() as captured:
        acl.aclnnSoftmax(None, size, executor, queue)
    captured.graph.replay(queue)
    cupy.cuda.runtime.fail_next["streamEndCapture"] = 901
    for _ in range(3):
        captured.graph.replay(queue)
    queue.synchronize()
    assert "graphLaunch" not in fake_gpu.names(cupy)
    assert len(cupy.cuda.runtime.ran) == 4


def replayed_once(gpu, queue):
    """A captured call with scratch memory, which the next replay will record."""
    call = Call(gpu, "Softmax", (1, 40000))
    executor = call.plan()
    with queue.capture() as captured:
        call.run(queue, executor)
    captured.graph.replay(queue)
    queue.synchronize()
    return call, captured


def test_a_recording_that_fails_gives_its_scratch_back(cupy, gpu, queue):
    call, captured = replayed_once(gpu, queue)
    cupy.cuda.runtime.fail_next["streamEndCapture"] = 901
    before = cupy.cuda.runtime.memGetInfo()[0]
    for _ in range(2):
        captured.graph.replay(queue)
        queue.synchronize()
    assert cupy.cuda.runtime.memGetInfo()[0] == before
    call.assert_right()


def test_a_recording_that_is_not_whole_is_dropped(cupy, gpu, queue):
    """No scratch for one kernel of it: nothing has failed, for nothing has run yet."""
    call, captured = replayed_once(gpu, queue)
    cupy.cuda.runtime.fail_next["malloc"] = 2
    for done in range(3):
        put(call.out, 0, np.full((1, 40000), 9, np.float32))
        captured.graph.replay(queue)
        queue.synchronize()
        call.assert_right()
        assert fake_gpu.names(cupy).count("graphLaunch") == done


def test_host_memory_is_filled_in_order_and_in_every_replay(cupy, gpu, queue):
    x, out = gpu.tensor(VALUES), gpu.empty(VALUES.shape)
    with acl_current(gpu):
        pinned = acl.aclrtMallocHost(48)
        host = np.asarray(pinned).view(np.uint8)
        hold = fake_gpu.Hold(cupy, queue)
        acl.aclrtMemcpyAsync(pinned, 48, x.data_ptr, 48, acl.ACL_MEMCPY_DEVICE_TO_HOST, queue)
        acl.aclrtMemsetAsync(pinned, 48, 7, 48, queue)
        hold.let_go()
        queue.synchronize()
        assert np.all(host == 7)
        size, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, -1, out)
        with queue.capture() as captured:
            acl.aclrtMemsetAsync(pinned, 48, 7, 48, queue)
            acl.aclnnSoftmax(None, size, executor, queue)
        for _ in range(4):
            host[:] = 1
            captured.graph.replay(queue)
            queue.synchronize()
            assert np.all(host == 7)
        acl.aclrtFreeHost(pinned)


def test_a_shared_stream_is_not_recorded(cupy, gpu, queue):
    """Its owner's work would be in the recording, too."""
    x, out = gpu.tensor(VALUES), gpu.empty(VALUES.shape)
    size, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, -1, out)
    with queue.capture() as captured:
        acl.aclnnSoftmax(None, size, executor, queue)
    assert queue.__cuda_stream__()
    for _ in range(3):
        captured.graph.replay(queue)
        queue.synchronize()
    assert "streamBeginCapture" not in fake_gpu.names(cupy)
    np.testing.assert_allclose(out.numpy(), softmax(VALUES), rtol=1e-6)


# ---- streams of others --------------------------------------------------------------------------


def test_an_external_stream_is_in_order_with_its_owner(cupy, gpu):
    class Theirs:
        ptr = cupy.cuda.runtime.streamCreateWithFlags(1)

        def __cuda_stream__(self):
            return 0, self.ptr

    theirs = Theirs()
    stream = acl.Stream.from_external(theirs, gpu)
    assert stream.__cuda_stream__() == (0, theirs.ptr)
    order = []
    hold = fake_gpu.Hold(cupy, theirs.ptr)
    cupy.cuda.runtime._stream(theirs.ptr).add(lambda: order.append(len(cupy.cuda.runtime.ran)))
    run_softmax(gpu, stream, VALUES)
    cupy.cuda.runtime._stream(theirs.ptr).add(lambda: order.append(len(cupy.cuda.runtime.ran)))
    hold.let_go()
    stream.synchronize()  # their work counts, too
    assert order == [0, 1]
    stream.close()
    assert ("streamDestroy", theirs.ptr) not in cupy.cuda.runtime.calls


@pytest.mark.parametrize("wrong", [None, object(), "stream"], ids=shown)
def test_what_is_no_stream_is_refused(gpu, wrong):
    with pytest.raises(acl.AclError, match="no CUDA stream") as caught:
        acl.Stream.from_external(wrong, gpu)
    assert caught.value.status == 100000


def test_a_cpu_stream_has_no_cuda_stream(device, stream):
    with pytest.raises(acl.AclError) as caught:
        stream.__cuda_stream__()
    assert caught.value.status == 207000
    with pytest.raises(acl.AclError) as caught:
        acl.Stream.from_external(object(), device)
    assert caught.value.status == 207000
