# SPDX-License-Identifier: Apache-2.0
"""Every sample runs, and every sample notices when its operators do nothing."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "samples" / "python"
SAMPLES = sorted(path.name for path in FOLDER.glob("[!_]*.py"))
CALLS = [(name, ()) for name in SAMPLES if name != "train_digits.py"] + [
    ("train_digits.py", ("--loss", "log_softmax")),
    ("train_digits.py", ("--loss", "softmax")),
]
# These do not call the aclnn names of the package, which is what IDLE replaces.
OTHER_DOORS = {"ctypes_client.py"}
OPERATORS = ("Softmax", "LogSoftmax", "SoftmaxBackward", "LogSoftmaxBackward")

# Phase 2 returns without having queued anything; no sample may be happy with that.
IDLE = f"""
import runpy, sys
import aclnn_py as acl
for name in {OPERATORS!r}:
    setattr(acl, "aclnn" + name, lambda workspace, size, executor, stream: None)
sys.argv = sys.argv[1:]
sys.path.insert(0, {str(FOLDER)!r})
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def run(folder, *command):
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_list_is_complete():
    promised = {
        "softmax.py", "log_softmax.py", "softmax_backward.py", "log_softmax_backward.py",
        "non_contiguous.py", "repeatable_executor.py", "two_streams.py", "cast_output.py",
        "train_digits.py",
        "stream_pipeline.py", "callbacks.py", "capture_replay.py", "timeouts_and_errors.py",
        "two_devices.py", "priorities.py", "pyacl_host.py", "gpu_streams.py",
    }  # fmt: skip
    assert promised <= set(SAMPLES)


@pytest.mark.parametrize(("name", "options"), CALLS, ids="".join)
def test_sample_runs(name, options, tmp_path):
    done = run(tmp_path, "-W", "error", str(FOLDER / name), *options)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr
    assert done.stdout


@pytest.mark.parametrize(
    ("name", "options"), [call for call in CALLS if call[0] not in OTHER_DOORS], ids="".join
)
def test_sample_notices_operators_that_do_nothing(name, options, tmp_path):
    done = run(tmp_path, "-c", IDLE, str(FOLDER / name), *options)
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search("WRONG|gradient off", done.stderr), done.stderr


@pytest.mark.parametrize("loss", ["log_softmax", "softmax"])
def test_digits_are_learnt_and_drawn(loss, tmp_path):
    done = run(tmp_path, str(FOLDER / "train_digits.py"), "--loss", loss)
    assert done.returncode == 0, done.stdout + done.stderr
    accuracy = re.search(r"test accuracy (\d+\.\d+)%", done.stdout)
    assert accuracy, done.stdout
    assert float(accuracy[1]) >= 95
    picture = (tmp_path / "out" / f"train_digits_{loss}.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 10_000  # axes and curves, not an empty canvas


def test_digits_refuse_a_model_that_is_not_good_enough(tmp_path):
    barely = f"""
import sys
sys.path.insert(0, {str(FOLDER)!r})
import train_digits
train_digits.EPOCHS, train_digits.RATE = 1, 1e-6
train_digits.main()
"""
    done = run(tmp_path, "-c", barely)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "below 95%" in done.stderr


def test_digits_say_which_device_is_missing(tmp_path):
    done = run(tmp_path, str(FOLDER / "train_digits.py"), "--device", "cuda:99")
    assert done.returncode == 1
    assert done.stderr.startswith("no such device here: ")
    assert "fix:" in done.stderr
