# SPDX-License-Identifier: Apache-2.0
"""Fused softmax calls over arrays, through the door: workspace poisoned and guarded."""

from __future__ import annotations

import numpy as np

from aclnn_py import twophase
from aclnn_py.core.dtype import as_dtype
from support.invoke import Workspace


def call(device, stream, operator, tensors, axis):
    """Both phases over finished tensors in the order of the spec; returns the workspace size."""
    size, executor = operator.get_workspace_size(tensors, [axis])
    workspace = Workspace(device, size)
    operator.execute(workspace.ptr, size, executor, stream)
    stream.synchronize()
    workspace.check()
    return size


def _filled(device, shape, dtype):
    kind = as_dtype(dtype).numpy
    return device.tensor(
        np.frombuffer(b"\xff" * (int(np.prod(shape)) * kind.itemsize), kind).reshape(shape).copy()
    )


def forward(device, stream, extras, x, dst_dtype, axis, **tensors):
    """Outputs by name: dst, and dropout_mask and stats where the extras have them.

    `tensors` are arrays by parameter name, or finished tensors.
    """
    operator = twophase.fused_forward(extras)
    reduced = [1 if n == axis % x.ndim else size for n, size in enumerate(x.shape)]
    made = {
        "dst": (x.shape, dst_dtype),
        "dropout_mask": (x.shape, "uint8"),
        "stats": (reduced, "float32"),
    }
    found, outputs = [], {}
    for param in operator.spec.tensors:
        given = tensors.get(param.name, x if param.name == "src" else None)
        if given is None:
            shape, dtype = made[param.name]
            given = outputs[param.name] = _filled(device, shape, dtype)
        elif isinstance(given, np.ndarray):
            given = device.tensor(given)
        if param.kind == "output":
            outputs[param.name] = given
        found.append(given)
    call(device, stream, operator, found, axis)
    return {name: tensor.numpy() for name, tensor in outputs.items()}
