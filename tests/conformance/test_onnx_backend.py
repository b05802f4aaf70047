# SPDX-License-Identifier: Apache-2.0
"""ONNX's own backend test suite, on this project's backend (reference, section 4)."""

from __future__ import annotations

import unittest
import warnings

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.backend.test import BackendTest
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

from aclnn_py.dialects.onnx_backend import AclnnBackend, AclnnRep
from aclnn_py.dialects.onnx_errors import OnnxError

# Section 4, the table of node tests: `example` is called `example_1` for LogSoftmax.
SUFFIXES = [
    "large_number", "axis_0", "axis_1", "axis_2", "negative_axis", "default_axis",
]  # fmt: skip
PLAIN = [
    *(f"test_softmax_{suffix}" for suffix in ["example", *SUFFIXES]),
    *(f"test_logsoftmax_{suffix}" for suffix in ["example_1", *SUFFIXES]),
]
NODES = [f"{name}{form}" for name in PLAIN for form in ("", "_expanded", "_expanded_ver18")]
# Section 4, the older models at opset 6.
CONVERTED = [
    "test_Softmax", "test_LogSoftmax", "test_softmax_lastdim", "test_log_softmax_lastdim",
    "test_softmax_functional_dim3", "test_log_softmax_dim3",
]  # fmt: skip
#: What else of ONNX's suite the operators of the function bodies make possible.
OTHERS = 40


class Counted(AclnnBackend):
    """The backend, and how many models it has run."""

    runs = 0

    @classmethod
    def prepare(cls, model, device="CPU", **options):
        prepared = super().prepare(model, device, **options)
        original = prepared.run

        def run(inputs, **more):
            cls.runs += 1
            return original(inputs, **more)

        prepared.run = run
        return prepared


@pytest.fixture(scope="module")
def suite():
    """Test functions of ONNX's suite by name, those for the CPU."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its generators overflow on purpose
        # The suite offers its functions as attributes of classes, one a category.
        cases = BackendTest(Counted, __name__).test_cases.values()
    return {
        name.removesuffix("_cpu"): function
        for case in cases
        for name, function in vars(case).items()
        if name.endswith("_cpu")
    }


@pytest.fixture(scope="module")
def models():
    """Models of ONNX's suite by name, those that come with the package."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = [
            case
            for kind in ("node", "simple", "pytorch-converted", "pytorch-operator")
            for case in load_model_tests(kind=kind)
        ]
    return {case.name: case.model or onnx.load(f"{case.model_dir}/model.onnx") for case in cases}


def run_case(suite, name):
    """Run one of its tests; it must have come as far as running a model."""
    before = Counted.runs
    try:
        suite[name](None)
    except unittest.SkipTest as skipped:  # pytest would take it for its own
        pytest.fail(f"{name} was skipped: {skipped}")
    assert Counted.runs > before, "the suite swallows 'not supported'"


@pytest.mark.parametrize("name", NODES + CONVERTED)
def test_section_4_softmax_family(suite, name):
    run_case(suite, name)


def test_section_4_nothing_of_the_family_is_left_out(suite, models):
    family = {
        name
        for name in models
        if name.lower().replace("log_", "log").startswith(("test_softmax", "test_logsoftmax"))
    }
    assert family == set(NODES + CONVERTED)
    assert family <= suite.keys()
    assert len(family) == 48


def test_every_model_that_is_called_compatible_runs(suite, models):
    compatible = {name for name, model in models.items() if Counted.is_compatible(model)}
    others = compatible - set(NODES + CONVERTED)
    assert len(others) >= OTHERS
    for name in sorted(others):
        run_case(suite, name)


def test_every_other_model_is_not_supported(models):
    others = {name: model for name, model in models.items() if not Counted.is_compatible(model)}
    assert len(others) > 1000
    for name, model in sorted(others.items()):
        with pytest.raises(BackendIsNotSupposedToImplementIt, match="not supported: "):
            Counted.prepare(model)
        assert name not in NODES


