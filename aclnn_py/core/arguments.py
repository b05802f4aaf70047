# SPDX-License-Identifier: Apache-2.0
"""Integers out of what callers pass: status 161002 with a sentence for anything else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from aclnn_py.core.errors import PARAM_INVALID, operator_error
from aclnn_runtime.arguments import describe, whole_number, whole_numbers

if TYPE_CHECKING:
    from aclnn_py.core.tensor import Tensor

__all__ = ["check_open", "counts", "integer", "integers", "memory", "permutation", "sizes"]


def integers(function: str, argument: str, values: object) -> tuple[int, ...]:
    """A sequence of ``int64_t`` as a tuple.

    Raises
    ------
    AclnnError
        161002 for anything else.
    """
    found = whole_numbers(values)
    if found is None or any(not -(2**63) <= value < 2**63 for value in found):
        _refuse(
            function,
            argument,
            "is no sequence of int64_t",
            values,
            "a sequence of integers from -2**63 to 2**63 - 1",
            f"pass {argument} as a tuple of ints",
        )
    return found


def sizes(function: str, argument: str, values: object) -> tuple[int, ...]:
    """A shape: a sequence of ``int64_t``, or one integer.

    Raises
    ------
    AclnnError
        161002 for anything else.
    """
    number = whole_number(values)
    return integers(function, argument, values if number is None else (number,))


def counts(function: str, argument: str, values: object) -> tuple[int, ...]:
    """A sequence of ``int64_t`` none of which is negative.

    Raises
    ------
    AclnnError
        161002 for anything else.
    """
    found = integers(function, argument, values)
    if min(found, default=0) < 0:
        _refuse(
            function,
            argument,
            "has a negative size",
            found,
            "sizes >= 0; -1 is not inferred from the others",
            "write every size out",
        )
    return found


def permutation(
    function: str, argument: str, axes: tuple[object, ...], rank: int
) -> tuple[int, ...]:
    """Axes in another order, spelled as for ``numpy.ndarray.transpose``; none: reversed.

    Raises
    ------
    AclnnError
        161002 for anything else.
    """
    given = axes[0] if len(axes) == 1 else axes or None
    if given is None:
        return tuple(range(rank))[::-1]
    order = sizes(function, argument, given)
    if sorted(axis + rank if axis < 0 else axis for axis in order) != list(range(rank)):
        _refuse(
            function,
            argument,
            f"is no permutation of the axes of a tensor of rank {rank}",
            order,
            f"a permutation of {tuple(range(rank))}",
            "name each axis once; negative ones count from the last",
        )
    return order


def integer(function: str, argument: str, value: object, bits: int = 64) -> int:
    """A signed integer of `bits` bits.

    Raises
    ------
    AclnnError
        161002 for anything else.
    """
    found = whole_number(value)
    if found is None or not -(2 ** (bits - 1)) <= found < 2 ** (bits - 1):
        _refuse(
            function,
            argument,
            f"is no int{bits}_t",
            value,
            f"an integer from -2**{bits - 1} to 2**{bits - 1} - 1",
            f"pass {argument} as an int",
        )
    return found


def memory(function: str, argument: str, data: object) -> Any:
    """A Buffer or an address, as it is; ``None`` for none.

    Raises
    ------
    AclnnError
        161002 for anything else.
    """
    if data is None:
        return None
    address = whole_number(data)
    if address is None or not 0 <= address < 2**64:
        _refuse(
            function,
            argument,
            "is no memory",
            data,
            "a Buffer, an address (an unsigned 64-bit integer) or None",
            f"pass {argument} as Device.malloc() or aclrtMalloc() gave it",
        )
    return data


def check_open(function: str, argument: str, tensor: Tensor) -> None:
    """Refuse a closed tensor.

    Raises
    ------
    AclnnError
        161002 for one.
    """
    if tensor.closed:
        raise operator_error(
            PARAM_INVALID,
            function,
            argument,
            "has been destroyed",
            got=repr(tensor),
            expected="a tensor that is still alive",
            fix="use it before it is destroyed, and destroy it once",
        )


def _refuse(
    function: str, argument: str, what: str, value: object, expected: str, fix: str
) -> NoReturn:
    raise operator_error(
        PARAM_INVALID,
        function,
        argument,
        what,
        got=describe(value),
        expected=expected,
        fix=fix,
    )
