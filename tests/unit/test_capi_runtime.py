# SPDX-License-Identifier: Apache-2.0
"""The runtime under its C names: results through the caller's types, refusals, what is lacking."""

from __future__ import annotations

import ctypes as c
import json

import pytest

import aclnn_py as acl
from aclnn_py.abi.lacking import lacking
from aclnn_py.abi.toolkit import library_path
from support.process import in_thread
from support.sources import ROOT

LIBRARY = c.CDLL(str(library_path()))
FACTS = json.loads((ROOT / "tests" / "data" / "runtime.json").read_text(encoding="utf-8"))
FUNCTIONS = {row["name"]: row for row in FACTS["functions"]}
NULL = c.c_void_p(0)
FOREIGN = c.c_void_p(0x0123_4567_89AB_CDEF)
RECORDS = {row["name"] for row in FACTS["records"]}
_NUMBERS = {"float": c.c_float, "int32_t": c.c_int32, "int": c.c_int, "int64_t": c.c_int64}


def call(name, *arguments, result=c.c_int):
    function = LIBRARY[name]
    function.restype = result
    return function(*arguments)


def message():
    return (call("aclGetRecentErrMsg", result=c.c_char_p) or b"").decode()


@pytest.fixture
def device():
    """A thread with a context, and no messages."""
    acl.aclrtSetDevice(0)
    while message():
        pass
    yield
    acl.aclrtResetDevice(0)


def is_handle(ctype):
    plain = ctype.removeprefix("const ")
    handles = {row["name"] for row in FACTS["handles"]} - {"aclError", "aclFloat16"}
    return plain.endswith("*") or plain in handles


def is_by_value(ctype):
    return ctype in RECORDS


# They end the state that other tests share, or block, or are no status.
APART = {"aclFinalize", "aclFinalizeReference", "aclrtResetDevice", "aclrtResetDeviceForce"}


def with_nulls():
    for row in FACTS["functions"]:
        types = [ctype for ctype, _ in row["params"]]
        if row["returns"] != "aclError" or row["name"] in APART or row["name"] in lacking():
            continue
        if any(map(is_handle, types)) and not any(map(is_by_value, types)):
            yield row["name"]


def zeros(row):
    return [
        NULL if is_handle(ctype) else _NUMBERS.get(ctype, c.c_uint64)(0)
        for ctype, _ in row["params"]
    ]


# NULL is a value here: the default stream, no configuration, an empty slot, nothing to copy.
NULL_IS_TAKEN = {
    "aclInit",
    "aclUpdateDataBuffer",
    "aclmdlSetDump",
    "aclrtAllocatorUnregister",
    "aclrtMemcpy",
    "aclrtMemcpy2d",
    "aclrtMemcpy2dAsync",
    "aclrtMemcpyAsync",
    "aclrtMemcpyAsyncWithCondition",
    "aclrtMemcpyAsyncWithOffset",
    "aclrtMemcpyBatch",
    "aclrtMemcpyBatchAsync",
    "aclrtMemcpyBatchAsyncV2",
    "aclrtMemcpyBatchV2",
    "aclrtMemset",
    "aclrtMemsetAsync",
    "aclrtMemsetD32",
    "aclrtMemsetD32Async",
    "aclrtResetStreamResLimit",
    "aclrtSetExceptionInfoCallback",
    "aclrtStreamAbort",
    "aclrtSynchronizeStream",
    "aclrtUnuseStreamResInCurrentThread",
    "aclrtUseStreamResInCurrentThread",
}


@pytest.mark.parametrize("name", sorted(set(with_nulls()) - NULL_IS_TAKEN))
@pytest.mark.usefixtures("device")
def test_null_everywhere_is_refused_by_name(name):
    status = call(name, *zeros(FUNCTIONS[name]))
    assert status >= 100000
    assert message()


@pytest.mark.parametrize("name", sorted(NULL_IS_TAKEN & set(with_nulls()) - {"aclInit"}))
@pytest.mark.usefixtures("device")
def test_null_that_is_a_value(name):
    status = call(name, *zeros(FUNCTIONS[name]))
    assert status == 0 or message()


def test_what_is_lacking_says_so():
    def body():
        return [one_lacking(name, status) for name, (status, _, _) in sorted(lacking().items())]

    names = in_thread(body)
    assert len(names) == len(lacking()) > 200


def one_lacking(name, status):
    row = FUNCTIONS[name]
    if any(is_by_value(ctype) for ctype, _ in row["params"]):
        return name  # ctypes has no type for them; see the C test
    result = {"aclError": c.c_int, "void": None}.get(row["returns"], c.c_uint64)
    answer = call(name, *zeros(row), result=result)
    text = message()
    assert name in text, name
    assert answer == (status if row["returns"] == "aclError" else None if result is None else 0)
    return name


