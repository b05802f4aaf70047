# SPDX-License-Identifier: Apache-2.0
"""What ``import aclnn_py`` costs above importing numpy and defining one pydantic model."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from typing import Any

__all__ = ["run"]

_CLOCKS = """
import time
start = time.perf_counter()
import numpy
from pydantic import BaseModel
class M(BaseModel):
    x: int
between = time.perf_counter()
import aclnn_py
end = time.perf_counter()
print(between - start, end - between)
"""
_ALONE = (
    "import time; start = time.perf_counter()\nimport aclnn_py; print(time.perf_counter() - start)"
)
_LOADED = "import sys, aclnn_py; print([n for n in ('cupy', 'matplotlib') if n in sys.modules])"


def run(repeats: int) -> dict[str, Any]:
    """Medians of fresh processes, in milliseconds.

    The first one warms the disk's cache and writes bytecode, as an installation does.

    ``above_ms`` is what the import adds in a process that has imported numpy and made a model.
    """
    base, above, alone = [], [], []
    for _ in range(repeats + 1):
        first, second = map(float, _python(_CLOCKS).split())
        base.append(first * 1e3)
        above.append(second * 1e3)
        alone.append(float(_python(_ALONE)) * 1e3)
    return {
        "base_ms": statistics.median(base[1:]),
        "ours_ms": statistics.median(alone[1:]),
        "above_ms": statistics.median(above[1:]),
        "loaded": _python(_LOADED).strip(),
    }


def _python(code: str) -> str:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(  # noqa: S603  # ourselves
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    return done.stdout
