# SPDX-License-Identifier: Apache-2.0
"""A machine without CuPy, or without a GPU: what is said; and CUDA as the device of the C names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support import cuda_twin
from support.fake_gpu import FAKE
from support.process import run_python
from support.sources import ROOT

PATHS = f"{FAKE}:{ROOT / 'tests'}"


def said(code, **environment):
    done = run_python(code, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_does_not_import_cupy():
    code = "import sys, aclnn_py; aclnn_py.Device(0).zeros(3); print('cupy' in sys.modules)"
    assert said(code, PYTHONPATH=PATHS).strip() == "False"


NO_CUPY = """
    import sys
    sys.modules["cupy"] = None  # as if it were not installed
    import aclnn_py
    try:
        aclnn_py.Device("cuda:0")
    except aclnn_py.AclError as error:
        print(error.status, error)
"""


def test_without_cupy_it_says_what_to_install():
    text = said(NO_CUPY)
    assert text.startswith("507033")
    assert "pip install 'cupy-cuda12x[ctk]>=14'" in text
    assert "CuPy 14 or later" in text


def test_without_a_gpu_it_says_so():
    code = NO_CUPY.replace('sys.modules["cupy"] = None', "pass")
    text = said(code, PYTHONPATH=PATHS, FAKE_CUPY_DEVICES="0")
    assert text.startswith("207004")
    assert "cudaErrorNoDevice" in text
    assert "nvidia-smi" in text


INFO = """
    import sys
    from aclnn_py.cli import main
    sys.argv = ["aclnn-py", "info"]
    main()
"""


@pytest.mark.parametrize(
    ("devices", "expected"), [("0", "none: CuPy 14.2.0"), ("1", "cuda:0  Fake")]
)
def test_info_lists_gpus(devices, expected):
    assert expected in said(INFO, PYTHONPATH=PATHS, FAKE_CUPY_DEVICES=devices)


@pytest.mark.parametrize(
    ("devices", "expected"),
    [("0", "none: ACL_ERROR_RT_NO_DEVICE 207004"), ("2", "cuda:0, cuda:1")],
)
def test_info_lists_the_devices_of_the_backend(devices, expected):
    """Also where there is none: whoever asks wants to know why."""
    environment = {"FAKE_CUPY_DEVICES": devices, "ACLNN_PY_BACKEND": "cuda"}
    text = said(INFO, PYTHONPATH=PATHS, **environment)
    assert re.search(rf"^devices +{expected} *$", text, re.MULTILINE), text
    assert "ACLNN_PY_BACKEND" in text


def test_a_wrong_number_is_refused():
    code = """
        import aclnn_py
        for wrong in ("cuda:7", "cuda", "gpu:0", "cuda:-1"):
            try:
                aclnn_py.Device(wrong)
            except aclnn_py.AclError as error:
                print(wrong, error.status)
    """
    text = said(code, PYTHONPATH=PATHS)
    assert text.split() == [
        "cuda:7",
        "107001",
        "cuda",
        "100000",
        "gpu:0",
        "100000",
        "cuda:-1",
        "100000",
    ]


@pytest.mark.skipif(cuda_twin.compiler() is None, reason="no C++ compiler")
def test_cuda_is_the_device_of_the_c_names():
    code = """
        import numpy as np
        import aclnn_py as acl
        acl.aclInit()
        print(acl.aclrtGetDeviceCount())
        acl.aclrtSetDevice(1)
        stream = acl.aclrtCreateStream()
        host = np.arange(6, dtype=np.float32).reshape(2, 3)
        x, y = acl.aclrtMalloc(24), acl.aclrtMalloc(24)
        acl.aclrtMemcpy(x, 24, host, 24, acl.ACL_MEMCPY_HOST_TO_DEVICE)
        tensors = [
            acl.aclCreateTensor([2, 3], 0, None, 0, acl.ACL_FORMAT_ND, [2, 3], data)
            for data in (x, y)
        ]
        size, executor = acl.aclnnSoftmaxGetWorkspaceSize(tensors[0], -1, tensors[1])
        acl.aclnnSoftmax(None, size, executor, stream)
        acl.aclrtSynchronizeStream(stream)
        acl.aclrtMemcpy(host, 24, y, 24, acl.ACL_MEMCPY_DEVICE_TO_HOST)
        print(np.allclose(host.sum(1), 1), acl.Device(0), acl.Device("cuda:1"))
        import cupy
        print(cupy.cuda.runtime.ran)
        try:
            acl.Device("cpu:0")
        except acl.AclError as error:
            print(error.status)
    """
    twin = cuda_twin.library()
    lines = said(
        code, PYTHONPATH=PATHS, FAKE_CUPY_TWIN=str(twin), ACLNN_PY_BACKEND="cuda"
    ).splitlines()
    assert lines[0] == "2"
    assert lines[1] == "True Device('cuda:0') Device('cuda:1')"
    assert re.match(r"\['softmax_", lines[2])
    assert lines[3] == "100000"


def test_the_c_names_without_a_gpu():
    code = """
        import aclnn_py as acl
        try:
            acl.aclrtSetDevice(0)
        except acl.AclError as error:
            print(error.status)
    """
    assert (
        said(code, PYTHONPATH=PATHS, FAKE_CUPY_DEVICES="0", ACLNN_PY_BACKEND="cuda") == "207004\n"
    )


def test_the_sources_are_found():
    code = "from aclnn_py.backends.cuda_programs import folder; print(folder())"
    assert (Path(said(code).strip()) / "softmax.cu").is_file()
