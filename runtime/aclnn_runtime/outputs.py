# SPDX-License-Identifier: Apache-2.0
"""Calling the native library: a status other than 0 is raised, what it writes is returned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aclnn_native import ffi
from aclnn_runtime.errors import raise_last

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["check", "number"]


def check(status: int, function: str = "") -> None:
    """Raise unless the status is 0; `function` is the C name where several share a call."""
    if status:
        raise_last(status, function=function)


def number(kind: str, call: Callable[..., int], *arguments: Any, function: str = "") -> int:
    """Call with a pointer to a `kind` as last argument and return what was written there."""
    cell = ffi.new(kind + " *")
    check(call(*arguments, cell), function)
    return int(cell[0])
