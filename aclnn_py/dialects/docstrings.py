# SPDX-License-Identifier: Apache-2.0
"""numpydoc texts of the two-phase functions, written from the specs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_py.core.spec import AttrParam

if TYPE_CHECKING:
    from aclnn_py.core.spec import OpSpec, TensorParam

__all__ = ["phase_one_doc", "phase_two_doc"]


def phase_one_doc(spec: OpSpec) -> str:
    """Docstring of ``aclnnXGetWorkspaceSize``."""
    lines = [f"Plan {spec.function}: {spec.formula}.", "", "Parameters", "----------"]
    for param in spec.params:
        if isinstance(param, AttrParam):
            lines += [f"{param.name} : int", f"    {param.doc}."]
        else:
            lines += [f"{param.name} : Tensor", f"    {_dtypes(param)}; {param.doc}."]
    lines += [
        "",
        "Returns",
        "-------",
        "workspace_size : int",
        "    Device memory that phase 2 needs [bytes].",
        "executor : Executor",
        f"    For one call of {spec.function}; keeps the tensors alive.",
        "",
        "Raises",
        "------",
        "AclnnError",
        "    161001 for a null tensor; 161002 for an argument that a check refuses; 561103 for a",
        "    view outside its storage or a cast that does not exist; 561003 where no kernel is.",
        "",
        "Notes",
        "-----",
        *[f"- {note}" for note in (*spec.notes, f"Bound: {spec.bound}.")],
        "- Never blocks; reads no tensor data.",
        "",
        "References",
        "----------",
        f"{spec.source}; header ``{spec.header}``.",
    ]
    return "\n".join(lines)


def phase_two_doc(spec: OpSpec) -> str:
    """Docstring of ``aclnnX``."""
    return "\n".join(
        [
            f"Run {spec.function} in stream order: {spec.formula}.",
            "",
            "Parameters",
            "----------",
            "workspace : Buffer, int or None",
            "    At least `workspaceSize` bytes of device memory; None for size 0.",
            "workspaceSize : int",
            f"    What {spec.planner} returned [bytes].",
            "executor : Executor",
            f"    Of {spec.planner}.",
            "stream : Stream or None",
            "    None is the default stream of the thread's current context.",
            "",
            "Raises",
            "------",
            "AclnnError",
            "    161001 for a null executor or workspace; 161002 for a consumed or foreign",
            "    executor, a workspace too small or a tensor outside live memory; 361001 for",
            "    a bad stream.",
            "",
            "Notes",
            "-----",
            "Returns at once; the work is done when the stream gets there. Everything that it",
            "touches is kept alive until then.",
        ]
    )


def _dtypes(param: TensorParam) -> str:
    return " | ".join(param.dtypes)
