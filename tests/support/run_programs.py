# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of stream_programs on the engine."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np

import aclnn_py as acl
from aclnn_native import ffi
from support.stream_programs import BUFFERS, EX, MOST_STREAMS, PLAIN, WIDTH, Program, Task

NBYTES = 4 * WIDTH
D2D = acl.ACL_MEMCPY_DEVICE_TO_DEVICE


class Bench:
    """Streams and buffers for one program at a time; the thread's current device is set."""

    def __init__(self, device: acl.Device) -> None:
        self._opened = ExitStack()
        self.streams = [
            self._opened.enter_context(device.create_stream()) for _ in range(MOST_STREAMS)
        ]
        self.buffers = [device.malloc(NBYTES) for _ in range(BUFFERS)]
        self.tensors = [
            acl.aclCreateTensor(
                [1, WIDTH], acl.ACL_FLOAT, [WIDTH, 1], 0, acl.ACL_FORMAT_ND, [1, WIDTH], buffer
            )
            for buffer in self.buffers
        ]
        # The CPU device's memory is memory of the process: callbacks look at it directly.
        self.views = [
            np.frombuffer(ffi.buffer(ffi.cast("char *", buffer.ptr), NBYTES), np.float32)
            for buffer in self.buffers
        ]

    def close(self) -> None:
        self.views.clear()
        for tensor in self.tensors:
            acl.aclDestroyTensor(tensor)
        for buffer in self.buffers:
            buffer.close()
        self._opened.close()

    def reset(self, program: Program) -> None:
        for view, values in zip(self.views, program.initial, strict=True):
            view[:] = values

    def submit(self, program: Program) -> list[acl.Event]:
        """Make the program's calls; the events are to be kept until the streams are done."""
        made = [_create(kind) for kind in program.events]
        for task in program.tasks:
            _CALLS[task.kind](self, task, self.streams[task.stream], made)
        return made

    def run(self, program: Program, first: int = 0) -> np.ndarray:
        """Make the program's calls, wait for the streams from `first` on, look at memory."""
        self.reset(program)
        events = self.submit(program)
        for number in range(program.streams):
            self.streams[(first + number) % program.streams].synchronize()
        for event in events:
            event.close()
        return np.stack(self.views)


def _create(kind: str) -> acl.Event:
    if kind == PLAIN:
        return acl.aclrtCreateEvent()
    create = acl.aclrtCreateEventExWithFlag if kind == EX else acl.aclrtCreateEventWithFlag
    return create(acl.ACL_EVENT_SYNC)


def _operator(bench: Bench, task: Task, stream: acl.Stream, _: list[acl.Event]) -> None:
    gradient, output = (bench.tensors[buffer] for buffer in task.reads)
    out = bench.tensors[task.writes[0]]
    size, executor = acl.aclnnSoftmaxBackwardGetWorkspaceSize(gradient, output, 1, out)
    assert size == 0
    acl.aclnnSoftmaxBackward(None, 0, executor, stream)


def _copy(bench: Bench, task: Task, stream: acl.Stream, _: list[acl.Event]) -> None:
    source, target = bench.buffers[task.reads[0]], bench.buffers[task.writes[0]]
    acl.aclrtMemcpyAsync(target, NBYTES, source, NBYTES, D2D, stream)


def _fill(bench: Bench, task: Task, stream: acl.Stream, _: list[acl.Event]) -> None:
    acl.aclrtMemsetAsync(bench.buffers[task.writes[0]], NBYTES, 0, NBYTES, stream)


def _fold(bench: Bench, task: Task, stream: acl.Stream, _: list[acl.Event]) -> None:
    target = bench.views[task.writes[0]]
    sources = [bench.views[buffer] for buffer in task.reads]

    def fold() -> None:
        mixed = 31 * target.astype(np.int64) + task.salt
        for factor, source in enumerate(sources, 17):
            mixed += factor * source.astype(np.int64)
        target[:] = mixed % 7 - 3

    stream.launch_host_func(fold)


def _record(_: Bench, task: Task, stream: acl.Stream, made: list[acl.Event]) -> None:
    acl.aclrtRecordEvent(made[task.event], stream)


def _wait(_: Bench, task: Task, stream: acl.Stream, made: list[acl.Event]) -> None:
    acl.aclrtStreamWaitEvent(stream, made[task.event])


_CALLS = {
    "operator": _operator,
    "copy": _copy,
    "fill": _fill,
    "fold": _fold,
    "record": _record,
    "wait": _wait,
}
