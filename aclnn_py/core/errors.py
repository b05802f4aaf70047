# SPDX-License-Identifier: Apache-2.0
"""Operator errors: built in one place from the spec, so that a name can never be wrong."""

from __future__ import annotations

from aclnn_native import lib
from aclnn_runtime import AclnnError
from aclnn_runtime.status_table import status_value

__all__ = [
    "INNER",
    "INNER_FIND_KERNEL",
    "INNER_NULLPTR",
    "PARAM_INVALID",
    "PARAM_NULLPTR",
    "AclnnError",
    "operator_error",
]

PARAM_NULLPTR = status_value("ACLNN_ERR_PARAM_NULLPTR")
PARAM_INVALID = status_value("ACLNN_ERR_PARAM_INVALID")
INNER = status_value("ACLNN_ERR_INNER")
INNER_FIND_KERNEL = status_value("ACLNN_ERR_INNER_FIND_KERNEL_ERROR")
INNER_NULLPTR = status_value("ACLNN_ERR_INNER_NULLPTR")


def operator_error(
    status: int,
    function: str,
    argument: str,
    what: str,
    *,
    got: str,
    expected: str,
    fix: str,
) -> AclnnError:
    """The error of one refused operator call.

    Parameters
    ----------
    status : int
        aclnnStatus.
    function : str
        The C function that was called.
    argument : str
        C name of the offending parameter.
    what : str
        What is wrong with it, after "argument 'x' ".
    got, expected, fix : str
        The three lines of the text.

    Returns
    -------
    AclnnError
        To be raised by the caller; its text has joined the thread's recent messages.
    """
    error = AclnnError.build(
        status,
        function=function,
        argument=argument,
        what=what,
        got=got,
        expected=expected,
        fix=fix,
    )
    lib.aclpy_error_push(status, str(error).encode())
    return error
