# SPDX-License-Identifier: Apache-2.0
"""``import aclnn_py`` is cheap: no device, no thread, none of the optional packages."""

from __future__ import annotations

import json
import os
import subprocess
import sys

ABSENT = ["cupy", "matplotlib", "sklearn", "click", "rich", "hypothesis", "pytest", "onnx"]
CALLS = 25_000  # of Python and C functions, above NumPy and one pydantic model; Python 3.11: 19,750
MODULES = 60  # our own
# What else comes with us; of a package that is there already any part may.
OTHERS = {"_cffi_backend", "atexit", "ml_dtypes"}

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


def test_little_is_loaded_and_called():
    """What the import costs, counted: its time is measured by ``make bench``."""
    counted = json.loads(
        python(
            PEERS
            + """
import json, sys
before, calls = set(sys.modules), 0
def count(frame, event, argument):
    global calls
    calls += event in ("call", "c_call")
sys.setprofile(count)
import aclnn_py
sys.setprofile(None)
loaded = [name for name in set(sys.modules) - before if name.partition(".")[0] not in before]
print(json.dumps({"calls": calls, "loaded": sorted(loaded)}))
"""
        )
    )
    ours = [name for name in counted["loaded"] if name.startswith("aclnn_")]
    others = {name.partition(".")[0] for name in counted["loaded"]} - {
        name.partition(".")[0] for name in ours
    }
    assert ours
    assert len(ours) <= MODULES, ours
    assert others <= OTHERS
    assert counted["calls"] <= CALLS
