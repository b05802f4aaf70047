# SPDX-License-Identifier: Apache-2.0
"""GPU memory shared with CuPy, PyTorch and others: DLPack and ``__cuda_array_interface__``."""

from __future__ import annotations

from contextlib import suppress
from math import prod
from typing import TYPE_CHECKING, Any, Final, NoReturn
from weakref import WeakValueDictionary

import ml_dtypes
import numpy as np

from aclnn_native import calls, ffi, lib
from aclnn_py.core.desc import TensorDesc, row_major_strides
from aclnn_py.core.dlpack import export_dlpack, mark_bfloat16
from aclnn_py.core.dtype import as_dtype
from aclnn_py.core.shared_bytes import held_bytes
from aclnn_runtime import raise_last
from aclnn_runtime.arguments import describe
from aclnn_runtime.cuda_device import copy_now, find_cupy, lend, take_back
from aclnn_runtime.cuda_queues import OnDevice
from aclnn_runtime.errors import PARAM_INVALID, fail

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aclnn_py.core.tensor import Tensor

__all__ = ["borrow", "device_of", "export", "interface", "on_gpu", "put", "to_host"]


_CUDA: Final = 2  # DLPack's numbers of devices
_HOST: Final = (1, 0)


def on_gpu(array: object) -> bool:
    """Whether an array of another library lies in a GPU's memory."""
    with suppress(Exception):  # PyTorch's CPU tensors have the attribute and raise
        return getattr(array, "__cuda_array_interface__", None) is not None
    return False


def to_host(array: object) -> np.ndarray[Any, Any]:
    """A host copy of another library's array, after the work queued on it."""
    found: np.ndarray[Any, Any] = _known(find_cupy(), array).get()
    return found


def _known(cupy: Any, array: Any) -> Any:
    """CuPy's view of a GPU array, by DLPack where it has that.

    PyTorch's array interface names no stream, and has no bfloat16.
    """
    foreign = hasattr(array, "__dlpack__") and not isinstance(array, cupy.ndarray)
    return cupy.asarray(array) if on_gpu(array) and not foreign else cupy.from_dlpack(array)


def device_of(tensor: Tensor) -> int:
    """CUDA's number of the device that holds a tensor."""
    info = ffi.new("aclpy_memory_info *")
    lib.aclpy_memory_query(tensor.data_ptr, info)
    first = 0 if lib.aclpy_device_is_foreign(0) else int(lib.ACLPY_FOREIGN_FIRST)
    return max(int(info.device) - first, 0)


def put(tensor: Tensor, low: int, raw: np.ndarray[Any, Any]) -> None:
    """Copy bytes of the host over a tensor's storage, from its byte `low` on."""
    address = tensor.data_ptr + low
    status = copy_now(device_of(tensor), address, raw.ctypes.data, raw.nbytes)
    if status:
        raise_last(status)


def _strides(desc: TensorDesc) -> tuple[int, ...]:
    return row_major_strides(desc.shape) if desc.is_contiguous else desc.strides


def _settle(tensor: Tensor) -> None:
    status = calls.wait(calls.MEMORY, tensor.data_ptr)
    if status:
        raise_last(status)


def interface(tensor: Tensor) -> dict[str, Any]:
    """Version 3 of the CUDA array interface.

    The tensor's queued work is waited for, so there is no stream to synchronise with.
    """
    _settle(tensor)
    desc, dtype = tensor.desc, tensor.dtype
    first = tensor.data_ptr + desc.offset * dtype.itemsize
    return {
        "shape": desc.shape,
        "typestr": dtype.str,
        "data": (0 if desc.is_empty else first, False),
        "strides": tuple(step * dtype.itemsize for step in _strides(desc)),
        "version": 3,
        "stream": None,
    }


def export(tensor: Tensor, options: Mapping[str, Any]) -> object:
    """A DLPack capsule, written by CuPy over the tensor's memory, or by NumPy over a host copy.

    The consumer need not wait for anything: what was queued on the memory is waited for here,
    unless it asks for no synchronisation (``stream=-1``).

    Raises
    ------
    AclError
        100000 for a stream that DLPack does not know.
    BufferError
        For another device than the tensor's and the host, or the host without a copy.
    """
    return _export(tensor, **options)


