# SPDX-License-Identifier: Apache-2.0
"""What a caller can get wrong besides the operators' own checks: a status and a sentence."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import aclnn_py as acl
from support.cases import shown
from support.problems import OPERATORS, Call
from support.process import in_thread
from support.tensors import build, check_error, planner, refused, runner

NAN, INF = float("nan"), float("inf")

# ---- arguments of phase 1 that no C compiler would take -----------------------------------------


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize(
    "dim", [None, "0", 1.0, 0.5, 2**63, -(2**63) - 1, [0], float("nan"), np.array([0])], ids=repr
)
def test_dim_that_is_no_int64(device, fresh, operator, dim):
    call = Call(device, operator)
    for _ in range(2):
        call.dim = 0
        acl.aclDestroyAclOpExecutor(call.plan())  # the second time with a cached plan
        call.dim = dim
        text = refused(161002, "dim", planner(operator), *call.arguments())
        for label in ("expected: ", "fix:      pass dim as "):
            assert f"  {label}an int from -2**63 to 2**63 - 1" in text


def test_dim_as_a_numpy_integer(device, stream):
    call = Call(device, "Softmax")
    call.dim = np.int64(-1)
    call.go(stream)
    call.assert_right()


@pytest.mark.parametrize(
    "thing",
    ["tensor", 7, 3.5, np.zeros((2, 3), np.float32), object()],
    ids=lambda v: type(v).__name__,
)
@pytest.mark.parametrize("operator", OPERATORS)
def test_tensor_that_is_none(device, operator, thing):
    """Every position, a NumPy array included: the text says what to pass."""
    names = ("self", "out") if "Backward" not in operator else ("gradOutput", "output", "out")
    for position, name in enumerate(names):
        call = Call(device, operator)
        tensors = [*call.inputs, call.out]
        tensors[position] = thing
        refused(161002, name, planner(operator), *tensors[:-1], 0, tensors[-1])


@pytest.mark.parametrize("thing", ["executor", 12345, 0, -1, 2**70, 1.5, object()], ids=shown)
@pytest.mark.parametrize("operator", OPERATORS)
def test_executor_that_is_none(operator, stream, thing):
    refused(161002, "executor", runner(operator), None, 0, thing, stream)


@pytest.mark.parametrize("thing", ["stream", 12345, -1, 2**70, 1.5], ids=repr)
def test_stream_that_is_none(device, fresh, thing):
    call = Call(device, "Softmax")
    call.plan()
    refused(161002, "stream", call.run, thing)
    acl.aclDestroyAclOpExecutor(call.executor)


@pytest.mark.parametrize("thing", ["workspace", 1.5, -1, 2**70], ids=repr)
def test_workspace_that_is_no_address(device, fresh, stream, thing):
    call = Call(device, "SoftmaxBackward", dtype=np.float16, out_dtype=np.float32)
    call.plan()
    refused(161002, "workspace", acl.aclnnSoftmaxBackward, thing, call.size, call.executor, stream)
    acl.aclDestroyAclOpExecutor(call.executor)


@pytest.mark.parametrize("thing", ["512", 1.5, -1, 2**64, None, True], ids=repr)
def test_workspace_size_that_is_no_size(device, fresh, stream, thing):
    call = Call(device, "SoftmaxBackward", dtype=np.float16, out_dtype=np.float32)
    call.plan()
    refused(
        161002,
        "workspaceSize",
        acl.aclnnSoftmaxBackward,
        call.workspace,
        thing,
        call.executor,
        stream,
    )
    acl.aclDestroyAclOpExecutor(call.executor)


def test_no_stream_and_no_current_device(device, fresh):
    """NULL is the default stream of the current context; a thread without one is told so."""
    call = Call(device, "Softmax")
    call.plan()
    with pytest.raises(acl.AclError) as caught:
        in_thread(call.run, None)
    assert "107002" in check_error(caught.value, 361001, operator="Softmax", argument="stream")
    acl.aclDestroyAclOpExecutor(call.executor)


# ---- creating tensors ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argument", "status", "values"),
    [
        ("viewDims", 161001, {"viewDims": None}),
        ("viewDims", 161002, {"viewDims": 3}),
        ("viewDims", 161002, {"viewDims": [2, "x"]}),
        ("viewDims", 161002, {"viewDims": [2, 1.5]}),
        ("viewDims", 161002, {"viewDims": [2**63]}),
        ("viewDims", 161002, {"viewDims": [1] * 26}),
        ("dataType", 161002, {"dataType": "float33"}),
        ("dataType", 161002, {"dataType": None}),
        ("dataType", 161002, {"dataType": 2**31}),
        ("stride", 161002, {"stride": [1]}),
        ("stride", 161002, {"stride": [3, 1, 1]}),
        ("stride", 161002, {"stride": [3, None]}),
        ("offset", 161002, {"offset": None}),
        ("offset", 161002, {"offset": 0.5}),
        ("offset", 161002, {"offset": 2**63}),
        ("format", 161002, {"format": "ND"}),
        ("format", 161002, {"format": 2**31}),
        ("storageDims", 161002, {"storageDims": 6}),
        ("tensorData", 161002, {"tensorData": "memory"}),
        ("tensorData", 161002, {"tensorData": -1}),
        ("tensorData", 161002, {"tensorData": 2**64}),
        ("tensorData", 161002, {"tensorData": np.zeros(6, np.float32)}),
    ],
    ids=str,
)
def test_create_tensor(device, argument, status, values):
    plain = {
        "viewDims": [2, 3], "dataType": acl.ACL_FLOAT, "stride": None, "offset": 0,
        "format": acl.ACL_FORMAT_ND, "storageDims": None, "tensorData": None,
    }  # fmt: skip
    acl.aclCreateTensor(**plain)
    refused(status, argument, acl.aclCreateTensor, **(plain | values))


def test_create_tensor_checks_nothing_else():
    """Negative dims, unknown types and formats, views out of any storage: phase 1 tells."""
    for line in (
        "FLOAT[-1,3]",
        "DT5[2]",
        "FLOAT[2] offset=-9",
        "FLOAT[2,2] strides=-5,900",
        f"FLOAT[{2**62},{2**62}]",
        f"FLOAT[{2**62},4,{2**62}]",
    ):
        build(line)
    acl.aclCreateTensor([2], acl.ACL_FLOAT, None, 0, 99, None, None)


def test_row_major_strides_that_overflow_are_the_planners_business(device):
    tensor = build(f"FLOAT[{2**62},4,{2**62}]")
    refused(161002, "self", planner("Softmax"), tensor, 0, tensor)
    assert device.empty((0, 2**62, 2**62)).nbytes == 0


@pytest.mark.parametrize(
    ("shape", "offset", "address"), [((4,), 2**62, 64), ((4,), 1, 2**64 - 8), ((4,), -1, 0)]
)
def test_reading_a_tensor_that_lies_nowhere(shape, offset, address):
    tensor = acl.aclCreateTensor(shape, "float32", None, offset, 2, [2**62 + 4], address)
    refused(107000, "self", tensor.numpy)


def test_the_stride_of_an_axis_of_one_element_means_nothing(device):
    memory = device.tensor(np.arange(12, dtype=np.float32))
    tensor = memory.view((2, 1, 3), (6, 2**62, 2))
    assert tensor.numpy().tolist() == [[[0, 2, 4]], [[6, 8, 10]]]
    assert np.from_dlpack(tensor).shape == (2, 1, 3)


@pytest.mark.parametrize(
    "getter",
    [
        "ViewShape",
        "StorageShape",
        "ViewStrides",
        "ViewOffset",
        "Format",
        "DataType",
        "RawTensorAddr",
    ],
)
def test_getters_of_null(getter):
    refused(161001, "tensor", getattr(acl, f"aclGet{getter}"), None)


def test_raw_address_of_null():
    refused(161001, "tensor", acl.aclSetRawTensorAddr, None, 4096)
    tensor = build("FLOAT[2]", 4096)
    acl.aclSetRawTensorAddr(tensor, None)
    assert not acl.aclGetRawTensorAddr(tensor)


@pytest.mark.parametrize("thing", ["1", 1.5, -1, 2**64, True], ids=repr)
def test_data_pointer_that_is_no_address(device, thing):
    tensor = device.zeros(2)
    before = tensor.data_ptr
    refused(161002, "address", tensor.set_data_ptr, thing)
    refused(161002, "addr", acl.aclSetRawTensorAddr, tensor, thing)
    assert tensor.data_ptr == before


def test_a_tensor_becomes_an_array_only_as_a_copy(device):
    tensor = device.full(3, 2)
    assert np.array_equal(np.array(tensor), [2, 2, 2])
    with pytest.raises(ValueError, match="from_dlpack"):
        np.array(tensor, copy=False)
    assert np.array_equal(np.from_dlpack(tensor), [2, 2, 2])


@pytest.mark.parametrize("size", [3, np.int64(3), np.uint8(3), np.array(3)], ids=repr)
def test_one_integer_is_a_shape(device, size):
    for made in (device.empty(size), device.zeros(size), device.full(size, 7)):
        assert made.shape == (3,)


@pytest.mark.parametrize("maker", ["empty", "zeros"])
@pytest.mark.parametrize(
    "shape", [(-1,), (2, -3), (2**40, 2**40), (2**62,), (2**63,), "ab", (1.5,)], ids=repr
)
def test_nouns_refuse_impossible_shapes_at_once(device, maker, shape):
    refused(161002, "shape", getattr(device, maker), shape, "float32")


@pytest.mark.parametrize(
    "dtype",
    [
        "float33",
        "\ud800",
        "a\0b",
        "i4,,f",
        object,
        "datetime64[s]",
        acl.ACL_STRING,
        acl.ACL_DT_UNDEFINED,
        5,
        None,
    ],
    ids=repr,
)
def test_nouns_refuse_unknown_dtypes(device, dtype):
    refused(161002, "dtype", device.empty, (2,), dtype)


@pytest.mark.parametrize("kind", [int, np.int64, np.int32, np.uint8])
def test_a_dtype_by_its_number(device, kind):
    number = kind(acl.ACL_BF16)
    assert device.empty((2,), number).dtype.name == "bfloat16"
    assert acl.aclGetDataType(acl.aclCreateTensor((2,), number, None, 0, 2, None, None)) == 27


@pytest.mark.parametrize(
    "change",
    [{"offset": 5}, {"offset": -1}, {"strides": (3, 2)}, {"strides": (-3, 1)}, {"shape": (3, 3)}],
)
def test_views_stay_inside_their_storage(device, change):
    tensor = device.empty((2, 3), "float32")
    with pytest.raises(acl.AclError) as caught:
        tensor.view(**({"shape": (2, 3)} | change))
    check_error(caught.value, 161002)


@pytest.mark.parametrize(
    ("method", "arguments", "told"),
    [
        ("transpose", (0, 5), "a permutation of (0, 1)"),
        ("transpose", (0, 0), "a permutation of (0, 1)"),
        ("transpose", (-3, 0), "a permutation of (0, 1)"),
        ("transpose", ((),), "a permutation of (0, 1)"),
        ("transpose", (1,), "a permutation of (0, 1)"),
        ("transpose", ((1, "0"),), "a sequence of integers"),
        ("transpose", (1.5,), "a sequence of integers"),
        ("view", ((-1,),), "sizes >= 0; -1 is not inferred"),
        ("view", ((-1, 1), (1,)), "sizes >= 0; -1 is not inferred"),
    ],
    ids=str,
)
def test_the_method_that_was_called_is_blamed(device, method, arguments, told):
    tensor = device.empty((2, 3), "float32")
    argument = "axes" if method == "transpose" else "shape"
    text = refused(161002, argument, getattr(tensor, method), *arguments)
    assert text.startswith(f"Tensor.{method}: argument '{argument}' ")
    assert told in text
    assert "inside the storage" not in text


def test_a_transpose_of_a_tensor_outside_its_storage():
    text = refused(161002, "self", build("FLOAT[4,3] storage=9").transpose)
    assert text.startswith("Tensor.transpose: ")


@pytest.mark.parametrize(
    "axes",
    [(), (None,), (1, 0), ((1, 0),), ([-1, 0],), (np.array([1, -2]),), (np.int64(1), 0)],
    ids=str,
)
def test_transposed_as_numpy_does(device, axes):
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.array_equal(device.tensor(array).transpose(*axes).numpy(), array.T)
    vector, scalar = device.full(3, 1), device.full((), 1)
    assert vector.transpose(0).shape == vector.transpose((-1,)).shape == (3,)
    assert scalar.transpose().shape == scalar.transpose(()).shape == ()


def test_shapes_that_no_array_has(device):
    with pytest.raises(acl.AclnnError) as caught:
        device.empty((2, 3)).view((2**62, 2**62), (0, 0))
    check_error(caught.value, 161002, argument="shape")
    with pytest.raises(acl.AclnnError) as caught:
        acl.aclCreateTensor((-2,), "float32", None, 0, 2, None, device.malloc(8)).numpy()
    check_error(caught.value, 161002, argument="self")


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("value", lambda d: d.full((2,), 300, "int8")),
        ("value", lambda d: d.full((2,), "a", "float32")),
        ("value", lambda d: d.full((2,), [1, 2, 3], "float32")),
        *[("value", lambda d, v=v: d.full((2,), v, "int8")) for v in (300.0, -129.5, NAN, INF)],
        *[("value", lambda d, v=v: d.full((2,), v, "float32")) for v in (1 + 2j, 1j * NAN)],
        *[("array", lambda d, t=t: d.tensor([2, 1j], t)) for t in ("float32", "int8", "bfloat16")],
        ("array", lambda d: d.tensor(np.array([300], np.longdouble), "int8")),
        ("array", lambda d: d.tensor(np.array([NAN], np.longdouble), "int8")),
        ("array", lambda d: d.tensor([[1.0], [1.0, 2.0]])),
        ("array", lambda d: d.tensor(["a"], "float32")),
        ("array", lambda d: d.tensor(["a"])),
        ("array", lambda d: d.tensor(None)),
        ("array", lambda d: d.tensor({1, 2})),
        ("array", lambda d: d.tensor([300], "uint8")),
        ("array", lambda d: d.tensor([-1], "uint64")),
        ("array", lambda d: d.tensor([1.0, float("nan")], "int32")),
        ("array", lambda d: d.tensor(np.array([1, float("inf")], ml_dtypes.bfloat16), "int8")),
    ],
)
def test_values_that_have_no_place_in_a_tensor(device, argument, call):
    with pytest.raises(acl.AclnnError) as caught:
        call(device)
    check_error(caught.value, 161002, argument=argument)
    assert "__trunc__" not in str(caught.value)


@pytest.mark.parametrize("source", ["int64", "int32", "uint8", "bool", ">i2", ">u8", "<i4"])
@pytest.mark.parametrize("target", ["int8", "int32", "int64", "uint16", "float32", "bool"])
def test_integers_of_any_type_and_byte_order(device, source, target):
    values = np.array([0, 1, 100], source)
    held = device.tensor(values, target).numpy()
    assert held.dtype == np.dtype(target)
    assert np.array_equal(held, np.array(values.tolist(), target))


@pytest.mark.parametrize("dtype", ["int8", "float32", "bfloat16", "complex64", "bool"])
@pytest.mark.parametrize("one", [1, 1.0, np.longdouble(1), 1 + 0j, np.True_], ids=repr)
def test_one_number_of_any_type(device, one, dtype):
    for made in (device.full((2,), one, dtype), device.tensor(np.array([one, one]), dtype)):
        assert np.array_equal(made.numpy(), np.ones(2, dtype))


def test_the_truth_of_complex_numbers(device):
    assert device.tensor([0j, 1j], "bool").numpy().tolist() == [False, True]
    assert device.full((1,), 1j, "bool").numpy().tolist() == [True]


def test_values_that_an_integer_type_just_has(device):
    assert np.array_equal(device.tensor([1, 2, 3], "int32").numpy(), [1, 2, 3])
    assert np.array_equal(device.tensor([0, 255], "uint8").numpy(), [0, 255])
    values = np.array([-128.75, 127.75, -0.5])
    assert np.array_equal(device.tensor(values, "int8").numpy(), [-128, 127, 0])
    assert np.array_equal(device.tensor([2**64 - 1], "uint64").numpy(), [2**64 - 1])


@pytest.mark.parametrize(
    "getter",
    [
        "aclGetViewShape",
        "aclGetStorageShape",
        "aclGetViewStrides",
        "aclGetViewOffset",
        "aclGetFormat",
        "aclGetDataType",
        "aclGetRawTensorAddr",
    ],
)
def test_getters_of_a_destroyed_tensor(device, getter):
    tensor = device.zeros((2, 3))
    acl.aclDestroyTensor(tensor)
    with pytest.raises(acl.AclnnError) as caught:
        getattr(acl, getter)(tensor)
    check_error(caught.value, 161002, argument="tensor")


@pytest.mark.parametrize(
    ("call", "function"),
    [
        (lambda t: t.numpy(), "Tensor.numpy"),
        (np.array, "Tensor.numpy"),
        (lambda t: t.view((3, 2)), "Tensor.view"),
        (lambda t: t.transpose(), "Tensor.transpose"),
        (lambda t: t.data_ptr, "Tensor.data_ptr"),
        (lambda t: t.set_data_ptr(None), "Tensor.set_data_ptr"),
        (lambda t: t.__dlpack__(), "Tensor.__dlpack__"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_methods_of_a_closed_tensor(device, call, function):
    tensor = device.zeros((2, 3))
    tensor.close()
    text = refused(161002, "self", call, tensor)
    assert text.startswith(f"{function}: argument 'self' has been destroyed\n")
