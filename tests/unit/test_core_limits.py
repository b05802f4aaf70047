# SPDX-License-Identifier: Apache-2.0
"""Limits of cores by device, stream and thread; other numbers of devices; overflow."""

from __future__ import annotations

import os

import pytest

import aclnn_py as acl
from support.process import in_thread, run_python

CUBE, VECTOR = 0, 1


@pytest.fixture
def stream_of_device():
    acl.aclrtSetDevice(0)
    stream = acl.aclrtCreateStream()
    yield stream
    acl.aclrtDestroyStream(stream)
    acl.aclrtResetDeviceResLimit(0)
    acl.aclrtResetDevice(0)


def test_a_stream_goes_before_the_process_before_the_machine(stream_of_device):
    stream = stream_of_device
    there = acl.aclrtGetDeviceResLimit(0, CUBE)
    assert there == acl.aclrtGetDeviceInfo(0, 102)
    assert acl.aclrtGetStreamResLimit(stream, CUBE) == there
    acl.aclrtSetDeviceResLimit(0, CUBE, 20)
    assert [acl.aclrtGetDeviceResLimit(0, kind) for kind in (CUBE, VECTOR)] == [20, there]
    assert acl.aclrtGetStreamResLimit(stream, CUBE) == 20
    acl.aclrtSetStreamResLimit(stream, CUBE, 8)
    acl.aclrtSetStreamResLimit(stream, CUBE, 6)
    assert acl.aclrtGetStreamResLimit(stream, CUBE) == 6
    assert acl.aclrtGetStreamResLimit(None, CUBE) == 20
    acl.aclrtResetStreamResLimit(stream)
    assert acl.aclrtGetStreamResLimit(stream, CUBE) == 20
    acl.aclrtResetDeviceResLimit(0)
    assert acl.aclrtGetDeviceResLimit(0, CUBE) == there


def test_a_thread_goes_by_the_stream_it_chose(stream_of_device):
    stream = stream_of_device
    acl.aclrtSetDeviceResLimit(0, VECTOR, 40)
    acl.aclrtSetStreamResLimit(stream, VECTOR, 12)
    assert acl.aclrtGetResInCurrentThread(VECTOR) == 40
    acl.aclrtUseStreamResInCurrentThread(stream)
    assert acl.aclrtGetResInCurrentThread(VECTOR) == 12

    def another():
        acl.aclrtSetDevice(0)
        found = acl.aclrtGetResInCurrentThread(VECTOR)
        acl.aclrtResetDevice(0)
        return found

    assert in_thread(another) == 40
    other = acl.aclrtCreateStream()
    acl.aclrtUnuseStreamResInCurrentThread(other)
    assert acl.aclrtGetResInCurrentThread(VECTOR) == 12
    acl.aclrtUnuseStreamResInCurrentThread(stream)
    assert acl.aclrtGetResInCurrentThread(VECTOR) == 40
    acl.aclrtSetStreamResLimit(other, VECTOR, 3)
    acl.aclrtUseStreamResInCurrentThread(other)
    acl.aclrtDestroyStream(other)
    assert acl.aclrtGetResInCurrentThread(VECTOR) == 40


@pytest.mark.parametrize(
    ("status", "call"),
    [
        (107001, lambda _: acl.aclrtGetDeviceResLimit(99, CUBE)),
        (107001, lambda _: acl.aclrtSetDeviceResLimit(-1, CUBE, 1)),
        (107001, lambda _: acl.aclrtResetDeviceResLimit(99)),
        (107000, lambda _: acl.aclrtGetDeviceResLimit(0, 2)),
        (107000, lambda _: acl.aclrtSetDeviceResLimit(0, -1, 1)),
        (107000, lambda _: acl.aclrtSetDeviceResLimit(0, CUBE, 0)),
        (107000, lambda s: acl.aclrtSetStreamResLimit(s, VECTOR, 0)),
        (107000, lambda s: acl.aclrtGetStreamResLimit(s, 2)),
        (107000, lambda _: acl.aclrtGetResInCurrentThread(7)),
        (107001, lambda _: acl.aclrtGetLogicDevIdByUserDevId(99)),
        (107001, lambda _: acl.aclrtGetUserDevIdByPhyDevId(99)),
        (207000, lambda _: acl.aclrtSetDeviceSatMode(0)),
        (107000, lambda _: acl.aclrtSetDeviceSatMode(2)),
    ],
)
def test_refusals(stream_of_device, status, call):
    with pytest.raises(acl.AclError) as caught:
        call(stream_of_device)
    assert caught.value.status == status
    assert caught.value.argument


def test_destroyed_streams_and_no_context(stream_of_device):
    gone = acl.aclrtCreateStream()
    acl.aclrtDestroyStream(gone)
    for call in (
        acl.aclrtResetStreamResLimit,
        acl.aclrtUseStreamResInCurrentThread,
        acl.aclrtUnuseStreamResInCurrentThread,
        lambda stream: acl.aclrtSetStreamResLimit(stream, CUBE, 1),
    ):
        with pytest.raises(acl.AclError) as caught:
            call(gone)
        assert caught.value.status == 107017

    def without():
        with pytest.raises(acl.AclError) as caught:
            acl.aclrtGetResInCurrentThread(CUBE)
        return caught.value.status

    assert in_thread(without) == 107002


def test_overflow_and_process(stream_of_device):
    assert acl.aclrtGetDeviceSatMode() == acl.aclrtFloatOverflowMode.ACL_RT_OVERFLOW_MODE_INFNAN
    acl.aclrtSetDeviceSatMode(1)
    assert acl.aclrtDeviceGetBareTgid() == os.getpid()


def test_numbers_of_visible_devices():
    code = """
    import aclnn_py as acl
    assert acl.aclrtGetDeviceCount() == 2
    for forth, back in (
        (acl.aclrtGetLogicDevIdByUserDevId, acl.aclrtGetUserDevIdByLogicDevId),
        (acl.aclrtGetPhyDevIdByUserDevId, acl.aclrtGetUserDevIdByPhyDevId),
        (acl.aclrtGetPhyDevIdByLogicDevId, acl.aclrtGetLogicDevIdByPhyDevId),
    ):
        assert [forth(0), forth(1)] == [1, 3]
        assert [back(1), back(3)] == [0, 1]
    try:
        acl.aclrtGetUserDevIdByLogicDevId(0)
    except acl.AclError as error:
        print(error.status, error.argument)
    """
    done = run_python(code, ACLNN_PY_DEVICES="4", ASCEND_RT_VISIBLE_DEVICES="1,3")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "107001 logicDevId\n"
