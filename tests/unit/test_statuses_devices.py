# SPDX-License-Identifier: Apache-2.0
"""Statuses of devices, contexts, memory and errors, typed from sections 1, 2 and 7 of the facts.

Each row says what a host program does, in a process of its own with two emulated devices, and what
status the vendor's tables promise. Statuses of these sections that no host program can provoke:

- 107018, 207005 (page policies that a driver does not know): every policy is accepted;
- 107022 (device being aborted): only for a moment, inside another thread's abort;
- 207002 (the driver cannot free): freeing never fails once the pointer is known;
- 107008: none of the three sections' calls answers with it;
- 100001 after aclInit: dump and profiling calls are outside of the emulator. Before and after an
  engine shutdown it is covered by the tests of the interpreter's exit;
- hardware faults (507013 to 507018, 507034 and so on) come only from injected task failures.
"""

from __future__ import annotations

import json
import textwrap

import pytest

from support.process import run_python

PRELUDE = """
import json, sys, threading
import numpy as np
import aclnn_py as acl
from aclnn_runtime.copies_many import BatchAttribute

def status_of(call):
    try:
        call()
    except acl.AclError as error:
        return error.status
    return 0

def in_thread(call):
    found = []
    thread = threading.Thread(target=lambda: found.append(status_of(call)))
    thread.start()
    thread.join()
    return found[0]

H2H, H2D, D2H, D2D, ANY = 0, 1, 2, 3, 4
acl.aclrtSetDevice(0)
dev = acl.aclrtMalloc(256)
pinned = acl.aclrtMallocHost(256)
host = np.zeros(256, np.uint8)
stream = acl.aclrtCreateStream()
gone_stream = acl.aclrtCreateStream()
acl.aclrtDestroyStream(gone_stream)
gone = acl.aclrtMalloc(64)
acl.aclrtFree(gone)
gone_record = acl.aclCreateDataBuffer(dev, 8)
acl.aclDestroyDataBuffer(gone_record)
acl.aclrtSetDevice(1)
dev1 = acl.aclrtMalloc(256)
acl.aclrtSetDevice(0)
foreign_context = acl.aclrtCreateContext(0)
foreign_stream = acl.aclrtCreateStream()
acl.aclrtSetDevice(0)
one = BatchAttribute(dstType=1, srcType=0)
back = BatchAttribute(dstType=0, srcType=1)
pages = np.zeros(4 * 4096, np.uint8)
at = -pages.ctypes.data % 4096
page = pages[at:at + 8192]
"""

