# SPDX-License-Identifier: Apache-2.0
"""Two devices: each computes one half, and the halves meet on the first device.

The number of emulated devices is fixed when the process starts, so it is set before the import.
Copies between devices need peer access; an event orders them across the devices.
"""

import os

os.environ.setdefault("ACLNN_PY_DEVICES", "2")

import numpy as np
from _check import expect, expect_close
from _softmax import Softmax, softmax_of

import aclnn_py as acl

SHAPE = (16, 40)
rng = np.random.default_rng(9)
halves = [rng.normal(size=SHAPE).astype(np.float32) for _ in range(2)]
nbytes = halves[0].nbytes

acl.aclInit()
expect(acl.aclrtGetDeviceCount() == 2, "there are two devices")
softmax = Softmax()
contexts, streams, inputs, outputs, done = [], [], [], [], []
for number, values in enumerate(halves):
    contexts.append(acl.aclrtCreateContext(number))  # current from here on
    streams.append(acl.aclrtCreateStream())
    inputs.append(acl.aclrtMalloc(nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST))
    outputs.append(acl.aclrtMalloc(nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST))
    acl.aclrtMemcpy(inputs[-1], nbytes, values, nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE)
    softmax(streams[-1], inputs[-1], outputs[-1], SHAPE)
    done.append(acl.aclrtCreateEvent())
    acl.aclrtRecordEvent(done[-1], streams[-1])

acl.aclrtSetCurrentContext(contexts[0])
together = acl.aclrtMalloc(2 * nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST)
try:
    acl.aclrtMemcpy(together, nbytes, outputs[1], nbytes, acl.ACL_MEMCPY_DEVICE_TO_DEVICE)
    refused = 0
except acl.AclError as error:
    refused = error.status
expect(refused == 107000, "without peer access a device does not reach another one's memory")
acl.aclrtDeviceEnablePeerAccess(1, 0)
acl.aclrtStreamWaitEvent(streams[0], done[1])  # an event of the other device
for half in range(2):
    there = together + half * nbytes
    acl.aclrtMemcpyAsync(
        there, nbytes, outputs[half], nbytes, acl.ACL_MEMCPY_DEVICE_TO_DEVICE, streams[0]
    )
acl.aclrtSynchronizeStream(streams[0])
result = np.empty((2, *SHAPE), np.float32)
acl.aclrtMemcpy(result, 2 * nbytes, together, 2 * nbytes, acl.ACL_MEMCPY_DEVICE_TO_HOST)
for number, values in enumerate(halves):
    expect_close(f"half of device {number}", result[number], softmax_of(values), 1.2e-6)

softmax.destroy()
for buffer in (*inputs, *outputs, together):
    acl.aclrtFree(buffer)
for number, context in enumerate(contexts):
    acl.aclrtSetCurrentContext(context)
    acl.aclrtDestroyEvent(done[number])
    acl.aclrtDestroyStream(streams[number])
    acl.aclrtDestroyContext(context)
acl.aclFinalize()
