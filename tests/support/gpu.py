# SPDX-License-Identifier: Apache-2.0
"""Whether there is a GPU to test on, and if not, why."""

from __future__ import annotations

import os
import sys
from functools import cache

import aclnn_py as acl
from support import cuda_twin
from support.sources import ROOT

#: "card": a real GPU (`make test-gpu`); "fake": a stand-in for CuPy whose kernels are host code;
#: unset: these tests are not asked for.
MODE = os.environ.get("GPU", "")
FAKE = ROOT / "tests" / "cuda" / "fake"


@cache
def why_not() -> str:
    """Empty where ``Device("cuda:0")`` opens."""
    if not MODE:
        return "not asked for: make test-gpu"
    if MODE == "fake":
        if cuda_twin.compiler() is None:
            return "no C++ compiler for the kernels as host code"
        os.environ["FAKE_CUPY_TWIN"] = str(cuda_twin.library())
        sys.path.insert(0, str(FAKE))
    try:
        acl.Device("cuda:0").close()
    except acl.AclError as error:
        return "no CUDA device: " + " ".join(str(error).split())[:200]
    return ""
