# SPDX-License-Identifier: Apache-2.0
"""Accuracy: our largest error beside PyTorch's on the same inputs; forced ISAs; thread counts.

``python -m benchmarks.accuracy`` prints the figures of the ISA in force as JSON.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

import aclnn_py as acl
from aclnn_py.core.isa import supported
from benchmarks.numpy_peer import oracle
from benchmarks.ours import admit_double, operator_name, set_threads
from benchmarks.torch_peer import TorchPeer

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["larger_error", "of_every_isa", "run"]

_DTYPES = {
    "float32": np.dtype(np.float32),
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float64": np.dtype(np.float64),
}
_CASES = (((256, 33), -1), ((64, 1000), -1), ((8, 50257), -1), ((1, 65536), -1), ((300, 64), 0))
_OPERATORS = (
    ("softmax", "forward"),
    ("log_softmax", "forward"),
    ("softmax", "backward"),
    ("log_softmax", "backward"),
)
_THREADS = (1, 2, 3)
_DEFAULT_THREADS = 2


def run() -> list[dict[str, Any]]:
    """One record for each operator, dtype and kind of input."""
    peer = TorchPeer()
    device = acl.Device(0)
    stream = device.create_stream()
    records = [
        _case(peer, device, stream, operator, direction, dtype, spread)
        for operator, direction in _OPERATORS
        for dtype in _DTYPES
        for spread in (3.0, 1000.0)
    ]
    stream.close()
    set_threads(_DEFAULT_THREADS)
    return records


def of_every_isa() -> dict[str, Any]:
    """Run this module once under each instruction set that this machine has."""
    found = {}
    for name in supported():
        done = subprocess.run(  # ourselves
            [sys.executable, "-m", "benchmarks.accuracy"],
            env={**os.environ, "ACLNN_PY_ISA": name},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            found[name] = {"error": done.stderr.strip().splitlines()[-1:]}
        else:
            found[name] = json.loads(done.stdout)
    return found


def larger_error(one: float, other: float) -> float:
    """The larger of two errors; NaN, which max() may lose, is the largest."""
    return math.inf if math.isnan(one) or math.isnan(other) else max(one, other)


def _case(
    peer: TorchPeer,
    device: acl.Device,
    stream: acl.Stream,
    operator: str,
    direction: str,
    dtype: str,
    spread: float,
) -> dict[str, Any]:
    wide = np.longdouble if dtype == "float64" else np.float64
    worst = {"ours": 0.0, "torch": 0.0}
    same_bits = True
    for arrays, axis in _inputs(operator, direction, dtype, spread):
        want = oracle(operator, direction, arrays, axis, wide)
        results = []
        for threads in _THREADS:
            set_threads(threads)
            results.append(_ours(device, stream, operator, direction, arrays, axis))
        same_bits &= all(one.tobytes() == results[0].tobytes() for one in results[1:])
        scale = _scale(operator, direction, arrays, axis, want)
        got = {"ours": results[0]}
        if not peer.missing:
            got["torch"] = peer.results(operator, direction, arrays, axis)
        for name, result in got.items():
            error = float((np.abs(result.astype(wide) - want) / scale).max())
            worst[name] = larger_error(worst[name], error)
    return {
        "operator": f"{operator}_{direction}",
        "dtype": dtype,
        "spread": spread,
        "ours": worst["ours"],
        "torch": None if peer.missing else worst["torch"],
        "same_bits": same_bits,
    }


def _inputs(
    operator: str, direction: str, dtype: str, spread: float
) -> Iterator[tuple[list[Any], int]]:
    rng = np.random.default_rng(7)
    kind = _DTYPES[dtype]
    for shape, axis in _CASES:
        x = (rng.standard_normal(shape) * spread).astype(kind)
        if direction == "forward":
            yield [x], axis
            continue
        grad = rng.standard_normal(shape).astype(kind)
        output = oracle(operator, "forward", [x], axis, np.float64).astype(kind)
        yield [grad, output], axis


def _ours(
    device: acl.Device,
    stream: acl.Stream,
    operator: str,
    direction: str,
    arrays: list[Any],
    axis: int,
) -> Any:
    tensors = [device.tensor(array) for array in arrays]
    out = device.empty(arrays[0].shape, arrays[0].dtype)
    name = operator_name(operator, direction)
    if direction == "backward" and out.dtype == np.float64:
        admit_double(name, [*tensors, out], axis)
    size, executor = getattr(acl, f"aclnn{name}GetWorkspaceSize")(*tensors, axis, out)
    workspace = device.malloc(size) if size else None
    getattr(acl, f"aclnn{name}")(workspace, size, executor, stream)
    stream.synchronize()
    result = out.numpy()
    for tensor in (*tensors, out):
        tensor.close()
    return result


def _scale(operator: str, direction: str, arrays: list[Any], axis: int, want: Any) -> Any:
    """What an error is measured by: the value, or a thousandth of its row's largest term.

    The terms are those that the value is a difference of, so that cancellation, which nobody can
    undo, does not drown the rest.
    """
    terms = np.abs(want)
    if direction == "backward":
        terms = np.abs(np.asarray(arrays[0], want.dtype))
        if operator == "softmax":
            terms = terms * np.abs(np.asarray(arrays[1], want.dtype))
    least = np.maximum(1e-3 * terms.max(axis, keepdims=True), np.finfo(np.float64).tiny)
    return np.maximum(np.abs(want), least)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(run()))
