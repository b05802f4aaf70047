# SPDX-License-Identifier: Apache-2.0
"""Priorities: an urgent stream beside a patient one.

A priority is a hint for the scheduler and never an order: work of the urgent stream may run first,
an event makes sure. 0 is the highest, and more than the lowest counts as the lowest.
"""

import numpy as np
from _check import expect, expect_close
from _softmax import Softmax, softmax_of

import aclnn_py as acl

SHAPE = (16, 64)
values = np.random.default_rng(10).normal(size=SHAPE).astype(np.float32)
nbytes = values.nbytes

acl.aclInit()
acl.aclrtSetDevice(0)
least, greatest = acl.aclrtDeviceGetStreamPriorityRange()
expect((least, greatest) == (7, 0), "priorities go from 7, the lowest, to 0, the highest")
urgent = acl.aclrtCreateStreamWithConfig(greatest, acl.ACL_STREAM_FAST_LAUNCH)
patient = acl.aclrtCreateStreamWithConfig(least + 5, 0)
expect(
    (acl.aclrtStreamGetPriority(urgent), acl.aclrtStreamGetPriority(patient)) == (greatest, least),
    "a stream tells its priority, and what is out of range has been clamped",
)

softmax = Softmax()
x, first, second = (acl.aclrtMalloc(nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST) for _ in range(3))
acl.aclrtMemcpy(x, nbytes, values, nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE)
ready = acl.aclrtCreateEventExWithFlag(acl.ACL_EVENT_SYNC)

softmax(patient, x, first, SHAPE)
acl.aclrtRecordEvent(ready, patient)
acl.aclrtStreamWaitEvent(urgent, ready)  # urgent or not: its input comes from the other stream
softmax(urgent, first, second, SHAPE)
acl.aclrtSynchronizeStream(urgent)

result = np.empty(SHAPE, np.float32)
acl.aclrtMemcpy(result, nbytes, second, nbytes, acl.ACL_MEMCPY_DEVICE_TO_HOST)
expect_close("urgent after patient", result, softmax_of(softmax_of(values)), 2.4e-6)

softmax.destroy()
acl.aclrtDestroyEvent(ready)
for buffer in (x, first, second):
    acl.aclrtFree(buffer)
for stream in (urgent, patient):
    acl.aclrtDestroyStream(stream)
acl.aclrtResetDevice(0)
acl.aclFinalize()
