# SPDX-License-Identifier: Apache-2.0
"""GPU memory shared by DLPack and ``__cuda_array_interface__``, over a CuPy without a GPU.

The fake writes and reads real capsules; its device memory faults where the host touches it.
"""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
import threading

import ml_dtypes
import numpy as np
import pytest

import aclnn_py as acl
from aclnn_runtime import cuda_device
from support import cuda_twin, fake_gpu
from support.cases import shown
from support.sources import ROOT

pytestmark = pytest.mark.skipif(cuda_twin.compiler() is None, reason="no C++ compiler")

VALUES = np.arange(24, dtype=np.float32).reshape(4, 6)


def softmax(source, out, queue):
    size, executor = acl.aclnnSoftmaxGetWorkspaceSize(source, -1, out)
    workspace = acl.Device("cuda:0").malloc(size) if size else None
    acl.aclnnSoftmax(workspace, size, executor, queue)


def name_of(capsule):
    get = ctypes.pythonapi.PyCapsule_GetName
    get.restype, get.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return get(capsule)


def is_freed(cupy, address):
    return ("free", address) in cupy.cuda.runtime.calls


# ---- out ----------------------------------------------------------------------------------------


def test_the_device_is_cuda_and_its_number(cupy, gpu):
    assert gpu.tensor(VALUES).__dlpack_device__() == (2, 0)
    with acl.Device("cuda:1") as second:
        tensor = second.tensor(VALUES)
        assert tensor.__dlpack_device__() == (2, 1)
        array = cupy.from_dlpack(tensor)
        assert array.device.id == 1
        np.testing.assert_array_equal(array.get(), VALUES)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({}, b"dltensor"),
        ({"max_version": None}, b"dltensor"),
        ({"max_version": (0, 8)}, b"dltensor"),
        ({"max_version": (1, 0)}, b"dltensor_versioned"),
        ({"max_version": (1, 1), "stream": 1, "dl_device": (2, 0)}, b"dltensor_versioned"),
    ],
)
def test_the_consumer_chooses_the_version(gpu, options, name):
    assert name_of(gpu.tensor(VALUES).__dlpack__(**options)) == name


@pytest.mark.parametrize(
    "dtype", [np.float32, np.float16, np.float64, np.int8, np.uint8, np.int64, np.bool_]
)
def test_elements_and_views_come_across(cupy, gpu, dtype):
    values = (np.arange(60) % 2).reshape(3, 4, 5).astype(dtype)
    tensor = gpu.tensor(values)
    part = tensor.view((2, 2), (20, 2), 3)
    for one, want in (
        (tensor, values),
        (tensor.transpose(), values.transpose()),
        (part, np.lib.stride_tricks.as_strided(values.reshape(-1)[3:], (2, 2),
                                               (20 * values.itemsize, 2 * values.itemsize))),
        (gpu.empty((0, 3), dtype), np.empty((0, 3), dtype)),
    ):  # fmt: skip
        for array in (cupy.from_dlpack(one), cupy.asarray(one)):
            assert array.dtype == dtype
            np.testing.assert_array_equal(array.get(), want)


def test_bfloat16_says_so(cupy, gpu):
    values = VALUES.astype(ml_dtypes.bfloat16)
    tensor = gpu.tensor(values)
    assert name_of(tensor.__dlpack__(max_version=(1, 0))) == b"dltensor"
    array = cupy.from_dlpack(tensor)
    assert array.dtype == ml_dtypes.bfloat16
    assert array.get().tobytes() == values.tobytes()


def test_a_copy_on_the_host(gpu):
    tensor = gpu.tensor(VALUES)

    class Asked:
        def __dlpack_device__(self):
            return 1, 0

        def __dlpack__(self, **options):
            return tensor.__dlpack__(**options | {"dl_device": (1, 0), "stream": None})

    np.testing.assert_array_equal(np.from_dlpack(Asked()), VALUES)
    with pytest.raises(BufferError, match="by a copy only"):
        tensor.__dlpack__(dl_device=(1, 0), copy=False)


@pytest.mark.parametrize("device", [(2, 1), (10, 0), (1, 1)])
def test_other_devices_are_refused(gpu, device):
    with pytest.raises(BufferError, match="lies on cuda:0"):
        gpu.tensor(VALUES).__dlpack__(dl_device=device)


@pytest.mark.parametrize("stream", [0, -2, True, 1.0, "1", object()], ids=shown)
def test_what_is_no_stream_is_refused(gpu, stream):
    with pytest.raises(acl.AclError, match="no stream of CUDA's") as caught:
        gpu.tensor(VALUES).__dlpack__(stream=stream)
    assert caught.value.status == 100000
    assert caught.value.hint


