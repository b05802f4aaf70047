# SPDX-License-Identifier: Apache-2.0
"""Buffer: a piece of device memory, or of pinned host memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NoReturn, TypedDict

from aclnn_native import ffi, lib
from aclnn_runtime.arguments import as_int32, as_size, describe
from aclnn_runtime.errors import INVALID_HANDLE, PARAM_INVALID, fail, raise_last
from aclnn_runtime.noun import Noun
from aclnn_runtime.outputs import check, number

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import SupportsIndex

__all__ = [
    "Buffer",
    "free",
    "free_host",
    "free_synchronized",
    "malloc",
    "malloc_form",
    "malloc_host",
]


class ArrayInterface(TypedDict):
    """NumPy's description of memory owned by somebody else."""

    shape: tuple[int, ...]
    typestr: str
    data: tuple[int, bool]
    version: int


class Buffer(Noun):
    """A piece of memory that the runtime allocated.

    It counts as its address wherever a C name takes a pointer: ``buffer + 64`` is the address 64
    bytes into it. A buffer of ``Device.malloc`` is freed when it is garbage collected; one of
    ``aclrtMalloc`` or ``aclrtMallocHost`` lives until it is freed, as in C. Pinned host memory can
    be read and written through NumPy, ``numpy.asarray(buffer)`` being its bytes without a copy.

    Attributes
    ----------
    ptr : int
        Address of the first byte, a multiple of 64.
    nbytes : int
        Size as requested [bytes].
    """

    __slots__ = (
        "_address",
        "_frees_itself",
        "_identity",
        "_is_host",
        "_keepalive",
        "_nbytes",
        "_shared",
    )
    _door = "Device.malloc(), aclrtMalloc() or aclrtMallocHost()"
    _address: int
    _nbytes: int
    _is_host: bool
    # Of the allocation. The address alone would not do: it may have been freed by hand and given
    # to somebody else.
    _identity: int
    _frees_itself: bool
    _shared: bool
    _keepalive: object

    @classmethod
    def _adopt(
        cls,
        address: int,
        nbytes: int,
        *,
        is_host: bool = False,
        frees_itself: bool = False,
        keepalive: object = None,
    ) -> Buffer:
        buffer = cls.__new__(cls)
        buffer._open = True
        buffer._address = address
        buffer._nbytes = nbytes
        buffer._is_host = is_host
        buffer._identity = _identity_of(address)
        buffer._frees_itself = frees_itself
        buffer._shared = False
        buffer._keepalive = keepalive
        return buffer

    @property
    def ptr(self) -> int:
        """Address of the first byte."""
        if not self._open:
            self._refuse_closed("Buffer.ptr")
        return self._address

    @property
    def nbytes(self) -> int:
        """Size as requested [bytes]."""
        return self._nbytes

    @property
    def is_host(self) -> bool:
        """Whether this is pinned host memory, which the program may read and write itself."""
        return self._is_host

    def close(self) -> None:
        """Free the memory; a second call does nothing.

        Notes
        -----
        Returns at once. Queued tasks that use the memory still find it: the bytes go when the
        last of them has run.
        """
        if self._open:
            _free_open(self, is_host=self._is_host)

    def __int__(self) -> int:
        return self.ptr

    def __index__(self) -> int:
        return self.ptr

    def __add__(self, nbytes: SupportsIndex) -> int:
        return self.ptr + nbytes.__index__()

    __radd__ = __add__

    def __repr__(self) -> str:
        where = "host" if self._is_host else "device"
        state = "" if self._open else ", closed"
        return f"<Buffer {self._nbytes} bytes of {where} memory at {self._address:#x}{state}>"

    def __del__(self) -> None:
        # Adopted half-way means that there is nothing to free yet.
        if getattr(self, "_shared", False):
            lib.aclpy_memory_release(self._address)
        if getattr(self, "_frees_itself", False) and self._open:
            self._open = False
            lib.aclpy_memory_discard(self._address, self._identity)

    @property
    def __array_interface__(self) -> ArrayInterface:
        """The bytes of pinned host memory for NumPy; device memory has no such attribute."""
        if not self._is_host:
            raise AttributeError("__array_interface__")
        if not self._open:
            self._refuse_closed("numpy.asarray")
        if not self._shared:
            # Arrays made from this hold the Buffer, and the Buffer holds the bytes, freed or not.
            check(lib.aclpy_memory_retain(self._address))
            self._shared = True
        return {
            "shape": (self._nbytes,),
            "typestr": "|u1",
            "data": (self._address, False),
            "version": 3,
        }

    def __array__(self, dtype: object = None, copy: object = None) -> NoReturn:
        fail(
            "numpy.asarray",
            "buffer",
            what="is device memory, which NumPy cannot read",
            got=repr(self),
            expected="host memory",
            fix="copy it to a host array first: aclrtMemcpy(array, array.nbytes, buffer, n, "
            "ACL_MEMCPY_DEVICE_TO_HOST)",
        )

    def _check_allocated(self, function: str, argument: str, status: int = INVALID_HANDLE) -> None:
        # The native library would take freed memory for pageable host memory and write there, or
        # for the allocation that has the address now.
        if _identity_of(self._address) != self._identity:
            fail(
                function,
                argument,
                what="was freed by its address",
                got=repr(self),
                expected="a Buffer that has not been freed",
                fix="free a buffer once, and only after its last use",
                status=status,
            )

    def _refuse_closed(
        self, function: str, argument: str = "buffer", status: int = INVALID_HANDLE
    ) -> NoReturn:
        fail(
            function,
            argument,
            what="is closed",
            got=repr(self),
            expected="a Buffer that has not been freed",
            fix="free a buffer only after its last use",
            status=status,
        )


