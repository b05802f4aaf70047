# SPDX-License-Identifier: Apache-2.0
"""ONNX Softmax and LogSoftmax in the versions 1, 11 and 13, two-phase or in one call.

::

    op = OPERATORS["Softmax", 13]
    size, executor = op.get_workspace_size(input, output, axis=-1)
    op.execute(workspace, size, executor, stream)

    probabilities = run("Softmax", x, opset=11)  # NumPy in, NumPy out

Versions 1 and 11 cut the tensor into a matrix at the axis and normalise its rows, version 13
normalises along one axis. Source: softmax_dialects, section 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NoReturn

from aclnn_py.core.desc import TensorDesc
from aclnn_py.core.device import Device
from aclnn_py.core.tensor import Tensor
from aclnn_py.dialects.onnx_errors import OnnxError, no_tensor
from aclnn_py.twophase import Executor, dialect_operators, explain, operator
from aclnn_runtime import AclnnError
from aclnn_runtime.arguments import describe, whole_number
from aclnn_runtime.errors import refusal_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

    from aclnn_py.core.dtype import DType
    from aclnn_py.core.spec import OpSpec
    from aclnn_runtime import Buffer, Stream

__all__ = ["OPERATORS", "OnnxError", "SoftmaxOperator", "normalised_axis", "of_opset", "run"]

_BEFORE_13: Final = ("FLOAT16", "FLOAT", "DOUBLE")
_SINCE_13: Final = ("FLOAT16", "FLOAT", "DOUBLE", "BF16")


@dataclass(frozen=True)
class SoftmaxOperator:
    """One operator in one version.

    Attributes
    ----------
    op_type : {"Softmax", "LogSoftmax"}
        Its name.
    version : int
        The opset since which it has this meaning.
    default_axis : int
        What a node without the attribute means.
    coerce : bool
        Whether the tensor is cut into a matrix at the axis; else the axis is a single one.
    checked : bool
        Whether the specification limits the axis and the rank.
    dtypes : tuple of str
        Element types.
    """

    op_type: str
    version: int
    default_axis: int
    coerce: bool
    checked: bool
    dtypes: tuple[str, ...]

    @property
    def spec(self) -> OpSpec:
        """What the planner knows of it."""
        return dialect_operators[f"onnx.{self.op_type}"]

    def get_workspace_size(
        self, input: Tensor, output: Tensor, axis: int | None = None
    ) -> tuple[int, Executor]:
        """Phase 1: check, plan, size.

        Parameters
        ----------
        input, output : Tensor
            Of one shape and type.
        axis : int, optional
            -rank to rank - 1; the version's default when not given. Version 1 does not say what
            is legal: here -rank to rank, the last meaning rows of one element.

        Returns
        -------
        workspace_size : int
            What phase 2 needs [bytes].
        executor : Executor
            Bound to the tensors.

        Raises
        ------
        OnnxError
            Of kind TypeInferenceError or ShapeInferenceError.
        """
        for name, tensor in (("input", input), ("output", output)):
            if not isinstance(tensor, Tensor):
                self._refuse(
                    "ValidationError", name, "is no Tensor",
                    got=describe(tensor),
                    expected="a Tensor (Device.tensor() or aclCreateTensor())",
                    fix=f"pass {name}; run() takes NumPy arrays",
                )  # fmt: skip
        attributes = self.attributes(input.desc, output.desc, axis)
        try:
            return operator(self.spec.key).get_workspace_size((input, output), attributes)
        except AclnnError as error:
            raise _translated(error) from error

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
        OnnxError
            Of kind ValidationError, for a spent or foreign executor, a workspace that is too
            small, a tensor without memory or a stream that is gone. Nothing is queued then.
        """
        try:
            operator(self.spec.key).execute(workspace, workspaceSize, executor, stream)
        except AclnnError as error:
            raise _translated(error) from error

    def explain(self, input: TensorDesc, output: TensorDesc, axis: int | None = None) -> str:
        """What phase 1 would decide about descriptions, as text; errors as there."""
        for name, desc in (("input", input), ("output", output)):
            if not isinstance(desc, TensorDesc):
                self._refuse(
                    "ValidationError", name, "is no description of a tensor",
                    got=describe(desc), expected="a TensorDesc",
                    fix=f"pass the desc of the tensor {name}",
                )  # fmt: skip
        attributes = self.attributes(input, output, axis)
        try:
            return explain(self.spec.key, [input, output], attributes)
        except AclnnError as error:
            raise _translated(error) from error

    def attributes(self, input: TensorDesc, output: TensorDesc, axis: object) -> list[int]:
        """The spec's attributes, after the checks of type and shape inference."""
        self.check_dtype(input.dtype)
        if output.dtype is not input.dtype:
            self._refuse(
                "TypeInferenceError", "output", "differs in type from 'input'",
                got=f"{output.dtype}, input being {input.dtype}", expected="one type T",
                fix=f"create output as {input.dtype}",
            )  # fmt: skip
        if output.shape != input.shape:
            self._refuse(
                "ShapeInferenceError", "output", "differs in shape from 'input'",
                got=str(list(output.shape)), expected=str(list(input.shape)),
                fix="create output with the shape of input",
            )  # fmt: skip
        number = self.default_axis if axis is None else axis
        return [self._axis(number, input.shape), int(self.coerce)]

    def check_dtype(self, dtype: DType) -> None:
        """Refuse an element type that this version does not have."""
        if dtype.name not in self.dtypes:
            self._refuse(
                "TypeInferenceError", "input",
                f"has a type that version {self.version} does not have",
                got=str(dtype), expected=" | ".join(self.dtypes),
                fix="cast it first" + ("" if dtype.name != "BF16" else ", or use version 13"),
            )  # fmt: skip

    def _axis(self, axis: object, shape: tuple[int, ...]) -> int:
        rank = len(shape)
        if self.checked and not rank:
            self._refuse(
                "ShapeInferenceError", "input", "has rank 0",
                got="shape []", expected="rank 1 or more", fix="reshape input to [1]",
            )  # fmt: skip
        return normalised_axis(self.op_type, axis, rank, most=rank - 1 if self.checked else rank)

    def _refuse(
        self, kind: str, argument: str, what: str, *, got: str, expected: str, fix: str
    ) -> NoReturn:
        _refuse(self.op_type, kind, argument, what, got=got, expected=expected, fix=fix)


