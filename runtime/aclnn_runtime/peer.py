# SPDX-License-Identifier: Apache-2.0
"""Peer access between devices, one direction at a time."""

from __future__ import annotations

from aclnn_native import ffi, lib
from aclnn_runtime.arguments import as_int32, as_uint32
from aclnn_runtime.errors import raise_last

__all__ = ["can_access", "disable", "enable", "is_enabled", "topology"]


def can_access(device: object, peer: object) -> bool:
    """Whether a device can be given access to a peer's memory."""
    function = "aclrtDeviceCanAccessPeer"
    answer = ffi.new("int32_t *")
    status = lib.aclpy_can_access_peer(
        answer, as_int32(function, "deviceId", device), as_int32(function, "peerDeviceId", peer)
    )
    if status:
        raise_last(status)
    return bool(answer[0])


def enable(peer: object, flags: object, *, context: int = 0) -> None:
    """Let the device of `context` (0: the thread's current one) reach the peer's memory."""
    function = "aclrtDeviceEnablePeerAccess"
    number = as_int32(function, "peerDeviceId", peer)
    status = lib.aclpy_enable_peer_access(context, number, as_uint32(function, "flags", flags))
    if status:
        raise_last(status)


def disable(peer: object) -> None:
    """Undo `enable`."""
    number = as_int32("aclrtDeviceDisablePeerAccess", "peerDeviceId", peer)
    status = lib.aclpy_disable_peer_access(0, number)
    if status:
        raise_last(status)


def is_enabled(device: object, peer: object) -> bool:
    """Whether a device reaches the peer's memory now."""
    function = "aclrtDevicePeerAccessStatus"
    answer = ffi.new("int32_t *")
    status = lib.aclpy_peer_access_status(
        as_int32(function, "deviceId", device), as_int32(function, "peerDeviceId", peer), answer
    )
    if status:
        raise_last(status)
    return bool(answer[0])


def topology(device: object, other: object) -> int:
    """Bits of the links between two devices."""
    function = "aclrtGetDevicesTopo"
    links = ffi.new("uint64_t *")
    status = lib.aclpy_devices_topology(
        as_int32(function, "deviceId", device), as_int32(function, "otherDeviceId", other), links
    )
    if status:
        raise_last(status)
    return int(links[0])
