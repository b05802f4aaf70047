# SPDX-License-Identifier: Apache-2.0
"""C names of notifies and of values in memory that streams wait for.

Examples
--------
>>> from aclnn_py.dialects.acl import *
>>> aclrtSetDevice(0)
>>> producer, consumer = aclrtCreateStream(), aclrtCreateStream()
>>> notify = aclrtCreateNotify(0)
>>> aclrtWaitAndResetNotify(notify, consumer, 0)
>>> aclrtRecordNotify(notify, producer)
>>> aclrtSynchronizeStream(consumer)
>>> aclrtDestroyNotify(notify)
>>> aclrtDestroyStream(producer)
>>> aclrtDestroyStream(consumer)
>>> aclrtResetDevice(0)
"""

from __future__ import annotations

from typing import NoReturn

from aclnn_runtime import notify as _notify
from aclnn_runtime import notify_calls as _calls
from aclnn_runtime.memory import Buffer
from aclnn_runtime.notify import CountingNotify, Notify
from aclnn_runtime.stream import Stream

__all__ = [
    "aclrtCntNotifyCreate",
    "aclrtCntNotifyDestroy",
    "aclrtCntNotifyGetId",
    "aclrtCntNotifyRecord",
    "aclrtCntNotifyReset",
    "aclrtCntNotifyWaitWithTimeout",
    "aclrtCreateNotify",
    "aclrtDestroyNotify",
    "aclrtGetNotifyId",
    "aclrtNotifyBatchReset",
    "aclrtNotifyGetExportKey",
    "aclrtRecordNotify",
    "aclrtValueWait",
    "aclrtValueWrite",
    "aclrtWaitAndResetNotify",
]


def aclrtCreateNotify(flag: int = 0) -> Notify:
    """Make a notify: a flag that exactly one waiter takes.

    Parameters
    ----------
    flag : int
        0, or 1 for devices only, which the host may not use.

    Returns
    -------
    Notify
        Not set.

    Raises
    ------
    AclError
        107000 for another flag; 107002 without current context; 207009 when there
        are too many.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtCreateNotify`` (ACL API version 1.17.0).
    """
    return _notify.create_notify(flag)


def aclrtDestroyNotify(notify: Notify | None) -> None:
    """Give a notify back.

    Parameters
    ----------
    notify : Notify
        It may still be queued somewhere.

    Raises
    ------
    AclError
        100000 for None; 107017 for one destroyed before.

    Notes
    -----
    Never blocks.

    Source: CANN runtime API reference, ``aclrtDestroyNotify`` (ACL API version 1.17.0).
    """
    _notify.destroy_notify(notify)


def aclrtGetNotifyId(notify: Notify | None) -> int:
    """Number of a notify.

    Parameters
    ----------
    notify : Notify
        The notify.

    Returns
    -------
    int
        Never that of another one of the process.

    Raises
    ------
    AclError
        100000 for None; 107017 for a destroyed one.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtGetNotifyId`` (ACL API version 1.17.0).
    """
    return _calls.notify_id(notify)


def aclrtRecordNotify(notify: Notify | None, stream: Stream | None) -> None:
    """Set a notify behind everything queued in a stream.

    Parameters
    ----------
    notify : Notify
        The notify.
    stream : Stream or None
        None is the default stream of the current context.

    Raises
    ------
    AclError
        100000 for None as notify; 207000 for one that is for devices only; 107002
        without current context; 107003 for a stream of another context; 107017 for
        a destroyed handle.

    Notes
    -----
    Never blocks. Setting it twice lets one waiter go.

    Source: CANN runtime API reference, ``aclrtRecordNotify`` (ACL API version 1.17.0).
    """
    _calls.record(notify, stream)


