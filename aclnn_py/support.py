# SPDX-License-Identifier: Apache-2.0
"""What is supported: the rows of README's tables, ``aclnn-py ops`` and ``aclnn-py info``."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aclnn_py.core.dtype import by_name
from aclnn_py.core.soc import SOC_PROFILES
from aclnn_py.twophase import operators
from aclnn_runtime import AclError
from aclnn_runtime.cuda_device import describe_devices

if TYPE_CHECKING:
    from aclnn_py.core.settings import Settings
    from aclnn_py.core.spec import OpSpec, TensorParam

__all__ = ["OperatorSupport", "gpu_lines", "host_python", "setting_rows", "support_rows"]

# What native/capi/interpreter.c asks a Python; its first line is the shared library, or empty.
_QUESTION: Final = """import os, sys, sysconfig as s
v = s.get_config_vars()
names = [v.get('INSTSONAME'), v.get('LDLIBRARY')]
folders = [v.get('LIBDIR'), os.path.join(sys.base_prefix, 'lib'), v.get('LIBPL'), sys.base_prefix]
multi = v.get('MULTIARCH')
folders += [os.path.join(f, multi) for f in folders[:2] if f and multi]
paths = [os.path.join(f, n) for f in folders if f for n in names if n and ('.so' in n or \
'.dylib' in n or '.framework' in f or 'Python' == n[-6:])]
print(next((p for p in paths if os.path.exists(p)), ''), sys.executable, sys.base_prefix, sep='\\n')
"""


@dataclass(frozen=True, slots=True)
class OperatorSupport:
    """One operator as people and programs want to see it.

    Attributes
    ----------
    name : str
        Phase-2 function, ``"aclnnSoftmax"``.
    formula : str
        One line of maths.
    signature : str
        Parameters of phase 1, without the two results.
    dtypes : dict of str to dict of str to list of str
        NumPy names by SoC profile and parameter.
    bound : str
        The documented numeric bound.
    header : str
        The C header that declares it.
    source : str
        Where the facts come from.
    """

    name: str
    formula: str
    signature: str
    dtypes: dict[str, dict[str, list[str]]]
    bound: str
    header: str
    source: str


def support_rows() -> list[OperatorSupport]:
    """Every operator, in the order of its name."""
    return [_row(operators[name]) for name in sorted(operators)]


def gpu_lines() -> list[str]:
    """The CUDA devices, or in a line why there are none; imports CuPy where it is installed."""
    try:
        return describe_devices()
    except AclError as error:
        got = getattr(error, "got", "") or str(error)
        return [f"none: {got}; {error.hint}"]


def host_python() -> str:
    """The shared library of the Python that a C host plans with, or in a line why there is none."""
    python = os.environ.get("ACLNN_PY_PYTHON") or sys.executable
    fix = "let ACLNN_PY_PYTHON name a Python that has aclnn-py and a shared library"
    try:
        done = subprocess.run(  # noqa: S603  # the Python that the user has chosen
            [python, "-I", "-S", "-c", _QUESTION],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError as error:
        return f"none: {python} cannot be run ({error.strerror}); {fix}"
    if done.returncode:
        return f"none: {python} did not answer; {fix}"
    library = done.stdout.partition("\n")[0]
    return library or f"none: {python} has no shared library (libpython); {fix}"


def setting_rows(settings: Settings) -> list[tuple[str, str, str]]:
    """Each environment variable: its name, its value as one would set it, its meaning."""
    return [
        (
            str(field.alias),
            _as_set(str(field.alias), getattr(settings, name)),
            field.description or "",
        )
        for name, field in type(settings).model_fields.items()
    ]


def _as_set(variable: str, value: object) -> str:
    if variable == "DISABLE_L2_CACHE":  # switches the cache off by being set, whatever the value
        return "unset" if value else "set"
    if isinstance(value, bool):
        return str(int(value))
    return str(value) or "unset"


def _row(spec: OpSpec) -> OperatorSupport:
    return OperatorSupport(
        name=spec.function,
        formula=spec.formula,
        signature=", ".join(param.name for param in spec.params),
        dtypes={
            soc: {tensor.name: _numpy_names(tensor, soc) for tensor in spec.tensors}
            for soc in SOC_PROFILES
        },
        bound=spec.bound,
        header=spec.header,
        source=spec.source,
    )


def _numpy_names(tensor: TensorParam, soc: str) -> list[str]:
    rows = (by_name[name] for name in tensor.dtypes_on(SOC_PROFILES[soc]))
    return [row.numpy.name if row.numpy is not None else row.name for row in rows]
