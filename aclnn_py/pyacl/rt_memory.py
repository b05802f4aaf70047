# SPDX-License-Identifier: Apache-2.0
"""``acl.rt``: memory, copies and fills."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from aclnn_native import ffi, lib
from aclnn_py.pyacl.calls import INT32, UINT64, answer, integer, order

__all__ = [
    "free",
    "free_host",
    "free_host_with_dev_sync",
    "free_with_dev_sync",
    "get_mem_info",
    "malloc",
    "malloc_align32",
    "malloc_cached",
    "malloc_host",
    "malloc_with_cfg",
    "mem_flush",
    "mem_invalidate",
    "memcpy",
    "memcpy2d",
    "memcpy2d_async",
    "memcpy_async",
    "memset",
    "memset_async",
]

_POINTER = {"ptr": "uintptr_t"}
_COPY = {"dst": UINT64, "destMax": UINT64, "src": UINT64, "count": UINT64, "kind": INT32}
_SET = {"devPtr": UINT64, "maxCount": UINT64, "value": INT32, "count": UINT64}
_COPY_2D = {
    "dst": UINT64,
    "dpitch": UINT64,
    "src": UINT64,
    "spitch": UINT64,
    "width": UINT64,
    "height": UINT64,
    "kind": INT32,
}

malloc = answer(
    "acl.rt.malloc",
    "aclrtMalloc",
    partial(lib.aclpy_malloc, 0),
    _POINTER,
    size=UINT64,
    policy=INT32,
)
malloc_align32 = answer(
    "acl.rt.malloc_align32",
    "aclrtMallocAlign32",
    lambda size, policy, out: lib.aclpy_malloc_form(
        0, lib.ACLPY_MALLOC_ALIGN32, size, policy, ffi.NULL, 0, out
    ),
    _POINTER,
    size=UINT64,
    policy=INT32,
)
malloc_cached = answer(
    "acl.rt.malloc_cached",
    "aclrtMallocCached",
    lambda size, policy, out: lib.aclpy_malloc_form(
        0, lib.ACLPY_MALLOC_CACHED, size, policy, ffi.NULL, 0, out
    ),
    _POINTER,
    size=UINT64,
    policy=INT32,
)
malloc_host = answer(
    "acl.rt.malloc_host",
    "aclrtMallocHost",
    partial(lib.aclpy_malloc_host, 0),
    _POINTER,
    size=UINT64,
)
free = order("acl.rt.free", "aclrtFree", lib.aclpy_free, devPtr=UINT64)
free_host = order("acl.rt.free_host", "aclrtFreeHost", lib.aclpy_free_host, hostPtr=UINT64)
free_with_dev_sync = order(
    "acl.rt.free_with_dev_sync",
    "aclrtFreeWithDevSync",
    lambda pointer: lib.aclpy_free_synchronized(0, pointer, 0),
    devPtr=UINT64,
)
free_host_with_dev_sync = order(
    "acl.rt.free_host_with_dev_sync",
    "aclrtFreeHostWithDevSync",
    lambda pointer: lib.aclpy_free_synchronized(0, pointer, 1),
    hostPtr=UINT64,
)
get_mem_info = answer(
    "acl.rt.get_mem_info",
    "aclrtGetMemInfo",
    partial(lib.aclpy_memory_figures, 0),
    {"free": "uint64_t", "total": "uint64_t"},
    attr=INT32,
)
mem_flush = order(
    "acl.rt.mem_flush",
    "aclrtMemFlush",
    lambda pointer, size: lib.aclpy_memory_maintain(pointer, size, 0),
    devPtr=UINT64,
    size=UINT64,
)
mem_invalidate = order(
    "acl.rt.mem_invalidate",
    "aclrtMemInvalidate",
    lambda pointer, size: lib.aclpy_memory_maintain(pointer, size, 1),
    devPtr=UINT64,
    size=UINT64,
)

memcpy = order("acl.rt.memcpy", "aclrtMemcpy", partial(lib.aclpy_memcpy, 0), **_COPY)
memcpy_async = order(
    "acl.rt.memcpy_async",
    "aclrtMemcpyAsync",
    partial(lib.aclpy_memcpy_async, 0),
    **_COPY,
    stream=UINT64,
)
memcpy2d = order("acl.rt.memcpy2d", "aclrtMemcpy2d", partial(lib.aclpy_memcpy_2d, 0), **_COPY_2D)
memcpy2d_async = order(
    "acl.rt.memcpy2d_async",
    "aclrtMemcpy2dAsync",
    partial(lib.aclpy_memcpy_2d_async, 0),
    **_COPY_2D,
    stream=UINT64,
)
memset = order("acl.rt.memset", "aclrtMemset", partial(lib.aclpy_memset, 0), **_SET)
memset_async = order(
    "acl.rt.memset_async",
    "aclrtMemsetAsync",
    partial(lib.aclpy_memset_async, 0),
    **_SET,
    stream=UINT64,
)


def malloc_with_cfg(size: int, policy: int, cfg: Mapping[int, int], /) -> tuple[int, int]:
    """``aclrtMallocWithCfg``: (ptr, ret).

    Parameters
    ----------
    size : int
        At least 1 [bytes].
    policy : int
        Kind of pages; the CPU device treats all alike.
    cfg : mapping
        Values by attribute: 1 module, 2 device, 3 address flag; an empty one is no configuration.
    """
    call = "acl.rt.malloc_with_cfg"
    if not isinstance(cfg, Mapping):
        raise TypeError(f"{call}(): 'cfg' must be a dict, not {type(cfg).__name__}")
    rows = [
        (integer(call, "attr", kind, INT32), integer(call, "value", value, UINT64))
        for kind, value in cfg.items()
    ]
    attributes = ffi.new("aclpy_malloc_attribute[]", rows)
    pointer = ffi.new("uintptr_t *")
    status = lib.aclpy_malloc_form(
        0,
        lib.ACLPY_MALLOC_WITH_CFG,
        integer(call, "size", size, UINT64),
        integer(call, "policy", policy, INT32),
        attributes,
        len(rows),
        pointer,
    )
    return int(pointer[0]), int(status)
