# SPDX-License-Identifier: Apache-2.0
"""Python functions as steps of a plan: how the reference backend runs on a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_native import ffi
from aclnn_runtime import failures
from aclnn_runtime.errors import HOST_FUNCTION_FAILED

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["register_step", "release_step"]

_steps: dict[int, tuple[Callable[[tuple[int, ...]], None], int]] = {}


def register_step(function: Callable[[tuple[int, ...]], None], operands: int) -> int:
    """Make `function` callable by a plan.

    Parameters
    ----------
    function : Callable[[tuple of int], None]
        Gets the addresses of the step's operands, inputs first; an exception fails the task.
    operands : int
        Number of addresses.

    Returns
    -------
    int
        The ``call_token`` of the step. The function is held until `release_step`.
    """
    token = failures.new_token()
    _steps[token] = (function, operands)
    return token


def release_step(token: int) -> None:
    """Forget the function of `token`; unknown tokens are ignored."""
    _steps.pop(token, None)


@ffi.def_extern(name="aclpy_py_step_call", error=HOST_FUNCTION_FAILED)  # type: ignore[untyped-decorator]
def _call(token: int, addresses: list[object]) -> int:
    try:
        function, operands = _steps[token]
        function(tuple(int(ffi.cast("uintptr_t", addresses[i])) for i in range(operands)))
    except BaseException as error:  # noqa: BLE001  # nothing may unwind into the worker
        failures.keep(token, error)
        return HOST_FUNCTION_FAILED
    return 0
