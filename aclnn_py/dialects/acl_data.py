# SPDX-License-Identifier: Apache-2.0
"""C names of data buffers and of the conversions between float and float16."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_py.core.dtype import by_value
from aclnn_runtime import data_buffer as _data_buffer
from aclnn_runtime.arguments import as_int32

if TYPE_CHECKING:
    from typing import SupportsIndex

    from aclnn_runtime.data_buffer import DataBuffer
    from aclnn_runtime.memory import Buffer

__all__ = [
    "aclCreateDataBuffer",
    "aclDataTypeSize",
    "aclDestroyDataBuffer",
    "aclFloat16ToFloat",
    "aclFloatToFloat16",
    "aclGetDataBufferAddr",
    "aclGetDataBufferSize",
    "aclGetDataBufferSizeV2",
    "aclUpdateDataBuffer",
]


def aclCreateDataBuffer(data: Buffer | SupportsIndex | None, size: int) -> DataBuffer:
    """Put an address and a size together.

    Parameters
    ----------
    data : Buffer or int
        The memory; it is not owned.
    size : int
        [bytes]

    Returns
    -------
    DataBuffer
        It lives until `aclDestroyDataBuffer`, or is garbage collected.

    Raises
    ------
    AclError
        107017 for a freed Buffer; 100000 for another type.

    Notes
    -----
    Source: CANN runtime API reference, ``aclCreateDataBuffer`` (ACL API version 1.17.0).
    """
    return _data_buffer.create(data, size)


def aclDataTypeSize(dataType: SupportsIndex) -> int:
    """Bytes of one element.

    Parameters
    ----------
    dataType : aclDataType or int

    Returns
    -------
    int
        [bytes]; 1 for INT4 and UINT1, 8 for FLOAT6 and FLOAT4 as in the vendor's table; 0 for
        strings and for numbers that name no type.

    Notes
    -----
    Source: CANN runtime API reference, ``aclDataTypeSize`` (ACL API version 1.17.0).
    """
    row = by_value.get(as_int32("aclDataTypeSize", "dataType", dataType))
    return 0 if row is None else row.acl_size


def aclDestroyDataBuffer(dataBuffer: DataBuffer | None) -> None:
    """Destroy the record; the memory stays.

    Parameters
    ----------
    dataBuffer : DataBuffer
        What `aclCreateDataBuffer` returned.

    Raises
    ------
    AclError
        100000 for None; 107017 for one destroyed before.

    Notes
    -----
    Source: CANN runtime API reference, ``aclDestroyDataBuffer`` (ACL API version 1.17.0).
    """
    _data_buffer.destroy(dataBuffer)


def aclUpdateDataBuffer(
    dataBuffer: DataBuffer | None, data: Buffer | SupportsIndex | None, size: int
) -> None:
    """Give the record another address and size.

    Parameters
    ----------
    dataBuffer : DataBuffer
        What `aclCreateDataBuffer` returned.
    data : Buffer or int
        The memory.
    size : int
        [bytes]

    Raises
    ------
    AclError
        100000 for None; 107017 for one destroyed before.

    Notes
    -----
    Source: CANN runtime API reference, ``aclUpdateDataBuffer`` (ACL API version 1.17.0).
    """
    _data_buffer.update(dataBuffer, data, size)


def aclGetDataBufferAddr(dataBuffer: DataBuffer | None) -> int:
    """The address.

    Parameters
    ----------
    dataBuffer : DataBuffer
        What `aclCreateDataBuffer` returned.

    Returns
    -------
    int
        As it was given.

    Raises
    ------
    AclError
        100000 for None; 107017 for one destroyed before.

    Notes
    -----
    Source: CANN runtime API reference, ``aclGetDataBufferAddr`` (ACL API version 1.17.0).
    """
    return _data_buffer.content("aclGetDataBufferAddr", dataBuffer)[0]


def aclGetDataBufferSize(dataBuffer: DataBuffer | None) -> int:
    """The size in 32 bits.

    Parameters
    ----------
    dataBuffer : DataBuffer
        What `aclCreateDataBuffer` returned.

    Returns
    -------
    int
        Lowest 32 bits of the size [bytes].

    Raises
    ------
    AclError
        100000 for None; 107017 for one destroyed before.

    Notes
    -----
    Source: CANN runtime API reference, ``aclGetDataBufferSize`` (ACL API version 1.17.0).
    """
    return _data_buffer.content("aclGetDataBufferSize", dataBuffer)[1] & 0xFFFFFFFF


def aclGetDataBufferSizeV2(dataBuffer: DataBuffer | None) -> int:
    """The size.

    Parameters
    ----------
    dataBuffer : DataBuffer
        What `aclCreateDataBuffer` returned.

    Returns
    -------
    int
        [bytes]

    Raises
    ------
    AclError
        100000 for None; 107017 for one destroyed before.

    Notes
    -----
    Source: CANN runtime API reference, ``aclGetDataBufferSizeV2`` (ACL API version 1.17.0).
    """
    return _data_buffer.content("aclGetDataBufferSizeV2", dataBuffer)[1]


def aclFloat16ToFloat(value: int) -> float:
    """The bits of a float16 as a number.

    Parameters
    ----------
    value : int
        16 bits.

    Returns
    -------
    float
        Not IEEE: the bits of infinity give 65536, those of NaN 98304.

    Raises
    ------
    AclError
        100000 for more than 16 bits.

    Notes
    -----
    Source: CANN runtime API reference, ``aclFloat16ToFloat`` (ACL API version 1.17.0).
    """
    return _data_buffer.half_to_float(value)


def aclFloatToFloat16(value: float) -> int:
    """The bits of the nearest float16.

    Parameters
    ----------
    value : float
        A number.

    Returns
    -------
    int
        Not IEEE: saturates at 65504; NaN gives the bits of 65504, too.

    Raises
    ------
    AclError
        100000 for something that is no number.

    Notes
    -----
    Source: CANN runtime API reference, ``aclFloatToFloat16`` (ACL API version 1.17.0).
    """
    return _data_buffer.float_to_half(value)
