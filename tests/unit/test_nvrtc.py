# SPDX-License-Identifier: Apache-2.0
"""Every CUDA kernel compiles for every card we name, without a warning and without a spill.

By default each program is compiled for one architecture, all architectures in turn;
``make test-cuda`` (``NVRTC=full``) compiles each for all and writes the figures to a table.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from aclnn_py.backends.cuda_kernels import programs
from support import nvrtc
from support.nvrtc import ARCHITECTURES, KERNELS, declared
from support.sources import ROOT

LIBRARY = nvrtc.find()
FULL = os.environ.get("NVRTC") == "full"
REGISTERS = 65536  # of a multiprocessor, on every architecture here
# Bytes a kernel spills, where it does: to be brought to 0.
KNOWN_SPILLS = {("softmax_partial_f16", "sm_120"): 12}

pytestmark = pytest.mark.skipif(
    LIBRARY is None, reason="NVIDIA's run-time compiler is not installed: pip install '.[nvrtc]'"
)


def cells():
    """(source, dtype, architecture)."""
    for index, program in enumerate(programs()):
        for step in range(len(ARCHITECTURES) if FULL else 1):
            yield (*program, ARCHITECTURES[(index + step) % len(ARCHITECTURES)])


CELLS = list(cells())


@pytest.fixture(scope="module")
def compiler():
    return nvrtc.Nvrtc(LIBRARY)


@pytest.fixture(scope="module")
def compiled(compiler):
    """All cells, compiled side by side."""

    def one(cell):
        source, dtype, architecture = cell
        options = [f"--gpu-architecture={architecture}", *([f"-DACLPY_T={dtype}"] if dtype else [])]
        text = (KERNELS / source).read_text(encoding="utf-8")
        return compiler.compile(text, source, *options)

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(CELLS, pool.map(one, CELLS), strict=True))


@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_compiles(compiled, cell):
    """Every kernel of the source is there, fits its blocks, and keeps its values in registers."""
    program, architecture = compiled[cell], cell[2]
    threads = declared(*cell[:2])
    assert not program.warnings
    assert {kernel.kernel for kernel in program.kernels} == set(threads)
    assert program.code.startswith(b"\x7fELF")
    for kernel in program.kernels:
        spilled = KNOWN_SPILLS.get((kernel.kernel, architecture), 0)
        assert kernel.spill_stores == kernel.spill_loads == spilled, kernel
        assert kernel.registers * threads[kernel.kernel] <= REGISTERS, kernel
        assert kernel.shared <= 48 << 10, kernel


def test_the_figures_are_recorded(compiled):
    """A table of every kernel that was compiled; the file is a result, not a source."""
    rows = [
        f"{architecture}\t{k.kernel}\t{k.registers}\t{k.stack}\t{k.spill_stores}\t{k.spill_loads}"
        f"\t{k.shared}"
        for (_, _, architecture), program in compiled.items()
        for k in program.kernels
    ]
    head = "architecture\tkernel\tregisters\tstack\tspill stores\tspill loads\tshared"
    folder = ROOT / "out"
    folder.mkdir(exist_ok=True)
    path = folder / "cuda_resources.tsv"
    path.write_text("\n".join([head, *sorted(rows)]) + "\n", encoding="utf-8")
    assert len(rows) >= sum(len(declared(*cell[:2])) for cell in CELLS)


def test_a_warning_and_a_spill_would_be_seen(compiler):
    """The measure measures."""
    text = """
    extern "C" __global__ void __launch_bounds__(1024) full(float *x, int n) {
      int unused;
      float v[200];
      for (int r = 0; r < n; ++r) {
    #pragma unroll
        for (int i = 0; i < 200; ++i) v[i] = x[i * 1024 + threadIdx.x] * (r ? v[i] : 1.0f);
    #pragma unroll
        for (int i = 0; i < 200; ++i) x[i * 1024 + threadIdx.x] = v[i] + v[199 - i];
      }
    }
    """
    seen = compiler.compile(text, "spills.cu", "--gpu-architecture=sm_90")
    assert any("unused" in line for line in seen.warnings)
    (kernel,) = seen.kernels
    assert kernel.spill_stores > 0
    with pytest.raises(AssertionError, match="undefined"):
        compiler.compile('extern "C" __global__ void f() { nothing(); }', "bad.cu")
