# SPDX-License-Identifier: Apache-2.0
"""How a step becomes a task: one file a backend, most preferred first in `BACKENDS`."""

from aclnn_py.backends.cpu import CpuBackend
from aclnn_py.backends.cuda import CudaBackend
from aclnn_py.backends.native_plan import Launch, native_plan, operator_id
from aclnn_py.backends.reference import ReferenceBackend

__all__ = [
    "BACKENDS",
    "GPU_BACKENDS",
    "CpuBackend",
    "CudaBackend",
    "Launch",
    "ReferenceBackend",
    "native_plan",
    "operator_id",
]

BACKENDS = (CpuBackend(), ReferenceBackend())
#: For tensors in the memory of a CUDA device.
GPU_BACKENDS = (CudaBackend(),)
