# SPDX-License-Identifier: Apache-2.0
"""CUDA devices through CuPy: the functions of the engine's device table.

Memory comes from plain allocations, not from CuPy's pool, so that a free means what AscendCL says.
Copies and launches go into CUDA streams of our own and return; `synchronize` alone waits, without
the GIL. CuPy is imported when the first device is asked for.
"""

from __future__ import annotations

from importlib import import_module
from threading import RLock
from typing import Any, Final

from aclnn_native import ffi, lib
from aclnn_runtime import cuda_driver, cuda_graphs
from aclnn_runtime.cuda_errors import tell, told
from aclnn_runtime.cuda_queues import AT_ONCE, OnDevice, queue_of, take
from aclnn_runtime.errors import AclError
from aclnn_runtime.status_table import status_value

__all__ = [
    "UnusableError",
    "copy_now",
    "count_devices",
    "describe_devices",
    "find_cupy",
    "lend",
    "load",
    "take_back",
]

_OLDEST: Final = 14
_SETUP: Final = status_value("ACL_ERROR_RT_DEV_SETUP_ERROR")
_NO_DEVICE: Final = status_value("ACL_ERROR_RT_NO_DEVICE")
_FAILED: Final = status_value("ACL_ERROR_RT_DRV_INTERNAL_ERROR")
_PORTABLE: Final = 1  # pinned for every device
_ANY_DIRECTION: Final = 4  # cudaMemcpyDefault: the addresses tell
_BORROWED: Final = 2
_INSTALL: Final = (
    "pip install 'cupy-cuda12x[ctk]>=14', or cupy-cuda13x[ctk] for a driver of CUDA 13"
)

_loading: Final = RLock()
#: Owners of memory that another library lends, by address.
_lent: dict[int, object] = {}


class UnusableError(AclError):
    """Why there are no CUDA devices here.

    Attributes
    ----------
    got, expected : str
        Two lines of its text.
    """

    got: str = ""
    expected: str = ""


def _unusable(status: int, got: str, expected: str, fix: str) -> UnusableError:
    error = UnusableError.build(
        status,
        function="Device",
        what="finds no CUDA device",
        got=got,
        expected=expected,
        fix=fix,
    )
    error.got, error.expected = got, expected
    return error


def find_cupy() -> Any:
    """CuPy, imported.

    Raises
    ------
    UnusableError
        507033 where it is missing, broken or too old.
    """
    expected = f"CuPy {_OLDEST} or later"
    try:
        cupy = import_module("cupy")
    except Exception as error:  # whatever a broken installation raises
        got = f"no CuPy that can be imported ({type(error).__name__}: {error})"
        raise _unusable(_SETUP, got[:310], expected, _INSTALL) from error
    version = str(cupy.__version__)
    if int(version.split(".", maxsplit=1)[0]) < _OLDEST:
        raise _unusable(_SETUP, f"CuPy {version}", expected, _INSTALL)
    return cupy


def _count(cupy: Any) -> int:
    expected = "an NVIDIA GPU with its driver"
    fix = "see whether nvidia-smi lists a device, and what CUDA_VISIBLE_DEVICES hides"
    try:
        count = int(cupy.cuda.runtime.getDeviceCount())
    except RuntimeError as error:
        got = f"CuPy {cupy.__version__}: {error}"
        raise _unusable(_NO_DEVICE, got[:310], expected, fix) from error
    if count == 0:
        raise _unusable(_NO_DEVICE, f"CuPy {cupy.__version__}, which sees none", expected, fix)
    return min(count, int(lib.ACLPY_FOREIGN_DEVICES))


def count_devices() -> int:
    """How many CUDA devices there are: 0 without CuPy, a driver or a device."""
    try:
        return _count(find_cupy())
    except UnusableError:
        return 0


def _install(count: int) -> int:
    table = ffi.new("aclpy_device_table *")
    table.devices = count
    for device in range(count):
        # Asking for what is free would make a context on every GPU, also on one in others' use.
        facts = find_cupy().cuda.runtime.getDeviceProperties(device)
        table.memory_bytes[device] = int(facts["totalGlobalMem"])
    for name in _TABLE:
        setattr(table, name, getattr(lib, f"aclpy_py_device_{name}"))
    status = int(lib.aclpy_device_table_install(table))
    if status == 0:
        cuda_driver.install()
    return status


def load() -> int:
    """Install the table for the devices that CuPy finds.

    Returns
    -------
    int
        0, or the status whose text the native library has now.
    """
    try:
        with _loading:  # a second table would take the first one's driver away from launches
            return 0 if lib.aclpy_foreign_count() else _install(_count(find_cupy()))
    except UnusableError as error:
        texts = ("Device", "", error.expected, error.hint or "", error.got)
        lib.aclpy_fail_text(error.status, *[text.encode("utf-8", "replace") for text in texts])
        return error.status
    except BaseException as error:  # noqa: BLE001  # nothing may unwind into C
        return tell(error, "Device")


