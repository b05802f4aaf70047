# SPDX-License-Identifier: Apache-2.0
"""The engine and the kernels: `ffi` and `lib` as cffi sees them; `calls`, the hot path, without."""

import aclnn_native._calls as calls
from aclnn_native._native import ffi, lib

__all__ = ["calls", "ffi", "lib"]
