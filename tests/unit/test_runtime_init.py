# SPDX-License-Identifier: Apache-2.0
"""aclInit and aclFinalize, each story in a process of its own."""

from __future__ import annotations

import pytest

from support.process import run_python

STORIES = {
    "once": ("aclInit() aclFinalize()", "0 0"),
    "twice": ("aclInit() aclInit() aclFinalize()", "0 100002 0"),
    "twice_with_a_bad_file": (
        "aclInit() aclInit('/no/such/file') aclInit(BROKEN) aclInit(OTHER) aclFinalize()",
        "0 100002 100002 100002 0",
    ),
    "finalize_twice": ("aclInit() aclFinalize() aclFinalize()", "0 0 100037"),
    "finalize_without_init": ("aclFinalize() aclFinalize()", "0 100037"),
    "finalize_ends_all": ("aclInit() aclInit() aclFinalize() aclFinalize()", "0 100002 0 100037"),
    "again": ("aclInit() aclFinalize() aclInit() aclFinalize()", "0 0 0 0"),
    "empty_path": ("aclInit('') aclFinalize()", "0 0"),
    "empty_file": ("aclInit(EMPTY) aclFinalize() aclInit(EMPTY)", "0 0 0"),
    "other_content": ("aclInit(EMPTY) aclFinalize() aclInit(OTHER)", "0 0 100000"),
    "not_json": ("aclInit(BROKEN)", "100006"),
    "missing": ("aclInit('/no/such/file')", "100003"),
    "bytes": ("aclInit(EMPTY.encode())", "0"),
    "path_object": ("aclInit(__import__('pathlib').Path(EMPTY))", "0"),
    "nn": ("aclnnInit() aclnnInit() aclnnFinalize() aclnnFinalize()", "0 0 0 0"),
    "no_init_at_all": ("aclrtSetDevice(0) aclrtFree(aclrtMalloc(8)) aclrtResetDevice(0)", "0 0 0"),
    "reset_unset": ("aclrtResetDevice(0)", "507007"),
    "reset_counts": (
        "aclrtSetDevice(0) aclrtSetDevice(0) aclrtResetDevice(0) aclrtGetDevice()"
        + 2 * " aclrtResetDevice(0)",
        "0 0 0 0 0 507007",
    ),
    "destroying_the_current_context_leaves_none": (
        "aclrtSetDevice(0) aclrtDestroyContext(aclrtCreateContext(0)) aclrtGetCurrentContext()",
        "0 0 107002",
    ),
    "setting_the_device_leaves_the_explicit_context": (
        "aclrtCreateContext(0) aclrtSetDevice(0) aclrtDestroyContext(aclrtGetCurrentContext())",
        "0 0 107002",
    ),
}


@pytest.mark.parametrize("story", STORIES)
def test_story(story, tmp_path):
    calls, statuses = STORIES[story]
    files = {"EMPTY": "{}", "OTHER": '{"dump": {}}', "BROKEN": "{"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    paths = {name: str(tmp_path / name) for name in files}
    done = run_python(
        f"""
        from aclnn_py import *
        from aclnn_py import AclError
        globals().update({paths!r})
        for call in {calls.split()!r}:
            try:
                eval(call)
                print(0)
            except AclError as error:
                print(error.status)
        """
    )
    assert done.stderr == ""
    assert done.stdout.split() == statuses.split()
