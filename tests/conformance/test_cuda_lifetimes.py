# SPDX-License-Identifier: Apache-2.0
"""What a GPU device owns, until when, and what its failures say; over a CuPy without a GPU."""

from __future__ import annotations

import gc
import threading
from contextlib import suppress

import numpy as np
import pytest

import aclnn_py as acl
from aclnn_native import lib
from support import cuda_twin, fake_gpu
from support.fake_gpu import VALUES, run_softmax, softmax
from support.problems import Call

pytestmark = pytest.mark.skipif(cuda_twin.compiler() is None, reason="no C++ compiler")

# ---- memory and lifetimes -----------------------------------------------------------------------


def test_queued_work_keeps_its_memory(cupy, gpu, queue):
    hold = fake_gpu.Hold(cupy, queue)
    x, out = run_softmax(gpu, queue, VALUES)
    address = x.data_ptr
    x._buffer.close()
    x.close()
    assert ("free", address) not in cupy.cuda.runtime.calls
    hold.let_go()
    queue.synchronize()
    assert ("free", address) in cupy.cuda.runtime.calls
    np.testing.assert_allclose(out.numpy(), softmax(VALUES), rtol=1e-6)


def test_memory_is_plain_and_its_end_is_a_status(cupy, gpu):
    free, total = gpu.memory_info()
    assert total == 1 << 30
    buffer = gpu.malloc(1 << 20)
    assert cupy.cuda.runtime.calls[-1][0] == "malloc"
    assert gpu.memory_info()[0] < free
    cupy.cuda.runtime.fail_next["malloc"] = 2
    with pytest.raises(acl.AclError, match="cudaErrorMemoryAllocation") as caught:
        gpu.malloc(4096)
    assert caught.value.status == 207001
    buffer.close()
    assert cupy.cuda.runtime.calls[-1][0] == "free"


def test_scratch_grows_and_is_kept(cupy, gpu, queue):
    def run(shape):
        call = Call(gpu, "Softmax", shape)
        call.plan()
        before = fake_gpu.names(cupy).count("malloc")
        call.run(queue)
        queue.synchronize()
        return fake_gpu.names(cupy).count("malloc") - before

    assert [run((1, 40000)), run((1, 40000)), run((2, 70000)), run((1, 40000))] == [1, 0, 1, 0]


def test_misaligned_addresses_are_refused(gpu, queue):
    out = gpu.empty((2, 3))
    memory = gpu.malloc(64)
    x = gpu.empty((2, 3))
    x.set_data_ptr(memory.ptr + 2)
    size, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, -1, out)
    with pytest.raises(acl.AclnnError, match="multiple of the element size") as caught:
        acl.aclnnSoftmax(None, size, executor, queue)
    assert caught.value.status == 161002
    x.set_data_ptr(memory)
    size, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, -1, out)
    acl.aclnnSoftmax(None, size, executor, queue)
    queue.synchronize()


def test_memory_and_stream_of_different_devices_are_refused(gpu, device, queue, stream):
    x, out = gpu.tensor(VALUES), gpu.empty(VALUES.shape)
    size, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, -1, out)
    with pytest.raises(acl.AclnnError, match="memory of device") as caught:
        acl.aclnnSoftmax(None, size, executor, stream)
    assert caught.value.status == 161002
    y = device.empty(VALUES.shape)
    size, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, -1, y)
    with pytest.raises(acl.AclnnError, match="memory of device"):
        acl.aclnnSoftmax(None, size, executor, queue)


def test_a_tensor_that_moves_to_the_gpu_is_planned_for_it(gpu, device, queue):
    x, out = device.tensor(VALUES), gpu.empty(VALUES.shape)
    first = x.desc.device
    source = gpu.tensor(VALUES)
    x.set_data_ptr(source.data_ptr)
    assert (first, x.desc.device) == ("cpu", "cuda")
    size, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, -1, out)
    acl.aclnnSoftmax(None, size, executor, queue)
    queue.synchronize()
    np.testing.assert_allclose(out.numpy(), softmax(VALUES), rtol=1e-6)


