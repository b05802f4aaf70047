# SPDX-License-Identifier: Apache-2.0
"""Statuses as exceptions: AclError for the runtime, AclnnError for operators.

::

    RuntimeError
      AclError        any acl* or aclrt* call that answered with a status other than 0
        AclnnError    an aclnn* call
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from aclnn_native import ffi, lib
from aclnn_runtime import failures
from aclnn_runtime.status_table import STATUSES, status_value
from aclnn_runtime.status_table import status_name as _status_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

__all__ = [
    "HOST_FUNCTION_FAILED",
    "INVALID_HANDLE",
    "INVALID_PARAM",
    "PARAM_INVALID",
    "AclError",
    "AclnnError",
    "fail",
    "format_message",
    "raise_last",
    "refusal_text",
]

INVALID_PARAM = status_value("ACL_ERROR_INVALID_PARAM")
PARAM_INVALID = status_value("ACL_ERROR_RT_PARAM_INVALID")
INVALID_HANDLE = status_value("ACL_ERROR_RT_INVALID_HANDLE")
HOST_FUNCTION_FAILED = status_value("ACL_ERROR_RT_INTERNAL_ERROR")

_MEANINGS = {value: meaning for _, value, meaning in STATUSES}


def refusal_text(first: str, got: str, expected: str, fix: str, label: str) -> str:
    """The lines of an error in the layout that every face shares.

    Parameters
    ----------
    first : str
        Which call failed at which argument, and what is wrong.
    got, expected, fix : str
        The three lines below the first one; an empty one is left out.
    label : str
        The status in the face's own words, printed last in brackets.

    Returns
    -------
    str
        Text that UTF-8 can encode, without a line break at the end.
    """
    lines = [first]
    lines += [
        f"  {title:9} {text}"
        for title, text in (("got:", got), ("expected:", expected), ("fix:", fix))
        if text
    ]
    whole = "\n".join(lines) + f"      [{label}]"
    # Of a wrong argument there may be lone surrogates, which no stream and no C string takes.
    return whole.encode(errors="backslashreplace").decode()


def format_message(
    function: str,
    argument: str,
    got: str,
    expected: str,
    fix: str,
    status: int,
    *,
    what: str = "",
) -> str:
    """Text of an error: what, which, got, expected, fix.

    Parameters
    ----------
    function : str
        The C function, the noun's method or the operator that failed.
    argument : str
        C name of the offending parameter; empty when no single one is to blame.
    got, expected, fix : str
        The three lines below the first one; an empty one is left out.
    status : int
        The status, printed last with its name.
    what : str
        What is wrong with the argument, after "argument 'x' ".

    Returns
    -------
    str
        Up to four lines, without a line break at the end.
    """
    if argument:
        first = f"{function}: argument '{argument}' {what or 'was refused'}"
    else:
        first = f"{function}: {what or 'failed'}"
    return refusal_text(first, got, expected, fix, f"{_status_name(status)} {status}")


class AclError(RuntimeError):
    """A call that answered with a status other than 0.

    Attributes
    ----------
    status : int
        The number that the C call returns.
    status_name : str
        Its name.
    operator : str
        The function or operator that failed.
    argument : str or None
        C name of the parameter to blame, where there is one.
    hint : str or None
        What to do about it.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = INVALID_PARAM,
        operator: str = "",
        argument: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.operator = operator
        self.argument = argument
        self.hint = hint

    @property
    def status_name(self) -> str:
        """Name of the status."""
        return _status_name(self.status)

    @classmethod
    def build(
        cls,
        status: int,
        *,
        function: str,
        argument: str = "",
        what: str = "",
        got: str = "",
        expected: str = "",
        fix: str = "",
    ) -> Self:
        """An error with the text of `format_message`; it is returned, not raised."""
        return cls(
            format_message(function, argument, got, expected, fix, status, what=what),
            status=status,
            operator=function,
            argument=argument or None,
            hint=fix or None,
        )

    def __reduce__(self) -> tuple[Callable[..., AclError], tuple[object, ...], dict[str, object]]:
        return type(self), self.args, self.__dict__.copy()


class AclnnError(AclError):
    """An aclnn* call that answered with a status other than 0."""


def fail(
    function: str,
    argument: str,
    *,
    got: str,
    expected: str,
    fix: str,
    what: str = "",
    status: int = INVALID_PARAM,
    error: type[AclError] = AclError,
) -> NoReturn:
    """Raise an error found on the Python side; its text joins the thread's recent messages."""
    raised = error.build(
        status,
        function=function,
        argument=argument,
        what=what,
        got=got,
        expected=expected,
        fix=fix,
    )
    lib.aclpy_error_push(status, str(raised).encode())
    raise raised


def _text(field: object) -> str:
    raw: bytes = ffi.string(field)
    return raw.decode("utf-8", "replace")


def raise_last(status: int, *, error: type[AclError] = AclError, function: str = "") -> NoReturn:
    """Raise what the native library has to say about the call that has just failed.

    Parameters
    ----------
    status : int
        The status that the call returned; never 0.
    error : type[AclError]
        Class to raise.
    function : str, optional
        The function that was called, where several share one of the native library.

    Raises
    ------
    AclError
        Always. The exception of a failed host function is its ``__cause__``, and its text names it.
    """
    meaning = _MEANINGS.get(status, "")
    last = lib.aclpy_error_last()
    if not last or last.status != status:
        raise error.build(status, function=function or "aclnn_py", what=meaning)
    # Copied before Python objects are asked anything: a call of theirs may overwrite the record.
    function, argument = function or _text(last.function), _text(last.argument)
    got, expected, fix = _text(last.got), _text(last.expected), _text(last.hint)
    cause = failures.take(int(last.token)) if last.token else None
    if cause is not None:
        # The library knows the status of a failed function only.
        got, expected = failures.sentence(cause), "a function that returns"
        fix = "see __cause__ for its traceback"
    raise error.build(
        status,
        function=function,
        argument=argument,
        what=f"was refused ({meaning})" if argument and meaning else meaning,
        got=got,
        expected=expected,
        fix=fix,
    ) from cause
