# SPDX-License-Identifier: Apache-2.0
"""Gradient of log-softmax, in place, in the C API's names: a classifier's training step.

`output` is what the forward pass produced, the LOG of the probabilities. With the loss "minus the
log probability of the right class", gradOutput is -1 at the right class, and the result is
probability minus one at the right class, probability elsewhere.
"""

import numpy as np
from _check import expect_close

import aclnn_py as acl

probabilities = np.array([[0.1, 0.6, 0.3], [0.8, 0.15, 0.05]], dtype=np.float32)
right_class = [1, 2]
output_host = np.log(probabilities)
grad_output_host = np.zeros_like(output_host)
grad_output_host[[0, 1], right_class] = -1.0
result = np.zeros_like(output_host)
dims, nbytes = list(output_host.shape), output_host.nbytes

acl.aclInit()
acl.aclrtSetDevice(0)
stream = acl.aclrtCreateStream()


def to_device(array: np.ndarray) -> tuple[acl.Buffer, acl.Tensor]:
    """Device memory holding a copy of `array`, and a row-major tensor over it."""
    memory = acl.aclrtMalloc(array.nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST)
    acl.aclrtMemcpy(memory, array.nbytes, array, array.nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE)
    tensor = acl.aclCreateTensor(dims, acl.ACL_FLOAT, None, 0, acl.ACL_FORMAT_ND, None, memory)
    return memory, tensor


grad_output_device, grad_output = to_device(grad_output_host)
output_device, output = to_device(output_host)

# The result may go where an input is: here gradOutput is also out, and is overwritten.
workspace_size, executor = acl.aclnnLogSoftmaxBackwardGetWorkspaceSize(
    grad_output, output, 1, grad_output
)
workspace = (
    acl.aclrtMalloc(workspace_size, acl.ACL_MEM_MALLOC_HUGE_FIRST) if workspace_size else None
)
acl.aclnnLogSoftmaxBackward(workspace, workspace_size, executor, stream)
acl.aclrtSynchronizeStream(stream)

acl.aclrtMemcpy(result, nbytes, grad_output_device, nbytes, acl.ACL_MEMCPY_DEVICE_TO_HOST)
print("gradient:")
print(result)
expected = np.exp(output_host.astype(np.float64))
expected[[0, 1], right_class] -= 1.0
expect_close("log-softmax backward", result, expected, 2.4e-5)

for tensor in (grad_output, output):
    acl.aclDestroyTensor(tensor)
for memory in (grad_output_device, output_device, workspace):
    if memory is not None:
        acl.aclrtFree(memory)
acl.aclrtDestroyStream(stream)
acl.aclrtResetDevice(0)
acl.aclFinalize()
