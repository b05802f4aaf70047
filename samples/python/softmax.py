# SPDX-License-Identifier: Apache-2.0
"""Softmax over the last axis, in the C API's names: scores become chances to win."""

import numpy as np
from _check import expect_close

import aclnn_py as acl

# One row a match, one column a player. Large scores are no problem: the row's largest is subtracted
# first.
scores = np.array(
    [[3.0, 1.0, 0.5], [0.0, 0.0, 0.0], [9000.0, 9001.0, 8990.0], [-4.0, 2.0, 2.0]], np.float32
)
chances = np.zeros_like(scores)
dims, nbytes = list(scores.shape), scores.nbytes

acl.aclInit()
acl.aclrtSetDevice(0)
stream = acl.aclrtCreateStream()

self_device = acl.aclrtMalloc(nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST)
out_device = acl.aclrtMalloc(nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST)
acl.aclrtMemcpy(self_device, nbytes, scores, nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE)
# A stride of None means row-major, storageDims of None means the same as viewDims.
self_tensor = acl.aclCreateTensor(
    dims, acl.ACL_FLOAT, None, 0, acl.ACL_FORMAT_ND, None, self_device
)
out_tensor = acl.aclCreateTensor(dims, acl.ACL_FLOAT, None, 0, acl.ACL_FORMAT_ND, None, out_device)

# dim counts from the end when negative: -1 is the last axis.
workspace_size, executor = acl.aclnnSoftmaxGetWorkspaceSize(self_tensor, -1, out_tensor)
workspace = (
    acl.aclrtMalloc(workspace_size, acl.ACL_MEM_MALLOC_HUGE_FIRST) if workspace_size else None
)
acl.aclnnSoftmax(workspace, workspace_size, executor, stream)
acl.aclrtSynchronizeStream(stream)

acl.aclrtMemcpy(chances, nbytes, out_device, nbytes, acl.ACL_MEMCPY_DEVICE_TO_HOST)
print("chances to win:")
print(chances.round(4))
e = np.exp(scores.astype(np.float64) - scores.max(axis=1, keepdims=True))
expect_close("softmax", chances, e / e.sum(axis=1, keepdims=True), 1.2e-6)

for tensor in (self_tensor, out_tensor):
    acl.aclDestroyTensor(tensor)
for memory in (self_device, out_device, workspace):
    if memory is not None:
        acl.aclrtFree(memory)
acl.aclrtDestroyStream(stream)
acl.aclrtResetDevice(0)
acl.aclFinalize()
