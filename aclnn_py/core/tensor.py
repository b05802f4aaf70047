# SPDX-License-Identifier: Apache-2.0
"""Tensor: a view description over device memory, as a thin wrapper of the native object."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, SupportsInt

import numpy as np

from aclnn_native import calls, ffi, lib
from aclnn_py.core.arguments import check_open, counts, integer, integers, memory, permutation
from aclnn_py.core.desc import MOST_BYTES, TensorDesc, device_of_layout, row_major_strides
from aclnn_py.core.dlpack import export_dlpack
from aclnn_py.core.errors import PARAM_INVALID, operator_error
from aclnn_py.core.format import aclFormat
from aclnn_py.core.shared_bytes import shared_bytes
from aclnn_runtime import AclError, AclnnError, Buffer, raise_last
from aclnn_runtime.errors import fail
from aclnn_runtime.noun import HandleNoun

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Tensor", "create_tensor"]


class _Moved(NamedTuple):
    """What a tensor keeps alive that has got another address."""

    home: object
    now: object


class Tensor(HandleNoun, calls.Tensor):
    """A typed view over device memory.

    Made by ``Device.tensor()``, ``Device.empty()``, ``Device.zeros()``, ``Device.full()``,
    `view`, `transpose` or ``aclCreateTensor()``. Views share the memory of their tensor and keep
    it alive; a queued task keeps alive what it touches.
    """

    __slots__ = ("_desc",)
    _door = "Device.tensor(), Device.empty() or aclCreateTensor()"
    _desc: TensorDesc

    @property
    def shape(self) -> tuple[int, ...]:
        """View dimensions."""
        return self._desc.shape

    @property
    def strides(self) -> tuple[int, ...]:
        """Distances between neighbours along each axis [elements]."""
        return self._desc.strides

    @property
    def offset(self) -> int:
        """First element of the view, from the start of the storage [elements]."""
        return self._desc.offset

    @property
    def storage_shape(self) -> tuple[int, ...]:
        """Dimensions of the storage."""
        return self._desc.storage_shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type as a NumPy or ml_dtypes dtype.

        Raises
        ------
        AclError
            100000 for a type that NumPy does not have.
        """
        found = self._desc.dtype.numpy
        if found is None:
            fail(
                "Tensor.dtype",
                "self",
                what="has a type that NumPy does not have",
                got=f"{self._desc.dtype} (aclDataType {self._desc.dtype_value})",
                expected="a type with a NumPy or ml_dtypes counterpart",
                fix="read it with aclGetDataType()",
            )
        return found

    @property
    def format(self) -> aclFormat | int:
        """View format; a plain int where the number has no name."""
        try:
            return aclFormat(self._desc.format_value)
        except ValueError:
            return self._desc.format_value

    @property
    def nbytes(self) -> int:
        """Bytes of the view's elements, packed."""
        return self._desc.dtype.nbytes(self._desc.numel)

    @property
    def desc(self) -> TensorDesc:
        """What the planner knows of this tensor."""
        return self._desc

    @property
    def data_ptr(self) -> int:
        """Start address of the storage, without the offset (0: none)."""
        return self._address("Tensor.data_ptr")

    def set_data_ptr(self, address: Buffer | int | None) -> None:
        """Point the storage elsewhere.

        Executors that were planned with this tensor use the new address from their next phase 2
        on, with two exceptions, as on the hardware: an executor that answers from the vendor's
        cache (``is_cache_hit``) keeps all addresses of its phase 1, and one that is not repeatable
        keeps that of an output that it writes directly. The memory that the tensor was made with
        stays its own, so that it can return there.

        Raises
        ------
        AclnnError
            161002 for what is no address, and for a closed tensor.
        """
        data = memory("Tensor.set_data_ptr", "address", address)
        check_open("Tensor.set_data_ptr", "self", self)
        raw = 0 if data is None else int(data)
        _check(lib.aclpy_tensor_set_address(self._handle, raw))
        self._moved_to(address)
        layout = ffi.new("uint64_t *")
        _check(lib.aclpy_tensor_layout(self._handle, layout))
        self._layout = int(layout[0])
        self._desc = _placed(self._desc, self._layout)

    def _moved_to(self, owner: object) -> None:
        """Keep alive what the new address belongs to, beside the memory of the beginning."""
        held = self._buffer
        home = held.home if isinstance(held, _Moved) else held
        self._buffer = owner if home is None else _Moved(home, owner)

    def view(
        self,
        shape: Sequence[int],
        strides: Sequence[int] | None = None,
        offset: int | None = None,
    ) -> Tensor:
        """Another view of the same storage.

        Parameters
        ----------
        shape : sequence of int
            View dimensions.
        strides : sequence of int, optional
            Strides [elements]; row-major when not given.
        offset : int, optional
            First element from the start of the storage [elements]; this tensor's when not given.

        Returns
        -------
        Tensor
            Shares memory with this one.

        Raises
        ------
        AclnnError
            161002 when some element would lie outside the storage, and for a closed tensor.
        """
        dims = counts("Tensor.view", "shape", shape)
        steps = (
            row_major_strides(dims)
            if strides is None
            else integers("Tensor.view", "strides", strides)
        )
        start = self.offset if offset is None else integer("Tensor.view", "offset", offset)
        if len(steps) != len(dims):
            raise operator_error(
                PARAM_INVALID,
                "Tensor.view",
                "strides",
                "does not fit the shape",
                got=f"{len(steps)} strides for {len(dims)} dimensions",
                expected=f"{len(dims)} strides",
                fix="give a stride for each dimension, or none for a row-major view",
            )
        return self._viewed("Tensor.view", "shape", dims, steps, start)

    def transpose(self, *axes: int | Sequence[int] | None) -> Tensor:
        """A view with the axes reordered (reversed when none are given).

        Parameters
        ----------
        *axes : int, or one sequence of int
            A permutation of the axes; negative ones count from the last.

        Returns
        -------
        Tensor
            Shares memory with this one.

        Raises
        ------
        AclnnError
            161002 for what is no permutation of the axes, and for a closed tensor.
        """
        order = permutation("Tensor.transpose", "axes", axes, self._desc.rank)
        dims = tuple(self.shape[axis] for axis in order)
        steps = tuple(self.strides[axis] for axis in order)
        return self._viewed("Tensor.transpose", "self", dims, steps, self.offset)

    def numpy(self) -> np.ndarray[Any, Any]:
        """A copy as a NumPy array.

        Waits for the queued tasks that touch this memory, and for no others.

        Raises
        ------
        AclError
            The failure of such a task; 107000 where the memory is gone, 161002 for a closed tensor.
        """
        if self._desc.device != "cpu":
            return self._fetched("Tensor.numpy")
        return np.array(self._host_view("Tensor.numpy"))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError(
                "a Tensor becomes an array as a copy; for its own memory: np.from_dlpack(tensor)"
            )
        found = self.numpy()
        return found if dtype is None else np.asarray(found, dtype)

    def __dlpack__(self, **options: Any) -> object:
        """Share the memory with another library; waits for queued work on it first."""
        if self._desc.device != "cpu":
            capsule: object = _cuda().export(self, options)
            return capsule
        return export_dlpack(self._host_view("Tensor.__dlpack__"), options)

    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack's device: (1, 0) is the CPU, (2, n) is ``cuda:n``."""
        return (1, 0) if self._desc.device == "cpu" else (2, int(_cuda().device_of(self)))

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The memory for CuPy, Numba and others; waits for queued work on it first."""
        if self._desc.device == "cpu":
            raise AttributeError("__cuda_array_interface__")
        found: dict[str, Any] = _cuda().interface(self)
        return found

    def close(self) -> None:
        """Destroy the tensor, not its memory; a second call does nothing."""
        if self._open:
            self._open = False
            # No plan has this layout, so phase 1 takes the checking path from now on.
            self._layout = 0
            self._check_closing(lib.aclpy_tensor_destroy(self._handle))
            self._buffer = None

    def __del__(self) -> None:
        if getattr(self, "_open", False):
            self._open = False
            lib.aclpy_tensor_destroy(self._handle)

    def __repr__(self) -> str:
        state = "" if self._open else ", closed"
        return f"<Tensor {self._desc.dtype} {list(self.shape)}{state}>"

    def _viewed(
        self,
        function: str,
        argument: str,
        dims: tuple[int, ...],
        steps: tuple[int, ...],
        start: int,
    ) -> Tensor:
        desc = TensorDesc(
            dims, steps, start, self.storage_shape, self._desc.dtype_value, self._desc.format_value
        )
        if not (desc.is_countable and desc.fits_storage):
            got = f"shape {dims}, strides {steps}, offset {start}"
            _refuse_view(function, argument, got, self._desc)
        held = self._buffer
        # What this tensor has moved to is where the view begins: it keeps both.
        owner = tuple(held) if isinstance(held, _Moved) else held
        return _make(desc, self._address(function), owner)

    def _address(self, function: str) -> int:
        check_open(function, "self", self)
        address = ffi.new("uintptr_t *")
        _check(lib.aclpy_tensor_get_address(self._handle, address))
        return int(address[0])

    def _span(self) -> tuple[int, int]:
        """First byte of the view and its extent [bytes], from the start of the storage."""
        low, high = (edge * self.dtype.itemsize for edge in self._desc.extent)
        return low, high - low

    def _fetched(self, function: str) -> np.ndarray[Any, Any]:
        """A copy of a device's memory that no processor can read."""
        if self._desc.is_empty:
            return np.empty(self._desc.shape, self.dtype)
        low, raw = self._fetched_bytes(function)
        return np.array(self._over(raw, low))

    def _fetched_bytes(self, function: str) -> tuple[int, np.ndarray[Any, Any]]:
        low, nbytes = self._span()
        raw = np.empty(nbytes, np.uint8)
        address = self._address(function)
        _check(calls.wait(calls.MEMORY, address), AclError)
        _check(lib.aclpy_memory_fetch(address + low, raw.ctypes.data, nbytes), AclError)
        return low, raw

    def _set(self, function: str, array: np.ndarray[Any, Any]) -> None:
        """Set every element of a view, after the work queued on it; gaps keep their bytes."""
        if self._desc.device == "cpu":
            self._host_view(function)[...] = array
            return
        low, raw = self._fetched_bytes(function)
        self._over(raw, low)[...] = array
        _cuda().put(self, low, raw)

    def _over(self, raw: np.ndarray[Any, Any], low: int) -> np.ndarray[Any, Any]:
        """The view over bytes of its storage that begin at `low`."""
        desc, dtype = self._desc, self.dtype
        strides = row_major_strides(desc.shape) if desc.is_contiguous else desc.strides
        start = desc.offset * dtype.itemsize - low
        # NumPy wants strides within bounds along axes of one element, too; they move nothing.
        steps = [
            dtype.itemsize * (1 if size == 1 else stride)
            for size, stride in zip(desc.shape, strides, strict=True)
        ]
        view: np.ndarray[Any, Any] = np.ndarray(desc.shape, dtype, raw, start, steps)
        return view

    def _host_view(self, function: str) -> np.ndarray[Any, Any]:
        address = self._address(function)
        if min(self.shape, default=0) < 0 or self.nbytes > MOST_BYTES:
            raise operator_error(
                PARAM_INVALID,
                function,
                "self",
                "has a shape that no array has",
                got=f"shape {list(self.shape)}, strides {list(self.strides)}",
                expected="sizes >= 0, at most 2**57 bytes",
                fix="check how the shape was computed",
            )
        if self._desc.is_empty:
            return np.empty(self._desc.shape, dtype=self.dtype)
        low, nbytes = self._span()
        raw = shared_bytes(function, address + low, nbytes)
        _check(calls.wait(calls.MEMORY, address), AclError)
        return self._over(raw, low)


