# SPDX-License-Identifier: Apache-2.0
"""Every C++ sample builds by its own CMakeLists.txt and runs; so do the README's four lines."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from aclnn_py.abi.toolkit import make_toolkit
from support import cuda_twin
from support.fake_gpu import FAKE
from support.sources import ROOT

CPP = ROOT / "samples" / "cpp"
SAMPLES = sorted(path.stem for path in CPP.glob("*.cpp"))


def call(*command, cwd=None, **variables):
    environment = {key: text for key, text in os.environ.items() if key != "PYTHONPATH"}
    environment.update(variables)
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd, env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


@pytest.fixture(scope="session")
def cxx():
    found = next((name for name in ("c++", "g++", "clang++") if shutil.which(name)), None)
    return found or pytest.skip("no C++ compiler")


@pytest.fixture(scope="session")
def toolkit(tmp_path_factory):
    return make_toolkit(tmp_path_factory.mktemp("toolkit"))


@pytest.fixture(scope="session")
def programs(cxx, toolkit, tmp_path_factory):
    """The folder with all samples, built once."""
    cmake = shutil.which("cmake")
    if cmake is None:
        pytest.skip("no cmake")
    folder = tmp_path_factory.mktemp("samples")
    variables = {"ASCEND_HOME_PATH": str(toolkit), "CXX": cxx, "CXXFLAGS": "-Wall -Wextra -Werror"}
    for command in ([cmake, "-S", CPP, "-B", folder], [cmake, "--build", folder, "-j", "2"]):
        done = call(*command, **variables)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_there_are_samples_of_every_kind():
    assert {"softmax", "non_contiguous", "cast_output", "two_streams", "callback"} <= set(SAMPLES)


@pytest.mark.parametrize("name", SAMPLES)
def test_runs(programs, name):
    """No variable is set: the library finds the environment it was installed into."""
    done = call(programs / name, ACLNN_PY_PYTHON=sys.executable)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout
    assert not done.stderr


def on_cuda(program, **variables):
    """The same program with NVIDIA GPUs as its devices; its Python cannot tidy up at its exit."""
    variables["CUPY_CACHE_DIR"] = str(program.parent / "cache")
    return call(program, ACLNN_PY_PYTHON=sys.executable, ACLNN_PY_BACKEND="cuda", **variables)


@pytest.mark.skipif(cuda_twin.compiler() is None, reason="no C++ compiler for the kernels")
@pytest.mark.parametrize("name", SAMPLES)
def test_runs_on_a_gpu(programs, name):
    """The library starts Python for its devices; CuPy's stand-in runs the kernels as host code."""
    paths = f"{FAKE}:{ROOT / 'tests'}"
    done = on_cuda(programs / name, PYTHONPATH=paths, FAKE_CUPY_TWIN=str(cuda_twin.library()))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout
    assert not done.stderr


def test_without_cupy_a_program_is_told_what_to_install(programs, tmp_path):
    (tmp_path / "cupy.py").write_text("raise ImportError('none for this test')\n")
    done = on_cuda(programs / "softmax", PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert "aclrtSetDevice(0): status 507033" in done.stderr
    assert "pip install 'cupy-cuda12x[ctk]>=14'" in done.stderr


def test_without_a_gpu_a_program_is_told_so(programs):
    done = on_cuda(programs / "softmax", PYTHONPATH=str(FAKE), FAKE_CUPY_DEVICES="0")
    assert done.returncode == 1
    assert "aclrtSetDevice(0): status 207004" in done.stderr
    assert "nvidia-smi" in done.stderr


DEDUCED = """
#include <algorithm>
#include "acl/acl.h"
#include "aclnn/acl_meta.h"
int main() {
  auto status = ACL_SUCCESS;
  status = aclInit(nullptr);
  auto call = ACLNN_SUCCESS;
  call = aclDestroyTensor(nullptr);
  const aclError *address = &ACL_SUCCESS;
  switch (std::max(status, *address)) {
    case ACL_SUCCESS:
      return call == OK && ACL_ERROR_NONE == ACL_SUCCESS ? 0 : 1;
    default:
      return 2;
  }
}
"""
CONSTANT = """
#include "acl/acl.h"
#include "aclnn/acl_meta.h"
static const int codes[] = {ACL_SUCCESS, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_INNER_KEY_CONFILICT};
_Static_assert(ACL_ERROR_NONE == ACL_SUCCESS && (int)ACLNN_SUCCESS == 0, "aliases");
int main(void) {
  switch (codes[0]) {
    case ACL_SUCCESS: return 0;
    default: return 1;
  }
}
"""


@pytest.mark.parametrize(("name", "text"), [("deduced.cpp", DEDUCED), ("constant.c", CONSTANT)])
def test_statuses_are_constants_of_the_functions_type(request, tmp_path, name, text):
    """C++ deduces types from them; C has them in case labels and initialisers."""
    if name.endswith(".cpp"):
        request.getfixturevalue("cxx")  # skips where there is no compiler
    (tmp_path / name).write_text(text)
    flags = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
    build = [sys.executable, "-m", "aclnn_py", "build", name, "-o", "program", *flags]
    done = call(*build, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    run = [sys.executable, "-m", "aclnn_py", "run", tmp_path / "program"]
    assert call(*run, cwd=tmp_path).returncode == 0


def test_ctypes_client(toolkit):
    done = call(
        sys.executable, ROOT / "samples" / "python" / "ctypes_client.py",
        ASCEND_HOME_PATH=str(toolkit),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "161002" in done.stdout


def cli(*arguments, cwd, **variables):
    return call(sys.executable, "-m", "aclnn_py", *arguments, cwd=cwd, **variables)


@pytest.mark.usefixtures("cxx")
def test_build_and_run(tmp_path):
    """One file, away from the repository, by the two commands alone."""
    for name in ("softmax.cpp", "host.h"):
        shutil.copy(CPP / name, tmp_path)
    variables = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    built = cli("build", "softmax.cpp", "-Werror", "-o", "softmax", cwd=tmp_path, **variables)
    assert built.returncode == 0, built.stderr
    options = ("--seed", "7", "--soc", "Ascend910")
    done = cli("run", *options, "--", "./softmax", cwd=tmp_path, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "axis 1: 0.090031 0.244728 0.665241" in done.stdout


@pytest.mark.usefixtures("cxx")
def test_build_tells_what_is_missing(tmp_path):
    done = cli("build", "nothing.cpp", "-o", "nothing", cwd=tmp_path)
    assert done.returncode == 1
    assert "nothing.cpp does not exist" in done.stderr
    assert "no -o" in cli("build", "nothing.cpp", cwd=tmp_path).stderr
    assert cli("run", "--", "./nothing", cwd=tmp_path).returncode == 1
