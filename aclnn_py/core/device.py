# SPDX-License-Identifier: Apache-2.0
"""Device with tensors: the runtime's device plus the makers of typed memory."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import ml_dtypes
import numpy as np

from aclnn_native import lib
from aclnn_py.core.arguments import sizes
from aclnn_py.core.desc import TensorDesc
from aclnn_py.core.dtype import DType, aclDataType, as_dtype
from aclnn_py.core.errors import PARAM_INVALID, operator_error
from aclnn_py.core.tensor import Tensor, create_tensor
from aclnn_runtime import Device as RuntimeDevice
from aclnn_runtime import aclrtMemcpyKind, raise_last
from aclnn_runtime.arguments import describe
from aclnn_runtime.errors import fail
from aclnn_runtime.status_table import status_value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from numpy.typing import ArrayLike, DTypeLike

    AnyDType: TypeAlias = DTypeLike | aclDataType | str

__all__ = ["Device"]

_UNSUPPORTED: Final = status_value("ACL_ERROR_RT_FEATURE_NOT_SUPPORT")


class Device(RuntimeDevice):
    """A device: its memory, streams, events and tensors.

    ``Device(0)`` is ``Device("cpu:0")``, the primary context of the first emulated device, and
    ``Device("cuda:0")`` that of the first NVIDIA GPU. It
    needs neither ``aclInit`` nor ``aclrtSetDevice`` and never changes the thread's current
    context.
    """

    __slots__ = ()

    def tensor(self, array: ArrayLike, dtype: AnyDType | None = None) -> Tensor:
        """A tensor with a copy of `array`.

        Parameters
        ----------
        array : array_like
            Any shape, strides and byte order.
        dtype : dtype, str or aclDataType, optional
            Type of the tensor; the array's when not given.

        Returns
        -------
        Tensor
            Contiguous, of the array's shape.

        Raises
        ------
        AclnnError
            161002 for a type that has no place in the dtype table, for numbers that an integer
            type does not have, and for complex numbers in a real type unless all imaginary parts
            are zero (of bool it is their truth). Fractions are cut off in integer types, as by
            NumPy.
        """
        found = _from_gpu(array)
        source = _values("Device.tensor", "array", array, lambda: np.asarray(found))
        row = _dtype_of(source, array) if dtype is None else _dtype("Device.tensor", dtype)
        cast = _values("Device.tensor", "array", array, lambda: _cast(source, row))
        dense = np.ascontiguousarray(cast).reshape(source.shape)
        tensor = self._allocate("Device.tensor", source.shape, row)
        self._write(tensor, dense)
        return tensor

    def from_dlpack(self, array: object) -> Tensor:
        """A tensor over a GPU array of another library, without a copy.

        Parameters
        ----------
        array : array
            On this device, with ``__dlpack__`` or ``__cuda_array_interface__``: of CuPy, PyTorch,
            Numba. What is queued on it is waited for.

        Returns
        -------
        Tensor
            Shares the memory and keeps the array alive, as queued work on it does.

        Raises
        ------
        AclError
            207000 on an emulated device; 107000 for an array that is not on this one.
        """
        context = self._context("Device.from_dlpack")
        if self.kind != "cuda":
            fail(
                "Device.from_dlpack",
                "self",
                status=_UNSUPPORTED,
                what="does not share the memory of other libraries",
                got=repr(self),
                expected="a CUDA device",
                fix="copy the array with Device.tensor()",
            )
        from aclnn_py.core import cuda_arrays  # noqa: PLC0415  # only for GPUs

        desc, address, owner = cuda_arrays.borrow(context, self.index, array)
        return create_tensor(desc, _Borrowed(address, owner, self))

    def empty(self, shape: Sequence[int] | int, dtype: AnyDType = "float32") -> Tensor:
        """A contiguous tensor with undefined content.

        Raises
        ------
        AclnnError
            161002 for a negative size or too many bytes; AclError 207001 when memory runs out.
        """
        return self._allocate("Device.empty", shape, _dtype("Device.empty", dtype))

    def zeros(self, shape: Sequence[int] | int, dtype: AnyDType = "float32") -> Tensor:
        """A contiguous tensor of zeros; errors as in `empty`."""
        return self._filled("Device.zeros", shape, 0, dtype)

    def full(
        self, shape: Sequence[int] | int, value: complex, dtype: AnyDType = "float32"
    ) -> Tensor:
        """A contiguous tensor of one value; errors as in `empty`, of the value as in `tensor`."""
        return self._filled("Device.full", shape, value, dtype)

    def _filled(
        self, function: str, shape: Sequence[int] | int, value: complex, dtype: AnyDType
    ) -> Tensor:
        row = _dtype(function, dtype)
        one = _values(function, "value", value, lambda: _cast(np.asarray(value), row))
        tensor = self._allocate(function, shape, row)
        shape = tensor.shape
        self._write(tensor, _values(function, "value", value, lambda: np.full(shape, one)))
        return tensor

    def _allocate(self, function: str, shape: Sequence[int] | int, row: DType) -> Tensor:
        dims = sizes(function, "shape", shape)
        nbytes = row.nbytes(prod(dims))
        if any(size < 0 for size in dims) or nbytes >= 2**63:
            raise operator_error(
                PARAM_INVALID,
                function,
                "shape",
                "has a negative size" if min(dims) < 0 else "is too large",
                got=str(list(dims)),
                expected="sizes >= 0, less than 2**63 bytes in all",
                fix="check how the shape was computed",
            )
        return create_tensor(TensorDesc.dense(dims, row), self.malloc(max(nbytes, 1)))

    def _write(self, tensor: Tensor, array: np.ndarray[Any, Any]) -> None:
        if array.size:
            status = lib.aclpy_memcpy(
                self._ctx,
                tensor.data_ptr,
                array.nbytes,
                array.ctypes.data,
                array.nbytes,
                aclrtMemcpyKind.ACL_MEMCPY_HOST_TO_DEVICE,
            )
            if status:
                raise_last(status)


def _from_gpu(array: object) -> Any:
    """A host copy of another library's GPU array; anything else as it is."""
    if not hasattr(type(array), "__cuda_array_interface__"):
        return array
    from aclnn_py.core import cuda_arrays  # noqa: PLC0415  # only for GPUs

    return cuda_arrays.to_host(array) if cuda_arrays.on_gpu(array) else array


