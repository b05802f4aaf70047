# SPDX-License-Identifier: Apache-2.0
"""What a caller can get wrong besides the operators' own checks: a status and a sentence."""

from __future__ import annotations

import numpy as np
import pytest

import aclnn_py as acl
from support.problems import OPERATORS, Call
from support.process import in_thread, run_python
from support.tensors import build, check_error, planner, runner

H2D, D2H, D2D = (
    acl.ACL_MEMCPY_HOST_TO_DEVICE,
    acl.ACL_MEMCPY_DEVICE_TO_HOST,
    acl.ACL_MEMCPY_DEVICE_TO_DEVICE,
)
INVALID_PARAM, PARAM_INVALID, HANDLE, NO_MEMORY = 100000, 107000, 107017, 207001


def refused(status, argument, function, *values, **named):
    with pytest.raises(acl.AclError) as caught:
        function(*values, **named)
    return check_error(caught.value, status, argument=argument)


@pytest.fixture
def context(device):
    """The C names need a current device; the thread is left as it was found."""
    acl.aclrtSetDevice(0)
    yield
    acl.aclrtResetDevice(0)


@pytest.fixture
def buffer(device):
    with device.malloc(256) as opened:
        yield opened


# ---- arguments of phase 1 that no C compiler would take -----------------------------------------


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize(
    "dim", [None, "0", 1.0, 0.5, 2**63, -(2**63) - 1, [0], float("nan")], ids=repr
)
def test_dim_that_is_no_int64(device, fresh, operator, dim):
    call = Call(device, operator)
    for _ in range(2):
        call.dim = 0
        acl.aclDestroyAclOpExecutor(call.plan())  # the second time with a cached plan
        call.dim = dim
        refused(161002, "dim", planner(operator), *call.arguments())


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


@pytest.mark.parametrize("thing", ["executor", 12345, 0, -1, 2**70, 1.5, object()], ids=repr)
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


@pytest.mark.parametrize("thing", ["512", 1.5, -1, 2**64, None], ids=repr)
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
        ("stride", 161002, {"stride": [1]}),
        ("stride", 161002, {"stride": [3, 1, 1]}),
        ("stride", 161002, {"stride": [3, None]}),
        ("offset", 161002, {"offset": None}),
        ("offset", 161002, {"offset": 0.5}),
        ("offset", 161002, {"offset": 2**63}),
        ("format", 161002, {"format": "ND"}),
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
    ):
        build(line)
    acl.aclCreateTensor([2], acl.ACL_FLOAT, None, 0, 99, None, None)


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


@pytest.mark.parametrize("maker", ["empty", "zeros"])
@pytest.mark.parametrize(
    "shape", [(-1,), (2, -3), (2**40, 2**40), (2**62,), (2**63,), "ab", (1.5,)], ids=repr
)
def test_nouns_refuse_impossible_shapes_at_once(device, maker, shape):
    refused(161002, "shape", getattr(device, maker), shape, "float32")


@pytest.mark.parametrize(
    "dtype", ["float33", object, "datetime64[s]", acl.ACL_STRING, acl.ACL_DT_UNDEFINED, 5], ids=repr
)
def test_nouns_refuse_unknown_dtypes(device, dtype):
    refused(161002, "dtype", device.empty, (2,), dtype)


@pytest.mark.parametrize(
    "change",
    [{"offset": 5}, {"offset": -1}, {"strides": (3, 2)}, {"strides": (-3, 1)}, {"shape": (3, 3)}],
)
def test_views_stay_inside_their_storage(device, change):
    tensor = device.empty((2, 3), "float32")
    with pytest.raises(acl.AclError) as caught:
        tensor.view(**({"shape": (2, 3)} | change))
    check_error(caught.value, 161002)


# ---- closed things ------------------------------------------------------------------------------


def test_closed_tensor(device):
    tensor = device.zeros((2, 3), "float32")
    tensor.close()
    tensor.close()  # closing is idempotent, destroying is not
    other = device.zeros((2, 3), "float32")
    refused(161002, "self", acl.aclnnSoftmaxGetWorkspaceSize, tensor, 0, other)
    for use in (tensor.numpy, lambda: tensor.view((6,)), tensor.transpose):
        with pytest.raises(acl.AclError) as caught:
            use()
        check_error(caught.value, caught.value.status)


