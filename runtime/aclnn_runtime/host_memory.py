# SPDX-License-Identifier: Apache-2.0
"""Host arrays as memory of copies: NumPy arrays and everything with the buffer protocol."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from aclnn_runtime.arguments import as_size, describe
from aclnn_runtime.errors import INVALID_PARAM, PARAM_INVALID, fail
from aclnn_runtime.memory import Buffer

if TYPE_CHECKING:
    from typing import SupportsIndex, TypeAlias

    from _typeshed import ReadableBuffer, WriteableBuffer

    Readable: TypeAlias = Buffer | SupportsIndex | ReadableBuffer | np.ndarray[Any, Any] | None
    Writable: TypeAlias = Buffer | SupportsIndex | WriteableBuffer | np.ndarray[Any, Any] | None

__all__ = ["check_room", "host_address", "memory_address"]

_OTHER_ORDERS = (">", "!") if sys.byteorder == "little" else ("<",)


def memory_address(
    function: str, argument: str, value: object, *, writable: bool
) -> tuple[int, int | None, object]:
    """Where an argument of a copy points to.

    Parameters
    ----------
    function, argument : str
        C names for the error text.
    value : object
        A Buffer, an address, None for a null pointer, or a host array.
    writable : bool
        Whether the copy writes there.

    Returns
    -------
    address : int
        First byte, 0 for None.
    nbytes : int or None
        Size of a host array [bytes]; None where the native library knows the size itself.
    keepalive : object
        To be held until the copy is done.

    Raises
    ------
    AclError
        107017 for a Buffer that is closed or was freed by its address; 100000 for anything that is
        no dense memory in the machine's byte order.
    """
    if isinstance(value, Buffer):
        if not value._open:
            value._refuse_closed(function, argument)
        value._check_allocated(function, argument)
        return value._address, None, value
    if value is None:
        return 0, None, None
    if isinstance(value, int | np.integer):
        return as_size(function, argument, value), None, None
    return host_address(value, writable=writable, function=function, argument=argument)


def check_room(function: str, argument: str, available: int | None, needed: int) -> None:
    """Refuse a host array (107000) with fewer bytes than are needed; None: nobody knows yet."""
    if available is None or needed <= available:
        return
    fail(
        function,
        argument,
        what="is smaller than the number of bytes to be copied",
        got=f"a host array of {available} bytes, {needed} needed",
        expected=f"at least {needed} bytes",
        fix="pass a larger array, or fewer bytes",
        status=PARAM_INVALID,
    )


def host_address(
    value: object, *, writable: bool, function: str = "host_address", argument: str = "value"
) -> tuple[int, int, object]:
    """Address, size [bytes] and keepalive of a host array; 100000 where it cannot be used."""
    if isinstance(value, np.ndarray):
        return _array(value, function, argument, writable=writable)
    try:
        view = memoryview(value)  # type: ignore[arg-type]  # asking is the test
    except (TypeError, ValueError, BufferError):
        _refuse(
            function,
            argument,
            "is no memory",
            describe(value),
            "a Buffer, an address, None, a NumPy array or an object with the buffer protocol",
            # An array made of a destination would take the bytes and be thrown away.
            "pass the memory itself, a Tensor's data_ptr" + ("" if writable else ", or an array"),
        )
    if not view.c_contiguous:
        _refuse_layout(function, argument, describe(value))
    if view.format.startswith(_OTHER_ORDERS):
        _refuse_order(function, argument, f"{describe(value)} of format {view.format!r}")
    if writable and view.readonly:
        _refuse_readonly(function, argument, describe(value))
    # The array holds the export, so that a bytearray cannot move, and takes part in no garbage
    # cycle of an error's traceback: there the collector would clear a memoryview that a cffi
    # buffer still uses, and crash.
    held = np.frombuffer(view, np.uint8)
    return _start(held), held.nbytes, held


def _array(
    value: np.ndarray[Any, Any], function: str, argument: str, *, writable: bool
) -> tuple[int, int, object]:
    if value.dtype.hasobject:
        _refuse(
            function,
            argument,
            "holds Python objects",
            describe(value),
            "an array of numbers",
            'convert it first, e.g. array.astype("float32")',
        )
    if not value.flags.c_contiguous:
        _refuse_layout(function, argument, describe(value))
    if not value.dtype.isnative:
        _refuse_order(function, argument, describe(value))
    if writable and not value.flags.writeable:
        _refuse_readonly(function, argument, describe(value))
    return _start(value), value.nbytes, value


def _start(array: np.ndarray[Any, Any]) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def _refuse(function: str, argument: str, what: str, got: str, expected: str, fix: str) -> NoReturn:
    fail(
        function,
        argument,
        what=what,
        got=got,
        expected=expected,
        fix=fix,
        status=INVALID_PARAM,
    )


def _refuse_layout(function: str, argument: str, got: str) -> NoReturn:
    _refuse(
        function,
        argument,
        "is not dense in row-major (C) order",
        got,
        "a C-contiguous host array",
        "copy through numpy.ascontiguousarray(array)",
    )


def _refuse_order(function: str, argument: str, got: str) -> NoReturn:
    _refuse(
        function,
        argument,
        "has another byte order than this machine",
        got,
        f"{sys.byteorder}-endian numbers",
        'convert it first: array.astype(array.dtype.newbyteorder("="))',
    )


def _refuse_readonly(function: str, argument: str, got: str) -> NoReturn:
    _refuse(
        function,
        argument,
        "is read-only and cannot be written",
        got,
        "a writable host array",
        "pass a copy, e.g. array.copy(), or a new numpy.empty(...)",
    )
