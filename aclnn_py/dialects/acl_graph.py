# SPDX-License-Identifier: Apache-2.0
"""C names of finished graphs and models: running, naming, printing, destroying them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_runtime import graph as _graph
from aclnn_runtime import graph_calls as _calls
from aclnn_runtime import model as _model
from aclnn_runtime.graph import Graph
from aclnn_runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

__all__ = [
    "aclmdlRIAbort",
    "aclmdlRIDebugJsonPrint",
    "aclmdlRIDebugPrint",
    "aclmdlRIDestroy",
    "aclmdlRIDestroyRegisterCallback",
    "aclmdlRIDestroyUnregisterCallback",
    "aclmdlRIExecute",
    "aclmdlRIExecuteAsync",
    "aclmdlRIGetId",
    "aclmdlRIGetName",
    "aclmdlRIGetStreams",
    "aclmdlRISetName",
]


def aclmdlRIExecuteAsync(modelRI: Graph | None, stream: Stream | None) -> None:
    """Run a graph behind everything queued in a stream.

    Parameters
    ----------
    modelRI : Graph
        The graph.
    stream : Stream or None
        None is the default stream of the current context.

    Raises
    ------
    AclError
        100000 for None; 107026 while it is being captured; 507011 for a model that is
        being built or has lost a stream; 107027 if the stream is being captured; 107004
        for a graph of another context; 107002 without current context; 107003 for a
        stream of another context; 107017 for a destroyed handle.

    Notes
    -----
    Never blocks. May be called again while it runs: replays of a graph follow each
    other.

    Source: CANN runtime API reference, ``aclmdlRIExecuteAsync`` (ACL API version 1.17.0).
    """
    _graph.execute_graph(modelRI, stream)


def aclmdlRIExecute(modelRI: Graph | None, timeout: int) -> None:
    """Run a model that was built, and wait for its end.

    Parameters
    ----------
    modelRI : Graph
        The model; a captured graph is run by `aclmdlRIExecuteAsync`.
    timeout : int
        The longest to wait [ms]; -1 for ever.

    Raises
    ------
    AclError
        100000 for None; 107000 for a captured graph, and for a timeout of 0 or below
        -1; 507011 for a model that is being built or has lost a stream; 107026 for a
        graph that is being captured; 107002 without current context; 107004 for a
        model of another context; 507046 if it did not end in time (it goes on);
        107017 for a destroyed one. And the status of a task that failed.

    Notes
    -----
    Blocks, without the GIL.

    Source: CANN runtime API reference, ``aclmdlRIExecute`` (ACL API version 1.17.0).
    """
    _calls.execute_sync(modelRI, timeout)


def aclmdlRIDestroy(modelRI: Graph | None) -> None:
    """Give a graph or a model back; streams that are bound to it are unbound.

    Parameters
    ----------
    modelRI : Graph
        The graph.

    Raises
    ------
    AclError
        100000 for None; 107037 while a replay is queued or runs; 107026 while it is
        being captured; 107017 for one destroyed before.

    Notes
    -----
    Never blocks.

    Source: CANN runtime API reference, ``aclmdlRIDestroy`` (ACL API version 1.17.0).
    """
    _graph.destroy_graph(modelRI)


def aclmdlRIAbort(modelRI: Graph | None) -> None:
    """Leave out what the executions of a built model have not begun yet.

    Parameters
    ----------
    modelRI : Graph
        The model; it can be executed again.

    Raises
    ------
    AclError
        207000 for a captured graph; 100000 for None; 107017 for a destroyed one.

    Notes
    -----
    Never blocks. Who waits for an execution that was cut short is told 507023.

    Source: CANN runtime API reference, ``aclmdlRIAbort`` (ACL API version 1.17.0).
    """
    _calls.abort(modelRI)


def aclmdlRIDebugPrint(modelRI: Graph | None) -> None:
    """Print a description of a graph to the standard error stream.

    Parameters
    ----------
    modelRI : Graph
        The graph.

    Raises
    ------
    AclError
        100000 for None; 107017 for a destroyed one.

    Notes
    -----
    Source: CANN runtime API reference, ``aclmdlRIDebugPrint`` (ACL API version 1.17.0).
    """
    _calls.print_graph(modelRI)


def aclmdlRIDebugJsonPrint(modelRI: Graph | None, path: str | PathLike[str], flags: int) -> None:
    """Write a description of a graph to a JSON file.

    Parameters
    ----------
    modelRI : Graph
        The graph.
    path : str or PathLike
        The file.
    flags : int
        0 summary, 1 verbose.

    Raises
    ------
    AclError
        100000 for None; 107000 for other flags; 107009 if the file cannot be
        opened, 107010 if it cannot be written; 107017 for a destroyed graph.

    Notes
    -----
    The keys are our own: what the vendor's file holds is not public.

    Source: CANN runtime API reference, ``aclmdlRIDebugJsonPrint`` (ACL API version 1.17.0).
    """
    _calls.print_json(modelRI, path, flags)


def aclmdlRISetName(modelRI: Graph | None, name: str) -> None:
    """Name a graph.

    Parameters
    ----------
    modelRI : Graph
        The graph.
    name : str
        At most 512 bytes.

    Raises
    ------
    AclError
        100000 for None; 107000 for a longer name; 107017 for a destroyed graph.

    Notes
    -----
    Source: CANN runtime API reference, ``aclmdlRISetName`` (ACL API version 1.17.0).
    """
    _calls.set_name(modelRI, name)


def aclmdlRIGetName(modelRI: Graph | None) -> str:
    """Name of a graph.

    Parameters
    ----------
    modelRI : Graph
        The graph.

    Returns
    -------
    str
        Empty unless it was set.

    Raises
    ------
    AclError
        100000 for None; 107017 for a destroyed graph.

    Notes
    -----
    Source: CANN runtime API reference, ``aclmdlRIGetName`` (ACL API version 1.17.0).
    """
    return _calls.get_name(modelRI)


def aclmdlRIGetId(modelRI: Graph | None) -> int:
    """Number of a graph.

    Parameters
    ----------
    modelRI : Graph
        The graph.

    Returns
    -------
    int
        Never that of another graph of the process.

    Raises
    ------
    AclError
        100000 for None; 107017 for a destroyed graph.

    Notes
    -----
    Source: CANN runtime API reference, ``aclmdlRIGetId`` (ACL API version 1.17.0).
    """
    return _calls.graph_id(modelRI)


def aclmdlRIGetStreams(modelRI: Graph | None) -> list[Stream]:
    """List the streams of a graph: those bound to a model, those that a capture began or joined.

    Parameters
    ----------
    modelRI : Graph
        The graph.

    Returns
    -------
    list of Stream
        In the order in which they came to it; those that have been destroyed since are left out.

    Raises
    ------
    AclError
        100000 for None; 107017 for a destroyed graph.

    Notes
    -----
    Source: CANN runtime API reference, ``aclmdlRIGetStreams`` (ACL API version 1.17.0).
    """
    return _model.streams(modelRI)


def aclmdlRIDestroyRegisterCallback(
    modelRI: Graph | None, func: Callable[[object], object], userData: object = None
) -> None:
    """Have a function called when a graph is destroyed.

    Parameters
    ----------
    modelRI : Graph
        The graph.
    func : Callable[[object], object]
        Called with `userData`, after those registered before it.
    userData : object
        Handed to `func`.

    Raises
    ------
    AclError
        100000 for None as graph; 107000 for None as function, 100000 for anything else
        that cannot be called; 107017 for a destroyed graph.

    Notes
    -----
    An exception in `func` is printed.

    Source: CANN runtime API reference,
    ``aclmdlRIDestroyRegisterCallback`` (ACL API version 1.17.0).
    """
    _model.register(modelRI, func, userData)


def aclmdlRIDestroyUnregisterCallback(
    modelRI: Graph | None, func: Callable[[object], object]
) -> None:
    """Forget a function of `aclmdlRIDestroyRegisterCallback`; the earliest, if it is there twice.

    Parameters
    ----------
    modelRI : Graph
        The graph.
    func : Callable[[object], object]
        The function.

    Raises
    ------
    AclError
        100000 for None as graph; 107000 for None as function and for one that is not
        registered; 107017 for a destroyed graph.

    Notes
    -----
    Source: CANN runtime API reference,
    ``aclmdlRIDestroyUnregisterCallback`` (ACL API version 1.17.0).
    """
    _model.unregister(modelRI, func)
