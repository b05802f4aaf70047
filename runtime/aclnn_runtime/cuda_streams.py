# SPDX-License-Identifier: Apache-2.0
"""Streams shared with other users of CUDA, by the CUDA stream protocol."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING

from aclnn_native import ffi, lib
from aclnn_runtime.arguments import describe
from aclnn_runtime.cuda_queues import attach, queue_of
from aclnn_runtime.errors import fail
from aclnn_runtime.outputs import check
from aclnn_runtime.status_table import status_value

if TYPE_CHECKING:
    from aclnn_runtime.device import Device
    from aclnn_runtime.stream import Stream

__all__ = ["adopt", "pointer_of"]

_UNSUPPORTED = status_value("ACL_ERROR_RT_FEATURE_NOT_SUPPORT")


def pointer_of(stream: Stream) -> int:
    """The ``cudaStream_t`` behind a stream, which counts as shared from now on."""
    device, number = _expose(stream)
    return queue_of(device, number).ptr


def adopt(external: object, device: Device) -> Stream:
    """A stream over a CUDA stream of somebody else; see `Stream.from_external`."""
    if getattr(device, "kind", "") != "cuda":
        fail(
            "Stream.from_external",
            "device",
            what="is no CUDA device",
            got=describe(device),
            expected="the device of the external stream",
            fix='pass Device("cuda:0")',
            status=_UNSUPPORTED,
        )
    pointer = _external_pointer(external)
    stream = device.create_stream()
    queue, number = _expose(stream)
    attach(queue, number, pointer, external)
    return stream


def _expose(stream: Stream) -> tuple[int, int]:
    device, number = ffi.new("int32_t *"), ffi.new("uint64_t *")
    check(lib.aclpy_stream_expose(stream.handle, device, number))
    return int(device[0]), int(number[0])


def _external_pointer(external: object) -> int:
    protocol = getattr(external, "__cuda_stream__", None)
    found: object = None
    if callable(protocol):
        answer = protocol()
        if isinstance(answer, tuple) and len(answer) == 2:  # version 0 of the protocol
            found = answer[1]
    else:
        found = getattr(external, "ptr", getattr(external, "cuda_stream", None))
    try:
        return index(found)  # type: ignore[arg-type]
    except TypeError:
        fail(
            "Stream.from_external",
            "stream",
            what="is no CUDA stream",
            got=describe(external),
            expected="an object with __cuda_stream__, ptr or cuda_stream",
            fix="pass the stream object of the other library",
        )
