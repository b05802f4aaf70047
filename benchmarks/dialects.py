# SPDX-License-Identifier: Apache-2.0
"""What scales and post operations cost a forward softmax, here and in oneDNN."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import aclnn_py as acl
from aclnn_native import lib
from aclnn_py.core.extras import Binary, Eltwise, Extras
from aclnn_py.twophase import fused_forward
from benchmarks.cells import Cell, Layout
from benchmarks.timing import Contestant, measure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.arena import View
    from benchmarks.bench import Bench

__all__ = ["line", "run"]

_SHAPE: Final = (2048, 4096)  # 32 MiB of float32: beyond the second-level cache of every machine
_SCALE: Final = 1 / 128
_HALF: Final = 0.5
_CLOSE: Final = {"float32": 2e-5, "bfloat16": 2e-2, "uint8": 1.0}
_ONEDNN: Final = {"float32": "f32", "bfloat16": "bf16", "uint8": "u8"}
_OPERATIONS: Final = {
    "none": None,
    "add": Binary("add"),
    "mul": Binary("mul"),
    "relu": Eltwise("relu"),
    "clip": Eltwise("clip", 0.0, 0.5),
    "linear": Eltwise("linear", 2.0, 0.25),
    "exp": Eltwise("exp"),
    "tanh": Eltwise("tanh"),
    "gelu_erf": Eltwise("gelu_erf"),
}
_TRANSCENDENTAL: Final = ("exp", "tanh", "gelu_erf")
# (source, destination, scaled): a scale needs an 8-bit tensor in oneDNN's softmax.
_TYPES: Final = (
    ("float32", "float32", False),
    ("bfloat16", "bfloat16", False),
    ("float32", "uint8", True),
)


@dataclass(frozen=True, slots=True)
class Problem:
    """A forward softmax along the last axis, and what follows it."""

    src: str
    dst: str
    scaled: bool
    operation: str

    @property
    def name(self) -> str:
        """What the table says."""
        scale = " scale" if self.scaled else ""
        return f"{self.src} -> {self.dst}{scale} {self.operation}"

    @property
    def extras(self) -> Extras:
        """The same for the door."""
        operation = _OPERATIONS[self.operation]
        return Extras(dst_scale=self.scaled, post_ops=() if operation is None else (operation,))

    def value(self, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The mathematics in float64."""
        wide = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True).astype(np.float64))
        t = wide / wide.sum(axis=1, keepdims=True)
        t = {
            "add": lambda: t + _HALF,
            "mul": lambda: t * _HALF,
            "clip": lambda: np.clip(t, 0, 0.5),
            "linear": lambda: 2 * t + 0.25,
            "exp": lambda: np.exp(t),
            "tanh": lambda: np.tanh(t),
            # erf(z) = 2/sqrt(pi) (z - z^3/3 ...): softmax of 4096 elements is small
            "gelu_erf": lambda: 0.5 * t * (1 + 2 / np.sqrt(np.pi) * _series(t / np.sqrt(2))),
        }.get(self.operation, lambda: t)()
        return np.clip(np.rint(t / _SCALE), 0, 255) if self.scaled else t


def _series(z: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    total, term = z.copy(), z.copy()
    for n in range(1, 30):
        term = term * -z * z / n
        total += term / (2 * n + 1)
    return total


def run(bench: Bench) -> list[dict[str, Any]]:
    """A record for each problem: the fused call, the plain one of its types, and oneDNN's."""
    return list(_records(bench))


def _records(bench: Bench) -> Iterator[dict[str, Any]]:
    operations = ("none", "mul", "exp") if bench.quick else _OPERATIONS
    for src, dst, scaled in _TYPES:
        x = bench.arena.view(0, src, _SHAPE, Layout.dense(_SHAPE))
        out = bench.arena.view(2, dst, _SHAPE, Layout.dense(_SHAPE))
        bench.arena.fill(x)
        for operation in operations:
            if operation != "none" or scaled:
                yield _record(bench, Problem(src, dst, scaled, operation), x, out)


def _record(bench: Bench, problem: Problem, x: View, out: View) -> dict[str, Any]:
    fused = _Call(bench, problem.extras, x, out)
    plain = _Call(bench, Extras(), x, out)
    rows = slice(None, None, 128)
    expected = problem.value(x.array[rows])

    def is_right(got: np.ndarray[Any, Any]) -> bool:
        worst = np.abs(np.asarray(got[rows], np.float64) - expected).max()
        return bool(worst <= _CLOSE[problem.dst] * max(1.0, float(np.abs(expected).max() > 1)))

    out.raw()[:] = 0xFF
    fused.once()
    if not is_right(out.array):
        raise RuntimeError(f"{problem.name}: WRONG RESULT")
    contestants = [fused.contestant("fused"), plain.contestant("plain")]
    cell = Cell("softmax", "forward", problem.src, _SHAPE, -1, bench.threads)
    words = f"{_ONEDNN[problem.dst]} {int(problem.scaled)} {problem.operation}"
    peer, note = bench.onednn.contestant(cell, (x,), out, is_right, words)
    if peer is not None:
        contestants.append(peer)
    times = measure(contestants, bench.budget_s, bench.rounds)
    median = {name: timing.median for name, timing in times.items()}
    return {
        "problem": problem.name,
        "limit": 2.0 if problem.operation in _TRANSCENDENTAL else 1.15,
        "over_plain": median["fused"] / median["plain"],
        "peer": median[peer.name] / median["fused"] if peer is not None else None,
        "note": note,
        "times_ns": {name: timing.record() for name, timing in times.items()},
    }


def line(record: dict[str, Any]) -> str:
    """One record for people."""
    peer = "   - " if record["peer"] is None else f"{record['peer']:5.2f}"
    fused = record["times_ns"]["fused"]["median"] / 1e6
    return (
        f"{record['problem']:32} {fused:7.2f} ms  {record['over_plain']:5.2f}x plain "
        f"(at most {record['limit']})  oneDNN/ours {peer}  ({record['note']})"
    )


class _Call:
    """A forward softmax with extras, ready to run again and again."""

    def __init__(self, bench: Bench, extras: Extras, x: View, out: View) -> None:
        self._bench = bench
        self._operator = fused_forward(extras)
        self._tensors = [x.tensor, out.tensor]
        if extras.dst_scale:
            self._tensors.append(bench.device.tensor(np.array([_SCALE], np.float32)))
        for operation in extras.post_ops:
            if isinstance(operation, Binary):
                row = np.full((1, _SHAPE[1]), _HALF, np.float32)
                self._tensors.append(bench.device.tensor(row))
        self._size, self._executor = self._operator.get_workspace_size(self._tensors, [1])
        acl.aclSetAclOpExecutorRepeatable(self._executor)
        self._workspace = bench.device.malloc(self._size) if self._size else None

    def once(self) -> None:
        """Run and wait."""
        stream = self._bench.stream
        self._operator.execute(self._workspace, self._size, self._executor, stream)
        stream.synchronize()

    def contestant(self, name: str) -> Contestant:
        """The same in a loop of C."""
        address = self._workspace.ptr if self._workspace else 0
        number = lib.aclpy_operator_id(self._operator.spec.function.encode())
        fixed = (number, address, self._size, self._executor.handle)
        context = self._bench.device._ctx  # noqa: SLF001  # no public name
        loop, stream = self._bench.engine_loop.function, self._bench.stream.handle

        def burst(calls: int) -> float:
            took: int = loop(*fixed, context, stream, calls)
            if took < 0:
                raise RuntimeError(f"{name} failed with status {-took}")
            return took / calls

        return Contestant(name, burst, layer="c")
