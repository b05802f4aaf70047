# SPDX-License-Identifier: Apache-2.0
"""No kernel is an orphan: every source is in the library's list, every entry can be found."""

from __future__ import annotations

import re
import runpy
from itertools import count
from pathlib import Path

import pytest

from aclnn_native import ffi, lib
from aclnn_py.core.isa import ISAS, supported
from support.sources import ROOT

SOURCES = sorted((ROOT / "native" / "kernels").glob("*.c"))


def text(pointer):
    return ffi.string(pointer).decode()


def compiled():
    """(name, dtype, isa) of every kernel in the library."""
    for index in count():
        kernel = lib.aclpy_kernel_at(index)
        if not kernel:
            return
        yield text(kernel.name), text(kernel.dtype), text(kernel.isa)


KERNELS = list(compiled())


def test_there_are_sources_and_kernels():
    assert len(SOURCES) >= 4
    assert len(KERNELS) > len(SOURCES)
    assert len(set(KERNELS)) == len(KERNELS)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_every_source_is_in_the_list(source):
    """Every source announces its kernels, and each name it announces is in the library."""
    code = source.read_text(encoding="utf-8")
    table = re.search(r"^ACLPY_KERNELS\((\w+)\) = \{", code, flags=re.MULTILINE)
    assert table, "no ACLPY_KERNELS table"
    assert table[1] == source.stem
    # A row names its kernel as a literal, or as the first argument of the source's own row macro.
    rows = code[table.end() :]
    announced = set(re.findall(r'\{"(\w+)"', code)) or set(re.findall(r"\bROW_\((\w+),", rows))
    assert announced
    assert announced <= {name for name, _, _ in KERNELS}, "not in the library's list"


def test_every_name_comes_from_a_source():
    code = "".join(source.read_text(encoding="utf-8") for source in SOURCES)
    assert not [name for name, _, _ in KERNELS if not re.search(rf"\b{name}\b", code)]


@pytest.mark.parametrize("isa", sorted({isa for _, _, isa in KERNELS}))
def test_every_instruction_set_has_every_kernel(isa):
    everything = {(name, dtype) for name, dtype, _ in KERNELS}
    assert {(name, dtype) for name, dtype, found in KERNELS if found == isa} == everything


@pytest.mark.parametrize("kernel", KERNELS, ids="-".join)
def test_every_kernel_of_this_machine_is_found(kernel):
    name, dtype, isa = kernel
    allowed = lib.aclpy_isa_mask(isa.encode())
    if allowed & ~lib.aclpy_isa_supported():  # this processor cannot run it: the next best one is
        allowed &= lib.aclpy_isa_supported()
        isa = None
    found = lib.aclpy_kernel_find(name.encode(), dtype.encode(), allowed)
    assert found
    assert isa is None or text(found.isa) == isa


#: Flags of processors, as /proc/cpuinfo has them, and what of the library they run.
PROCESSORS = {
    "flags\t\t: fpu sse2 avx avx2 fma f16c": ["avx2", "baseline"],
    "flags\t\t: avx2 fma f16c avx512f avx512bw avx512dq avx512vl": ["avx512", "avx2", "baseline"],
    "flags\t\t: avx2 fma f16c avx512f avx512bw avx512dq": ["avx2", "baseline"],
    "flags\t\t: fpu avx2 fma": ["baseline"],
    "Features\t: asimd": ["avx512", "avx2", "baseline"],  # not told: all of them
}


@pytest.mark.parametrize("cpuinfo", PROCESSORS)
def test_sanitized_kernels_are_those_that_the_processor_runs(cpuinfo):
    tool = runpy.run_path(str(ROOT / "tools" / "kernel_list.py"))
    every = tool["isas_of"]("x86_64")
    assert tool["runnable"](every, f"vendor_id\t: any\n{cpuinfo}\n") == PROCESSORS[cpuinfo]


@pytest.mark.skipif({isa for _, _, isa in KERNELS} == {"baseline"}, reason="not x86")
def test_the_library_runs_the_same_ones():
    """The tool and the library ask in different ways."""
    tool = runpy.run_path(str(ROOT / "tools" / "kernel_list.py"))
    cpuinfo = Path("/proc/cpuinfo")
    if not cpuinfo.exists():
        pytest.skip("no /proc/cpuinfo")
    assert tool["runnable"](list(ISAS), cpuinfo.read_text(encoding="utf-8")) == supported()
