# SPDX-License-Identifier: Apache-2.0
"""oneDNN as a contestant: a process of our own C code, one for each thread count."""

from __future__ import annotations

import mmap
import os
import subprocess
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.build import BuildError, compile_program, onednn_prefix
from benchmarks.timing import Contestant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from benchmarks.arena import View
    from benchmarks.cells import Cell

__all__ = ["OneDnnPeer"]

_DTYPES = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "float64": "f64"}
_SLOW_NS = 50e6  # no second trial of a way that takes this long


class OneDnnPeer:
    """The peer, or the reason why it is missing.

    The packages hold a build for the SYCL runtime. It finds the CPU when ``OCL_ICD_FILENAMES``
    names the OpenCL CPU runtime of the package intel-opencl-rt, and keeps to a number of threads
    given as ``DPCPP_CPU_NUM_CUS``, beside the thread that waits for them and works, too: told to
    use one, it kept two processors busy. So it also gets no more processors than threads.
    """

    name = "oneDNN"

    def __init__(self, folder: Path, shared_bytes: int) -> None:
        self.missing = ""
        self.version = ""
        self._workers: dict[int, _Worker] = {}
        self._shared_bytes = shared_bytes
        prefix = onednn_prefix()
        if prefix is None:
            self.missing = "not installed (packages onednn and onednn-devel)"
            return
        if not hasattr(os, "memfd_create"):
            self.missing = "needs Linux"
            return
        self._runtime = prefix / "lib" / "libintelocl.so"
        if not self._runtime.exists():
            self.missing = "no CPU runtime (package intel-opencl-rt)"
            return
        try:
            self._program = compile_program("onednn_loop", folder, prefix)
            self.version = self._worker(2).version
        except (BuildError, OSError, _RefusedError) as error:
            self.missing = str(error)

    def contestant(
        self,
        cell: Cell,
        inputs: tuple[View, ...],
        out: View,
        is_right: Callable[[np.ndarray], bool],
        attributes: str = "",
    ) -> tuple[Contestant | None, str]:
        """The fastest way this peer has for a cell, among those whose result is right.

        Parameters
        ----------
        cell : Cell
            The problem.
        inputs, out : View
            Its tensors.
        is_right : callable
            Judges a result.
        attributes : str
            Of a forward primitive, as the command ``attr`` of our C code takes them.

        Returns
        -------
        contestant : Contestant or None
            None when it cannot do the cell.
        note : str
            The implementation it chose, or why there is none.
        """
        if self.missing:
            return None, self.missing
        worker = self._worker(cell.threads)
        worker.attributes = attributes
        worker.reserve(cell, inputs, out)
        for slot, view in enumerate(inputs):
            worker.load(slot, view)
        best, best_ns, note, refused = "", float("inf"), "", []
        for way in _ways(cell):
            try:
                implementation, took = self._try(worker, way, cell, inputs, out, is_right)
            except _RefusedError as error:
                refused.append(f"{way}: {error}")
                continue
            if took < best_ns:
                best, best_ns, note = way, took, f"{implementation}, {way}"
        note = "; ".join([note or "unsupported", *refused])
        if not best:
            return None, note
        worker.make(best, cell, inputs, out)
        share = 0.5 if best_ns > _SLOW_NS else 1.0
        return Contestant(self.name, worker.run, layer="c", share=share), note

    def _try(
        self,
        worker: _Worker,
        way: str,
        cell: Cell,
        inputs: tuple[View, ...],
        out: View,
        is_right: Callable[[np.ndarray], bool],
    ) -> tuple[str, float]:
        implementation = worker.make(way, cell, inputs, out)
        worker.poison(2, out.span_bytes)
        took = worker.run(1)
        raw = worker.dump(2, out.span_bytes).view(out.array.dtype)
        strides = [stride * out.array.itemsize for stride in out.layout.strides]
        if not is_right(np.lib.stride_tricks.as_strided(raw, out.shape, strides)):
            raise _RefusedError(f"{implementation}: wrong result")
        if took < _SLOW_NS:
            took = min(worker.run(1), worker.run(1))
        return implementation, took

    def close(self) -> None:
        for worker in self._workers.values():
            worker.close()

    def _worker(self, threads: int) -> _Worker:
        if threads not in self._workers:
            self._workers[threads] = _Worker(
                self._program, self._runtime, threads, self._shared_bytes
            )
        return self._workers[threads]


class _RefusedError(RuntimeError):
    """The worker said no."""


class _Worker:
    def __init__(self, program: Path, runtime: Path, threads: int, shared_bytes: int) -> None:
        descriptor = os.memfd_create("bench")
        os.ftruncate(descriptor, shared_bytes)
        self._shared = mmap.mmap(descriptor, shared_bytes)
        environment = {
            **os.environ,
            "OCL_ICD_FILENAMES": str(runtime),
            "DPCPP_CPU_NUM_CUS": str(threads),
        }
        with _processors(threads):
            self._process = subprocess.Popen(  # noqa: S603  # our own program
                [str(program), str(descriptor), str(shared_bytes)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                pass_fds=[descriptor],
                env=environment,
            )
        os.close(descriptor)
        self.attributes = ""
        self.version = self._answer()

    def make(self, way: str, cell: Cell, inputs: tuple[View, ...], out: View) -> str:
        strides = [*(view.layout.strides for view in inputs), out.layout.strides]
        rank = len(cell.shape)
        numbers = [cell.axis % rank, rank, *cell.shape, *(n for row in strides for n in row)]
        if self.attributes:
            self._ask(f"attr {self.attributes}")
        head = f"make {cell.direction} {cell.operator} {_DTYPES[cell.dtype]} {way}"
        return self._ask(f"{head} {' '.join(map(str, numbers))}")

    def run(self, calls: int) -> float:
        return int(self._ask(f"run {calls}")) / calls

    def reserve(self, cell: Cell, inputs: tuple[View, ...], out: View) -> None:
        """Making a primitive makes the memory that inputs are loaded into."""
        with suppress(_RefusedError):
            self.make("direct", cell, inputs, out)

    def load(self, slot: int, view: View) -> None:
        raw = view.raw()
        np.frombuffer(self._shared, np.uint8)[: raw.size] = raw
        with suppress(_RefusedError):  # no memory: the cell is not supported, make() says why
            self._ask(f"load {slot} {raw.size}")

    def poison(self, slot: int, nbytes: int) -> None:
        """NaN everywhere, so that elements nobody wrote are seen."""
        np.frombuffer(self._shared, np.uint8)[:nbytes] = 0xFF
        self._ask(f"load {slot} {nbytes}")

    def dump(self, slot: int, nbytes: int) -> np.ndarray:
        self._ask(f"dump {slot} {nbytes}")
        return np.frombuffer(self._shared, np.uint8)[:nbytes].copy()

    def close(self) -> None:
        if self._process.stdin:
            with suppress(OSError):
                self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _ask(self, command: str) -> str:
        assert self._process.stdin is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        word, _, rest = line.strip().partition(" ")
        if word != "ok":
            raise _RefusedError(rest or "the process ended")
        return rest


@contextmanager
def _processors(count: int) -> Iterator[None]:
    """Processes started meanwhile have `count` processors."""
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(every)[:count])
    try:
        yield
    finally:
        os.sched_setaffinity(0, every)


def _ways(cell: Cell) -> list[str]:
    """Reorders first: the direct way through a reference loop can take seconds."""
    rank = len(cell.shape)
    ways = []
    if cell.axis % rank != rank - 1:
        ways.append("axis_last")
    if cell.layout != "contiguous":
        ways.append("dense")
    return [*ways, "direct"]
