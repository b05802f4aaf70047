# SPDX-License-Identifier: Apache-2.0
"""The runtime: devices, contexts, streams, events and memory as thin wrappers of the library."""

from aclnn_runtime import cuda_loader as _cuda_loader  # noqa: F401  # attaches the callback
from aclnn_runtime import enums
from aclnn_runtime import lifecycle as _lifecycle  # noqa: F401  # registers the clean end
from aclnn_runtime import step_call as _step_call  # noqa: F401  # attaches the callback
from aclnn_runtime.context import Context
from aclnn_runtime.device import Device
from aclnn_runtime.enums import *  # noqa: F403  # the C names, listed in enums.__all__
from aclnn_runtime.errors import AclError, AclnnError, format_message, raise_last
from aclnn_runtime.event import Event
from aclnn_runtime.graph import Graph
from aclnn_runtime.memory import Buffer
from aclnn_runtime.notify import Notify
from aclnn_runtime.stream import Stream

__all__ = [
    "AclError",
    "AclnnError",
    "Buffer",
    "Context",
    "Device",
    "Event",
    "Graph",
    "Notify",
    "Stream",
    "format_message",
    "raise_last",
]
__all__ += enums.__all__
