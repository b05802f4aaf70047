# SPDX-License-Identifier: Apache-2.0
"""Enumerations and flags of streams, events, callbacks and captures; members also as names."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

__all__ = [
    "ACL_CALLBACK_BLOCK",
    "ACL_CALLBACK_NO_BLOCK",
    "ACL_CONTINUE_ON_FAILURE",
    "ACL_EVENT_STATUS_COMPLETE",
    "ACL_EVENT_STATUS_NOT_READY",
    "ACL_EVENT_STATUS_RESERVED",
    "ACL_EVENT_WAIT_STATUS_COMPLETE",
    "ACL_EVENT_WAIT_STATUS_NOT_READY",
    "ACL_EVENT_WAIT_STATUS_RESERVED",
    "ACL_MODEL_RI_CAPTURE_MODE_GLOBAL",
    "ACL_MODEL_RI_CAPTURE_MODE_RELAXED",
    "ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL",
    "ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE",
    "ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED",
    "ACL_MODEL_RI_CAPTURE_STATUS_NONE",
    "ACL_STOP_ON_FAILURE",
    "ACL_STREAM_CPU_SCHEDULE",
    "ACL_STREAM_DEVICE_USE_ONLY",
    "ACL_STREAM_FAST_LAUNCH",
    "ACL_STREAM_FAST_SYNC",
    "ACL_STREAM_HUGE",
    "ACL_STREAM_PERSISTENT",
    "aclmdlRICaptureMode",
    "aclmdlRICaptureStatus",
    "aclrtCallbackBlockType",
    "aclrtEventStatus",
    "aclrtEventWaitStatus",
]


class aclrtEventStatus(IntEnum):
    """Answer of the deprecated ``aclrtQueryEvent``; 0 means done."""

    ACL_EVENT_STATUS_COMPLETE = 0
    ACL_EVENT_STATUS_NOT_READY = 1
    ACL_EVENT_STATUS_RESERVED = 2


class aclrtEventWaitStatus(IntEnum):
    """Answer of ``aclrtQueryEventWaitStatus``; 0 means that no wait is queued."""

    ACL_EVENT_WAIT_STATUS_COMPLETE = 0
    ACL_EVENT_WAIT_STATUS_NOT_READY = 1
    ACL_EVENT_WAIT_STATUS_RESERVED = 0xFFFF


class aclrtCallbackBlockType(IntEnum):
    """Whether a stream waits for its callback."""

    ACL_CALLBACK_NO_BLOCK = 0
    ACL_CALLBACK_BLOCK = 1


class aclmdlRICaptureMode(IntEnum):
    """Which synchronous copies a capture forbids."""

    ACL_MODEL_RI_CAPTURE_MODE_GLOBAL = 0
    ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL = 1
    ACL_MODEL_RI_CAPTURE_MODE_RELAXED = 2


class aclmdlRICaptureStatus(IntEnum):
    """State of a stream with regard to captures."""

    ACL_MODEL_RI_CAPTURE_STATUS_NONE = 0
    ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE = 1
    ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED = 2


ACL_EVENT_STATUS_COMPLETE: Final = aclrtEventStatus.ACL_EVENT_STATUS_COMPLETE
ACL_EVENT_STATUS_NOT_READY: Final = aclrtEventStatus.ACL_EVENT_STATUS_NOT_READY
ACL_EVENT_STATUS_RESERVED: Final = aclrtEventStatus.ACL_EVENT_STATUS_RESERVED
ACL_EVENT_WAIT_STATUS_COMPLETE: Final = aclrtEventWaitStatus.ACL_EVENT_WAIT_STATUS_COMPLETE
ACL_EVENT_WAIT_STATUS_NOT_READY: Final = aclrtEventWaitStatus.ACL_EVENT_WAIT_STATUS_NOT_READY
ACL_EVENT_WAIT_STATUS_RESERVED: Final = aclrtEventWaitStatus.ACL_EVENT_WAIT_STATUS_RESERVED
ACL_CALLBACK_NO_BLOCK: Final = aclrtCallbackBlockType.ACL_CALLBACK_NO_BLOCK
ACL_CALLBACK_BLOCK: Final = aclrtCallbackBlockType.ACL_CALLBACK_BLOCK
ACL_MODEL_RI_CAPTURE_MODE_GLOBAL: Final = aclmdlRICaptureMode.ACL_MODEL_RI_CAPTURE_MODE_GLOBAL
ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL: Final = (
    aclmdlRICaptureMode.ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL
)
ACL_MODEL_RI_CAPTURE_MODE_RELAXED: Final = aclmdlRICaptureMode.ACL_MODEL_RI_CAPTURE_MODE_RELAXED
ACL_MODEL_RI_CAPTURE_STATUS_NONE: Final = aclmdlRICaptureStatus.ACL_MODEL_RI_CAPTURE_STATUS_NONE
ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE: Final = aclmdlRICaptureStatus.ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE
ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED: Final = (
    aclmdlRICaptureStatus.ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED
)

# Macros in C, so plain numbers here; flags are combined with "|".
ACL_STREAM_FAST_LAUNCH: Final = 0x01
ACL_STREAM_FAST_SYNC: Final = 0x02
ACL_STREAM_PERSISTENT: Final = 0x04
ACL_STREAM_HUGE: Final = 0x08
ACL_STREAM_CPU_SCHEDULE: Final = 0x10
ACL_STREAM_DEVICE_USE_ONLY: Final = 0x20
ACL_CONTINUE_ON_FAILURE: Final = 0
ACL_STOP_ON_FAILURE: Final = 1
