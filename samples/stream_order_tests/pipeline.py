# SPDX-License-Identifier: Apache-2.0
"""The code under test: softmax on one stream, its result copied out on another."""

import numpy as np

import aclnn_py as acl


class Pipeline:
    """Computes on one stream and copies out on another, so that both can be busy."""

    def __init__(self, device: acl.Device, shape: tuple[int, int]) -> None:
        self.shape = shape
        self.nbytes = 4 * shape[0] * shape[1]
        self.compute, self.copy_out = device.create_stream(), device.create_stream()
        self.x, self.out = device.zeros(shape, "float32"), device.zeros(shape, "float32")
        self.result = device.malloc(self.nbytes)
        self.computed, self.copied = device.create_event(), device.create_event()
        self._device, self._copies = device, 0

    def run(self, values: np.ndarray) -> None:
        """Queue one round; nothing here waits for the device but the copy of the input."""
        if self._copies:
            self.compute.wait(self.copied)  # `out` is read until then
        acl.aclrtMemcpy(self.x.data_ptr, self.nbytes, values, self.nbytes, 1)
        size, executor = acl.aclnnSoftmaxGetWorkspaceSize(self.x, 1, self.out)
        workspace = self._device.malloc(size) if size else None
        acl.aclnnSoftmax(workspace, size, executor, self.compute)
        self.compute.record(self.computed)
        self.wait_for_result()
        acl.aclrtMemcpyAsync(
            self.result, self.nbytes, self.out.data_ptr, self.nbytes, 3, self.copy_out
        )
        self.copy_out.record(self.copied)
        self._copies += 1

    def wait_for_result(self) -> None:
        """Let the copy wait for what it copies."""
        self.copy_out.wait(self.computed)

    def numpy(self) -> np.ndarray:
        """Wait for the second stream, and for nothing else, and fetch the result."""
        self.copy_out.synchronize()
        values = np.empty(self.shape, np.float32)
        acl.aclrtMemcpy(values, self.nbytes, self.result, self.nbytes, 2)
        return values

    def close(self) -> None:
        """Give everything back."""
        for noun in (self.compute, self.copy_out, self.computed, self.copied):
            noun.close()
        for noun in (self.x, self.out, self.result):
            noun.close()
