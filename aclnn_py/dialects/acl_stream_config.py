# SPDX-License-Identifier: Apache-2.0
"""C names of streams with priorities and flags, and of their configurations.

Examples
--------
>>> from aclnn_py.dialects.acl import *
>>> aclrtSetDevice(0)
>>> stream = aclrtCreateStreamWithConfig(3, ACL_STREAM_FAST_LAUNCH)
>>> aclrtStreamGetPriority(stream)
3
>>> aclrtSynchronizeStreamWithTimeout(stream, 1000)
>>> aclrtDestroyStreamForce(stream)
>>> aclrtResetDevice(0)
"""

from __future__ import annotations

from aclnn_runtime import stream as _stream
from aclnn_runtime import stream_config as _config
from aclnn_runtime.stream import Stream
from aclnn_runtime.stream_config import StreamConfig

__all__ = [
    "aclrtCreateStreamConfigHandle",
    "aclrtCreateStreamV2",
    "aclrtCreateStreamWithConfig",
    "aclrtDestroyStreamConfigHandle",
    "aclrtSetStreamConfigOpt",
]


def aclrtCreateStreamWithConfig(priority: int, flag: int) -> Stream:
    """Make a stream with a priority and flags.

    Parameters
    ----------
    priority : int
        0, the highest, to 7; more counts as 7.
    flag : int
        ``ACL_STREAM_*`` bits; unknown ones are ignored.

    Returns
    -------
    Stream
        Priorities are kept and reported; every stream has a thread of its own.

    Raises
    ------
    AclError
        107002 when the thread has no current context; 207008 when there are too
        many streams.

    Notes
    -----
    Never blocks. A ``ACL_STREAM_PERSISTENT`` stream takes tasks (107005 otherwise)
    only for the model that it is bound to (`aclmdlRIBindStream`); nor does the host use
    ``ACL_STREAM_DEVICE_USE_ONLY`` ones (207000).

    Source: CANN runtime API reference, ``aclrtCreateStreamWithConfig`` (ACL API version 1.17.0).
    """
    return _stream.create_stream(0, priority, flag, function="aclrtCreateStreamWithConfig")


def aclrtCreateStreamConfigHandle() -> StreamConfig:
    """Make an empty configuration for `aclrtCreateStreamV2`.

    Returns
    -------
    StreamConfig
        Priority 0, no flags.

    Raises
    ------
    AclError
        207001 without memory.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtCreateStreamConfigHandle`` (ACL API version 1.17.0).
    """
    return _config.create()


def aclrtSetStreamConfigOpt(handle: StreamConfig | None, attr: int, value: int) -> None:
    """Set one attribute of a configuration.

    Parameters
    ----------
    handle : StreamConfig
        The configuration.
    attr : int
        0 work address, 1 work size, 2 flags, 3 priority.
    value : int
        Its value; addresses and sizes of work areas are accepted and not needed
        here.

    Raises
    ------
    AclError
        100000 for None; 107000 for another attribute; 107017 for a destroyed
        configuration.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtSetStreamConfigOpt`` (ACL API version 1.17.0).
    """
    _config.set_option(handle, attr, value)


def aclrtCreateStreamV2(handle: StreamConfig | None) -> Stream:
    """Make a stream from a configuration.

    Parameters
    ----------
    handle : StreamConfig
        It may be used again.

    Returns
    -------
    Stream
        As `aclrtCreateStreamWithConfig`.

    Raises
    ------
    AclError
        100000 for None; 107002 when the thread has no current context; 107017 for a
        destroyed configuration; 207008 when there are too many streams.

    Notes
    -----
    Never blocks.

    Source: CANN runtime API reference, ``aclrtCreateStreamV2`` (ACL API version 1.17.0).
    """
    return _config.create_stream(handle)


def aclrtDestroyStreamConfigHandle(handle: StreamConfig | None) -> None:
    """Give a configuration back.

    Parameters
    ----------
    handle : StreamConfig
        Streams made from it stay.

    Raises
    ------
    AclError
        100000 for None; 107017 for one destroyed before.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtDestroyStreamConfigHandle`` (ACL API version 1.17.0).
    """
    _config.destroy(handle)
