# SPDX-License-Identifier: Apache-2.0
"""Streams: cost and memory of a queued task, handing over, overlap, many streams."""

from __future__ import annotations

import ctypes
import statistics
from typing import TYPE_CHECKING, Any

import numpy as np

import aclnn_py as acl
from aclnn_native import lib
from benchmarks.build import compile_shared
from benchmarks.cells import Layout
from benchmarks.ours import Ours
from benchmarks.timing import Contestant, Timing, measure, python_burst

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.bench import Bench

__all__ = ["run"]

_SMALL = (8, 32)
_MIDDLE = (128, 1024)
_OUTPUTS = 8
_STEP = 4096 + 64  # outputs at different places of their pages
_STREAM_COUNTS = (1, 2, 8, 64)


class _EnqueueResult(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_int64)
        for name in (
            "total_ns",
            "worst_ns",
            "over_10us",
            "heap_queued",
            "rss_queued",
            "heap_after",
            "rss_after",
            "drain_ns",
        )
    )


def run(bench: Bench) -> dict[str, Any]:
    """All stream figures."""
    library = compile_shared("stream_loop", bench.folder, engine=True)
    library.bench_spread.restype = ctypes.c_int64
    count = 100_000 if bench.quick else 1_000_000
    return {
        "enqueue_one": _enqueue(bench, library, 1, count),
        "enqueue_many": _enqueue(bench, library, 8, count),
        "enqueue_empty_task": _enqueue(bench, library, 1, count, tasks=False),
        "handover": _handover(bench, library, 200 if bench.quick else 1000),
        "overlap": _overlap(bench),
        "spread": _spread(bench, library),
    }


