# SPDX-License-Identifier: Apache-2.0
"""Refusals of the ONNX dialects: ONNX Runtime's status codes, ONNX's kinds of error."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from aclnn_native import lib
from aclnn_runtime import AclError
from aclnn_runtime.arguments import describe
from aclnn_runtime.errors import refusal_text

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["OnnxError", "OrtError", "OrtStatus", "no_tensor"]


class OrtStatus(IntEnum):
    """``OrtErrorCode`` of ONNX Runtime's C API, as far as the four gradients meet it."""

    ORT_OK = 0
    ORT_FAIL = 1
    ORT_INVALID_ARGUMENT = 2
    ORT_RUNTIME_EXCEPTION = 6
    ORT_NOT_IMPLEMENTED = 9
    ORT_INVALID_GRAPH = 10


class OrtError(AclError):
    """A call that ONNX Runtime would have refused.

    Attributes
    ----------
    status : int
        A number of `OrtStatus`.
    operator, argument, hint : str
        As in `AclError`.
    """

    @property
    def status_name(self) -> str:
        """Name of the status, ``"ORT_NOT_IMPLEMENTED"``."""
        return OrtStatus(self.status).name


class OnnxError(AclError):
    """A call that the ONNX specification does not allow.

    Attributes
    ----------
    kind : {"TypeInferenceError", "ShapeInferenceError", "ValidationError"}
        Which of ONNX's checks refuses it; ONNX has no status numbers, so `status` is 100000.
    operator, argument, hint : str
        As in `AclError`.
    """

    kind = "ValidationError"

    @property
    def status_name(self) -> str:
        """The kind of error."""
        return self.kind


def no_tensor(
    op_type: str, argument: str, value: ArrayLike, error: AclError, label: str
) -> tuple[str, str]:
    """Text and hint for what a one-call form cannot make a tensor of, after `error` said so."""
    rank = 0 if error.argument == "array" else np.ndim(value)
    if rank > lib.ACLPY_MAX_RANK:
        fix = "merge dimensions that are not reduced"
        head = f"{op_type}: argument '{argument}' has too many dimensions"
        limit = f"at most {lib.ACLPY_MAX_RANK} dimensions"
        return refusal_text(head, f"{rank} dimensions", limit, fix, label), fix
    fix = f"pass {argument} as a NumPy array, or what becomes one"
    head = f"{op_type}: argument '{argument}' is no array of numbers"
    got = describe(value)
    return refusal_text(head, got, "an array of a type that tensors have", fix, label), fix
