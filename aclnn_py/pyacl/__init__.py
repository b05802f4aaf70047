# SPDX-License-Identifier: Apache-2.0
"""pyACL's calls for the runtime: ``import aclnn_py.pyacl as acl`` where a program imports ``acl``.

Calls are positional, handles and pointers are int (0 is null, and the default stream), and the
status comes last: ``ptr, ret = acl.rt.malloc(size, 0)``. A wrong number or type of arguments
raises TypeError or ValueError, everything else is a status; its text comes from
``acl.get_recent_err_msg()``. Models, media and single operators are not here and say so.

Handles are those of the C names: ``aclnn_py.Stream.from_handle(stream)`` is the same stream, so
operators can be called beside pyACL's runtime calls.
"""

from __future__ import annotations

from typing import NoReturn

from aclnn_py.pyacl import data, rt, system, util
from aclnn_py.pyacl.data import *  # noqa: F403  # the names listed there
from aclnn_py.pyacl.outside import Outside, refuse
from aclnn_py.pyacl.system import *  # noqa: F403  # the names listed there

__all__ = ["blas", "fv", "himpi", "mdl", "media", "op", "prof", "rt", "util"]
__all__ += data.__all__
__all__ += system.__all__

_NO_MODELS = "offline models are not emulated; run operators through aclnn_py's two-phase calls"
_NO_MEDIA = "images and video are not emulated"

mdl = Outside("acl.mdl", _NO_MODELS)
op = Outside(
    "acl.op",
    "single-operator models are not emulated; use the two-phase calls, aclnn_py.aclnn...",
)
blas = Outside("acl.blas", "matrix products by single-operator models are not emulated")
media = Outside("acl.media", _NO_MEDIA)
himpi = Outside("acl.himpi", _NO_MEDIA)
fv = Outside("acl.fv", "feature retrieval is not emulated")
prof = Outside("acl.prof", "profiling is not emulated")


def __getattr__(name: str) -> NoReturn:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    refuse(f"acl.{name}", "it is no call of the runtime")
