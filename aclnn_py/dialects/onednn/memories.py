# SPDX-License-Identifier: Apache-2.0
"""Memory: a descriptor with data behind it, on an engine or (one value) on the host."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

import numpy as np

from aclnn_native import calls
from aclnn_py.core.tensor import Tensor, create_tensor
from aclnn_py.dialects.onednn.descriptors import memory_desc
from aclnn_py.dialects.onednn.engines import check_engine
from aclnn_py.dialects.onednn.engines import stream as stream_type
from aclnn_py.dialects.onednn.enums import format_kind
from aclnn_py.dialects.onednn.statuses import refuse, status, translated
from aclnn_runtime import Buffer, Stream
from aclnn_runtime.arguments import describe, whole_number
from aclnn_runtime.copies import fill_async
from aclnn_runtime.memory_facts import room

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from aclnn_py.dialects.onednn.engines import engine as engine_type

__all__ = ["DNNL_MEMORY_ALLOCATE", "DNNL_MEMORY_NONE", "memory"]

DNNL_MEMORY_NONE: Final = None
DNNL_MEMORY_ALLOCATE: Final = "allocate"


class memory:
    """A tensor in memory.

    Parameters
    ----------
    desc : memory_desc
        With a definite layout.
    engine : engine
        Whose memory it is.
    handle : Buffer, int, ``DNNL_MEMORY_ALLOCATE`` or ``DNNL_MEMORY_NONE``
        Memory of the engine's device of at least ``desc.get_size()`` bytes, or an address in it;
        allocated here by default. Memory of a Buffer stays alive with this object.

    Raises
    ------
    OneDnnError
        invalid_arguments for a descriptor without a layout, runtime dims, or memory that is too
        small or none of the device; out_of_memory.

    Notes
    -----
    oneDNN takes any pointer of the process on a CPU engine; the devices here keep their memory
    apart, so host memory is refused as it would be by an accelerator. ``write`` brings values in.
    """

    _data: tuple[Buffer | int | None, Tensor | None]

    def __init__(
        self,
        desc: memory_desc,
        engine: engine_type,
        handle: Buffer | int | str | None = DNNL_MEMORY_ALLOCATE,
    ) -> None:
        self._fill("memory", desc, engine, handle)

    @classmethod
    def made_by(
        cls,
        function: str,
        desc: memory_desc,
        engine: engine_type,
        handle: Buffer | int | str | None,
    ) -> memory:
        """Memory whose refusals name the call that it is made for."""
        made = cls.__new__(cls)
        made._fill(function, desc, engine, handle)  # noqa: SLF001  # a maker of the same class
        return made

    def _fill(
        self,
        function: str,
        desc: memory_desc,
        engine: engine_type,
        handle: Buffer | int | str | None,
    ) -> None:
        _check_desc(function, desc)
        check_engine(function, engine)
        self.desc = desc
        self.engine: engine_type | None = engine
        self.value: np.generic | None = None
        if isinstance(handle, str) and handle == DNNL_MEMORY_ALLOCATE:
            with translated(function):
                handle = engine.device.malloc(max(desc.get_size(), 1))
        else:
            handle = _checked(function, handle, desc, engine)
        self._bind(function, handle)

    @classmethod
    def host_scalar(cls, desc: memory_desc, value: float) -> memory:
        """One value on the host, for attributes that take it from there."""
        if not isinstance(desc, memory_desc) or desc.format_kind is not format_kind.host_scalar:
            _refuse_desc(
                "memory.host_scalar",
                desc,
                "is no host scalar",
                "the descriptor of one value on the host",
                "make it with memory_desc.host_scalar(data_type)",
            )
        scalar = cls.__new__(cls)
        scalar.desc, scalar.engine = desc, None
        scalar._data = None, None  # noqa: SLF001  # a second maker of the same class
        try:
            scalar.value = _scalar(value, desc)
        except (TypeError, ValueError, OverflowError):
            refuse(
                status.invalid_arguments,
                "memory.host_scalar",
                "value",
                "is no number",
                got=describe(value),
                expected=f"one {desc.data_type.name}",
                fix="pass a plain number that the type has",
            )
        return scalar

    @property
    def handle(self) -> Buffer | int | None:
        """What the data lies in."""
        return self._data[0]

    @property
    def tensor(self) -> Tensor | None:
        """The same for the planner; None where there is no data."""
        return self._data[1]

    @property
    def is_gone(self) -> bool:
        """Whether the buffer that its data lies in has been freed."""
        handle = self.handle
        return isinstance(handle, Buffer) and handle.closed

    def get_data_handle(self) -> int:
        """Address of the first byte; 0 where there is none."""
        handle = self.handle
        with translated("memory.get_data_handle"):
            return 0 if handle is None else int(handle)

    def set_data_handle(self, handle: Buffer | int | None) -> None:
        """Put other memory behind this object; work that is queued keeps what it has.

        Raises
        ------
        OneDnnError
            invalid_arguments for what is no memory of the engine's device, or too small. The
            memory from before stays then.
        """
        self.move("memory.set_data_handle", handle)

    def move(self, function: str, handle: Buffer | int | None) -> None:
        """As `set_data_handle`, for the call `function`, which refusals name."""
        if self.value is not None or self.engine is None:
            _refuse_scalar(function, "handle", handle)
        self._bind(function, _checked(function, handle, self.desc, self.engine))
        calls.moved()  # what is bound to the old one is stale

    def _bind(self, function: str, handle: Buffer | int | None) -> None:
        made = None
        if handle is not None and not self.desc.is_empty:
            with translated(function):
                made = create_tensor(self.desc.tensor_desc, handle)
        # In one go: another thread may be executing with what was there before.
        self._data = handle, made

    def get_desc(self) -> memory_desc:
        """Its descriptor."""
        return self.desc

    def get_engine(self) -> engine_type:
        """Whose memory it is; invalid_arguments for a host scalar, which has no engine."""
        if self.engine is None:
            refuse(
                status.invalid_arguments,
                "memory.get_engine",
                "",
                "of a host scalar, which is of no engine",
                got=repr(self),
                expected="memory of an engine",
                fix="ask the engine of the primitive descriptor: get_engine()",
            )
        return self.engine

    def numpy(self) -> np.ndarray[Any, Any]:
        """A copy of the elements in logical order; waits for work that touches this memory."""
        if self.value is not None:
            return np.asarray(self.value)
        if self.desc.is_empty:
            dims = self.desc.dims
            return np.empty(dims or (0,), _numpy_type(self.desc))
        with translated("memory.numpy"):
            return self._tensor("memory.numpy").numpy()

    def write(self, values: ArrayLike) -> memory:
        """Set every element, given in logical order; gaps keep their bytes. Returns itself."""
        if self.value is not None:
            _refuse_scalar("memory.write", "values", values)
        array, shown, dims = None, type(values).__name__, self.desc.dims or (0,)
        try:
            shown += f" of shape {np.shape(values)}"
            array = _elements(values, self.desc)
        except (TypeError, ValueError, OverflowError) as error:
            shown += f": {error}"
        if array is None or array.shape != dims:
            refuse(
                status.invalid_arguments,
                "memory.write",
                "values",
                "do not fit the descriptor",
                got=shown,
                expected=f"numbers of shape {dims} that {self.desc.data_type.name} has",
                fix="pass the elements in logical order, whatever the layout",
            )
        if array.size:
            with translated("memory.write"):
                self._tensor("memory.write")._set("memory.write", array)  # noqa: SLF001
        return self

    def zero_on(self, stream: Stream | stream_type) -> None:
        """Zero every element in the order of a stream; gaps keep their bytes."""
        queue = _queue_of(stream)
        desc, itemsize, start = self.desc, self.desc.row.itemsize, self.get_data_handle()
        places, run = [0], desc.get_size()
        if desc.storage_elements != prod(desc.dims):
            at = np.zeros((), np.int64)
            for size, step in zip(desc.dims, desc.strides, strict=True):
                at = np.add.outer(at, np.arange(size) * step * itemsize)
            places, run = np.unique(at).tolist(), itemsize
        for place in places:
            fill_async(start + place, run, 0, run, queue.handle)

    def _tensor(self, function: str) -> Tensor:
        handle, found = self._data
        if found is None or (isinstance(handle, Buffer) and handle.closed):
            _refuse_handle(function, handle, self.desc)
        return found

    def __repr__(self) -> str:
        return f"<memory {self.desc!r}>"


def _checked(
    function: str, handle: object, desc: memory_desc, engine: engine_type
) -> Buffer | int | None:
    """A handle behind which there is memory of the engine's device; None for null."""
    if handle is None:
        return None
    if isinstance(handle, Buffer) and handle.closed:
        _refuse_handle(function, handle, desc)
    address = whole_number(handle)
    if address is None or not 0 <= address < 2**64:
        _refuse_handle(function, handle, desc)
    left = room(engine.device, address)
    if address and not desc.is_empty and left < desc.get_size():
        shown = describe(handle) if isinstance(handle, Buffer) else hex(address)
        refuse(
            status.invalid_arguments,
            function,
            "handle",
            "is no memory of the engine's device, or too small",
            got=f"{shown}: {left} bytes of the device's memory from there on",
            expected=f"at least {desc.get_size()} bytes of the memory of {engine!r}, from "
            "aclrtMalloc() or engine.device.malloc(); host memory is not taken",
            fix="make it without a handle, so that memory is allocated, and call write(values)",
        )
    return handle if isinstance(handle, Buffer) else address or None


