# SPDX-License-Identifier: Apache-2.0
"""The command line: what it prints, and its exit codes."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

import aclnn_py as acl
from aclnn_py import twophase
from aclnn_py.cli import main
from aclnn_py.core.desc import TensorDesc
from aclnn_py.core.dtype import as_dtype
from aclnn_py.support import _QUESTION, host_python
from support.sources import ROOT

FOUR = ["aclnnLogSoftmax", "aclnnLogSoftmaxBackward", "aclnnSoftmax", "aclnnSoftmaxBackward"]


def call(*arguments):
    return CliRunner().invoke(main, arguments)


def explain(*arguments):
    done = call("explain", *arguments)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("command", [["-m", "aclnn_py"], ["-m", "aclnn_py", "info"]])
def test_module_entry(command):
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, timeout=60, check=False
    )
    shown = done.stdout + done.stderr  # without a command, click's help goes to stderr
    assert "explain" in shown or "cpu:0" in shown
    assert done.returncode == (0 if "info" in command else 2)


def test_help_says_of_every_command_what_it_does():
    *_, shown = call("--help").output.split("Commands:\n")
    assert [line.split()[0] for line in shown.splitlines()] == sorted(main.commands)
    assert "..." not in shown, shown


def test_run_takes_profiles_that_exist():
    done = call("run", "--soc", "Ascend9", "--", "true")
    assert done.exit_code == 2
    assert "Ascend910B" in done.output


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--schedule", "foo"], "eager, lazy, reverse"),
        (["--schedule", ""], "eager, lazy, reverse"),
        (["--seed", "-1"], "'--seed'"),
        (["--seed", str(2**64)], "'--seed'"),
        (["--schedule", "lazy", "--seed", "3"], "without --schedule"),
    ],
)
def test_run_refuses_schedules_that_are_none(monkeypatch, options, told):
    monkeypatch.delattr(os, "execve")  # it would end the tests, and they would count as passed
    done = call("run", *options, "--", "true")
    assert done.exit_code == 2
    assert told in done.output
    assert ("--schedule" in done.output) == ("--schedule" in options)


def test_run_says_what_the_system_cannot_execute(tmp_path):
    program = tmp_path / "program"
    program.write_text("echo without a first line\n")
    program.chmod(0o755)
    done = call("run", "--", str(program))
    assert done.exit_code == 1
    assert done.output.startswith(f"Error: {program} cannot be run: Exec format error")


def test_a_schedule_may_replace_that_of_the_environment():
    command = [sys.executable, "-m", "aclnn_py", "run", "--schedule", "7", "--", "true"]
    environment = os.environ | {"ACLNN_PY_SCHEDULE": "lazy"}
    assert subprocess.run(command, env=environment, timeout=60, check=False).returncode == 0


@pytest.mark.parametrize(
    "command", [["toolkit", "--into", "/dev/null/x"], ["build", "x.c", "-o", "x"]]
)
def test_what_the_system_refuses_is_one_line(monkeypatch, tmp_path, command):
    (tmp_path / "x.c").write_text("int main(void) { return 0; }")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CC", str(tmp_path / "no compiler").replace(" ", "-"))
    done = call(*command)
    assert done.exit_code == 1
    assert done.output.startswith("Error: the ")
    assert "cannot be" in done.output


def test_info_says_what_holds():
    done = call("info")
    assert done.exit_code == 0
    for fact in ("cpu:0", "baseline", "threads", "ACLNN_PY_SOC", "Ascend910B", "last-level cache"):
        assert fact in done.output


def fact(shown, name):
    """What a row of `info` says."""
    row = next(line for line in shown.splitlines() if line.startswith(name))
    return row.removeprefix(name).strip()


NO_PYTHON = "let ACLNN_PY_PYTHON name a Python that has aclnn-py and a shared library"


def test_info_tells_the_python_that_a_c_host_loads(monkeypatch):
    """What C asks is what is asked here, so the answers are one."""
    monkeypatch.delenv("ACLNN_PY_PYTHON", raising=False)
    source = (ROOT / "native" / "capi" / "interpreter.c").read_text(encoding="utf-8")
    literals = re.search(r"question_\[\] =\n(.*?);\n\n", source, re.DOTALL)[1]
    assert ast.literal_eval(f"({literals})") == _QUESTION
    answer = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _QUESTION],
        capture_output=True, text=True, timeout=60, check=True,
    ).stdout.splitlines()[0]  # fmt: skip
    none = f"none: {sys.executable} has no shared library (libpython); {NO_PYTHON}"
    assert fact(call("info").output, "Python for C hosts") == (answer or none)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("#!/bin/sh\necho /lib/libpython3.so\n", "/lib/libpython3.so"),
        ("#!/bin/sh\necho\n", f"none: P has no shared library (libpython); {NO_PYTHON}"),
        ("#!/bin/sh\nexit 1\n", f"none: P did not answer; {NO_PYTHON}"),
        (None, f"none: P cannot be run (No such file or directory); {NO_PYTHON}"),
    ],
)
def test_the_python_that_is_chosen_is_asked(monkeypatch, tmp_path, script, said):
    python = tmp_path / "p"
    if script:
        python.write_text(script)
        python.chmod(0o755)
    monkeypatch.setenv("ACLNN_PY_PYTHON", str(python))
    assert host_python() == said.replace("P ", f"{python} ", 1)


def test_info_follows_the_environment():
    done = subprocess.run(
        [sys.executable, "-m", "aclnn_py", "info"],
        env=os.environ | {"ACLNN_PY_ISA": "baseline", "ACLNN_PY_SOC": "Ascend950"},
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    chosen = next(line for line in done.stdout.splitlines() if "runs on" in line)
    assert chosen.split()[-1] == "baseline"
    assert "Ascend950" in done.stdout


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("ACLNN_PY_SOC", "Abacus", "Ascend910B"),
        ("ACLNN_PY_SCHEDULE", "lazzy", "eager, lazy, reverse"),
        ("ACLNN_PY_TRACE", "/nowhere/trace.json", "/nowhere/trace.json"),
    ],
)
def test_a_wrong_setting_is_wrong_usage(variable, value, told):
    done = subprocess.run(
        [sys.executable, "-m", "aclnn_py", "ops"],
        env=os.environ | {variable: value},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert variable in done.stderr
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_ops_as_json():
    done = call("ops", "--json")
    rows = json.loads(done.output)
    assert [row["name"] for row in rows] == FOUR
    softmax = rows[2]
    assert softmax["signature"] == "self, dim, out"
    assert set(softmax["dtypes"]["Ascend910B"]["self"]) == {
        "float32", "float16", "float64", "bfloat16",
    }  # fmt: skip
    assert "bfloat16" not in softmax["dtypes"]["Ascend310P"]["self"]
    assert "complex64" in rows[3]["dtypes"]["Ascend910B"]["out"]


def test_ops_as_table():
    done = call("ops")
    assert done.exit_code == 0
    for name in [*FOUR, "gradOutput", "bfloat16"]:
        assert name in done.output


def test_explain_shows_steps_kernel_workspace():
    text = explain(
        "SoftmaxBackward", "--shape", "4,2", "--dtype", "float16", "--out-dtype", "float32",
        "--dim", "0",
    )  # fmt: skip
    assert "softmax_backward" in text
    assert "cast" in text
    assert any(isa in text for isa in ("avx512", "avx2", "baseline"))
    assert "workspace 512 bytes" in text  # the float16 result: 16 bytes round up to one item


def test_explain_agrees_with_phase_one(device):
    x = device.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype="float16")
    out = device.empty((3, 2), "float32")
    size, executor = acl.aclnnLogSoftmaxGetWorkspaceSize(x, 1, out)
    acl.aclDestroyAclOpExecutor(executor)
    text = explain("aclnnlogsoftmax", "--shape", "3,2", "--dtype", "float16",
                   "--out-dtype", "ACL_FLOAT", "--dim", "1")  # fmt: skip
    assert f"workspace {size} bytes" in text
    assert size > 0


@pytest.mark.parametrize(("descs", "values"), [(1, [0]), (3, [0]), (2, []), (2, [0, 0])])
def test_explain_counts_what_it_is_given(descs, values):
    x = TensorDesc.dense((2, 3), as_dtype("float32"))
    with pytest.raises(ValueError, match="Softmax has"):
        twophase.explain("Softmax", [x] * descs, values)


@pytest.mark.parametrize(
    ("operator", "dtype", "helps"),
    [
        ("Softmax", "bfloat16", True),
        ("Softmax", "int32", False),
        ("SoftmaxBackward", "float64", False),
    ],
)
def test_a_soc_is_offered_where_one_has_the_type(operator, dtype, helps):
    done = CliRunner().invoke(
        main, ["explain", operator, "--shape", "2,3", "--dtype", dtype, "--soc", "Ascend910"]
    )
    assert done.exit_code == 1
    assert ("ACLNN_PY_SOC" in done.output) is helps


def test_explain_says_why_a_copy_is_not_repeatable():
    text = explain("onnx.Constant", "--shape", "2,3")
    assert "a copy of what the caller holds" in text
    assert "larger than the view" not in text


def test_explain_follows_soc_and_strides():
    plain = explain("Softmax", "--shape", "4,8")
    assert "workspace 0 bytes" in plain
    assert "contiguous" in explain("Softmax", "--shape", "4,8", "--strides", "1,4")
    assert "view" in explain("Softmax", "--shape", "4,8", "--out-strides", "-16,2")
    assert f"workspace {16 * 1024 * 1024 + 512} bytes" in explain(
        "Softmax", "--shape", "4,8", "--soc", "Ascend950"
    )


def test_explain_shows_refused_candidates():
    done = subprocess.run(
        [sys.executable, "-m", "aclnn_py", "explain", "Softmax", "--shape", "4,8"],
        env=os.environ | {"ACLNN_PY_ISA": "baseline"},
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert "baseline" in done.stdout
    refused = [line for line in done.stdout.splitlines() if "refused" in line]
    assert refused
    assert all("ACLNN_PY_ISA" in line or "processor" in line for line in refused)


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("Softmax", "--shape", "4,2", "--dim", "2"), "161002"),
        (("Softmax", "--shape", "4,2", "--dtype", "int32"), "161002"),
        (("Softmax", "--shape", "4,2", "--dtype", "bfloat16", "--soc", "Ascend310P"), "161002"),
        (("SoftmaxBackward", "--shape", "4,2", "--out-dtype", "STRING"), "561103"),
    ],
)
def test_a_refusal_prints_its_status_and_exits_with_1(arguments, status):
    done = call("explain", *arguments)
    assert done.exit_code == 1
    assert status in done.stderr
    assert "fix:" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("nonsense",),
        ("explain", "Softmax"),
        ("explain", "Softmin", "--shape", "2"),
        ("explain", "Softmax", "--shape", "two"),
        ("explain", "Softmax", "--shape", "4,2,,3"),
        ("explain", "Softmax", "--shape", ",4"),
        ("explain", "Softmax", "--shape", "4,"),
        ("explain", "Softmax", "--shape", "2", "--dtype", "float17"),
        ("explain", "Softmax", "--shape", "2,2", "--strides", "1"),
        ("explain", "Softmax", "--shape", "2", "--soc", "Abacus"),
    ],
)
def test_wrong_usage_exits_with_2(arguments):
    assert call(*arguments).exit_code == 2


def test_zero_d_and_empty_shapes():
    assert "softmax" in explain("Softmax", "--shape", "").lower()
    assert "nothing to do" in explain("Softmax", "--shape", "0,3")


def test_flags_of_the_compiler_are_no_options(tmp_path):
    """-lpthread has the letters of -o and -h."""
    program = tmp_path / "program"
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    done = call("build", str(tmp_path / "main.c"), "-lpthread", "-Werror", "-o", str(program))
    assert done.exit_code == 0, done.output
    assert program.is_file()
    assert "Compile host programs" in call("build", "-h").output == call("build", "--help").output


def test_a_folder_is_no_file_to_compile(tmp_path):
    done = call("build", str(tmp_path), "-o", "program")
    assert (done.exit_code, done.output) == (1, f"Error: {tmp_path} is a folder\n")


def test_a_blank_compiler_is_none(monkeypatch, tmp_path):
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    monkeypatch.setenv("CC", " ")
    done = call("build", str(tmp_path / "main.c"), "-o", str(tmp_path / "program"))
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("flags", [("-I", "."), ("-D", "SOME=1"), ("-x", "c"), ("-isystem", "/")])
def test_flags_may_have_their_value_apart(tmp_path, flags):
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    program = tmp_path / "program"
    done = call("build", *flags, str(tmp_path / "main.c"), f"-o{program}")
    assert done.exit_code == 0, done.output
    assert program.is_file()
    assert "no file to compile" in call("build", *flags, "-o", str(program)).output


def test_flags_of_the_toolkit_come_together(tmp_path):
    both = call("toolkit", "--into", str(tmp_path / "kit"), "--libs", "--cflags").output
    assert both.startswith("-I")
    assert "-lascendcl" in both
    assert call("toolkit", "--into", str(tmp_path / "kit"), "--cmake", "--libs").exit_code == 2


def test_the_toolkit_is_not_mixed_with_other_files(tmp_path):
    kit = tmp_path / "kit"
    for _ in range(2):  # a tree of before is found
        assert call("toolkit", "--into", str(kit)).exit_code == 0
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "set_env.sh").write_text("mine")
    done = call("toolkit", "--into", str(mine))
    assert (done.exit_code, "an empty or a new folder" in done.output) == (1, True), done.output
    assert (mine / "set_env.sh").read_text() == "mine"
    assert len(list(mine.iterdir())) == 1
    assert call("toolkit", "--into", "").exit_code == 2


@pytest.mark.parametrize("name", ["SoftmaxGrad_13", "softmaxgrad", "LogSoftmaxGrad"])
def test_explain_takes_names_that_one_dialect_has_without_it(name):
    done = call("explain", name, "--shape", "2,3")
    assert (done.exit_code, name.lower() in done.output.lower()) == (0, True), done.output


@pytest.mark.parametrize("name", ["Abs", "aclnnAbs", "aclnnAbsGetWorkspaceSize"])
def test_explain_tells_declared_operators_from_unknown_ones(name):
    done = call("explain", name, "--shape", "2")
    assert done.exit_code == 2
    assert "declared for C hosts, not implemented" in " ".join(done.stderr.split())
    assert "is unknown" in call("explain", "aclnnNoSuch", "--shape", "2").stderr


def test_explain_takes_the_name_of_phase_one():
    assert explain("aclnnSoftmaxGetWorkspaceSize", "--shape", "2,3") == explain(
        "Softmax", "--shape", "2,3"
    )
