# SPDX-License-Identifier: Apache-2.0
"""The C names are the vendor's: what is exported, what the headers declare, what the facts say."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from enum import IntEnum

import pytest

from aclnn_py.abi.headers import operator_headers
from aclnn_py.abi.lacking import lacking
from aclnn_py.abi.prototypes import prototypes
from aclnn_py.abi.toolkit import library_path, make_toolkit
from aclnn_runtime import enums, enums_device, enums_order
from support.sources import ROOT

FACTS = json.loads((ROOT / "tests" / "data" / "operators.json").read_text(encoding="utf-8"))
RUNTIME = json.loads((ROOT / "tests" / "data" / "runtime.json").read_text(encoding="utf-8"))
SHARED = "uint64_t *workspaceSize, aclOpExecutor **executor"
PHASE_TWO = (
    "void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream"
)
# Its header repeats arguments in phase 2, see tests/data/operators.json's origin.
REPEATS = "aclnnGaussianBlur"


@pytest.fixture(scope="module")
def toolkit(tmp_path_factory):
    return make_toolkit(tmp_path_factory.mktemp("toolkit"))


def exported():
    nm = shutil.which("nm")
    assert nm, "nm comes with every C compiler"
    options = ["-gU"] if sys.platform == "darwin" else ["-D", "--defined-only"]
    listing = subprocess.run(
        [nm, *options, library_path()], capture_output=True, text=True, check=True
    ).stdout
    names = {line.split()[-1].split("@")[0] for line in listing.splitlines() if line.strip()}
    return {name.removeprefix("_") if sys.platform == "darwin" else name for name in names}


def declared(toolkit):
    """Functions of the headers, by a look at their text."""
    found = set()
    for path in (toolkit / "include").rglob("*.h"):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        found |= set(re.findall(r"\b((?:acl|Acl|mstx)\w+)\s*\((?!\*)[^;{}]*\)\s*;", text))
    return found


def test_both_functions_of_every_operator_are_exported():
    wanted = {
        name
        for operator in FACTS["operators"]
        for name in (operator["name"], operator["name"] + "GetWorkspaceSize")
    }
    assert len(wanted) == 2162
    assert not wanted - exported()


def test_every_function_of_the_runtime_is_exported():
    wanted = {row["name"] for row in RUNTIME["functions"]}
    assert len(wanted) == 442
    marks = {"MarkA", "RangeStartA", "RangeEnd", "DomainCreateA", "DomainDestroy"}
    marks |= {"DomainMarkA", "DomainRangeStartA", "DomainRangeEnd"}
    assert not (wanted | {f"mstx{name}" for name in marks}) - exported()


def test_each_function_of_the_runtime_exists_or_says_that_it_does_not():
    rows = lacking()
    assert rows.keys() <= {row["name"] for row in RUNTIME["functions"]}
    assert {status for status, _, _ in rows.values()} == {200001, 207000}


def test_enumerations_of_python_are_those_of_the_facts():
    facts = {row["name"]: dict(row["members"]) for row in RUNTIME["enumerations"]}
    checked = 0
    for module in (enums, enums_device, enums_order):
        for name, known in vars(module).items():
            if isinstance(known, type) and issubclass(known, IntEnum) and name in facts:
                members = {key: int(member) for key, member in known.__members__.items()}
                assert members.items() <= facts[name].items(), name
                checked += 1
    assert checked == 19


def test_flags_of_python_are_those_of_the_facts():
    facts = {name: int(value.rstrip("UL"), 0) for name, _, value in RUNTIME["constants"]}
    numbers = {
        name: value
        for module in (enums, enums_device, enums_order)
        for name, value in vars(module).items()
        if name.startswith("ACL_") and type(value) is int and name in facts
    }
    assert len(numbers) == 16
    assert numbers.items() <= facts.items()


def test_exported_is_what_the_headers_declare(toolkit):
    names = {name for name in exported() if not name.startswith("aclpy_")}
    assert names == declared(toolkit)


def test_each_operator_has_its_header():
    texts = operator_headers()
    rows = {row.name: row for row in prototypes()}
    for operator in FACTS["operators"]:
        header = operator["header"].removeprefix("aclnnop/")
        assert rows[operator["name"]].header == header
        assert f"aclnnStatus {operator['name']}GetWorkspaceSize(" in texts[header]


def compiler(language):
    for name in ("cc", "gcc", "clang") if language == "c" else ("c++", "g++", "clang++"):
        if shutil.which(name):
            return name
    return pytest.skip(f"no {language} compiler")


def compile_text(toolkit, language, standard, text):
    command = [
        compiler(language), f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
        "-fsyntax-only", "-x", language, f"-I{toolkit}/include", "-",
    ]  # fmt: skip
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr[:4000]


LANGUAGES = [("c", "c99"), ("c++", "c++11")]


@pytest.mark.parametrize(("language", "standard"), LANGUAGES)
def test_core_headers_compile_alone(toolkit, language, standard):
    core = sorted(
        path.relative_to(toolkit / "include").as_posix()
        for folder in ("acl", "acl/rt", "aclnn")
        for path in (toolkit / "include" / folder).glob("*.h")
    )
    assert {"acl/acl.h", "acl/acl_rt.h", "aclnn/aclnn_base.h"} <= set(core)
    for header in core:
        compile_text(toolkit, language, standard, f'#include "{header}"\n')


@pytest.mark.parametrize(("language", "standard"), LANGUAGES)
def test_operator_headers_compile_and_have_the_prototypes_of_the_facts(toolkit, language, standard):
    """Each function is declared once more from the facts: a compiler refuses any other type."""
    lines = ["#ifdef __cplusplus", 'extern "C" {', "#endif"]
    headers = sorted({operator["header"] for operator in FACTS["operators"]})
    lines = [f'#include "{header}"' for header in headers] + lines
    for operator in FACTS["operators"]:
        own = "".join(f"{ctype} {name}, " for ctype, name in operator["params"])
        lines.append(f"aclnnStatus {operator['name']}GetWorkspaceSize({own}{SHARED});")
        if operator["name"] != REPEATS:
            lines.append(f"aclnnStatus {operator['name']}({PHASE_TWO});")
    lines += ["#ifdef __cplusplus", "}", "#endif", ""]
    compile_text(toolkit, language, standard, "\n".join(lines))


def runtime_prototypes():
    for row in RUNTIME["functions"]:
        parameters = ", ".join(" ".join(pair).strip() for pair in row["params"]) or "void"
        yield f"{row['returns']} {row['name']}({parameters});"


@pytest.mark.parametrize(("language", "standard"), LANGUAGES)
def test_runtime_headers_have_the_prototypes_and_values_of_the_facts(toolkit, language, standard):
    lines = [f'#include "acl/{name}"' for name in ("acl.h", "acl_prof.h", "acl_rt_memory_soma.h")]
    lines += ["#ifdef __cplusplus", 'extern "C" {', "#endif"]
    lines += runtime_prototypes()
    lines += ["#ifdef __cplusplus", "}", "#endif"]
    members = {name: value for row in RUNTIME["enumerations"] for name, value in row["members"]} | {
        name: value for name, _, value in RUNTIME["constants"]
    }
    # An array of negative size where a value differs: C99 and C++11 both refuse it.
    lines += [
        f"typedef char check_{name}[((unsigned long long)({name})) == "
        f"((unsigned long long)({value})) ? 1 : -1];"
        for name, value in members.items()
    ]
    compile_text(toolkit, language, standard, "\n".join(lines) + "\n")


def test_umbrellas_compile(toolkit):
    umbrellas = sorted(name for name in operator_headers() if name.startswith("aclnn_ops_"))
    assert len(umbrellas) == 4
    for name in umbrellas:
        compile_text(toolkit, "c++", "c++11", f'#include "aclnnop/{name}"\n')