def aclrtWaitAndResetNotify(notify: Notify | None, stream: Stream | None, timeout: int) -> None:
    """Let later work of a stream wait for a notify and take it.

    Parameters
    ----------
    notify : Notify
        The notify.
    stream : Stream or None
        None is the default stream of the current context.
    timeout : int
        The longest to wait [s]; 0 for ever; 0xFFFFFFFF is that of
        `aclrtSetOpWaitTimeout`.

    Raises
    ------
    AclError
        100000 for None as notify; 207000 for one that is for devices only; 107002
        without current context; 107003 for a stream of another context; 107017 for
        a destroyed handle. A wait in vain is 107019 at the stream's next
        synchronise.

    Notes
    -----
    Never blocks: the stream waits.

    Source: CANN runtime API reference, ``aclrtWaitAndResetNotify`` (ACL API version 1.17.0).
    """
    _calls.wait(notify, stream, timeout)


def aclrtNotifyBatchReset(notifies: list[Notify]) -> None:
    """Clear several notifies at once.

    Parameters
    ----------
    notifies : list of Notify
        At least one.

    Raises
    ------
    AclError
        100000 for an empty list or None in it; 107017 for a destroyed one, and then
        none is cleared.

    Notes
    -----
    At once, not in stream order.

    Source: CANN runtime API reference, ``aclrtNotifyBatchReset`` (ACL API version 1.17.0).
    """
    _notify.reset_notifies(notifies)


def aclrtNotifyGetExportKey(notify: Notify | None) -> NoReturn:
    """A key for another process; refused, as emulated devices belong to one process.

    Parameters
    ----------
    notify : Notify
        The notify.

    Raises
    ------
    AclError
        207000 always; 100000 for None; 107017 for a destroyed one.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtNotifyGetExportKey`` (ACL API version 1.17.0).
    """
    _calls.refuse_ipc("aclrtNotifyGetExportKey", notify)


def aclrtCntNotifyCreate(flags: int = 0) -> CountingNotify:
    """Make a counting notify: a 32-bit counter that streams change and compare.

    Parameters
    ----------
    flags : int
        0, or 1 for devices only, which the host may not use.

    Returns
    -------
    CountingNotify
        At 0.

    Raises
    ------
    AclError
        107000 for other flags; 107002 without current context; 207009 when there
        are too many.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtCntNotifyCreate`` (ACL API version 1.17.0).
    """
    return _notify.create_counting_notify(flags)


def aclrtCntNotifyDestroy(cntNotify: CountingNotify | None) -> None:
    """Give a counting notify back.

    Parameters
    ----------
    cntNotify : CountingNotify
        It may still be queued somewhere.

    Raises
    ------
    AclError
        100000 for None; 107017 for one destroyed before.

    Notes
    -----
    Never blocks.

    Source: CANN runtime API reference, ``aclrtCntNotifyDestroy`` (ACL API version 1.17.0).
    """
    _notify.destroy_counting_notify(cntNotify)


def aclrtCntNotifyGetId(cntNotify: CountingNotify | None) -> int:
    """Number of a counting notify.

    Parameters
    ----------
    cntNotify : CountingNotify
        The counter.

    Returns
    -------
    int
        Never that of another one of the process.

    Raises
    ------
    AclError
        100000 for None; 107017 for a destroyed one.

    Notes
    -----
    Source: CANN runtime API reference, ``aclrtCntNotifyGetId`` (ACL API version 1.17.0).
    """
    return _calls.count_id(cntNotify)


def aclrtCntNotifyRecord(
    cntNotify: CountingNotify | None, stream: Stream | None, mode: int, value: int
) -> None:
    """Change a counter behind everything queued in a stream.

    Parameters
    ----------
    cntNotify : CountingNotify
        The counter.
    stream : Stream or None
        None is the default stream of the current context.
    mode : int
        0 set, 1 add, 2 or, 4 and.
    value : int
        Operand, 32 bits; additions wrap around.

    Raises
    ------
    AclError
        100000 for None as counter; 107000 for another mode; 107002 without current
        context; 107003 for a stream of another context; 107017 for a destroyed
        handle.

    Notes
    -----
    Never blocks. C takes mode and value in a struct.

    Source: CANN runtime API reference, ``aclrtCntNotifyRecord`` (ACL API version 1.17.0).
    """
    _calls.count_record(cntNotify, stream, mode, value)


