# SPDX-License-Identifier: Apache-2.0
"""A result of another dtype: softmax casts its RESULT, log-softmax casts its INPUT.

The difference is visible from float16 to float32. Softmax computes in float16, rounds to float16
and then widens: its float32 results are float16 numbers. Log-softmax widens first and computes in
float32.
"""

import numpy as np
from _check import expect, expect_close

import aclnn_py as acl

rng = np.random.default_rng(3)
x = rng.normal(size=(8, 50)).astype(np.float16)

with acl.Device(0) as device, device.create_stream() as stream:
    x_device = device.tensor(x)
    kept = []  # workspaces must live until the stream has been synchronised
    results = {}
    for operator in ("Softmax", "LogSoftmax"):
        out = device.empty(x.shape, "float32")  # a name, a NumPy dtype or acl.ACL_FLOAT
        phase_one = getattr(acl, f"aclnn{operator}GetWorkspaceSize")
        phase_two = getattr(acl, f"aclnn{operator}")
        workspace_size, executor = phase_one(x_device, 1, out)
        workspace = device.malloc(workspace_size) if workspace_size else None
        phase_two(workspace, workspace_size, executor, stream)
        kept.append(workspace)
        results[operator] = out
        print(f"{operator}: float16 to float32 needs {workspace_size} bytes of workspace")
    stream.synchronize()
    softmax, log_softmax = results["Softmax"].numpy(), results["LogSoftmax"].numpy()

shifted = x.astype(np.float64) - x.max(axis=1, keepdims=True).astype(np.float64)
sums = np.exp(shifted).sum(axis=1, keepdims=True)

is_half = softmax.astype(np.float16).astype(np.float32) == softmax
expect(bool(is_half.all()), "each softmax result is a float16 number: rounded, then widened")
expect_close("softmax, to float16 precision", softmax, np.exp(shifted) / sums, 2.0**-10, 2.0**-24)

is_half = log_softmax.astype(np.float16).astype(np.float32) == log_softmax
expect(not is_half.all(), "log-softmax results are finer than float16: widened, then computed")
expect_close("log-softmax, to float32 precision", log_softmax, shifted - np.log(sums), 6e-6)
