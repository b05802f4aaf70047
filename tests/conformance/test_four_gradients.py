# SPDX-License-Identifier: Apache-2.0
"""One gradient in all dialects: the same where they agree, different where they do not."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from aclnn_py.dialects import facts
from support import oracle
from support.dialects import CALLS, OPERATORS

SHAPE = (3, 4, 5)
FAMILIES = ["softmax-backward", "log-softmax-backward"]
BF16 = ml_dtypes.bfloat16


def faces(family):
    """(name, call) of every entry point that exists; ONNX Runtime's under its CUDA provider."""
    for column in facts.columns(family):
        for entry in column.axis_defaults:
            if column.dialect in CALLS:
                who = "CUDA" if column.dialect == "ONNX Runtime" else next(iter(column.dtypes))
                yield entry, (lambda *given, c=column, e=entry, w=who: call(c, e, w, *given))


def call(column, entry, who, arrays, *axis):
    return CALLS[column.dialect](column.family, entry, who, arrays, *axis)


def problem(family, axis, dtype=np.float32):
    random = np.random.default_rng(5)
    g, y = random.standard_normal(SHAPE), random.random(SHAPE) + 0.1
    y /= y.sum(axis=axis, keepdims=True)
    return [g.astype(dtype), (np.log(y) if family.startswith("log") else y).astype(dtype)]


def ask(family, arrays, *axis):
    """Answers and refusals by entry point."""
    return {name: outcome(face, arrays, *axis) for name, face in faces(family)}


def outcome(face, arrays, *axis):
    try:
        return face(arrays, *axis)
    except (RuntimeError, TypeError) as refusal:
        return refusal


def cut(name):
    return name in ("SoftmaxGrad", "LogSoftmaxGrad")


@pytest.mark.parametrize("dtype", [np.float32, np.float16, BF16], ids=lambda t: t.__name__)
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("family", FAMILIES)
def test_section_5_a_single_axis_counted_from_the_front(family, axis, dtype):
    """Everybody agrees, but for the coerced variants before the last axis."""
    arrays = problem(family, axis, dtype)
    wanted = oracle.answer(OPERATORS[family], arrays, axis)
    answered = 0
    for name, answer in ask(family, arrays, axis).items():
        if family.startswith("log") and dtype is BF16 and "SoftmaxGrad" in name:
            assert isinstance(answer, RuntimeError)
            assert answer.status_name == "ORT_INVALID_GRAPH"
        elif not cut(name) or axis == 2:
            assert oracle.worst(OPERATORS[family], answer, wanted) <= 1, name
            answered += 1
    assert answered >= 1


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("family", FAMILIES)
def test_section_5_coercion(family, axis):
    arrays = problem(family, axis)
    rows = [array.reshape(SHAPE[0] if axis else 1, -1) for array in arrays]
    wanted = oracle.answer(OPERATORS[family], rows, 1).value.reshape(SHAPE)
    found = ask(family, arrays, axis)
    (coerced,) = (answer for name, answer in found.items() if cut(name))
    np.testing.assert_allclose(coerced, wanted, rtol=3e-5, atol=2e-6)
    for name, answer in found.items():
        if not cut(name):
            assert np.abs(answer - coerced).max() > 1e-2, name


@pytest.mark.parametrize("family", FAMILIES)
def test_section_5_the_axis_left_out(family):
    """Mandatory in aclnn and in oneDNN's primitive; two defaults, with two meanings, elsewhere."""
    arrays = problem(family, 2)
    by_default = ask(family, arrays)
    defaults = {
        entry: default
        for column in facts.columns(family)
        for entry, default in column.axis_defaults.items()
    }
    for name, answer in by_default.items():
        if defaults[name] is None:
            assert isinstance(answer, TypeError), name
        else:
            again = dict(faces(family))[name](arrays, defaults[name])
            np.testing.assert_array_equal(answer, again)
    assert isinstance(by_default[f"aclnn{OPERATORS[family]}"], TypeError)


@pytest.mark.parametrize("family", FAMILIES)
def test_section_5_negative_axis(family):
    arrays = problem(family, 2)
    wanted = oracle.answer(OPERATORS[family], arrays, 2)
    for name, answer in ask(family, arrays, -1).items():
        if name.startswith("softmax_"):  # an algorithm of oneDNN's primitive
            assert isinstance(answer, RuntimeError)
            assert answer.status.name == "invalid_arguments"
        else:
            assert oracle.worst(OPERATORS[family], answer, wanted) <= 1, name


def test_section_5_bfloat16_of_the_log_variant():
    """Half-precision answers are one and the same; ONNX Runtime's schemas do not have the type."""
    found = ask("log-softmax-backward", problem("log-softmax-backward", 2, BF16), 2)
    refused = {name for name, answer in found.items() if not isinstance(answer, np.ndarray)}
    assert refused == {"LogSoftmaxGrad", "LogSoftmaxGrad_13"}
    first, *others = (answer for answer in found.values() if isinstance(answer, np.ndarray))
    for other in others:
        np.testing.assert_array_equal(first, other)


@pytest.mark.parametrize("family", FAMILIES)
def test_section_1_5_rows_that_were_only_minus_inf(family):
    """Such a row's forward result is NaN, or zeros with oneDNN Graph's mode inf_as_zero."""
    g, y = problem(family, 2)
    y[0, 1] = np.nan
    for name, answer in ask(family, [g, y], 2).items():
        assert np.isnan(answer[0, 1]).all(), name
        assert np.isfinite(np.delete(answer.reshape(12, 5), 1, axis=0)).all(), name
    if family == "softmax-backward":
        y[0, 1] = 0
        for name, answer in ask(family, [g, y], 2).items():
            assert not answer[0, 1].any(), name
