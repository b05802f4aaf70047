# SPDX-License-Identifier: Apache-2.0
"""Notify: a flag between streams that lets exactly one waiter go, and its counting sister."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_native import ffi, lib
from aclnn_runtime.arguments import as_list, as_size, as_uint32
from aclnn_runtime.noun import HandleNoun, handle_of
from aclnn_runtime.outputs import check, number
from aclnn_runtime.stream import Stream

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "CountingNotify",
    "Notify",
    "create_counting_notify",
    "create_notify",
    "destroy_counting_notify",
    "destroy_notify",
    "reset_notifies",
]


class Notify(HandleNoun):
    """A flag that streams set and wait for; a wait takes the flag, so one waiter goes on.

    Made by ``aclrtCreateNotify()``.
    """

    __slots__ = ()
    _door = "aclrtCreateNotify()"

    @classmethod
    def _adopt(cls, handle: int) -> Self:  # in this class: the count of leaks replaces it
        return super()._adopt(handle)

    @property
    def id(self) -> int:
        """Number of the notify."""
        return number("uint32_t", lib.aclpy_notify_id, self._handle)

    def record(self, stream: Stream) -> None:
        """Set the flag when `stream` gets there. Never blocks."""
        handle = handle_of("Notify.record", "stream", stream, Stream)
        check(lib.aclpy_notify_record(stream._context, self._handle, handle))

    def wait(self, stream: Stream, timeout_s: int = 0) -> None:
        """Let `stream` wait for the flag and take it.

        Parameters
        ----------
        stream : Stream
            The stream that waits; the program does not.
        timeout_s : int
            Time after which the stream goes on with a failure [s]; 0 for ever.

        Raises
        ------
        AclError
            107017 if one is closed. A wait in vain is 107019 at the stream's next synchronise.
        """
        handle = handle_of("Notify.wait", "stream", stream, Stream)
        seconds = as_uint32("Notify.wait", "timeout_s", timeout_s)
        check(lib.aclpy_notify_wait(stream._context, self._handle, handle, seconds))

    def close(self) -> None:
        """Give the notify back; also while it is queued."""
        if self._open:
            self._open = False
            self._check_closing(lib.aclpy_notify_destroy(self._handle))

    def __del__(self) -> None:
        if getattr(self, "_open", False):
            self._open = False
            lib.aclpy_notify_destroy(self._handle)


class CountingNotify(HandleNoun):
    """A 32-bit counter that streams change and compare. Made by ``aclrtCntNotifyCreate()``."""

    __slots__ = ()
    _door = "aclrtCntNotifyCreate()"

    @classmethod
    def _adopt(cls, handle: int) -> Self:  # in this class: the count of leaks replaces it
        return super()._adopt(handle)

    def close(self) -> None:
        """Give the counter back; also while it is queued."""
        if self._open:
            self._open = False
            self._check_closing(lib.aclpy_count_destroy(self._handle))

    def __del__(self) -> None:
        if getattr(self, "_open", False):
            self._open = False
            lib.aclpy_count_destroy(self._handle)


def create_notify(flag: object) -> Notify:
    """``aclrtCreateNotify``."""
    bits = as_size("aclrtCreateNotify", "flag", flag)
    return Notify._adopt(number("aclpy_handle", lib.aclpy_notify_create, 0, bits))


def create_counting_notify(flag: object) -> CountingNotify:
    """``aclrtCntNotifyCreate``."""
    bits = as_size("aclrtCntNotifyCreate", "flags", flag)
    return CountingNotify._adopt(number("aclpy_handle", lib.aclpy_count_create, 0, bits))


def destroy_notify(notify: object) -> None:
    """``aclrtDestroyNotify``."""
    check(lib.aclpy_notify_destroy(handle_of("aclrtDestroyNotify", "notify", notify, Notify)))
    assert isinstance(notify, Notify)
    notify._open = False


def destroy_counting_notify(notify: object) -> None:
    """``aclrtCntNotifyDestroy``."""
    handle = handle_of("aclrtCntNotifyDestroy", "cntNotify", notify, CountingNotify)
    check(lib.aclpy_count_destroy(handle))
    assert isinstance(notify, CountingNotify)
    notify._open = False


def reset_notifies(notifies: object) -> None:
    """``aclrtNotifyBatchReset``."""
    function = "aclrtNotifyBatchReset"
    given = as_list(function, "notifies", notifies)
    handles = [handle_of(function, "notifies", notify, Notify) for notify in given]
    check(lib.aclpy_notify_batch_reset(ffi.new("aclpy_handle[]", handles), len(handles)))