def normalised_axis(op_type: str, axis: object, rank: int, *, most: int) -> int:
    """An axis counted from the front.

    Raises
    ------
    OnnxError
        Where it is no integer from -rank to `most`.
    """
    number = whole_number(axis)
    if number is None:
        _refuse(
            op_type, "ValidationError", "axis", "is no integer",
            got=describe(axis), expected="an attribute of type INT",
            fix="pass axis as a plain int",
        )  # fmt: skip
    if not -rank <= number <= most:
        _refuse(
            op_type, "ShapeInferenceError", "axis", "is out of range",
            got=f"{number}, rank {rank}", expected=f"from {-rank} to {most}",
            fix="choose an axis of input; negative ones count from the last",
        )  # fmt: skip
    return number + rank if number < 0 else number


def _refuse(
    op_type: str, kind: str, argument: str, what: str, *, got: str, expected: str, fix: str
) -> NoReturn:
    head = f"{op_type}: argument '{argument}' {what}"
    error = OnnxError(
        refusal_text(head, got, expected, fix, kind), operator=op_type, argument=argument, hint=fix
    )
    error.kind = kind
    raise error


def _translated(error: AclnnError) -> OnnxError:
    """What this project's own checks refuse, in their words."""
    text = f"{error}      [{OnnxError.kind}]"
    return OnnxError(text, operator=error.operator, argument=error.argument, hint=error.hint)


OPERATORS: Final = {
    (name, version): SoftmaxOperator(name, version, axis, coerce, checked, dtypes)
    for name in ("Softmax", "LogSoftmax")
    for version, axis, coerce, checked, dtypes in (
        (1, 1, True, False, _BEFORE_13),
        (11, 1, True, True, _BEFORE_13),
        (13, -1, False, True, _SINCE_13),
    )
}


def of_opset(op_type: str, opset: int) -> SoftmaxOperator:
    """The version of an operator that an opset means.

    Raises
    ------
    OnnxError
        Of kind ValidationError, for another operator or an opset below 1.
    """
    known = isinstance(op_type, str) and any(name == op_type for name, _ in OPERATORS)
    if not known:
        _refuse(
            op_type if isinstance(op_type, str) else "run", "ValidationError",
            "op_type", "is no operator of this dialect",
            got=describe(op_type), expected="Softmax or LogSoftmax", fix="choose one of these",
        )  # fmt: skip
    number = whole_number(opset)
    versions = [
        version for name, version in OPERATORS if name == op_type and version <= (number or 0)
    ]
    if not versions:
        shown = describe(opset) if number is None else str(number)
        _refuse(
            op_type, "ValidationError", "opset", "has no such operator",
            got=f"{op_type} in opset {shown}",
            expected="Softmax or LogSoftmax, opset 1 or later", fix="choose one of these",
        )  # fmt: skip
    return OPERATORS[op_type, max(versions)]


def run(
    op_type: str, input: ArrayLike, axis: int | None = None, *, opset: int = 13
) -> np.ndarray[Any, Any]:
    """One node in one call: array in, array out, on a stream of its own.

    Parameters
    ----------
    op_type : {"Softmax", "LogSoftmax"}
        The operator.
    input : array_like
        Any shape.
    axis : int, optional
        The node's attribute.
    opset : int, optional
        Which version: the last one that is not newer.

    Returns
    -------
    numpy.ndarray
        In the shape and type of `input`.

    Raises
    ------
    OnnxError
        As in `SoftmaxOperator.get_workspace_size`.
    """
    row = of_opset(op_type, opset)
    with Device(0) as device, device.create_stream() as stream:
        try:
            x = device.tensor(input)
        except AclnnError as error:
            text, fix = no_tensor(op_type, "input", input, error, "ValidationError")
            raise OnnxError(text, operator=op_type, argument="input", hint=fix) from error
        y = device.empty(x.shape, x.dtype)
        size, executor = row.get_workspace_size(x, y, axis)
        row.execute(device.malloc(size) if size else None, size, executor, stream)
        stream.synchronize()
        return y.numpy()