# ---- failures -----------------------------------------------------------------------------------


def test_a_launch_that_fails_shows_at_synchronise(cupy, gpu, queue):
    cupy.cuda.runtime.fail_next["launchKernel"] = 719
    run_softmax(gpu, queue, VALUES)
    with pytest.raises(acl.AclError, match="CUDA_ERROR_LAUNCH_FAILED") as caught:
        queue.synchronize()
    assert caught.value.status == 507015
    _, out = run_softmax(gpu, queue, VALUES)
    queue.synchronize()
    np.testing.assert_allclose(out.numpy(), softmax(VALUES), rtol=1e-6)


def test_a_kernel_that_faults_shows_at_synchronise(cupy, gpu):
    stream = gpu.create_stream()
    cupy.cuda.runtime.fault_in = "*"
    run_softmax(gpu, stream, VALUES)
    with pytest.raises(acl.AclError, match="cudaErrorIllegalAddress") as caught:
        stream.synchronize()
    assert caught.value.status == 507015
    assert "restart" in caught.value.hint


def test_scratch_that_cannot_be_had_shows_at_synchronise(cupy, gpu, queue):
    call = Call(gpu, "Softmax", (1, 40000))
    call.plan()
    cupy.cuda.runtime.fail_next["malloc"] = 2
    call.run(queue)
    with pytest.raises(acl.AclError) as caught:
        queue.synchronize()
    assert caught.value.status == 207001


def test_a_stream_ends_also_where_its_scratch_cannot_be_freed(cupy, gpu):
    stream = gpu.create_stream()
    call = Call(gpu, "Softmax", (1, 40000))
    call.plan()
    call.run(stream)
    stream.synchronize()
    destroyed = fake_gpu.names(cupy).count("streamDestroy")
    cupy.cuda.runtime.fail_next["free"] = 700
    with suppress(acl.AclError):
        stream.close()
    assert fake_gpu.names(cupy).count("streamDestroy") == destroyed + 1


def test_a_stream_that_ends_waits_for_its_work(cupy, gpu):
    """Its scratch memory is given back behind the kernels that write it."""
    stream = gpu.create_stream()
    call = Call(gpu, "Softmax", (1, 40000))
    call.plan()
    hold = fake_gpu.Hold(cupy, stream)
    call.run(stream)
    thread = threading.Thread(target=stream.close)
    thread.start()
    assert "streamDestroy" not in fake_gpu.names(cupy)
    hold.let_go()
    thread.join()
    call.assert_right()
    assert "streamDestroy" in fake_gpu.names(cupy)


def test_nothing_is_left_open(cupy):
    before = {kind: lib.aclpy_live_count(kind.encode()) for kind in ("memory", "stream", "event")}
    with acl.Device("cuda:0") as gpu, gpu.create_stream() as stream:
        run_softmax(gpu, stream, VALUES)
        stream.record()
    after = {kind: lib.aclpy_live_count(kind.encode()) for kind in before}
    assert after == before
    runtime = cupy.cuda.runtime
    assert fake_gpu.names(cupy).count("malloc") == fake_gpu.names(cupy).count("free")
    assert runtime.memory_bytes == runtime.memGetInfo()[0]


def test_events_are_used_again(cupy, gpu, queue):
    """However many live at once."""
    for _ in range(3):
        events = [queue.record() for _ in range(200)]
        queue.synchronize()
        del events
        gc.collect()
    # A task may hold its event a little longer than the wait for it.
    assert fake_gpu.names(cupy).count("eventCreateWithFlags") < 300


def test_managed_memory_is_refused(gpu):
    """The host would touch it, and it is the GPU's alone."""
    acl.aclrtSetDevice(gpu._number)
    with pytest.raises(acl.AclError) as caught:
        acl.aclrtMemAllocManaged(64)
    acl.aclrtResetDevice(gpu._number)
    assert caught.value.status == 207000
