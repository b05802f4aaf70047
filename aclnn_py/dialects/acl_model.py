# SPDX-License-Identifier: Apache-2.0
"""C names of models: graphs that are built from persistent streams.

Examples
--------
>>> from aclnn_py.dialects.acl import *
>>> aclrtSetDevice(0)
>>> stream, seen = aclrtCreateStreamWithConfig(0, ACL_STREAM_PERSISTENT), []
>>> model = aclmdlRIBuildBegin()
>>> aclmdlRIBindStream(model, stream, ACL_MODEL_STREAM_FLAG_HEAD)
>>> aclrtLaunchHostFunc(stream, seen.append, "again")
>>> aclmdlRIEndTask(model, stream)
>>> aclmdlRIBuildEnd(model)
>>> aclmdlRIExecute(model, -1)
>>> aclmdlRIExecute(model, 1000)
>>> seen
['again', 'again']
>>> aclmdlRIUnbindStream(model, stream)
>>> aclmdlRIDestroy(model)
>>> aclrtDestroyStream(stream)
>>> aclrtResetDevice(0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_runtime import model as _model

if TYPE_CHECKING:
    from aclnn_runtime.enums_model import aclrtCompareDataType, aclrtCondition
    from aclnn_runtime.graph import Graph
    from aclnn_runtime.host_memory import Readable
    from aclnn_runtime.stream import Stream

__all__ = [
    "aclmdlRIBindStream",
    "aclmdlRIBuildBegin",
    "aclmdlRIBuildEnd",
    "aclmdlRIEndTask",
    "aclmdlRIUnbindStream",
    "aclrtActiveStream",
    "aclrtSwitchStream",
]


def aclmdlRIBuildBegin(flag: int = 0) -> Graph:
    """Begin to build a model from the tasks of persistent streams.

    Parameters
    ----------
    flag : int
        0.

    Returns
    -------
    Graph
        Bind streams to it, queue tasks in them, end it.

    Raises
    ------
    AclError
        107000 for another flag; 107002 without current context.

    Notes
    -----
    Never blocks.

    Source: CANN runtime API reference, ``aclmdlRIBuildBegin`` (ACL API version 1.17.0).
    """
    return _model.begin(flag)


def aclmdlRIBindStream(modelRI: Graph | None, stream: Stream | None, flag: int) -> None:
    """Let a model take the tasks of a stream from now on.

    Parameters
    ----------
    modelRI : Graph
        A model of `aclmdlRIBuildBegin`.
    stream : Stream
        Made with ``ACL_STREAM_PERSISTENT``.
    flag : int
        ``ACL_MODEL_STREAM_FLAG_HEAD`` (0): the stream starts with the model;
        ``ACL_MODEL_STREAM_FLAG_DEFAULT``: it starts when a task of the model says so
        (`aclrtActiveStream`, `aclrtSwitchStream`).

    Raises
    ------
    AclError
        100000 for None; 107000 for another flag, and for a captured graph; 107002 without
        current context; 107003 for a stream of another context; 107004 for a model of another
        context; 107005 for a stream that is not persistent or is bound already, and when the
        building has ended; 107017 for a destroyed handle; 207000 for
        ``ACL_MODEL_STREAM_FLAG_DEFAULT`` on a CUDA device.


    Notes
    -----
    Never blocks. Events of `aclrtCreateEventExWithFlag` order the streams of a model.

    Source: CANN runtime API reference, ``aclmdlRIBindStream`` (ACL API version 1.17.0).
    """
    _model.bind(modelRI, stream, flag)


def aclmdlRIEndTask(modelRI: Graph | None, stream: Stream | None) -> None:
    """End the tasks of a bound stream; it takes no more.

    Parameters
    ----------
    modelRI : Graph
        A model of `aclmdlRIBuildBegin`.
    stream : Stream
        A stream of the current context.

    Raises
    ------
    AclError
        100000 for None; 107000 for a captured graph; 107005 for a stream that is not
        bound to the model, and when the building has ended;
        107002 without current context; 107004 for a model of another context; 107003
        for a stream of another context; 107017 for a destroyed handle.


    Notes
    -----
    Never blocks.

    Source: CANN runtime API reference, ``aclmdlRIEndTask`` (ACL API version 1.17.0).
    """
    _model.end_task(modelRI, stream)


def aclmdlRIBuildEnd(modelRI: Graph | None) -> None:
    """End the building: the model can be executed.

    Parameters
    ----------
    modelRI : Graph
        A model of `aclmdlRIBuildBegin`.

    Raises
    ------
    AclError
        100000 for None; 107000 for a captured graph; 107005 before the first
        `aclmdlRIEndTask`, and when the building has ended; 107017 for a destroyed
        handle.


    Notes
    -----
    Never blocks. The streams stay bound and take no more tasks.

    Source: CANN runtime API reference, ``aclmdlRIBuildEnd`` (ACL API version 1.17.0).
    """
    _model.end(modelRI)


def aclmdlRIUnbindStream(modelRI: Graph | None, stream: Stream | None) -> None:
    """Take a stream from a model, which cannot be executed any more.

    Parameters
    ----------
    modelRI : Graph
        A model of `aclmdlRIBuildBegin`.
    stream : Stream
        A stream of the current context.

    Raises
    ------
    AclError
        100000 for None; 107000 for a captured graph; 107005 for a stream that is not
        bound to the model, and while it is being built; 107037 while it runs;
        107002 without current context; 107004 for a model of another context; 107003
        for a stream of another context; 107017 for a destroyed handle.


    Notes
    -----
    Never blocks.

    Source: CANN runtime API reference, ``aclmdlRIUnbindStream`` (ACL API version 1.17.0).
    """
    _model.unbind(modelRI, stream)


def aclrtActiveStream(activeStream: Stream | None, stream: Stream | None) -> None:
    """Let a stream of a model start when its turn comes in another one; both go on side by side.

    Parameters
    ----------
    activeStream : Stream
        Bound to the same model, with ``ACL_MODEL_STREAM_FLAG_DEFAULT`` as a rule.
    stream : Stream
        Where the task is queued, while the model is built.

    Raises
    ------
    AclError
        100000 for None; 107005 for a stream that is bound to no model or to another one, and when
        its tasks have ended; 107002 without current context; 107003 for a stream of another
        context; 107017 for a destroyed handle; 207000 on a CUDA device.

    Notes
    -----
    A stream that is activated again while it runs runs once more behind that.

    Source: CANN runtime API reference, ``aclrtActiveStream`` (ACL API version 1.17.0).
    """
    _model.activate(activeStream, stream)


def aclrtSwitchStream(
    leftValue: Readable,
    cond: aclrtCondition | int,
    rightValue: Readable,
    dataType: aclrtCompareDataType | int,
    trueStream: Stream | None,
    falseStream: None,
    stream: Stream | None,
) -> None:
    """Go on in another stream of the model where a comparison holds at this task's turn.

    Parameters
    ----------
    leftValue, rightValue : Buffer or int
        Device memory that holds the values, aligned to their size.
    cond : aclrtCondition
        How they are compared.
    dataType : aclrtCompareDataType
        What they are.
    trueStream : Stream
        Starts where the condition holds; what follows in `stream` is then left out.
    falseStream : None
        Reserved. Where the condition does not hold, `stream` goes on.
    stream : Stream
        Where the task is queued, while the model is built.

    Raises
    ------
    AclError
        100000 for None; 107000 for another condition or type, for values outside of device
        memory, and for a `falseStream`; 107008 for an address that is not aligned; 107005 for a
        stream that is bound to no model or to another one, and when its tasks have ended; 107002
        without current context; 107003 for a stream of another context; 107017 for a destroyed
        handle; 207000 on a CUDA device.

    Notes
    -----
    Streams may switch back and forth: a loop. A record that is made again holds for the waits
    that are queued after it; for those of other streams that is when these start.

    Source: CANN runtime API reference, ``aclrtSwitchStream`` (ACL API version 1.17.0).
    """
    _model.switch(leftValue, cond, rightValue, dataType, trueStream, falseStream, stream)
