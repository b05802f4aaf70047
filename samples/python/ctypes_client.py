# SPDX-License-Identifier: Apache-2.0
"""The C libraries through ctypes, as frameworks bind them: no import of aclnn_py.

The folder of the libraries comes from ASCEND_HOME_PATH (``export ASCEND_HOME_PATH=$(aclnn-py
toolkit)``); when that is not set, ``aclnn-py toolkit`` is asked.
"""

import ctypes as c
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = (
    os.environ.get("ASCEND_HOME_PATH")
    or subprocess.run(
        [sys.executable, "-m", "aclnn_py", "toolkit"], check=True, capture_output=True, text=True
    ).stdout.strip()
)
SUFFIX = ".dylib" if sys.platform == "darwin" else ".so"
FLOAT, FORMAT_ND, HUGE_FIRST, HOST_TO_DEVICE, DEVICE_TO_HOST = 0, 2, 0, 1, 2


def load(name):
    return c.CDLL(str(Path(ROOT) / "lib64" / f"lib{name}{SUFFIX}"))


acl, nnopbase, opapi = load("ascendcl"), load("nnopbase"), load("opapi")
acl.aclGetRecentErrMsg.restype = c.c_char_p
nnopbase.aclCreateTensor.restype = c.c_void_p
opapi.aclnnSoftmaxGetWorkspaceSize.argtypes = [
    c.c_void_p, c.c_int64, c.c_void_p, c.POINTER(c.c_uint64), c.POINTER(c.c_void_p),
]  # fmt: skip
opapi.aclnnSoftmax.argtypes = [c.c_void_p, c.c_uint64, c.c_void_p, c.c_void_p]


def check(status):
    if status:
        raise SystemExit(f"status {status}: {(acl.aclGetRecentErrMsg() or b'').decode()}")


def upload(array):
    """Device memory with the bytes of `array`, and a tensor over it."""
    memory = c.c_void_p()
    check(acl.aclrtMalloc(c.byref(memory), c.c_size_t(array.nbytes), HUGE_FIRST))
    size = c.c_size_t(array.nbytes)
    check(acl.aclrtMemcpy(memory, size, array.ctypes.data_as(c.c_void_p), size, HOST_TO_DEVICE))
    dims = (c.c_int64 * array.ndim)(*array.shape)
    steps = (c.c_int64 * array.ndim)(*[step // array.itemsize for step in array.strides])
    rank = c.c_uint64(array.ndim)
    tensor = nnopbase.aclCreateTensor(
        dims, rank, FLOAT, steps, c.c_int64(0), FORMAT_ND, dims, rank, memory
    )
    return memory, c.c_void_p(tensor)


check(acl.aclInit(None))
check(acl.aclrtSetDevice(0))
stream = c.c_void_p()
check(acl.aclrtCreateStream(c.byref(stream)))

x = np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 5.0]], dtype=np.float32)
y = np.zeros_like(x)
x_memory, x_tensor = upload(x)
y_memory, y_tensor = upload(y)

size, executor = c.c_uint64(), c.c_void_p()
check(opapi.aclnnSoftmaxGetWorkspaceSize(x_tensor, -1, y_tensor, c.byref(size), c.byref(executor)))
check(opapi.aclnnSoftmax(None, size, executor, stream))
check(acl.aclrtSynchronizeStream(stream))
nbytes = c.c_size_t(y.nbytes)
check(acl.aclrtMemcpy(y.ctypes.data_as(c.c_void_p), nbytes, y_memory, nbytes, DEVICE_TO_HOST))
print(y)
expected = np.exp(x.astype(np.float64))
expected /= expected.sum(axis=1, keepdims=True)
worst = float(np.abs(y - expected).max())
print(f"largest error {worst:.1e}")
if worst > 1.2e-7:
    raise SystemExit("the result is wrong")

# A refused call: a status, and a text that says what to do.
status = opapi.aclnnSoftmaxGetWorkspaceSize(x_tensor, 7, y_tensor, c.byref(size), c.byref(executor))
print(status, (acl.aclGetRecentErrMsg() or b"").decode())
if status != 161002:  # ACLNN_ERR_PARAM_INVALID
    raise SystemExit("axis 7 was taken")

for tensor in (x_tensor, y_tensor):
    check(nnopbase.aclDestroyTensor(tensor))
for memory in (x_memory, y_memory):
    check(acl.aclrtFree(memory))
check(acl.aclrtDestroyStream(stream))
check(acl.aclrtResetDevice(0))
check(acl.aclFinalize())
