# SPDX-License-Identifier: Apache-2.0
"""Callbacks: a thread of the program hears of each result while the stream goes on.

The thread subscribes to the stream and processes reports. A blocking callback holds its stream
until it has returned, so that it may look at memory which the next task overwrites.
"""

import threading

import numpy as np
from _check import expect, expect_close
from _softmax import Softmax, softmax_of

import aclnn_py as acl

SHAPE = (4, 10)
rng = np.random.default_rng(6)
rounds = [rng.normal(size=SHAPE).astype(np.float32) for _ in range(4)]
nbytes = rounds[0].nbytes

acl.aclInit()
acl.aclrtSetDevice(0)
stream = acl.aclrtCreateStream()
softmax = Softmax()
x = acl.aclrtMalloc(nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST)
out = acl.aclrtMalloc(nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST)
source, result = acl.aclrtMallocHost(nbytes), acl.aclrtMallocHost(nbytes)
staged = np.asarray(source).view(np.float32).reshape(SHAPE)
seen: list[np.ndarray] = []
threads: set[int] = set()
subscribed = threading.Event()


def serve() -> None:
    """The subscribed thread: runs callbacks until it serves no stream any more."""
    subscribed.wait()
    try:
        while True:
            acl.aclrtProcessReport(-1)
    except acl.AclError as error:
        if error.status != 107012:  # the subscription has ended
            raise


def keep(index: int) -> None:
    """A callback: it must not call the runtime, but it may read pinned memory."""
    threads.add(threading.get_ident())
    seen.append(np.asarray(result).view(np.float32).reshape(SHAPE).copy())
    if index + 1 < len(rounds):
        staged[:] = rounds[index + 1]  # what the stream copies in next


server = threading.Thread(target=serve)
server.start()
acl.aclrtSubscribeReport(server.ident, stream)
subscribed.set()

staged[:] = rounds[0]
for index in range(len(rounds)):
    acl.aclrtMemcpyAsync(x, nbytes, source, nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE, stream)
    softmax(stream, x, out, SHAPE)
    acl.aclrtMemcpyAsync(result, nbytes, out, nbytes, acl.ACL_MEMCPY_DEVICE_TO_HOST, stream)
    acl.aclrtLaunchCallback(keep, index, acl.ACL_CALLBACK_BLOCK, stream)
acl.aclrtSynchronizeStream(stream)
acl.aclrtUnSubscribeReport(server.ident, stream)
server.join()

expect(threads == {server.ident}, "every callback ran on the thread that had subscribed")
for index, (got, values) in enumerate(zip(seen, rounds, strict=True)):
    expect_close(f"round {index}", got, softmax_of(values), 1.2e-6)

softmax.destroy()
for buffer in (x, out):
    acl.aclrtFree(buffer)
for buffer in (source, result):
    acl.aclrtFreeHost(buffer)
acl.aclrtDestroyStream(stream)
acl.aclrtResetDevice(0)
acl.aclFinalize()
