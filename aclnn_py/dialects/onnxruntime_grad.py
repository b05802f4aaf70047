# SPDX-License-Identifier: Apache-2.0
"""One operator of ONNX Runtime's gradients: its checks in its words, its two phases."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Final, NoReturn

import numpy as np

from aclnn_py.core.desc import TensorDesc
from aclnn_py.core.tensor import Tensor
from aclnn_py.dialects.onnx_errors import OrtError, OrtStatus
from aclnn_py.twophase import Executor, dialect_operators, explain, operator
from aclnn_runtime import AclnnError
from aclnn_runtime.arguments import describe, whole_number
from aclnn_runtime.errors import refusal_text

if TYPE_CHECKING:
    from aclnn_py.core.spec import OpSpec
    from aclnn_runtime import Buffer, Stream

__all__ = ["CPU", "PROVIDERS", "GradOperator", "translated"]

CPU: Final = "CPUExecutionProvider"
#: Element types of each execution provider's kernels. All of them run on this machine's CPU; the
#: provider decides what is refused.
PROVIDERS: Final = {
    CPU: ("FLOAT",),
    "CUDAExecutionProvider": ("FLOAT", "DOUBLE", "FLOAT16", "BF16"),
    "ROCMExecutionProvider": ("FLOAT", "FLOAT16", "BF16"),
}
_LARGEST: Final = 2**31 - 1  # rows and row length are 32-bit numbers there


@dataclass(frozen=True)
class GradOperator:
    """One of the four operators.

    Attributes
    ----------
    op_type : str
        Its name in the domain ``com.microsoft``.
    default_axis : int
        What a node without the attribute means.
    single_axis : bool
        Whether the axis is one axis; else the tensor is cut into a matrix there.
    saved : {"Y", "X"}
        The schema's name of input 1. It is the forward result in all four.
    function_body : bool
        Whether an element type without a kernel runs as the schema's function.
    """

    op_type: str
    default_axis: int
    single_axis: bool
    saved: str
    function_body: bool = False

    @property
    def spec(self) -> OpSpec:
        """What the planner knows of it."""
        return dialect_operators[f"onnxruntime.{self.op_type}"]

    def get_workspace_size(
        self,
        dY: Tensor,
        Y: Tensor | None = None,
        dX: Tensor | None = None,
        axis: int | None = None,
        *,
        X: Tensor | None = None,
        provider: str = CPU,
        swap: bool = False,
    ) -> tuple[int, Executor]:
        """Phase 1: check as ONNX Runtime would, plan, size.

        Parameters
        ----------
        dY : Tensor
            Gradient of the forward result; rank 1 or more.
        Y : Tensor
            The forward result, of the shape and type of `dY`: probabilities, or for the log
            variants log-probabilities. The log variants take it as `X` too, the schema's name.
        dX : Tensor
            The result, of the shape and type of `dY`.
        axis : int, optional
            -rank to rank - 1; the node's default (1, or -1 for ``_13``) when not given.
        X : Tensor, optional
            Another name of `Y`, log variants only.
        provider : str, optional
            Whose list of element types holds: a key of `PROVIDERS`.
        swap : bool, optional
            ``_13`` only: swap an axis that is not the last with the last one, compute rows, swap
            back, as ONNX Runtime does; its three temporaries are the workspace. Otherwise one
            kernel takes the axis where it is, and only strided tensors need a copy there.

        Returns
        -------
        workspace_size : int
            What phase 2 needs [bytes].
        executor : Executor
            Bound to the tensors.

        Raises
        ------
        OrtError
            INVALID_GRAPH for types that the schema does not have, NOT_IMPLEMENTED where the
            provider has no kernel, INVALID_ARGUMENT for shapes that differ,
            RUNTIME_EXCEPTION for an axis out of range.
        """
        saved = self._saved(Y, X)
        tensors = {"dY": dY, self.saved: saved, "dX": dX}
        for name, tensor in tensors.items():
            if not isinstance(tensor, Tensor):
                self._not_a_tensor(name, tensor)
        descs = [tensor.desc for tensor in tensors.values() if tensor is not None]
        attributes = self._check(descs, axis, provider, swap=swap)
        try:
            return operator(self.spec.key).get_workspace_size(list(tensors.values()), attributes)
        except AclnnError as error:
            raise translated(error) from error

    def execute(
        self,
        workspace: Buffer | int | None,
        workspaceSize: int,
        executor: Executor,
        stream: Stream | None,
    ) -> None:
        """Phase 2: enqueue on a stream and return.

        Raises
        ------
        OrtError
            INVALID_ARGUMENT for a spent or foreign executor, a workspace that is too small, a
            tensor without memory, or a stream that is gone. Nothing is queued then.
        """
        try:
            operator(self.spec.key).execute(workspace, workspaceSize, executor, stream)
        except AclnnError as error:
            raise translated(error) from error

    def explain(
        self,
        dY: TensorDesc,
        Y: TensorDesc,
        dX: TensorDesc,
        axis: int | None = None,
        *,
        provider: str = CPU,
        swap: bool = False,
    ) -> str:
        """What phase 1 would decide about descriptions, as text; errors as there."""
        descs = [dY, Y, dX]
        for name, desc in zip(("dY", self.saved, "dX"), descs, strict=True):
            if not isinstance(desc, TensorDesc):
                self._refuse(
                    OrtStatus.ORT_INVALID_ARGUMENT, name, "is no description of a tensor",
                    got=describe(desc), expected="a TensorDesc",
                    fix=f"pass the desc of the tensor {name}",
                )  # fmt: skip
        attributes = self._check(descs, axis, provider, swap=swap)
        try:
            text = explain(self.spec.key, descs, attributes)
        except AclnnError as error:
            raise translated(error) from error
        if dY.dtype.name not in PROVIDERS[provider]:
            text += f"\n  {provider} has no {dY.dtype} kernel: it would run the function body"
        return text

    def _saved(self, Y: Tensor | None, X: Tensor | None) -> Tensor | None:
        if X is None:
            return Y
        if self.saved != "X" or Y is not None:
            what = "is given twice, as Y and as X" if self.saved == "X" else "is no input"
            self._refuse(
                OrtStatus.ORT_INVALID_ARGUMENT, "X", what,
                got="X" if Y is None else "Y and X",
                expected=f"dY and {self.saved}" + (" (or Y)" if self.saved == "X" else ""),
                fix="pass the forward result once",
            )  # fmt: skip
        return X

    def _check(
        self, descs: list[TensorDesc], axis: object, provider: str, *, swap: bool
    ) -> list[int]:
        """The refusals in ONNX Runtime's order; returns the attributes in the spec's order."""
        gradient, saved, result = descs
        if not isinstance(swap, bool | np.bool_):
            self._refuse(
                OrtStatus.ORT_INVALID_ARGUMENT, "swap", "is no truth value",
                got=describe(swap), expected="True or False",
                fix="leave swap out",
            )  # fmt: skip
        self._check_types(descs, provider)
        for name, desc in ((self.saved, saved), ("dX", result)):
            if desc.shape != gradient.shape:
                self._refuse(
                    OrtStatus.ORT_INVALID_ARGUMENT, name, "differs in shape from 'dY'",
                    got=f"{list(desc.shape)}, dY having {list(gradient.shape)}",
                    expected="one shape (ONNX Runtime does not look: its result is undefined)",
                    fix=f"pass {name} in the shape of dY",
                )  # fmt: skip
        number = self._check_axis(self.default_axis if axis is None else axis, gradient)
        self._check_sizes(gradient, number)
        if swap and not self.single_axis:
            self._refuse(
                OrtStatus.ORT_INVALID_ARGUMENT, "swap", "has no meaning for a coerced axis",
                got="swap=True", expected="swap=False, or one of the _13 operators",
                fix=f"leave swap out, or call {self.op_type}_13",
            )  # fmt: skip
        return [number, int(swap)] if self.single_axis else [number]

    def _check_types(self, descs: list[TensorDesc], provider: str) -> None:
        if not isinstance(provider, str) or provider not in PROVIDERS:
            self._refuse(
                OrtStatus.ORT_INVALID_ARGUMENT, "provider", "is no execution provider known here",
                got=describe(provider), expected=" | ".join(PROVIDERS), fix="choose one of these",
            )  # fmt: skip
        schema = self.spec.tensors[0].dtypes
        for name, desc in zip(("dY", self.saved, "dX"), descs, strict=True):
            if desc.dtype.name not in schema:
                self._refuse(
                    OrtStatus.ORT_INVALID_GRAPH, name, "has a type that the schema does not allow",
                    got=str(desc.dtype), expected=" | ".join(schema),
                    fix="cast it first" + (
                        "; the log schemas have no bfloat16" if desc.dtype.name == "BF16" else ""
                    ),
                )  # fmt: skip
            if desc.dtype is not descs[0].dtype:
                self._refuse(
                    OrtStatus.ORT_INVALID_GRAPH, name, "differs in type from 'dY'",
                    got=f"{desc.dtype}, dY being {descs[0].dtype}",
                    expected="one type T for both inputs and the output",
                    fix=f"cast {name} to {descs[0].dtype}",
                )  # fmt: skip
        if descs[0].dtype.name not in PROVIDERS[provider] and not self.function_body:
            both = [name for name in PROVIDERS[provider] if name in schema]
            self._refuse(
                OrtStatus.ORT_NOT_IMPLEMENTED, "dY", f"has a type without a kernel in {provider}",
                got=str(descs[0].dtype), expected=" | ".join(both),
                fix="cast it first, or choose another provider",
            )  # fmt: skip

    def _check_axis(self, axis: object, desc: TensorDesc) -> int:
        rank = desc.rank
        number = whole_number(axis)
        if number is None:
            self._refuse(
                OrtStatus.ORT_INVALID_GRAPH, "axis", "is no integer",
                got=describe(axis), expected="an attribute of type INT",
                fix="pass axis as a plain int",
            )  # fmt: skip
        if not -rank <= number < rank:
            first = f"{self.op_type}: axis {number} is not in valid range [-{rank},{rank - 1}]"
            self._refuse(
                OrtStatus.ORT_RUNTIME_EXCEPTION, "axis", "",
                got=f"{number}, dY having shape {list(desc.shape)}",
                expected=f"from {-rank} to {rank - 1}" if rank else "a tensor of rank 1 or more",
                fix="choose an axis of dY; negative ones count from the last"
                if rank else "reshape dY to rank 1",
                first=first,
            )  # fmt: skip
        return number

    def _check_sizes(self, desc: TensorDesc, axis: int) -> None:
        if 0 in desc.shape:
            return
        at = axis % desc.rank
        row = desc.shape[at] if self.single_axis else prod(desc.shape[at:])
        count = prod(desc.shape) // row
        if max(row, count) > _LARGEST:
            self._refuse(
                OrtStatus.ORT_RUNTIME_EXCEPTION, "dY", "has too many rows or too long ones",
                got=f"{count} rows of {row} elements", expected=f"at most {_LARGEST} of either",
                fix="split the tensor",
            )  # fmt: skip

    def _not_a_tensor(self, name: str, tensor: object) -> NoReturn:
        self._refuse(
            OrtStatus.ORT_INVALID_ARGUMENT, name,
            "is missing" if tensor is None else "is no Tensor",
            got=describe(tensor),
            expected="a Tensor (Device.tensor() or aclCreateTensor())",
            fix=f"pass {name}; run() takes NumPy arrays",
        )  # fmt: skip

    def _refuse(
        self,
        status: OrtStatus,
        argument: str,
        what: str,
        *,
        got: str,
        expected: str,
        fix: str,
        first: str = "",
    ) -> NoReturn:
        head = first or f"{self.op_type}: argument '{argument}' {what}"
        text = refusal_text(head, got, expected, fix, f"{status.name} {int(status)}")
        raise OrtError(text, status=status, operator=self.op_type, argument=argument, hint=fix)


def translated(error: AclnnError) -> OrtError:
    """What this project's own checks refuse: an invalid argument, in their words."""
    status = OrtStatus.ORT_INVALID_ARGUMENT
    return OrtError(
        f"{error}      [{status.name} {status.value}]",
        status=status,
        operator=error.operator,
        argument=error.argument,
        hint=error.hint,
    )
