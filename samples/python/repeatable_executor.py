# SPDX-License-Identifier: Apache-2.0
"""Plan once, run many times: a repeatable executor, with its input and output moved between runs.

An executor is used up by phase two unless it is made repeatable right after phase one. A repeatable
one is yours to destroy, and the tensors it was planned with must live as long as it does.
"""

import numpy as np
from _check import expect, expect_close

import aclnn_py as acl

BATCHES = 5
rng = np.random.default_rng(7)
batches = rng.normal(size=(BATCHES, 6, 10)).astype(np.float32)
results = np.zeros_like(batches)
dims = list(batches.shape[1:])
batch_bytes = batches[0].nbytes

acl.aclInit()
acl.aclrtSetDevice(0)
stream = acl.aclrtCreateStream()

# All batches in one allocation. Device addresses are plain numbers: base + bytes is the next batch.
inputs_device = acl.aclrtMalloc(batches.nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST)
outputs_device = acl.aclrtMalloc(batches.nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST)
acl.aclrtMemcpy(
    inputs_device, batches.nbytes, batches, batches.nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE
)

self_tensor = acl.aclCreateTensor(
    dims, acl.ACL_FLOAT, None, 0, acl.ACL_FORMAT_ND, None, inputs_device
)
out_tensor = acl.aclCreateTensor(
    dims, acl.ACL_FLOAT, None, 0, acl.ACL_FORMAT_ND, None, outputs_device
)

# Phase one happens once.
workspace_size, executor = acl.aclnnLogSoftmaxGetWorkspaceSize(self_tensor, 1, out_tensor)
acl.aclSetAclOpExecutorRepeatable(executor)
workspace = (
    acl.aclrtMalloc(workspace_size, acl.ACL_MEM_MALLOC_HUGE_FIRST) if workspace_size else None
)

# Phase two happens once a batch, with both tensors pointed at the batch. The addresses are read
# when phase two is called, so the next batch may be set up while this one is still in the queue.
for batch in range(BATCHES):
    acl.aclSetInputTensorAddr(executor, 0, self_tensor, inputs_device + batch * batch_bytes)
    acl.aclSetOutputTensorAddr(executor, 0, out_tensor, outputs_device + batch * batch_bytes)
    acl.aclnnLogSoftmax(workspace, workspace_size, executor, stream)
acl.aclrtSynchronizeStream(stream)

acl.aclrtMemcpy(
    results, results.nbytes, outputs_device, results.nbytes, acl.ACL_MEMCPY_DEVICE_TO_HOST
)
shifted = batches.astype(np.float64) - batches.max(axis=2, keepdims=True)
expected = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
expect_close(f"{BATCHES} runs of one executor", results, expected, 6e-6)

acl.aclDestroyAclOpExecutor(executor)

# Without aclSetAclOpExecutorRepeatable the second run is refused. On an NPU it is a use after free;
# here it is an error that says what to do.
acl.aclSetRawTensorAddr(self_tensor, inputs_device)
acl.aclSetRawTensorAddr(out_tensor, outputs_device)
workspace_size, executor = acl.aclnnLogSoftmaxGetWorkspaceSize(self_tensor, 1, out_tensor)
acl.aclnnLogSoftmax(workspace, workspace_size, executor, stream)
try:
    acl.aclnnLogSoftmax(workspace, workspace_size, executor, stream)
except acl.AclnnError as error:
    print(error)
    expect(error.status == 161002, "a used-up executor is refused with status 161002")
else:
    expect(False, "a used-up executor is refused")  # noqa: FBT003 (reads as a sentence)
acl.aclrtSynchronizeStream(stream)

for tensor in (self_tensor, out_tensor):
    acl.aclDestroyTensor(tensor)
for memory in (inputs_device, outputs_device, workspace):
    if memory is not None:
        acl.aclrtFree(memory)
acl.aclrtDestroyStream(stream)
acl.aclrtResetDevice(0)
acl.aclFinalize()
