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

__all__ = ["PEER_LIMIT", "TRANSCENDENTAL", "line", "run"]

_SHAPE: Final = (2048, 4096)  # 32 MiB of float32: beyond the second-level cache of every machine
# Rows that are no whole cache lines, and long ones: other loops than those of 4096 elements.
_OTHERS: Final = ((8192, 1000), (64, 50257))
# The axis, of three dimensions the middle one, before others: tiles of columns, and chunks.
_BEFORE: Final = ((16, 256, 3136), (12, 1024, 1024), (1, 4096, 1024))
_AXIS: Final = 1
# Neither is a power of two, nor is the slope of linear: those cost less.
_SCALE: Final = 0.01  # of the destination
_SRC_SCALE: Final = 0.7
_HALF: Final = 0.5
_CLOSE: Final = {"float32": 2e-5, "bfloat16": 2e-2, "uint8": 1.0}
_ONEDNN: Final = {"float32": "f32", "bfloat16": "bf16", "uint8": "u8"}
_OPERATIONS: Final = {
    "none": None,
    "add": Binary("add"),
    "add_full": Binary("add"),
    "mul": Binary("mul"),
    "relu": Eltwise("relu"),
    "clip": Eltwise("clip", 0.0, 0.5),
    "linear": Eltwise("linear", 1.7, 0.25),
    "exp": Eltwise("exp"),
    "tanh": Eltwise("tanh"),
    "gelu_erf": Eltwise("gelu_erf"),
    "pow": Eltwise("pow", 1.0, 0.3),
    "elu": Eltwise("elu", 1.0),
    "gelu_tanh": Eltwise("gelu_tanh"),
    "log": Eltwise("log"),
    "logistic": Eltwise("logistic"),
    "mish": Eltwise("mish"),
    "soft_relu": Eltwise("soft_relu", 1.0),
    "swish": Eltwise("swish", 1.0),
}
TRANSCENDENTAL: Final = tuple(_OPERATIONS)[list(_OPERATIONS).index("exp") :]
# The aims.
_CHEAP_LIMIT: Final = 1.15
_TRANSCENDENTAL_LIMIT: Final = 2.0
PEER_LIMIT: Final = 1.1
# (source, destination, scaled): oneDNN takes a scale only with an 8-bit tensor, so other scaled
# problems are ours alone.
_TYPES: Final = (
    ("float32", "float32", False),
    ("float32", "float32", True),
    ("bfloat16", "bfloat16", False),
    ("bfloat16", "bfloat16", True),
    ("float32", "uint8", True),
)
_BYTES: Final = {"float32": 4, "bfloat16": 2, "uint8": 1}