def aclrtCntNotifyWaitWithTimeout(
    cntNotify: CountingNotify | None, stream: Stream | None, mode: int, value: int, timeout: int
) -> None:
    """Let later work of a stream wait until a counter compares so.

    Parameters
    ----------
    cntNotify : CountingNotify
        The counter.
    stream : Stream or None
        None is the default stream of the current context.
    mode : int
        0 less, 1 equal, 2 bigger, 3 bigger or equal, 4 all bits of `value` set.
    value : int
        What the counter is compared with.
    timeout : int
        The longest to wait [s]; 0 for ever.

    Raises
    ------
    AclError
        100000 for None as counter; 107000 for another mode; 107002 without current
        context; 107003 for a stream of another context; 107017 for a destroyed
        handle. A wait in vain is 107019 at the stream's next synchronise.

    Notes
    -----
    Never blocks. C takes mode, value and timeout in a struct.

    Source: CANN runtime API reference, ``aclrtCntNotifyWaitWithTimeout`` (ACL API version 1.17.0).
    """
    _calls.count_wait(cntNotify, stream, mode, value, timeout)


def aclrtCntNotifyReset(cntNotify: CountingNotify | None, stream: Stream | None) -> None:
    """Set a counter to 0 behind everything queued in a stream.

    Parameters
    ----------
    cntNotify : CountingNotify
        The counter.
    stream : Stream or None
        None is the default stream of the current context.

    Raises
    ------
    AclError
        100000 for None as counter; 107002 without current context; 107003 for a
        stream of another context; 107017 for a destroyed handle.

    Notes
    -----
    Never blocks.

    Source: CANN runtime API reference, ``aclrtCntNotifyReset`` (ACL API version 1.17.0).
    """
    _calls.count_reset(cntNotify, stream)


def aclrtValueWrite(
    devAddr: Buffer | int | None, value: int, flag: int, stream: Stream | None
) -> None:
    """Store 64 bits in device memory, in stream order.

    Parameters
    ----------
    devAddr : Buffer or int
        Address, divisible by 8, in a live allocation.
    value : int
        What to store, 64 bits.
    flag : int
        0.
    stream : Stream or None
        None is the default stream of the current context.

    Raises
    ------
    AclError
        100000 for None as address; 107008 for one that is not aligned; 107000 for
        one in no allocation or another flag; 107002 without current context; 107003
        for a stream of another context; 107017 for a destroyed handle.

    Notes
    -----
    Never blocks.

    Source: CANN runtime API reference, ``aclrtValueWrite`` (ACL API version 1.17.0).
    """
    _calls.value_write(devAddr, value, flag, stream)


def aclrtValueWait(
    devAddr: Buffer | int | None, value: int, flag: int, stream: Stream | None
) -> None:
    """Let later work of a stream wait until 64 bits in device memory compare so.

    Parameters
    ----------
    devAddr : Buffer or int
        Address, divisible by 8, in a live allocation.
    value : int
        What the memory is compared with, 64 bits.
    flag : int
        0 at least (as signed difference), 1 equal, 2 a common bit, 3 a bit that is
        set in neither.
    stream : Stream or None
        None is the default stream of the current context.

    Raises
    ------
    AclError
        100000 for None as address; 107008 for one that is not aligned; 107000 for
        one in no allocation or another flag; 107002 without current context; 107003
        for a stream of another context; 107017 for a destroyed handle.

    Notes
    -----
    Never blocks. Whoever changes the memory: a stream, a copy, a kernel or the host.

    Source: CANN runtime API reference, ``aclrtValueWait`` (ACL API version 1.17.0).
    """
    _calls.value_wait(devAddr, value, flag, stream)
