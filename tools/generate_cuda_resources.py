# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/cuda_resources.tsv: what every CUDA kernel takes on every architecture.

Needs NVIDIA's run-time compiler (``pip install '.[nvrtc]'``) and two minutes of processor time.
tests/unit/test_nvrtc.py compares the table with the sources.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support import cuda_resources, nvrtc


def main() -> None:
    """Compile everything, write the table."""
    library = nvrtc.find()
    if library is None:
        sys.exit("NVIDIA's run-time compiler is not installed: pip install '.[nvrtc]'")
    compiled = cuda_resources.compile_cells(cuda_resources.every_cell())
    version = nvrtc.Nvrtc(library).version()
    text = cuda_resources.render(version, cuda_resources.figures(compiled))
    cuda_resources.TABLE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
