# SPDX-License-Identifier: Apache-2.0
"""Timeouts and failures: what a program sees when work hangs, fails or is called wrongly.

Wrong calls fail at once. What goes wrong on a stream shows at the next wait for it: as a timeout
while it hangs, as the task's own status once it has failed. The stream stays usable.
"""

import threading

import numpy as np
from _check import expect, expect_close
from _softmax import Softmax, softmax_of

import aclnn_py as acl

SHAPE = (4, 10)
values = np.random.default_rng(8).normal(size=SHAPE).astype(np.float32)
nbytes = values.nbytes


def status_of(call, *arguments: object) -> int:
    """The status of a call, as C would return it."""
    try:
        call(*arguments)
    except acl.AclError as error:
        return error.status
    return 0


acl.aclInit()
expect(status_of(acl.aclInit) == 100002, "a second aclInit says so, and programs go on")
expect(status_of(acl.aclrtCreateStream) == 107002, "without a device there is no context")
acl.aclrtSetDevice(0)
stream = acl.aclrtCreateStream()
softmax = Softmax()
x, out = (acl.aclrtMalloc(nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST) for _ in range(2))
acl.aclrtMemcpy(x, nbytes, values, nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE)
done = acl.aclrtCreateEvent()

# Work that hangs: the waits give up after 20 ms, and the work is still queued.
gate = threading.Event()
acl.aclrtLaunchHostFunc(stream, lambda _: gate.wait(), None)
acl.aclrtRecordEvent(done, stream)
expect(
    status_of(acl.aclrtSynchronizeStreamWithTimeout, stream, 20) == 507046
    and status_of(acl.aclrtSynchronizeEventWithTimeout, done, 20) == 507047
    and status_of(acl.aclrtSynchronizeDeviceWithTimeout, 20) == 507046,
    "waiting for a stream, an event and a device ends when the time is over",
)
expect(
    acl.aclrtStreamQuery(stream) == acl.ACL_STREAM_STATUS_NOT_READY,
    "asking does not wait, and says that there is work left",
)
gate.set()
acl.aclrtSynchronizeStream(stream)


# Work that fails: the tasks behind it still run, and the next wait raises what went wrong.
def broken(_: object) -> None:
    raise ValueError("no such record")


acl.aclrtLaunchHostFunc(stream, broken, None)
softmax(stream, x, out, SHAPE)
try:
    acl.aclrtSynchronizeStream(stream)
    failure = None
except acl.AclError as error:
    failure = error
expect(
    failure is not None and failure.status == 507000 and isinstance(failure.__cause__, ValueError),
    "the wait raises the status of the failed task, with the exception as its cause",
)
expect(acl.aclrtGetLastError(0) == 507000, "the thread remembers its last error, once")
expect(acl.aclrtGetLastError(0) == 0, "and then no more")
acl.aclrtSynchronizeStream(stream)  # reported once: the stream is well again

# Wrong calls: nothing is queued, nothing is lost, and the text says what to do.
acl.aclGetRecentErrMsg()
expect(status_of(acl.aclrtMemcpy, out, 8, x, nbytes, 3) == 107000, "a copy that does not fit fails")
expect("destMax" in (acl.aclGetRecentErrMsg() or ""), "the message names the argument")

result = np.empty(SHAPE, np.float32)
acl.aclrtMemcpy(result, nbytes, out, nbytes, acl.ACL_MEMCPY_DEVICE_TO_HOST)
expect_close("the work behind the failure", result, softmax_of(values), 1.2e-6)

softmax.destroy()
acl.aclrtDestroyEvent(done)
acl.aclrtFree(x)
acl.aclrtFree(out)
expect(status_of(acl.aclrtFree, out) == 107000, "nothing is freed twice")
acl.aclrtDestroyStream(stream)
acl.aclrtResetDevice(0)
acl.aclFinalize()