class _Set:
    """n streams, and repeatable executors that are dealt to them in turn, each with its output."""

    def __init__(self, bench: Bench, shape: tuple[int, ...], n: int, executors: int) -> None:
        dense = Layout.dense(shape)
        source = bench.arena.view(0, "float32", shape, dense)
        bench.arena.fill(source)
        self.streams = [bench.device.create_stream() for _ in range(n)]
        step = -(-source.span_bytes // _STEP) * _STEP
        outs = [bench.arena.view(2, "float32", shape, dense, k * step) for k in range(executors)]
        self.ours = [
            Ours(bench.device, self.streams[k % n], "Softmax", (source,), -1, out)
            for k, out in enumerate(outs)
        ]
        self.op = lib.aclpy_operator_id(b"aclnnSoftmax")
        self.context = bench.device._ctx  # noqa: SLF001  # no public name
        self.executor_handles = _handles([one.executor.handle for one in self.ours])
        self.stream_handles = _handles([stream.handle for stream in self.streams])

    def close(self) -> None:
        for one in self.ours:
            one.close()
        for stream in self.streams:
            stream.close()


def _enqueue(
    bench: Bench, library: Any, n: int, count: int, *, tasks: bool = True
) -> dict[str, Any]:
    group = _Set(bench, _SMALL, n, n)
    result = _EnqueueResult()
    try:
        # Once small, so that what is kept for reuse is there before the count begins.
        for each in (1000, count):
            status = library.bench_enqueue(
                ctypes.c_uint32(group.op if tasks else 0),
                ctypes.c_size_t(0),
                ctypes.c_uint64(0),
                group.executor_handles,
                ctypes.c_uint64(group.context),
                group.stream_handles,
                ctypes.c_int32(n),
                ctypes.c_int64(each),
                ctypes.byref(result),
            )
            if status:
                raise RuntimeError(f"enqueueing failed with status {status}")
    finally:
        group.close()
    return {
        "streams": n,
        "tasks": count,
        "ns_per_task": result.total_ns / count,
        "worst_ns": result.worst_ns,
        "over_10us": result.over_10us,
        "heap_bytes_per_task": result.heap_queued / count,
        "resident_bytes_per_task": result.rss_queued / count,
        "heap_bytes_left": result.heap_after,
        "resident_bytes_left": result.rss_after,
        "drain_ns_per_task": result.drain_ns / count,
    }


def _handover(bench: Bench, library: Any, count: int) -> dict[str, float]:
    took = (ctypes.c_int64 * count)()
    with bench.device.create_stream() as a, bench.device.create_stream() as b:
        event = bench.device.create_event()
        status = library.bench_handover(
            ctypes.c_uint64(bench.device._ctx),  # noqa: SLF001  # no public name
            ctypes.c_uint64(a.handle),
            ctypes.c_uint64(b.handle),
            ctypes.c_uint64(event.handle),
            ctypes.c_int32(count),
            took,
        )
        event.close()
    if status:
        raise RuntimeError(f"the handover failed with status {status}")
    samples = sorted(float(each) for each in took)
    return {**Timing.of(samples).record(), "p99": samples[int(count * 0.99)]}


def _overlap(bench: Bench) -> dict[str, float]:
    """A copy in one stream beside one-thread kernels in another: 1 is all of the shorter hidden."""
    elements = min(bench.arena.slot_bytes // 4, 1 << 22)
    source = np.ones(elements, np.float32)
    acl.aclrtSetDevice(0)
    host = acl.aclrtMallocHost(source.nbytes)
    target = bench.arena.address(1)
    bench.set_threads(1)
    group = _Set(bench, _MIDDLE, 1, 1)
    kernel_stream = group.streams[0]
    mine = group.ours[0]
    acl_run, executor = acl.aclnnSoftmax, mine.executor

    def kernels() -> None:
        for _ in range(40):
            acl_run(None, 0, executor, kernel_stream)

    def copies() -> None:
        for _ in range(2):
            acl.aclrtMemcpyAsync(
                target,
                source.nbytes,
                host,
                source.nbytes,
                acl.ACL_MEMCPY_HOST_TO_DEVICE,
                bench.stream,
            )

    ways: dict[str, Callable[[], object]] = {
        "kernel_ns": lambda: (kernels(), kernel_stream.synchronize()),
        "copy_ns": lambda: (copies(), bench.stream.synchronize()),
        "together_ns": lambda: (
            copies(),
            kernels(),
            kernel_stream.synchronize(),
            bench.stream.synchronize(),
        ),
    }
    try:
        contestants = [Contestant(name, python_burst(call)) for name, call in ways.items()]
        timings = measure(contestants, 2 * bench.budget_s, bench.rounds)
    finally:
        group.close()
        acl.aclrtFreeHost(host)
        acl.aclrtResetDevice(0)
        bench.set_threads(bench.threads)
    took = {name: timing.median for name, timing in timings.items()}
    alone = (took["kernel_ns"], took["copy_ns"])
    return {**took, "hidden": (sum(alone) - took["together_ns"]) / min(alone)}


def _spread(bench: Bench, library: Any) -> dict[str, Any]:
    """The same work dealt to more and more streams.

    Tasks that follow each other run at once on two streams, so their outputs differ; all of them
    together stay in the caches, so that what a stream costs is not hidden by memory.
    """
    count = 512
    took: dict[str, float] = {}
    for shape in (_SMALL, _MIDDLE):
        for n in _STREAM_COUNTS:
            group = _Set(bench, shape, n, _OUTPUTS)
            samples = [_spread_once(library, group, n, count) for _ in range(7)]
            group.close()
            took[f"{shape[0]}x{shape[1]}, {n} streams"] = statistics.median(samples[2:])
    slowest = {}
    for shape in (_SMALL, _MIDDLE):
        label = f"{shape[0]}x{shape[1]}"
        alone = took[f"{label}, 1 streams"]
        slowest[label] = max(took[f"{label}, {n} streams"] for n in _STREAM_COUNTS) / alone
    return {"ns_per_task": took, "slowest_over_one_stream": slowest}


def _spread_once(library: Any, group: _Set, n: int, count: int) -> float:
    took = library.bench_spread(
        ctypes.c_uint32(group.op),
        ctypes.c_size_t(0),
        ctypes.c_uint64(0),
        group.executor_handles,
        ctypes.c_uint64(group.context),
        group.stream_handles,
        ctypes.c_int32(len(group.ours)),
        ctypes.c_int32(n),
        ctypes.c_int64(count),
    )
    if took < 0:
        raise RuntimeError(f"spreading failed with status {-took}")
    return took / count


def _handles(numbers: list[int]) -> Any:
    return (ctypes.c_uint64 * len(numbers))(*numbers)
