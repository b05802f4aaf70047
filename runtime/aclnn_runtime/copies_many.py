# SPDX-License-Identifier: Apache-2.0
"""Copies of rectangles and of many ranges, and fills with 32-bit patterns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from aclnn_native import ffi, lib
from aclnn_runtime.arguments import as_int32, as_size, as_uint32, describe
from aclnn_runtime.errors import fail
from aclnn_runtime.host_memory import check_room, memory_address
from aclnn_runtime.outputs import check

__all__ = ["BatchAttribute", "batch", "fill_d32", "rectangle"]


class BatchAttribute(NamedTuple):
    """Where the ends of a batch's copies are.

    Attributes
    ----------
    dstType, srcType : int
        0 host, 1 device (``aclrtMemLocationType``).
    dstId, srcId : int
        Number of the device; 0 for the host.
    """

    dstType: int  # noqa: N815  # the C API's spelling
    srcType: int  # noqa: N815  # the same
    dstId: int = 0  # noqa: N815  # the same
    srcId: int = 0  # noqa: N815  # the same


def rectangle(
    function: str,
    dst: object,
    dpitch: object,
    src: object,
    spitch: object,
    width: object,
    height: object,
    kind: object,
    *,
    stream: int | None = None,
) -> None:
    """Copy `height` rows of `width` bytes, now or in the order of the stream with this handle."""
    pitches = as_size(function, "dpitch", dpitch), as_size(function, "spitch", spitch)
    extent = as_size(function, "width", width), as_size(function, "height", height)
    number = as_int32(function, "kind", kind)
    if not all(extent):  # success before any other check
        return
    to, to_nbytes, to_held = memory_address(function, "dst", dst, writable=True)
    from_, from_nbytes, from_held = memory_address(function, "src", src, writable=False)
    if to and from_ and extent[0] <= min(pitches):
        check_room(function, "dst", to_nbytes, (extent[1] - 1) * pitches[0] + extent[0])
        check_room(function, "src", from_nbytes, (extent[1] - 1) * pitches[1] + extent[0])
    arguments = (0, to, pitches[0], from_, pitches[1], *extent, number)
    if stream is None:
        status = lib.aclpy_memcpy_2d(*arguments)
    else:
        status = lib.aclpy_memcpy_2d_async(*arguments, stream)
    del to_held, from_held  # until here: pageable memory has been copied when the call returns
    check(status)


def fill_d32(
    function: str,
    pointer: object,
    size: object,
    value: object,
    count: object,
    *,
    stream: int | None = None,
) -> None:
    """Set 32-bit values, now or in the order of the stream with this handle."""
    room, number = as_size(function, "memSize", size), as_size(function, "N", count)
    pattern = as_uint32(function, "value", value)
    address, _, _held = memory_address(function, "ptr", pointer if number else None, writable=True)
    arguments = (0, address, room, pattern, number)
    if stream is None:
        check(lib.aclpy_memset_d32(*arguments))
    else:
        check(lib.aclpy_memset_d32_async(*arguments, stream))


def batch(
    function: str,
    dsts: object,
    dest_maxs: object,
    srcs: object,
    sizes: object,
    attributes: object,
    indexes: object,
    *,
    stream: int | None = None,
) -> None:
    """Many copies in one direction, in no order among themselves."""
    columns = [
        _sequence(function, name, column)
        for name, column in (
            ("dsts", dsts),
            ("destMaxs", dest_maxs),
            ("srcs", srcs),
            ("sizes", sizes),
        )
    ]
    number = len(columns[0])
    if any(len(column) != number for column in columns):
        fail(
            function,
            "sizes",
            what="has another length than dsts, destMaxs or srcs",
            got=", ".join(str(len(column)) for column in columns) + " entries",
            expected="the same number of each",
            fix="pass one entry a copy in each of the four",
        )
    held: list[object] = []
    copies = ffi.new(
        "aclpy_copy[]", [_copy(function, row, held) for row in zip(*columns, strict=True)]
    )
    places = ffi.new(
        "aclpy_copy_place[]",
        [_place(function, row) for row in _sequence(function, "attrs", attributes)],
    )
    firsts = ffi.new(
        "size_t[]",
        [
            as_size(function, "attrsIndexes", index)
            for index in _sequence(function, "attrsIndexes", indexes)
        ],
    )
    if len(firsts) != len(places):
        fail(
            function,
            "attrsIndexes",
            what="has another length than attrs",
            got=f"{len(firsts)} indexes for {len(places)} attributes",
            expected="one index an attribute",
            fix="say for each attribute with which copy it begins",
        )
    blamed = ffi.new("size_t *")
    arguments = (0, copies, number, places, firsts, len(places), blamed)
    if stream is None:
        status = lib.aclpy_memcpy_batch(*arguments)
    else:
        status = lib.aclpy_memcpy_batch_async(*arguments, stream)
    held.clear()
    check(status)


def _sequence(function: str, argument: str, value: object) -> Sequence[object]:
    if not isinstance(value, Sequence) or isinstance(value, str | bytes | bytearray):
        fail(
            function,
            argument,
            what="has the wrong type",
            got=describe(value),
            expected="a list or tuple",
            fix=f"pass {argument} as a list with one entry a copy",
        )
    return value


def _copy(function: str, row: tuple[object, ...], held: list[object]) -> tuple[int, int, int, int]:
    dst, dest_max, src, size = row
    room, count = as_size(function, "destMax", dest_max), as_size(function, "sizes", size)
    if not count:
        return 0, room, 0, 0
    to, to_nbytes, to_held = memory_address(function, "dsts", dst, writable=True)
    from_, from_nbytes, from_held = memory_address(function, "srcs", src, writable=False)
    if to and from_ and count <= room:
        check_room(function, "dsts", to_nbytes, count)
        check_room(function, "srcs", from_nbytes, count)
    held += (to_held, from_held)
    return to, room, from_, count


def _place(function: str, row: object) -> tuple[int, int, int, int]:
    if not isinstance(row, BatchAttribute):
        fail(
            function,
            "attrs",
            what="has the wrong type",
            got=describe(row),
            expected="a BatchAttribute",
            fix="pass, e.g., BatchAttribute(dstType=1, srcType=0)",
        )
    dst_type, src_type, dst_id, src_id = (as_int32(function, "attrs", value) for value in row)
    return dst_type, dst_id, src_type, src_id
