# SPDX-License-Identifier: Apache-2.0
"""The one table of data types: enumerations, sizes, NumPy types, kernel names derive from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, cast

import ml_dtypes
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import DTypeLike

__all__ = ["DTYPES", "DType", "aclDataType", "as_dtype", "by_name", "by_value"]


@dataclass(frozen=True, slots=True)
class DType:
    """One row of the table.

    Attributes
    ----------
    name : str
        Vendor name without prefix, ``"FLOAT16"``.
    value : int
        The number of ``aclDataType``.
    bits : int
        Bits of one element in memory; 0 where an element has no fixed size.
    acl_size : int
        What ``aclDataTypeSize`` reports [bytes]; differs from ``bits`` for sub-byte types.
    kernel : str | None
        Name in kernel dtype keys (``"f16"``); ``None`` where no kernel knows the type.
    numpy : numpy.dtype | None
        The NumPy (or ml_dtypes) type of the same bits; ``None`` where there is none.
    complex_ : bool
        Whether an element is a complex number.
    itemsize : int
        Bytes of one element (sub-byte types rounded up).
    """

    name: str
    value: int
    bits: int
    acl_size: int
    kernel: str | None
    numpy: np.dtype[np.generic] | None
    complex_: bool = False
    itemsize: int = field(init=False)

    def __post_init__(self) -> None:
        """Work out what the planner asks for ten times a plan."""
        object.__setattr__(self, "itemsize", (self.bits + 7) // 8)

    @property
    def acl_name(self) -> str:
        """The C enumerator, ``"ACL_FLOAT16"``."""
        return f"ACL_{self.name}"

    def nbytes(self, elements: int) -> int:
        """Bytes of `elements` packed elements."""
        return (elements * self.bits + 7) // 8

    def __str__(self) -> str:
        """Vendor name, as texts show it."""
        return self.name


def _row(
    name: str,
    value: int,
    bits: int,
    numpy: DTypeLike | None = None,
    kernel: str | None = None,
    acl_size: int | None = None,
) -> DType:
    kind = None if numpy is None else np.dtype(numpy)
    size = (bits + 7) // 8 if acl_size is None else acl_size
    return DType(name, value, bits, size, kernel, kind, name.startswith("COMPLEX"))


DTYPES: Final[tuple[DType, ...]] = (
    _row("DT_UNDEFINED", -1, 0),
    _row("FLOAT", 0, 32, np.float32, "f32"),
    _row("FLOAT16", 1, 16, np.float16, "f16"),
    _row("INT8", 2, 8, np.int8, "i8"),
    _row("INT32", 3, 32, np.int32, "i32"),
    _row("UINT8", 4, 8, np.uint8, "u8"),
    _row("INT16", 6, 16, np.int16, "i16"),
    _row("UINT16", 7, 16, np.uint16, "u16"),
    _row("UINT32", 8, 32, np.uint32, "u32"),
    _row("INT64", 9, 64, np.int64, "i64"),
    _row("UINT64", 10, 64, np.uint64, "u64"),
    _row("DOUBLE", 11, 64, np.float64, "f64"),
    _row("BOOL", 12, 8, np.bool_, "bool"),
    _row("STRING", 13, 0),
    _row("COMPLEX64", 16, 64, np.complex64, "c64"),
    _row("COMPLEX128", 17, 128, np.complex128, "c128"),
    _row("BF16", 27, 16, ml_dtypes.bfloat16, "bf16"),
    _row("INT4", 29, 4, acl_size=1),
    _row("UINT1", 30, 1, acl_size=1),
    _row("COMPLEX32", 33, 32),
    _row("HIFLOAT8", 34, 8),
    _row("FLOAT8_E5M2", 35, 8, ml_dtypes.float8_e5m2, "f8e5m2"),
    _row("FLOAT8_E4M3FN", 36, 8, ml_dtypes.float8_e4m3fn, "f8e4m3"),
    _row("FLOAT8_E8M0", 37, 8, ml_dtypes.float8_e8m0fnu),
    # The vendor's size function falls through to 8 for these four; in memory they are packed.
    _row("FLOAT6_E3M2", 38, 6, acl_size=8),
    _row("FLOAT6_E2M3", 39, 6, acl_size=8),
    _row("FLOAT4_E2M1", 40, 4, acl_size=8),
    _row("FLOAT4_E1M2", 41, 4, acl_size=8),
)

aclDataType = IntEnum(  # type: ignore[misc]  # built from the table, so that no second list exists
    "aclDataType", {row.acl_name: row.value for row in DTYPES}, module=__name__
)
aclDataType.__doc__ = "Element types, with the numbers of the C enumeration of the same name."

by_value: Final[Mapping[int, DType]] = MappingProxyType({row.value: row for row in DTYPES})
by_name: Final[Mapping[str, DType]] = MappingProxyType({row.name: row for row in DTYPES})
_BY_NUMPY: Final = {row.numpy: row for row in DTYPES if row.numpy is not None}
_SPELLINGS: Final = {
    **{row.name.lower(): row for row in DTYPES},
    **{row.acl_name.lower(): row for row in DTYPES},
    **{row.numpy.name: row for row in DTYPES if row.numpy is not None},
}


def as_dtype(value: DTypeLike | DType | int | str) -> DType:
    """The table row of a NumPy dtype, a name (``"bfloat16"``) or an ``aclDataType``.

    Raises
    ------
    KeyError
        Where the table has no such type; callers turn it into their own error text.
    """
    if isinstance(value, DType):
        return value
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return by_value[int(value)]
    if isinstance(value, str) and value.lower() in _SPELLINGS:
        return _SPELLINGS[value.lower()]
    if value is None:  # NumPy reads it as float64
        raise KeyError(value)
    try:
        return _BY_NUMPY[np.dtype(cast("Any", value)).newbyteorder("=")]
    except (SyntaxError, TypeError, ValueError):  # as NumPy reads texts
        raise KeyError(value) from None
