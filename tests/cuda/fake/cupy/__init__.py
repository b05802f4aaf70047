# SPDX-License-Identifier: Apache-2.0
"""A CuPy without a GPU: the part of CuPy 14 that the backend calls, with CUDA's rules of order.

Every stream is a thread that does its work in order and late; events, waits, captures and
asynchronous errors behave as CUDA's do. Device memory has addresses at which a processor faults:
what the host touches by mistake ends the test. Kernels run as host code, in the twin of tests/cuda.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

import numpy as np

from cupy import cuda
from cupy._arrays import asarray, from_dlpack, ndarray, zeros

__all__ = ["asarray", "cuda", "float32", "from_dlpack", "ndarray", "zeros"]
__version__ = "14.2.0"
float32 = np.float32

if "CUPY_CACHE_DIR" not in os.environ:
    # What is compiled here is no program for a card: it must not come into the user's cache.
    os.environ["CUPY_CACHE_DIR"] = tempfile.mkdtemp(prefix="aclnn-py-cupy-")
    atexit.register(shutil.rmtree, os.environ["CUPY_CACHE_DIR"], ignore_errors=True)
