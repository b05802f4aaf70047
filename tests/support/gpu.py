# SPDX-License-Identifier: Apache-2.0
"""Whether there is a GPU to test on, and if not, why."""

from __future__ import annotations

import os
from functools import cache

import aclnn_py as acl

#: "card": only a real GPU will do (`make test-gpu`); unset: these tests are not asked for.
MODE = os.environ.get("GPU", "")


@cache
def why_not() -> str:
    """Empty where ``Device("cuda:0")`` opens."""
    if not MODE:
        return "not asked for: make test-gpu"
    try:
        acl.Device("cuda:0").close()
    except acl.AclError as error:
        return "no CUDA device: " + " ".join(str(error).split())[:200]
    return ""
