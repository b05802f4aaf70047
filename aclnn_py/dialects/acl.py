# SPDX-License-Identifier: Apache-2.0
"""The AscendCL runtime under its C names: initialisation, devices, memory, streams and events."""

from aclnn_py.dialects import acl_device, acl_event, acl_memory, acl_stream
from aclnn_py.dialects.acl_device import *  # noqa: F403  # the names listed there
from aclnn_py.dialects.acl_event import *  # noqa: F403  # the names listed there
from aclnn_py.dialects.acl_memory import *  # noqa: F403  # the names listed there
from aclnn_py.dialects.acl_stream import *  # noqa: F403  # the names listed there
from aclnn_runtime import enums
from aclnn_runtime.enums import *  # noqa: F403  # the names listed there
from aclnn_runtime.errors import AclError, AclnnError

__all__ = ["AclError", "AclnnError"]
__all__ += enums.__all__
__all__ += acl_device.__all__
__all__ += acl_event.__all__
__all__ += acl_memory.__all__
__all__ += acl_stream.__all__
