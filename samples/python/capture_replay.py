# SPDX-License-Identifier: Apache-2.0
"""Capture and replay: issue the calls of two streams once, run them for each new input.

While a stream is captured nothing runs. A second stream joins by waiting for an event of the first
and comes back the same way. Later, one call runs all of it, on what the buffers hold by then.
"""

import numpy as np
from _check import expect, expect_close
from _softmax import Softmax, softmax_of

import aclnn_py as acl

SHAPE = (8, 50)
rng = np.random.default_rng(7)
nbytes = int(np.prod(SHAPE)) * 4

acl.aclInit()
acl.aclrtSetDevice(0)
main, side = acl.aclrtCreateStream(), acl.aclrtCreateStream()
softmax = Softmax()
x, once, copy, twice = (acl.aclrtMalloc(nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST) for _ in range(4))
acl.aclrtMemset(copy, nbytes, 0, nbytes)
# Only events of this kind may link streams inside a capture.
forked, joined = (acl.aclrtCreateEventExWithFlag(acl.ACL_EVENT_SYNC) for _ in range(2))


def host(buffer: acl.Buffer) -> np.ndarray:
    """What a buffer holds."""
    values = np.empty(SHAPE, np.float32)
    acl.aclrtMemcpy(values, nbytes, buffer, nbytes, acl.ACL_MEMCPY_DEVICE_TO_HOST)
    return values


acl.aclmdlRICaptureBegin(main, acl.ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL)
softmax(main, x, once, SHAPE)
acl.aclrtRecordEvent(forked, main)
acl.aclrtStreamWaitEvent(side, forked)  # the side stream is captured from here on
acl.aclrtMemcpyAsync(copy, nbytes, once, nbytes, acl.ACL_MEMCPY_DEVICE_TO_DEVICE, side)
acl.aclrtRecordEvent(joined, side)
softmax(main, once, twice, SHAPE)
acl.aclrtStreamWaitEvent(main, joined)  # ... and has come back
graph = acl.aclmdlRICaptureEnd(main)
expect(not host(copy).any(), "nothing has run yet")

for attempt in range(3):
    values = rng.normal(size=SHAPE).astype(np.float32)
    acl.aclrtMemcpy(x, nbytes, values, nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE)
    acl.aclmdlRIExecuteAsync(graph, main)
    acl.aclrtSynchronizeStream(main)
    expect_close(f"replay {attempt}, side stream", host(copy), softmax_of(values), 1.2e-6)
    expect_close(
        f"replay {attempt}, main stream", host(twice), softmax_of(softmax_of(values)), 2.4e-6
    )

acl.aclmdlRIDestroy(graph)
softmax.destroy()
for event in (forked, joined):
    acl.aclrtDestroyEvent(event)
for buffer in (x, once, copy, twice):
    acl.aclrtFree(buffer)
for stream in (main, side):
    acl.aclrtDestroyStream(stream)
acl.aclrtResetDevice(0)
acl.aclFinalize()
