# SPDX-License-Identifier: Apache-2.0
"""The C hosts of tests/native/hosts with the library as built; `make sanitize` has the rest."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig

import pytest

from aclnn_py.abi.toolkit import make_toolkit
from support.sources import ROOT

pytestmark = pytest.mark.skipif(
    not sysconfig.get_config_var("Py_ENABLE_SHARED"), reason="this Python has no shared libpython"
)


@pytest.fixture(scope="module")
def hosts(tmp_path_factory):
    """Both programs by name."""
    compiler = next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), None)
    if compiler is None:
        pytest.skip("no C compiler")
    toolkit = make_toolkit(tmp_path_factory.mktemp("toolkit"))
    folder = tmp_path_factory.mktemp("hosts")
    for name in ("threads", "fuzz"):
        done = subprocess.run(
            [
                compiler, "-std=c11", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-Werror",
                f"-I{toolkit}/include", ROOT / "tests" / "native" / "hosts" / f"{name}.c",
                "-o", folder / name, f"-L{toolkit}/lib64", "-lopapi", "-lascendcl",
                f"-Wl,-rpath,{toolkit}/lib64", "-lm", "-lpthread",
            ],
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    return folder


def run(program, **variables):
    environment = {
        key: text for key, text in os.environ.items() if not key.startswith(("PYTHON", "ACLNN_PY"))
    }
    done = subprocess.run(
        [program],
        env={**environment, "ACLNN_PY_PYTHON": sys.executable, **variables},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr
    return done.stdout


@pytest.mark.parametrize(("calls", "inline"), [("10000", "1"), ("2000", "0")])
def test_eight_threads(hosts, calls, inline):
    """Right results, nothing left open, no growth; with and without kernels on the caller."""
    out = run(hosts / "threads", HOST_CALLS=calls, ACLNN_PY_INLINE=inline)
    assert out.startswith(f"8 threads, {8 * int(calls)} results right")


@pytest.mark.parametrize("seed", ["1", "2"])
def test_random_calls(hosts, seed):
    # It plans an operator that is only declared, of which the log would tell.
    quiet = {"ASCEND_GLOBAL_LOG_LEVEL": "4"}
    out = run(hosts / "fuzz", FUZZ_CALLS="20000", FUZZ_SEED=seed, **quiet)
    assert out.startswith("20000 calls")


def test_random_calls_and_threads_under_sanitizers(tmp_path):
    """20,000 calls under ASan and UBSan; objects are kept: the first run is long."""
    if os.environ.get("SANITIZE_FOLLOWS"):
        pytest.skip("`make sanitize` follows: it runs these hosts")
    make = shutil.which("make")
    flags = ["-fsanitize=address,undefined", "-x", "c", "-", "-o", tmp_path / "probe"]
    compiler = next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), "cc")
    probe = subprocess.run(
        [compiler, *flags], input="int main(void) { return 0; }", text=True,
        capture_output=True, check=False,
    )  # fmt: skip
    if make is None or probe.returncode != 0:
        pytest.skip("no make, or a compiler without address sanitizer")
    # Started by `make test`, its job server and variables are not ours.
    inner = ("MAKE", "MFLAGS", "PYTHON", "ACLNN_PY")
    outer = {key: text for key, text in os.environ.items() if not key.startswith(inner)}
    done = subprocess.run(
        [
            make, "--no-print-directory", "-j2", "-f", "tests/native/sanitize.mk",
            "SANITIZE_NOW=address", "SANITIZE_ISAS=baseline", "SANITIZE_OUT=build/sanitize-test",
            f"PY={sys.executable}", f"CC={compiler}", "sanitize-hosts-address",
        ],
        cwd=ROOT, env={**outer, "HOST_CALLS": "1000", "FUZZ_CALLS": "20000"},
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 hosts pass (address" in done.stdout
