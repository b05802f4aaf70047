# SPDX-License-Identifier: Apache-2.0
"""Gradient of softmax, written step by step in the C API's own names.

Every line has its counterpart in a C or C++ host program for an NPU. The differences are Python's:
an out-parameter comes back as the return value, and a status other than 0 is raised as an
exception.
"""

import numpy as np
from _check import expect_close

import aclnn_py as acl

DEVICE_ID = 0
DIM = 1  # the axis that softmax was taken over

# Two questions with four answers each: how likely each answer was (the forward result, rows sum to
# 1) ...
output_host = np.array([[0.7, 0.1, 0.1, 0.1], [0.25, 0.5, 0.125, 0.125]], dtype=np.float32)
# ... and how the loss changes with each of these probabilities (the gradient that arrives from
# above).
grad_output_host = np.array([[-1.5, 0.0, 0.5, 2.0], [0.0, -2.0, 1.0, 0.25]], dtype=np.float32)
out_host = np.zeros_like(output_host)
dims = list(output_host.shape)
nbytes = output_host.nbytes

# 1. Start the runtime, choose a device, make a stream: an in-order queue of work on that device.
acl.aclInit()
acl.aclrtSetDevice(DEVICE_ID)
stream = acl.aclrtCreateStream()

# 2. Device memory for the two inputs and the result; copy the inputs over.
grad_output_device = acl.aclrtMalloc(nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST)
output_device = acl.aclrtMalloc(nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST)
out_device = acl.aclrtMalloc(nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST)
acl.aclrtMemcpy(grad_output_device, nbytes, grad_output_host, nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE)
acl.aclrtMemcpy(output_device, nbytes, output_host, nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE)

# 3. Tensors: a description (shape, dtype, strides in elements, offset, format) of memory they do
# not own.
strides = [dims[1], 1]
grad_output = acl.aclCreateTensor(
    dims, acl.ACL_FLOAT, strides, 0, acl.ACL_FORMAT_ND, dims, grad_output_device
)
output = acl.aclCreateTensor(
    dims, acl.ACL_FLOAT, strides, 0, acl.ACL_FORMAT_ND, dims, output_device
)
out = acl.aclCreateTensor(dims, acl.ACL_FLOAT, strides, 0, acl.ACL_FORMAT_ND, dims, out_device)

# 4. Phase one: checks everything, plans, and says how much scratch memory (workspace) the plan
# needs.
workspace_size, executor = acl.aclnnSoftmaxBackwardGetWorkspaceSize(grad_output, output, DIM, out)
print(f"workspace: {workspace_size} bytes")
workspace = None
if workspace_size > 0:
    workspace = acl.aclrtMalloc(workspace_size, acl.ACL_MEM_MALLOC_HUGE_FIRST)

# 5. Phase two: puts the work on the stream and returns at once; then wait for the stream.
acl.aclnnSoftmaxBackward(workspace, workspace_size, executor, stream)
acl.aclrtSynchronizeStream(stream)

# 6. Copy the result back, look at it, check it.
acl.aclrtMemcpy(out_host, nbytes, out_device, nbytes, acl.ACL_MEMCPY_DEVICE_TO_HOST)
print("gradient with respect to softmax's input:")
print(out_host)
g, y = grad_output_host.astype(np.float64), output_host.astype(np.float64)
expect_close("softmax backward", out_host, y * (g - (g * y).sum(axis=DIM, keepdims=True)), 4.8e-6)

# 7. Give everything back, in the reverse order.
acl.aclDestroyTensor(grad_output)
acl.aclDestroyTensor(output)
acl.aclDestroyTensor(out)
acl.aclrtFree(grad_output_device)
acl.aclrtFree(output_device)
acl.aclrtFree(out_device)
if workspace is not None:
    acl.aclrtFree(workspace)
acl.aclrtDestroyStream(stream)
acl.aclrtResetDevice(DEVICE_ID)
acl.aclFinalize()
