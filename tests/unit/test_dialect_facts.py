# SPDX-License-Identifier: Apache-2.0
"""What dialects declare of themselves (section 5) is what they do."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from aclnn_py.dialects import facts, facts_onednn
from aclnn_py.twophase import operators
from support import oracle
from support.dialects import CALLS, OPERATORS

COLUMNS = [column for family in facts.FAMILIES for column in facts.columns(family)]
BUILT = [column for column in COLUMNS if column.dialect in CALLS]
NAMES = {
    "f32": np.float32, "f16": np.float16, "f64": np.float64, "bf16": ml_dtypes.bfloat16,
}  # fmt: skip
SHAPE = (3, 4, 5)


def label(column):
    return f"{column.dialect}-{column.family}".replace(" ", "_")


def entries():
    return [
        pytest.param(column, entry, id=f"{label(column)}-{entry}")
        for column in BUILT
        for entry in column.axis_defaults
    ]


def arrays_of(family, dtype=np.float32, shape=SHAPE):
    random = np.random.default_rng(3)
    arrays = [random.standard_normal(shape)]
    if family.endswith("backward"):
        arrays.append(random.dirichlet(np.ones(shape[-1]), shape[:-1]))
        if family.startswith("log"):
            arrays[1] = np.log(arrays[1])
    return [array.astype(dtype) for array in arrays]


def call(column, entry, *axis, dtype=np.float32, who=None, arrays=None):
    arrays = arrays_of(column.family, dtype) if arrays is None else arrays
    chosen = next(iter(column.dtypes)) if who is None else who
    return CALLS[column.dialect](column.family, entry, chosen, arrays, *axis)


def coerced(column, entry):
    """Whether the column says that this entry point cuts the tensor into a matrix."""
    return "matrix" in column.axis_semantics and f"{entry}: single" not in column.axis_semantics


# ---- the axis -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("column", "entry"), entries())
def test_section_5_axis_default(column, entry):
    default = column.axis_defaults[entry]
    if default is None:
        with pytest.raises(TypeError):
            call(column, entry)
        return
    left_out, given = call(column, entry), call(column, entry, default)
    np.testing.assert_array_equal(left_out, given)
    assert not np.array_equal(left_out, call(column, entry, 0))


@pytest.mark.parametrize(("column", "entry"), entries())
def test_section_5_negative_axis(column, entry):
    if column.negative_axis:
        np.testing.assert_array_equal(call(column, entry, -1), call(column, entry, 2))
        return
    with pytest.raises(RuntimeError, match="axis"):
        call(column, entry, -1)


@pytest.mark.parametrize(("column", "entry"), entries())
def test_section_5_axis_out_of_range(column, entry):
    for axis in (4, -4):  # version 1 of ONNX also takes the rank itself
        with pytest.raises(RuntimeError):
            call(column, entry, axis)


@pytest.mark.parametrize(("column", "entry"), entries())
def test_section_5_axis_semantics(column, entry):
    arrays = arrays_of(column.family)
    rows = [array.reshape(3, 20) for array in arrays]
    wanted = (
        oracle.answer(OPERATORS[column.family], rows, 1).value.reshape(SHAPE)
        if coerced(column, entry)
        else oracle.answer(OPERATORS[column.family], arrays, 1).value
    )
    np.testing.assert_allclose(call(column, entry, 1), wanted, rtol=3e-5, atol=2e-6)


# ---- element types ------------------------------------------------------------------------------


def type_cases():
    for column in BUILT:
        for entry in column.axis_defaults:
            for who in column.dtypes:
                runs_here = column.dialect != "oneDNN primitive" or who == "CPU"
                versions = column.dialect == "ONNX" and who != entry
                if runs_here and not versions:
                    for name in NAMES:
                        yield pytest.param(
                            column, entry, who, name, id=f"{label(column)}-{entry}-{who}-{name}"
                        )


@pytest.mark.parametrize(("column", "entry", "who", "name"), list(type_cases()))
def test_section_5_dtypes(column, entry, who, name):
    falls_back = entry == "SoftmaxGrad"  # has a function body: runs in every type of its schema
    if name in column.dtypes[who] or falls_back:
        got = call(column, entry, 2, dtype=NAMES[name], who=who)
        assert got.dtype == NAMES[name]
        return
    with pytest.raises(RuntimeError):
        call(column, entry, 2, dtype=NAMES[name], who=who)


def test_section_5_bf16_log_gradient():
    """Who takes bfloat16 in the gradient of log-softmax: all but ONNX Runtime."""
    taken = {
        column.dialect: any("bf16" in names for names in column.dtypes.values())
        for column in facts.columns("log-softmax-backward")
    }
    assert taken == {
        "aclnn": True, "oneDNN primitive": True, "oneDNN Graph": True, "ONNX Runtime": False,
    }  # fmt: skip


# ---- the other rows -----------------------------------------------------------------------------


@pytest.mark.parametrize(("column", "entry"), entries())
def test_section_5_empties(column, entry):
    assert "success" in column.empties or "empty" in column.empties
    empty = [np.ones((2, 0, 3), np.float32) for _ in arrays_of(column.family)]
    assert call(column, entry, 2, arrays=empty).shape == (2, 0, 3)


@pytest.mark.parametrize(("column", "entry"), entries())
def test_section_5_inputs_that_differ(column, entry):
    arrays = arrays_of(column.family)
    if len(arrays) == 1:
        assert column.same_dtype == "one input"
        return
    assert column.same_dtype.startswith("required")
    if column.dialect == "oneDNN primitive":  # its descriptors say the type; see its own tests
        return
    arrays[1] = arrays[1].astype(np.float16)
    with pytest.raises(RuntimeError):
        call(column, entry, 2, arrays=arrays)
    arrays[1] = np.ones((3, 4), np.float32)
    with pytest.raises(RuntimeError):
        call(column, entry, 1, arrays=arrays)


@pytest.mark.parametrize(("column", "entry"), entries())
def test_section_1_5_row_of_only_minus_inf(column, entry):
    if column.family.endswith("backward"):
        assert not column.minus_inf_row
        return
    x = np.array([[-np.inf, -np.inf], [0.0, 1.0]], np.float32)
    got = call(column, entry, 1, arrays=[x])
    assert column.minus_inf_row.startswith("NaN")
    assert np.isnan(got[0]).all()
    assert np.isfinite(got[1]).all()


def test_names_are_those_of_the_specs():
    for column in COLUMNS:
        if column.dialect == "aclnn":
            spec = operators[OPERATORS[column.family]]
            assert (*column.inputs, column.output) == tuple(one.name for one in spec.tensors)
    ort = facts.columns("log-softmax-backward")[-1]
    assert ort.inputs == ("dY", "X (the forward result)")


def test_what_exists_is_called():
    """A dialect that can be imported has its column held to its behaviour."""
    found = {
        "oneDNN primitive": facts_onednn.READ_FROM_CODE,
        "aclnn": True, "oneDNN Graph": True, "ONNX": True, "ONNX Runtime": True,
    }  # fmt: skip
    assert {name for name, there in found.items() if there} == set(CALLS)


def test_documented_types_of_the_primitive_are_those_of_its_code():
    """The fallback of a build without the primitive says the same as the primitive."""
    if not facts_onednn.READ_FROM_CODE:
        assert facts_onednn._by_engine("given") is facts_onednn._DOCUMENTED["given"]
        return
    for field, documented in facts_onednn._DOCUMENTED.items():
        read = facts_onednn._by_engine(field)
        assert {kind: set(names) for kind, names in read.items()} == {
            kind: set(names) for kind, names in documented.items()
        }, field


# ---- the table ----------------------------------------------------------------------------------

SECTION_5 = [
    "entry points", "inputs, in order", "output", "axis name, type", "axis default", "axis range",
    "axis semantics", "dtypes", "inputs same dtype", "output dtype", "shapes", "in-place", "layout",
    "extras", "workspace", "error style", "empties",
]  # fmt: skip


@pytest.mark.parametrize("family", facts.FAMILIES)
def test_section_5_every_row_and_column_is_filled(family):
    heads, *rows = facts.table(family)
    last = "ONNX Runtime" if family.endswith("backward") else "ONNX"
    assert heads == ["", "aclnn", "oneDNN primitive", "oneDNN Graph", last]
    titles = [row[0] for row in rows]
    assert [title for title in SECTION_5 if title not in titles] == []
    assert not [(row[0], column) for row in rows for column in range(1, 5) if not row[column]]


def test_section_5_axis_defaults_side_by_side():
    rows = {row[0]: row[1:] for row in facts.table("softmax-backward")}
    assert rows["axis default"] == [
        "none (mandatory)", "none (mandatory)", "1", "1 (SoftmaxGrad), -1 (SoftmaxGrad_13)",
    ]  # fmt: skip
    log = {row[0]: row[1:] for row in facts.table("log-softmax-backward")}
    assert log["axis default"][2:] == ["-1", "1 (LogSoftmaxGrad), -1 (LogSoftmaxGrad_13)"]
    forward = {row[0]: row[1:] for row in facts.table("softmax")}
    assert forward["axis default"][2:] == ["1", "1 (version 1), 1 (version 11), -1 (version 13)"]


def test_an_unknown_family():
    with pytest.raises(KeyError, match="softmin"):
        facts.columns("softmin")
