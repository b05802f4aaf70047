# SPDX-License-Identifier: Apache-2.0
"""Captured graphs: nothing runs while capturing, replays run all of it in order."""

from __future__ import annotations

import gc
import json

import numpy as np
import pytest

import aclnn_py as acl
from aclnn_native import lib
from support.latch import Latch

pytestmark = pytest.mark.usefixtures("current_device")


def softmax(device, stream, x, out, dim=-1):
    size, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, dim, out)
    workspace = device.malloc(size) if size else None
    acl.aclnnSoftmax(workspace, size, executor, stream)


def expected(values):
    e = np.exp(values - values.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def test_an_operator_is_captured_and_replayed_on_new_data(device, stream):
    values = np.random.default_rng(1).normal(size=(4, 33)).astype(np.float32)
    x, out = device.tensor(values), device.zeros(values.shape, "float32")
    with stream.capture() as captured:
        softmax(device, stream, x, out)
        softmax(device, stream, out, out)
    graph = captured.graph
    assert [task.name for task in graph.tasks] == ["aclnnSoftmax", "aclnnSoftmax"]
    stream.synchronize()
    assert not out.numpy().any()
    for factor in (1.0, 2.0, 0.5):
        now = (values * np.float32(factor)).astype(np.float32)
        acl.aclrtMemcpy(x.data_ptr, now.nbytes, now, now.nbytes, 1)
        graph.replay(stream)
        stream.synchronize()
        np.testing.assert_allclose(out.numpy(), expected(expected(now)), rtol=1e-5, atol=1e-7)
    graph.close()


def test_numpy_waits_for_replays(device, stream):
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    x, out = device.tensor(values), device.zeros(values.shape, "float32")
    with stream.capture() as captured:
        softmax(device, stream, x, out)
    with Latch(stream):
        captured.graph.replay(stream)
    np.testing.assert_allclose(out.numpy(), expected(values), rtol=1e-5)


def test_a_side_stream_joins_and_comes_back(device, stream, second):
    seen = []
    out, back = (acl.aclrtCreateEventExWithFlag(acl.ACL_EVENT_SYNC) for _ in range(2))
    with stream.capture() as captured:
        stream.launch_host_func(lambda: seen.append("before"))
        acl.aclrtRecordEvent(out, stream)
        acl.aclrtStreamWaitEvent(second, out)
        second.launch_host_func(lambda: seen.append("side"))
        acl.aclrtRecordEvent(back, second)
        acl.aclrtStreamWaitEvent(stream, back)
        stream.launch_host_func(lambda: seen.append("after"))
    assert [task.kind for task in captured.graph.tasks] == [
        "run",
        "record",
        "wait",
        "run",
        "wait",
        "run",
        "record",
    ]
    for _ in range(3):
        captured.graph.replay(stream)
    stream.synchronize()
    assert seen == ["before", "side", "after"] * 3


def test_the_exception_of_a_captured_function_is_carried(stream):
    def fail():
        raise KeyError("inside")

    with stream.capture() as captured:
        stream.launch_host_func(fail)
    for _ in range(2):
        captured.graph.replay(stream)
        with pytest.raises(acl.AclError) as raised:
            stream.synchronize()
        assert raised.value.status == 507000
        assert isinstance(raised.value.__cause__, KeyError)


def test_the_exception_of_the_block_ends_the_capture(stream):
    with pytest.raises(ZeroDivisionError), stream.capture():
        raise ZeroDivisionError
    stream.synchronize()  # not captured any more


def test_a_task_group_is_updated(device, stream, second):
    values = np.random.default_rng(2).normal(size=(2, 8)).astype(np.float32)
    x, out = device.tensor(values), device.zeros((2, 8), "float32")
    other = device.zeros((2, 8), "float32")
    acl.aclmdlRICaptureBegin(stream, 2)
    acl.aclmdlRICaptureTaskGrpBegin(stream)
    softmax(device, stream, x, out)
    group = acl.aclmdlRICaptureTaskGrpEnd(stream)
    graph = acl.aclmdlRICaptureEnd(stream)
    acl.aclmdlRICaptureTaskUpdateBegin(second, group)
    softmax(device, second, x, other)
    acl.aclmdlRICaptureTaskUpdateEnd(second)
    second.synchronize()
    graph.replay(stream)
    stream.synchronize()
    assert not out.numpy().any()
    np.testing.assert_allclose(other.numpy(), expected(values), rtol=1e-5)
    acl.aclmdlRICaptureTaskUpdateBegin(second, group)
    softmax(device, second, x, other)
    softmax(device, second, x, other)
    with pytest.raises(acl.AclError) as raised:
        acl.aclmdlRICaptureTaskUpdateEnd(second)
    assert raised.value.status == 107040


@pytest.mark.parametrize("end", ["aclrtDestroyStream", "aclrtDestroyStreamForce"])
def test_an_update_that_was_begun_ends_with_its_stream(device, stream, end):
    """Else it would keep the graph, and that its streams and memory."""
    acl.aclrtSetDevice(0)
    memory = acl.aclrtMalloc(64)
    acl.aclmdlRICaptureBegin(stream, 2)
    acl.aclmdlRICaptureTaskGrpBegin(stream)
    acl.aclrtMemsetAsync(memory, 64, 1, 64, stream)
    group = acl.aclmdlRICaptureTaskGrpEnd(stream)
    graph = acl.aclmdlRICaptureEnd(stream)
    gc.collect()  # graphs that tests before have left in cycles
    graphs = lib.aclpy_live_count(b"graph")
    updating = acl.aclrtCreateStream()
    acl.aclmdlRICaptureTaskUpdateBegin(updating, group)
    acl.aclrtMemsetAsync(memory, 64, 2, 64, updating)
    getattr(acl, end)(updating)
    group.close()
    acl.aclmdlRIDestroy(graph)
    assert lib.aclpy_live_count(b"graph") == graphs - 1
    acl.aclrtFree(memory)
    acl.aclrtResetDevice(0)


def test_streams_that_are_gone_are_not_listed(device, stream):
    acl.aclrtSetDevice(0)
    other, event = acl.aclrtCreateStream(), acl.aclrtCreateEventExWithFlag(1)
    acl.aclmdlRICaptureBegin(other, 2)
    acl.aclrtRecordEvent(event, other)
    acl.aclrtStreamWaitEvent(stream, event)
    acl.aclrtLaunchHostFunc(stream, print, None)
    acl.aclrtRecordEvent(event, stream)
    acl.aclrtStreamWaitEvent(other, event)
    graph = acl.aclmdlRICaptureEnd(other)
    assert acl.aclmdlRIGetStreams(graph) == [other, stream]
    acl.aclrtDestroyStream(other)
    assert acl.aclmdlRIGetStreams(graph) == [stream]
    acl.aclmdlRIDestroy(graph)
    acl.aclrtDestroyEvent(event)
    acl.aclrtResetDevice(0)


def test_freed_memory_lives_as_long_as_the_graph(device, stream):
    values = np.ones((4, 4), np.float32)
    x, out = device.tensor(values), device.zeros((4, 4), "float32")
    with stream.capture() as captured:
        softmax(device, stream, x, out)
    del x
    captured.graph.replay(stream)
    stream.synchronize()
    np.testing.assert_allclose(out.numpy(), 0.25)


def test_107037_while_it_runs(stream):
    with stream.capture() as captured:
        stream.launch_host_func(lambda: None)
    with Latch(stream):
        captured.graph.replay(stream)
        with pytest.raises(acl.AclError) as raised:
            captured.graph.close()
        assert raised.value.status == 107037
    stream.synchronize()
    captured.graph.close()


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        *[("stream", lambda graph, wrong=wrong: graph.replay(wrong)) for wrong in (None, 3, "x")],
        *[
            ("path", lambda graph, wrong=wrong: graph.print_json(wrong))
            for wrong in (None, 3, "\ud800", "x\0y", b"x\0y")
        ],
        *[
            ("text", lambda graph, wrong=wrong: setattr(graph, "name", wrong))
            for wrong in (None, 3, "\ud800", "a\0b")
        ],
    ],
)
def test_wrong_arguments_of_a_graph_are_named(stream, argument, call):
    with stream.capture() as captured:
        stream.launch_host_func(lambda: None)
    captured.graph.name = "before"
    with pytest.raises(acl.AclError) as raised:
        call(captured.graph)
    assert (raised.value.status, raised.value.argument) == (100000, argument)
    assert captured.graph.name == "before"


def test_a_description_is_json(stream, tmp_path):
    with stream.capture() as captured:
        stream.launch_host_func(lambda: None)
    captured.graph.name = 'the "graph"'
    path = tmp_path / "graph.json"
    acl.aclmdlRIDebugJsonPrint(captured.graph, path, 1)
    described = json.loads(path.read_text(encoding="utf-8"))
    captured.graph.print_json(bytes(path), 1)
    assert described == json.loads(path.read_text(encoding="utf-8"))
    assert described["streams"] == 1
    assert [task["name"] for task in described["tasks"]] == ["aclrtLaunchHostFunc"]
    with pytest.raises(acl.AclError) as raised:
        acl.aclmdlRIDebugJsonPrint(captured.graph, tmp_path / "no" / "folder.json", 0)
    assert raised.value.status == 107009
