# SPDX-License-Identifier: Apache-2.0
"""C names of what a stream is and how it behaves: ids, priorities, attributes, failure modes."""

from __future__ import annotations

from aclnn_runtime import stream as _stream
from aclnn_runtime import stream_config as _config
from aclnn_runtime.noun import handle_of
from aclnn_runtime.stream import Stream

__all__ = [
    "aclrtCtxGetCurrentDefaultStream",
    "aclrtGetStreamAttribute",
    "aclrtGetStreamAvailableNum",
    "aclrtGetStreamOverflowSwitch",
    "aclrtSetStreamAttribute",
    "aclrtSetStreamFailureMode",
    "aclrtSetStreamOverflowSwitch",
    "aclrtStreamGetFlags",
    "aclrtStreamGetId",
    "aclrtStreamGetPriority",
]


def aclrtCtxGetCurrentDefaultStream() -> Stream:
    """The default stream of the current context, as an object: what None stands for elsewhere.

    Returns
    -------
    Stream
        It belongs to its context: closing the object leaves it alone, destroying it is refused.

    Raises
    ------
    AclError
        107002 without current context.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtCtxGetCurrentDefaultStream`` (ACL API version
    1.17.0).
    """
    return _stream.default_stream()


def aclrtStreamGetId(stream: Stream | None) -> int:
    """Number of a stream.

    Parameters
    ----------
    stream : Stream or None
        None is the default stream of the current context.

    Returns
    -------
    int
        Never that of another stream of the process.

    Raises
    ------
    AclError
        107002 without current context; 107003 for a stream of another context;
        107017 for a destroyed handle.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtStreamGetId`` (ACL API version 1.17.0).
    """
    handle = handle_of("aclrtStreamGetId", "stream", stream, Stream)
    return _stream.stream_facts(0, handle, "aclrtStreamGetId")[0]


def aclrtStreamGetPriority(stream: Stream | None) -> int:
    """Priority of a stream.

    Parameters
    ----------
    stream : Stream or None
        None is the default stream of the current context.

    Returns
    -------
    int
        0, the highest, to 7.

    Raises
    ------
    AclError
        107002 without current context; 107003 for a stream of another context;
        107017 for a destroyed handle.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtStreamGetPriority`` (ACL API version 1.17.0).
    """
    handle = handle_of("aclrtStreamGetPriority", "stream", stream, Stream)
    return _stream.stream_facts(0, handle, "aclrtStreamGetPriority")[1]


def aclrtStreamGetFlags(stream: Stream | None) -> int:
    """Flags that a stream was made with.

    Parameters
    ----------
    stream : Stream or None
        None is the default stream of the current context.

    Returns
    -------
    int
        ``ACL_STREAM_*`` bits.

    Raises
    ------
    AclError
        107002 without current context; 107003 for a stream of another context;
        107017 for a destroyed handle.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtStreamGetFlags`` (ACL API version 1.17.0).
    """
    handle = handle_of("aclrtStreamGetFlags", "stream", stream, Stream)
    return _stream.stream_facts(0, handle, "aclrtStreamGetFlags")[2]


def aclrtGetStreamAvailableNum() -> int:
    """How many more streams the current device has.

    Returns
    -------
    int
        The limit of the SoC profile without those in use, default streams included.

    Raises
    ------
    AclError
        107002 without current context.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetStreamAvailableNum`` (ACL API version 1.17.0).
    """
    return _config.available()


def aclrtSetStreamAttribute(stream: Stream | None, stmAttrType: int, value: int) -> None:
    """Set an attribute of a stream.

    Parameters
    ----------
    stream : Stream
        A stream of the current context.
    stmAttrType : int
        1 failure mode, 2 float overflow check, 3 user tag, 4 cache of operator
        information, 5 priority.
    value : int
        Its value.

    Raises
    ------
    AclError
        100000 for None; 107000 for another attribute or value; 207000 for a failure
        mode that cannot be taken back; 107002 without current context; 107003 for a
        stream of another context; 107017 for a destroyed handle.

    Notes
    -----
    Overflow check, tag and cache are kept and have no effect.

    Source: CANN runtime API reference, ``aclrtSetStreamAttribute`` (ACL API version 1.17.0).
    """
    _config.set_attribute("aclrtSetStreamAttribute", stream, stmAttrType, value)


def aclrtGetStreamAttribute(stream: Stream | None, stmAttrType: int) -> int:
    """Value of an attribute of a stream.

    Parameters
    ----------
    stream : Stream
        A stream of the current context.
    stmAttrType : int
        As `aclrtSetStreamAttribute`.

    Returns
    -------
    int
        Its value; 0 unless it was set.

    Raises
    ------
    AclError
        100000 for None; 107000 for another attribute; 107002 without current
        context; 107003 for a stream of another context; 107017 for a destroyed
        handle.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetStreamAttribute`` (ACL API version 1.17.0).
    """
    return _config.get_attribute("aclrtGetStreamAttribute", stream, stmAttrType)


def aclrtSetStreamFailureMode(stream: Stream | None, mode: int) -> None:
    """Say what happens to the context when a task of the stream fails.

    Parameters
    ----------
    stream : Stream
        A stream of the current context.
    mode : int
        0 continue, 1 stop on failure.

    Raises
    ------
    AclError
        100000 for None; 107000 for another mode; 207000 for going back from 1 to 0,
        and for a stream that is persistent or for the device only; 107002 without
        current context; 107003 for a stream of another context; 107017 for a
        destroyed handle.

    Notes
    -----
    With 1, the first failed task stops every stream of the context for good: queued
    tasks are dropped, new ones are refused, and every synchronise and query returns the
    failure.

    Source: CANN runtime API reference, ``aclrtSetStreamFailureMode`` (ACL API version 1.17.0).
    """
    _config.set_attribute("aclrtSetStreamFailureMode", stream, 1, mode)


def aclrtSetStreamOverflowSwitch(stream: Stream | None, flag: int) -> None:
    """Switch the check for float overflow.

    Parameters
    ----------
    stream : Stream
        A stream of the current context.
    flag : int
        0 or 1; kept, without effect.

    Raises
    ------
    AclError
        100000 for None; 107000 for another flag; 107002 without current context;
        107003 for a stream of another context; 107017 for a destroyed handle.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtSetStreamOverflowSwitch`` (ACL API version 1.17.0).
    """
    _config.set_attribute("aclrtSetStreamOverflowSwitch", stream, 2, flag)


def aclrtGetStreamOverflowSwitch(stream: Stream | None) -> int:
    """State of the check for float overflow.

    Parameters
    ----------
    stream : Stream
        A stream of the current context.

    Returns
    -------
    int
        0 or 1.

    Raises
    ------
    AclError
        100000 for None; 107002 without current context; 107003 for a stream of
        another context; 107017 for a destroyed handle.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetStreamOverflowSwitch`` (ACL API version 1.17.0).
    """
    return _config.get_attribute("aclrtGetStreamOverflowSwitch", stream, 2)
