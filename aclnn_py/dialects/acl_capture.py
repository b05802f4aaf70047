# SPDX-License-Identifier: Apache-2.0
"""C names of graph capture: work that is recorded once and replayed.

Examples
--------
>>> from aclnn_py.dialects.acl import *
>>> aclrtSetDevice(0)
>>> stream, seen = aclrtCreateStream(), []
>>> aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL)
>>> aclrtLaunchHostFunc(stream, seen.append, "again")
>>> graph = aclmdlRICaptureEnd(stream)
>>> aclmdlRIExecuteAsync(graph, stream)
>>> aclmdlRIExecuteAsync(graph, stream)
>>> aclrtSynchronizeStream(stream)
>>> seen
['again', 'again']
>>> aclmdlRIDestroy(graph)
>>> aclrtDestroyStream(stream)
>>> aclrtResetDevice(0)
"""

from __future__ import annotations

from aclnn_runtime import graph as _graph
from aclnn_runtime import graph_calls as _calls
from aclnn_runtime.enums_order import aclmdlRICaptureMode, aclmdlRICaptureStatus
from aclnn_runtime.graph import Graph, TaskGroup
from aclnn_runtime.noun import handle_of
from aclnn_runtime.stream import Stream

__all__ = [
    "aclmdlRICaptureBegin",
    "aclmdlRICaptureEnd",
    "aclmdlRICaptureGetInfo",
    "aclmdlRICaptureTaskGrpBegin",
    "aclmdlRICaptureTaskGrpEnd",
    "aclmdlRICaptureTaskUpdateBegin",
    "aclmdlRICaptureTaskUpdateEnd",
    "aclmdlRICaptureThreadExchangeMode",
]


def aclmdlRICaptureBegin(stream: Stream | None, mode: int) -> None:
    """Capture what is queued in a stream from now on, instead of running it.

    Parameters
    ----------
    stream : Stream
        Not the default stream.
    mode : int
        ``ACL_MODEL_RI_CAPTURE_MODE_*``: which synchronous copies are refused
        meanwhile.

    Raises
    ------
    AclError
        100000 for None; 207000 for the default stream; 107000 for another mode;
        107027 if it is being captured already; 107005 if it is bound to a model;
        507000 for a stream whose flags do not allow it; 107002 without current context;
        107003 for a stream of another context; 107017 for a destroyed handle.

    Notes
    -----
    Never blocks.

    Source: CANN runtime API reference, ``aclmdlRICaptureBegin`` (ACL API version 1.17.0).
    """
    handle = handle_of("aclmdlRICaptureBegin", "stream", stream, Stream)
    _graph.begin_capture(0, handle, mode)


def aclmdlRICaptureEnd(stream: Stream | None) -> Graph:
    """End a capture.

    Parameters
    ----------
    stream : Stream
        The one on which it began.

    Returns
    -------
    Graph
        The captured work.

    Raises
    ------
    AclError
        100000 for None; 207000 for the default stream; 107029 if it is not being
        captured; 107036 for a stream that joined by an event. The capture is thrown
        away with 107038 in another thread (unless relaxed), 107033 with an open
        task group, 107025 if a side stream has not come back, 507903 after an
        illegal event operation.

    Notes
    -----
    Never blocks.

    Source: CANN runtime API reference, ``aclmdlRICaptureEnd`` (ACL API version 1.17.0).
    """
    handle = handle_of("aclmdlRICaptureEnd", "stream", stream, Stream)
    return _graph.end_capture(0, handle)


def aclmdlRICaptureGetInfo(stream: Stream | None) -> tuple[aclmdlRICaptureStatus, Graph | None]:
    """Whether a stream is being captured, and into what.

    Parameters
    ----------
    stream : Stream
        A stream of the current context.

    Returns
    -------
    tuple of aclmdlRICaptureStatus and Graph or None
        The state, and the graph that is being captured.

    Raises
    ------
    AclError
        100000 for None; 107002 without current context; 107003 for a stream of
        another context; 107017 for a destroyed handle.

    Notes
    -----
    Never blocks.

    Source: CANN runtime API reference, ``aclmdlRICaptureGetInfo`` (ACL API version 1.17.0).
    """
    handle = handle_of("aclmdlRICaptureGetInfo", "stream", stream, Stream)
    state, graph = _graph.capture_info(0, handle)
    return aclmdlRICaptureStatus(state), graph


