# SPDX-License-Identifier: Apache-2.0
"""Context: what streams and events live in, and what a thread works under."""

from __future__ import annotations

from aclnn_native import calls, ffi, lib
from aclnn_runtime.arguments import as_int32, as_size
from aclnn_runtime.errors import raise_last
from aclnn_runtime.noun import HandleNoun, handle_of

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
        context = cls.__new__(cls)
        context._open = True
        context._handle = as_size("Context.from_handle", "handle", handle)
        return context

    @property
    def device(self) -> int:
        """Index of the context's device."""
        device = ffi.new("int32_t *")
        status = lib.aclpy_context_device(self._handle, device)
        if status:
            raise_last(status)
        return int(device[0])

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
        status = calls.wait(calls.DEVICE, self._handle)
        if status:
            raise_last(status)

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
            status = lib.aclpy_context_destroy(self._handle)
            if status:
                raise_last(status)
            self._open = False


def create_context(device: object) -> Context:
    """A new context, current for the calling thread from now on."""
    number = as_int32("aclrtCreateContext", "deviceId", device)
    handle = ffi.new("aclpy_handle *")
    status = lib.aclpy_context_create(number, handle)
    if status:
        raise_last(status)
    return Context.from_handle(int(handle[0]))


def destroy_context(context: object) -> None:
    """``aclrtDestroyContext``."""
    status = lib.aclpy_context_destroy(
        handle_of("aclrtDestroyContext", "context", context, Context)
    )
    if status:
        raise_last(status)
    assert isinstance(context, Context)
    context._open = False


def current_context() -> Context:
    """The context that the calling thread works under."""
    handle = ffi.new("aclpy_handle *")
    status = lib.aclpy_context_get_current(handle)
    if status:
        raise_last(status)
    return Context.from_handle(int(handle[0]))


def set_current_context(context: object) -> None:
    """Let the calling thread work under `context`."""
    status = lib.aclpy_context_set_current(
        handle_of("aclrtSetCurrentContext", "context", context, Context)
    )
    if status:
        raise_last(status)