def malloc(
    context: int,
    size: object,
    policy: object,
    *,
    frees_itself: bool = False,
    keepalive: object = None,
) -> Buffer:
    """Device memory in `context` (0: the thread's current one)."""
    nbytes = as_size("aclrtMalloc", "size", size)
    wanted = as_int32("aclrtMalloc", "policy", policy)
    address = number("uintptr_t", lib.aclpy_malloc, context, nbytes, wanted)
    return Buffer._adopt(address, nbytes, frees_itself=frees_itself, keepalive=keepalive)


def malloc_host(context: int, size: object) -> Buffer:
    """Pinned host memory."""
    nbytes = as_size("aclrtMallocHost", "size", size)
    address = number("uintptr_t", lib.aclpy_malloc_host, context, nbytes)
    return Buffer._adopt(address, nbytes, is_host=True)


# Forms of allocating by C name: the library's number, and whether it is host memory.
_FORMS = {
    "aclrtMallocAlign32": (lib.ACLPY_MALLOC_ALIGN32, False),
    "aclrtMallocCached": (lib.ACLPY_MALLOC_CACHED, False),
    "aclrtMallocWithCfg": (lib.ACLPY_MALLOC_WITH_CFG, False),
    "aclrtMallocForTaskScheduler": (lib.ACLPY_MALLOC_TASK_SCHEDULER, False),
    "aclrtMallocHostWithCfg": (lib.ACLPY_MALLOC_HOST_WITH_CFG, True),
    "aclrtMemAllocManaged": (lib.ACLPY_MALLOC_MANAGED, False),
}


def malloc_form(
    function: str,
    size: object,
    policy: object = 0,
    cfg: object = None,
    *,
    argument: str = "policy",
) -> Buffer:
    """Memory by one of the rarer calls; `cfg` maps attribute types to values."""
    nbytes = as_size(function, "size", size)
    wanted = as_int32(function, argument, policy)
    attributes = _attributes(function, cfg)
    form, is_host = _FORMS[function]
    arguments = (0, form, nbytes, wanted, attributes, len(attributes))
    address = number("uintptr_t", lib.aclpy_malloc_form, *arguments)
    return Buffer._adopt(address, nbytes, is_host=is_host)


def _attributes(function: str, cfg: object) -> Sequence[object]:
    if cfg is None:
        cfg = {}
    if not isinstance(cfg, Mapping):
        fail(
            function,
            "cfg",
            what="has the wrong type",
            got=describe(cfg),
            expected="a mapping from attribute types to values, or None",
            fix="pass, e.g., {2: deviceId}",
        )
    pairs = [
        (as_int32(function, "cfg", kind), as_size(function, "cfg", value))
        for kind, value in cfg.items()
    ]
    rows: Sequence[object] = ffi.new("aclpy_malloc_attribute[]", pairs)
    return rows


def free_synchronized(pointer: object, *, is_host: bool) -> None:
    """Wait for the current context's streams, then free; where waiting fails nothing is freed."""
    function, argument = (
        ("aclrtFreeHostWithDevSync", "hostPtr") if is_host else ("aclrtFreeWithDevSync", "devPtr")
    )
    if isinstance(pointer, Buffer):
        if not pointer._open:
            pointer._refuse_closed(function, argument, PARAM_INVALID)
        pointer._check_allocated(function, argument, PARAM_INVALID)
        address = pointer._address
    else:
        address = 0 if pointer is None else as_size(function, argument, pointer)
    check(lib.aclpy_free_synchronized(0, address, is_host))
    if isinstance(pointer, Buffer):
        pointer._open = False
        pointer._keepalive = None


def free(pointer: object) -> None:
    """Free device memory, given as a Buffer or by its address."""
    _free("aclrtFree", "devPtr", pointer, is_host=False)


def free_host(pointer: object) -> None:
    """Free pinned host memory, given as a Buffer or by its address."""
    _free("aclrtFreeHost", "hostPtr", pointer, is_host=True)


def _free(function: str, argument: str, pointer: object, *, is_host: bool) -> None:
    if isinstance(pointer, Buffer):
        if not pointer._open:
            # The address may belong to somebody else by now, so the library is not asked.
            fail(
                function,
                argument,
                what="has been freed before",
                got=repr(pointer),
                expected="memory that is still allocated",
                fix="free each buffer once",
                status=PARAM_INVALID,
            )
        _free_open(pointer, is_host=is_host)
        return
    address = 0 if pointer is None else as_size(function, argument, pointer)
    check(lib.aclpy_free_host(address) if is_host else lib.aclpy_free(address))


def _identity_of(address: int) -> int:
    info = ffi.new("aclpy_memory_info *")
    lib.aclpy_memory_query(address, info)
    return int(info.identity)


def _free_open(buffer: Buffer, *, is_host: bool) -> None:
    address = buffer._address
    function, argument = ("aclrtFreeHost", "hostPtr") if is_host else ("aclrtFree", "devPtr")
    buffer._check_allocated(function, argument, PARAM_INVALID)
    # Closed before it is freed: from then on the address may be somebody else's.
    buffer._open = False
    status = lib.aclpy_free_host(address) if is_host else lib.aclpy_free(address)
    if status:
        buffer._open = True
        raise_last(status)
    buffer._keepalive = None
