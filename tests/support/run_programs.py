# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of stream_programs on the engine."""

from __future__ import annotations

import threading
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import numpy as np
import pytest

import aclnn_py as acl
from aclnn_native import ffi
from support.latch import PATIENCE_S
from support.stream_programs import BUFFERS, EX, MOST_STREAMS, PLAIN, WIDTH, Program, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NBYTES = 4 * WIDTH
D2D = acl.ACL_MEMCPY_DEVICE_TO_DEVICE


class Bench:
    """Streams and buffers for one program at a time; the thread's current device is set."""

    def __init__(self, device: acl.Device) -> None:
        self._opened = ExitStack()
        # A stream is good for host functions or for subscriptions, never for both.
        self._plain, self._serving = (
            [self._opened.enter_context(device.create_stream()) for _ in range(MOST_STREAMS)]
            for _ in range(2)
        )
        self.streams = self._plain
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
        for index, task in enumerate(program.tasks):
            if task.kind == "post":
                body = _folding(self, program.tasks[index + 1])
                stream = self.streams[task.stream]
                self._launch(body, stream, blocks=program.blocks(index))
            elif task.kind not in ("body", "resume"):
                _CALLS[task.kind](self, task, self.streams[task.stream], made)
        return made

    def _launch(self, body: Callable[[], None], stream: acl.Stream, *, blocks: bool) -> None:
        def callback(_: None) -> None:
            body()
            self._ran.append(None)  # several threads do

        self._launched += 1
        kind = acl.ACL_CALLBACK_BLOCK if blocks else acl.ACL_CALLBACK_NO_BLOCK
        acl.aclrtLaunchCallback(callback, None, kind, stream)

    def _process(
        self, host: Callable[[list[acl.Stream]], object], streams: list[acl.Stream]
    ) -> None:
        while len(self._ran) < self._launched:
            host(streams)

    def run(
        self,
        program: Program,
        first: int = 0,
        host: Callable[[list[acl.Stream]], object] | None = None,
    ) -> np.ndarray:
        """Make the program's calls, wait for the streams from `first` on, look at memory.

        Callbacks run on threads of their own. With `host` they run on this thread: `host` is called
        with the streams until all have run. Schedules are then exact.
        """
        self.reset(program)
        self._launched = 0
        self._ran: list[None] = []
        self.streams = [
            self._plain[number] if thread < 0 else self._serving[number]
            for number, thread in enumerate(program.threads)
        ]
        streams = [
            self.streams[(first + number) % program.streams] for number in range(program.streams)
        ]
        with Subscription(program, self.streams, here=host is not None):
            events = self.submit(program)
            for stream, thread in zip(self.streams, program.threads, strict=True):
                if thread >= 0:  # when its stream is done, so are the callbacks before it
                    self._launch(lambda: None, stream, blocks=True)
            if host is not None:
                self._process(host, streams)
            for stream in streams:
                stream.synchronize()
        assert len(self._ran) == self._launched
        for event in events:
            event.close()
        return np.stack(self.views)


class Subscription:
    """The program's threads for callbacks, or the calling thread in place of all of them."""

    def __init__(self, program: Program, streams: list[acl.Stream], *, here: bool) -> None:
        served = zip(streams, program.threads, strict=True)
        self._served = [(stream, thread) for stream, thread in served if thread >= 0]
        self._go = threading.Event()
        self._threads = (
            {}
            if here
            else {thread: threading.Thread(target=self._serve) for _, thread in self._served}
        )

    def _ident(self, thread: int) -> int:
        ident = self._threads[thread].ident if self._threads else threading.get_ident()
        assert ident is not None
        return ident

    def _serve(self) -> None:
        assert self._go.wait(PATIENCE_S)
        with until_unsubscribed():
            while True:
                acl.aclrtProcessReport(-1)

    def __enter__(self) -> None:
        for thread in self._threads.values():
            thread.start()
        for stream, thread in self._served:
            acl.aclrtSubscribeReport(self._ident(thread), stream)
        self._go.set()

    def __exit__(self, *_: object) -> None:
        for stream, thread in self._served:
            acl.aclrtUnSubscribeReport(self._ident(thread), stream)
        for thread in self._threads.values():
            thread.join(PATIENCE_S)
            assert not thread.is_alive()


@contextmanager
def until_unsubscribed() -> Iterator[None]:
    """The end of a thread that serves no stream any more."""
    with pytest.raises(acl.AclError) as raised:
        yield
    assert raised.value.status == 107012


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


def _folding(bench: Bench, task: Task) -> Callable[[], None]:
    target = [bench.views[buffer] for buffer in task.writes]
    sources = [bench.views[buffer] for buffer in task.reads]

    def fold() -> None:
        for written in target:  # one; none for a callback that is only waited for
            mixed = 31 * written.astype(np.int64) + task.salt
            for factor, source in enumerate(sources, 17):
                mixed += factor * source.astype(np.int64)
            written[:] = mixed % 7 - 3

    return fold


def _fold(bench: Bench, task: Task, stream: acl.Stream, _: list[acl.Event]) -> None:
    stream.launch_host_func(_folding(bench, task))


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