class _Borrowed:
    """Another library's memory under a tensor: its address, and what keeps it."""

    __slots__ = ("_address", "_keep")

    def __init__(self, address: int, *keep: object) -> None:
        self._address = address
        self._keep = keep

    def __int__(self) -> int:
        return self._address


def _values(
    function: str, argument: str, given: object, make: Callable[[], np.ndarray[Any, Any]]
) -> np.ndarray[Any, Any]:
    """What NumPy makes of a user's numbers; what it cannot use is status 161002."""
    try:
        return make()
    except (TypeError, ValueError, OverflowError) as error:
        raise operator_error(
            PARAM_INVALID,
            function,
            argument,
            "has no place in the tensor",
            got=describe(given),
            expected=f"numbers that the tensor's dtype can hold ({error})",
            fix=f"correct {argument}, or choose another dtype",
        ) from None


def _limits(dtype: np.dtype[Any]) -> ml_dtypes.iinfo | None:
    """The least and the most of an integer type."""
    try:
        return ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]  # its stubs say so
    except ValueError:
        return None


def _cast(source: np.ndarray[Any, Any], row: DType) -> np.ndarray[Any, Any]:
    """The array in the row's type; ValueError where that does not have such numbers."""
    wanted = np.dtype(row.numpy)
    if source.dtype.kind == "c" and wanted.kind not in "cb":
        if source.imag.any():
            raise ValueError("real ones; these have imaginary parts")
        source = source.real
    limits = _limits(wanted)
    if limits and source.size and source.dtype != wanted and source.dtype.kind in "iufV":
        least, most = source.min().item(), source.max().item()  # NaN, where there is one
        if not limits.min <= int(least) <= int(most) <= limits.max:
            raise ValueError(f"from {limits.min} to {limits.max}; these go from {least} to {most}")
    return source.astype(wanted, copy=False)


def _dtype_of(source: np.ndarray[Any, Any], given: object) -> DType:
    """The row of an array's own type."""
    try:
        row = as_dtype(source.dtype)
    except KeyError:
        row = None
    if row is None:
        raise operator_error(
            PARAM_INVALID,
            "Device.tensor",
            "array",
            "is no array of numbers",
            got=describe(given)
            if isinstance(given, np.ndarray)
            else f"{describe(given)}, an array of {source.dtype}",
            expected="an array of a NumPy or ml_dtypes number type",
            fix="pass numbers, or a dtype that they can be converted to",
        )
    return row


def _dtype(function: str, dtype: AnyDType) -> DType:
    try:
        row = as_dtype(dtype)
    except KeyError:
        row = None
    if row is None or row.numpy is None:
        raise operator_error(
            PARAM_INVALID,
            function,
            "dtype",
            "is no element type of a tensor",
            got=str(dtype) if row is None else f"{row}, which NumPy does not have",
            expected="a NumPy or ml_dtypes dtype, its name, or an aclDataType",
            fix='for example "float32", "bfloat16" or aclDataType.ACL_FLOAT16',
        )
    return row
