# SPDX-License-Identifier: Apache-2.0
"""``import aclnn_py`` is cheap: no device, no thread, none of the optional packages."""

from __future__ import annotations

import json
import os
import subprocess
import sys

ABSENT = ["cupy", "matplotlib", "sklearn", "click", "rich", "hypothesis", "pytest", "onnx"]
BUDGET_MS = 60  # processor time above NumPy and one pydantic model
MOST_RUNS = 16
SLOW_MACHINE = 0.45  # where these two alone take long, the budget is this part of their time

PEERS = """
import numpy
from pydantic import BaseModel
class Model(BaseModel):
    number: int = 0
"""


def python(code, **environment):
    quiet = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | quiet | environment,
        capture_output=True, text=True, timeout=60, check=True,
    ).stdout  # fmt: skip


def test_nothing_is_opened_and_nothing_optional_is_imported():
    seen = json.loads(
        python(f"""
import json, os, sys
import aclnn_py
from aclnn_native import lib
print(json.dumps({{
    "imported": [name for name in {ABSENT!r} if name in sys.modules],
    "open": {{kind: lib.aclpy_live_count(kind.encode())
             for kind in ("context", "stream", "event", "memory", "tensor", "plan", "executor")}},
    "threads": len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 1,
}}))
""")
    )
    assert seen["imported"] == []
    assert set(seen["open"].values()) == {0}
    assert seen["threads"] == 1


def test_import_time():
    """Processor time, in turns, and the best of several: more where the machine is busy."""
    spent = "\nimport time; print(time.process_time() * 1000)"
    codes = {"alone": PEERS + spent, "ours": PEERS + "\nimport aclnn_py" + spent}
    runs = []
    for _ in range(MOST_RUNS):
        runs.append({name: float(python(code)) for name, code in codes.items()})
        alone, ours = (min(run[name] for run in runs) for name in codes)
        allowed = max(BUDGET_MS, SLOW_MACHINE * alone)
        if ours - alone <= allowed and len(runs) >= 3:
            return
    raise AssertionError(f"{ours - alone:.1f} ms above {alone:.1f} ms, {allowed:.1f} allowed")
