# SPDX-License-Identifier: Apache-2.0
"""What ``import aclnn_py`` costs above importing numpy and defining one pydantic model."""

from __future__ import annotations

import statistics
import subprocess
import sys
from typing import Any

__all__ = ["run"]

_BASE = "import numpy; from pydantic import BaseModel\nclass M(BaseModel):\n    x: int\n"
_OURS = "import aclnn_py\n"
_CLOCK = "import time; start = time.perf_counter()\n{body}print(time.perf_counter() - start)\n"
_LOADED = "import sys, aclnn_py; print([n for n in ('cupy', 'matplotlib') if n in sys.modules])"


def run(repeats: int) -> dict[str, Any]:
    """Medians of fresh processes, in turns, in milliseconds."""
    samples: dict[str, list[float]] = {"base": [], "ours": []}
    for _ in range(repeats + 1):
        for name, body in (("base", _BASE), ("ours", _OURS)):
            samples[name].append(float(_python(_CLOCK.format(body=body))) * 1e3)
    base, ours = (statistics.median(samples[name][1:]) for name in ("base", "ours"))
    return {
        "base_ms": base,
        "ours_ms": ours,
        "above_ms": ours - base,
        "loaded": _python(_LOADED).strip(),
    }


def _python(code: str) -> str:
    done = subprocess.run(  # noqa: S603  # ourselves
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return done.stdout
