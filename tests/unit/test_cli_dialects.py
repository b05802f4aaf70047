# SPDX-License-Identifier: Apache-2.0
"""The command line speaks of dialects: the table of section 5, plans of their operators."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from aclnn_py.cli import main
from aclnn_py.dialects import facts


@pytest.mark.parametrize("family", facts.FAMILIES)
def test_command_line_prints_the_table(family):
    done = CliRunner().invoke(main, ["dialects", family])
    assert done.exit_code == 0, done.output
    for title, *_ in facts.table(family)[1:]:
        assert f" {title} " in done.output
    shown = json.loads(CliRunner().invoke(main, ["dialects", family, "--json"]).output)
    assert [row["dialect"] for row in shown] == facts.table(family)[0][1:]
    words = {word for row in shown for cell in row.values() for word in cell.split()}
    assert not [word for word in words if word not in done.output]


@pytest.mark.parametrize(
    "arguments",
    [
        ["dialects"],
        ["dialects", "softmin"],
        ["explain", "onnx.ReduceSum", "--shape", "2,3", "--dim", "5"],
    ],
)
def test_command_line_wrong_usage(arguments):
    assert CliRunner().invoke(main, arguments).exit_code == 2


@pytest.mark.parametrize(
    ("operator", "shown"),
    [
        ("onnxruntime.SoftmaxGrad", "params (3, 20, 1)"),
        ("onnxruntime.LogSoftmaxGrad_13", "params (3, 4, 5)"),
        ("onnx.Softmax", "params (3, 4, 5)"),
        ("onnx.Exp", "numpy onnx_exp"),
        ("onnx.ReduceMax", "FLOAT [3, 4, 5], params (1,)"),
    ],
)
def test_command_line_explains_operators_of_other_dialects(operator, shown):
    done = CliRunner().invoke(main, ["explain", operator, "--shape", "3,4,5", "--dim", "1"])
    assert done.exit_code == 0, done.output
    assert shown in done.output


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["onnx.Softmax", "--dim", "2"], "ShapeInferenceError"),
        (["onnx.LogSoftmax", "--dim=-3"], "from -2 to 1"),
        (["onnx.Softmax", "--dtype", "int32"], "TypeInferenceError"),
        (["onnxruntime.SoftmaxGrad", "--dim", "5"], "axis 5 is not in valid range [-2,1]"),
        (["onnxruntime.SoftmaxGrad_13", "--dtype", "float16"], "ORT_NOT_IMPLEMENTED"),
    ],
)
def test_command_line_refuses_as_the_dialect_does(arguments, shown):
    done = CliRunner().invoke(main, ["explain", *arguments, "--shape", "2,3"])
    assert done.exit_code == 1
    assert shown in done.output
