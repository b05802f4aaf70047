# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin in projects of their own: schedules, replay strings, pictures, leaks."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from aclnn_py.pyacl import rt
from aclnn_py.testing.leaks import Ledger
from aclnn_runtime import Stream

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "samples" / "stream_order_tests"
INI = "[pytest]\naddopts = --strict-markers\n"


def run(folder, *options):
    """Pytest in a project: with this plugin and no other."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "aclnn_py.testing.plugin", "-q", *options],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )


@pytest.fixture
def project(tmp_path):
    """A function that writes a project of one test file and runs it."""

    def write_and_run(text, *options, ini=INI):
        (tmp_path / "pytest.ini").write_text(ini, encoding="utf-8")
        (tmp_path / "test_it.py").write_text(textwrap.dedent(text), encoding="utf-8")
        return run(tmp_path, *options)

    return write_and_run


def line_of(text, marked):
    """Number of the line that holds the text."""
    lines = textwrap.dedent(text).splitlines()
    return next(number for number, line in enumerate(lines, 1) if marked in line)


# ---- the sample project ----


def test_the_sample_project_is_green(tmp_path):
    project = shutil.copytree(SAMPLE, tmp_path / "project")
    done = run(project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout


def test_its_broken_twin_fails_with_a_replay_string_and_a_picture(tmp_path):
    project = shutil.copytree(SAMPLE, tmp_path / "project")
    done = run(project, "broken")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed" in done.stdout
    replay = re.search(r"--acl-schedule '(r1:\S+)'", done.stdout)[1]
    picture = Path(re.search(r"timeline: (\S+\.svg)", done.stdout)[1])
    drawn = picture.read_text(encoding="utf-8")
    assert "<svg" in drawn
    assert "aclnnSoftmax" in drawn
    again = run(project, "broken", "--acl-schedule", replay)
    assert again.returncode == 1
    assert "schedule 1 of 1" in again.stdout
    assert f"'{replay}'" in again.stdout


# ---- schedules ----

COUNTING = """
    import pytest

    @pytest.mark.acl_schedules(7)
    def test_it(acl_stream):
        seen = []
        acl_stream.launch_host_func(lambda: seen.append(1))
        acl_stream.synchronize()
        assert seen == [1]
        with open("runs", "a") as file:
            file.write("x")
