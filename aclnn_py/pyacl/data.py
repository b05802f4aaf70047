# SPDX-License-Identifier: Apache-2.0
"""pyACL's own functions: data buffers, tensor descriptions, element types."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Final

from aclnn_native import ffi, lib
from aclnn_py.core.dtype import by_value
from aclnn_py.pyacl.calls import INT32, INT64, UINT64, integer, order
from aclnn_runtime.data_buffer import half_of
from aclnn_runtime.errors import INVALID_PARAM

__all__ = [
    "create_data_buffer",
    "create_tensor_desc",
    "data_type_size",
    "destroy_data_buffer",
    "destroy_tensor_desc",
    "float16_to_float",
    "float_to_float16",
    "get_data_buffer_addr",
    "get_data_buffer_size",
    "get_data_buffer_size_v2",
    "get_tensor_desc_dim_range",
    "get_tensor_desc_dim_v2",
    "update_data_buffer",
]

_HALF_MAX: Final = 0xFFFF

# ---- data buffers ----

destroy_data_buffer = order(
    "acl.destroy_data_buffer",
    "aclDestroyDataBuffer",
    lib.aclpy_data_buffer_destroy,
    dataBuffer=UINT64,
)
update_data_buffer = order(
    "acl.update_data_buffer",
    "aclUpdateDataBuffer",
    lib.aclpy_data_buffer_update,
    dataBuffer=UINT64,
    data=UINT64,
    size=UINT64,
)


def create_data_buffer(pointer: int, size: int, /) -> int:
    """``aclCreateDataBuffer``: handle of an address and a size; 0 after a failure."""
    call = "acl.create_data_buffer"
    address, nbytes = integer(call, "data", pointer, UINT64), integer(call, "size", size, UINT64)
    handle = ffi.new("aclpy_handle *")
    status = lib.aclpy_data_buffer_create(address, nbytes, handle)
    return 0 if status else int(handle[0])


def _content(call: str, buffer: object) -> tuple[int, int]:
    handle = integer(call, "dataBuffer", buffer, UINT64)
    address, size = ffi.new("uintptr_t *"), ffi.new("size_t *")
    lib.aclpy_data_buffer_get(handle, address, size)  # both stay 0 where it fails
    return int(address[0]), int(size[0])


def get_data_buffer_addr(buffer: int, /) -> int:
    """``aclGetDataBufferAddr``: the address; 0 for no buffer."""
    return _content("acl.get_data_buffer_addr", buffer)[0]


def get_data_buffer_size(buffer: int, /) -> int:
    """``aclGetDataBufferSize``: the size's lower 32 bits [bytes]; 0 for no buffer."""
    return _content("acl.get_data_buffer_size", buffer)[1] & 0xFFFFFFFF


def get_data_buffer_size_v2(buffer: int, /) -> int:
    """``aclGetDataBufferSizeV2``: the size [bytes]; 0 for no buffer."""
    return _content("acl.get_data_buffer_size_v2", buffer)[1]


# ---- tensor descriptions ----


def create_tensor_desc(dtype: int, dims: Sequence[int], tensor_format: int, /) -> int:
    """``aclCreateTensorDesc``: handle of a description; 0 after a failure.

    Parameters
    ----------
    dtype : int
        Number of ``aclDataType``.
    dims : list of int
        Shape.
    tensor_format : int
        Number of ``aclFormat``.
    """
    call = "acl.create_tensor_desc"
    kind = integer(call, "dataType", dtype, INT32)
    if not isinstance(dims, Sequence) or isinstance(dims, str | bytes):
        raise TypeError(f"{call}(): 'dims' must be a list, not {type(dims).__name__}")
    shape = [integer(call, "dims", dim, INT64) for dim in dims]
    layout = integer(call, "format", tensor_format, INT32)
    view = ffi.new("int64_t[]", shape)
    handle, interned = ffi.new("aclpy_handle *"), ffi.new("uint64_t *")
    status = lib.aclpy_tensor_create(
        view, len(shape), kind, ffi.NULL, 0, layout, view, len(shape), 0, handle, interned
    )
    return 0 if status else int(handle[0])


def destroy_tensor_desc(desc: int, /) -> None:
    """``aclDestroyTensorDesc``; an unknown handle is left alone."""
    handle = integer("acl.destroy_tensor_desc", "desc", desc, UINT64)
    if lib.aclpy_tensor_destroy(handle):
        lib.aclpy_error_clear()  # the call has no status


def _dim(call: str, desc: object, index: object) -> int | None:
    handle, axis = integer(call, "desc", desc, UINT64), integer(call, "index", index, UINT64)
    told = ffi.new("aclpy_tensor_desc *")
    if lib.aclpy_tensor_describe(call.encode(), handle, told) or axis >= told.view_rank:
        return None
    return int(told.view_dims[axis])


def get_tensor_desc_dim_v2(desc: int, index: int, /) -> tuple[int, int]:
    """``aclGetTensorDescDimV2``: (one dimension, ret); 100000 where there is none."""
    dim = _dim("acl.get_tensor_desc_dim_v2", desc, index)
    return (0, INVALID_PARAM) if dim is None else (dim, 0)


def get_tensor_desc_dim_range(
    desc: int, index: int, number: int, /
) -> tuple[list[int] | None, int]:
    """``aclGetTensorDescDimRange``: ([low, high] or None, ret).

    Notes
    -----
    `number` is the room for the answer and must be 2. A known dimension is its own range; one of
    -1 has none, since no call here sets ranges.
    """
    call = "acl.get_tensor_desc_dim_range"
    room = integer(call, "dimRangeNum", number, UINT64)
    dim = _dim(call, desc, index)
    if dim is None or dim < 0 or room < 2:
        return None, INVALID_PARAM
    return [dim, dim], 0


# ---- element types ----


def data_type_size(dtype: int, /) -> int:
    """``aclDataTypeSize``: bytes of one element; 0 for an unknown type."""
    row = by_value.get(integer("acl.data_type_size", "dataType", dtype, INT32))
    return 0 if row is None else row.acl_size


def float16_to_float(bits: int, /) -> float:
    """``aclFloat16ToFloat``: the bits of a float16 as a number; saturating, not IEEE."""
    call = "acl.float16_to_float"
    half = integer(call, "value", bits, INT32)
    if not 0 <= half <= _HALF_MAX:
        raise ValueError(f"{call}(): 'value' is {half}, which no uint16 can hold")
    return float(lib.aclpy_float16_to_float(half))


def float_to_float16(value: float, /) -> int:
    """``aclFloatToFloat16``: the bits of the nearest float16; saturating, not IEEE."""
    if not isinstance(value, numbers.Real):
        raise TypeError(
            f"acl.float_to_float16(): 'value' must be a number, not {type(value).__name__}"
        )
    return half_of(value)