def test_closed_buffer_as_workspace(device, fresh, stream):
    call = Call(device, "SoftmaxBackward", dtype=np.float16, out_dtype=np.float32)
    call.plan()
    call.workspace.close()
    refused(161002, "workspace", call.run, stream)
    acl.aclDestroyAclOpExecutor(call.executor)


def test_closed_buffer_in_a_copy(device, context):
    buffer = device.malloc(64)
    buffer.close()
    host = np.zeros(64, np.uint8)
    refused(HANDLE, "dst", acl.aclrtMemcpy, buffer, 64, host, 64, H2D)
    refused(HANDLE, "src", acl.aclrtMemcpy, host, 64, buffer, 64, D2H)


def test_closed_stream(device, context, buffer):
    stream = device.create_stream()
    stream.close()
    host = np.zeros(64, np.uint8)
    for use in (
        stream.synchronize,
        stream.query,
        stream.record,
        lambda: stream.launch_host_func(print),
        lambda: acl.aclrtMemcpyAsync(buffer, 64, host, 64, H2D, stream),
        lambda: acl.aclrtSynchronizeStream(stream),
        lambda: acl.aclrtDestroyStream(stream),
    ):
        with pytest.raises(acl.AclError) as caught:
            use()
        check_error(caught.value, HANDLE)


def test_freed_memory_under_a_living_tensor(device, fresh, stream):
    buffer, out = device.malloc(24), device.zeros((2, 3), "float32")
    tensor = build("FLOAT[2,3]", buffer)
    buffer.close()
    size, executor = acl.aclnnSoftmaxGetWorkspaceSize(tensor, 1, out)
    refused(161002, "self", acl.aclnnSoftmax, None, size, executor, stream)
    acl.aclDestroyAclOpExecutor(executor)


# ---- memory -------------------------------------------------------------------------------------


def test_free_twice_and_free_what_is_not_ours(device, context):
    buffer = acl.aclrtMalloc(64)
    address = buffer.ptr
    acl.aclrtFree(buffer)
    text = refused(PARAM_INVALID, "devPtr", acl.aclrtFree, address)
    assert "free" in text
    refused(PARAM_INVALID, "devPtr", acl.aclrtFree, buffer)
    refused(PARAM_INVALID, "devPtr", acl.aclrtFree, 0xDEAD000)
    living = acl.aclrtMalloc(64)
    text = refused(PARAM_INVALID, "devPtr", acl.aclrtFree, living.ptr + 8)
    assert hex(living.ptr) in text
    acl.aclrtFree(living)


