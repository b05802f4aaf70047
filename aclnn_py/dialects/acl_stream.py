# SPDX-License-Identifier: Apache-2.0
"""C names of streams and host functions.

Examples
--------
>>> from aclnn_py.dialects.acl import *
>>> aclrtSetDevice(0)
>>> stream = aclrtCreateStream()
>>> seen = []
>>> aclrtLaunchHostFunc(stream, seen.append, "called by the stream")
>>> aclrtSynchronizeStream(stream)
>>> seen
['called by the stream']
>>> aclrtDestroyStream(stream)
>>> aclrtResetDevice(0)
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

from aclnn_runtime import stream as _stream
from aclnn_runtime.enums import aclrtStreamStatus
from aclnn_runtime.host_function import launch
from aclnn_runtime.noun import handle_of
from aclnn_runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "aclrtCreateStream",
    "aclrtDestroyStream",
    "aclrtLaunchHostFunc",
    "aclrtStreamQuery",
    "aclrtSynchronizeStream",
]

_Argument = TypeVar("_Argument")


def aclrtCreateStream() -> Stream:
    """Make a stream in the calling thread's current context.

    Returns
    -------
    Stream
        It never waits for other streams, the default stream included.

    Raises
    ------
    AclError
        107002 when the thread has no current context; 207008 when there are too many streams.

    Notes
    -----
    Never blocks.

    Source: CANN runtime API reference, ``aclrtCreateStream`` (ACL API version 1.17.0).
    """
    return _stream.create_stream(0)


def aclrtDestroyStream(stream: Stream | None) -> None:
    """Wait for a stream and destroy it.

    Parameters
    ----------
    stream : Stream
        A stream of the current context.

    Raises
    ------
    AclError
        100000 for None; 107002 without current context; 107003 for a stream of another context;
        107017 for one destroyed before.

    Notes
    -----
    Blocks until the stream has run what is queued.

    Source: CANN runtime API reference, ``aclrtDestroyStream`` (ACL API version 1.17.0).
    """
    _stream.destroy_stream(stream)


def aclrtSynchronizeStream(stream: Stream | None) -> None:
    """Wait until a stream has run everything queued so far.

    Parameters
    ----------
    stream : Stream or None
        A stream of any context; None is the default stream of the current one.

    Raises
    ------
    AclError
        The status of a task that failed since the last synchronise, 507000 for a host function
        with its exception as ``__cause__``; 107002 for None without current context; 107017 for a
        destroyed stream.

    Notes
    -----
    Blocks, without the GIL.

    Source: CANN runtime API reference, ``aclrtSynchronizeStream`` (ACL API version 1.17.0).
    """
    _stream.synchronize_stream(stream)


def aclrtStreamQuery(stream: Stream | None) -> aclrtStreamStatus:
    """Whether a stream has run everything queued so far.

    Parameters
    ----------
    stream : Stream or None
        None is the default stream of the current context.

    Returns
    -------
    aclrtStreamStatus
        ``ACL_STREAM_STATUS_COMPLETE`` (0) or ``ACL_STREAM_STATUS_NOT_READY`` (1).

    Raises
    ------
    AclError
        107002 for None without current context; 107003 for a stream of another context; 107017
        for a destroyed one.

    Notes
    -----
    Never blocks.

    Source: CANN runtime API reference, ``aclrtStreamQuery`` (ACL API version 1.17.0).
    """
    handle = handle_of("aclrtStreamQuery", "stream", stream, Stream)
    return aclrtStreamStatus(_stream.query_stream(0, handle))


def aclrtLaunchHostFunc(
    stream: Stream | None, fn: Callable[[_Argument], object], args: _Argument
) -> None:
    """Call a Python function after all earlier and before all later work of a stream.

    Parameters
    ----------
    stream : Stream or None
        None is the default stream of the current context.
    fn : Callable[[object], object]
        Called with `args` as its only argument; the result is ignored.
    args : object
        Handed to `fn`.

    Raises
    ------
    AclError
        107000 for None as `fn`, 100000 for anything else that cannot be called; 107002 without
        current context; 107003 for a stream of another context; 107017 for a destroyed one.

    Notes
    -----
    Never blocks; `fn` runs on a thread of the runtime and must not call the runtime for this
    stream. An exception in it surfaces at the next synchronise as status 507000. Functions that are
    still queued when the interpreter exits do not run, and one that runs is not waited for:
    synchronise before.

    Source: CANN runtime API reference, ``aclrtLaunchHostFunc`` (ACL API version 1.17.0).
    """
    handle = handle_of("aclrtLaunchHostFunc", "stream", stream, Stream)
    launch(0, handle, partial(fn, args) if callable(fn) else fn)
