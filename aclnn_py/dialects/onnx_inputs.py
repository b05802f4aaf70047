# SPDX-License-Identifier: Apache-2.0
"""What an ONNX model takes, by name, type and size, and whether what it is given is that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Number
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import onnx
from onnx import helper

from aclnn_py.dialects.onnx_errors import OnnxError
from aclnn_runtime.arguments import describe, whole_number
from aclnn_runtime.errors import refusal_text

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Input", "checked_opset", "declared", "element_type", "node_arrays", "wrong_inputs"]


@dataclass(frozen=True)
class Input:
    """What a model says of one of its inputs; a size that it leaves open is a name or ``None``."""

    name: str
    dtype: np.dtype[Any]
    dims: tuple[int | str | None, ...] | None

    def array(self, value: object, named: dict[str, int]) -> np.ndarray[Any, Any]:
        """The value as an array; lists become the declared type, arrays must have it.

        What names of sizes stand for joins `named`, and stays.
        """
        try:
            array = array_of(value, None if hasattr(value, "dtype") else self.dtype)
        except (TypeError, ValueError, OverflowError) as error:
            wrong_inputs(f"{self.name}: {error}", [f"{self.name} of {self.dtype}"])
        sizes = self.dims or ()
        fits = self.dims is None or (
            len(sizes) == array.ndim
            and all(
                named.setdefault(size, got) == got if isinstance(size, str) else size in (None, got)
                for size, got in zip(sizes, array.shape, strict=True)
            )
        )
        if array.dtype != self.dtype or not fits:
            shown = [named.get(str(size), size) for size in sizes]
            wrong_inputs(
                f"{self.name} of {array.dtype}, shape {list(array.shape)}",
                [f"{self.name} of {self.dtype}" + ("" if fits else f", shape {shown}")],
            )
        return array


def array_of(value: object, dtype: np.dtype[Any] | None = None) -> np.ndarray[Any, Any]:
    """In the processor's order of bytes.

    Raises
    ------
    TypeError
        For what holds something else than numbers: NumPy makes NaN of None, a number of text.
    """
    array = np.asarray(value)
    known = array.dtype.kind not in "OSUcmM"
    if not known and not (array.dtype.kind == "O" and all(map(_is_number, array.flat))):
        raise TypeError(f"{describe(value)}, which is no array of numbers")
    if dtype is not None:
        array = array.astype(dtype) if known else np.asarray(value, dtype)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _is_number(value: object) -> bool:
    return isinstance(value, Number) and not isinstance(value, complex)


def declared(value: onnx.ValueInfoProto) -> Input:
    """What a graph says of one input."""
    tensor = value.type.tensor_type
    dims = None
    if tensor.HasField("shape"):
        dims = tuple(
            one.dim_value if one.HasField("dim_value") else one.dim_param or None
            for one in tensor.shape.dim
        )
    return Input(value.name, helper.tensor_dtype_to_np_dtype(tensor.elem_type), dims)


def wrong_inputs(got: str, expected: Iterable[str]) -> NoReturn:
    """Refuse what is no value for each input."""
    fix = "pass one array for each of the model's inputs"
    text = refusal_text(
        "run: argument 'inputs' is not what the model takes", got,
        ", ".join(expected) or "none", fix, "ValidationError",
    )  # fmt: skip
    raise OnnxError(text, operator="run", argument="inputs", hint=fix)


def node_arrays(node: onnx.NodeProto, inputs: Any) -> list[np.ndarray[Any, Any]]:
    """An array for each input that a node has."""
    wanted = [name for name in node.input if name]
    if isinstance(inputs, Mapping):
        if set(inputs) != set(wanted):
            wrong_inputs(", ".join(map(str, inputs)) or "none", wanted)
        inputs = [inputs[name] for name in wanted]
    elif hasattr(inputs, "dtype"):
        inputs = [inputs]
    try:
        arrays = [array_of(value) for value in inputs]
    except (TypeError, ValueError) as error:
        wrong_inputs(str(error), wanted)
    if len(arrays) != len(wanted):
        wrong_inputs(f"{len(arrays)} arrays", wanted)
    return arrays


def element_type(array: np.ndarray[Any, Any]) -> int:
    """ONNX's number of an array's type; that of none where it has none."""
    try:
        return int(helper.np_dtype_to_tensor_dtype(array.dtype))
    except ValueError:
        return int(onnx.TensorProto.UNDEFINED)


def checked_opset(options: Mapping[str, Any]) -> int:
    """``opset_version``, or the newest one."""
    newest = onnx.defs.onnx_opset_version()
    given = options.get("opset_version", newest)
    opset = whole_number(given)
    if opset is None or not 1 <= opset <= newest:
        fix = "pass opset_version as a plain int, or leave it out"
        text = refusal_text(
            "run_node: argument 'opset_version' is no opset", describe(given),
            f"an integer from 1 to {newest}", fix, "ValidationError",
        )  # fmt: skip
        raise OnnxError(text, operator="run_node", argument="opset_version", hint=fix)
    return opset