def _queue_of(stream: object) -> Stream:
    if isinstance(stream, stream_type):
        return stream.runtime_stream
    if not isinstance(stream, Stream):
        refuse(
            status.invalid_arguments,
            "memory.zero_on",
            "stream",
            "is no stream",
            got=describe(stream),
            expected="a stream of this dialect, or a Stream",
            fix="make one with stream(engine)",
        )
    return stream


def _numpy_type(desc: memory_desc) -> Any:
    """Of a descriptor's elements; the zero descriptor has none, and so no type."""
    return desc.row.numpy if desc.dims else np.uint8


def _elements(values: ArrayLike, desc: memory_desc) -> np.ndarray[Any, Any]:
    """Values in the descriptor's type; ValueError for what an integer type does not have."""
    given, wanted = np.asarray(values), np.dtype(_numpy_type(desc))
    if given.dtype.kind in "cmMOSTU" or given.dtype.type is np.void:  # records, but not bfloat16
        raise ValueError(f"{given.dtype}, which are no real numbers")
    with np.errstate(invalid="ignore", over="ignore"):
        array = given.astype(wanted)
    if wanted.kind in "iu" and given.dtype != wanted and not np.array_equal(array, given):
        raise ValueError(f"numbers that {desc.data_type.name} does not have")
    return array


