# SPDX-License-Identifier: Apache-2.0
"""Every CUDA kernel compiles for every card we name, without a warning and without a spill.

All of it is four minutes of one processor. Where there are fewer than four of them, each program
is compiled for one architecture, in turn, and ``make test-cuda`` (``NVRTC=full``) compiles it for
all. The figures of a full run are in a table that belongs to exactly these sources.
"""

from __future__ import annotations

import os

import pytest

from support import cuda_resources, nvrtc
from support.cuda_resources import every_cell, spread_of_cells
from support.nvrtc import ARCHITECTURES, declared

LIBRARY = nvrtc.find()
FULL = os.environ.get("NVRTC") == "full" or cuda_resources.processors() >= 4
CELLS = every_cell() if FULL else spread_of_cells()
REGISTERS = 65536  # of a multiprocessor, on every architecture here
SHARED = 48 << 10  # bytes that every card gives a block

needs_compiler = pytest.mark.skipif(
    LIBRARY is None, reason="NVIDIA's run-time compiler is not installed: pip install '.[nvrtc]'"
)


@pytest.fixture(scope="module")
def compiler():
    return nvrtc.Nvrtc(LIBRARY)


@pytest.fixture(scope="module")
def compiled():
    return cuda_resources.compile_cells(CELLS)


def test_a_spread_has_every_program_and_architecture():
    spread, full = spread_of_cells(), every_cell()
    assert set(spread) < set(full)
    assert {cell[:2] for cell in spread} == {cell[:2] for cell in full}
    assert {cell[2] for cell in spread} == set(ARCHITECTURES)


def test_the_recorded_figures_are_of_these_sources():
    """Every kernel, every architecture, nothing spilled; make cuda-resources renews the table."""
    _, sources, known = cuda_resources.recorded()
    if not known:
        pytest.skip("no table has been made yet: make cuda-resources")
    assert sources == cuda_resources.digest(), "run make cuda-resources"
    threads = {}
    for source, dtype, _ in every_cell():
        threads |= declared(source, dtype)
    assert set(known) == {(kernel, name) for kernel in threads for name in ARCHITECTURES}
    for (kernel, name), figure in known.items():
        registers, shared, spilled = (int(value) for value in figure.split("/"))
        assert spilled == 0, (kernel, name)
        assert registers * threads[kernel] <= REGISTERS, (kernel, name)
        assert shared <= SHARED, (kernel, name)


@needs_compiler
@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_compiles(compiler, compiled, cell):
    """Every kernel of the source is there, fits its blocks, and keeps its values in registers."""
    program = compiled[cell]
    ours = cuda_resources.recorded()[0] in ("", "{}.{}".format(*compiler.version()))
    threads = declared(*cell[:2])
    assert not program.warnings
    assert {kernel.kernel for kernel in program.kernels} == set(threads)
    assert program.code.startswith(b"\x7fELF")
    for kernel in program.kernels:
        # Another version of the compiler may spill some bytes where this one does not.
        assert kernel.spill_stores == kernel.spill_loads == 0 or not ours, kernel
        assert kernel.registers * threads[kernel.kernel] <= REGISTERS, kernel
        assert kernel.shared <= SHARED, kernel


@needs_compiler
def test_the_recorded_figures_are_what_compiles(compiler, compiled):
    version, _, known = cuda_resources.recorded()
    if not known:
        pytest.skip("no table has been made yet: make cuda-resources")
    if version != "{}.{}".format(*compiler.version()):
        pytest.skip(f"figures were recorded with NVRTC {version}")
    seen = cuda_resources.figures(compiled)
    assert seen == {key: known[key] for key in seen}


@needs_compiler
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