def test_unknown_options_are_refused(gpu):
    with pytest.raises(TypeError, match="unexpected keyword"):
        gpu.tensor(VALUES).__dlpack__(sideways=True)


@pytest.mark.parametrize("way", ["dlpack", "interface"])
def test_queued_work_is_waited_for(cupy, gpu, queue, way):
    x, out = gpu.tensor(VALUES), gpu.full(VALUES.shape, 9)
    hold = fake_gpu.Hold(cupy, queue)
    softmax(x, out, queue)
    got = []

    def take():
        got.append(out.__dlpack__() if way == "dlpack" else out.__cuda_array_interface__)

    thread = threading.Thread(target=take)
    thread.start()
    assert not got  # it cannot have come back: the stream stands still
    assert not queue.query()
    hold.let_go()
    thread.join()
    queue.synchronize()  # the memory is ready a moment before its stream says so
    assert got
    if way == "interface":
        assert (got[0]["stream"], got[0]["version"]) == (None, 3)


def test_a_consumer_that_asks_for_no_order_does_not_wait(cupy, gpu, queue):
    x, out = gpu.tensor(VALUES), gpu.full(VALUES.shape, 9)
    hold = fake_gpu.Hold(cupy, queue)
    softmax(x, out, queue)
    assert name_of(out.__dlpack__(stream=-1)) == b"dltensor"
    assert not queue.query()
    hold.let_go()
    queue.synchronize()


def test_a_failure_of_queued_work_shows_at_the_crossing(cupy, gpu, queue):
    x, out = gpu.tensor(VALUES), gpu.full(VALUES.shape, 9)
    cupy.cuda.runtime.fail_next["launchKernel"] = 719
    softmax(x, out, queue)
    with pytest.raises(acl.AclError):
        out.__dlpack__()
    with pytest.raises(acl.AclError):
        queue.synchronize()


@pytest.mark.parametrize("way", ["dlpack", "interface"])
def test_memory_lives_as_long_as_somebody_uses_it(cupy, gpu, way):
    tensor = gpu.tensor(VALUES)
    address = tensor.data_ptr
    array = cupy.from_dlpack(tensor) if way == "dlpack" else cupy.asarray(tensor)
    if way == "dlpack":
        tensor._buffer.close()
        tensor.close()
    del tensor
    gc.collect()
    assert not is_freed(cupy, address)
    np.testing.assert_array_equal(array.get(), VALUES)
    del array
    gc.collect()
    assert is_freed(cupy, address)


def test_freed_memory_is_not_shared(gpu):
    tensor = gpu.tensor(VALUES)
    tensor._buffer.close()
    with pytest.raises(acl.AclError) as caught:
        tensor.__dlpack__()
    assert caught.value.status == 107000


# ---- in -----------------------------------------------------------------------------------------


def test_arrays_come_in_without_a_copy(cupy, gpu, queue):
    given = cupy.asarray(VALUES)
    for view, want in ((given, VALUES), (given[::-1, ::2], VALUES[::-1, ::2]), (given.T, VALUES.T)):
        tensor = gpu.from_dlpack(view)
        assert tensor.data_ptr == given.data.ptr
        np.testing.assert_array_equal(tensor.numpy(), want)
        out = gpu.empty(want.shape)
        softmax(tensor, out, queue)
        queue.synchronize()
        e = np.exp(want - want.max(1, keepdims=True))
        np.testing.assert_allclose(out.numpy(), e / e.sum(1, keepdims=True), rtol=1e-5)


class Plain:
    """An array with one protocol only."""

    def __init__(self, array, *, stream=None):
        self.array = array
        self.interface = {**array.__cuda_array_interface__, "stream": stream}

    @property
    def __cuda_array_interface__(self):
        return self.interface


def test_the_interface_names_the_stream_to_wait_for(cupy, gpu):
    theirs = cupy.cuda.Stream(non_blocking=True)
    given = cupy.zeros((3, 4), cupy.float32)
    cupy.cuda.get_current_stream().synchronize()
    hold = fake_gpu.Hold(cupy, theirs)
    with theirs:
        given += 5
    got = []
    array = Plain(given, stream=theirs.ptr)
    thread = threading.Thread(target=lambda: got.append(gpu.from_dlpack(array)))
    thread.start()
    assert not got
    hold.let_go()
    thread.join()
    np.testing.assert_array_equal(got[0].numpy(), np.full((3, 4), 5))


