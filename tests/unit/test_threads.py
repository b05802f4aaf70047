# SPDX-License-Identifier: Apache-2.0
"""How many threads the compute pool has: the variable, the affinity mask, a forked child."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from aclnn_native import lib

_COUNT = "from aclnn_native import lib; print(lib.aclpy_thread_count())"
_PROCESSORS = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def _count(setting: str | None = None, *, before: str = "") -> int:
    variables = {name: text for name, text in os.environ.items() if name != "ACLNN_PY_THREADS"}
    if setting is not None:
        variables["ACLNN_PY_THREADS"] = setting
    done = subprocess.run(
        [sys.executable, "-c", before + _COUNT],
        env=variables,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return int(done.stdout)


@pytest.mark.parametrize("count", [1, 3, 7])
def test_the_variable_sets_the_number(count: int) -> None:
    assert _count(str(count)) == count


@pytest.mark.skipif(not _PROCESSORS, reason="this system has no affinity masks")
def test_without_the_variable_the_affinity_mask_counts() -> None:
    assert _count() == len(_PROCESSORS)
    narrowed = f"import os; os.sched_setaffinity(0, {{{_PROCESSORS[-1]}}})\n"
    assert _count(before=narrowed) == 1
    assert _count("2", before=narrowed) == 2  # whoever asks for more gets it


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_keeps_the_number() -> None:
    here = lib.aclpy_thread_count()
    forked = (
        "import os, sys\nfrom aclnn_native import lib\n"
        f"lib.aclpy_set_thread_count({here + 1})\n"
        "child = os.fork()\n"
        "if child:\n    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    assert _count(before=forked) == here + 1
