# SPDX-License-Identifier: Apache-2.0
"""What every benchmark of a run shares: memory, a stream, the peers, the time they may use."""

from __future__ import annotations

import os
import platform
import re
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aclnn_py as acl
from aclnn_py.core.isa import supported
from benchmarks.arena import Arena
from benchmarks.bounds import Bounds
from benchmarks.layers import Rates
from benchmarks.limit import StreamLimit, cache_bytes
from benchmarks.numpy_peer import NumpyPeer
from benchmarks.onednn_peer import OneDnnPeer
from benchmarks.ours import EngineLoop, set_threads
from benchmarks.torch_peer import TorchPeer
from benchmarks.traffic import Traffic

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmarks.cells import Cell

__all__ = ["Bench"]

_PACKAGES = (
    "aclnn-py",
    "numpy",
    "ml_dtypes",
    "torch",
    "onednn",
    "onednn-devel",
    "tbb",
    "dpcpp-cpp-rt",
    "intel-opencl-rt",
)


@dataclass(slots=True)
class Bench:
    """One run."""

    folder: Path
    quick: bool
    budget_s: float
    rounds: int
    threads: int
    device: acl.Device
    stream: acl.Stream
    arena: Arena
    engine_loop: EngineLoop
    limit: StreamLimit
    bounds: Bounds
    traffic: Traffic
    rates: Rates
    torch: TorchPeer
    numpy: NumpyPeer
    onednn: OneDnnPeer

    @classmethod
    def open(cls, folder: Path, cells: Iterable[Cell], *, quick: bool, least_bytes: int) -> Bench:
        """Get everything ready; `least_bytes` is what a slot of the arena must hold at least."""
        threads = min(2, _cores())
        spans = [
            max(cell.in_layout.span, cell.out_layout.span) * cell.tensor_bytes // cell.elements
            for cell in cells
        ]
        slot_bytes = max([least_bytes, *spans])
        device = acl.Device(0)
        arena = Arena(device, slot_bytes)
        made = cls(
            folder=folder,
            quick=quick,
            budget_s=0.05 if quick else 0.2,
            rounds=3 if quick else 5,
            threads=threads,
            device=device,
            stream=device.create_stream(),
            arena=arena,
            engine_loop=EngineLoop.build(folder),
            limit=StreamLimit.build(folder),
            bounds=Bounds.build(folder),
            traffic=Traffic.build(folder),
            rates=Rates.measure(folder, arena),
            torch=TorchPeer(),
            numpy=NumpyPeer(),
            onednn=OneDnnPeer(folder, slot_bytes + 4096),
        )
        made.set_threads(threads)
        return made

    def set_threads(self, count: int) -> None:
        """The same number for everybody."""
        set_threads(count)
        self.torch.set_threads(count)

    def facts(self) -> dict[str, Any]:
        """Machine, versions and settings, for the report."""
        return {
            "machine": {
                "processor": _processor(),
                "cores": _cores(),
                "l2_bytes": cache_bytes(2),
                "last_level_bytes": cache_bytes(4),
                "system": f"{platform.system()} {platform.machine()}",
                "python": platform.python_version(),
                "load": list(os.getloadavg()),
            },
            "bounds": self.bounds.record(),
            "rates": self.rates.record(),
            "versions": _versions(),
            "missing": {
                peer.name: peer.missing
                for peer in (self.torch, self.numpy, self.onednn)
                if peer.missing
            },
            "settings": {
                "quick": self.quick,
                "budget_s": self.budget_s,
                "rounds": self.rounds,
                "threads": self.threads,
                "forced_isa": os.environ.get("ACLNN_PY_ISA", ""),
                "isa": os.environ.get("ACLNN_PY_ISA", "") or _best_isa(),
            },
        }

    def close(self) -> None:
        self.onednn.close()
        self.stream.close()


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _versions() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def _processor() -> str:
    with suppress(OSError):
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        match = re.search(r"model name\s*:\s*(.+)", text)
        if match:
            return match[1]
    return platform.processor() or platform.machine()


def _best_isa() -> str:
    return supported()[-1]
