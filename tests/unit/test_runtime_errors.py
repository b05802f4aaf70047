# SPDX-License-Identifier: Apache-2.0
"""Errors of the runtime: text, attributes, recent messages."""

from __future__ import annotations

import gc
import pickle

import pytest

import aclnn_py as acl
from aclnn_runtime.errors import format_message
from aclnn_runtime.status_table import STATUSES, status_name
from support.process import in_thread


def failing():
    acl.aclrtMalloc(0)


def test_text_has_what_which_got_expected_fix():
    text = format_message("aclrtX", "size", "0", "at least 1", "ask for more", 100000, what="is 0")
    assert text.splitlines() == [
        "aclrtX: argument 'size' is 0",
        "  got:      0",
        "  expected: at least 1",
        "  fix:      ask for more      [ACL_ERROR_INVALID_PARAM 100000]",
    ]


def test_text_without_argument_leaves_empty_lines_out():
    text = format_message("aclrtX", "", "", "", "", 107002, what="no current context")
    assert text == "aclrtX: no current context      [ACL_ERROR_RT_CONTEXT_NULL 107002]"


def test_attributes_of_a_native_error():
    with acl.Device(0), pytest.raises(acl.AclError) as caught:
        in_thread(lambda: (acl.aclrtSetDevice(0), failing()))
    error = caught.value
    assert error.status == 100000
    assert error.status_name == "ACL_ERROR_INVALID_PARAM"
    assert error.operator == "aclrtMalloc"
    assert error.argument == "size"
    assert error.hint
    for part in ("aclrtMalloc: argument 'size'", "got:", "expected:", "fix:", "100000"):
        assert part in str(error)


def test_errors_travel_between_processes():
    error = acl.AclnnError.build(161002, function="aclnnX", argument="self", got="a", fix="b")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is acl.AclnnError
    assert str(copy) == str(error)
    assert (copy.status, copy.operator, copy.argument, copy.hint) == (161002, "aclnnX", "self", "b")


def test_aclnn_errors_are_acl_errors_are_runtime_errors():
    assert issubclass(acl.AclnnError, acl.AclError)
    assert issubclass(acl.AclError, RuntimeError)


def test_status_values_and_names_are_unique():
    assert len({name for name, _, _ in STATUSES}) == len(STATUSES)
    assert len({value for _, value, _ in STATUSES}) == len(STATUSES)
    assert status_name(123456789) == "ACL_ERROR_123456789"


@pytest.fixture
def clean_thread():
    acl.aclGetRecentErrMsg()
    acl.aclrtSetDevice(0)
    yield
    acl.aclrtResetDevice(0)
    acl.aclGetRecentErrMsg()


@pytest.mark.usefixtures("clean_thread")
class TestRecentMessages:
    def test_none_without_errors(self):
        assert acl.aclGetRecentErrMsg() is None

    def test_returned_once(self):
        with pytest.raises(acl.AclError):
            failing()
        message = acl.aclGetRecentErrMsg()
        assert "aclrtMalloc" in message
        assert acl.aclGetRecentErrMsg() is None

    def test_newest_first_from_both_sides_of_the_border(self):
        with pytest.raises(acl.AclError):
            failing()
        with pytest.raises(acl.AclError):
            acl.aclrtMalloc("many")  # refused before the library is asked
        message = acl.aclGetRecentErrMsg()
        assert message.index("str 'many'") < message.index("aclrtMalloc, argument size: got")

    def test_each_thread_has_its_own(self):
        with pytest.raises(acl.AclError):
            failing()
        assert in_thread(acl.aclGetRecentErrMsg) is None
        assert acl.aclGetRecentErrMsg() is not None

    def test_garbage_collection_leaves_no_message(self):
        stream = acl.aclrtCreateStream()
        acl.aclrtDestroyStream(stream)
        event = acl.aclrtCreateEvent()
        acl.aclrtDestroyEvent(event)
        buffer = acl.aclrtMalloc(64)
        acl.aclrtFree(buffer)
        del stream, event, buffer
        assert acl.aclGetRecentErrMsg() is None

    def test_a_stream_that_went_with_its_context_leaves_no_message(self):
        context = acl.aclrtCreateContext(0)
        stream = acl.aclrtCreateStream()
        acl.aclrtDestroyContext(context)
        acl.aclrtSetDevice(0)
        del stream
        gc.collect()
        assert acl.aclGetRecentErrMsg() is None
        acl.aclrtResetDevice(0)
