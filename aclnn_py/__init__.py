# SPDX-License-Identifier: Apache-2.0
"""Ascend's two-phase operator API on any machine: ``import aclnn_py as acl``.

Two layers over the same objects: C names, portable line by line (``aclrtMalloc``,
``aclnnSoftmaxGetWorkspaceSize``), and nouns (``Device``, ``Stream``, ``Event``, ``Buffer``,
``Tensor``). A status other than 0 is raised as `AclError`, or `AclnnError` for operators.
"""

from typing import Any

from aclnn_py.core.device import Device
from aclnn_py.core.dtype import aclDataType
from aclnn_py.core.executor import Executor
from aclnn_py.core.format import aclFormat
from aclnn_py.core.loading import loading as _loading
from aclnn_py.core.tensor import Tensor
from aclnn_py.dialects import acl as _acl
from aclnn_py.dialects import acl_tensor as _acl_tensor
from aclnn_py.dialects.acl_tensor import *
from aclnn_py.ops._index import INDEX as _INDEX
from aclnn_runtime import AclError, AclnnError, Buffer, Context, Event, Graph, Notify, Stream

globals().update(aclDataType.__members__)
globals().update(aclFormat.__members__)

__all__ = sorted(
    {
        "Device",
        "Executor",
        "Tensor",
        "aclDataType",
        "aclError",
        "aclFormat",
        "AclError",
        "AclnnError",
        "Buffer",
        "Context",
        "Event",
        "Graph",
        "Notify",
        "Stream",
        "trace",
        *_acl.__all__,
        *_acl_tensor.__all__,
        *(f"aclnn{name}{end}" for name in _INDEX for end in ("", "GetWorkspaceSize")),
        *aclDataType.__members__,
        *aclFormat.__members__,
    }
)


def __getattr__(name: str) -> Any:
    with _loading:
        return _load(name)


def _load(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415  # costs more than all the rest

        return version("aclnn-py")
    if name == "aclError":  # a long table, and most programs compare numbers
        from aclnn_runtime.status_enum import aclError  # noqa: PLC0415

        globals()[name] = aclError
        return aclError
    if name == "trace":  # a tool; programs that run without it do not pay for it
        from aclnn_py.testing import trace  # noqa: PLC0415

        globals()[name] = trace
        return trace
    if name in _acl.__all__:  # the runtime's, loaded when they are first asked for
        found = globals()[name] = getattr(_acl, name)
        return found
    # Operators come into being when they are first asked for.
    if name.startswith("aclnn") and name in __all__:
        from aclnn_py.dialects import aclnn  # noqa: PLC0415  # brings the planner and pydantic

        found = globals()[name] = getattr(aclnn, name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
