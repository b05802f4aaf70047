# SPDX-License-Identifier: Apache-2.0
"""C names of callbacks that run on a thread of the program.

Examples
--------
>>> import threading
>>> from aclnn_py.dialects.acl import *
>>> aclrtSetDevice(0)
>>> stream, seen = aclrtCreateStream(), []
>>> aclrtSubscribeReport(threading.get_ident(), stream)
>>> aclrtLaunchCallback(seen.append, "called here", ACL_CALLBACK_BLOCK, stream)
>>> aclrtProcessReport(-1)
>>> seen
['called here']
>>> aclrtUnSubscribeReport(threading.get_ident(), stream)
>>> aclrtDestroyStream(stream)
>>> aclrtResetDevice(0)
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

from aclnn_runtime import callback as _callback
from aclnn_runtime.noun import handle_of
from aclnn_runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

_Argument = TypeVar("_Argument")

__all__ = [
    "aclrtLaunchCallback",
    "aclrtProcessReport",
    "aclrtSubscribeReport",
    "aclrtUnSubscribeReport",
]


def aclrtSubscribeReport(threadId: int, stream: Stream | None) -> None:
    """Let a thread run the callbacks of a stream.

    Parameters
    ----------
    threadId : int
        ``threading.get_ident()`` of the thread that calls `aclrtProcessReport`.
    stream : Stream
        A stream of the current context.

    Raises
    ------
    AclError
        100000 for None; 107011 if the stream is subscribed already or was used with
        `aclrtLaunchHostFunc`; 107012 if the thread serves streams of another
        device; 207012 with more than 1024 threads; 107002 without current context;
        107003 for a stream of another context; 107017 for a destroyed handle.

    Notes
    -----
    Never blocks.

    Source: CANN runtime API reference, ``aclrtSubscribeReport`` (ACL API version 1.17.0).
    """
    handle = handle_of("aclrtSubscribeReport", "stream", stream, Stream)
    _callback.subscribe(0, threadId, handle)


def aclrtUnSubscribeReport(threadId: int, stream: Stream | None) -> None:
    """End a subscription.

    Parameters
    ----------
    threadId : int
        ``threading.get_ident()`` of the thread that calls `aclrtProcessReport`.
    stream : Stream
        A stream of the current context.

    Raises
    ------
    AclError
        100000 for None; 107011 if the stream is not subscribed; 107012 if another
        thread is; 107002 without current context; 107003 for a stream of another
        context; 107017 for a destroyed handle.

    Notes
    -----
    Never blocks. Callbacks that have not run are dropped; each fails the stream with
    107015, which its next synchronise raises.

    Source: CANN runtime API reference, ``aclrtUnSubscribeReport`` (ACL API version 1.17.0).
    """
    handle = handle_of("aclrtUnSubscribeReport", "stream", stream, Stream)
    _callback.unsubscribe(0, threadId, handle)


def aclrtProcessReport(timeout: int) -> None:
    """Run the callbacks that wait for the calling thread; wait for the first.

    Parameters
    ----------
    timeout : int
        The longest to wait for one [ms]; -1 for ever.

    Raises
    ------
    AclError
        100000 for a timeout of 0 or below -1; 107012 if the thread is subscribed to
        no stream; 507012 if none arrived in time.

    Notes
    -----
    Blocks, without the GIL.

    Source: CANN runtime API reference, ``aclrtProcessReport`` (ACL API version 1.17.0).
    """
    _callback.process_report(timeout)


def aclrtLaunchCallback(
    fn: Callable[[_Argument], object], userData: _Argument, blockType: int, stream: Stream | None
) -> None:
    """Queue a callback for the stream's subscribed thread.

    Parameters
    ----------
    fn : Callable[[object], object]
        Called with `userData` as its only argument; the result is ignored.
    userData : object
        Handed to `fn`.
    blockType : int
        ``ACL_CALLBACK_NO_BLOCK`` (0): the stream goes on at once;
        ``ACL_CALLBACK_BLOCK`` (1): when `fn` has returned.
    stream : Stream or None
        None is the default stream of the current context.

    Raises
    ------
    AclError
        100000 for another blockType; 107000 for None as `fn`, 100000 for anything
        else that cannot be called; 107015 if no thread is subscribed; 107011 if the
        stream was used with `aclrtLaunchHostFunc`; 107002 without current context;
        107003 for a stream of another context; 107017 for a destroyed handle.

    Notes
    -----
    Never blocks. `fn` must not call the runtime. An exception in it surfaces at the
    stream's next synchronise as status 507000.

    Source: CANN runtime API reference, ``aclrtLaunchCallback`` (ACL API version 1.17.0).
    """
    handle = handle_of("aclrtLaunchCallback", "stream", stream, Stream)
    _callback.launch_callback(0, handle, partial(fn, userData) if callable(fn) else fn, blockType)