def create_tensor(desc: TensorDesc, data: SupportsInt | None = None) -> Tensor:
    """A tensor over `data`; validates nothing, as the C creator (reference 3.1)."""
    return _make(desc, 0 if data is None else int(data), data)


def _make(desc: TensorDesc, address: int, owner: object) -> Tensor:
    handle, layout = ffi.new("aclpy_handle *"), ffi.new("uint64_t *")
    # Row-major strides of absurd sizes pass 63 bits. They wrap in C; phase 1 reports the sizes.
    strides = [(stride + 2**63) % 2**64 - 2**63 for stride in desc.strides]
    status = lib.aclpy_tensor_create(
        desc.shape,
        len(desc.shape),
        desc.dtype_value,
        strides,
        desc.offset,
        desc.format_value,
        desc.storage_shape,
        len(desc.storage_shape),
        address,
        handle,
        layout,
    )
    if status:
        raise_last(status, error=AclnnError)
    tensor = Tensor.__new__(Tensor)
    tensor._open = True  # noqa: SLF001  # the one maker of tensors
    tensor._handle = int(handle[0])  # noqa: SLF001
    tensor._layout = int(layout[0])  # noqa: SLF001
    tensor._desc = _placed(desc, int(layout[0]))  # noqa: SLF001
    tensor._buffer = owner  # noqa: SLF001
    return tensor


def _cuda() -> Any:
    """What GPU memory needs; nothing of it is loaded for other tensors."""
    from aclnn_py.core import cuda_arrays  # noqa: PLC0415  # see above

    return cuda_arrays


def _placed(desc: TensorDesc, layout: int) -> TensorDesc:
    """The description with the device of the memory, which the layout's number tells."""
    device = device_of_layout(layout)
    return desc if desc.device == device else replace(desc, device=device)


def _check(status: int, error: type[AclError] = AclnnError) -> None:
    if status:
        raise_last(status, error=error)


def _refuse_view(function: str, argument: str, got: str, desc: TensorDesc) -> NoReturn:
    raise operator_error(
        PARAM_INVALID,
        function,
        argument,
        "does not fit this tensor",
        got=got,
        expected=f"a view inside {desc.storage_numel} elements of storage {desc.storage_shape}",
        fix="keep offset + sum((size - 1) * stride) inside the storage",
    )