@dataclass(frozen=True, slots=True)
class Problem:
    """A forward softmax along the second axis, which mostly is the last, and what follows it."""

    src: str
    dst: str
    scaled: bool
    operation: str
    shape: tuple[int, ...] = _SHAPE

    @property
    def name(self) -> str:
        """What the table says."""
        scale = " scale" if self.scaled else ""
        where = "" if self.shape == _SHAPE else f" {'x'.join(map(str, self.shape))}"
        axis = f" axis {_AXIS}" if self.is_before else ""
        return f"{self.src} -> {self.dst}{scale} {self.operation}{where}{axis}"

    @property
    def is_before(self) -> bool:
        """Whether other dimensions follow the axis."""
        return len(self.shape) > _AXIS + 1

    @property
    def extras(self) -> Extras:
        """The same for the door: a scale of the destination where it is of 8 bits."""
        operation = _OPERATIONS[self.operation]
        return Extras(
            src_scale=self.scaled and self.dst != "uint8",
            dst_scale=self.dst == "uint8",
            post_ops=() if operation is None else (operation,),
        )

    @property
    def limit(self) -> float:
        """The most times of the plain call. An operand of the full shape has bytes of its own."""
        if self.operation in TRANSCENDENTAL:
            return _TRANSCENDENTAL_LIMIT
        plain = _BYTES[self.src] + _BYTES[self.dst]
        more = _BYTES["float32"] if self.operation == "add_full" else 0
        return _CHEAP_LIMIT * (plain + more) / plain

    @property
    def peer(self) -> str:
        """What the peer is asked for; empty where it has no such primitive."""
        if self.scaled and self.dst != "uint8":
            return ""
        return f"{_ONEDNN[self.dst]} {int(self.scaled)} {self.operation}"

    def value(self, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The mathematics in float64."""
        wide = np.exp(x.astype(np.float64) - x.max(axis=_AXIS, keepdims=True).astype(np.float64))
        t = wide / wide.sum(axis=_AXIS, keepdims=True)
        if self.extras.src_scale:
            t = t * _SRC_SCALE
        t = {
            "add": lambda: t + _HALF,
            "add_full": lambda: t + _HALF,
            "mul": lambda: t * _HALF,
            "clip": lambda: np.clip(t, 0, 0.5),
            "linear": lambda: np.float64(np.float32(1.7)) * t + 0.25,
            "exp": lambda: np.exp(t),
            "pow": lambda: t ** np.float64(np.float32(0.3)),
            "tanh": lambda: np.tanh(t),
            "gelu_tanh": lambda: t * _sigmoid(np.sqrt(8 / np.pi) * (t + 0.044715 * t**3)),
            "log": lambda: np.log(t),
            "logistic": lambda: _sigmoid(t),
            "mish": lambda: t * np.tanh(np.log1p(np.exp(t))),
            "soft_relu": lambda: np.log1p(np.exp(t)),
            "swish": lambda: t * _sigmoid(t),
            # erf(z) = 2/sqrt(pi) (z - z^3/3 ...): softmax of 4096 elements is small
            "gelu_erf": lambda: 0.5 * t * (1 + 2 / np.sqrt(np.pi) * _series(t / np.sqrt(2))),
        }.get(self.operation, lambda: t)()
        return np.clip(np.rint(t / _SCALE), 0, 255) if self.dst == "uint8" else t


def _sigmoid(z: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.asarray(1 / (1 + np.exp(-z)))


def _series(z: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    total, term = z.copy(), z.copy()
    for n in range(1, 30):
        term = term * -z * z / n
        total += term / (2 * n + 1)
    return total


def run(bench: Bench, match: str = "") -> list[dict[str, Any]]:
    """A record for each problem whose name has `match`: the fused call, the plain one, oneDNN's."""
    return list(_records(bench, match))


def _records(bench: Bench, match: str) -> Iterator[dict[str, Any]]:
    operations = ("none", "mul", "exp") if bench.quick else tuple(_OPERATIONS)
    for src, dst, scaled in _TYPES:
        others = () if bench.quick or dst == "uint8" else (*_OTHERS, *_BEFORE)
        for shape in (_SHAPE, *others):
            x = bench.arena.view(0, src, shape, Layout.dense(shape))
            out = bench.arena.view(2, dst, shape, Layout.dense(shape))
            bench.arena.fill(x)
            for operation in operations if shape == _SHAPE else ("add", "relu"):
                problem = Problem(src, dst, scaled, operation, shape)
                if (operation != "none" or scaled) and match in problem.name:
                    yield _record(bench, problem, x, out)


def _record(bench: Bench, problem: Problem, x: View, out: View) -> dict[str, Any]:
    fused = _Call(bench, problem.extras, x, out, full=problem.operation == "add_full")
    plain = _Call(bench, Extras(), x, out)
    rows = slice(None, None, 8 if problem.is_before else 128)
    expected = problem.value(x.array[rows])

    def is_right(got: np.ndarray[Any, Any]) -> bool:
        size = 1.0 if problem.dst == "uint8" else np.maximum(1.0, np.abs(expected))
        worst = (np.abs(np.asarray(got[rows], np.float64) - expected) / size).max()
        return bool(worst <= _CLOSE[problem.dst])

    out.raw()[:] = 0xFF
    fused.once()
    if not is_right(out.array):
        raise RuntimeError(f"{problem.name}: WRONG RESULT")
    contestants = [fused.contestant("fused"), plain.contestant("plain")]
    cell = Cell("softmax", "forward", problem.src, problem.shape, _AXIS, bench.threads)
    peer, note = None, "no such primitive there"
    if problem.peer:
        peer, note = bench.onednn.contestant(cell, (x,), out, is_right, problem.peer)
    if peer is not None:
        contestants.append(peer)
    # Short turns: what else the machine does then falls on all of them alike.
    times = measure(contestants, bench.budget_s, 3 * bench.rounds)
    median = {name: timing.median for name, timing in times.items()}
    return {
        "problem": problem.name,
        "operation": problem.operation,
        "usual": problem.shape == _SHAPE,
        "before": problem.is_before,
        "limit": problem.limit,
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
        f"(at most {record['limit']:.2f})  oneDNN/ours {peer}  ({record['note']})"
    )


class _Call:
    """A forward softmax with extras, ready to run again and again."""

    def __init__(
        self, bench: Bench, extras: Extras, x: View, out: View, *, full: bool = False
    ) -> None:
        self._bench = bench
        self._operator = fused_forward(extras)
        self._tensors = [x.tensor, out.tensor]
        if extras.src_scale or extras.dst_scale:
            scale = _SRC_SCALE if extras.src_scale else _SCALE
            self._tensors.append(bench.device.tensor(np.array([scale], np.float32)))
        for operation in extras.post_ops:
            if isinstance(operation, Binary):
                along = [n if k == _AXIS else 1 for k, n in enumerate(x.shape)]
                operand = np.full(x.shape if full else along, _HALF, np.float32)
                self._tensors.append(bench.device.tensor(operand))
        self._size, self._executor = self._operator.get_workspace_size(self._tensors, [_AXIS])
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
