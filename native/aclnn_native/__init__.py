# SPDX-License-Identifier: Apache-2.0
"""The engine and the kernels as cffi sees them: `ffi` and `lib`, and nothing else."""

from aclnn_native._native import ffi, lib

__all__ = ["ffi", "lib"]
