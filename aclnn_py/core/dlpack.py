# SPDX-License-Identifier: Apache-2.0
"""DLPack export of host-readable memory, bfloat16 included."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["export_dlpack", "mark_bfloat16"]

_BFLOAT_CODE = 4


class _DLTensor(ctypes.Structure):
    # Only the fields up to dtype are needed; the layout is DLPack's C header.
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
    )


def export_dlpack(array: np.ndarray[Any, Any], options: Mapping[str, Any]) -> object:
    """A DLPack capsule of `array`.

    NumPy writes the capsule. It has no bfloat16, so such an array travels as uint16 and its type
    code is corrected afterwards; the versioned form is left out for it because of that.
    """
    if array.dtype != ml_dtypes.bfloat16:
        return array.__dlpack__(**options)
    capsule = array.view(np.uint16).__dlpack__(
        **{name: value for name, value in options.items() if name in {"stream", "dl_device"}}
    )
    return mark_bfloat16(capsule)


def mark_bfloat16(capsule: object) -> object:
    """Correct the type of a capsule that was made of bfloat16 values as uint16."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype = ctypes.c_void_p
    pointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
    address = pointer(ctypes.py_object(capsule), b"dltensor")
    assert address is not None
    _DLTensor.from_address(address).code = _BFLOAT_CODE
    return capsule
