# SPDX-License-Identifier: Apache-2.0
"""What a host program sees beside statuses: default streams, ids of events, messages, sizes.

Typed from the reference: acl_runtime.md sections 1.2, 1.3, 2.3, 3, 4.1, 7.1 and 9.2.
"""

from __future__ import annotations

import ctypes as c
import json

import pytest

import aclnn_py as acl
from aclnn_py.abi.toolkit import library_path, make_toolkit
from support.latch import Latch
from support.process import run_python

LIBRARY = c.CDLL(str(library_path()))


def call(name, *arguments):
    return LIBRARY[name](*arguments)


def message():
    LIBRARY.aclGetRecentErrMsg.restype = c.c_char_p
    return (LIBRARY.aclGetRecentErrMsg() or b"").decode()


@pytest.fixture
def device():
    acl.aclrtSetDevice(0)
    message()
    yield
    acl.aclrtResetDevice(0)


# ---- default streams ----


def test_default_streams_count_among_the_streams_of_a_device():
    done = run_python(
        """
        import json
        import aclnn_py as acl
        acl.aclrtSetDevice(0)
        seen = [acl.aclrtGetStreamAvailableNum()]
        context = acl.aclrtCreateContext(0)
        seen.append(acl.aclrtGetStreamAvailableNum())
        streams = [acl.aclrtCreateStream() for _ in range(seen[-1])]
        for make in (acl.aclrtCreateStream, lambda: acl.aclrtCreateContext(0)):
            try:
                make()
            except acl.AclError as error:
                seen.append(error.status)
        acl.aclrtSynchronizeStream(None)
        print("SEEN", json.dumps(seen))
        """,
        ACLNN_PY_SOC="Ascend310B",
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.split("SEEN", 1)[1]) == [511, 510, 207008, 207008]


def test_listeners_hear_of_default_streams_and_of_streams_that_go_with_their_device():
    done = run_python(
        """
        import ctypes as c
        import json
        import aclnn_py as acl
        from aclnn_py.abi.toolkit import library_path
        library, heard = c.CDLL(str(library_path())), []
        kind = c.CFUNCTYPE(None, c.c_void_p, c.c_int32, c.c_void_p)
        listener = kind(lambda stream, state, _: heard.append((stream, state)))
        assert library.aclrtRegStreamStateCallback(b"test", listener, None) == 0
        acl.aclrtSetDevice(0)
        default, other = acl.aclrtCtxGetCurrentDefaultStream(), acl.aclrtCreateStream()
        assert heard == [(default.handle, 1), (other.handle, 1)]
        acl.aclrtResetDevice(0)
        assert sorted(heard[2:]) == sorted([(default.handle, 2), (other.handle, 2)])
        assert library.aclrtRegStreamStateCallback(b"test", None, None) == 0
        """
    )
    assert done.returncode == 0, done.stderr


def test_the_default_stream_has_an_object(device):
    default = acl.aclrtCtxGetCurrentDefaultStream()
    assert acl.aclrtStreamGetId(default) == acl.aclrtStreamGetId(None)
    with pytest.raises(acl.AclError) as caught:
        acl.aclrtDestroyStream(default)
    assert caught.value.status == 107000
    acl.aclrtSynchronizeStream(None)


# ---- events ----


def test_events_of_the_third_kind_take_no_id_when_they_are_made():
    done = run_python(
        """
        import aclnn_py as acl
        acl.aclrtSetDevice(0)
        kept = [acl.aclrtCreateEventWithFlag(1) for _ in range(acl.aclrtGetEventAvailNum())]
        late = acl.aclrtCreateEventExWithFlag(1)
        acl.aclrtRecordEvent(late, None)
        acl.aclrtDestroyEvent(late)
        print("LEFT", acl.aclrtGetEventAvailNum(), len(kept))
        """,
        ACLNN_PY_SOC="Ascend310",
    )
    assert done.returncode == 0, done.stderr
    assert "LEFT 0 1023" in done.stdout


# ---- messages ----


def test_what_surfaces_at_a_synchronise_leaves_no_message_before(device):
    stream = acl.aclrtCreateStream()
    with Latch(stream):
        acl.aclrtStreamAbort(stream)
        assert message() == ""
    with pytest.raises(acl.AclError) as caught:
        acl.aclrtSynchronizeStream(stream)
    assert caught.value.status == 107023
    assert message().count("which was aborted") == 1
    acl.aclrtDestroyStream(stream)


def test_a_message_of_before_stays(device):
    stream = acl.aclrtCreateStream()
    assert call("aclrtMalloc", None, c.c_size_t(8), 0) == 100000
    with Latch(stream):
        acl.aclrtStreamAbort(stream)
    text = message()
    assert "aclrtMalloc" in text
    assert "abort" not in text
    acl.aclrtDestroyStreamForce(stream)


@pytest.mark.parametrize("setting", ["ACLNN_PY_FALLBACK", "ACLNN_CACHE_LIMIT"])
def test_phase_1_under_a_wrong_setting_says_which(setting):
    done = run_python(
        """
        import ctypes as c
        from aclnn_py.abi.toolkit import library_path
        library = c.CDLL(str(library_path()))
        library.aclCreateTensor.restype = c.c_void_p
        library.aclGetRecentErrMsg.restype = c.c_char_p
        dims, size, executor = (c.c_int64 * 1)(3), c.c_uint64(), c.c_void_p()
        tensor = c.c_void_p(
            library.aclCreateTensor(dims, 1, 0, None, c.c_int64(0), 2, dims, 1, c.c_void_p(64))
        )
        status = library.aclnnSoftmaxGetWorkspaceSize(
            tensor, c.c_int64(0), tensor, c.byref(size), c.byref(executor)
        )
        print(status, library.aclGetRecentErrMsg().decode())
        """,
        **{setting: "nonsense"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("100000 ")
    assert setting in done.stdout


BARE = [
    (100000, "aclrtProcessReport", 0),
    (107000, "aclmdlRICaptureBegin", "stream", 9),
    (107000, "aclrtSetStreamFailureMode", "stream", 2),
    (100000, "aclrtLaunchCallback", print, None, 7, "stream"),
]


@pytest.mark.parametrize("row", BARE, ids=lambda row: row[1])
def test_a_refused_argument_always_has_a_fix(device, row):
    status, name, *arguments = row
    with acl.Device(0).create_stream() as stream, pytest.raises(acl.AclError) as caught:
        getattr(acl, name)(*[stream if a == "stream" else a for a in arguments])
    assert caught.value.status == status
    assert caught.value.hint.startswith("pass ")
    assert "Solution: pass " in message()


# ---- sizes ----


def test_sizes_of_elements():
    sizes = {0: 4, 1: 2, 13: 0, 27: 2, 29: 1, 30: 1, 38: 8, 41: 8, -1: 0, 5: 0, 99: 0}
    assert {value: acl.aclDataTypeSize(value) for value in sizes} == sizes
    assert acl.aclDataTypeSize(acl.ACL_DOUBLE) == LIBRARY.aclDataTypeSize(11) == 8


# ---- the toolkit ----


def test_libraries_that_frameworks_open(tmp_path):
    tree = make_toolkit(tmp_path / "toolkit")
    suffix = library_path().suffix
    for name in (
        "nnopbase", "aclnn_ops_infer", "aclnn_math", "opapi", "acl_op_compiler", "msprofiler",
    ):  # fmt: skip
        found = tree / "aarch64-linux" / "lib64" / f"lib{name}{suffix}"
        assert hasattr(c.CDLL(str(found)), "aclnnSoftmaxGetWorkspaceSize"), name
