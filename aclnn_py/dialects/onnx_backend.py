# SPDX-License-Identifier: Apache-2.0
"""An ``onnx.backend.base.Backend``: ONNX models of the softmax family on this project's streams.

::

    from aclnn_py.dialects.onnx_backend import AclnnBackend

    rep = AclnnBackend.prepare(onnx.load("model.onnx"))
    (probabilities,) = rep.run([logits])

Needs the ``onnx`` package (``pip install aclnn-py[onnx]``). Each node is one two-phase call.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from aclnn_py.core.device import Device
from aclnn_py.core.dtype import as_dtype
from aclnn_py.dialects.onnx_errors import OnnxError
from aclnn_py.dialects.onnx_nodes import NODES, Call, Node, constant_value, element_types
from aclnn_py.twophase import operator
from aclnn_runtime.errors import refusal_text

try:
    import onnx
    from onnx import helper, numpy_helper
    from onnx.backend.base import Backend, BackendRep, namedtupledict
except ImportError as missing:  # pragma: no cover  # the tests' environment has it
    raise ImportError("the ONNX backend needs onnx: pip install aclnn-py[onnx]") from missing

from aclnn_py.dialects.onnx_inputs import (
    Input,
    checked_opset,
    declared,
    element_type,
    node_arrays,
    wrong_inputs,
)  # fmt: skip
from aclnn_runtime.arguments import describe

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from aclnn_py.core.tensor import Tensor
    from aclnn_runtime import Stream

__all__ = ["AclnnBackend", "AclnnRep", "OnnxError"]

_DOMAINS: Final = ("", "ai.onnx")
_INVALID: Final = (onnx.checker.ValidationError, onnx.shape_inference.InferenceError)


@dataclass(frozen=True)
class _Step:
    """One node, looked up: what it is called with, and where its result goes."""

    op_type: str
    version: int
    node: Node
    attributes: Mapping[str, Any]
    inputs: tuple[str, ...]
    output: str

    def run(self, device: Device, stream: Stream, values: dict[str, Tensor]) -> None:
        """Plan and enqueue."""
        tensors = [values[name] if name else None for name in self.inputs]
        call = self.node.call(self.version, self.attributes, tensors)
        values[self.output] = _enqueue(device, stream, call)


def _enqueue(device: Device, stream: Stream, call: Call) -> Tensor:
    result = device.empty(call.shape, call.tensors[0].dtype)
    door = operator(call.key)
    size, executor = door.get_workspace_size((*call.tensors, result), call.attributes)
    door.execute(device.malloc(size) if size else None, size, executor, stream)
    return result


class AclnnRep(BackendRep):
    """A prepared model; `run` may be called any number of times."""

    def __init__(
        self,
        steps: Sequence[_Step],
        constants: Mapping[str, np.ndarray[Any, Any]],
        inputs: Sequence[Input],
        outputs: Sequence[str],
    ) -> None:
        self._steps = tuple(steps)
        self._constants = dict(constants)
        self._known = {one.name: one for one in inputs}
        # An initializer that is an input, too, is what that input is where it is not given.
        self._inputs = [name for name in self._known if name not in self._constants]
        self._outputs = tuple(outputs)

    def run(self, inputs: Any, **_: Any) -> tuple[Any, ...]:
        """Run the model.

        Parameters
        ----------
        inputs : sequence of array_like, dict of str to array_like, or one array
            In the order of the model's inputs, or by name. Inputs that have an initializer may be
            left out: of a sequence all of them or none.

        Returns
        -------
        tuple of numpy.ndarray
            The outputs, also by name: ``outputs["y"]``.

        Raises
        ------
        OnnxError
            For a missing or superfluous input, one of another type or shape than the model
            says, and where a node refuses what it gets.
        AclError
            For a failure while it runs.
        """
        given = self._named(inputs)
        with Device(0) as device, device.create_stream() as stream:
            values = {
                name: _constant(device, stream, value)
                for name, value in self._constants.items()
                if name not in given
            }
            values |= {name: device.tensor(array) for name, array in given.items()}
            for step in self._steps:
                step.run(device, stream, values)
            stream.synchronize()
            arrays = [values[name].numpy() for name in self._outputs]
        found: tuple[Any, ...] = namedtupledict("Outputs", list(self._outputs))(*arrays)
        return found

    def _named(self, inputs: Any) -> dict[str, np.ndarray[Any, Any]]:
        if isinstance(inputs, dict):
            values = dict(inputs)
        else:
            try:
                row = [inputs] if isinstance(inputs, np.ndarray) else list(inputs)
            except TypeError:
                wrong_inputs(describe(inputs), self._inputs)
            names = list(self._known) if len(row) == len(self._known) else self._inputs
            if len(row) > len(names):
                wrong_inputs(f"{len(row)} arrays", names)
            values = dict(zip(names, row, strict=False))
        if not set(self._inputs) <= values.keys() <= self._known.keys():
            wrong_inputs(", ".join(map(str, values)) or "none", self._inputs)
        sizes: dict[str, int] = {}
        return {name: self._known[name].array(value, sizes) for name, value in values.items()}


def _constant(device: Device, stream: Stream, value: np.ndarray[Any, Any]) -> Tensor:
    """The result of a Constant node: its value goes through the door as any other tensor does."""
    given = device.tensor(value)
    return _enqueue(device, stream, Call("onnx.Constant", (given,), (), given.shape))


class AclnnBackend(Backend):
    """Softmax and LogSoftmax in all versions, and the operators their function bodies use."""

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """``"CPU"``, its only one by number (``"CPU:0"``) or not, and nothing else."""
        return isinstance(device, str) and device in ("CPU", "CPU:0")

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **_: Any) -> bool:
        """Whether `prepare` takes it: it is valid, and every node with its types implemented."""
        if not cls.supports_device(device) or not isinstance(model, onnx.ModelProto):
            return False
        try:
            onnx.checker.check_model(model)
            if _unsupported(model):
                return False
            onnx.checker.check_model(model, full_check=True)
        except _INVALID:
            return False
        return True

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **_: Any) -> AclnnRep:
        """Check a model and look its nodes up.

        Raises
        ------
        BackendIsNotSupposedToImplementIt
            ONNX's own "not supported", naming the first node that is not implemented.
        onnx.checker.ValidationError
            Where the model is not valid.
        OnnxError
            Where its types, shapes or axes contradict each other, in the words of ONNX's
            inference.
        """
        if not isinstance(model, onnx.ModelProto):
            _no_proto(
                "prepare",
                "model",
                model,
                "an onnx.ModelProto",
                "load a file with onnx.load() first",
            )
        onnx.checker.check_model(model)
        reason = _unsupported(model)
        if not cls.supports_device(device):
            reason = f"device {device!r}; expected 'CPU'"
        if reason:
            _not_supported(reason)
        try:
            onnx.checker.check_model(model, full_check=True)
        except onnx.shape_inference.InferenceError as error:
            raise _contradiction(str(error)) from error
        graph = model.graph
        constants = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
        steps = _steps(graph.node, _opset(model.opset_import), constants)
        inputs = [declared(one) for one in graph.input]
        return AclnnRep(steps, constants, inputs, [one.name for one in graph.output])

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Any,
        device: str = "CPU",
        outputs_info: Sequence[tuple[np.dtype[Any], tuple[int, ...]]] | None = None,  # noqa: ARG003  # the base's signature
        **options: Any,
    ) -> tuple[Any, ...]:
        """Run one node; ``opset_version`` selects its meaning, the newest one by default.

        Raises
        ------
        BackendIsNotSupposedToImplementIt
            Where the node is not implemented.
        onnx.checker.ValidationError
            Where the node is not valid in this opset.
        OnnxError
            For another number of arrays than the node has inputs, and for an opset that is none.
        """
        if not isinstance(node, onnx.NodeProto):
            _no_proto(
                "run_node", "node", node, "an onnx.NodeProto", "onnx.helper.make_node() makes one"
            )
        opset = checked_opset(options)
        if node.domain in _DOMAINS and node.op_type in {*NODES, "Constant"}:
            _check_node(node, opset)
        arrays = node_arrays(node, inputs)
        # Each input has its own name and its own array, whatever the node calls it.
        alone = onnx.NodeProto()
        alone.CopyFrom(node)
        names = [f"{number}" if name else "" for number, name in enumerate(node.input)]
        alone.input[:] = names
        named = dict(zip([name for name in names if name], arrays, strict=True))
        graph = helper.make_graph(
            [alone],
            "node",
            [
                helper.make_tensor_value_info(name, element_type(array), None)
                for name, array in named.items()
            ],
            [onnx.ValueInfoProto(name=name) for name in node.output],
        )
        opsets = [helper.make_opsetid(node.domain, opset)]
        reason = _unsupported(helper.make_model(graph, opset_imports=opsets))
        if not cls.supports_device(device):
            reason = f"device {device!r}; expected 'CPU'"
        if reason:
            _not_supported(reason)
        constants: dict[str, np.ndarray[Any, Any]] = {}
        steps = _steps([alone], opset, constants)
        takes = [declared(one) for one in graph.input]
        return AclnnRep(steps, constants, takes, list(node.output)).run(named)


def _check_node(node: onnx.NodeProto, opset: int) -> None:
    """ONNX's own check of one node, before anything of ours has a say."""
    plain = onnx.NodeProto()
    plain.CopyFrom(node)
    plain.domain = ""  # the checker does not know its other name
    context = onnx.checker.C.CheckerContext()
    context.ir_version = onnx.checker.DEFAULT_CONTEXT.ir_version
    context.opset_imports = {"": opset}
    onnx.checker.check_node(plain, context)


