# SPDX-License-Identifier: Apache-2.0
"""CUDA's errors as statuses of AscendCL, and their texts in the native library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from aclnn_native import lib
from aclnn_runtime.errors import INVALID_HANDLE, PARAM_INVALID, AclError
from aclnn_runtime.status_table import status_value

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["status_of", "tell", "told"]

_OUT_OF_MEMORY: Final = status_value("ACL_ERROR_RT_MEMORY_ALLOCATION")
_NO_DEVICE: Final = status_value("ACL_ERROR_RT_NO_DEVICE")
_NO_SUCH_DEVICE: Final = status_value("ACL_ERROR_RT_INVALID_DEVICEID")
_SETUP: Final = status_value("ACL_ERROR_RT_DEV_SETUP_ERROR")
_UNSUPPORTED: Final = status_value("ACL_ERROR_RT_FEATURE_NOT_SUPPORT")
_TIMEOUT: Final = status_value("ACL_ERROR_RT_AICORE_TIMEOUT")
_KERNEL_FAILED: Final = status_value("ACL_ERROR_RT_AICORE_EXCEPTION")
_NO_KERNEL: Final = status_value("ACL_ERROR_RT_KERNEL_LOOKUP")
_DRIVER: Final = status_value("ACL_ERROR_RT_DRV_INTERNAL_ERROR")
_INTERNAL: Final = status_value("ACL_ERROR_INTERNAL_ERROR")

# By cudaError_t, which the driver's own numbers agree with where both have one.
_STATUSES: Final = {
    1: PARAM_INVALID,  # invalid value
    2: _OUT_OF_MEMORY,
    3: _SETUP,  # initialisation error
    35: _SETUP,  # the driver is too old for this CuPy
    46: _SETUP,  # devices unavailable
    100: _NO_DEVICE,
    101: _NO_SUCH_DEVICE,
    209: _NO_KERNEL,  # no binary for this device
    218: _NO_KERNEL,  # invalid PTX
    400: INVALID_HANDLE,
    500: _NO_KERNEL,  # symbol not found
    700: _KERNEL_FAILED,  # illegal address
    702: _TIMEOUT,
    710: _KERNEL_FAILED,  # assert
    714: _KERNEL_FAILED,  # hardware stack error
    715: _KERNEL_FAILED,  # illegal instruction
    716: _KERNEL_FAILED,  # misaligned address
    717: _KERNEL_FAILED,  # invalid address space
    718: _KERNEL_FAILED,  # invalid program counter
    719: _KERNEL_FAILED,  # launch failure
    801: _UNSUPPORTED,
}
_HINTS: Final = {
    _OUT_OF_MEMORY: "free memory, of other programs on the device, too",
    _KERNEL_FAILED: "a device in this state serves nobody in this process any more: restart it; "
    "compute-sanitizer finds the place",
    _NO_KERNEL: "the text of the compiler is above; a newer CuPy or CUDA may know the device",
    _SETUP: "install a driver that is new enough for this CuPy (nvidia-smi says which CUDA it has)",
}


def status_of(error: BaseException) -> int:
    """The status that stands for an exception of CuPy.

    Parameters
    ----------
    error : BaseException
        A ``CUDARuntimeError`` or ``CUDADriverError`` counts by its number.

    Returns
    -------
    int
        507899 (driver) for CUDA errors without a counterpart, 507027 where a kernel does not
        compile, 500000 for what is no error of CUDA.
    """
    if isinstance(error, AclError):
        return error.status
    number = getattr(error, "status", None)
    if isinstance(number, int):
        return _STATUSES.get(int(number), _DRIVER)
    if type(error).__name__ == "CompileException":
        return _NO_KERNEL
    return _OUT_OF_MEMORY if isinstance(error, MemoryError) else _INTERNAL


def tell(error: BaseException, function: str) -> int:
    """Make an exception the calling thread's last error of the native library.

    Returns
    -------
    int
        The status to answer with.
    """
    status = status_of(error)
    got = f"{type(error).__name__}: {error}"[:310]
    hint = _HINTS.get(status, "")
    lib.aclpy_fail_text(
        status, function.encode(), b"", b"", hint.encode(), got.encode("utf-8", "replace")
    )
    return status


def told(function: str) -> Callable[[Callable[..., None]], Callable[..., int]]:
    """Decorate the body of a callback: exceptions become statuses.

    Parameters
    ----------
    function : str
        The C name that its messages begin with.
    """

    def decorate(body: Callable[..., None]) -> Callable[..., int]:
        def answer(*arguments: Any) -> int:
            try:
                body(*arguments)
            except BaseException as error:  # noqa: BLE001  # nothing may unwind into C
                return tell(error, function)
            return 0

        answer.__doc__ = body.__doc__
        return answer

    return decorate