@pytest.mark.parametrize(
    "name",
    [
        "aclrtDestroyStream",
        "aclrtSynchronizeStream",
        "aclrtDestroyEvent",
        "aclrtSynchronizeEvent",
        "aclrtDestroyNotify",
        "aclrtCntNotifyDestroy",
        "aclmdlRIDestroy",
        "aclDestroyDataBuffer",
        "aclrtDestroyStreamConfigHandle",
        "aclrtDestroyContext",
        "aclrtFree",
        "aclrtFreeHost",
    ],
)
@pytest.mark.usefixtures("device")
def test_foreign_handles(name):
    assert call(name, FOREIGN) >= 100000
    assert name in message()


@pytest.mark.usefixtures("device")
def test_results_come_through_the_callers_types():
    stream, event, context, memory = (c.c_void_p() for _ in range(4))
    assert call("aclrtCreateStreamWithConfig", c.byref(stream), 3, 1) == 0
    number, other = c.c_uint32(), c.c_uint32()
    assert call("aclrtStreamGetPriority", stream, c.byref(number)) == 0
    assert call("aclrtStreamGetFlags", stream, c.byref(other)) == 0
    assert (number.value, other.value) == (3, 1)
    assert call("aclrtCreateEventExWithFlag", c.byref(event), 1) == 0
    assert call("aclrtRecordEvent", event, stream) == 0
    assert call("aclrtSynchronizeEvent", event) == 0
    status = c.c_uint32(7)
    assert call("aclrtQueryEventStatus", event, c.byref(status)) == 0
    assert status.value == 1
    assert call("aclrtGetCurrentContext", c.byref(context)) == 0
    assert context.value
    assert call("aclrtMalloc", c.byref(memory), c.c_size_t(64), 0) == 0
    assert (
        call("aclrtMemsetD32", memory, c.c_size_t(64), c.c_uint32(0x01020304), c.c_size_t(16)) == 0
    )
    back = (c.c_uint32 * 16)()
    size = c.c_size_t(64)
    assert call("aclrtMemcpy", back, size, memory, size, 2) == 0
    assert set(back) == {0x01020304}
    free, total = c.c_size_t(), c.c_size_t()
    assert call("aclrtGetMemInfo", 1, c.byref(free), c.byref(total)) == 0
    assert 0 < free.value <= total.value
    assert (free.value, total.value) == acl.aclrtGetMemInfo(1)
    for name, handle in (("aclrtDestroyEvent", event), ("aclrtDestroyStream", stream)):
        assert call(name, handle) == 0
        assert call(name, handle) == 107017
    assert call("aclrtFree", memory) == 0


def test_facts_are_those_of_python():
    assert call("aclrtGetSocName", result=c.c_char_p).decode() == acl.aclrtGetSocName()
    parts = [c.c_int32() for _ in range(3)]
    assert call("aclrtGetVersion", *map(c.byref, parts)) == 0
    assert tuple(part.value for part in parts) == acl.aclrtGetVersion() == (1, 17, 0)
    count = c.c_uint32()
    assert call("aclrtGetDeviceCount", c.byref(count)) == 0
    assert count.value == acl.aclrtGetDeviceCount()
    assert call("aclFloat16ToFloat", c.c_uint16(0x7C00), result=c.c_float) == 65536.0


@pytest.mark.usefixtures("device")
def test_host_functions_and_callbacks_run_in_order():
    function_type = c.CFUNCTYPE(None, c.c_void_p)
    seen = []
    one, two = (function_type(lambda data, n=n: seen.append((n, data))) for n in (1, 2))
    stream = c.c_void_p()
    assert call("aclrtCreateStream", c.byref(stream)) == 0
    assert call("aclrtLaunchHostFunc", stream, one, c.c_void_p(11)) == 0
    assert call("aclrtLaunchHostFunc", stream, two, c.c_void_p(12)) == 0
    assert call("aclrtSynchronizeStream", stream) == 0
    assert seen == [(1, 11), (2, 12)]
    assert call("aclrtDestroyStream", stream) == 0


@pytest.mark.usefixtures("device")
def test_a_captured_graph_replays():
    function_type = c.CFUNCTYPE(None, c.c_void_p)
    seen = []
    function = function_type(seen.append)
    stream, graph = c.c_void_p(), c.c_void_p(5)
    assert call("aclrtCreateStream", c.byref(stream)) == 0
    assert call("aclmdlRICaptureEnd", stream, c.byref(graph)) == 107029
    assert not graph.value  # NULL after every failure
    assert call("aclmdlRICaptureBegin", stream, 1) == 0
    assert call("aclrtLaunchHostFunc", stream, function, c.c_void_p(3)) == 0
    assert call("aclmdlRICaptureEnd", stream, c.byref(graph)) == 0
    assert seen == []
    for _ in range(2):
        assert call("aclmdlRIExecuteAsync", graph, stream) == 0
    assert call("aclrtSynchronizeStream", stream) == 0
    assert seen == [3, 3]
    assert call("aclmdlRIDestroy", graph) == 0
    assert call("aclmdlRIDestroy", graph) == 107017
    assert call("aclrtDestroyStream", stream) == 0
