# SPDX-License-Identifier: Apache-2.0
"""The two sides on a GPU, over the same memory and in the same stream: this library and PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aclnn_py as acl
from benchmarks.torch_peer import TorchPeer

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.cells import Cell

__all__ = ["Ours", "TorchGpu", "fill"]

_FILLED_AT_ONCE = 1 << 24  # elements


def fill(cupy: Any, tensor: acl.Tensor, seed: int) -> None:
    """Normal values, logarithms of probabilities as good as any other here."""
    memory = cupy.cuda.UnownedMemory(tensor.data_ptr, tensor.nbytes, tensor)
    itemsize = tensor.dtype.itemsize
    kind = {4: cupy.uint32, 2: cupy.uint16}[itemsize]
    count = tensor.nbytes // itemsize
    raw = cupy.ndarray((count,), kind, cupy.cuda.MemoryPointer(memory, 0))
    values = cupy.random.RandomState(seed).standard_normal(
        min(count, _FILLED_AT_ONCE), dtype=cupy.float32
    )
    if tensor.dtype.name == "bfloat16":
        bits = (values.view(cupy.uint32) >> 16).astype(cupy.uint16)
    else:
        bits = values.astype(tensor.dtype).view(kind)
    for begin in range(0, count, len(bits)):
        part = raw[begin : begin + len(bits)]
        part[:] = bits[: len(part)]
    cupy.cuda.get_current_stream().synchronize()


class Ours:
    """Repeatable executors, one for each set of tensors."""

    def __init__(self, cell: Cell, stream: acl.Stream, sets: list[list[acl.Tensor]]) -> None:
        name = "Softmax" if cell.operator == "softmax" else "LogSoftmax"
        name += "Backward" if cell.direction == "backward" else ""
        self._run = getattr(acl, f"aclnn{name}")
        plan = getattr(acl, f"aclnn{name}GetWorkspaceSize")
        self._stream = stream
        self._executors = []
        for tensors in sets:
            size, executor = plan(*tensors[: cell.inputs], cell.axis, tensors[-1])
            if size:
                raise AssertionError(f"{cell.name} needs workspace")
            acl.aclSetAclOpExecutorRepeatable(executor)
            self._executors.append(executor)

    def __call__(self, turn: int) -> None:
        self._run(None, 0, self._executors[turn % len(self._executors)], self._stream)

    def close(self) -> None:
        for executor in self._executors:
            acl.aclDestroyAclOpExecutor(executor)


class TorchGpu(TorchPeer):
    """PyTorch's kernels, or the reason why they are missing."""

    def __init__(self) -> None:
        super().__init__()
        if not self.missing and not self._torch.cuda.is_available():
            self.missing = f"PyTorch {self.version} has no CUDA device"

    def use_stream(self, pointer: int) -> None:
        """Put this thread's work into a ``cudaStream_t`` from now on."""
        self._torch.cuda.set_stream(self._torch.cuda.ExternalStream(pointer))

    def side(self, cell: Cell, sets: list[list[acl.Tensor]]) -> Callable[[int], object]:
        """One call in the cell's terms, on the set whose turn it is."""
        calls = []
        for tensors in sets:
            shared = [self._torch.from_dlpack(tensor) for tensor in tensors]
            inputs, out = shared[: cell.inputs], shared[-1]
            calls.append(self._kernel(cell.operator, cell.direction, inputs, cell.axis, out))
        return lambda turn: calls[turn % len(calls)]()
