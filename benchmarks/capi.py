# SPDX-License-Identifier: Apache-2.0
"""What a C host pays, 8x32 float32 with a cached plan, beside the clock and one PyTorch call."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.build import compile_linked
from benchmarks.cells import Layout
from benchmarks.timing import Contestant, measure, python_burst

if TYPE_CHECKING:
    from benchmarks.bench import Bench

__all__ = ["Row", "run"]

_SHAPE = (8, 32)
_RUNTIME = ("aclrtGetDevice", "aclrtGetCurrentContext", "aclrtGetDeviceCount", "aclrtStreamGetId")


@dataclass(frozen=True, slots=True)
class Row:
    """One figure [ns] and its bound."""

    what: str
    took: float
    most: float


def run(bench: Bench) -> dict[str, Any]:
    """Medians over fresh processes, in nanoseconds, and PyTorch's call of the same run.

    Returns
    -------
    dict
        ``rows`` (`Row` as dicts), ``clock_ns``, ``torch_ns`` (empty without it) and ``python``:
        whether Python was in a process that had made nothing but runtime calls.
    """
    program = compile_linked("capi_loop", bench.folder)
    found = [_once(str(program)) for _ in range(3 if bench.quick else 7)]
    took = {key: statistics.median(one[key] for one in found) for key in found[0]}
    slowest = max(_RUNTIME, key=took.__getitem__)
    rows = (
        Row("phase 1, cached plan", took["phase_one_ns"], 2_000),
        Row("phase 2, kernel included", took["phase_two_ns"], 500),
        Row("aclCreateTensor and aclDestroyTensor", took["tensor_ns"], 200),
        Row(f"the slowest of {len(_RUNTIME)} runtime calls ({slowest})", took[slowest], 100),
        Row("aclInit", took["init_ns"], 5_000_000),
        Row("the first phase 1, which starts Python", took["first_phase_one_ns"], 400_000_000),
    )
    return {
        "rows": [asdict(row) for row in rows],
        "clock_ns": took["clock_ns"],
        "torch_ns": _torch(bench),
        "python": any(one["python"] for one in found),
    }


def _once(program: str) -> dict[str, float]:
    environment = {**os.environ, "ACLNN_PY_PYTHON": sys.executable}
    done = subprocess.run(  # noqa: S603  # just compiled
        [program], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"capi_loop: {done.stderr.strip() or done.stdout.strip()}")
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _torch(bench: Bench) -> dict[str, float]:
    if bench.torch.missing:
        return {}
    source, out = (
        bench.arena.view(slot, "float32", _SHAPE, Layout.dense(_SHAPE)) for slot in range(2)
    )
    bench.arena.fill(source)
    calls = bench.torch.eager_calls("forward", (source,), out)
    contestants = [Contestant(name, python_burst(call)) for name, call in calls.items()]
    timings = measure(contestants, bench.budget_s, bench.rounds)
    return {name: timings[name].median for name in calls}