def test_an_array_lives_as_long_as_its_tensor_and_queued_work(cupy, gpu, queue):
    given = cupy.asarray(VALUES)
    address = given.data.ptr
    tensor, out = gpu.from_dlpack(given), gpu.empty(VALUES.shape)
    del given
    hold = fake_gpu.Hold(cupy, queue)
    softmax(tensor, out, queue)
    del tensor
    gc.collect()
    assert not is_freed(cupy, address)
    hold.let_go()
    queue.synchronize()
    gc.collect()
    assert is_freed(cupy, address)


@pytest.mark.parametrize("first", [0, 1])
def test_two_tensors_of_one_array(cupy, gpu, queue, first):
    """Either may go before the other."""
    given = cupy.asarray(VALUES)
    address = given.data.ptr
    tensors = [gpu.from_dlpack(given), gpu.from_dlpack(given)]
    del given
    tensors.pop(first)
    gc.collect()
    assert not is_freed(cupy, address)
    (left,), out = tensors, gpu.empty(VALUES.shape)
    softmax(left, out, queue)
    queue.synchronize()
    np.testing.assert_array_equal(left.numpy(), VALUES)
    tensors.clear()
    del left
    gc.collect()
    queue.synchronize()
    assert is_freed(cupy, address)


def test_our_own_memory_comes_back(cupy, gpu, queue):
    tensor = gpu.tensor(VALUES)
    array = cupy.from_dlpack(tensor)
    again, out = gpu.from_dlpack(array), gpu.empty(VALUES.shape)
    address = tensor.data_ptr
    assert again.data_ptr == address
    del again
    gc.collect()
    assert not is_freed(cupy, address)  # it was not lent, so nothing goes back
    again = gpu.from_dlpack(array)
    del tensor, array
    gc.collect()
    softmax(again, out, queue)
    queue.synchronize()
    assert not is_freed(cupy, address)
    np.testing.assert_array_equal(again.numpy(), VALUES)


def test_arrays_elsewhere_are_refused(cupy, gpu):
    with cupy.cuda.Device(1):
        other = cupy.asarray(VALUES)
    for wrong in (other, VALUES, object(), None, [1, 2]):
        with pytest.raises(acl.AclError, match="cannot be shared") as caught:
            gpu.from_dlpack(wrong)
        assert caught.value.status == 107000
        assert caught.value.hint


def test_emulated_devices_share_by_copies_only(device, gpu, cupy):
    with pytest.raises(acl.AclError) as caught:
        device.from_dlpack(cupy.asarray(VALUES))
    assert caught.value.status == 207000
    np.testing.assert_array_equal(device.tensor(cupy.asarray(VALUES)).numpy(), VALUES)
    assert not hasattr(device.tensor(VALUES), "__cuda_array_interface__")


def test_the_sample_of_streams():
    """Events between two streams, then CuPy and this library in turn in one of CuPy's."""
    sample = ROOT / "samples" / "python" / "gpu_streams.py"
    paths = [str(fake_gpu.FAKE), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, str(sample)],
        capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)),
             "FAKE_CUPY_TWIN": str(cuda_twin.library())},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "gradient on Device('cuda:0')" in done.stdout
    assert "shared with CuPy" in done.stdout


def test_dlpack_is_asked_before_the_array_interface(cupy, gpu):
    """PyTorch's interface names no stream, and calls bfloat16 two bytes of something."""

    class Both:
        __cuda_array_interface__: object = {"typestr": "<V2", "shape": (4, 6), "version": 2}

        def __init__(self, array):
            self._array = array

        def __dlpack_device__(self):
            return self._array.__dlpack_device__()

        def __dlpack__(self, **options):
            return self._array.__dlpack__(**options)

    given = gpu.tensor(VALUES)
    assert gpu.from_dlpack(Both(given)).data_ptr == given.data_ptr
    np.testing.assert_array_equal(gpu.tensor(Both(given)).numpy(), VALUES)


def test_a_dtype_that_nobody_knows_is_refused(cupy, gpu):
    class Odd:
        __cuda_array_interface__: object = {
            "typestr": "<V2",
            "shape": (2,),
            "strides": None,
            "data": (gpu.tensor(VALUES).data_ptr, False),
            "version": 2,
        }

    with pytest.raises(acl.AclError) as caught:
        gpu.from_dlpack(Odd())
    assert caught.value.status == 107000


def test_a_refused_loan_leaves_the_one_before(cupy, gpu):
    """A larger view at the same address: the engine knows the smaller one, with its owner."""
    given = cupy.asarray(np.ones((4, 8), np.float32))
    first = gpu.from_dlpack(given[:2])
    owner = cuda_device._lent[first.data_ptr]
    with pytest.raises(acl.AclError) as caught:
        gpu.from_dlpack(given)
    assert caught.value.status == 107000
    assert cuda_device._lent[first.data_ptr] is owner
