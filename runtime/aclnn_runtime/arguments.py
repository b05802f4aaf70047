# SPDX-License-Identifier: Apache-2.0
"""Python values as C arguments: what no C compiler would take is status 100000 with a sentence."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import numpy as np

from aclnn_runtime.errors import INVALID_PARAM, PARAM_INVALID, fail

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "SIZE_MAX",
    "as_function",
    "as_int",
    "as_int32",
    "as_list",
    "as_size",
    "as_some_text",
    "as_text",
    "as_uint32",
    "describe",
    "whole_number",
    "whole_numbers",
]

SIZE_MAX: Final = 2**64 - 1
_LONGEST_REPR: Final = 60


def describe(value: object) -> str:
    """What a wrong argument is, in a few words for the "got" line."""
    if value is None:
        return "None"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} array of shape {value.shape}, strides {value.strides} bytes"
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001  # a broken repr must not hide the caller's real mistake
        text = "unprintable"
    if len(text) > _LONGEST_REPR:
        text = text[: _LONGEST_REPR - 1] + "…"
    return f"{type(value).__name__} {text}"


def whole_number(value: object) -> int | None:
    """The integer that a value is; None for what is none, truth values among them."""
    if isinstance(value, bool | np.bool_):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]  # asking is the test
    except TypeError:
        return None


def whole_numbers(values: object) -> tuple[int, ...] | None:
    """The integers that a sequence holds; None for what is no sequence of integers."""
    try:
        found = [v if type(v) is int else whole_number(v) for v in values]  # type: ignore[attr-defined]  # asking is the test
    except TypeError:
        return None
    numbers = tuple([number for number in found if number is not None])
    return numbers if len(numbers) == len(found) else None


def as_int(function: str, argument: str, value: object, *, low: int, high: int) -> int:
    """An integer argument in [low, high].

    Parameters
    ----------
    function, argument : str
        C names for the error text.
    value : object
        An int or anything with ``__index__`` (NumPy integers, enumeration members), but no bool.
    low, high : int
        Bounds of the C type, both included.

    Returns
    -------
    int
        The value.

    Raises
    ------
    AclError
        100000 for another type or a value that the C type cannot hold.
    """
    if type(value) is not int:
        number = whole_number(value)
        if number is None:
            fail(
                function,
                argument,
                what="has the wrong type",
                got=describe(value),
                expected="an integer",
                fix=f"pass {argument} as an int",
            )
        value = number
    if not low <= value <= high:
        fail(
            function,
            argument,
            what="is out of the range of its C type",
            got=str(value),
            expected=f"an integer from {low} to {high}",
            fix=f"check how {argument} was computed",
        )
    return value


def as_size(function: str, argument: str, value: object) -> int:
    """A ``size_t`` or an address."""
    if type(value) is int and 0 <= value <= SIZE_MAX:
        return value
    return as_int(function, argument, value, low=0, high=SIZE_MAX)


def as_int32(function: str, argument: str, value: object) -> int:
    """An ``int32_t`` or an enumeration."""
    return as_int(function, argument, value, low=-(2**31), high=2**31 - 1)


def as_uint32(function: str, argument: str, value: object) -> int:
    """A ``uint32_t``."""
    return as_int(function, argument, value, low=0, high=2**32 - 1)


def as_text(function: str, argument: str, value: object) -> bytes | None:
    """A ``const char *``: a string or a path; None stays None.

    Raises
    ------
    AclError
        100000 for anything else.
    """
    return None if value is None else as_some_text(function, argument, value)


def as_some_text(function: str, argument: str, value: object) -> bytes:
    """A ``const char *`` that may not be null: a string or a path.

    Raises
    ------
    AclError
        100000 for anything else.
    """
    expected = "a string"
    try:
        text = os.fsencode(value)  # type: ignore[arg-type]  # asking is the test
    except TypeError:
        text = None
    except UnicodeEncodeError as error:
        text, expected = None, f"a string that {error.encoding} can encode"
    if text is None or b"\0" in text:
        fail(
            function,
            argument,
            what="is no text",
            got=describe(value),
            expected=expected if text is None else "a string without NUL characters",
            fix=f"pass {argument} as a str",
        )
    return text


def as_list(function: str, argument: str, value: object) -> list[object]:
    """The members of a sequence.

    Raises
    ------
    AclError
        100000 for what has none.
    """
    if not isinstance(value, Iterable):
        fail(
            function,
            argument,
            what="has the wrong type",
            got=describe(value),
            expected="a sequence",
            fix=f"pass {argument} as a list",
        )
    return list(value)


def as_function(function: str, argument: str, value: object) -> Callable[..., object]:
    """What a call is to call later.

    Raises
    ------
    AclError
        107000 for None, 100000 for anything else that cannot be called.
    """
    if not callable(value):
        fail(
            function,
            argument,
            what="cannot be called",
            got=describe(value),
            expected="a function",
            fix="pass the function itself, not its result",
            status=PARAM_INVALID if value is None else INVALID_PARAM,
        )
    return value
