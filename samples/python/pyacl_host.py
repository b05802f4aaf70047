# SPDX-License-Identifier: Apache-2.0
"""A pyACL host program: its own calls for device, memory, stream and events, operators beside them.

On an NPU the first import reads ``import acl``. pyACL returns values first and the status last, and
handles and pointers are plain integers; it has no aclnn operators, which come from aclnn_py.
"""

import numpy as np
from _check import expect, expect_close
from _softmax import softmax_of

import aclnn_py
import aclnn_py.pyacl as acl

ACL_MEM_MALLOC_HUGE_FIRST = 0
ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST = 1, 2
ACL_EVENT_SYNC, ACL_EVENT_TIME_LINE = 1, 8


def check(name: str, ret: int) -> None:
    """As pyACL programs do: a status other than 0 ends the program."""
    if ret != 0:
        raise SystemExit(f"WRONG: {name} answered {ret}\n{acl.get_recent_err_msg()}")


values = np.random.default_rng(12).normal(size=(8, 32)).astype(np.float32)
nbytes = values.nbytes

check("acl.init", acl.init())
check("acl.rt.set_device", acl.rt.set_device(0))
stream, ret = acl.rt.create_stream()
check("acl.rt.create_stream", ret)
events = []
for _ in range(2):
    event, ret = acl.rt.create_event_ex_with_flag(ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE)
    check("acl.rt.create_event_ex_with_flag", ret)
    events.append(event)
x_device, ret = acl.rt.malloc(nbytes, ACL_MEM_MALLOC_HUGE_FIRST)
check("acl.rt.malloc", ret)
out_device, ret = acl.rt.malloc(nbytes, ACL_MEM_MALLOC_HUGE_FIRST)
check("acl.rt.malloc", ret)
check("acl.rt.memset", acl.rt.memset(out_device, nbytes, 0, nbytes))

source = values.tobytes()  # must live until the copy is over
pointer = acl.util.bytes_to_ptr(source)
ret = acl.rt.memcpy(x_device, nbytes, pointer, nbytes, ACL_MEMCPY_HOST_TO_DEVICE)
check("acl.rt.memcpy", ret)

# The operator, through the same integers.
dims, strides = list(values.shape), [values.shape[1], 1]
x, out = (
    aclnn_py.aclCreateTensor(
        dims, aclnn_py.ACL_FLOAT, strides, 0, aclnn_py.ACL_FORMAT_ND, dims, address
    )
    for address in (x_device, out_device)
)
size, executor = aclnn_py.aclnnSoftmaxGetWorkspaceSize(x, 1, out)
workspace = 0
if size > 0:
    workspace, ret = acl.rt.malloc(size, ACL_MEM_MALLOC_HUGE_FIRST)
    check("acl.rt.malloc", ret)
check("acl.rt.record_event", acl.rt.record_event(events[0], stream))
aclnn_py.aclnnSoftmax(workspace or None, size, executor, aclnn_py.Stream.from_handle(stream))
check("acl.rt.record_event", acl.rt.record_event(events[1], stream))
check("acl.rt.synchronize_stream", acl.rt.synchronize_stream(stream))
elapsed, ret = acl.rt.event_elapsed_time(*events)
check("acl.rt.event_elapsed_time", ret)
expect(elapsed >= 0, "the events tell how long the operator took")

room = bytes(bytearray(nbytes))
pointer = acl.util.bytes_to_ptr(room)
ret = acl.rt.memcpy(pointer, nbytes, out_device, nbytes, ACL_MEMCPY_DEVICE_TO_HOST)
check("acl.rt.memcpy", ret)
result = np.frombuffer(acl.util.ptr_to_bytes(pointer, nbytes), np.float32).reshape(values.shape)
expect_close("softmax beside pyACL", result, softmax_of(values), 1.2e-6)

for tensor in (x, out):
    aclnn_py.aclDestroyTensor(tensor)
for address in (x_device, out_device, workspace):
    if address:
        check("acl.rt.free", acl.rt.free(address))
for event in events:
    check("acl.rt.destroy_event", acl.rt.destroy_event(event))
check("acl.rt.destroy_stream", acl.rt.destroy_stream(stream))
check("acl.rt.reset_device", acl.rt.reset_device(0))
check("acl.finalize", acl.finalize())