"""


def test_a_marked_test_runs_once_a_schedule(project, tmp_path):
    assert project(COUNTING).returncode == 0
    assert (tmp_path / "runs").read_text() == "x" * 7
    assert project(COUNTING, "--acl-schedule", "3").returncode == 0
    assert (tmp_path / "runs").read_text() == "x" * 8


def test_a_marker_may_name_its_number(project, tmp_path):
    assert project(COUNTING.replace("(7)", "(count=2)")).returncode == 0
    assert (tmp_path / "runs").read_text() == "xx"


@pytest.mark.parametrize("marker", ["", "(0)", "('7')", "(1, 2)", "(1, count=2)", "(times=2)"])
def test_a_marker_without_a_number_is_refused(project, marker):
    done = project(COUNTING.replace("(7)", marker))
    assert done.returncode == 1
    assert "acl_schedules takes one argument" in done.stdout


@pytest.mark.parametrize("schedule", ["sideways", "", "r1"])
def test_an_unknown_schedule_is_refused(project, schedule):
    done = project(COUNTING, "--acl-schedule", schedule)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"got {schedule!r}" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_failure_says_that_a_replay_string_did_not_fit(project):
    failing = COUNTING.replace("assert seen == [1]", "assert not seen")
    done = project(failing, "--acl-schedule", "r1:zz9")
    assert done.returncode == 1
    assert "the string asked for does not fit this test from step" in done.stdout


def test_a_skip_is_a_skip(project):
    done = project(COUNTING.replace("seen = []", "pytest.skip('not today')"))
    assert done.returncode == 0
    assert "1 skipped" in done.stdout


@pytest.mark.parametrize(
    "failing", ["pytest.fail('on purpose')", "with pytest.raises(KeyError): 1"]
)
def test_every_sort_of_failure_has_its_replay_string(project, failing):
    done = project(COUNTING.replace("seen = []", failing))
    assert done.returncode == 1
    assert re.search(r"pytest 'test_it.py::test_it' --acl-schedule 'r1:", done.stdout), done.stdout


#: What can never end, and is still in its stream when the fixture closes it.
ENDLESS = {
    "a wait in a context of its own": ("acl_context", """
            s = acl.aclrtCreateStream()
            acl.aclrtStreamWaitEvent(s, acl.aclrtCreateEventWithFlag(acl.ACL_EVENT_SYNC))
            acl.aclrtSynchronizeStream(s)"""),
    "a wait in the context's default stream": ("acl_context", """
            acl.aclrtStreamWaitEvent(None, acl.aclrtCreateEventWithFlag(acl.ACL_EVENT_SYNC))
            acl.aclrtSynchronizeStream(None)"""),
    "a latch that the traceback keeps": ("acl_stream", """
            latch = Latch()
            latch.park(acl_stream)
            acl_stream.synchronize()"""),
    "a latch and a failed assertion": ("acl_stream", """
            latch = Latch()
            latch.park(acl_stream)
            assert not latch"""),
    "a block of the test's own": ("acl_device", """
            latch = Latch()
            with acl_device.create_stream() as s:
                latch.park(s)
                assert not latch"""),
}  # fmt: skip


@pytest.mark.parametrize("marker", ["@pytest.mark.acl_schedules(2)", ""], ids=["ordered", "plain"])
@pytest.mark.parametrize("case", ENDLESS)
def test_what_never_ends_fails_once_and_holds_up_nothing(project, case, marker):
    fixture, body = ENDLESS[case]
    if not marker and "synchronize" in body.lower():
        pytest.skip("without a schedule nothing knows that such a wait is endless")
    done = project(f"""
        import aclnn_py as acl
        import pytest
        from aclnn_py.testing import Latch

        {marker}
        def test_it({fixture}):{body}

        @pytest.mark.acl_schedules(2)
        def test_another(acl_stream):
            acl_stream.synchronize()
    """)
    assert "1 failed, 1 passed" in done.stdout, done.stdout


LONG = """
    import pytest

    @pytest.mark.acl_schedules(1)
    @pytest.mark.parametrize("text", [sign * 300 for sign in ("x", "x" * 2, "\u00e9")], ids=str)
    def test_it(acl_stream, text):
        acl_stream.launch_host_func(print)
        acl_stream.synchronize()
        assert text == "as it should be"
"""


def test_long_names_have_pictures_of_their_own(project):
    done = project(LONG)
    assert "3 failed" in done.stdout, done.stdout
    pictures = {Path(found) for found in re.findall(r"timeline: (\S+\.svg)", done.stdout)}
    assert len(pictures) == 3
    assert all(picture.is_file() for picture in pictures)


@pytest.mark.parametrize(
    ("folder", "reason"),
    [
        ("test_it.py", "FileExistsError"),
        ("test_it.py/below", "NotADirectoryError"),
        ("blocked", "AclError: trace"),
    ],
)
def test_a_picture_that_fails_leaves_the_failure_as_it_is(project, tmp_path, folder, reason):
    (tmp_path / "blocked" / "test-it.json").mkdir(parents=True)
    done = project(COUNTING.replace("seen = []", "seen = [2]"), "--acl-timelines", folder)
    assert done.returncode == 1
    assert "assert [2, 1] == [1]" in done.stdout, done.stdout
    assert re.search(r"--acl-schedule 'r1:", done.stdout)
    assert re.search(rf"timeline: none \({reason}.*\)", done.stdout)


def test_a_replay_string_that_does_not_fit_fails(project):
    done = project(COUNTING, "--acl-schedule", "r1:zz9")
    assert done.returncode == 1
    assert "does not fit" in done.stdout


def test_asynchronous_tests_are_refused(project):
    done = project(COUNTING.replace("def test_it", "async def test_it"))
    assert done.returncode == 1
    assert "does not run asynchronous tests" in done.stdout


def test_methods_of_unittest_are_refused(project):
    done = project("""
        import unittest
        import pytest

        class TestIt(unittest.TestCase):
            @pytest.mark.acl_schedules(3)
            def test_it(self):
                pass
    """)
    assert done.returncode == 4
    assert "unittest.TestCase" in done.stderr + done.stdout


# ---- leaks ----

LEAKS = """
    import aclnn_py as acl
    import aclnn_py.pyacl as pyacl

    kept = []

    def test_it(acl_context, acl_device):
        LEAK
