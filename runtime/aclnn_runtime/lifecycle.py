# SPDX-License-Identifier: Apache-2.0
"""Beginning and end: aclInit, aclFinalize, recent messages, and a clean end of the interpreter."""

from __future__ import annotations

import atexit
import os

from aclnn_native import ffi, lib
from aclnn_runtime.arguments import describe
from aclnn_runtime.errors import AclError, AclnnError, fail, raise_last
from aclnn_runtime.outputs import check, number

__all__ = ["finalize", "finalize_reference", "init", "nn_finalize", "nn_init", "recent_message"]

# Queued work must not outlive the interpreter that its host functions need.
atexit.register(lib.aclpy_shutdown)


def init(config_path: object = None) -> None:
    """``aclInit``."""
    check(lib.aclpy_init(_path("aclInit", config_path)))


def finalize() -> None:
    """``aclFinalize``."""
    check(lib.aclpy_finalize())


def finalize_reference() -> int:
    """``aclFinalizeReference``: how many references are left."""
    return number("uint64_t", lib.aclpy_finalize_reference)


def nn_init(config_path: object = None) -> None:
    """``aclnnInit``."""
    status = lib.aclpy_nn_init(_path("aclnnInit", config_path, error=AclnnError))
    if status:
        raise_last(status, error=AclnnError)


def nn_finalize() -> None:
    """``aclnnFinalize``."""
    status = lib.aclpy_nn_finalize()
    if status:
        raise_last(status, error=AclnnError)


def recent_message() -> str | None:
    """Texts of the calling thread's recent errors, newest first; None if there are none."""
    text = lib.aclpy_recent_message()
    if not text:
        return None
    raw: bytes = ffi.string(text)
    return raw.decode("utf-8", "replace")


def _path(function: str, value: object, *, error: type[AclError] = AclError) -> object:
    if value is None:
        return ffi.NULL
    if not isinstance(value, str | bytes | os.PathLike):
        fail(
            function,
            "configPath",
            what="has the wrong type",
            got=describe(value),
            expected="a path (str, bytes or os.PathLike) or None",
            fix="pass the path of a JSON file, or None",
            error=error,
        )
    path = os.fsencode(value)
    if b"\0" in path:
        fail(
            function,
            "configPath",
            what="contains a NUL character",
            got=describe(value),
            expected="a path",
            fix="pass the path of a JSON file, or None",
            error=error,
        )
    return path