def _no_proto(function: str, argument: str, given: object, expected: str, fix: str) -> NoReturn:
    first = f"{function}: argument '{argument}' is no {argument}"
    text = refusal_text(first, describe(given), expected, fix, "ValidationError")
    raise OnnxError(text, operator=function, argument=argument, hint=fix)


def _contradiction(found: str) -> OnnxError:
    fix = "correct the model"
    kind = "TypeInferenceError" if "[TypeInferenceError]" in found else "ShapeInferenceError"
    text = refusal_text(
        "prepare: argument 'model' contradicts itself", found, "types and shapes that agree", fix,
        kind,
    )  # fmt: skip
    error = OnnxError(text, operator="prepare", argument="model", hint=fix)
    error.kind = kind
    return error


def _not_supported(reason: str) -> NoReturn:
    from onnx.backend.test.runner import (  # noqa: PLC0415  # brings ONNX's test machinery
        BackendIsNotSupposedToImplementIt,
    )

    raise BackendIsNotSupposedToImplementIt(f"not supported: {reason}")


def _opset(imports: Iterable[onnx.OperatorSetIdProto]) -> int:
    return max((one.version for one in imports if one.domain in _DOMAINS), default=1)


def _attributes(node: onnx.NodeProto) -> dict[str, Any]:
    found = {one.name: helper.get_attribute_value(one) for one in node.attribute}
    if isinstance(found.get("value"), onnx.TensorProto):
        found["value"] = numpy_helper.to_array(found["value"])
    return found


