# SPDX-License-Identifier: Apache-2.0
"""Tensors that are views: a transposed input and a result written into every other column.

This sample uses the Pythonic nouns (Device, Tensor, Stream): the same objects as the C names make,
with methods. They need neither aclInit nor aclrtSetDevice, and `with` closes them.
"""

import numpy as np
from _check import expect, expect_close

import aclnn_py as acl

rng = np.random.default_rng(2024)
temperatures = rng.normal(15.0, 6.0, size=(4, 3)).astype(np.float32)  # 4 cities, 3 days
UNTOUCHED = -1.0

with acl.Device(0) as device, device.create_stream() as stream:
    # The input seen the other way round, 3 days x 4 cities; no element moves, only the strides
    # change.
    by_city = device.tensor(temperatures)
    by_day = by_city.transpose(1, 0)
    print(f"input : shape {by_day.shape}, strides {by_day.strides} (elements)")
    expect(by_day.strides == (1, 3), "transposing only swaps the strides")

    # The result goes to columns 1, 3, 5 and 7 of a 3 x 8 table: stride 2, starting at element 1.
    table = device.full((3, 8), UNTOUCHED, "float32")
    out = table.view((3, 4), (8, 2), 1)
    print(f"output: shape {out.shape}, strides {out.strides}, offset {out.offset}")

    # Softmax over the cities of each day. Views cost workspace: the plan first makes the input
    # dense and last copies the dense result into the view.
    workspace_size, executor = acl.aclnnSoftmaxGetWorkspaceSize(by_day, 1, out)
    print(f"workspace: {workspace_size} bytes")
    workspace = device.malloc(workspace_size) if workspace_size else None
    acl.aclnnSoftmax(workspace, workspace_size, executor, stream)
    stream.synchronize()

    result = table.numpy()

print(result.round(3))
e = np.exp(temperatures.T.astype(np.float64) - temperatures.T.max(axis=1, keepdims=True))
expect_close("softmax of a view", result[:, 1::2], e / e.sum(axis=1, keepdims=True), 1.2e-6)
expect(bool((result[:, 0::2] == UNTOUCHED).all()), "the elements between the strides are untouched")