def aclmdlRICaptureThreadExchangeMode(mode: int) -> aclmdlRICaptureMode:
    """Exchange the calling thread's mode, which takes part in refusing synchronous copies.

    Parameters
    ----------
    mode : int
        The new mode; every thread begins with the global one.

    Returns
    -------
    aclmdlRICaptureMode
        The mode until now.

    Raises
    ------
    AclError
        107000 for another mode.

    Notes
    -----
    Source: CANN runtime API reference, ``aclmdlRICaptureThreadExchangeMode``
    (ACL API version 1.17.0).
    """
    return aclmdlRICaptureMode(_graph.exchange_mode(mode))


def aclmdlRICaptureTaskGrpBegin(stream: Stream | None) -> None:
    """Begin a group of captured tasks that can be updated later.

    Parameters
    ----------
    stream : Stream
        A stream that is being captured.

    Raises
    ------
    AclError
        100000 for None; 107029 if it is not being captured; 107033 if a group is
        open already; 107002 without current context; 107003 for a stream of another
        context; 107017 for a destroyed handle.

    Notes
    -----
    Source: CANN runtime API reference, ``aclmdlRICaptureTaskGrpBegin`` (ACL API version 1.17.0).
    """
    _calls.begin_group(stream)


def aclmdlRICaptureTaskGrpEnd(stream: Stream | None) -> TaskGroup:
    """End a group of captured tasks.

    Parameters
    ----------
    stream : Stream
        The stream on which it began.

    Returns
    -------
    TaskGroup
        For `aclmdlRICaptureTaskUpdateBegin`.

    Raises
    ------
    AclError
        100000 for None; 107029 if it is not being captured; 107033 if no group is
        open; 107002 without current context; 107003 for a stream of another
        context; 107017 for a destroyed handle.

    Notes
    -----
    Source: CANN runtime API reference, ``aclmdlRICaptureTaskGrpEnd`` (ACL API version 1.17.0).
    """
    return _graph.end_task_group(handle_of("aclmdlRICaptureTaskGrpEnd", "stream", stream, Stream))


def aclmdlRICaptureTaskUpdateBegin(stream: Stream | None, handle: TaskGroup | None) -> None:
    """Let what is queued in a stream from now on replace the tasks of a group.

    Parameters
    ----------
    stream : Stream
        A stream that is not being captured.
    handle : TaskGroup
        Operators, copies and fills only.

    Raises
    ------
    AclError
        100000 for None; 107026 while the graph is being captured; 107027 if the
        stream is; 107033 if it has an update already; 207019 if the group holds
        tasks of another sort; 107002 without current context; 107003 for a stream
        of another context; 107017 for a destroyed handle.

    Notes
    -----
    Source: CANN runtime API reference, ``aclmdlRICaptureTaskUpdateBegin`` (ACL API version 1.17.0).
    """
    _calls.begin_update(stream, handle)


def aclmdlRICaptureTaskUpdateEnd(stream: Stream | None) -> None:
    """Exchange the tasks of the group, in stream order.

    Parameters
    ----------
    stream : Stream
        The stream on which the update began.

    Raises
    ------
    AclError
        100000 for None; 107033 if it has no update; 107040, and nothing is
        exchanged, if number or sorts of the tasks differ; 107002 without current
        context; 107003 for a stream of another context; 107017 for a destroyed
        handle.

    Notes
    -----
    Never blocks. Replays that get to the group later run the new tasks.

    Source: CANN runtime API reference, ``aclmdlRICaptureTaskUpdateEnd`` (ACL API version 1.17.0).
    """
    _calls.end_update(stream)
