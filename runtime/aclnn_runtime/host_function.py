# SPDX-License-Identifier: Apache-2.0
"""Python functions in stream order: the runtime's worker calls them with the GIL held."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from aclnn_native import ffi, lib
from aclnn_runtime import failures
from aclnn_runtime.arguments import as_function
from aclnn_runtime.errors import HOST_FUNCTION_FAILED, raise_last

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["hold", "launch"]

_FUNCTION: Final = "aclrtLaunchHostFunc"
_LABEL: Final = _FUNCTION.encode()

# Functions that are queued or running, by the key that the task carries.
_queued: dict[int, Callable[[], object]] = {}


def launch(context: int, stream: int, function: object) -> None:
    """Queue `function`, to be called without arguments after all earlier work of the stream.

    Parameters
    ----------
    context, stream : int
        Handles; 0 stands for the thread's current context and its default stream.
    function : Callable[[], object]
        What to call. Its result is ignored; an exception becomes status 507000 at the next
        synchronise of the stream, with the exception as ``__cause__``.

    Raises
    ------
    AclError
        107000 for None, 100000 for anything else that cannot be called, and what the stream has
        to say.

    Notes
    -----
    Never blocks. The stream holds the function until it has run or is dropped.
    """
    key, run, drop, argument = hold(as_function(_FUNCTION, "fn", function))
    status = lib.aclpy_submit(context, stream, _LABEL, run, drop, argument, key)
    if status:
        raise_last(status)


def hold(function: Callable[[], object]) -> tuple[int, Any, Any, Any]:
    """What the native library needs to call `function`: token, run, drop and their argument.

    The function is held until the library drops it, which it does also when it refuses it.
    """
    key = failures.new_token()
    _queued[key] = function
    return key, lib.aclpy_py_task_run, lib.aclpy_py_task_drop, ffi.cast("void *", key)


# With `error`, a failure outside the try statement (a missing key, say) is no success either.
@ffi.def_extern(name="aclpy_py_task_run", error=HOST_FUNCTION_FAILED)  # type: ignore[untyped-decorator]
def _run(argument: object) -> int:
    key = int(ffi.cast("uintptr_t", argument))
    try:
        _queued[key]()
    except BaseException as error:  # noqa: BLE001  # nothing may unwind into the worker
        failures.keep(key, error)
        return HOST_FUNCTION_FAILED
    return 0


@ffi.def_extern(name="aclpy_py_task_drop")  # type: ignore[untyped-decorator]
def _drop(argument: object) -> None:
    _queued.pop(int(ffi.cast("uintptr_t", argument)), None)
