# SPDX-License-Identifier: Apache-2.0
"""The C ABI in fresh processes: where Python is found, when it is started, what happens without."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig

import pytest

from aclnn_py.abi.toolkit import library_path, make_toolkit
from aclnn_py.dialects import acl_tensor, aclnn
from aclnn_runtime import AclnnError
from support.process import run_python
from support.sources import ROOT

SHARED = bool(sysconfig.get_config_var("Py_ENABLE_SHARED"))
needs_libpython = pytest.mark.skipif(not SHARED, reason="this Python has no shared libpython")


@pytest.fixture(scope="session")
def toolkit(tmp_path_factory):
    return make_toolkit(tmp_path_factory.mktemp("toolkit"))


@pytest.fixture(scope="session")
def host(toolkit, tmp_path_factory):
    """A C program that opens the library by itself."""
    compiler = next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), None)
    if compiler is None:
        pytest.skip("no C compiler")
    program = tmp_path_factory.mktemp("host") / "host"
    source = ROOT / "tests" / "support" / "capi" / "host.c"
    done = subprocess.run(
        [
            compiler, "-std=gnu11", "-Wall", "-Wextra", "-Werror", f"-I{toolkit}/include",
            source, "-o", program, "-ldl", "-lpthread",
        ],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return program


def run(host, toolkit, what, stdin=None, **variables):
    environment = {
        key: text for key, text in os.environ.items() if not key.startswith(("PYTHON", "ACLNN_PY"))
    }
    return subprocess.run(
        [host, toolkit / "lib64" / "libopapi.so", what],
        env={**environment, **variables}, stdin=stdin,
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@needs_libpython
@pytest.mark.parametrize(
    "what",
    ["plan", "threads", "fork", "fork after", "fork at once", "fork meanwhile", "no variables"],
)
def test_phase_one_without_any_variable(host, toolkit, what):
    done = run(host, toolkit, what)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "python 1" in done.stdout
    assert not done.stderr


@needs_libpython
def test_another_python_by_variable(host, toolkit):
    done = run(host, toolkit, "plan", ACLNN_PY_PYTHON=sys.executable)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr


def test_a_broken_python_is_told_of_once(host, toolkit):
    done = run(host, toolkit, "broken", ACLNN_PY_PYTHON="/nowhere/python")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "ACLNN_PY_PYTHON" in done.stderr
    assert "/nowhere/python did not answer" in done.stderr
    assert done.stdout.count("status 500000") == 2
    assert "/nowhere/python did not answer" in done.stdout


@needs_libpython
@pytest.mark.parametrize(
    "wrong", [{"PYTHONHOME": "/nowhere"}, {"PYTHONHASHSEED": "x"}, {"PYTHONMALLOC": "x"}]
)
def test_a_python_that_its_variables_keep_from_starting(host, toolkit, wrong):
    """Python would end the process from within; the host gets its status instead."""
    done = run(host, toolkit, "broken", **wrong)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("status 500000") == 2
    assert "does not start with the variables PYTHON" in done.stdout


@needs_libpython
def test_a_terminal_is_not_read_from(host, toolkit):
    try:
        master, slave = os.openpty()
    except OSError as error:
        pytest.skip(f"no terminal to be had: {error}")
    try:
        done = run(host, toolkit, "plan", stdin=slave, PYTHONINSPECT="1")
    finally:
        os.close(master)
        os.close(slave)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_libpython
def test_variables_of_python_that_are_right(host, toolkit):
    done = run(host, toolkit, "plan", PYTHONHOME=sys.base_prefix, PYTHONHASHSEED="7")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "python 1" in done.stdout


@needs_libpython
def test_a_wrong_schedule_is_refused_by_phase_one(host, toolkit):
    done = run(host, toolkit, "plan", ACLNN_PY_SCHEDULE="lazzy")
    assert "status 100000" in done.stdout
    assert "eager, lazy, reverse" in done.stdout


def test_runtime_calls_start_no_python(host, toolkit):
    done = run(host, toolkit, "runtime")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "python 0\n"
    assert not done.stderr


@needs_libpython
def test_a_refusal_reads_as_in_python(host, toolkit):
    done = run(host, toolkit, "refused")
    assert done.returncode == 0, done.stdout + done.stderr
    x = acl_tensor.aclCreateTensor([2, 3], 0, [3, 1], 0, 2, [2, 3], None)
    with pytest.raises(AclnnError) as caught:
        aclnn.aclnnSoftmaxGetWorkspaceSize(x, 7, x)
    assert " ".join(str(caught.value).split()) in " ".join(done.stdout.split())


def test_inside_a_python_that_runs():
    done = run_python(f"""
        import ctypes as c, sys
        library = c.CDLL({str(library_path())!r}, mode=2)  # RTLD_LOCAL, RTLD_NOW
        library.aclCreateTensor.restype = c.c_void_p
        dims, steps = (c.c_int64 * 2)(2, 3), (c.c_int64 * 2)(3, 1)
        make = lambda: c.c_void_p(library.aclCreateTensor(
            dims, c.c_uint64(2), 0, steps, c.c_int64(0), 2, dims, c.c_uint64(2), None))
        x, y, size, executor = make(), make(), c.c_uint64(), c.c_void_p()
        status = library.aclnnSoftmaxGetWorkspaceSize(
            x, c.c_int64(-1), y, c.byref(size), c.byref(executor))
        assert status == 0, status
        assert "aclnn_py.dialects.capi" in sys.modules
        assert library.aclDestroyAclOpExecutor(executor) == 0
        assert library.aclDestroyAclOpExecutor(executor) == 561000
        print("planned", executor.value != 0)
    """)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "planned True\n"


@pytest.mark.skipif(sys.platform != "linux", reason="/proc lists what is loaded")
def test_the_library_stays_when_it_is_closed():
    """Its threads may be at work."""
    done = run_python(f"""
        import _ctypes, ctypes
        library = ctypes.CDLL({str(library_path())!r})
        assert library.aclInit(None) == 0
        _ctypes.dlclose(library._handle)
        print({library_path().name!r} in open("/proc/self/maps").read())
    """)
    assert done.stdout == "True\n", done.stderr


def test_the_toolkit_tells_its_version(toolkit):
    code = """
    import aclnn_py as acl
    print(acl.aclsysGetVersionStr("runtime"), acl.aclsysGetVersionNum("runtime"))
    """
    done = run_python(code, ASCEND_HOME_PATH=str(toolkit))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "9.1.0 90100000\n"
