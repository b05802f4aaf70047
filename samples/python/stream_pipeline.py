# SPDX-License-Identifier: Apache-2.0
"""A pipeline of three streams: copy in, compute, copy out, each a step ahead of the next.

Six batches go through two sets of buffers. An event after each stage lets the next stage begin, and
another tells the first stage when a set of buffers is free again; the host waits only once.
"""

import numpy as np
from _check import expect_close
from _softmax import Softmax, softmax_of

import aclnn_py as acl

BATCHES, SETS, SHAPE = 6, 2, (32, 100)
rng = np.random.default_rng(5)
batches = [rng.normal(size=SHAPE).astype(np.float32) for _ in range(BATCHES)]
nbytes = batches[0].nbytes

acl.aclInit()
acl.aclrtSetDevice(0)
copy_in, compute, copy_out = (acl.aclrtCreateStream() for _ in range(3))
softmax = Softmax()

# Pinned host memory, without which an asynchronous copy would wait for its stream.
sources = [acl.aclrtMallocHost(nbytes) for _ in range(BATCHES)]
results = [acl.aclrtMallocHost(nbytes) for _ in range(BATCHES)]
for source, values in zip(sources, batches, strict=True):
    np.asarray(source).view(np.float32)[:] = values.ravel()
inputs = [acl.aclrtMalloc(nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST) for _ in range(SETS)]
outputs = [acl.aclrtMalloc(nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST) for _ in range(SETS)]
events = []


def after(stream: acl.Stream) -> acl.Event:
    """An event behind everything queued so far."""
    event = acl.aclrtCreateEventExWithFlag(acl.ACL_EVENT_SYNC)
    events.append(event)
    acl.aclrtRecordEvent(event, stream)
    return event


input_free: list[acl.Event | None] = [None] * SETS  # the set's input has been read
output_free: list[acl.Event | None] = [None] * SETS  # the set's output has been copied out
for batch in range(BATCHES):
    turn = batch % SETS
    if input_free[turn]:
        acl.aclrtStreamWaitEvent(copy_in, input_free[turn])
    acl.aclrtMemcpyAsync(
        inputs[turn], nbytes, sources[batch], nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE, copy_in
    )
    acl.aclrtStreamWaitEvent(compute, after(copy_in))
    if output_free[turn]:
        acl.aclrtStreamWaitEvent(compute, output_free[turn])
    softmax(compute, inputs[turn], outputs[turn], SHAPE)
    computed = after(compute)
    input_free[turn] = computed
    acl.aclrtStreamWaitEvent(copy_out, computed)
    acl.aclrtMemcpyAsync(
        results[batch], nbytes, outputs[turn], nbytes, acl.ACL_MEMCPY_DEVICE_TO_HOST, copy_out
    )
    output_free[turn] = after(copy_out)

acl.aclrtSynchronizeDevice()
for batch, (result, values) in enumerate(zip(results, batches, strict=True)):
    got = np.asarray(result).view(np.float32).reshape(SHAPE)
    expect_close(f"batch {batch}", got, softmax_of(values), 1.2e-6)

softmax.destroy()
for event in events:
    acl.aclrtDestroyEvent(event)
for buffer in inputs + outputs:
    acl.aclrtFree(buffer)
for buffer in sources + results:
    acl.aclrtFreeHost(buffer)
for stream in (copy_in, compute, copy_out):
    acl.aclrtDestroyStream(stream)
acl.aclrtResetDevice(0)
acl.aclFinalize()
