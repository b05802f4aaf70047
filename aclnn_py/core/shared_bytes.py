# SPDX-License-Identifier: Apache-2.0
"""Device memory as bytes for NumPy, kept alive for as long as any array shows it."""

from __future__ import annotations

from typing import Any

import numpy as np

from aclnn_native import ffi, lib
from aclnn_runtime.errors import PARAM_INVALID, fail

__all__ = ["held_bytes", "shared_bytes"]


class _SharedBytes:
    """One more owner of an allocation; NumPy arrays made from it hold it as their base."""

    __slots__ = ("__array_interface__", "_base")

    def __init__(self, base: int, address: int, nbytes: int) -> None:
        self._base = base
        self.__array_interface__ = {
            "shape": (nbytes,),
            "typestr": "|u1",
            "data": (address, False),
            "version": 3,
        }

    def __del__(self) -> None:
        lib.aclpy_memory_release(self._base)


def shared_bytes(function: str, address: int, nbytes: int) -> np.ndarray[Any, Any]:
    """The bytes [address, address + nbytes) of a live allocation, without a copy.

    Raises
    ------
    AclError
        107000 where they do not lie inside one live allocation.
    """
    return np.asarray(held_bytes(function, address, nbytes))


def held_bytes(function: str, address: int, nbytes: int) -> object:
    """An owner of a live allocation with the bytes [address, address + nbytes).

    Raises
    ------
    AclError
        107000 where they do not lie inside one live allocation.
    """
    info = ffi.new("aclpy_memory_info *")
    if 0 <= address < 2**64:
        lib.aclpy_memory_query(address, info)
    base, size = int(info.base), int(info.size)
    inside = info.kind and base <= address and address + nbytes <= base + size
    if not inside or lib.aclpy_memory_retain(base):
        fail(
            function,
            "self",
            status=PARAM_INVALID,
            what="does not lie inside a live allocation",
            got=f"{nbytes} bytes from address {address:#x}"
            + (f", of an allocation of {size} bytes at {base:#x}" if info.kind else ""),
            expected="memory that is still allocated and large enough",
            fix="free memory after the last use of its tensors; check shape and offset",
        )
    return _SharedBytes(base, address, nbytes)
