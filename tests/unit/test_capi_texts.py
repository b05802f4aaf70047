# SPDX-License-Identifier: Apache-2.0
"""A wrong call is refused alike by both faces: the same status, the same words.

The bad calls of every operator's phase 1 are the rows of the status tables; those of phase 2 and of
tensors follow. Each is made through the C libraries and through Python, on the same objects. One
difference is meant: a destroyed object is a number in C, while Python still knows what it was.
"""

from __future__ import annotations

import ctypes as c
import re

import pytest

import aclnn_py as acl
from aclnn_py.abi.toolkit import library_path
from aclnn_py.core import settings
from support.phase1_table import CASES, OK, arguments_of, name_of
from support.problems import OPERATORS, Call
from support.tensors import SOCS, planner, runner

LIBRARY = c.CDLL(str(library_path()))
BAD = [case for case in CASES if case[3] != OK]


def from_c(function, *values):
    """Status and text of a C call; nouns go by their handles."""
    LIBRARY.aclGetRecentErrMsg.restype = c.c_char_p
    LIBRARY.aclGetRecentErrMsg()
    status = LIBRARY[function](*[c.c_void_p(getattr(v, "handle", v)) for v in values])
    return status, (LIBRARY.aclGetRecentErrMsg() or b"").decode()


def from_python(function, *values):
    LIBRARY.aclGetRecentErrMsg.restype = c.c_char_p
    LIBRARY.aclGetRecentErrMsg()  # forgets what earlier tests have left
    with pytest.raises(acl.AclError) as caught:
        function(*values)
    return caught.value.status, (LIBRARY.aclGetRecentErrMsg() or b"").decode(), str(caught.value)


def words(text):
    """Without process, time and line breaks."""
    text = re.sub(r"\[PID: \d+\] [-\d:]+ ", "", text)
    return " ".join(text.split())


def assert_alike(function, text, theirs):
    """The texts of C and of Python."""
    ours, python = words(text), words(theirs)
    assert function in ours
    if "destroyed" in ours and "0x" in ours and "0x" not in python:
        assert function in python
        assert "destroyed" in python
        blamed = re.search(r"argument '(\w+)'", python)
        assert blamed is None or f"argument {blamed[1]}:" in ours
    else:
        assert ours == python


def test_the_table_covers_every_operator():
    assert {case[0] for case in BAD} == set(OPERATORS)
    assert len(BAD) > 300


@pytest.mark.parametrize("case", BAD, ids=name_of)
def test_phase_1(case):
    operator, soc, cells, status, _ = case
    with settings.override(soc=SOCS[soc]):
        arguments = list(arguments_of(cells))
        theirs = from_python(planner(operator), *arguments)
        size, executor = c.c_uint64(), c.c_void_p()
        c_order = [*arguments, c.addressof(size), c.addressof(executor)]
        found, text = from_c(f"aclnn{operator}GetWorkspaceSize", *c_order)
    assert found == theirs[0] == status
    assert_alike(f"aclnn{operator}", text, theirs[1])
    assert executor.value is None
    unnamed = re.findall(r"\bDT(\d+)\[", str(cells))  # numbers that are no type
    if unnamed and "DT_UNDEFINED" in text:
        assert f"(aclDataType {unnamed[0]})" in text


# ---- phase 2, executors, tensors ----

_FAULTS = {
    "no executor": lambda call: (call.workspace, call.size, None),
    "one byte less": lambda call: (call.workspace, call.size - 1, call.executor),
    "past its allocation": lambda call: (call.workspace.ptr + 8, call.size, call.executor),
    "foreign workspace": lambda call: (0xDEAD000, call.size, call.executor),
}


@pytest.mark.parametrize("fault", _FAULTS)
@pytest.mark.parametrize("operator", [name for name in OPERATORS if name.endswith("Backward")])
def test_phase_2(device, fresh, stream, operator, fault):
    call = Call(device, operator, (4, 5), dtype="float16", out_dtype="float32")
    call.plan()
    workspace, size, executor = _FAULTS[fault](call)
    theirs = from_python(runner(operator), workspace, size, executor, stream)
    address = getattr(workspace, "ptr", workspace)
    found, text = from_c(f"aclnn{operator}", address, size, executor, stream)
    assert found == theirs[0]
    assert_alike(f"aclnn{operator}", text, theirs[1])
    call.run(stream)
    stream.synchronize()
    call.assert_right()


@pytest.mark.parametrize(
    ("function", "gone"),
    [
        ("aclDestroyTensor", "tensor"),
        ("aclDestroyAclOpExecutor", "executor"),
        ("aclSetAclOpExecutorRepeatable", "executor"),
        ("aclrtSynchronizeStream", "stream"),
        ("aclrtDestroyStream", "stream"),
        ("aclrtDestroyEvent", "event"),
    ],
)
def test_what_is_destroyed(device, fresh, function, gone):
    acl.aclrtSetDevice(0)
    call = Call(device, "Softmax")
    tensor = acl.aclCreateTensor([2], 0, None, 0, 2, [2], None)
    queue, event = acl.aclrtCreateStream(), acl.aclrtCreateEvent()
    executor = call.plan()
    acl.aclDestroyTensor(tensor)
    acl.aclDestroyAclOpExecutor(executor)
    acl.aclrtDestroyStream(queue)
    acl.aclrtDestroyEvent(event)
    target = {"tensor": tensor, "executor": executor, "stream": queue, "event": event}[gone]
    theirs = from_python(getattr(acl, function), target)
    found, text = from_c(function, target)
    acl.aclrtResetDevice(0)
    assert found == theirs[0]
    assert_alike(function, text, theirs[1])


