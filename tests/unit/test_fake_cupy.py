# SPDX-License-Identifier: Apache-2.0
"""The fake CuPy has CuPy's own parameters, where CuPy is installed to compare with."""

from __future__ import annotations

import ast
import json
import os
import re

import pytest

from support.fake_gpu import FAKE
from support.process import run_python

ASK = """
    import json, sys
    try:
        from cupy.cuda import driver, runtime
    except ImportError as error:
        print(json.dumps(str(error)))
        sys.exit()
    names = json.loads(sys.argv[1]) if len(sys.argv) > 1 else []
    print(json.dumps({n: getattr(m, n).__doc__ for m in (runtime, driver) for n in dir(m)
                      if callable(getattr(m, n)) and getattr(m, n).__doc__}))
"""


def parameters_of_the_fake():
    found = {}
    for file in ("runtime.py", "driver.py"):
        tree = ast.parse((FAKE / "cupy" / "cuda" / file).read_text(encoding="utf-8"))
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                found[node.name] = [one.arg for one in node.args.args]
    return found


def parameters_in(doc, name):
    """From a first line such as ``memcpyAsync(intptr_t dst, size_t size, int kind=1)``."""
    match = re.match(rf"{name}\((.*?)\)", doc)
    if match is None:
        return None
    parts = [part.split("=")[0].split() for part in match[1].split(",") if part.strip()]
    return [part[-1] for part in parts]


def test_parameters_are_those_of_cupy():
    path = os.environ.get("CUPY_SITE", "")
    done = run_python(ASK, **({"PYTHONPATH": path} if path else {}))
    real = json.loads(done.stdout) if done.returncode == 0 else done.stderr
    if isinstance(real, str):
        pytest.skip(f"no CuPy to compare with: {real}")
    for name, mine in parameters_of_the_fake().items():
        theirs = parameters_in(real[name], name)
        assert theirs == mine, name


ASK_PYTHON = """
    import inspect, json, sys
    try:
        from cupy.cuda import compiler, function
    except ImportError as error:
        print(json.dumps(str(error)))
        sys.exit()
    asked = inspect.signature(compiler.compile_using_nvrtc).parameters
    print(json.dumps([list(asked), function.Module.load.__doc__]))
"""


def test_the_compiler_is_called_as_cupy_has_it():
    path = os.environ.get("CUPY_SITE", "")
    done = run_python(ASK_PYTHON, **({"PYTHONPATH": path} if path else {}))
    real = json.loads(done.stdout) if done.returncode == 0 else done.stderr
    if isinstance(real, str):
        pytest.skip(f"no CuPy to compare with: {real}")
    tree = ast.parse((FAKE / "cupy" / "cuda" / "compiler.py").read_text(encoding="utf-8"))
    (mine,) = [n for n in tree.body if getattr(n, "name", "") == "compile_using_nvrtc"]
    assert [one.arg for one in mine.args.args] == real[0]
    assert real[1].startswith("Module.load(self, bytes")
