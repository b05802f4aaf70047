# SPDX-License-Identifier: Apache-2.0
"""The two-phase functions of ONNX Runtime's gradients, made in C over their checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from aclnn_native import calls
from aclnn_py.backends import operator_id
from aclnn_py.core import settings
from aclnn_py.dialects.onnxruntime_grad import CPU, GradOperator, translated
from aclnn_py.twophase import fail_last
from aclnn_runtime import AclnnError, raise_last

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from aclnn_py.core.executor import Executor
    from aclnn_py.core.tensor import Tensor
    from aclnn_py.twophase import Entry

__all__ = ["functions"]

_PLANS_KEPT: Final = 4096


def functions(row: GradOperator) -> tuple[Callable[..., tuple[int, Executor]], Callable[..., None]]:
    """``SoftmaxGradGetWorkspaceSize`` and ``SoftmaxGrad`` of the operator that `row` describes.

    A call like one that has passed its checks on the default provider is not checked again: the
    layouts decide, and they are the same.
    """
    plans: dict[tuple[object, ...], Entry] = {}
    settings.on_change(plans.clear)

    def checked(
        dY: Tensor,
        Y: Tensor | None = None,
        dX: Tensor | None = None,
        axis: int | None = None,
        **options: Any,
    ) -> tuple[int, Executor]:
        answer = row.get_workspace_size(dY, Y, dX, axis, **options)
        number = row.default_axis if axis is None else axis
        if type(number) is int and not options and Y is not None and dX is not None:
            if len(plans) >= _PLANS_KEPT:
                plans.clear()
            layouts = (dY._layout, Y._layout, dX._layout)  # noqa: SLF001  # what plans are made for
            same = (dY is Y, dY is dX, Y is dX)
            key = (*layouts, number, *same)
            plans[key] = answer[1]._keep[-1]  # noqa: SLF001  # its plan
        return answer

    def fail(status: int = 0) -> NoReturn:
        try:
            if status:
                raise_last(status, error=AclnnError)
            fail_last()
        except AclnnError as error:
            raise translated(error) from error

    name = row.op_type
    checked.__qualname__ = f"{name}GetWorkspaceSize"
    signature = f"(dY, Y=None, dX=None, axis=None, *, X=None, provider={CPU!r}, swap=False)"
    first = calls.phase_one(
        f"{name}GetWorkspaceSize",
        f"{name}GetWorkspaceSize{signature}\n--\n\n{row.get_workspace_size.__doc__}",
        "aclnn_py.dialects.onnxruntime",
        "ttti",
        ("dY", "Y", "dX", "axis"),
        (row.default_axis,),
        plans,
        checked,
        fail,
    )
    second = calls.phase_two(
        name,
        f"{name}(workspace, workspaceSize, executor, stream)\n--\n\n{row.execute.__doc__}",
        "aclnn_py.dialects.onnxruntime",
        operator_id(row.spec.function),
        row.execute,
        fail,
    )
    return first, second