def describe_devices() -> list[str]:
    """One line for each CUDA device, for ``aclnn-py info``.

    Raises
    ------
    UnusableError
        507033 without CuPy, 207004 without a device.
    """
    cupy = find_cupy()
    lines = []
    for device in range(_count(cupy)):
        facts = cupy.cuda.runtime.getDeviceProperties(device)
        name = facts["name"].decode() if isinstance(facts["name"], bytes) else facts["name"]
        gibibytes = facts["totalGlobalMem"] / 2**30
        lines.append(
            f"cuda:{device}  {name}, sm_{facts['major']}{facts['minor']}, "
            f"{facts['multiProcessorCount']} multiprocessors, {gibibytes:.1f} GiB"
        )
    return lines


def lend(address: int, owner: object) -> object:
    """Keep `owner` for as long as the engine knows the memory that it lends.

    Returns
    -------
    object
        Whom it had as the owner until now, for `take_back`; None for nobody.
    """
    before = _lent.get(address)
    _lent[address] = owner
    return before


def take_back(address: int, before: object) -> None:
    """Let go of the owner of memory that is lent no more; `before` owns it again."""
    if before is None:
        _lent.pop(address, None)
    else:
        _lent[address] = before


# ---- the table ----------------------------------------------------------------------------------


@told("aclrtMalloc")
def _alloc(device: int, size: int, host: int, address: Any) -> None:
    with OnDevice(device) as calls:
        address[0] = calls.hostAlloc(size, _PORTABLE) if host else calls.malloc(size)


@told("aclrtFree")
def _release(device: int, address: int, host: int) -> None:
    if host == _BORROWED:
        take_back(address, None)
        return
    with OnDevice(device) as calls:
        if host:
            calls.freeHost(address)
        else:
            calls.free(address)


@told("aclrtGetMemInfo")
def _memory(device: int, free_bytes: Any, total: Any) -> None:
    with OnDevice(device) as calls:
        free_bytes[0], total[0] = calls.memGetInfo()


@told("aclrtMemcpy")
def _copy(device: int, stream: int, to: int, source: int, count: int) -> None:
    queue = queue_of(device, stream)
    with OnDevice(device) as calls:
        calls.memcpyAsync(to, source, count, _ANY_DIRECTION, queue.ptr)
        if stream == AT_ONCE:
            calls.streamSynchronize(queue.ptr)


def copy_now(device: int, to: int, source: int, count: int) -> int:
    """Copy bytes between any two places; done on return. 0, or the status whose text is known."""
    return _copy(device, AT_ONCE, to, source, count)


@told("aclrtMemset")
def _fill(device: int, stream: int, to: int, value: int, count: int) -> None:
    queue = queue_of(device, stream)
    with OnDevice(device) as calls:
        calls.memsetAsync(to, value, count, queue.ptr)
        if stream == AT_ONCE:
            calls.streamSynchronize(queue.ptr)


@told("aclrtRecordEvent")
def _record(device: int, stream: int, event: Any) -> None:
    queue = queue_of(device, stream)
    with OnDevice(device) as calls:
        made = int(event[0]) or int(calls.eventCreateWithFlags(0))
        calls.eventRecord(made, queue.ptr)
        event[0] = made


@told("aclrtStreamWaitEvent")
def _wait(device: int, stream: int, event: int) -> None:
    queue = queue_of(device, stream)
    with OnDevice(device) as calls:
        calls.streamWaitEvent(queue.ptr, event, 0)


@told("aclrtEventElapsedTime")
def _elapsed(device: int, start: int, end: int, milliseconds: Any) -> None:
    with OnDevice(device) as calls:
        milliseconds[0] = calls.eventElapsedTime(start, end)


@told("aclrtSynchronizeStream")
def _synchronize(device: int, stream: int) -> None:
    queue = queue_of(device, stream)
    with OnDevice(device) as calls:
        calls.streamSynchronize(queue.ptr)


@told("aclrtDestroyStream")
def _stream_end(device: int, stream: int) -> None:
    queue = take(device, stream)
    if queue is not None:
        queue.close()


@told("aclmdlRIExecuteAsync")
def _graph(device: int, stream: int, key: int, act: int, done: Any) -> None:
    if act == lib.ACLPY_GRAPH_FORGET:
        cuda_graphs.forget(device, key)
        return
    queue = queue_of(device, stream)
    if act == lib.ACLPY_GRAPH_LAUNCH:
        done[0] = cuda_graphs.launch(queue, key)
    elif act == lib.ACLPY_GRAPH_BEGIN:
        done[0] = cuda_graphs.begin(queue)
    elif act == lib.ACLPY_GRAPH_DROP:
        done[0] = cuda_graphs.drop(queue, key)
    else:
        done[0] = cuda_graphs.end(queue, key)


_TABLE: Final = {
    "alloc": _alloc,
    "release": _release,
    "memory": _memory,
    "copy": _copy,
    "fill": _fill,
    "record": _record,
    "wait": _wait,
    "elapsed": _elapsed,
    "synchronize": _synchronize,
    "stream_end": _stream_end,
    "graph": _graph,
}
for _name, _body in _TABLE.items():
    ffi.def_extern(name=f"aclpy_py_device_{_name}", error=_FAILED)(_body)
