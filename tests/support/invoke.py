# SPDX-License-Identifier: Apache-2.0
"""One two-phase call over arrays: workspace poisoned and guarded, layouts by name."""

from __future__ import annotations

import numpy as np

from support.layouts import Layout, Placed, layout
from support.tensors import planner, runner

GUARD = 4096
_GUARD_BYTE, _POISON_BYTE = 0xA7, 0xFF  # all ones: a NaN in every floating type


class Workspace:
    """Exactly `size` bytes between two guard zones."""

    def __init__(self, device, size: int):
        self.size = size
        fill = np.full(size + 2 * GUARD, _GUARD_BYTE, np.uint8)
        fill[GUARD : GUARD + size] = _POISON_BYTE
        self.memory = device.tensor(fill)
        self.ptr = _address(self.memory) + GUARD if size else None

    def check(self) -> None:
        after = self.memory.numpy()
        assert np.all(after[:GUARD] == _GUARD_BYTE), "written before the workspace"
        assert np.all(after[GUARD + self.size :] == _GUARD_BYTE), "written past the workspace"


def _address(tensor) -> int:
    import aclnn_py as acl  # noqa: PLC0415

    return int(acl.aclGetRawTensorAddr(tensor))


def execute(device, stream, operator, tensors, dim) -> int:
    """Both phases over finished tensors; returns the workspace size."""
    size, executor = planner(operator)(*tensors[:-1], dim, tensors[-1])
    workspace = Workspace(device, size)
    runner(operator)(workspace.ptr, size, executor, stream)
    stream.synchronize()
    workspace.check()
    return size


def invoke(
    device,
    stream,
    operator,
    arrays,
    dim,
    *,
    layouts="contiguous",
    out_layout="contiguous",
    out_dtype=None,
):
    """The result, and the arrays as the operator saw them (a broadcast repeats values)."""
    names = [layouts] * len(arrays) if isinstance(layouts, (str, Layout)) else layouts
    placed = [
        Placed(
            device,
            name if isinstance(name, Layout) else layout(name, array.shape),
            array.dtype,
            array,
        )
        for name, array in zip(names, arrays, strict=True)
    ]
    shape = arrays[0].shape
    spread = out_layout if isinstance(out_layout, Layout) else layout(out_layout, shape)
    out = Placed(device, spread, out_dtype or arrays[0].dtype)
    execute(device, stream, operator, [*(p.tensor for p in placed), out.tensor], dim)
    for one in placed:
        one.holds(one.array)
    return out.read(), [p.array for p in placed]
