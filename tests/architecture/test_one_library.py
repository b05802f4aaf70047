# SPDX-License-Identifier: Apache-2.0
"""Engine and kernels are one library without Python; the binding is linked to it."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import aclnn_py as acl
from aclnn_native import _native

FOLDER = Path(_native.__file__).parent
SUFFIX = ".dylib" if sys.platform == "darwin" else ".so"


@pytest.fixture(scope="module")
def library():
    (found,) = FOLDER.glob(f"libaclnn_py*{SUFFIX}*")
    return found


def symbols(path, *options):
    nm = shutil.which("nm")
    assert nm, "nm comes with every C compiler"
    listing = subprocess.run(
        [nm, "-g" if sys.platform == "darwin" else "-D", *options, path],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    names = (line.split()[-1].split("@")[0] for line in listing.splitlines() if line.strip())
    return {name.removeprefix("_") if sys.platform == "darwin" else name for name in names}


def python_symbols(names):
    return {name for name in names if name.startswith(("Py", "_Py", "_cffi"))}


def test_the_library_knows_no_python(library):
    assert not python_symbols(symbols(library))
    assert python_symbols(symbols(_native.__file__)), "the probe itself sees Python symbols"


def test_the_library_exports_its_prefix_only(library):
    if sys.platform == "darwin":
        exported = symbols(library, "-U")
    else:
        exported = symbols(library, "--defined-only")
    # The C names are held against the vendor's prototypes in test_abi.py.
    foreign = {name for name in exported if not name.startswith(("aclpy_", "acl", "Acl", "mstx"))}
    assert "aclpy_execute" in exported
    assert not foreign


def test_the_binding_holds_no_engine():
    option = "-U" if sys.platform == "darwin" else "--defined-only"
    assert not {name for name in symbols(_native.__file__, option) if name.startswith("aclpy_")}


def test_two_names_are_one_engine(library, tmp_path):
    """Whatever name the library is opened by, there is one engine."""
    other_name = tmp_path / f"libother{SUFFIX}"
    other_name.symlink_to(library)
    engines = [
        ctypes.CDLL(str(path), mode=getattr(ctypes, "RTLD_LOCAL", 0))
        for path in (library, other_name)
    ]
    for engine in engines:
        engine.aclpy_live_count.restype = ctypes.c_int64
        engine.aclpy_live_count.argtypes = [ctypes.c_char_p]
    before = [engine.aclpy_live_count(b"event") for engine in engines]
    with acl.Device(0) as device, device.create_event():
        during = [engine.aclpy_live_count(b"event") for engine in engines]
    assert before[0] == before[1]
    assert during == [count + 1 for count in before]


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_it_is_loaded_once():
    maps = Path("/proc/self/maps").read_text(encoding="utf-8")
    loaded = {line.split()[-1] for line in maps.splitlines() if "libaclnn_py" in line}
    assert len(loaded) == 1
