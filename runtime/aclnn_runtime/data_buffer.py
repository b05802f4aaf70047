# SPDX-License-Identifier: Apache-2.0
"""DataBuffer: an address and a size that travel together, and the C API's half conversions."""

from __future__ import annotations

import numbers
from math import inf

from aclnn_native import ffi, lib
from aclnn_runtime.arguments import as_int, as_size, describe
from aclnn_runtime.errors import fail, raise_last
from aclnn_runtime.memory import Buffer
from aclnn_runtime.noun import HandleNoun, handle_of
from aclnn_runtime.outputs import check, number

__all__ = [
    "DataBuffer",
    "content",
    "create",
    "destroy",
    "float_to_half",
    "half_of",
    "half_to_float",
    "update",
]


class DataBuffer(HandleNoun):
    """An address and a size; it never owns the memory."""

    __slots__ = ()
    _door = "aclCreateDataBuffer()"

    def close(self) -> None:
        """Destroy it; a second call does nothing."""
        if self._open:
            destroy(self)

    def __del__(self) -> None:
        if getattr(self, "_open", False):
            self._open = False
            lib.aclpy_data_buffer_destroy(self._handle)


def _address(function: str, value: object) -> int:
    if value is None:
        return 0
    return value.ptr if isinstance(value, Buffer) else as_size(function, "data", value)


def create(data: object, size: object) -> DataBuffer:
    """A data buffer."""
    function = "aclCreateDataBuffer"
    place = _address(function, data), as_size(function, "size", size)
    return DataBuffer._adopt(number("aclpy_handle", lib.aclpy_data_buffer_create, *place))


def destroy(buffer: object) -> None:
    """Destroy the record; the memory stays what it is."""
    handle = handle_of("aclDestroyDataBuffer", "dataBuffer", buffer, DataBuffer)
    check(lib.aclpy_data_buffer_destroy(handle))
    assert isinstance(buffer, DataBuffer)
    buffer._open = False


def update(buffer: object, data: object, size: object) -> None:
    """Another address and size."""
    function = "aclUpdateDataBuffer"
    handle = handle_of(function, "dataBuffer", buffer, DataBuffer)
    place = _address(function, data), as_size(function, "size", size)
    check(lib.aclpy_data_buffer_update(handle, *place))


def content(function: str, buffer: object) -> tuple[int, int]:
    """Address and size."""
    address, size = ffi.new("uintptr_t *"), ffi.new("size_t *")
    handle = handle_of(function, "dataBuffer", buffer, DataBuffer)
    status = lib.aclpy_data_buffer_get(handle, address, size)
    if status:
        raise_last(status, function=function)
    return int(address[0]), int(size[0])


def half_to_float(value: object) -> float:
    """The bits of a float16 as a number; saturating, not IEEE."""
    bits = as_int("aclFloat16ToFloat", "value", value, low=0, high=0xFFFF)
    number: float = lib.aclpy_float16_to_float(bits)
    return number


def float_to_half(value: object) -> int:
    """The bits of the nearest float16; saturating, not IEEE."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        fail(
            "aclFloatToFloat16",
            "value",
            what="has the wrong type",
            got=describe(value),
            expected="a number",
            fix="pass a float",
        )
    return half_of(value)


def half_of(value: numbers.Real) -> int:
    """The same of what is known to be a number."""
    try:
        nearest = float(value)
    except OverflowError:  # an int or a fraction: beyond any float, so the farthest one
        nearest = -inf if value < 0 else inf
    bits: int = lib.aclpy_float_to_float16(ffi.cast("float", nearest))
    return bits
