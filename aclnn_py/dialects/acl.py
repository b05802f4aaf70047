# SPDX-License-Identifier: Apache-2.0
"""The AscendCL runtime under its C names: initialisation, devices, memory, streams and events."""

from aclnn_py.dialects import (
    acl_allocation,
    acl_callback,
    acl_capture,
    acl_copy,
    acl_copy_indirect,
    acl_data,
    acl_device,
    acl_error,
    acl_event,
    acl_event_more,
    acl_facts,
    acl_graph,
    acl_host_register,
    acl_limits,
    acl_memory,
    acl_memory_facts,
    acl_model,
    acl_notify,
    acl_parameter,
    acl_stream,
    acl_stream_config,
    acl_stream_control,
    acl_stream_facts,
)
from aclnn_py.dialects.acl_allocation import *  # noqa: F403  # the names listed there
from aclnn_py.dialects.acl_callback import *  # noqa: F403  # the names listed there
from aclnn_py.dialects.acl_capture import *  # noqa: F403  # the names listed there
from aclnn_py.dialects.acl_copy import *  # noqa: F403  # the names listed there
from aclnn_py.dialects.acl_copy_indirect import *  # noqa: F403  # the names listed there
from aclnn_py.dialects.acl_data import *  # noqa: F403  # the names listed there
from aclnn_py.dialects.acl_device import *  # noqa: F403  # the names listed there
from aclnn_py.dialects.acl_error import *  # noqa: F403  # the names listed there
from aclnn_py.dialects.acl_event import *  # noqa: F403  # the names listed there
from aclnn_py.dialects.acl_event_more import *  # noqa: F403  # the names listed there
from aclnn_py.dialects.acl_facts import *  # noqa: F403  # the names listed there
from aclnn_py.dialects.acl_graph import *  # noqa: F403  # the names listed there
from aclnn_py.dialects.acl_host_register import *  # noqa: F403  # the names listed there
from aclnn_py.dialects.acl_limits import *  # noqa: F403  # the names listed there
from aclnn_py.dialects.acl_memory import *  # noqa: F403  # the names listed there
from aclnn_py.dialects.acl_memory_facts import *  # noqa: F403  # the names listed there
from aclnn_py.dialects.acl_model import *  # noqa: F403  # the names listed there
from aclnn_py.dialects.acl_notify import *  # noqa: F403  # the names listed there
from aclnn_py.dialects.acl_parameter import *  # noqa: F403  # the names listed there
from aclnn_py.dialects.acl_stream import *  # noqa: F403  # the names listed there
from aclnn_py.dialects.acl_stream_config import *  # noqa: F403  # the names listed there
from aclnn_py.dialects.acl_stream_control import *  # noqa: F403  # the names listed there
from aclnn_py.dialects.acl_stream_facts import *  # noqa: F403  # the names listed there
from aclnn_runtime import enums, enums_device, enums_model, enums_order
from aclnn_runtime.enums import *  # noqa: F403  # the names listed there
from aclnn_runtime.enums_device import *  # noqa: F403  # the names listed there
from aclnn_runtime.enums_model import *  # noqa: F403  # the names listed there
from aclnn_runtime.enums_order import *  # noqa: F403  # the names listed there
from aclnn_runtime.errors import AclError, AclnnError

__all__ = ["AclError", "AclnnError"]
__all__ += enums.__all__
__all__ += enums_device.__all__
__all__ += acl_device.__all__
__all__ += acl_event.__all__
__all__ += acl_memory.__all__
__all__ += acl_stream.__all__
__all__ += acl_allocation.__all__
__all__ += acl_memory_facts.__all__
__all__ += acl_host_register.__all__
__all__ += acl_copy.__all__
__all__ += acl_copy_indirect.__all__
__all__ += acl_data.__all__
__all__ += acl_error.__all__
__all__ += acl_facts.__all__
__all__ += acl_limits.__all__
__all__ += acl_parameter.__all__
__all__ += enums_model.__all__
__all__ += enums_order.__all__
__all__ += acl_callback.__all__
__all__ += acl_capture.__all__
__all__ += acl_graph.__all__
__all__ += acl_model.__all__
__all__ += acl_event_more.__all__
__all__ += acl_notify.__all__
__all__ += acl_stream_config.__all__
__all__ += acl_stream_facts.__all__
__all__ += acl_stream_control.__all__
