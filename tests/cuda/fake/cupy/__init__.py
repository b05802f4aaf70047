# SPDX-License-Identifier: Apache-2.0
"""A CuPy without a GPU: the part of CuPy 14 that the backend calls, with CUDA's rules of order.

Every stream is a thread that does its work in order and late; events, waits, captures and
asynchronous errors behave as CUDA's do. Device memory has addresses at which a processor faults:
what the host touches by mistake ends the test. Kernels run as host code, in the twin of tests/cuda.
"""

from __future__ import annotations

from cupy import cuda
from cupy._module import RawModule

__all__ = ["RawModule", "cuda"]
__version__ = "14.2.0"