def _scalar(value: float, desc: memory_desc) -> np.generic:
    """One value in the descriptor's type; OverflowError where a finite one becomes infinite."""
    found = _elements(value, desc).reshape(())[()]
    if np.isinf(np.float64(found)) and not np.isinf(np.float64(value)):
        raise OverflowError(f"{value}, which {desc.data_type.name} does not have")
    return cast("np.generic", found)


def _check_desc(function: str, desc: object) -> None:
    if not isinstance(desc, memory_desc):
        _refuse_desc(function, desc, "is no memory_desc", "a memory_desc")
    if desc.format_kind is format_kind.host_scalar:
        _refuse_desc(
            function,
            desc,
            "describes one value on the host",
            "a tensor of the engine",
            "pass it to memory.host_scalar(desc, value)",
        )
    if desc.has_runtime_dims:
        _refuse_desc(function, desc, "has runtime dimensions", "all dimensions and strides known")
    if desc.format_kind not in (format_kind.blocked, format_kind.undef):
        _refuse_desc(
            function, desc, "has no layout", "a plain tag or strides; query the primitive's desc"
        )


def _refuse_desc(
    function: str,
    desc: object,
    what: str,
    expected: str,
    fix: str = "give the descriptor a layout, for example memory_desc(dims, data_type, 'ab')",
) -> NoReturn:
    refuse(
        status.invalid_arguments,
        function,
        "desc",
        what,
        got=repr(desc) if isinstance(desc, memory_desc) else describe(desc),
        expected=expected,
        fix=fix,
    )


def _refuse_scalar(function: str, argument: str, given: object) -> NoReturn:
    refuse(
        status.invalid_arguments,
        function,
        argument,
        "is given to a host scalar",
        got=describe(given),
        expected="memory of an engine; a host scalar is its value",
        fix="make another one with memory.host_scalar(desc, value)",
    )


def _refuse_handle(function: str, handle: object, desc: memory_desc) -> NoReturn:
    refuse(
        status.invalid_arguments,
        function,
        "handle",
        "is no memory for this descriptor",
        got=describe(handle),
        expected=f"at least {desc.get_size()} bytes of device memory, as a Buffer or an address",
        fix="let it be allocated (the default), or pass engine.device.malloc(desc.get_size())",
    )