# Status, what is called.
ROWS = [
    # 1.2 devices
    (107001, "acl.aclrtSetDevice(2)"),
    (107001, "acl.aclrtResetDeviceForce(2)"),
    (107001, "acl.aclrtGetPrimaryCtxState(2)"),
    (100000, "acl.aclrtGetPrimaryCtxState(0, 1)"),
    (0, "acl.aclrtGetRunMode()"),
    (100000, "acl.aclrtSetTsDevice(2)"),
    (0, "acl.aclrtSetTsDevice(0)"),
    (107001, "acl.aclrtQueryDeviceStatus(-1)"),
    (107001, "acl.aclrtGetDeviceUtilizationRate(2)"),
    (107001, "acl.aclrtGetDeviceInfo(2, 301)"),
    (207000, "acl.aclrtGetDeviceInfo(0, 601)"),
    (100000, "acl.aclrtGetDeviceInfo(-1, 301)"),
    (107001, "acl.aclGetDeviceCapability(9, 0)"),
    (100000, "acl.aclGetDeviceCapability(0, 9)"),
    (100000, "acl.aclGetCannAttribute(9)"),
    (100003, "acl.aclsysGetVersionStr('runtime')"),
    (100003, "acl.aclsysGetVersionNum('../runtime')"),
    (100000, "acl.aclsysGetVersionNum(None)"),
    (107000, "acl.aclrtSynchronizeDeviceWithTimeout(0)"),
    (107000, "acl.aclrtSynchronizeDeviceWithTimeout(-2)"),
    (0, "acl.aclrtSynchronizeDeviceWithTimeout(-1)"),
    (0, "acl.aclrtSynchronizeDeviceWithTimeout(60_000)"),
    (107002, "in_thread_raise(lambda: acl.aclrtSynchronizeDeviceWithTimeout(5))"),
    (507046, "parked(lambda: acl.aclrtSynchronizeDeviceWithTimeout(1))"),
    # 1.3 contexts and parameters
    (100000, "acl.aclrtSetSysParamOpt(4, 0)"),
    (100000, "acl.aclrtSetSysParamOpt(0, 4)"),
    (100000, "acl.aclrtCtxSetSysParamOpt(3, 0)"),
    (107021, "acl.aclrtGetSysParamOpt(1)"),
    (107021, "acl.aclrtCtxGetSysParamOpt(0)"),
    (107002, "in_thread_raise(lambda: acl.aclrtCtxSetSysParamOpt(0, 0))"),
    (0, "(acl.aclrtSetSysParamOpt(0, 1), acl.aclrtGetSysParamOpt(0))"),
    # 2.1 allocation
    (100000, "acl.aclrtMallocAlign32(0)"),
    (100000, "acl.aclrtMallocCached(2**64 - 1)"),
    (100000, "acl.aclrtMallocWithCfg(8, 0, {9: 1})"),
    (107001, "acl.aclrtMallocWithCfg(8, 0, {2: 7})"),
    (100000, "acl.aclrtMallocWithCfg(8, 0, [2])"),
    (0, "acl.aclrtFree(acl.aclrtMallocWithCfg(8, 0x1001, {2: 1}))"),
    (0, "acl.aclrtFree(acl.aclrtMallocForTaskScheduler(8))"),
    (0, "acl.aclrtFreeHost(acl.aclrtMallocHostWithCfg(8))"),
    (100000, "acl.aclrtMallocHostWithCfg(0)"),
    (100000, "acl.aclrtMemAllocManaged(8, 2)"),
    (0, "acl.aclrtFree(acl.aclrtMemAllocManaged(8))"),
    (207001, "acl.aclrtMallocAlign32(2**60)"),
    (207001, "acl.aclrtMallocHostWithCfg(2**60)"),
    (100000, "acl.aclrtFreeWithDevSync(None)"),
    (100000, "acl.aclrtFreeHostWithDevSync(0)"),
    (107000, "acl.aclrtFreeWithDevSync(gone)"),
    (107000, "acl.aclrtFreeWithDevSync(dev + 1)"),
    (107000, "acl.aclrtFreeHostWithDevSync(int(dev))"),
    (0, "acl.aclrtFreeWithDevSync(acl.aclrtMalloc(8))"),
    (0, "acl.aclrtFreeHostWithDevSync(acl.aclrtMallocHost(8))"),
    (107002, "in_thread_raise(lambda: acl.aclrtMallocAlign32(8))"),
    (107002, "in_thread_raise(lambda: acl.aclrtFreeWithDevSync(dev))"),
    # 2.2 rectangles, in the order of evaluation
    (0, "acl.aclrtMemcpy2d(None, 0, None, 0, 0, 9, 99)"),
    (0, "acl.aclrtMemcpy2d(None, 0, None, 0, 9, 0, 99)"),
    (100000, "acl.aclrtMemcpy2d(None, 8, host, 8, 8, 2, 99)"),
    (100000, "acl.aclrtMemcpy2d(dev, 8, None, 8, 8, 2, 99)"),
    (100000, "acl.aclrtMemcpy2d(dev, 8, host, 8, 8, 2, H2H)"),
    (100000, "acl.aclrtMemcpy2d(dev, 8, host, 8, 8, 2, 5)"),
    (100000, "acl.aclrtMemcpy2d(dev, 7, host, 8, 8, 2, H2D)"),
    (100000, "acl.aclrtMemcpy2d(dev, 8, host, 7, 8, 2, H2D)"),
    (107000, "acl.aclrtMemcpy2d(dev, 8, int(pinned), 8, 8, 5 * 1024 * 1024 + 1, H2D)"),
    (107000, "acl.aclrtMemcpy2d(dev, 2**23, int(pinned), 2**23, 5_000_001, 1, H2D)"),
    (107000, "acl.aclrtMemcpy2d(dev, 64, host, 8, 8, 5, H2D)"),
    (107000, "acl.aclrtMemcpy2d(dev, 8, host[:15], 8, 8, 2, H2D)"),
    (207000, "acl.aclrtMemcpy2d(dev, 8, dev + 64, 8, 8, 2, D2D)"),
    (0, "acl.aclrtMemcpy2d(dev, 16, host, 8, 8, 4, ANY)"),
    (0, "acl.aclrtMemcpy2dAsync(dev, 8, dev + 64, 8, 8, 2, D2D, stream)"),
    (207000, "acl.aclrtMemcpy2dAsync(pinned, 8, pinned + 64, 8, 8, 2, ANY, stream)"),
    (107000, "acl.aclrtMemcpy2dAsync(dev, 8, host, 8, 8, 2, D2H, stream)"),
    (107003, "acl.aclrtMemcpy2dAsync(dev, 8, pinned, 8, 8, 2, H2D, foreign_stream)"),
    (107017, "acl.aclrtMemcpy2dAsync(dev, 8, pinned, 8, 8, 2, H2D, gone_stream)"),
    (107002, "in_thread_raise(lambda: acl.aclrtMemcpy2d(dev, 8, host, 8, 8, 2, H2D))"),
    # 2.2 patterns
    (0, "acl.aclrtMemsetD32(None, 0, 1, 0)"),
    (100000, "acl.aclrtMemsetD32(None, 8, 1, 2)"),
    (107000, "acl.aclrtMemsetD32(dev + 2, 8, 1, 2)"),
    (107000, "acl.aclrtMemsetD32(dev, 8, 1, 3)"),
    (107000, "acl.aclrtMemsetD32(host, 8, 1, 2)"),
    (100000, "acl.aclrtMemsetD32(dev, 8, 2**32, 2)"),
    (0, "acl.aclrtMemsetD32(dev, 8, 2**32 - 1, 2)"),
    (107003, "acl.aclrtMemsetD32Async(dev, 8, 1, 2, foreign_stream)"),
    (0, "acl.aclrtMemsetD32Async(dev, 8, 1, 2, stream)"),
    (0, "acl.aclrtMemcpyAsyncWithCondition(dev, 8, pinned, 8, H2D, stream)"),
    # 2.2 batches
    (0, "acl.aclrtMemcpyBatch([], [], [], [], [], [])"),
    (0, "acl.aclrtMemcpyBatch([None], [0], [None], [0], [], [])"),
    (100000, "acl.aclrtMemcpyBatch([dev], [8], [None], [8], [one], [0])"),
    (100000, "acl.aclrtMemcpyBatch([dev], [8], [host], [8], [], [])"),
    (100000, "acl.aclrtMemcpyBatch([dev], [8], [host], [8], [one], [1])"),
    (100000, "acl.aclrtMemcpyBatch([dev], [8], [host], [8], [one], [])"),
    (100000, "acl.aclrtMemcpyBatch([dev], [8, 8], [host], [8], [one], [0])"),
    (100000, "acl.aclrtMemcpyBatch([dev], [8], [host], [8], [(1, 0)], [0])"),
    (100000, "acl.aclrtMemcpyBatch(dev, [8], [host], [8], [one], [0])"),
    (107000, "acl.aclrtMemcpyBatch([dev], [7], [host], [8], [one], [0])"),
    (107000, "acl.aclrtMemcpyBatch([dev], [999], [host], [300], [one], [0])"),
    (107000, "acl.aclrtMemcpyBatch([dev], [8], [host], [8], [back], [0])"),
    (107000, "acl.aclrtMemcpyBatch([dev] * 2, [8] * 2, [host] * 2, [8] * 2, [one, back], [0, 1])"),
    (0, "acl.aclrtMemcpyBatch([dev] * 2, [8] * 2, [host] * 2, [8] * 2, [one, one], [0, 1])"),
    (0, "acl.aclrtMemcpyBatchAsync([host], [8], [dev], [8], [back], [0], stream)"),
    (0, "acl.aclrtMemcpyBatchAsync([pinned], [8], [dev], [8], [back], [0], stream)"),
    (107003, "acl.aclrtMemcpyBatchAsync([pinned], [8], [dev], [8], [back], [0], foreign_stream)"),
    # 2.2 and 8: between devices
    (107000, "acl.aclrtMemcpy(dev1, 8, dev, 8, D2D)"),
    (107000, "acl.aclrtMemcpy(dev, 8, dev1, 8, D2D)"),
    (107000, "acl.aclrtMemcpyAsync(dev, 8, dev1, 8, D2D, stream)"),
    (107000, "acl.aclrtMemcpy2dAsync(dev, 8, dev1, 8, 8, 2, D2D, stream)"),
    (100000, "acl.aclrtDeviceCanAccessPeer(0, 0)"),
    (107001, "acl.aclrtDeviceCanAccessPeer(0, 2)"),
    (0, "acl.aclrtDeviceCanAccessPeer(0, 1)"),
    (200006, "acl.aclrtDeviceEnablePeerAccess(1, 1)"),
    (100000, "acl.aclrtDeviceEnablePeerAccess(0)"),
    (107001, "acl.aclrtDeviceEnablePeerAccess(2)"),
    (107002, "in_thread_raise(lambda: acl.aclrtDeviceEnablePeerAccess(1))"),
    (107002, "in_thread_raise(lambda: acl.aclrtDeviceDisablePeerAccess(1))"),
    (0, "acl.aclrtDeviceDisablePeerAccess(1)"),
    (100000, "acl.aclrtDevicePeerAccessStatus(1, 1)"),
    (100000, "acl.aclrtGetDevicesTopo(1, 1)"),
    # 2.3 questions and registration
    (107016, "acl.aclrtGetMemInfo(18)"),
    (107002, "in_thread_raise(lambda: acl.aclrtGetMemInfo(1))"),
    (0, "acl.aclrtGetMemInfo(0)"),
    (107001, "acl.aclrtGetMemUsageInfo(2)"),
    (100000, "acl.aclrtGetMemUsageInfo(0, 0)"),
    (100000, "acl.aclrtPointerGetAttributes(None)"),
    (107017, "acl.aclrtPointerGetAttributes(gone)"),
    (100000, "acl.aclrtMemFlush(None, 8)"),
    (100000, "acl.aclrtMemInvalidate(dev, 0)"),
    (100000, "acl.aclrtHostRegister(None, 4096)"),
    (100000, "acl.aclrtHostRegister(page, 0)"),
    (100000, "acl.aclrtHostRegister(page, 4096, 1)"),
    (107000, "acl.aclrtHostRegister(page[1:], 4096)"),
    (107002, "in_thread_raise(lambda: acl.aclrtHostRegister(page, 4096))"),
    (507911, "acl.aclrtHostUnregister(page)"),
    (507911, "acl.aclrtHostGetDevicePointer(page)"),
    (100000, "acl.aclrtHostGetDevicePointer(page, 1)"),
    (100000, "acl.aclrtHostRegisterV2(page, 4096, 0)"),
    (207000, "acl.aclrtHostRegisterV2(page, 4096, 4)"),
    (507910, "(acl.aclrtHostRegister(page, 8192), acl.aclrtHostRegisterV2(page, 4096, 2))"),
    (0, "(acl.aclrtHostGetDevicePointer(page), acl.aclrtHostUnregister(page))"),
    # memory of aclrtMallocHost may be registered, but not pinned again
    (507911, "acl.aclrtHostGetDevicePointer(pinned)"),
    (507911, "acl.aclrtHostUnregister(pinned)"),
    (107000, "acl.aclrtHostRegister(pinned, 257)"),
    (507910, "acl.aclrtHostRegisterV2(pinned, 256, 0x10000002)"),
    (0, "(acl.aclrtHostRegister(pinned, 256), acl.aclrtHostGetDevicePointer(pinned))"),
    (507910, "acl.aclrtHostRegisterV2(pinned, 64, 2)"),
    (0, "acl.aclrtHostUnregister(pinned)"),
    (0, "(acl.aclrtHostRegisterV2(pinned + 64, 64, 2), acl.aclrtHostUnregister(pinned + 64))"),
    (107017, "acl.aclDestroyDataBuffer(gone_record)"),
    (107017, "acl.aclGetDataBufferSizeV2(gone_record)"),
    (100000, "acl.aclUpdateDataBuffer(None, dev, 8)"),
    (107017, "acl.aclCreateDataBuffer(gone, 8)"),
    (100000, "acl.aclFloat16ToFloat(65536)"),
    (100000, "acl.aclFloatToFloat16('1')"),
    (0, "acl.aclFloatToFloat16(10**400)"),
    # 7 errors
    (100000, "acl.aclrtPeekAtLastError(1)"),
    (100000, "acl.aclrtGetLastError(-1)"),
    (107000, "acl.aclrtExceptionInfoCallbackRegister(None)"),
    (107000, "acl.aclrtExceptionInfoCallbackUnregister(None)"),
    (100000, "acl.aclrtExceptionInfoCallbackRegister('f')"),
    (0, "acl.aclrtExceptionInfoCallbackUnregister(print)"),
    (0, "acl.aclrtSetExceptionInfoCallback(None)"),
    (107001, "acl.aclrtGetErrorVerbose(2)"),
    (207000, "acl.aclrtRepairError(0, None)"),
    (207000, "acl.aclrtGetMemUceInfo(0)"),
    (207000, "acl.aclrtMemUceRepair(0)"),
    (100000, "acl.aclAppLog(4, 'main', 'host.py', 1, 'text')"),
    (100000, "acl.aclAppLog(3, 'main', 'host.py', 1, None)"),
    # 1.1 initialisation
    (100000, "acl.aclInitCallbackRegister(0, None)"),
    (100000, "acl.aclInitCallbackUnRegister(0, print)"),
    (100000, "acl.aclFinalizeCallbackUnRegister(0, print)"),
    (0, "acl.aclInit()"),
    (100002, "acl.aclInit()"),
    (0, "acl.aclFinalizeReference()"),
    (0, "acl.aclFinalizeReference()"),
    (100037, "acl.aclFinalizeReference()"),
    (100037, "acl.aclFinalize()"),
    # last, since they end what the rows above use
    (0, "acl.aclrtResetDeviceForce(1)"),
    (507007, "acl.aclrtResetDeviceForce(1)"),
    (507007, "acl.aclrtResetDevice(1)"),
]

RUN = """
def in_thread_raise(call):
    status = in_thread(call)
    if status:
        raise acl.AclError("in a thread", status=status)

def parked(call):
    opened = threading.Event()
    acl.aclrtLaunchHostFunc(stream, lambda _: opened.wait(30), None)
    try:
        call()
    finally:
        opened.set()
        acl.aclrtSynchronizeStream(stream)

results = []
for text in json.loads(ROWS):
    results.append(status_of(lambda: eval(text)))
print("RESULTS", json.dumps(results))
"""


@pytest.fixture(scope="module")
def results():
    """All rows in one process: it takes two devices, which are fixed when it starts."""
    calls = json.dumps([call for _, call in ROWS])
    code = PRELUDE + f"ROWS = {calls!r}\n" + RUN
    done = run_python(
        textwrap.dedent(code), ACLNN_PY_DEVICES="2", ASCEND_HOME_PATH="", timeout_s=120
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.split("RESULTS", 1)[1])


@pytest.mark.parametrize("row", range(len(ROWS)), ids=lambda row: f"{row}-{ROWS[row][0]}")
def test_status(results, row):
    status, call = ROWS[row]
    assert results[row] == status, call
