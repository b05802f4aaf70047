# SPDX-License-Identifier: Apache-2.0
"""Files and functions stay small enough to be read in one go."""

from __future__ import annotations

import ast
import re

import pytest

from support.sources import ROOT, files, is_generated

FILE_LINES = 550
PYTHON_LINES = 60  # of code; the docstring is not counted
C_LINES = 80


def c_functions(text):
    """(name, lines) of each function: from the line that ends in ``{`` to ``}`` in column 0."""
    start = name = None
    for number, line in enumerate(text.splitlines()):
        if start is None:
            head = re.match(r"[A-Za-z_].*?(\w+)\(", line)
            if head:
                name = head[1]
            if (
                name
                and line.rstrip().endswith("{")
                and not line.startswith(("enum", "struct", "typedef"))
            ):
                start = number
            elif line.rstrip().endswith(";"):
                name = None
        elif line.startswith("}"):
            yield name, number - start + 1
            start = name = None


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body
            if ast.get_docstring(node) is not None:
                body = body[1:]
            if body:
                yield node.name, body[-1].end_lineno - body[0].lineno + 1


@pytest.mark.parametrize("suffix", [".py", ".c", ".h", ".cu", ".cpp", ".txt", ".md", ".sh"])
def test_files(suffix):
    long = {
        str(path.relative_to(ROOT)): lines
        for path in files(suffix)
        if not is_generated(path)
        and (lines := len(path.read_text(encoding="utf-8").splitlines())) > FILE_LINES
    }
    assert not long


@pytest.mark.parametrize(
    ("suffixes", "functions", "limit"),
    [
        ((".py",), python_functions, PYTHON_LINES),
        ((".c", ".h", ".cu", ".cpp"), c_functions, C_LINES),
    ],
)
def test_functions(suffixes, functions, limit):
    seen = 0
    long = []
    for path in files(*suffixes):
        for name, lines in functions(path.read_text(encoding="utf-8")):
            seen += 1
            if lines > limit:
                long.append(f"{path.relative_to(ROOT)}: {name} {lines}")
    assert seen > 50
    assert not long


def test_the_measure_measures():
    assert list(c_functions("static int f(int a,\n      int b) {\n  return a;\n}\n")) == [("f", 3)]
    assert list(python_functions('def f():\n    """Doc."""\n    a = 1\n    return a\n')) == [
        ("f", 2)
    ]


def test_sources_live_where_the_readme_says():
    known = {"aclnn_py", "benchmarks", "native", "runtime", "samples", "tests", "tools"}
    found = {path.relative_to(ROOT).parts[0] for path in files(".py", ".pyi", ".c", ".h")}
    assert found == known
