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
    from aclnn_runtime.graph import Graph
    from aclnn_runtime.stream import Stream

__all__ = [
    "aclmdlRIBindStream",
    "aclmdlRIBuildBegin",
    "aclmdlRIBuildEnd",
    "aclmdlRIEndTask",
    "aclmdlRIUnbindStream",
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
        ``ACL_MODEL_STREAM_FLAG_HEAD`` (0): the stream starts with the model.

    Raises
    ------
    AclError
        100000 for None; 107000 for another flag, and for a captured graph; 207000 for
        ``ACL_MODEL_STREAM_FLAG_DEFAULT`` (branches and loops of models are not
        emulated); 107005 for a stream that is not persistent or is bound already, and
        when the building has ended;
        107002 without current context; 107004 for a model of another context; 107003
        for a stream of another context; 107017 for a destroyed handle.


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