@pytest.mark.parametrize("size", [2**46, 2**62])
def test_more_memory_than_there_is(device, context, size):
    refused(NO_MEMORY, "size", acl.aclrtMalloc, size)
    refused(NO_MEMORY, "size", device.malloc, size)
    refused(NO_MEMORY, "size", device.empty, (size // 4,), "float32")


@pytest.mark.parametrize(
    ("size", "status"),
    [(0, 100000), (2**64 - 1, 100000), (2**64, 100000), (-1, 100000), (1.5, 100000), ("x", 100000)],
)
def test_sizes_that_are_none(device, context, size, status):
    refused(status, "size", acl.aclrtMalloc, size)


# ---- copies -------------------------------------------------------------------------------------


def test_copies_past_either_end(device, context, buffer):
    host = np.zeros(1024, np.uint8)
    refused(PARAM_INVALID, None, acl.aclrtMemcpy, buffer, 64, host, 65, H2D)  # count > destMax
    refused(PARAM_INVALID, "dst", acl.aclrtMemcpy, buffer, 1024, host, 1024, H2D)
    refused(PARAM_INVALID, "src", acl.aclrtMemcpy, host, 1024, buffer, 1024, D2H)
    refused(PARAM_INVALID, "dst", acl.aclrtMemcpy, host[:10], 1024, buffer, 11, D2H)
    refused(PARAM_INVALID, "src", acl.aclrtMemcpy, buffer, 256, host[:10], 11, H2D)
    with device.malloc(256) as other:
        refused(PARAM_INVALID, "dst", acl.aclrtMemcpy, buffer.ptr + 250, 256, other, 7, D2D)
        refused(PARAM_INVALID, "src", acl.aclrtMemcpy, buffer, 256, other.ptr + 250, 7, D2D)
        acl.aclrtMemcpy(buffer.ptr + 250, 6, other.ptr + 250, 6, D2D)
    refused(PARAM_INVALID, "devPtr", acl.aclrtMemset, buffer, 1024, 0, 1024)


def test_async_copies_past_either_end(device, context, buffer):
    with device.create_stream() as stream, device.malloc(256) as other:
        free_standing = stream
        host = np.zeros(1024, np.uint8)
        for arguments in (
            (buffer, 1024, host, 1024, H2D),
            (host, 1024, buffer, 1024, D2H),
            (buffer, 512, other, 512, D2D),
        ):
            with pytest.raises(acl.AclError) as caught:
                acl.aclrtMemcpyAsync(*arguments, free_standing)
            check_error(caught.value, PARAM_INVALID)
        stream.synchronize()


@pytest.mark.parametrize("kind", [6, 7, 8, -1, 99])
def test_copy_kinds(context, buffer, kind):
    refused(INVALID_PARAM, "kind", acl.aclrtMemcpy, buffer, 64, np.zeros(64, np.uint8), 64, kind)


def test_null_pointers_of_copies(context, buffer):
    refused(INVALID_PARAM, "dst", acl.aclrtMemcpy, None, 64, buffer, 64, D2D)
    refused(INVALID_PARAM, "src", acl.aclrtMemcpy, buffer, 64, None, 64, D2D)
    acl.aclrtMemcpy(None, 0, None, 0, D2D)  # count 0 comes first


ROUGH = {
    "read-only": lambda: np.frombuffer(bytes(24), np.float32),
    "Fortran-ordered": lambda: np.zeros((2, 3), np.float32, order="F"),
    "strided": lambda: np.zeros((2, 6), np.float32)[:, ::2],
    "byte-swapped": lambda: np.zeros((2, 3), np.dtype(np.float32).newbyteorder()),
    "object": lambda: np.zeros(6, object),
    "bytes": lambda: bytes(24),
    "list": lambda: [0.0] * 6,
    "text": lambda: "abc",
}


@pytest.mark.parametrize("rough", ROUGH)
def test_host_arrays_that_cannot_be_written(context, buffer, rough):
    refused(INVALID_PARAM, "dst", acl.aclrtMemcpy, ROUGH[rough](), 24, buffer, 24, D2H)


@pytest.mark.parametrize("rough", ROUGH)
def test_host_arrays_that_cannot_be_read(context, buffer, rough):
    if rough in ("read-only", "bytes"):
        acl.aclrtMemcpy(buffer, 256, ROUGH[rough](), 24, H2D)
        return
    refused(INVALID_PARAM, "src", acl.aclrtMemcpy, buffer, 256, ROUGH[rough](), 24, H2D)


# ---- in a process of their own ------------------------------------------------------------------


def script(code, **environment):
    done = run_python(code, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_workspace_tensor_and_stream_of_another_device():
    script(
        """
        import numpy as np
        import aclnn_py as acl
        here, there = acl.Device(0), acl.Device(1)
        x = here.tensor(np.ones((4, 5), np.float16)); out = here.full((4, 5), 7, "float32")
        foreign = there.tensor(np.ones((4, 5), np.float16))
        stream, elsewhere = here.create_stream(), there.create_stream()

        def refused(argument, workspace, executor, size, stream):
            try:
                acl.aclnnSoftmax(workspace, size, executor, stream)
            except acl.AclnnError as error:
                assert error.status == 161002, error
                assert error.argument in argument, error
                assert "device" in str(error), error
            else:
                raise SystemExit(f"{argument} of another device was taken")

        size, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, 1, out)
        refused(("workspace",), there.malloc(size), executor, size, stream)
        refused(("self", "workspace"), here.malloc(size), executor, size, elsewhere)
        acl.aclnnSoftmax(here.malloc(size), size, executor, stream)
        stream.synchronize()
        assert np.allclose(out.numpy(), 0.2, atol=1e-3)
        size, executor = acl.aclnnSoftmaxGetWorkspaceSize(foreign, 1, out)
        refused(("self",), here.malloc(size), executor, size, stream)
        """,
        ACLNN_PY_DEVICES="2",
    )


def test_stream_of_another_context():
    script(
        """
        import numpy as np
        import aclnn_py as acl
        acl.aclInit(); acl.aclrtSetDevice(0)
        x = acl.Device(0).tensor(np.ones((4, 5), np.float32))
        out = acl.Device(0).full((4, 5), 7, "float32")
        stream = acl.aclrtCreateStream()
        other = acl.aclrtCreateContext(0)
        size, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, 1, out)
        try:
            acl.aclnnSoftmax(None, size, executor, stream)
        except acl.AclnnError as error:
            assert (error.status, error.argument) == (361001, "stream"), error
            assert "107003" in str(error), error
        else:
            raise SystemExit("a stream of another context was taken")
        """
    )


def test_lenient_mode_relaxes_three_checks_and_no_more():
    script(
        """
        import numpy as np
        import aclnn_py as acl
        device = acl.Device(0); stream = device.create_stream()
        x = device.tensor(np.ones((4, 5), np.float16)); out = device.full((4, 5), 7, "float32")

        # 1. a workspace said to be smaller than it is
        size, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, 1, out)
        acl.aclnnSoftmax(device.malloc(size), size - 1, executor, stream)
        stream.synchronize()
        assert np.allclose(out.numpy(), 0.2, atol=1e-3)

        # 2. a contiguous view past its storage, inside its allocation
        memory = device.malloc(256)
        short = acl.aclCreateTensor([4, 5], acl.ACL_FLOAT, None, 0, acl.ACL_FORMAT_ND, [3], memory)
        size, executor = acl.aclnnSoftmaxGetWorkspaceSize(short, 1, short)
        acl.aclnnSoftmax(None, size, executor, stream)
        stream.synchronize()

        # 3. phase 2 of another operator runs what phase 1 planned
        y = device.full((4, 5), 7, "float32"); z = device.tensor(np.ones((4, 5), np.float32))
        size, executor = acl.aclnnSoftmaxGetWorkspaceSize(z, 1, y)
        acl.aclnnLogSoftmax(None, size, executor, stream)
        stream.synchronize()
        assert np.allclose(y.numpy(), 0.2)

        # memory safety stays: past the allocation, no allocation, consumed
        def refused(status, argument, function, *values):
            try:
                function(*values)
            except acl.AclnnError as error:
                assert error.status == status, error
                assert error.argument in argument, error
            else:
                raise SystemExit(f"{argument} was taken")

        refused(161002, ("executor",), acl.aclnnSoftmax, None, 0, executor, stream)
        ND = acl.ACL_FORMAT_ND
        long = acl.aclCreateTensor([1000], acl.ACL_FLOAT, None, 0, ND, None, device.malloc(256))
        size, executor = acl.aclnnSoftmaxGetWorkspaceSize(long, 0, long)
        refused(161002, ("self", "out"), acl.aclnnSoftmax, None, size, executor, stream)
        strided = acl.aclCreateTensor(
            [400, 500], acl.ACL_FLOAT, [1, 400], 0, ND, [200000], device.malloc(800000)
        )
        size, executor = acl.aclnnSoftmaxGetWorkspaceSize(strided, 0, strided)
        tiny = device.malloc(64)
        small = ("workspace", "workspaceSize")
        refused(161002, small, acl.aclnnSoftmax, tiny, 64, executor, stream)
        """,
        ACLNN_PY_STRICT="0",
    )


def test_vendor_cache_switched_off_by_its_variable_even_when_empty():
    for value in ("1", ""):
        script(
            """
            import numpy as np
            import aclnn_py as acl
            device = acl.Device(0); stream = device.create_stream()
            x = device.tensor(np.ones((4, 5), np.float32)); out = device.full((4, 5), 7, "float32")
            for _ in range(3):
                size, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, 1, out)
                acl.aclSetAclOpExecutorRepeatable(executor)
                acl.aclDestroyAclOpExecutor(executor)
                size, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, 1, out)
                acl.aclnnSoftmax(None, size, executor, stream)
                stream.synchronize()
            """,
            DISABLE_L2_CACHE=value,
        )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ACLNN_PY_SOC", "Ascend999"),
        ("ACLNN_PY_ISA", "sse9"),
        ("ACLNN_PY_THREADS", "many"),
        ("ACLNN_PY_STRICT", "perhaps"),
    ],
)
def test_settings_that_make_no_sense(name, value):
    out = script(
        """
        import aclnn_py as acl
        try:
            device = acl.Device(0)
            x = device.zeros((2, 3), "float32")
            acl.aclnnSoftmaxGetWorkspaceSize(x, 1, x)
        except acl.AclError as error:
            print(error.status, error.argument, error)
        """,
        **{name: value},
    )
    assert out.startswith(f"100000 {name} "), out
    assert "expected:" in out