@pytest.mark.parametrize("device", ["CUDA", "CUDA:0", "CPU:1", "CPU:", "TPU", ""])
def test_devices_it_does_not_have(device):
    assert not AclnnBackend.supports_device(device)
    assert not AclnnBackend.is_compatible(softmax_model(), device)
    with pytest.raises(BackendIsNotSupposedToImplementIt, match="device"):
        AclnnBackend.prepare(softmax_model(), device)


def softmax_model(opset=13, dtype=TensorProto.FLOAT, shape=(2, 3), **attributes):
    node = helper.make_node("Softmax", ["x"], ["y"], **attributes)
    values = [helper.make_tensor_value_info(name, dtype, shape) for name in "xy"]
    graph = helper.make_graph([node], "softmax", values[:1], values[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


X = np.array([[0.0, 1.0, 2.0], [3.0, 3.0, 3.0]], np.float32)


def softmax(x, axis):
    e = np.exp(x.astype(np.float64) - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@pytest.mark.parametrize("inputs", [[X], (X,), {"x": X}, X, [X.tolist()]])
def test_run_takes_lists_names_and_one_array(inputs):
    outputs = AclnnBackend.run_model(softmax_model(axis=0), inputs)
    np.testing.assert_allclose(outputs[0], softmax(X, 0), rtol=1.2e-6)
    np.testing.assert_array_equal(outputs["y"], outputs[0])


def test_a_prepared_model_runs_again():
    prepared = AclnnBackend.prepare(softmax_model(), "CPU:0")
    assert isinstance(prepared, AclnnRep)
    for x in (X, X[::-1], X * 2):
        np.testing.assert_allclose(prepared.run([x])[0], softmax(x, 1), rtol=1.2e-6)


WRONG = [
    [], [X, X], {"z": X}, {"x": X, "z": X}, [X.T], [X[0]], [X + 0j], None, 5, ["a"],
    [[[1], [1, 2]]], [None], {"x": None}, [[["1", "2"], ["3", "4"]]], [[[1j, 2], [3, 4]]],
]  # fmt: skip


@pytest.mark.parametrize("inputs", WRONG)
def test_wrong_inputs_are_named(inputs):
    with pytest.raises(RuntimeError, match=r"(?s)inputs.*expected: x.*fix:"):
        AclnnBackend.run_model(softmax_model(), inputs)


@pytest.mark.parametrize(
    ("opset", "wanted"), [(1, "all"), (11, "all"), (13, "last"), (None, "last")]
)
def test_section_4_run_node_follows_the_opset(opset, wanted):
    """Axis left out: 1 with coercion before version 13, the last axis since."""
    x = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
    node = helper.make_node("Softmax", ["x"], ["y"])
    options = {} if opset is None else {"opset_version": opset}
    (y,) = AclnnBackend.run_node(node, [x], **options)
    rows = x.reshape(2, 12) if wanted == "all" else x
    np.testing.assert_allclose(y, softmax(rows, -1).reshape(x.shape), rtol=1.2e-6)


def test_run_node_takes_arrays_in_order_by_name_or_one():
    node = helper.make_node("Softmax", ["x"], ["y"])
    x = np.ones((2, 3), np.float32)
    for given in ([x], (x,), x, {"x": x}):
        (y,) = AclnnBackend.run_node(node, given)
        np.testing.assert_allclose(y, softmax(x, -1), rtol=1.2e-6)
    for given in ({"z": x}, {}, [x, x], []):
        with pytest.raises(OnnxError):
            AclnnBackend.run_node(node, given)


@pytest.mark.parametrize("node", [None, "Softmax", softmax_model()])
def test_what_is_no_node(node):
    with pytest.raises(OnnxError, match="run_node: argument 'node' is no node"):
        AclnnBackend.run_node(node, [X])


@pytest.mark.parametrize("model", [None, b"", softmax_model().SerializeToString(), "a path"])
def test_what_is_no_model(model):
    assert not AclnnBackend.is_compatible(model)
    with pytest.raises(OnnxError, match=r"onnx\.load"):
        AclnnBackend.prepare(model)


def test_run_node_constant_and_missing_operators():
    value = helper.make_tensor("v", TensorProto.FLOAT, [2], [1.0, 2.0])
    (found,) = AclnnBackend.run_node(helper.make_node("Constant", [], ["c"], value=value), [])
    np.testing.assert_array_equal(found, [1.0, 2.0])
    with pytest.raises(BackendIsNotSupposedToImplementIt, match="Relu"):
        AclnnBackend.run_node(helper.make_node("Relu", ["x"], ["y"]), [X])


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (softmax_model(dtype=TensorProto.INT32), r"of INT32; version 13 takes FLOAT16 \| FLOAT"),
        (softmax_model(dtype=TensorProto.STRING), "Softmax of"),
        (softmax_model(opset=11, dtype=TensorProto.BFLOAT16), "BF16"),
    ],
)
def test_section_4_types_that_a_version_does_not_have(model, reason):
    assert not AclnnBackend.is_compatible(model)
    with pytest.raises(BackendIsNotSupposedToImplementIt, match=reason):
        AclnnBackend.prepare(model)


def test_an_invalid_model_is_onnx_own_error():
    model = softmax_model()
    model.graph.node[0].input.append("nothing")
    with pytest.raises(onnx.checker.ValidationError):
        AclnnBackend.prepare(model)


@pytest.mark.parametrize("axis", [2, -3])
def test_section_4_axis_out_of_range(axis):
    model = softmax_model(axis=axis)
    assert not AclnnBackend.is_compatible(model)
    with pytest.raises(OnnxError, match=r"(?s)Softmax.*axis.*\[-2 ?, 1\]") as caught:
        AclnnBackend.prepare(model)
    assert caught.value.kind == "ShapeInferenceError"


# ---- models that contradict themselves, defaults, names of sizes --------------------------------


def model_of(nodes, inputs, outputs, opset=13, initializers=()):
    infos = [
        [helper.make_tensor_value_info(*one) for one in (inputs, outputs)[k]] for k in range(2)
    ]
    graph = helper.make_graph(nodes, "graph", *infos, list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


FLOAT, DOUBLE = TensorProto.FLOAT, TensorProto.DOUBLE
SOFTMAX = helper.make_node("Softmax", ["x"], ["y"])
SUB = helper.make_node("Sub", ["x", "w"], ["y"])


@pytest.mark.parametrize(
    "model",
    [
        model_of([SOFTMAX], [("x", FLOAT, [2, 3])], [("y", DOUBLE, [2, 3])]),
        model_of([SOFTMAX], [("x", FLOAT, [2, 3])], [("y", FLOAT, [5, 5])]),
        model_of([SUB], [("x", FLOAT, [2]), ("w", DOUBLE, [2])], [("y", FLOAT, [2])]),
    ],
)
def test_types_and_shapes_agree(model):
    assert not AclnnBackend.is_compatible(model)
    with pytest.raises(OnnxError, match="contradicts itself"):
        AclnnBackend.prepare(model)


def test_a_model_of_no_opset_is_not_compatible():
    model = model_of([SOFTMAX], [("x", FLOAT, [2, 3])], [("y", FLOAT, [2, 3])], opset=0)
    assert not AclnnBackend.is_compatible(model)
    assert not AclnnBackend.supports_device(None)


def test_an_unused_input_of_an_unknown_type():
    inputs = [("x", FLOAT, [2, 3]), ("unused", TensorProto.STRING, [1])]
    model = model_of([SOFTMAX], inputs, [("y", FLOAT, [2, 3])])
    assert not AclnnBackend.is_compatible(model)
    with pytest.raises(BackendIsNotSupposedToImplementIt, match="unused"):
        AclnnBackend.prepare(model)


def test_an_initializer_that_is_an_input_is_its_default():
    weight = helper.make_tensor("w", FLOAT, [3], [1.0, 2.0, 3.0])
    takes = [("x", FLOAT, [3]), ("w", FLOAT, [3])]
    prepared = AclnnBackend.prepare(
        model_of([SUB], takes, [("y", FLOAT, [3])], initializers=[weight])
    )
    x = np.ones(3, np.float32)
    np.testing.assert_array_equal(prepared.run([x])[0], [0, -1, -2])
    np.testing.assert_array_equal(prepared.run({"x": x, "w": x})[0], [0, 0, 0])
    np.testing.assert_array_equal(prepared.run([x, x])[0], [0, 0, 0])
    np.testing.assert_array_equal(prepared.run([x])[0], [0, -1, -2])
    with pytest.raises(OnnxError, match="3 arrays"):
        prepared.run([x, x, x])
    with pytest.raises(OnnxError, match="inputs"):
        prepared.run({"w": x})


def test_an_opset_of_the_future_is_not_supported():
    newest = onnx.defs.onnx_opset_version()
    model = softmax_model()
    for opset, known in ((newest, True), (newest + 1, False)):
        model.opset_import[0].version = opset
        assert AclnnBackend.is_compatible(model) is known
    with pytest.raises(BackendIsNotSupposedToImplementIt, match=f"opset {newest + 1}"):
        AclnnBackend.prepare(model)


def test_one_name_is_one_size():
    takes = [("x", FLOAT, ["N"]), ("w", FLOAT, ["N"])]
    prepared = AclnnBackend.prepare(model_of([SUB], takes, [("y", FLOAT, ["N"])]))
    x = np.ones(3, np.float32)
    np.testing.assert_array_equal(prepared.run([x, x])[0], [0, 0, 0])
    with pytest.raises(OnnxError, match="shape"):
        prepared.run([x, x[:1]])


# ---- single nodes -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("node", "inputs", "opset"),
    [
        (helper.make_node("ReduceSum", ["x"], ["y"], axes=[0]), 1, 13),
        (helper.make_node("ReduceSum", ["x", "a"], ["y"]), 2, 11),
        (helper.make_node("ReduceSum", ["x"], ["y"], axes=1), 1, 11),
        (helper.make_node("ReduceSum", ["x"], ["y"], keepdims=0.5), 1, 13),
        (helper.make_node("Softmax", ["x"], ["y"], foo=9), 1, 13),
        (helper.make_node("Softmax", ["x"], ["y", "z"]), 1, 13),
        (helper.make_node("Softmax", [], ["y"]), 1, 13),
        (helper.make_node("Softmax", [""], ["y"]), 1, 13),
    ],
)
def test_a_node_that_its_version_does_not_allow(node, inputs, opset):
    given = [X, np.array([0])][:inputs]
    with pytest.raises(onnx.checker.ValidationError):
        AclnnBackend.run_node(node, given, opset_version=opset)


def test_a_constant_has_one_value():
    node = helper.make_node("Constant", [], ["c"], value_float=1.0, value_int=2)
    with pytest.raises(BackendIsNotSupposedToImplementIt, match="Constant"):
        AclnnBackend.run_node(node, [])


def test_axes_are_integers():
    node = helper.make_node("ReduceSum", ["x", "a"], ["y"])
    with pytest.raises(OnnxError, match="axes"):
        AclnnBackend.run_node(node, [X, np.array([0.5], np.float32)])


def test_a_node_may_name_an_input_twice():
    node = helper.make_node("Sub", ["x", "x"], ["y"])
    np.testing.assert_array_equal(AclnnBackend.run_node(node, [X, X])[0], np.zeros_like(X))
    for inputs in ([X], [X, X, X], None):
        with pytest.raises(OnnxError, match="inputs"):
            AclnnBackend.run_node(node, inputs)


def test_a_node_takes_either_order_of_bytes():
    (y,) = AclnnBackend.run_node(SOFTMAX, [X.astype(">f4")])
    np.testing.assert_allclose(y, softmax(X, 1), rtol=1.2e-6)


@pytest.mark.parametrize("opset", [0, -1, None, "a", 12.5, True, 10**6])
def test_an_opset_that_is_none(opset):
    with pytest.raises(OnnxError, match="opset_version"):
        AclnnBackend.run_node(SOFTMAX, [X], opset_version=opset)
