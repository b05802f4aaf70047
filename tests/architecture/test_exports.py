# SPDX-License-Identifier: Apache-2.0
"""What modules promise in ``__all__`` is what they define, and the public names are complete."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from pathlib import Path
from types import ModuleType

import pytest

import aclnn_native
import aclnn_py
import aclnn_runtime
from support.sources import ROOT

PACKAGES = (aclnn_py, aclnn_runtime, aclnn_native)
MODULES = sorted(
    {package.__name__ for package in PACKAGES}
    | {
        found.name
        for package in PACKAGES
        for found in pkgutil.walk_packages(package.__path__, package.__name__ + ".")
        if not found.name.endswith((".__main__", "._native", "._calls", ".libaclnn_py"))
    }
)


def tree(module):
    return ast.parse(Path(module.__file__).read_text(encoding="utf-8"))


def imports_at_run_time(node):
    """All nodes below, without what only a type checker sees."""
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)):
            yield child
            yield from imports_at_run_time(child)


def is_data(module):
    """Only a docstring, or nothing but constants: promises nothing."""
    return not any(
        isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef)
        for node in tree(module).body
    )


@pytest.mark.parametrize("name", MODULES)
def test_what_is_promised_exists(name):
    module = importlib.import_module(name)
    promised = getattr(module, "__all__", None)
    if promised is None:
        assert is_data(module), f"{name} has no __all__"
        return
    assert len(set(promised)) == len(promised)
    assert not [entry for entry in promised if not hasattr(module, entry)]


@pytest.mark.parametrize("name", MODULES)
def test_what_is_imported_from_elsewhere_is_promised_there(name):
    broken = []
    for node in imports_at_run_time(tree(importlib.import_module(name))):
        if not isinstance(node, ast.ImportFrom) or node.module not in MODULES:
            continue
        source = importlib.import_module(node.module)
        promised = set(getattr(source, "__all__", vars(source)))
        for alias in node.names:
            a_module = f"{node.module}.{alias.name}" in MODULES
            if alias.name != "*" and alias.name not in promised and not a_module:
                broken.append(f"{node.module}.{alias.name}")
    assert not broken


def test_public_names_are_all_of_them():
    public = {
        name
        for name, value in vars(aclnn_py).items()
        if not name.startswith("_")
        and not isinstance(value, ModuleType)
        and getattr(value, "__module__", "aclnn_").startswith("aclnn_")
    }
    assert public <= set(aclnn_py.__all__)


C_NAMES = """
aclInit aclFinalize aclrtSetDevice aclrtResetDevice aclrtGetDevice aclrtGetDeviceCount
aclrtSynchronizeDevice aclrtCreateContext aclrtDestroyContext aclrtSetCurrentContext
aclrtGetCurrentContext aclrtCreateStream aclrtDestroyStream aclrtSynchronizeStream aclrtStreamQuery
aclrtMalloc aclrtFree aclrtMallocHost aclrtFreeHost aclrtMemcpy aclrtMemcpyAsync aclrtMemset
aclrtMemsetAsync aclrtCreateEvent aclrtCreateEventWithFlag aclrtCreateEventExWithFlag
aclrtRecordEvent aclrtStreamWaitEvent aclrtSynchronizeEvent aclrtQueryEventStatus
aclrtEventElapsedTime aclrtDestroyEvent aclrtLaunchHostFunc aclCreateTensor aclDestroyTensor
aclGetViewShape aclGetStorageShape aclGetViewStrides aclGetViewOffset aclGetFormat aclGetDataType
aclGetRawTensorAddr aclSetRawTensorAddr aclSetInputTensorAddr aclSetOutputTensorAddr
aclSetTensorAddr aclSetAclOpExecutorRepeatable aclDestroyAclOpExecutor aclnnInit aclnnFinalize
aclGetRecentErrMsg aclnnSoftmax aclnnSoftmaxGetWorkspaceSize aclnnLogSoftmax
aclnnLogSoftmaxGetWorkspaceSize aclnnSoftmaxBackward aclnnSoftmaxBackwardGetWorkspaceSize
aclnnLogSoftmaxBackward aclnnLogSoftmaxBackwardGetWorkspaceSize aclDataType aclFormat
aclrtMemcpyKind aclrtMemMallocPolicy ACL_FLOAT ACL_FLOAT16 ACL_BF16 ACL_DOUBLE ACL_FORMAT_ND
ACL_MEMCPY_HOST_TO_DEVICE ACL_MEMCPY_DEVICE_TO_HOST ACL_MEM_MALLOC_HUGE_FIRST
""".split()  # noqa: SIM905  # reads better than a column of 80 strings
NOUNS = ["Device", "Context", "Stream", "Event", "Buffer", "Tensor", "AclError", "AclnnError"]


@pytest.mark.parametrize("name", C_NAMES + NOUNS)
def test_promised_name(name):
    assert name in aclnn_py.__all__
    assert hasattr(aclnn_py, name)


def test_the_stub_of_the_hot_path_has_its_names():
    """It is written by hand beside native/cffi/call*.c."""
    stub = ROOT / "native" / "aclnn_native" / "_calls.pyi"
    declared = set()
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.AnnAssign):
            declared.add(ast.unparse(node.target))
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            declared.add(node.name)
    calls = importlib.import_module("aclnn_native._calls")
    assert declared == {name for name in dir(calls) if not name.startswith("__")}
