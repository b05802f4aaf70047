# SPDX-License-Identifier: Apache-2.0
"""What the samples about order share: one softmax on device memory, and what NumPy says of it."""

import numpy as np

import aclnn_py as acl


class Softmax:
    """Both phases of aclnnSoftmax over the last axis; tensors and workspace live until the end."""

    def __init__(self) -> None:
        self._tensors: list[acl.Tensor] = []
        self._workspaces: list[acl.Buffer] = []

    def __call__(self, stream: acl.Stream, x: acl.Buffer, out: acl.Buffer, shape) -> None:
        dims = list(shape)
        strides = [dims[1], 1]
        tensors = [
            acl.aclCreateTensor(dims, acl.ACL_FLOAT, strides, 0, acl.ACL_FORMAT_ND, dims, buffer)
            for buffer in (x, out)
        ]
        self._tensors += tensors
        size, executor = acl.aclnnSoftmaxGetWorkspaceSize(tensors[0], 1, tensors[1])
        workspace = None
        if size > 0:
            workspace = acl.aclrtMalloc(size, acl.ACL_MEM_MALLOC_HUGE_FIRST)
            self._workspaces.append(workspace)
        acl.aclnnSoftmax(workspace, size, executor, stream)

    def destroy(self) -> None:
        """Give everything back, once the streams have been waited for."""
        for tensor in self._tensors:
            acl.aclDestroyTensor(tensor)
        for workspace in self._workspaces:
            acl.aclrtFree(workspace)


def softmax_of(values: np.ndarray) -> np.ndarray:
    """The same in float64."""
    shifted = np.exp(values.astype(np.float64) - values.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)
