# SPDX-License-Identifier: Apache-2.0
"""Device: where memory is and streams run; the thread's current device."""

from __future__ import annotations

import re

from aclnn_native import calls, lib
from aclnn_runtime.arguments import as_int32, describe
from aclnn_runtime.enums import ACL_MEM_MALLOC_HUGE_FIRST, aclrtMemMallocPolicy
from aclnn_runtime.enums_device import ACL_HBM_MEM
from aclnn_runtime.errors import INVALID_HANDLE, fail, raise_last
from aclnn_runtime.event import Event, create_ex_with_flag, create_plain
from aclnn_runtime.memory import Buffer, malloc
from aclnn_runtime.memory_facts import memory_info
from aclnn_runtime.noun import Noun
from aclnn_runtime.outputs import check, number
from aclnn_runtime.peer import enable as _enable_peer
from aclnn_runtime.stream import Stream, create_stream

__all__ = [
    "Device",
    "device_count",
    "get_device",
    "reset_device",
    "reset_device_force",
    "set_device",
    "synchronize_current",
]

_SPELLING = re.compile(r"(cpu|cuda):(\d{1,9})")


class Device(Noun):
    """A device, by number or by name: ``Device(0)`` is ``Device("cpu:0")``.

    ``Device("cuda:0")`` is an NVIDIA GPU; it needs CuPy. With ``ACLNN_PY_BACKEND=cuda`` the
    numbers are those of GPUs.

    It stands for the device's primary context, which it holds until it is closed. It needs
    neither ``aclInit`` nor ``aclrtSetDevice`` and leaves the thread's current context alone.

    Parameters
    ----------
    index : int or str
        Number of the device, ``"cpu:<number>"`` or ``"cuda:<number>"``.

    Attributes
    ----------
    index : int
        Number of the device among those of its kind.
    kind : str
        ``"cpu"`` or ``"cuda"``.

    Raises
    ------
    AclError
        107001 if there is no such device; 100000 for another type or spelling; for CUDA devices
        507033 without a usable CuPy and 207004 without a GPU.
    """

    __slots__ = ("_ctx", "_index", "_number", "kind")
    _ctx: int
    _index: int
    _number: int  # of the native library
    kind: str

    def __init__(self, index: int | str = 0) -> None:
        self._open = False
        native, found = _parse(index)
        context = number("aclpy_handle", lib.aclpy_primary_retain, native)
        self.kind = "cuda" if lib.aclpy_device_is_foreign(native) else "cpu"
        self._index, self._number = found, native
        self._ctx = context
        self._open = True

    @property
    def index(self) -> int:
        """Number of the device among those of its kind."""
        return self._index

    def create_stream(self, priority: int = 0, flags: int = 0) -> Stream:
        """A new stream on this device.

        Parameters
        ----------
        priority : int
            0, the highest, to 7; more counts as 7.
        flags : int
            ``ACL_STREAM_*`` bits.

        Returns
        -------
        Stream
            Its methods need no current context.

        Raises
        ------
        AclError
            107017 if the device is closed; 207008 if there are too many streams.

        Notes
        -----
        Never blocks.
        """
        context = self._context("Device.create_stream")
        return create_stream(context, priority, flags, keepalive=self)

    def create_event(self, flag: int | None = None) -> Event:
        """A new event.

        Parameters
        ----------
        flag : int, optional
            ``ACL_EVENT_*`` bits, as for ``aclrtCreateEventExWithFlag``: ``ACL_EVENT_SYNC`` for
            one that links streams inside a capture. Not given, it is of the ``aclrtCreateEvent``
            kind, which keeps time and can be waited for.

        Returns
        -------
        Event
            Not recorded yet.

        Raises
        ------
        AclError
            107017 if the device is closed; 107000 for flags that do not go together, 100000 for
            what is no number.

        Notes
        -----
        Never blocks.
        """
        function = "Device.create_event"
        context = self._context(function)
        if flag is None:
            return create_plain(context, keepalive=self)
        return create_ex_with_flag(context, flag, function=function, keepalive=self)

    def malloc(
        self, nbytes: int, policy: aclrtMemMallocPolicy = ACL_MEM_MALLOC_HUGE_FIRST
    ) -> Buffer:
        """Allocate device memory; its content is undefined.

        Parameters
        ----------
        nbytes : int
            Size, at least 1 [bytes].
        policy : aclrtMemMallocPolicy
            Kind of pages.

        Returns
        -------
        Buffer
            Freed when it is closed or garbage collected.

        Raises
        ------
        AclError
            100000 for size 0; 207001 if the memory is used up; 107017 if the device is closed.

        Notes
        -----
        Never waits for queued work.
        """
        context = self._context("Device.malloc")
        return malloc(context, nbytes, policy, frees_itself=True, keepalive=self)

    def synchronize(self) -> None:
        """Wait until all streams made on this device have run what is queued.

        Raises
        ------
        AclError
            The status of a task that failed; 107017 if the device is closed.

        Notes
        -----
        Blocks the calling thread, without the GIL. Streams of explicitly created contexts are
        not waited for.
        """
        check(calls.wait(calls.DEVICE, self._context("Device.synchronize")))

    def memory_info(self) -> tuple[int, int]:
        """Free and total memory of the device.

        Returns
        -------
        free, total : int
            What can still be allocated, and the device's size [bytes]
            (``ACLNN_PY_DEVICE_MEMORY``).

        Raises
        ------
        AclError
            107017 if the device is closed.
        """
        return memory_info(ACL_HBM_MEM, context=self._context("Device.memory_info"))

    def enable_peer_access(self, peer: Device | int) -> None:
        """Let copies by this device reach the memory of another one.

        Parameters
        ----------
        peer : Device or int
            The other device. The opposite direction is a call of its own.

        Raises
        ------
        AclError
            100000 for the device itself; 107001 if there is no such device; 107017 if this one is
            closed.
        """
        other = peer._number if isinstance(peer, Device) else peer
        _enable_peer(other, 0, context=self._context("Device.enable_peer_access"))

    def close(self) -> None:
        """Let go of the primary context; a second call does nothing.

        Notes
        -----
        Close what was made on the device first: the last one to let go of the primary context
        ends its streams and events.
        """
        if self._open:
            self._open = False
            status = lib.aclpy_primary_release(self._ctx)
            if status == INVALID_HANDLE:  # gone already: it stayed with the parent of a fork
                lib.aclpy_error_clear()
            elif status:
                raise_last(status)

    def __repr__(self) -> str:
        state = "" if self._open else " (closed)"
        kind, index = getattr(self, "kind", "cpu"), getattr(self, "_index", "?")
        return f"Device('{kind}:{index}'){state}"

    def __del__(self) -> None:
        if getattr(self, "_open", False):
            self._open = False
            lib.aclpy_primary_release(self._ctx)

    def _context(self, function: str) -> int:
        if not self._open:
            fail(
                function,
                "device",
                what="is closed",
                got=repr(self),
                expected="an open Device",
                fix=f'make a new one, Device("{self.kind}:{self._index}")',
                status=INVALID_HANDLE,
            )
        return self._ctx


