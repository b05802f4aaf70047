# SPDX-License-Identifier: Apache-2.0
"""Peer access between devices, one direction at a time."""

from __future__ import annotations

from aclnn_native import ffi, lib
from aclnn_runtime.arguments import as_int32, as_uint32
from aclnn_runtime.outputs import check, number

__all__ = ["can_access", "disable", "enable", "is_enabled", "topology"]


def can_access(device: object, peer: object) -> bool:
    """Whether a device can be given access to a peer's memory."""
    function = "aclrtDeviceCanAccessPeer"
    answer = ffi.new("int32_t *")
    pair = as_int32(function, "deviceId", device), as_int32(function, "peerDeviceId", peer)
    check(lib.aclpy_can_access_peer(answer, *pair))
    return bool(answer[0])


def enable(peer: object, flags: object, *, context: int = 0) -> None:
    """Let the device of `context` (0: the thread's current one) reach the peer's memory."""
    function = "aclrtDeviceEnablePeerAccess"
    index = as_int32(function, "peerDeviceId", peer)
    check(lib.aclpy_enable_peer_access(context, index, as_uint32(function, "flags", flags)))


def disable(peer: object) -> None:
    """Undo `enable`."""
    index = as_int32("aclrtDeviceDisablePeerAccess", "peerDeviceId", peer)
    check(lib.aclpy_disable_peer_access(0, index))


def is_enabled(device: object, peer: object) -> bool:
    """Whether a device reaches the peer's memory now."""
    function = "aclrtDevicePeerAccessStatus"
    pair = as_int32(function, "deviceId", device), as_int32(function, "peerDeviceId", peer)
    return bool(number("int32_t", lib.aclpy_peer_access_status, *pair))


def topology(device: object, other: object) -> int:
    """Bits of the links between two devices."""
    function = "aclrtGetDevicesTopo"
    pair = as_int32(function, "deviceId", device), as_int32(function, "otherDeviceId", other)
    return number("uint64_t", lib.aclpy_devices_topology, *pair)
