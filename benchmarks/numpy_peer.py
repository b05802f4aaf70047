# SPDX-License-Identifier: Apache-2.0
"""NumPy as a contestant: the expression with every temporary made beforehand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.timing import Contestant, python_burst

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.arena import View

__all__ = ["NumpyPeer", "oracle"]

_SHARE = 0.25


class NumpyPeer:
    """NumPy; half types compute in float32, which is faster there than in themselves."""

    name = "NumPy"
    missing = ""
    version = np.__version__

    def call(
        self, operator: str, direction: str, inputs: tuple[View, ...], axis: int, out: View
    ) -> Callable[[], object]:
        arrays = [view.array for view in inputs]
        wide = np.float64 if out.dtype == "float64" else np.float32
        first = np.empty(out.shape, wide)
        second = np.empty(out.shape, wide)
        target = out.array
        narrow = out.dtype in {"float16", "bfloat16"}
        goal = second if narrow else target
        make = {
            ("softmax", "forward"): _softmax,
            ("log_softmax", "forward"): _log_softmax,
            ("softmax", "backward"): _softmax_backward,
            ("log_softmax", "backward"): _log_softmax_backward,
        }[operator, direction]
        widened = [np.empty(out.shape, wide) for _ in arrays] if narrow else []

        def call() -> None:
            if not narrow:
                make(arrays, axis, first, goal)
                return
            for array, copy in zip(arrays, widened, strict=True):
                np.copyto(copy, array)
            make(widened, axis, first, goal)
            np.copyto(target, goal, casting="unsafe")

        return call

    def contestant(self, call: Callable[[], object]) -> Contestant:
        return Contestant(self.name, python_burst(call), share=_SHARE)


def oracle(operator: str, direction: str, arrays: list[Any], axis: int, dtype: Any) -> Any:
    """The mathematics in a wide type."""
    wide = [np.asarray(array, dtype) for array in arrays]
    if direction == "backward":
        grad, output = wide
        if operator == "softmax":
            return output * (grad - (grad * output).sum(axis, keepdims=True))
        return grad - np.exp(output) * grad.sum(axis, keepdims=True)
    shifted = wide[0] - wide[0].max(axis, keepdims=True)
    total = np.exp(shifted).sum(axis, keepdims=True)
    return np.exp(shifted) / total if operator == "softmax" else shifted - np.log(total)


def _softmax(arrays: list[Any], axis: int, _: Any, goal: Any) -> None:
    x = arrays[0]
    np.subtract(x, x.max(axis, keepdims=True), out=goal)
    np.exp(goal, out=goal)
    np.divide(goal, goal.sum(axis, keepdims=True), out=goal)


def _log_softmax(arrays: list[Any], axis: int, spare: Any, goal: Any) -> None:
    x = arrays[0]
    np.subtract(x, x.max(axis, keepdims=True), out=goal)
    np.exp(goal, out=spare)
    np.subtract(goal, np.log(spare.sum(axis, keepdims=True)), out=goal)


def _softmax_backward(arrays: list[Any], axis: int, spare: Any, goal: Any) -> None:
    grad, output = arrays
    np.multiply(grad, output, out=spare)
    np.subtract(grad, spare.sum(axis, keepdims=True), out=goal)
    np.multiply(goal, output, out=goal)


def _log_softmax_backward(arrays: list[Any], axis: int, spare: Any, goal: Any) -> None:
    grad, output = arrays
    np.exp(output, out=spare)
    np.multiply(spare, grad.sum(axis, keepdims=True), out=spare)
    np.subtract(grad, spare, out=goal)