def _export(
    tensor: Tensor,
    *,
    stream: object = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> object:
    _check_stream(stream)
    number = device_of(tensor)
    if dl_device is not None and tuple(dl_device) == _HOST:
        if copy is False:
            raise BufferError("Tensor.__dlpack__: memory of a GPU reaches the host by a copy only")
        versions = {} if max_version is None else {"max_version": max_version}
        return export_dlpack(tensor.numpy(), versions)
    if dl_device is not None and tuple(dl_device) != (_CUDA, number):
        raise BufferError(f"Tensor.__dlpack__: lies on cuda:{number}, not on {tuple(dl_device)}")
    if stream != -1:
        _settle(tensor)
    array = _over(tensor, number)
    asked: dict[str, Any] = {"stream": -1}
    asked |= {} if copy is None else {"copy": copy}
    if tensor.dtype == ml_dtypes.bfloat16:
        # The unversioned form is the one that can be corrected.
        return mark_bfloat16(array.__dlpack__(**asked))
    return array.__dlpack__(**asked, max_version=max_version)


def _check_stream(stream: object) -> None:
    """DLPack's numbers of streams: -1 for none, 1 and 2 for the default ones, then addresses."""
    if stream is None or (type(stream) is int and (stream == -1 or stream > 0)):
        return
    fail(
        "Tensor.__dlpack__",
        "stream",
        what="is no stream of CUDA's as DLPack numbers them",
        got=describe(stream),
        expected="None, -1 (no order wanted), 1, 2 or a cudaStream_t",
        fix="pass the pointer of the stream that will use the memory",
    )


def _over(tensor: Tensor, number: int) -> Any:
    """A CuPy array over the tensor's memory, which it keeps; bfloat16 as uint16."""
    cupy = find_cupy()
    desc, dtype = tensor.desc, tensor.dtype
    low, high = (edge * dtype.itemsize for edge in desc.extent)
    address, nbytes = tensor.data_ptr + low, high - low
    held = held_bytes("Tensor.__dlpack__", address, nbytes) if nbytes else None
    # The buffer, too: memory that comes back to us is still an allocation then.
    owner = held, tensor._buffer  # noqa: SLF001  # of the same package
    memory = cupy.cuda.UnownedMemory(address if nbytes else 0, nbytes, owner, number)
    return cupy.ndarray(
        desc.shape,
        np.dtype(np.uint16) if dtype == ml_dtypes.bfloat16 else dtype,
        cupy.cuda.MemoryPointer(memory, desc.offset * dtype.itemsize - low),
        strides=tuple(step * dtype.itemsize for step in _strides(desc)),
    )


def borrow(context: int, index: int, array: Any) -> tuple[TensorDesc, int, object]:
    """Make another library's GPU array known to the runtime, without a copy.

    Parameters
    ----------
    context : int
        Of the device that the array lies on.
    index : int
        CUDA's number of that device.
    array : array
        With ``__dlpack__`` or ``__cuda_array_interface__``; work queued on it is waited for.

    Returns
    -------
    desc, address, owner
        The description, the start of its storage, and what keeps it alive.

    Raises
    ------
    AclError
        107000 for an array on another device, or one that is no GPU array.
    """
    cupy = find_cupy()
    try:
        with OnDevice(index):  # whose current stream the array's owner orders its work before
            known = _known(cupy, array)
            row = as_dtype(known.dtype)
            cupy.cuda.get_current_stream().synchronize()
    except (TypeError, ValueError, AttributeError, BufferError, KeyError) as error:
        _refuse(f"{type(array).__name__}: {error}", "an array on a GPU")
    if int(known.device.id) != index:
        _refuse(f"an array on cuda:{known.device.id}", f"an array on cuda:{index}")
    strides = tuple(step // row.itemsize for step in known.strides)
    spans = [step * (size - 1) for step, size in zip(strides, known.shape, strict=True)]
    empty = 0 in known.shape
    low = 0 if empty else sum(span for span in spans if span < 0)
    count = prod(known.shape) if empty else sum(map(abs, spans)) + 1
    address = int(known.data.ptr) + low * row.itemsize
    desc = TensorDesc(tuple(known.shape), strides, -low, (count,), row.value)
    loan = None if empty else _make_known(context, address, count * row.itemsize, known)
    return desc, address, (known, loan)


class _Loan:
    """Memory that the runtime knows for as long as one of its tensors is there."""

    __slots__ = ("__weakref__", "_address", "_identity")

    def __init__(self, address: int, identity: int) -> None:
        self._address = address
        self._identity = identity

    def __del__(self) -> None:
        lib.aclpy_memory_discard(self._address, self._identity)


#: By base and identity of an allocation; what is not here is the runtime's own.
_loans: Final[WeakValueDictionary[tuple[int, int], _Loan]] = WeakValueDictionary()


def _make_known(context: int, address: int, nbytes: int, owner: object) -> _Loan | None:
    info = ffi.new("aclpy_memory_info *")
    lib.aclpy_memory_query(address, info)
    if info.kind and address + nbytes <= info.base + info.size:
        return _loans.get((int(info.base), int(info.identity)))
    before = lend(address, owner)
    status = lib.aclpy_memory_borrow(context, address, nbytes)
    if status:
        take_back(address, before)
        raise_last(status)
    lib.aclpy_memory_query(address, info)
    loan = _loans[address, int(info.identity)] = _Loan(address, int(info.identity))
    return loan


def _refuse(got: str, expected: str) -> NoReturn:
    fail(
        "Device.from_dlpack",
        "array",
        status=PARAM_INVALID,
        what="cannot be shared",
        got=got[:200],
        expected=expected,
        fix="copy it with Device.tensor()",
    )
