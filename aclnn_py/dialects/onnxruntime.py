# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime's gradients of softmax, two-phase or in one call.

::

    size, executor = SoftmaxGrad_13GetWorkspaceSize(dY, Y, dX, axis=1)
    SoftmaxGrad_13(workspace, size, executor, stream)

    dX = run("SoftmaxGrad_13", dY, Y, axis=1)  # NumPy in, NumPy out

The variants without ``_13`` take the axis as the place where the tensor is cut into a matrix
("coercion"), those with it as a single axis. Source: softmax_dialects, section 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aclnn_py.core.device import Device
from aclnn_py.dialects.onnx_errors import OrtError, OrtStatus, no_tensor
from aclnn_py.dialects.onnxruntime_calls import functions
from aclnn_py.dialects.onnxruntime_grad import CPU, PROVIDERS, GradOperator
from aclnn_runtime import AclnnError
from aclnn_runtime.arguments import describe
from aclnn_runtime.errors import refusal_text

if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    from numpy.typing import ArrayLike

    from aclnn_py.core.tensor import Tensor

__all__ = [
    "CPU",
    "OPERATORS",
    "PROVIDERS",
    "GradOperator",
    "LogSoftmaxGrad",
    "LogSoftmaxGradGetWorkspaceSize",
    "LogSoftmaxGrad_13",
    "LogSoftmaxGrad_13GetWorkspaceSize",
    "OrtError",
    "OrtStatus",
    "SoftmaxGrad",
    "SoftmaxGradGetWorkspaceSize",
    "SoftmaxGrad_13",
    "SoftmaxGrad_13GetWorkspaceSize",
    "run",
]

OPERATORS: Final = {
    row.op_type: row
    for row in (
        GradOperator("SoftmaxGrad", 1, single_axis=False, saved="Y", function_body=True),
        GradOperator("SoftmaxGrad_13", -1, single_axis=True, saved="Y"),
        GradOperator("LogSoftmaxGrad", 1, single_axis=False, saved="X"),
        GradOperator("LogSoftmaxGrad_13", -1, single_axis=True, saved="X"),
    )
}

SoftmaxGradGetWorkspaceSize, SoftmaxGrad = functions(OPERATORS["SoftmaxGrad"])
SoftmaxGrad_13GetWorkspaceSize, SoftmaxGrad_13 = functions(OPERATORS["SoftmaxGrad_13"])
LogSoftmaxGradGetWorkspaceSize, LogSoftmaxGrad = functions(OPERATORS["LogSoftmaxGrad"])
LogSoftmaxGrad_13GetWorkspaceSize, LogSoftmaxGrad_13 = functions(OPERATORS["LogSoftmaxGrad_13"])


def run(
    op_type: str,
    dY: ArrayLike,
    Y: ArrayLike | None = None,
    axis: int | None = None,
    *,
    X: ArrayLike | None = None,
    provider: str = CPU,
    swap: bool = False,
) -> np.ndarray[Any, Any]:
    """One node in one call: arrays in, array out, on a stream of its own.

    Parameters
    ----------
    op_type : str
        A key of `OPERATORS`.
    dY, Y, axis, X, provider, swap
        As in `GradOperator.get_workspace_size`.

    Returns
    -------
    numpy.ndarray
        dX, in the shape and type of `dY`.

    Raises
    ------
    OrtError
        As in `GradOperator.get_workspace_size`; NOT_IMPLEMENTED for another `op_type`.
    """
    if not isinstance(op_type, str) or op_type not in OPERATORS:
        name = op_type if isinstance(op_type, str) else "run"
        text = refusal_text(
            f"{name}: argument 'op_type' is no operator of this dialect",
            describe(op_type), " | ".join(OPERATORS), "choose one of these",
            f"{OrtStatus.ORT_NOT_IMPLEMENTED.name} {int(OrtStatus.ORT_NOT_IMPLEMENTED)}",
        )  # fmt: skip
        raise OrtError(
            text, status=OrtStatus.ORT_NOT_IMPLEMENTED, operator=name, argument="op_type",
            hint="choose one of these",
        )  # fmt: skip
    row = OPERATORS[op_type]
    with Device(0) as device, device.create_stream() as stream:
        gradient = _tensor(device, op_type, "dY", dY)
        saved = {
            name: None if array is None else _tensor(device, op_type, name, array)
            for name, array in (("Y", Y), ("X", X))
        }
        result = device.empty(gradient.shape, gradient.dtype)
        size, executor = row.get_workspace_size(
            gradient, saved["Y"], result, axis, X=saved["X"], provider=provider, swap=swap
        )
        row.execute(device.malloc(size) if size else None, size, executor, stream)
        stream.synchronize()
        return result.numpy()


def _tensor(device: Device, op_type: str, argument: str, array: ArrayLike) -> Tensor:
    try:
        return device.tensor(array)
    except AclnnError as error:
        status = OrtStatus.ORT_INVALID_ARGUMENT
        text, fix = no_tensor(op_type, argument, array, error, f"{status.name} {int(status)}")
        raise OrtError(
            text, status=status, operator=op_type, argument=argument, hint=fix
        ) from error
