# SPDX-License-Identifier: Apache-2.0
"""``acl.rt``: devices, contexts, memory, streams, events and callbacks."""

from __future__ import annotations

from typing import NoReturn

from aclnn_py.pyacl import rt_callback, rt_device, rt_event, rt_memory, rt_stream
from aclnn_py.pyacl.outside import refuse
from aclnn_py.pyacl.rt_callback import *  # noqa: F403  # the names listed there
from aclnn_py.pyacl.rt_device import *  # noqa: F403  # the names listed there
from aclnn_py.pyacl.rt_event import *  # noqa: F403  # the names listed there
from aclnn_py.pyacl.rt_memory import *  # noqa: F403  # the names listed there
from aclnn_py.pyacl.rt_stream import *  # noqa: F403  # the names listed there

__all__: list[str] = []
__all__ += rt_callback.__all__
__all__ += rt_device.__all__
__all__ += rt_event.__all__
__all__ += rt_memory.__all__
__all__ += rt_stream.__all__


def __getattr__(name: str) -> NoReturn:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    refuse(f"acl.rt.{name}", "it is no call for devices, memory, streams, events or callbacks")
