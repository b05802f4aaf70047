# SPDX-License-Identifier: Apache-2.0
"""Memory with two addresses: the device's, which nobody on the host may touch, and ours."""

from __future__ import annotations

import ctypes
import mmap
import os
import threading

_PAGE = mmap.PAGESIZE
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [
    ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long,
]  # fmt: skip
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_ANONYMOUS = 0x20
_lock = threading.RLock()  # a finalizer may free inside of any call
_blocks: dict[int, tuple[int, int, int]] = {}  # device address: bytes mapped, shadow, bytes asked
pinned: dict[int, object] = {}


def allocate(size: int) -> int:
    whole = -(-size // _PAGE) * _PAGE
    device = _libc.mmap(None, whole, 0, mmap.MAP_PRIVATE | _ANONYMOUS, -1, 0)
    shadow = _libc.mmap(
        None, whole, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | _ANONYMOUS, -1, 0
    )
    assert None not in (device, shadow), os.strerror(ctypes.get_errno())
    ctypes.memset(shadow, 0xC3, whole)
    with _lock:
        _blocks[device] = (whole, shadow, size)
    return device


def release(address: int) -> bool:
    with _lock:
        found = _blocks.pop(address, None)
    if found is None:
        return False
    _libc.munmap(address, found[0])
    _libc.munmap(found[1], found[0])
    return True


def here(address: int) -> int:
    """Where the host finds the byte; the address itself where it is no device's."""
    with _lock:
        for base, (whole, shadow, _) in _blocks.items():
            if base <= address < base + whole:
                return shadow + address - base
    return address


def in_use() -> int:
    with _lock:
        return sum(size for _, _, size in _blocks.values())


def allocate_pinned(size: int) -> int:
    made = ctypes.create_string_buffer(size + 64)
    address = -(-ctypes.addressof(made) // 64) * 64
    pinned[address] = made
    return address
