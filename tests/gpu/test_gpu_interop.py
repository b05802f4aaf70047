# SPDX-License-Identifier: Apache-2.0
"""Memory and streams shared with CuPy, PyTorch and NumPy on a GPU."""

from __future__ import annotations

import numpy as np
import pytest

import aclnn_py as acl
from support import oracle

SHAPE = (300, 700)


@pytest.fixture(scope="session")
def torch():
    found = pytest.importorskip("torch")
    if not found.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA device")
    return found


@pytest.fixture
def x():
    return np.random.default_rng(3).standard_normal(SHAPE).astype(np.float32)


def softmax(stream, source, out):
    _, executor = acl.aclnnSoftmaxGetWorkspaceSize(source, -1, out)
    acl.aclnnSoftmax(None, 0, executor, stream)


def assert_softmax(x, got):
    assert oracle.worst("Softmax", np.asarray(got), oracle.answer("Softmax", [x], -1)) <= 1


def test_numpy_in_and_out(device, stream, x):
    tensor, out = device.tensor(x), device.empty(SHAPE, "float32")
    softmax(stream, tensor, out)
    stream.synchronize()
    assert_softmax(x, out.numpy())


def test_cupy_arrays_by_both_protocols(device, stream, cupy, x):
    """One memory under both libraries' arrays; what is queued is waited for at the crossing."""
    given = cupy.asarray(x)
    tensor, out = device.from_dlpack(given), device.empty(SHAPE, "float32")
    assert tensor.data_ptr == given.data.ptr
    softmax(stream, tensor, out)
    by_interface, by_dlpack = cupy.asarray(out), cupy.from_dlpack(out)
    assert by_interface.data.ptr == by_dlpack.data.ptr == out.data_ptr
    assert_softmax(x, by_interface.get())
    assert_softmax(x, by_dlpack.get())


def test_the_interface_names_no_stream_once_it_has_waited(device, stream, x):
    out = device.empty(SHAPE, "float32")
    tensor = device.tensor(x)
    softmax(stream, tensor, out)
    interface = out.__cuda_array_interface__
    assert stream.query()
    assert interface["version"] == 3
    assert interface["stream"] is None
    assert interface["shape"] == SHAPE
    assert interface["typestr"] == "<f4"


def test_work_queued_by_cupy_is_waited_for(device, stream, cupy):
    given = cupy.zeros((2000, 1000), cupy.float32)
    with cupy.cuda.Stream(non_blocking=True) as queue:
        for _ in range(50):
            given += 1
        given[:, 0] += 1
        tensor = device.from_dlpack(given)
    out = device.empty(given.shape, "float32")
    softmax(stream, tensor, out)
    stream.synchronize()
    queue.synchronize()
    want = np.full(given.shape, 50, np.float32)
    want[:, 0] = 51
    assert_softmax(want, out.numpy())


def test_strided_cupy_views(device, stream, cupy, x):
    given = cupy.asarray(x)
    for view, host in ((given.T, x.T), (given[::2, ::-3], x[::2, ::-3])):
        tensor, out = device.from_dlpack(view), device.empty(view.shape, "float32")
        size, executor = acl.aclnnSoftmaxGetWorkspaceSize(tensor, 0, out)
        workspace = device.malloc(size) if size else None
        acl.aclnnSoftmax(workspace, size, executor, stream)
        stream.synchronize()
        want = oracle.answer("Softmax", [np.ascontiguousarray(host)], 0)
        assert oracle.worst("Softmax", out.numpy(), want) <= 1


def test_torch_tensors(device, stream, torch, x):
    given = torch.from_numpy(x).cuda()
    tensor, out = device.from_dlpack(given), device.empty(SHAPE, "float32")
    softmax(stream, tensor, out)
    got = torch.from_dlpack(out)
    assert got.data_ptr() == out.data_ptr
    assert_softmax(x, got.cpu().numpy())
    torch.testing.assert_close(got, torch.softmax(given, -1), rtol=1e-5, atol=1e-7)


def test_bfloat16_of_torch(device, stream, torch, x):
    given = torch.from_numpy(x).cuda().bfloat16()
    tensor, out = device.from_dlpack(given), device.empty(SHAPE, "bfloat16")
    softmax(stream, tensor, out)
    got = torch.from_dlpack(out)
    assert got.dtype == torch.bfloat16
    torch.testing.assert_close(got, torch.softmax(given, -1), rtol=2e-2, atol=1e-6)


def test_an_external_cupy_stream(device, cupy, x):
    """Both libraries queue into one stream: nothing but its order holds them apart."""
    theirs = cupy.cuda.Stream(non_blocking=True)
    with theirs:
        given = cupy.asarray(x)
    tensor, out = device.from_dlpack(given), device.empty(SHAPE, "float32")
    shared = cupy.asarray(out)
    with acl.Stream.from_external(theirs, device) as stream, theirs:
        given += 1
        given *= 2
        softmax(stream, tensor, out)
        shared *= 3
        theirs.synchronize()
        assert_softmax((x + 1) * 2, shared.get() / 3)


def test_our_stream_in_cupy(device, stream, cupy, x):
    version, pointer = stream.__cuda_stream__()
    assert version == 0
    assert pointer
    tensor, out = device.tensor(x), device.empty(SHAPE, "float32")
    shared = cupy.asarray(out)
    with cupy.cuda.Stream.from_external(stream):
        softmax(stream, tensor, out)
        shared *= 2
    stream.synchronize()
    assert_softmax(x, out.numpy() / 2)


def test_an_external_torch_stream(device, torch, x):
    theirs = torch.cuda.Stream()
    given = torch.from_numpy(x).cuda()
    tensor, out = device.from_dlpack(given), device.empty(SHAPE, "float32")
    shared = torch.from_dlpack(out)
    with acl.Stream.from_external(theirs, device) as stream, torch.cuda.stream(theirs):
        given.add_(1)
        softmax(stream, tensor, out)
        shared.mul_(2)
        theirs.synchronize()
    assert_softmax(x + 1, shared.cpu().numpy() / 2)
