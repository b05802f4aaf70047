# SPDX-License-Identifier: Apache-2.0
"""Stream: a queue of work that runs in order, beside the program and beside other streams."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from aclnn_native import calls, ffi, lib
from aclnn_runtime.arguments import as_int32, as_size, as_uint32
from aclnn_runtime.errors import AclError, raise_last
from aclnn_runtime.event import Event, create_plain
from aclnn_runtime.host_function import launch
from aclnn_runtime.noun import HandleNoun, handle_of
from aclnn_runtime.outputs import check, number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType
    from typing import NoReturn

    from aclnn_runtime.device import Device
    from aclnn_runtime.graph import Graph

__all__ = ["Captured", "Stream", "create_stream"]


class Stream(HandleNoun, calls.Stream):
    """A queue of work that runs in order, beside the program and beside other streams.

    Made by ``Device.create_stream()`` or ``aclrtCreateStream()``. Its methods work in the
    stream's own context and leave the thread's current one alone.
    """

    __slots__ = ("_keepalive", "_owned")
    _door = "Device.create_stream() or aclrtCreateStream()"
    _owned: bool
    _keepalive: object

    @classmethod
    def _adopt(  # type: ignore[override]  # no stream without a context
        cls, handle: int, context: int, *, owned: bool = True, keepalive: object = None
    ) -> Stream:
        stream = cls.__new__(cls)
        stream._open = True
        stream._handle = handle
        stream._context = context
        stream._owned = owned
        stream._keepalive = keepalive
        return stream

    @classmethod
    def from_handle(cls, handle: int) -> Stream:
        """A stream that somebody else owns; closing this object leaves it alone.

        Raises
        ------
        AclError
            100000 for what is no handle; 107017 for that of no open stream.
        """
        native = as_size("Stream.from_handle", "handle", handle)
        return cls._adopt(native, _context_of(native), owned=False)

    @classmethod
    def from_external(cls, stream: object, device: Device) -> Stream:
        """A stream that puts its work into somebody else's CUDA stream.

        Parameters
        ----------
        stream : object
            With ``__cuda_stream__`` (CuPy 14, cuda.core, PyTorch 2.10) or a ``ptr`` or
            ``cuda_stream`` that is the address of a ``cudaStream_t``. It is held until this
            stream is closed and its work is done.
        device : Device
            The CUDA device that it belongs to.

        Returns
        -------
        Stream
            In order with everything that is put into `stream` by others.

        Raises
        ------
        AclError
            100000 for an object without a CUDA stream; 207000 for a device that is not CUDA's.

        Notes
        -----
        While a host function, a replayed graph or a wait for an emulated device is queued, it and
        later work are not in the CUDA stream yet: synchronise before others go on there.
        """
        from aclnn_runtime.cuda_streams import adopt  # noqa: PLC0415  # only for CUDA

        return adopt(stream, device)

    def __cuda_stream__(self) -> tuple[int, int]:
        """The CUDA stream behind this one: protocol version 0 and the ``cudaStream_t``.

        Work that others put there is in order with this stream's, and `synchronize` waits for it.
        """
        from aclnn_runtime.cuda_streams import pointer_of  # noqa: PLC0415  # only for CUDA

        return 0, pointer_of(self)

    @property
    def id(self) -> int:
        """Number of the stream."""
        return stream_facts(self._context, self._handle, "aclrtStreamGetId")[0]

    @property
    def priority(self) -> int:
        """0, the highest, to 7."""
        return stream_facts(self._context, self._handle, "aclrtStreamGetPriority")[1]

    # `synchronize` is the base's, in C; these serve it.
    def _synchronize(self, timeout_ms: int = -1) -> None:
        limit = as_int32("Stream.synchronize", "timeout_ms", timeout_ms)
        check(calls.wait(calls.STREAM_UNTIL, self._context, self._handle, limit))

    def _failed(self, status: int) -> NoReturn:
        raise_last(status)

    def query(self) -> bool:
        """Whether everything queued so far has run.

        Returns
        -------
        bool
            True for an idle stream.

        Raises
        ------
        AclError
            107017 if the stream is closed.

        Notes
        -----
        Never blocks.
        """
        return query_stream(self._context, self._handle) == 0

    def record(self, event: Event | None = None) -> Event:
        """Record an event behind everything queued so far.

        Parameters
        ----------
        event : Event, optional
            The event to record; None makes a new one, of the ``aclrtCreateEvent`` kind.

        Returns
        -------
        Event
            The recorded event.

        Raises
        ------
        AclError
            107017 if the stream or the event is closed.

        Notes
        -----
        Never blocks; the event is done when the stream gets there.
        """
        if event is None:
            event = create_plain(self._context, keepalive=self._keepalive)
        handle = handle_of("Stream.record", "event", event, Event)
        record_event(self._context, handle, self._handle)
        return event

    def wait(self, event: Event, timeout_s: int = 0) -> None:
        """Let later work of this stream wait until `event` is done.

        Parameters
        ----------
        event : Event
            An event recorded on any stream. Of the ``aclrtCreateEvent`` kind it must have been
            recorded before this call.
        timeout_s : int
            Time after which the stream goes on with a failure [s]; 0 for ever.

        Raises
        ------
        AclError
            107000 if it was never recorded; 207000 if its kind cannot be waited for; 107017 if
            the stream or the event is closed.

        Notes
        -----
        Never blocks: the stream waits, the program does not.
        """
        handle = handle_of("Stream.wait", "event", event, Event)
        if timeout_s == 0:
            wait_event(self._context, self._handle, handle)
        else:
            seconds = as_int32("Stream.wait", "timeout_s", timeout_s)
            check(lib.aclpy_event_wait_with_timeout(self._context, self._handle, handle, seconds))

    def launch_host_func(self, fn: Callable[[], object]) -> None:
        """Call a Python function after all earlier and before all later work of this stream.

        Parameters
        ----------
        fn : Callable[[], object]
            Called without arguments on the stream's own thread; its result is ignored.

        Raises
        ------
        AclError
            107000 or 100000 if `fn` cannot be called; 107017 if the stream is closed.

        Notes
        -----
        Never blocks. The function must not call the runtime for this stream. An exception in it
        is raised at the next synchronise, as the ``__cause__`` of an AclError with status 507000.
        Functions that are still queued when the interpreter exits do not run, and one that runs is
        not waited for: synchronise or close the stream before.
        """
        launch(self._context, self._handle, fn)

    @contextmanager
    def capture(self, mode: int = 0) -> Iterator[Captured]:
        """Capture what is queued inside the ``with`` block instead of running it.

        Parameters
        ----------
        mode : int
            0 global, 1 thread local, 2 relaxed: which synchronous copies are refused meanwhile.

        Yields
        ------
        Captured
            Its ``graph`` is there after the block.

        Raises
        ------
        AclError
            107027 if the stream is being captured already; at the end 107025 if a stream that
            joined by an event has not come back, 507903 if the capture has become invalid.

        Notes
        -----
        Events that link streams inside a capture are those of
        ``Device.create_event(ACL_EVENT_SYNC)`` or ``aclrtCreateEventExWithFlag(ACL_EVENT_SYNC)``.
        """
        from aclnn_runtime.graph import begin_capture, end_capture  # noqa: PLC0415  # imports us

        begin_capture(self._context, self._handle, mode)
        captured = Captured()
        try:
            yield captured
        except BaseException:
            with suppress(AclError):  # the block's own exception says more
                end_capture(self._context, self._handle)
            raise
        captured._graph = end_capture(self._context, self._handle)

    def abort(self) -> None:
        """Drop what is queued and end a wait that is going on; the stream stays usable.

        Notes
        -----
        Never blocks. The next synchronise raises 107023, also of streams that wait for a record
        which was dropped.
        """
        check(lib.aclpy_stream_abort(self._context, self._handle))

    def stop_on_failure(self) -> None:
        """Let the first failed task stop every stream of the context, for good."""
        function = b"aclrtSetStreamFailureMode"
        check(lib.aclpy_stream_set_attribute(self._context, self._handle, 1, 1, function))

    def close(self) -> None:
        """Wait until everything queued has run and give the stream back; once.

        Raises
        ------
        AclError
            The failure of a task that no `synchronize` has told of; the stream is gone then, too.

        Notes
        -----
        Blocks; Ctrl-C ends the wait, and what has not begun is dropped. A stream that is merely
        garbage collected does not, nor does one whose ``with`` block is left by an exception, for
        what is queued may never end: whatever can run of it still runs.
        """
        if self._open:
            self._open = False
            self._keepalive = None
            if self._owned:
                self._check_closing(calls.wait(calls.STREAM_CLOSE, self._context, self._handle))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            self.close()
        else:  # what is queued may wait for what comes behind the error, so for ever
            self._let_go()

    def __del__(self) -> None:
        self._let_go()

    def _let_go(self) -> None:
        if getattr(self, "_owned", False) and self._open:
            self._open = False
            lib.aclpy_stream_release(self._handle)


class Captured:
    """What ``Stream.capture()`` captures."""

    __slots__ = ("_graph",)

    def __init__(self) -> None:
        self._graph: Graph | None = None

    @property
    def graph(self) -> Graph:
        """The captured graph, once the ``with`` block is over."""
        if self._graph is None:
            raise RuntimeError("the capture has not ended; use the graph behind the with block")
        return self._graph


def create_stream(
    context: int,
    priority: object = 0,
    flags: object = 0,
    *,
    keepalive: object = None,
    function: str = "aclrtCreateStream",
) -> Stream:
    """A stream in `context` (0: the thread's current one)."""
    handle = ffi.new("aclpy_handle *")
    level = as_uint32(function, "priority", priority)
    bits = as_uint32(function, "flag", flags)
    status = lib.aclpy_stream_create(context, level, bits, handle)
    if status:
        raise_last(status, function=function)
    made = int(handle[0])
    return Stream._adopt(made, context or _context_of(made), keepalive=keepalive)


def default_stream() -> Stream:
    """``aclrtCtxGetCurrentDefaultStream``: that of the calling thread's current context."""
    handle = ffi.new("aclpy_handle *")
    check(lib.aclpy_stream_default(0, handle))
    return Stream.from_handle(int(handle[0]))


def destroy_stream(stream: object, *, force: bool = False) -> None:
    """``aclrtDestroyStream``: as `Stream.close`, but under the thread's current context."""
    function = "aclrtDestroyStreamForce" if force else "aclrtDestroyStream"
    handle = handle_of(function, "stream", stream, Stream)
    if force:
        check(lib.aclpy_stream_destroy_force(0, handle))
    else:
        check(calls.wait(calls.STREAM_DESTROY, 0, handle))
    assert isinstance(stream, Stream)
    stream._open = False
    stream._keepalive = None


def synchronize_stream(stream: object) -> None:
    """``aclrtSynchronizeStream``."""
    handle = handle_of("aclrtSynchronizeStream", "stream", stream, Stream)
    status = calls.wait(calls.STREAM, 0, handle)
    if status:
        raise_last(status)


def query_stream(context: int, stream: int) -> int:
    """State of a stream by handle: 0 complete, 1 not ready."""
    state = ffi.new("int32_t *")
    status = lib.aclpy_stream_query(context, stream, state)
    if status:
        raise_last(status)
    return int(state[0])


def stream_facts(context: int, stream: int, function: str) -> tuple[int, int, int]:
    """Id, priority and flags of a stream by handle."""
    info = ffi.new("aclpy_stream_info *")
    check(lib.aclpy_stream_facts(context, stream, function.encode(), info))
    return int(info.id), int(info.priority), int(info.flags)


def record_event(context: int, event: int, stream: int) -> None:
    """Record an event in a stream, by handles."""
    status = lib.aclpy_event_record(context, event, stream)
    if status:
        raise_last(status)


def wait_event(context: int, stream: int, event: int) -> None:
    """Let a stream wait for an event, by handles."""
    status = lib.aclpy_event_wait(context, stream, event)
    if status:
        raise_last(status)


def _context_of(stream: int) -> int:
    return number("aclpy_handle", lib.aclpy_stream_context, stream)
