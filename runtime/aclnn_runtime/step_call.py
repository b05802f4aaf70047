# SPDX-License-Identifier: Apache-2.0
"""Python functions as steps of a plan: how the reference backend runs on a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from aclnn_native import ffi, lib
from aclnn_runtime import failures
from aclnn_runtime.errors import HOST_FUNCTION_FAILED

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["find_step", "forget_retired", "register_step", "release_step"]

_steps: dict[int, object] = {}


def register_step(step: object) -> int:
    """Keep what a step of a plan calls, for as long as something can run the plan.

    Parameters
    ----------
    step : object
        What ``call_token`` stands for. For ``aclpy_py_step_call`` a function and a count: the
        function gets the addresses of that many operands, inputs first; an exception fails the
        task.

    Returns
    -------
    int
        The ``call_token`` of the step. It is forgotten after the end of the native plan that has
        it: executors, queued tasks and graphs hold that plan longer than the cache of plans does.
    """
    forget_retired()
    token = failures.new_token()
    _steps[token] = step
    return token


def find_step(token: int) -> object:
    """What was registered as `token`; KeyError where it is forgotten."""
    return _steps[token]


def release_step(token: int) -> None:
    """Forget the step of a plan that was not made; unknown tokens are ignored."""
    _steps.pop(token, None)


def forget_retired() -> None:
    """Forget the steps of plans that have ended since the last call."""
    token = ffi.new("uint64_t *")
    plans = lib.aclpy_retired_take()
    while plans:
        plans = lib.aclpy_retired_next(plans, token)
        _steps.pop(token[0], None)


@ffi.def_extern(name="aclpy_py_step_call", error=HOST_FUNCTION_FAILED)  # type: ignore[untyped-decorator]
def _call(token: int, addresses: list[object]) -> int:
    try:
        function, operands = cast("tuple[Callable[[tuple[int, ...]], None], int]", _steps[token])
        function(tuple(int(ffi.cast("uintptr_t", addresses[i])) for i in range(operands)))
    except BaseException as error:  # noqa: BLE001  # nothing may unwind into the worker
        failures.keep(token, error)
        return HOST_FUNCTION_FAILED
    return 0