GETTERS = {
    "aclGetViewShape": ("viewDims", "viewDimsNum"),
    "aclGetStorageShape": ("storageDims", "storageDimsNum"),
    "aclGetViewStrides": ("stridesValue", "stridesNum"),
    "aclGetViewOffset": ("offset",),
    "aclGetFormat": ("format",),
    "aclGetDataType": ("dataType",),
    "aclGetRawTensorAddr": ("addr",),
}


@pytest.mark.parametrize("function", GETTERS)
def test_getters_name_themselves_and_what_is_wrong(function):
    tensor = acl.aclCreateTensor([2], 0, None, 0, 2, [2], None)
    room = (c.c_uint64 * 4)()
    for at, name in enumerate(GETTERS[function]):
        places = [None if i == at else c.addressof(room) for i in range(len(GETTERS[function]))]
        found, text = from_c(function, tensor, *places)
        assert found == 161001
        assert f"{function}, argument {name}: got NULL" in text
    acl.aclDestroyTensor(tensor)
    found, text = from_c(function, tensor, c.addressof(room), c.addressof(room))
    assert found == 161002
    assert f"{function}, argument tensor: " in text


SETTERS = ["Input", "Output", "", "DynamicInput", "DynamicOutput", "Dynamic"]


@pytest.mark.parametrize("which", SETTERS)
@pytest.mark.parametrize("prefix", ["acl", "Acl"])
def test_setters_name_themselves_and_what_is_wrong(prefix, which):
    function = f"{prefix}Set{which}TensorAddr"
    name = "tensors" if "Dynamic" in which else "tensor"
    found, text = from_c(function, None, None, None, None, None)
    assert found == 561103
    assert f"{function}, argument {name}: got NULL" in text


STRING = 13
CODES = [
    pytest.param("aclCreateScalar", (8, STRING), "EZ1006", id="type of a scalar"),
    pytest.param("aclSetAclOpExecutorRepeatable", (0,), "EZ1011", id="no executor"),
    pytest.param("aclSetInputTensorAddr", (0, 0, 0, 0), "EZ1011", id="no tensor"),
    pytest.param("aclSetDynamicInputTensorAddr", (0, 0, 0, "list", 0), "EZ1012", id="no member"),
]


@pytest.mark.parametrize(("function", "values", "code"), CODES)
def test_codes_that_the_status_does_not_tell(function, values, code):
    LIBRARY.aclCreateTensorList.restype = c.c_void_p
    empty = c.c_void_p(LIBRARY.aclCreateTensorList(None, c.c_uint64(0)))
    given = [empty.value if value == "list" else value for value in values]
    assert f"({code}): " in from_c(function, *given)[1]
    assert "(EZ1001): " in from_c("aclCreateScalar", 0, 0)[1]  # the next one is its status's again
    LIBRARY.aclDestroyTensorList(empty)


# ---- what only C names can be given: any handle for any other ----


def test_a_handle_of_another_kind_is_named_so(stream):
    status, text = from_c("aclrtDestroyEvent", stream)
    assert status == 107017
    assert "a live object of another kind" in words(text)


def test_a_member_destroyed_before_its_list_is_blamed_on_the_list():
    LIBRARY.aclCreateScalar.restype = LIBRARY.aclCreateScalarList.restype = c.c_void_p
    value = c.c_float(1)
    made = [LIBRARY.aclCreateScalar(c.byref(value), c.c_int(0)) for _ in range(2)]
    both = (c.c_void_p * 2)(*made)
    listed = LIBRARY.aclCreateScalarList(both, c.c_uint64(2))
    assert from_c("aclDestroyScalar", made[1])[0] == 0
    status, text = from_c("aclDestroyScalarList", listed)
    assert status == 161002
    assert "aclDestroyScalarList, argument array: got member 1, 0x" in words(text)
    assert "destroyed already" in words(text)
    assert from_c("aclDestroyScalar", made[0])[0] == 161002  # the others are destroyed all the same


@pytest.mark.parametrize("function", ["aclGetDataBufferAddr", "aclGetDataBufferSizeV2"])
def test_questions_about_no_data_buffer_name_themselves(function):
    assert f"{function}, argument dataBuffer: got NULL" in words(from_c(function, None)[1])


@pytest.mark.parametrize(
    ("destroy", "make", "made", "wanted"),
    [
        ("aclDestroyIntArray", "aclCreateFloatArray", "a float array", "an int array"),
        ("aclDestroyScalar", "aclCreateBoolArray", "a bool array", "a scalar"),
        ("aclDestroyTensorList", "aclCreateIntArray", "an int array", "a tensor list"),
    ],
)
def test_values_of_another_kind(destroy, make, made, wanted):
    create = LIBRARY[make]
    create.restype = c.c_void_p
    value = create(None, c.c_uint64(0))
    status, text = from_c(destroy, value)
    assert status == 161002
    assert f"expected {wanted}" in words(text)
    assert f"({made})" in words(text)


@pytest.mark.parametrize("function", ["aclrtCreateStream", "aclrtCreateStreamWithConfig"])
def test_a_call_names_itself(function):
    status, text = from_c(function, None, 0, 0)
    assert status == 100000
    assert f"{function}, argument stream:" in words(text)


def test_a_bad_block_type_is_refused_before_a_missing_function(stream):
    assert from_c("aclrtLaunchCallback", None, None, 7, stream)[0] == 100000
    assert from_c("aclrtLaunchCallback", None, None, 0, stream)[0] == 107000
