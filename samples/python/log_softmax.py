# SPDX-License-Identifier: Apache-2.0
"""Log-softmax over the FIRST axis in float16, in the C API's names.

The axis need not be the last one, and nothing is transposed behind your back for it.
"""

import numpy as np
from _check import expect_close

import aclnn_py as acl

# Each column is one word position; the rows are five candidate words. float16 is ACL_FLOAT16.
logits = np.array(
    [
        [2.0, -1.0, 0.5, 0.0],
        [1.0, 4.0, 0.5, 0.25],
        [0.0, 0.0, 0.5, -0.25],
        [-3.0, 2.5, 0.5, 8.0],
        [0.125, 1.5, 0.5, 7.5],
    ],
    dtype=np.float16,
)
log_chances = np.zeros_like(logits)
dims, nbytes = list(logits.shape), logits.nbytes

acl.aclInit()
acl.aclrtSetDevice(0)
stream = acl.aclrtCreateStream()

self_device = acl.aclrtMalloc(nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST)
out_device = acl.aclrtMalloc(nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST)
acl.aclrtMemcpy(self_device, nbytes, logits, nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE)
self_tensor = acl.aclCreateTensor(
    dims, acl.ACL_FLOAT16, None, 0, acl.ACL_FORMAT_ND, None, self_device
)
out_tensor = acl.aclCreateTensor(
    dims, acl.ACL_FLOAT16, None, 0, acl.ACL_FORMAT_ND, None, out_device
)

workspace_size, executor = acl.aclnnLogSoftmaxGetWorkspaceSize(self_tensor, 0, out_tensor)
workspace = (
    acl.aclrtMalloc(workspace_size, acl.ACL_MEM_MALLOC_HUGE_FIRST) if workspace_size else None
)
acl.aclnnLogSoftmax(workspace, workspace_size, executor, stream)
acl.aclrtSynchronizeStream(stream)

acl.aclrtMemcpy(log_chances, nbytes, out_device, nbytes, acl.ACL_MEMCPY_DEVICE_TO_HOST)
print("log of the chances, one position a column:")
print(log_chances)
shifted = logits.astype(np.float64) - logits.max(axis=0).astype(np.float64)
expected = shifted - np.log(np.exp(shifted).sum(axis=0))
# float16 keeps 11 bits: one unit in the last place is at most 2**-10 of the value.
expect_close("log-softmax", log_chances, expected, 2.0**-10)

for tensor in (self_tensor, out_tensor):
    acl.aclDestroyTensor(tensor)
for memory in (self_device, out_device, workspace):
    if memory is not None:
        acl.aclrtFree(memory)
acl.aclrtDestroyStream(stream)
acl.aclrtResetDevice(0)
acl.aclFinalize()
