# SPDX-License-Identifier: Apache-2.0
"""How a function of the native library becomes a pyACL call: integers in, values and status out."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, Final

from aclnn_native import ffi

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["INT32", "INT64", "UINT32", "UINT64", "Integer", "answer", "integer", "order", "text"]


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer type of C, as the type of a parameter."""

    name: str
    low: int
    high: int


INT32: Final = Integer("int32", -(2**31), 2**31 - 1)
INT64: Final = Integer("int64", -(2**63), 2**63 - 1)
UINT32: Final = Integer("uint32", 0, 2**32 - 1)
UINT64: Final = Integer("uint64", 0, 2**64 - 1)  # sizes, pointers and handles too


def integer(call: str, parameter: str, value: object, kind: Integer) -> int:
    """An argument as a C integer.

    Raises
    ------
    TypeError
        For anything that is no integer, None included: a null pointer is 0.
    ValueError
        For one that the C type cannot hold.
    """
    try:
        number = operator.index(value)  # type: ignore[arg-type]  # that is the question
    except TypeError:
        null = "; pass 0 for a null pointer or the default stream" if value is None else ""
        raise TypeError(
            f"{call}(): '{parameter}' must be an int, not {type(value).__name__}{null}"
        ) from None
    if not kind.low <= number <= kind.high:
        raise ValueError(
            f"{call}(): '{parameter}' is {number}, which no {kind.name} can hold "
            f"({kind.low} to {kind.high})"
        )
    return number


def text(call: str, parameter: str, value: object) -> bytes:
    """An argument as a C string."""
    if not isinstance(value, str):
        raise TypeError(f"{call}(): '{parameter}' must be a str, not {type(value).__name__}")
    if "\0" in value:
        raise ValueError(f"{call}(): '{parameter}' contains a NUL character: {value!r}")
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{call}(): '{parameter}' is no text in UTF-8: {value!r}") from None


def order(
    call: str, c_name: str, native: Callable[..., int], /, **parameters: Integer
) -> Callable[..., int]:
    """A call that answers with its status alone.

    Parameters
    ----------
    call : str
        What programs write, ``"acl.rt.free"``.
    c_name : str
        The C function that it stands for.
    native : Callable[..., int]
        Takes the arguments in order and returns the status.
    **parameters : Integer
        C names and types of the arguments.
    """

    def function(*arguments: object) -> int:
        return int(native(*_take(call, parameters, arguments)))

    _dress(function, call, c_name, parameters, ("ret",))
    return function


def answer(
    call: str,
    c_name: str,
    native: Callable[..., int],
    outputs: Mapping[str, str],
    /,
    **parameters: Integer,
) -> Callable[..., tuple[int, ...]]:
    """A call that answers with integers, the status last.

    Parameters
    ----------
    call, c_name, native, **parameters
        As for `order`; `native` takes pointers to the outputs behind the arguments.
    outputs : Mapping[str, str]
        C types of the outputs by name; 0 where the call failed.
    """

    def function(*arguments: object) -> tuple[int, ...]:
        given = _take(call, parameters, arguments)
        cells = [ffi.new(kind + " *") for kind in outputs.values()]
        status = int(native(*given, *cells))
        return (*(int(cell[0]) for cell in cells), status)

    _dress(function, call, c_name, parameters, (*outputs, "ret"))
    return function


def _take(call: str, parameters: Mapping[str, Integer], arguments: tuple[object, ...]) -> list[int]:
    if len(arguments) != len(parameters):
        raise TypeError(
            f"{call}() takes {len(parameters)} arguments "
            f"({', '.join(parameters) or 'none'}), {len(arguments)} given"
        )
    return [
        integer(call, name, value, kind)
        for (name, kind), value in zip(parameters.items(), arguments, strict=True)
    ]


def _dress(
    function: Any,
    call: str,
    c_name: str,
    parameters: Mapping[str, Integer],
    outputs: tuple[str, ...],
) -> None:
    function.__name__ = call.rpartition(".")[2]
    function.__qualname__ = call
    returns: type = int if len(outputs) == 1 else tuple
    function.__signature__ = Signature(
        [Parameter(name, Parameter.POSITIONAL_ONLY, annotation=int) for name in parameters],
        return_annotation=returns,
    )
    given = ", ".join(f"{name}: {kind.name}" for name, kind in parameters.items())
    found = outputs[0] if len(outputs) == 1 else f"({', '.join(outputs)})"
    function.__doc__ = (
        f"``{c_name}`` as ``{call}({given}) -> {found}``.\n\n"
        "Raises TypeError for a wrong number or type of arguments, ValueError for an integer that\n"
        "its C type cannot hold; everything else is the status that comes last."
    )
