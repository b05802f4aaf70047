# SPDX-License-Identifier: Apache-2.0
"""Two emulated devices: copies between them in stream order, peer access refused and allowed.

The number of devices is fixed when a process starts, so each test is a program of its own.
"""

from __future__ import annotations

import os
import textwrap
from pathlib import Path

from support.process import run_python

TESTS = Path(__file__).resolve().parent.parent

PRELUDE = """
import numpy as np
import aclnn_py as acl
from support.latch import Latch

def refused(call):
    try:
        call()
    except acl.AclError as error:
        return error.status, str(error)
    raise AssertionError("not refused")

def value(buffer):
    host = np.zeros(1, np.uint8)
    acl.aclrtMemcpy(host, 1, buffer, 1, acl.ACL_MEMCPY_DEVICE_TO_HOST)
    return int(host[0])

D2D = acl.ACL_MEMCPY_DEVICE_TO_DEVICE
"""


def run(code: str, **environment: str) -> None:
    paths = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
    settings = {"PYTHONPATH": paths, "ACLNN_PY_DEVICES": "2", **environment}
    done = run_python(PRELUDE + textwrap.dedent(code), **settings)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("done"), done.stdout


def test_a_copy_between_devices_waits_for_its_stream_and_for_the_event():
    run("""
        acl.aclrtSetDevice(0)
        here, first = acl.aclrtMalloc(8), acl.aclrtCreateStream()
        acl.aclrtMemset(here, 8, 1, 8)
        acl.aclrtSetDevice(1)
        there, second = acl.aclrtMalloc(8), acl.aclrtCreateStream()
        acl.aclrtMemset(there, 8, 0, 8)
        acl.aclrtDeviceEnablePeerAccess(0)
        acl.aclrtSetDevice(0)
        latch = Latch(first)
        acl.aclrtMemsetAsync(here, 8, 2, 8, first)
        done = acl.aclrtCreateEventExWithFlag(acl.ACL_EVENT_SYNC)
        acl.aclrtRecordEvent(done, first)
        acl.aclrtSetDevice(1)
        acl.aclrtStreamWaitEvent(second, done)
        acl.aclrtMemcpyAsync(there, 8, here, 8, D2D, second)
        latch.wait_until_held()
        assert value(there) == 0  # neither stream has moved on
        latch.open()
        acl.aclrtSynchronizeStream(second)
        assert value(there) == 2
        print("done")
    """)


def test_peer_access_goes_one_way_and_ends_with_its_device():
    run("""
        acl.aclrtSetDevice(0)
        here = acl.aclrtMalloc(8)
        acl.aclrtMemset(here, 8, 7, 8)
        acl.aclrtSetDevice(1)
        there, stream = acl.aclrtMalloc(8), acl.aclrtCreateStream()
        for call in (
            lambda: acl.aclrtMemcpy(there, 8, here, 8, D2D),
            lambda: acl.aclrtMemcpyAsync(here, 8, there, 8, D2D, stream),
            lambda: acl.aclrtMemcpy2dAsync(there, 8, here, 8, 8, 1, D2D, stream),
        ):
            status, text = refused(call)
            assert status == 107000
            assert "aclrtDeviceEnablePeerAccess" in text
        acl.aclrtDeviceEnablePeerAccess(0)
        assert acl.aclrtDevicePeerAccessStatus(1, 0) == 1
        assert acl.aclrtDevicePeerAccessStatus(0, 1) == 0
        acl.aclrtMemcpy(there, 8, here, 8, D2D)
        acl.aclrtMemcpyAsync(here, 8, there, 8, D2D, stream)
        acl.aclrtSynchronizeStream(stream)
        assert value(there) == 7
        acl.aclrtSetDevice(0)
        assert refused(lambda: acl.aclrtMemcpy(there, 8, here, 8, D2D))[0] == 107000
        acl.aclrtResetDeviceForce(1)
        assert acl.aclrtDevicePeerAccessStatus(1, 0) == 0
        print("done")
    """)


def test_a_chip_that_needs_no_peer_access():
    run(
        """
        acl.aclrtSetDevice(0)
        here = acl.aclrtMalloc(8)
        acl.aclrtSetDevice(1)
        acl.aclrtMemcpy(acl.aclrtMalloc(8), 8, here, 8, D2D)
        assert acl.aclrtGetSocName() == "Ascend910_9391"
        print("done")
        """,
        ACLNN_PY_SOC="Ascend910_93",
    )


def test_nouns_of_two_devices():
    run("""
        with acl.Device(0) as first, acl.Device(1) as second, second.create_stream() as stream:
            here, there = first.malloc(8), second.malloc(8)
            assert refused(lambda: second.enable_peer_access(second))[0] == 100000
            assert refused(lambda: second.enable_peer_access(2))[0] == 107001
            second.enable_peer_access(first)
            free, total = second.memory_info()
            assert 0 < free < total
            with_more = second.malloc(1 << 20)
            assert second.memory_info()[0] == free - (1 << 20) - 32
            assert first.memory_info()[1] == total
            del with_more
            assert second.memory_info()[0] == free
            here.close(), there.close()
        print("done")
    """)


def test_each_device_has_its_own_memory():
    run(
        """
        acl.aclrtSetDevice(0)
        assert acl.aclrtGetMemInfo(acl.ACL_HBM_MEM) == (4096, 4096)
        most = acl.aclrtMalloc(4096 - 32)
        assert acl.aclrtGetMemInfo(acl.ACL_HBM_MEM) == (0, 4096)
        assert refused(lambda: acl.aclrtMalloc(1))[0] == 207001
        acl.aclrtSetDevice(1)
        acl.aclrtFree(acl.aclrtMalloc(4096 - 32))
        acl.aclrtFree(most)
        acl.aclrtSetDevice(0)
        acl.aclrtFree(acl.aclrtMallocAlign32(4096))
        assert acl.aclrtGetMemUsageInfo(0) == [("program", 0, 4096)]
        print("done")
        """,
        ACLNN_PY_DEVICE_MEMORY="4096",
    )


def test_visible_devices_are_numbered_anew():
    run(
        """
        assert acl.aclrtGetDeviceCount() == 2
        acl.aclrtSetDevice(1)
        status, text = refused(lambda: acl.aclrtSetDevice(2))
        assert status == 107001
        assert "ASCEND_RT_VISIBLE_DEVICES" in text
        print("done")
        """,
        ACLNN_PY_DEVICES="8",
        ASCEND_RT_VISIBLE_DEVICES="3,5",
    )


def test_malformed_lists_leave_no_device():
    code = """
        import os
        assert refused(acl.aclrtGetDeviceCount)[0] == 207004
        assert refused(lambda: acl.aclrtSetDevice(0))[0] == 107001
        print("done")
    """
    for bad in ("", "1,0", "0,0", "0,2", "a", "0,", "-1", "0 1", "0,99999999999999999999"):
        run(code, ASCEND_RT_VISIBLE_DEVICES=bad)
