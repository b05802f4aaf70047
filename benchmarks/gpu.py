# SPDX-License-Identifier: Apache-2.0
"""Runs the GPU's benchmarks: ``python -m benchmarks.gpu [--quick]``; skips where there is none.

Device events around bursts, medians; every contestant in the same stream and on the same memory,
sets of tensors taken in turn so that nothing is still in the L2 cache.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aclnn_py as acl
from benchmarks.gpu_cells import Record, cells, report, sets_beyond_cache
from benchmarks.gpu_sides import Ours, TorchGpu, fill

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.cells import Cell

_BURST_MS, _SAMPLES, _QUICK_SAMPLES = 8.0, 15, 5
_TENSOR_BYTES = 1 << 30
_HOST_CALLS, _HOST_ROUNDS = 200, 21


class Bench:
    """The device, one stream, and CuPy's view of it."""

    def __init__(self, device: acl.Device, *, quick: bool) -> None:
        self.cupy: Any = import_module("cupy")
        self.device, self.quick = device, quick
        self.stream = device.create_stream()
        pointer = self.stream.__cuda_stream__()[1]
        self.queue = self.cupy.cuda.Stream.from_external(self.stream)
        self.torch = TorchGpu()
        if not self.torch.missing:
            self.torch.use_stream(pointer)
        self.facts = self.cupy.cuda.runtime.getDeviceProperties(device.index)
        room = int(self.facts["totalGlobalMem"]) // 16
        self.tensor_bytes = min(_TENSOR_BYTES, room) // (8 if quick else 1)

    def event_ms(self, call: Callable[[int], object]) -> float:
        """Median of a call's time on the device [ms]."""
        trial = self._burst(call, 3)
        calls = max(2, int(_BURST_MS / max(trial, 1e-4)))
        count = _QUICK_SAMPLES if self.quick else _SAMPLES
        return statistics.median(self._burst(call, calls) for _ in range(count))

    def _burst(self, call: Callable[[int], object], calls: int) -> float:
        events = self.cupy.cuda
        start, end = events.Event(), events.Event()
        start.record(self.queue)
        for turn in range(calls):
            call(turn)
        end.record(self.queue)
        end.synchronize()
        took: float = events.get_elapsed_time(start, end)
        return took / calls

    def copy_gbps(self) -> float:
        """Bytes read and written by a device-to-device copy [GB/s]."""
        nbytes = self.tensor_bytes
        pairs = [(self.device.malloc(nbytes), self.device.malloc(nbytes)) for _ in range(2)]
        copy = self.cupy.cuda.runtime.memcpyAsync

        def call(turn: int) -> None:
            source, target = pairs[turn % len(pairs)]
            copy(int(target), int(source), nbytes, 3, self.queue.ptr)  # device to device

        took = self.event_ms(call)
        for pair in pairs:
            for buffer in pair:
                buffer.close()
        return 2 * nbytes / took / 1e6

    def tensors(self, cell: Cell) -> list[list[acl.Tensor]]:
        """Sets of two inputs and an output, the inputs filled."""
        count = sets_beyond_cache(3 * cell.tensor_bytes, int(self.facts["l2CacheSize"]))
        sets = []
        for number in range(count):
            made = [self.device.empty(cell.shape, cell.dtype) for _ in range(3)]
            for which, tensor in enumerate(made[:2]):
                fill(self.cupy, tensor, seed=2 * number + which)
            sets.append(made)
        return sets

    def run(self) -> list[Record]:
        """Every cell; cells of one shape and dtype share their tensors."""
        copy, records, group, sets = self.copy_gbps(), [], None, []
        for cell in cells(self.tensor_bytes, quick=self.quick):
            if cell.group != group:
                sets.clear()
                sets = self.tensors(cell)
                group = cell.group
            ours = Ours(cell, self.stream, sets)
            took = self.event_ms(ours)
            ours.close()
            theirs = float("nan")
            if not self.torch.missing:
                theirs = self.event_ms(self.torch.side(cell, sets))
            records.append(Record(cell, took, theirs, copy))
            print(f"{records[-1].share:6.1%} {records[-1].ratio:5.2f}x {cell.name}", flush=True)
        return records

    def host_us(self) -> dict[str, float]:
        """Host time of one small call, by each way [us]."""
        shape, tensor = (8, 32), self.device.empty((8, 32), "float32")
        out = self.device.empty(shape, "float32")
        fill(self.cupy, tensor, seed=0)
        stream, plan, run = self.stream, acl.aclnnSoftmaxGetWorkspaceSize, acl.aclnnSoftmax
        _, executor = plan(tensor, -1, out)
        acl.aclSetAclOpExecutorRepeatable(executor)
        kernel = self.cupy.RawKernel('extern "C" __global__ void nothing(float *x) {}', "nothing")
        argument = self.cupy.zeros(1, self.cupy.float32)

        def call() -> None:
            size, once = plan(tensor, -1, out)
            run(None, size, once, stream)

        ways: dict[str, Callable[[], object]] = {
            "call": call,
            "phase 2": lambda: run(None, 0, executor, stream),
            "launch": lambda: kernel((1,), (32,), (argument,)),
        }
        if not self.torch.missing:
            cell = cells(1 << 20, quick=True)[0]
            small = self.torch.side(cell, [[tensor, tensor, out]])
            ways["torch"] = lambda: small(0)
        with self.queue:
            return {name: self._host(way) for name, way in ways.items()}

    def _host(self, way: Callable[[], object]) -> float:
        samples = []
        for _ in range(_HOST_ROUNDS):
            start = time.perf_counter_ns()
            for _ in range(_HOST_CALLS):
                way()
            samples.append((time.perf_counter_ns() - start) / _HOST_CALLS / 1e3)
            self.queue.synchronize()
        return statistics.median(samples)


def _facts(bench: Bench, copy: float) -> list[str]:
    name = bench.facts["name"]
    card = name.decode() if isinstance(name, bytes) else name
    peer = bench.torch.missing or bench.torch.version
    return [
        f"{card}, CuPy {bench.cupy.__version__}, PyTorch {peer}",
        f"copy from device to device: {copy:.0f} GB/s, tensors of {bench.tensor_bytes >> 20} MiB",
    ]


def main() -> int:
    """Measure and write the report; 0 with a reason where there is no GPU."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="few cells, small tensors")
    parser.add_argument("--out", type=Path, default=Path("out/bench"), help="where results go")
    options = parser.parse_args()
    try:
        device = acl.Device("cuda:0")
    except acl.AclError as error:
        print(f"skipped, no CUDA device: {error}")
        return 0
    with device:
        bench = Bench(device, quick=options.quick)
        records = bench.run()
        host = bench.host_us()
        bench.stream.close()
    text = report(_facts(bench, records[0].copy_gbps), records, host)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "gpu.md").write_text(text, encoding="utf-8")
    print(text.partition("| cell |")[0])
    print(f"every cell: {options.out}/gpu.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