def _version(op_type: str, opset: int) -> int:
    try:
        return int(onnx.defs.get_schema(op_type, opset, "").since_version)
    except onnx.defs.SchemaError:  # an opset that is none
        return 0


def _steps(
    nodes: Iterable[onnx.NodeProto], opset: int, constants: dict[str, np.ndarray[Any, Any]]
) -> list[_Step]:
    """The nodes as steps; the values of Constant nodes join `constants`."""
    steps = []
    for node in nodes:
        attributes = _attributes(node)
        if node.op_type == "Constant":
            value = constant_value(attributes)
            assert value is not None
            constants[node.output[0]] = value
            continue
        version = _version(node.op_type, opset)
        steps.append(
            _Step(
                node.op_type, version, NODES[node.op_type], attributes, tuple(node.input),
                node.output[0],
            )
        )  # fmt: skip
    return steps


def _unsupported(model: onnx.ModelProto) -> str:
    """The first thing of a model that is not implemented, or an empty text."""
    graph = model.graph
    if model.functions or graph.sparse_initializer:
        return "model-local functions and sparse initializers"
    opset, newest = _opset(model.opset_import), onnx.defs.onnx_opset_version()
    if opset > newest:
        return f"opset {opset}, of which nothing is known here: {newest} is the newest"
    types = {one.name: _named_type(one.data_type) for one in graph.initializer}
    for one in graph.input:
        kind = one.type.WhichOneof("value")
        if kind != "tensor_type":
            return f"input {one.name!r} of kind {kind}"
        types.setdefault(one.name, _named_type(one.type.tensor_type.elem_type))
    for node in graph.node:
        reason = _unsupported_node(node, opset, types)
        if reason:
            return reason
    unnamed = [name for name, dtype in types.items() if not dtype]
    if unnamed:
        return f"{unnamed[0]!r}, of an element type unknown here"
    produced = {name for node in graph.node for name in node.output} | types.keys()
    missing = [one.name for one in graph.output if one.name not in produced]
    return f"output {missing[0]!r}, which nothing produces" if missing else ""


def _unsupported_node(node: onnx.NodeProto, opset: int, types: dict[str, str]) -> str:
    """Why a node is not implemented; else its result's type joins `types`."""
    label = f"operator {node.domain or 'ai.onnx'}.{node.op_type}"
    if node.domain not in _DOMAINS or node.op_type not in {*NODES, "Constant"}:
        return label
    version = _version(node.op_type, opset)
    if node.op_type == "Constant":
        value = constant_value(_attributes(node))
        dtype = "" if value is None else _vendor_name(value.dtype)
    else:
        row = NODES[node.op_type]
        if version not in row.versions:
            return f"{label}, version {version}"
        unknown = {one.name for one in node.attribute} - row.attributes
        fits = row.inputs[0] <= len(node.input) <= row.inputs[1] and len(node.output) == 1
        if unknown or not fits:
            return f"{label} with {sorted(unknown) or 'that many inputs or outputs'}"
        dtype = types.get(node.input[0], "")
    types[node.output[0]] = dtype
    takes = element_types(node.op_type, version)
    if dtype in takes:
        return ""
    shown = dtype or "a type unknown here"
    return f"{label} of {shown}; version {version} takes {' | '.join(takes)} here"


def _named_type(elem_type: int) -> str:
    """Vendor name of an ONNX element type; empty where this project has none."""
    try:
        return _vendor_name(helper.tensor_dtype_to_np_dtype(elem_type))
    except KeyError:
        return ""


def _vendor_name(dtype: np.dtype[Any]) -> str:
    try:
        return as_dtype(dtype).name
    except KeyError:
        return ""