"""


@pytest.mark.parametrize(
    ("kind", "statement"),
    [
        ("stream", "kept.append(acl.aclrtCreateStream())"),
        ("stream", "kept.append(acl_device.create_stream())"),
        ("stream", "pyacl.rt.create_stream()"),
        ("event", "kept.append(acl.aclrtCreateEventExWithFlag(1))"),
        ("event", "pyacl.rt.create_event()"),
        ("buffer", "acl.aclrtMalloc(64)"),
        ("buffer", "acl.aclrtMallocHost(64)"),
        ("buffer", "kept.append(acl_device.malloc(64))"),
        ("buffer", "pyacl.rt.malloc(64, 0)"),
        ("tensor", "kept.append(acl.aclCreateTensor([2], 0, [1], 0, 2, [2], 64))"),
        ("notify", "kept.append(acl.aclrtCreateNotify(0))"),
        ("counting notify", "kept.append(acl.aclrtCntNotifyCreate(0))"),
    ],
)
def test_what_is_left_open_is_named_with_its_place(project, kind, statement):
    text = LEAKS.replace("LEAK", statement)
    done = project(text)
    assert done.returncode == 1, done.stdout
    assert "1 passed, 1 error" in done.stdout
    assert "1 objects of the runtime are still open" in done.stdout
    place = rf"{kind} 0x[0-9a-f]+, opened at \S+test_it\.py:{line_of(text, statement)} in test_it"
    assert re.search(place, done.stdout), done.stdout


EXECUTOR = """
    import numpy as np
    import aclnn_py as acl

    kept = []

    def test_it(acl_device):
        x, out = acl_device.zeros((2, 3), "float32"), acl_device.zeros((2, 3), "float32")
        kept.append(acl.aclnnSoftmaxGetWorkspaceSize(x, 1, out))
"""


def test_an_executor_is_named_with_what_it_keeps(project):
    done = project(EXECUTOR)
    assert done.returncode == 1
    place = rf"executor 0x[0-9a-f]+, opened at \S+:{line_of(EXECUTOR, 'kept.append')} in"
    assert re.search(place, done.stdout), done.stdout
    assert re.search(r"tensor 0x", done.stdout)


TIDY = """
    import numpy as np
    import pytest
    import aclnn_py as acl

    @pytest.fixture(scope="module")
    def shared():
        with acl.Device(0) as device, device.create_stream() as stream:
            yield device, stream, device.malloc(64)

    def test_wider_fixtures_live_on(shared):
        pass

    def test_what_is_closed_or_garbage_is_fine(shared, acl_stream, acl_device):
        x, out = acl_device.zeros((2, 3), "float32"), acl_device.zeros((2, 3), "float32")
        size, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, 1, out)
        acl.aclnnSoftmax(None, size, executor, acl_stream)
        acl_stream.record().synchronize()
        circle = [acl_device.create_stream()]
        circle.append(circle)

    def test_a_failure_is_not_reported_twice(acl_device):
        buffer = acl_device.malloc(64)
        assert buffer is None
"""


def test_no_false_alarm(project):
    done = project(TIDY)
    assert "1 failed, 2 passed" in done.stdout, done.stdout
    assert "error" not in done.stdout.splitlines()[-1]


def test_leak_checks_can_be_switched_off(project):
    text = LEAKS.replace("LEAK", "acl.aclrtMalloc(64)")
    assert project(text, ini=INI + "acl_leaks = off\n").returncode == 0
    wrong = project(text, ini=INI + "acl_leaks = loud\n")
    assert wrong.returncode == 4
    assert "expected error or off" in wrong.stderr


def test_the_makers_are_put_back():
    before = (vars(Stream)["_adopt"], rt.malloc)
    with Ledger().watching():
        assert rt.malloc is not before[1]
    assert (vars(Stream)["_adopt"], rt.malloc) == before


def test_the_package_announces_the_plugin():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert '[project.entry-points.pytest11]\naclnn_py = "aclnn_py.testing.plugin"\n' in text
