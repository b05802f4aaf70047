# SPDX-License-Identifier: Apache-2.0
"""Context: what streams and events live in, and what a thread works under."""

from __future__ import annotations

from aclnn_native import calls, lib
from aclnn_runtime.arguments import as_int32, as_size
from aclnn_runtime.noun import HandleNoun, handle_of
from aclnn_runtime.outputs import check, number

__all__ = ["Context", "create_context", "current_context", "set_current_context"]


class Context(HandleNoun):
    """What streams and events live in, and what a thread works under.

    Made by ``aclrtCreateContext()`` or ``aclrtGetCurrentContext()``; two objects for the same
    context are equal. It lives until it is closed or destroyed, garbage collection leaves it
    alone: a thread may be working under it.
    """

    __slots__ = ()
    _door = "aclrtCreateContext() or aclrtGetCurrentContext()"

    @classmethod
    def from_handle(cls, handle: int) -> Context:
        """The context with this native handle.

        Raises
        ------
        AclError
            100000 for what is no handle.
        """
        return cls._adopt(as_size("Context.from_handle", "handle", handle))

    @property
    def device(self) -> int:
        """Index of the context's device."""
        return number("int32_t", lib.aclpy_context_device, self._handle)

    def synchronize(self) -> None:
        """Wait until all streams of the context have run what is queued.

        Raises
        ------
        AclError
            The status of a task that failed; 107017 if the context is closed.

        Notes
        -----
        Blocks the calling thread, without the GIL.
        """
        check(calls.wait(calls.DEVICE, self._handle))

    def close(self) -> None:
        """Destroy the context with its streams; a second call does nothing.

        Raises
        ------
        AclError
            107002 for a device's own (primary) context, which goes with ``aclrtResetDevice``.

        Notes
        -----
        Blocks until its streams have run what is queued.
        """
        if self._open:
            check(lib.aclpy_context_destroy(self._handle))
            self._open = False


def create_context(device: object) -> Context:
    """A new context, current for the calling thread from now on."""
    index = as_int32("aclrtCreateContext", "deviceId", device)
    return Context.from_handle(number("aclpy_handle", lib.aclpy_context_create, index))


def destroy_context(context: object) -> None:
    """``aclrtDestroyContext``."""
    handle = handle_of("aclrtDestroyContext", "context", context, Context)
    check(lib.aclpy_context_destroy(handle))
    assert isinstance(context, Context)
    context._open = False


def current_context() -> Context:
    """The context that the calling thread works under."""
    return Context.from_handle(number("aclpy_handle", lib.aclpy_context_get_current))


def set_current_context(context: object) -> None:
    """Let the calling thread work under `context`."""
    handle = handle_of("aclrtSetCurrentContext", "context", context, Context)
    check(lib.aclpy_context_set_current(handle))
