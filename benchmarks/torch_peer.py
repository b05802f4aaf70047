# SPDX-License-Identifier: Apache-2.0
"""PyTorch as a contestant: the aten kernels with `out=`, on the same bytes as ours.

The kernels are those of ``torch.ops.aten._softmax.out`` and its kin, called by their direct
bindings (``torch._softmax(..., out=)``), which spare PyTorch about a microsecond a call. Into an
output that is not dense they write as if it were (seen with 2.13), so there the result goes to a
dense tensor made beforehand and is copied. Of transposed inputs there are three ways, of which the
quickest on these very tensors is taken: as they are; copied to dense tensors made beforehand; along
the other axis of the dense tensors that they are views of, the result turned.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.timing import Contestant, python_burst

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.arena import View

__all__ = ["TorchPeer"]

_TURNS, _FAR_BEHIND = 5, 1.5


class TorchPeer:
    """The peer, or the reason why it is missing."""

    name = "PyTorch"

    def __init__(self) -> None:
        self.missing = ""
        self.version = ""
        try:
            import torch  # noqa: PLC0415  # optional, and slow to import
        except ImportError as error:
            self.missing = f"not installed ({error})"
            return
        self._torch: Any = torch
        self.version = torch.__version__
        # For this thread, for good: nothing here is ever differentiated.
        self._mode = torch.inference_mode()
        self._mode.__enter__()

    def set_threads(self, count: int) -> None:
        if not self.missing:
            self._torch.set_num_threads(count)

    def tensor(self, view: View) -> Any:
        """The view's bytes as a torch tensor."""
        dtype = getattr(self._torch, view.dtype)
        flat = self._torch.from_numpy(view.raw()).view(dtype)
        return flat.as_strided(view.shape, view.layout.strides)

    def call(
        self, operator: str, direction: str, inputs: tuple[View, ...], axis: int, out: View
    ) -> Callable[[], object]:
        tensors = [self.tensor(view) for view in inputs]
        target = self.tensor(out)
        if not all(tensor.is_contiguous() for tensor in tensors):
            return _quickest(self._of_transposed(operator, direction, tensors, axis, target))
        if target.is_contiguous():
            return self._kernel(operator, direction, tensors, axis, target)
        dense = self._torch.empty(target.shape, dtype=target.dtype)
        kernel = self._kernel(operator, direction, tensors, axis, dense)

        def copied() -> None:
            kernel()
            target.copy_(dense)

        return copied

    def _of_transposed(
        self, operator: str, direction: str, tensors: list[Any], axis: int, target: Any
    ) -> list[Callable[[], object]]:
        """The ways to do it where the last two dimensions of the inputs are swapped views."""
        torch = self._torch
        dense = [torch.empty(one.shape, dtype=one.dtype) for one in tensors]
        after = self._kernel(operator, direction, dense, axis, target)

        def copied_first() -> None:
            for one, view in zip(dense, tensors, strict=True):
                one.copy_(view)
            after()

        turned = [one.transpose(-1, -2) for one in tensors]
        last = target.dim() - 1
        along = {last: last - 1, last - 1: last}.get(axis % target.dim(), axis % target.dim())
        between = torch.empty(turned[0].shape, dtype=target.dtype)
        before = self._kernel(operator, direction, turned, along, between)

        def turned_last() -> None:
            before()
            target.copy_(between.transpose(-1, -2))

        as_they_are = self._kernel(operator, direction, tensors, axis, target)
        return [as_they_are, copied_first, turned_last]

    def _kernel(
        self, operator: str, direction: str, tensors: list[Any], axis: int, target: Any
    ) -> Callable[[], object]:
        torch = self._torch
        if direction == "forward":
            kernel = torch._softmax if operator == "softmax" else torch._log_softmax  # noqa: SLF001
            return partial(kernel, tensors[0], axis, half_to_float=False, out=target)
        if operator == "softmax":
            kernel = torch._softmax_backward_data  # noqa: SLF001
            return partial(kernel, *tensors, axis, target.dtype, grad_input=target)
        kernel = torch._log_softmax_backward_data  # noqa: SLF001
        return partial(kernel, *tensors, axis, target.dtype, out=target)

    def contestant(self, call: Callable[[], object]) -> Contestant:
        return Contestant(self.name, python_burst(call))

    def eager_calls(
        self, direction: str, inputs: tuple[View, ...], out: View
    ) -> dict[str, Callable[[], object]]:
        """The ways to write one small softmax, or its gradient."""
        torch = self._torch
        aten = torch.ops.aten
        own = self.call("softmax", direction, inputs, -1, out)
        y = self.tensor(out)
        if direction == "forward":
            x = self.tensor(inputs[0])
            kernel = aten._softmax.out  # noqa: SLF001  # the operator has no public name
            return {
                "torch.softmax(x, -1)": lambda: torch.softmax(x, -1),
                "torch.softmax(x, -1, out=y)": lambda: torch.softmax(x, -1, out=y),
                "torch._softmax(out=y)": own,
                "torch.ops.aten._softmax.out": partial(kernel, x, -1, half_to_float=False, out=y),
            }
        grad, output = (self.tensor(view) for view in inputs)
        through_ops = aten._softmax_backward_data.out  # noqa: SLF001
        return {
            "torch._softmax_backward_data(grad_input=y)": own,
            "torch.ops.aten._softmax_backward_data.out": partial(
                through_ops, grad, output, -1, y.dtype, grad_input=y
            ),
        }

    def results(self, operator: str, direction: str, arrays: list[Any], axis: int) -> Any:
        """The operator on NumPy arrays, as float64; for comparing errors."""
        torch = self._torch
        tensors = [_from_numpy(torch, array) for array in arrays]
        aten = torch.ops.aten
        if direction == "forward":
            kernel = aten._softmax if operator == "softmax" else aten._log_softmax  # noqa: SLF001
            done = kernel(tensors[0], axis, half_to_float=False)
        else:
            kernel = (
                aten._softmax_backward_data  # noqa: SLF001
                if operator == "softmax"
                else aten._log_softmax_backward_data  # noqa: SLF001
            )
            done = kernel(*tensors, axis, tensors[0].dtype)
        return done.to(torch.float64).numpy()


def _quickest(calls: list[Callable[[], object]]) -> Callable[[], object]:
    """Of a few turns each; one that is far behind gets no more."""
    least = [float("inf")] * len(calls)
    for turn in range(_TURNS):
        for i, call in enumerate(calls):
            if turn > 1 and least[i] > _FAR_BEHIND * min(least):
                continue
            start = time.perf_counter()
            call()
            took = time.perf_counter() - start
            if turn > 0:  # the first pays for memory and threads
                least[i] = min(least[i], took)
    return calls[least.index(min(least))]


def _from_numpy(torch: Any, array: Any) -> Any:
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view("uint16").copy()).view(torch.bfloat16)
    return torch.from_numpy(array.copy())
