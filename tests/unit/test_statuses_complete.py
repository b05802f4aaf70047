# SPDX-License-Identifier: Apache-2.0
"""Every status that a host program can provoke is expected by a test; the others have a reason.

What can be provoked is what the native library can answer by itself: the statuses that its sources
name. (Tasks can fail with any status: `fail_task`.)
"""

from __future__ import annotations

import ast
import re

from aclnn_runtime.status_enum import aclError as Status
from support.sources import ROOT

# Status or range of statuses -> why no host program provokes it here.
CANNOT = {
    (100005, 100005): "no file is refused for its size",
    (100007, 100007): "no key of the configuration is mandatory",
    (
        100009,
        100010,
    ): "dump and profiling are not emulated; their sections of the file are not read",
    (100011, 100032): "offline models, single operators, kernels and queues are not emulated",
    (100033, 100036): "the vendor's runtime answers with 107011, 107015, 107012 and 507012 instead",
    (
        100038,
        100045,
    ): "image preprocessing, stub libraries, groups, profiling and dump are not emulated",
    (107007, 107007): "the vendor does not check for reversed timestamps either",
    (107013, 107014): "groups are not emulated",
    (107018, 107018): "a driver's answer; every page policy is accepted",
    (107020, 107020): "comes from a chip's task scheduler",
    (107022, 107022): "aclrtDeviceTaskAbort is not emulated",
    (107034, 107035): "a task group cannot be interrupted by an abort: that is refused before",
    (107042, 107044): "symbols of device code are not emulated",
    (107045, 107045): "sub-graphs are not emulated",
    (148046, 148053): "profiling, queues, operator packages, JPEG and bundles are not emulated",
    (200001, 200005): "functions that do not exist here answer 200001: see test_capi_runtime",
    (200007, 200007): "profiling is not emulated",
    (207002, 207003): "freeing does not fail, and kernels of the CPU do not overflow",
    (207006, 207006): "no resource asks for a permission",
    (207010, 207011): "models and queues are not counted",
    (207013, 207018): "queues and cores of a chip are not emulated; exhausted memory is 207001",
    (207020, 207021): "come from a driver",
    (300000, 300000): "a driver's answer",
    (500002, 500005): "come from components that are not emulated",
    (507001, 507003): "come from a chip's task scheduler",
    (507005, 507006): "come from models of chips",
    (507008, 507008): "an unknown chip has no name: aclrtGetSocName answers NULL",
    (507010, 507010): "comes from a chip's heartbeat",
    (507013, 507022): "faults of chips",
    (507024, 507045): "kernels, ring buffers, labels and faults of chips",
    (507048, 507057): "faults of chips",
    (507899, 507902): "come from a driver",
    (507904, 507909): "collectives and snapshots are not emulated",
    (507912, 507916): "snapshots are not emulated; faults of chips",
}
# The default of a switch over every kind of task, which the compiler asks for.
UNREACHABLE = {507009}
# Setting a device up fails where memory does; copies by addresses may find bad ones.
PROVOKED_ALL_THE_SAME = {507033, 507053}
_NUMBER = re.compile(r"(?<!\d)[1-5]\d{5}(?!\d)")
_ENUMERATIONS = {"status_help", "error.c", "exception.c"}
SELF = "test_statuses_complete.py"


def listed():
    return {
        status.value
        for low, high in CANNOT
        for status in Status
        if low <= status.value <= high and status.value not in PROVOKED_ALL_THE_SAME
    }


def runtime_statuses():
    """Those of the reference's sections 1 to 7: without the operators' own."""
    return {s.value for s in Status if s.value and s.value // 10000 not in (16, 36, 56)}


def answered():
    """Statuses that the sources of the native library name, but for the sorting of faults."""
    found = set()
    for folder in ("engine", "capi"):
        for path in sorted((ROOT / "native" / folder).glob("*.c")):
            names = re.findall(r"ACLPY_(ACL_\w+)", path.read_text(encoding="utf-8"))
            if path.name not in _ENUMERATIONS:
                found |= {Status[name].value for name in names}
    return found - {0} - UNREACHABLE


def expected():
    """Numbers that tests compare with, also in the programs that they start."""
    found = set()
    for path in (ROOT / "tests").rglob("*.py"):
        if path.name not in (SELF, "test_status_help.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            if ast.get_docstring(tree) is not None:
                tree.body = tree.body[1:]
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant):
                    found |= {int(number) for number in _NUMBER.findall(str(node.value))}
    for path in (ROOT / "tests" / "native").glob("*.c"):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        found |= {int(number) for number in _NUMBER.findall(text)}
    return found


def test_every_status_that_can_be_provoked_is():
    missing = runtime_statuses() - listed() - expected() - UNREACHABLE
    assert not missing, f"neither expected by a test nor listed with a reason: {sorted(missing)}"


def test_what_the_library_answers_is_not_called_impossible():
    assert not answered() & listed()


def test_every_answer_is_expected_by_a_test():
    assert not (answered() & runtime_statuses()) - expected()


def test_every_reason_is_about_a_status():
    for low, high in CANNOT:
        assert any(low <= status.value <= high for status in Status), (low, high)
