# SPDX-License-Identifier: Apache-2.0
"""Three pieces of device memory that every cell and every contestant in this process shares."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

import aclnn_py as acl

if TYPE_CHECKING:
    from benchmarks.cells import Layout

__all__ = ["Arena", "View"]

_NUMPY = {
    "float32": np.dtype(np.float32),
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float64": np.dtype(np.float64),
    "uint8": np.dtype(np.uint8),
}
_ACL = {
    "float32": acl.ACL_FLOAT,
    "float16": acl.ACL_FLOAT16,
    "bfloat16": acl.ACL_BF16,
    "float64": acl.ACL_DOUBLE,
    "uint8": acl.ACL_UINT8,
}
_SLACK = 4096


@dataclass(frozen=True, slots=True)
class View:
    """One tensor as each side sees it: the same bytes."""

    address: int
    dtype: str
    shape: tuple[int, ...]
    layout: Layout
    tensor: acl.Tensor
    array: np.ndarray[Any, Any]

    @property
    def span_bytes(self) -> int:
        return self.layout.span * self.array.itemsize

    def raw(self) -> np.ndarray[Any, Any]:
        """All bytes from the first element to the last."""
        return _bytes_at(self.address, self.span_bytes)


class Arena:
    """First input, second input and output, as large as the largest cell needs."""

    def __init__(self, device: acl.Device, slot_bytes: int) -> None:
        self.device = device
        self.slot_bytes = slot_bytes + _SLACK
        self._buffers = [device.malloc(self.slot_bytes) for _ in range(3)]
        for buffer in self._buffers:
            _bytes_at(buffer.ptr, self.slot_bytes)[:] = 0  # no first touch while the clock runs
        rng = np.random.default_rng(0)
        self._normal = rng.standard_normal(1 << 20, dtype=np.float32) * 3

    def address(self, slot: int) -> int:
        return self._buffers[slot].ptr

    def view(
        self, slot: int, dtype: str, shape: tuple[int, ...], layout: Layout, offset: int = 0
    ) -> View:
        """A tensor `offset` bytes behind the start of a slot."""
        kind = _NUMPY[dtype]
        address = self.address(slot) + offset
        if offset + layout.span * kind.itemsize > self.slot_bytes:
            raise MemoryError(f"{shape} of {dtype} does not fit the arena")
        tensor = acl.aclCreateTensor(
            shape,
            _ACL[dtype],
            layout.strides,
            0,
            acl.ACL_FORMAT_ND,
            [layout.span],
            address,
        )
        flat = _bytes_at(address, layout.span * kind.itemsize).view(kind)
        strides = [stride * kind.itemsize for stride in layout.strides]
        array = np.lib.stride_tricks.as_strided(flat, shape, strides)
        return View(address, dtype, shape, layout, tensor, array)

    def fill(self, view: View) -> None:
        """Normal numbers, three wide, into every byte of the span."""
        flat = view.raw().view(view.array.dtype)
        chunk = self._normal.astype(flat.dtype)
        # An odd step, so that rows differ.
        for start in range(0, flat.size, chunk.size - 1):
            piece = flat[start : start + chunk.size - 1]
            piece[:] = chunk[: piece.size]


def _bytes_at(address: int, nbytes: int) -> np.ndarray[Any, Any]:
    return np.frombuffer((ctypes.c_ubyte * nbytes).from_address(address), dtype=np.uint8)
