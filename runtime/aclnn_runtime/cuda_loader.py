# SPDX-License-Identifier: Apache-2.0
"""The native library's way to CUDA devices: the first call that needs one loads CuPy."""

from __future__ import annotations

from aclnn_native import ffi, lib
from aclnn_runtime.status_table import status_value

__all__: list[str] = []

_SETUP_FAILED = status_value("ACL_ERROR_RT_DEV_SETUP_ERROR")


@ffi.def_extern(name="aclpy_py_device_load", error=_SETUP_FAILED)  # type: ignore[untyped-decorator]
def _load() -> int:
    from aclnn_runtime.cuda_device import load  # noqa: PLC0415  # only where a device is wanted

    return load()


lib.aclpy_device_loader_install(lib.aclpy_py_device_load)