def _parse(index: object) -> tuple[int, int]:
    """The native number, and the one among devices of the kind."""
    if not isinstance(index, str):
        given = as_int32("Device", "index", index)
        return given, given
    match = _SPELLING.fullmatch(index)
    if match is None:
        fail(
            "Device",
            "index",
            what="is no name of a device",
            got=describe(index),
            expected='a number, "cpu:<number>" or "cuda:<number>"',
            fix='write Device(0) or Device("cpu:0")',
        )
    kind, named = match[1], int(match[2])
    if kind == "cpu":
        if lib.aclpy_device_is_foreign(0):
            fail(
                "Device",
                "index",
                what="names a device that this process does not have",
                got=describe(index),
                expected='"cuda:<number>", as ACLNN_PY_BACKEND=cuda says',
                fix="unset ACLNN_PY_BACKEND to have both kinds",
            )
        return named, named
    return number("int32_t", lib.aclpy_foreign_device, named), named


def set_device(device: object) -> None:
    """``aclrtSetDevice``."""
    check(lib.aclpy_set_device(as_int32("aclrtSetDevice", "deviceId", device)))


def reset_device(device: object) -> None:
    """``aclrtResetDevice``."""
    check(lib.aclpy_reset_device(as_int32("aclrtResetDevice", "deviceId", device)))


def reset_device_force(device: object) -> None:
    """``aclrtResetDeviceForce``."""
    index = as_int32("aclrtResetDeviceForce", "deviceId", device)
    check(lib.aclpy_reset_device_force(index))


def get_device() -> int:
    """Device of the calling thread's current context."""
    return number("int32_t", lib.aclpy_get_device)


def device_count() -> int:
    """Number of devices."""
    return number("uint32_t", lib.aclpy_device_count)


def synchronize_current() -> None:
    """Wait for all streams of the calling thread's current context."""
    check(calls.wait(calls.DEVICE, 0))
