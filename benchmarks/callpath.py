# SPDX-License-Identifier: Apache-2.0
"""The call path from Python, 8x32 float32: each phase, whole cycles, the peers beside.

One PyTorch eager call is what a user writes, ``torch.softmax(x, -1)``; for the gradient, which has
no public function, ``torch.ops.aten``. The other ways to write it are printed beside: ``out=``
spares PyTorch the new tensor, and the private bindings beneath a part of its dispatch.
"""

from __future__ import annotations

import gc
import statistics
import time
from typing import TYPE_CHECKING, Any

import aclnn_py as acl
from benchmarks.cells import Layout
from benchmarks.ours import Ours
from benchmarks.timing import Contestant, Timing, measure, python_burst

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.bench import Bench

__all__ = ["run"]

_SHAPE = (8, 32)
_MISSES = 200
_LOOP = 2000
_AHEAD = 64  # executors made before the clock of phase 2 starts
_EAGER = ("torch.softmax(x, -1)", "torch.ops.aten._softmax_backward_data.out")


def run(bench: Bench) -> dict[str, Any]:
    """Times of the parts, in nanoseconds, forward and backward."""
    miss, loop = _misses(bench)
    return {
        "miss": miss.record(),
        "loop_beside_miss": loop.record(),
        "softmax_forward": _operator(bench, "forward"),
        "softmax_backward": _operator(bench, "backward"),
    }


def _operator(bench: Bench, direction: str) -> dict[str, Any]:
    arena = bench.arena
    dense = Layout.dense(_SHAPE)
    first, second, out = (arena.view(slot, "float32", _SHAPE, dense) for slot in range(3))
    arena.fill(first)
    arena.fill(second)
    inputs = (first,) if direction == "forward" else (first, second)
    name = "Softmax" if direction == "forward" else "SoftmaxBackward"
    ours = Ours(arena.device, bench.stream, name, inputs, -1, out)
    plan, run_ = getattr(acl, f"aclnn{name}GetWorkspaceSize"), getattr(acl, f"aclnn{name}")
    arguments = (*(view.tensor for view in inputs), -1, out.tensor)

    def hit() -> None:
        plan(*arguments)

    def phase_two(calls: int) -> float:
        executors = [plan(*arguments)[1] for _ in range(min(calls, _AHEAD))]
        start = time.perf_counter_ns()
        for executor in executors:
            run_(None, 0, executor, bench.stream)
        took = time.perf_counter_ns() - start
        bench.stream.synchronize()
        return took / len(executors)

    calls: dict[str, Callable[[], object]] = {
        "repeatable cycle": ours.repeat(),
        "whole cycle": ours.cycle(),
        "phase 1 hit": hit,
        "synchronise (idle)": bench.stream.synchronize,
    }
    peers: dict[str, Callable[[], object]] = {}
    if not bench.torch.missing:
        peers |= bench.torch.eager_calls(direction, inputs, out)
    peers["NumPy expression"] = bench.numpy.call("softmax", direction, inputs, -1, out)
    contestants = [Contestant(key, python_burst(call)) for key, call in {**calls, **peers}.items()]
    contestants.append(Contestant("phase 2", phase_two))
    timings = measure(contestants, bench.budget_s, bench.rounds)
    ours.close()
    eager = {key: timings[key].median for key in peers if key != "NumPy expression"}
    mine = {key: timings[key].median for key in ("whole cycle", "repeatable cycle")}
    return {
        "times_ns": {key: timing.record() for key, timing in timings.items()},
        "eager": next((peer for peer in eager if peer in _EAGER), ""),
        "ratios": {
            key: {peer: took / theirs for peer, theirs in eager.items()}
            for key, took in mine.items()
        },
    }


def _misses(bench: Bench) -> tuple[Timing, Timing]:
    """Phase 1 for layouts never seen before; the first few warm the planner itself.

    Beside each a loop of Python that does nothing: it tells the processor's phase, which changes
    both by the same factor (up to 1.7 on some virtual machines).
    """
    samples, loops = [], []
    views = []
    for extra in range(_MISSES + 5):
        shape = (9, 1033 + extra)
        dense = Layout.dense(shape)
        views.append([bench.arena.view(slot, "float32", shape, dense).tensor for slot in (0, 2)])
    gc.collect()
    for source, out in views:
        start = time.perf_counter_ns()
        acl.aclnnSoftmaxGetWorkspaceSize(source, -1, out)
        samples.append(float(time.perf_counter_ns() - start))
        start = time.perf_counter_ns()
        for _ in range(_LOOP):
            pass
        loops.append(float(time.perf_counter_ns() - start))
    assert statistics.median(samples) > 0
    return Timing.of(samples[5:]), Timing.of(loops[5:])
