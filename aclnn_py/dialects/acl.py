# SPDX-License-Identifier: Apache-2.0
"""The AscendCL runtime under its C names: initialisation, devices, memory, streams and events.

A name's module is loaded when it is first asked for; most programs use a tenth of them.
"""

from importlib import import_module
from typing import Any

from aclnn_py.dialects._acl_index import INDEX

__all__ = list(INDEX)


def __getattr__(name: str) -> Any:
    home = INDEX.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(home), name)
    return found


def __dir__() -> list[str]:
    return __all__
