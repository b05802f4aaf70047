# SPDX-License-Identifier: Apache-2.0
"""Mistakes and settings that need a process of their own: devices, contexts, lenient mode."""

from __future__ import annotations

import pytest

from support.process import run_python

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
    ("name", "value", "got", "expected"),
    [
        ("ACLNN_PY_SOC", "Ascend999", "unknown SoC 'Ascend999'", "one of Ascend910, Ascend910B, "),
        ("ACLNN_PY_ISA", "sse9", "unknown ISA 'sse9'", "one of baseline"),
        ("ACLNN_PY_SCHEDULE", "bogus", "'bogus'", "eager, lazy, reverse, a seed such as 7, or "),
        ("ACLNN_PY_TRACE", "/nowhere/x", "'/nowhere/x'", "a file that can be written\n"),
        ("ACLNN_PY_BACKEND", "gpu", "'gpu'", "cpu or cuda\n"),
        ("ACLNN_PY_THREADS", "many", "'many'", "an integer from 0 to 1024\n"),
        ("ACLNN_PY_THREADS", "1025", "'1025'", "an integer from 0 to 1024\n"),
        ("ACLNN_PY_DEVICE_MEMORY", "-1", "'-1'", "an integer >= 0\n"),
        ("ACLNN_PY_STRICT", "perhaps", "'perhaps'", "0 or 1\n"),
        ("ACLNN_PY_INLINE", "2", "'2'", "0 or 1\n"),
        ("ACLNN_PY_FUSE", "false", "'false'", "0 or 1\n"),
        ("ACLNN_PY_ISA", "\udcff", r"'\udcff'", "text in UTF-8\n"),
    ],
)
def test_settings_that_make_no_sense(name, value, got, expected):
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
    assert f"\n  got:      {got}" in out, out
    assert f"\n  expected: {expected}" in out, out
