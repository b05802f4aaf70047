# SPDX-License-Identifier: Apache-2.0
"""oneDNN's statuses, and the exception that carries one with a text that says what to do."""

from __future__ import annotations

from contextlib import contextmanager
from enum import IntEnum
from typing import TYPE_CHECKING, Final, NoReturn

from aclnn_runtime import AclError
from aclnn_runtime.errors import refusal_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["OneDnnError", "refuse", "status", "translated", "translation"]


class status(IntEnum):
    """``dnnl_status_t``; 7 to 10 belong to the Graph API."""

    success = 0
    out_of_memory = 1
    invalid_arguments = 2
    unimplemented = 3
    last_impl_reached = 4
    runtime_error = 5
    not_required = 6
    invalid_graph = 7
    invalid_graph_op = 8
    invalid_shape = 9
    invalid_data_type = 10


class OneDnnError(RuntimeError):
    """A call that answered with a status other than success.

    Attributes
    ----------
    status : status
        What the C call returns.
    function : str
        The call.
    argument : str
        The parameter to blame; empty where no single one is.
    hint : str
        What to do about it.
    """

    def __init__(
        self,
        message: str,
        code: status = status.runtime_error,
        function: str = "",
        argument: str = "",
        hint: str = "",
    ) -> None:
        super().__init__(message)
        self.status = code
        self.function = function
        self.argument = argument
        self.hint = hint

    def __reduce__(self) -> tuple[Callable[..., OneDnnError], tuple[object, ...]]:
        return type(self), (*self.args, self.status, self.function, self.argument, self.hint)


def refuse(
    code: status, function: str, argument: str, what: str, *, got: object, expected: str, fix: str
) -> NoReturn:
    """Raise the error of one refused call: what, which argument, got, expected, fix."""
    first = f"{function}: argument '{argument}' {what}" if argument else f"{function}: {what}"
    text = refusal_text(first, str(got)[:200], expected, fix, f"{code.name} {code.value}")
    raise OneDnnError(text, code, function, argument, fix)


# What the runtime and the planner answer, in this vocabulary; anything else is a runtime error.
_FROM_ACL: Final = {
    161001: status.invalid_arguments,
    161002: status.invalid_arguments,
    561003: status.unimplemented,
    561103: status.unimplemented,
    107000: status.invalid_arguments,
    107017: status.invalid_arguments,
    207001: status.out_of_memory,
}


@contextmanager
def translated(function: str) -> Iterator[None]:
    """Errors of the floors below, raised as errors of `function` with their text."""
    try:
        yield
    except AclError as error:
        raise translation(function, error) from error


def translation(function: str, error: AclError) -> OneDnnError:
    """An error of the floors below as an error of `function`."""
    code = _FROM_ACL.get(error.status, status.runtime_error)
    text = f"{function}: {error}      [{code.name} {code.value}]"
    return OneDnnError(text, code, function, error.argument or "", error.hint or "")
