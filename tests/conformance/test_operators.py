# SPDX-License-Identifier: Apache-2.0
"""Every operator of the registry x dtype x axis x layout x edge row length, against the oracle.

The cases come from the specs; the expected values come from support/oracle.py, which knows no spec.
"""

from __future__ import annotations

import pytest

from aclnn_py.core.dtype import by_name
from aclnn_py.core.soc import SOC_PROFILES
from aclnn_py.twophase import operators
from support import oracle
from support.invoke import execute, invoke
from support.layouts import LAYOUTS, OUT_LAYOUTS, Placed, layout
from support.problems import random_inputs

ROWS = (1, 2, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 255, 1023, 1025, 4097)
SHAPES = {  # where the reduced axis of length n lies
    "last": (lambda n: (3, 2, n), -1),
    "middle": (lambda n: (2, n, 5), 1),
    "first": (lambda n: (n, 3), 0),
    "only": (lambda n: (n,), 0),
}
INNER = (1, 7, 8, 15, 16, 17, 31, 32, 33, 47, 48, 65, 130)
PROFILE = SOC_PROFILES["Ascend910B"]


def dtypes(spec):
    return [by_name[name].numpy for name in spec.tensors[0].dtypes_on(PROFILE)]


CASES = [(name, dtype) for name, spec in operators.items() for dtype in dtypes(spec)]
IDS = [f"{name}-{dtype.name}" for name, dtype in CASES]


def test_every_operator_has_an_oracle():
    assert set(operators) == set(oracle.FORMULAS)


def _assert_within(operator, got, arrays, dim, case):
    error = oracle.worst(operator, got, oracle.answer(operator, arrays, dim))
    assert error <= 1, f"{case}: error is {error:.3g} times its bound"


@pytest.mark.parametrize("axis", SHAPES)
@pytest.mark.parametrize(("operator", "dtype"), CASES, ids=IDS)
def test_row_lengths(device, stream, operator, dtype, axis):
    shape_of, dim = SHAPES[axis]
    for n in ROWS:
        arrays = random_inputs(operator, shape_of(n), dtype, dim, seed=n)
        got, seen = invoke(device, stream, operator, arrays, dim)
        _assert_within(operator, got, seen, dim, f"n={n}")


@pytest.mark.parametrize(("operator", "dtype"), CASES, ids=IDS)
def test_inner_widths(device, stream, operator, dtype):
    for inner in INNER:
        for n in (1, 3, 19, 70):
            arrays = random_inputs(operator, (2, n, inner), dtype, 1, seed=inner)
            got, seen = invoke(device, stream, operator, arrays, -2)
            _assert_within(operator, got, seen, 1, f"n={n}, inner={inner}")


@pytest.mark.parametrize("inputs", LAYOUTS)
@pytest.mark.parametrize(("operator", "dtype"), CASES, ids=IDS)
def test_layouts(device, stream, operator, dtype, inputs):
    """Every input layout with every output layout; the views' surroundings stay as they were."""
    for out in OUT_LAYOUTS:
        for shape, dim in (((4, 17), 1), ((5, 3, 9), 1), ((33, 2), 0), ((2, 3, 1, 8), -1)):
            arrays = random_inputs(operator, shape, dtype, dim, seed=len(out))
            got, seen = invoke(
                device, stream, operator, arrays, dim, layouts=inputs, out_layout=out
            )
            _assert_within(operator, got, seen, dim, f"{shape} {inputs} -> {out}")


@pytest.mark.parametrize(
    ("operator", "dtype"), [case for case in CASES if len(operators[case[0]].tensors) == 3]
)
def test_mixed_layouts_of_two_inputs(device, stream, operator, dtype):
    for first in LAYOUTS:
        for second in LAYOUTS:
            arrays = random_inputs(operator, (6, 10), dtype, 1)
            got, seen = invoke(
                device, stream, operator, arrays, 1, layouts=(first, second), out_layout="padded"
            )
            _assert_within(operator, got, seen, 1, f"{first}, {second}")


@pytest.mark.parametrize("where", ["first input", "last input"])
@pytest.mark.parametrize("name", [name for name in LAYOUTS if name != "broadcast"])
@pytest.mark.parametrize(("operator", "dtype"), CASES, ids=IDS)
def test_in_place(device, stream, operator, dtype, name, where):
    position = 0 if where == "first input" else -1
    for shape, dim in (((5, 64), 1), ((70, 3), 0), ((2, 9, 17), 1), ((3, 1025), -1)):
        arrays = random_inputs(operator, shape, dtype, dim)
        placed = [Placed(device, layout(name, a.shape), a.dtype, a) for a in arrays]
        target = placed[position]
        execute(device, stream, operator, [*(p.tensor for p in placed), target.tensor], dim)
        _assert_within(operator, target.read(), arrays, dim, f"{shape} {name}")


@pytest.mark.parametrize(("operator", "dtype"), CASES, ids=IDS)
def test_negative_dim_is_the_same_axis(device, stream, operator, dtype):
    arrays = random_inputs(operator, (3, 4, 5), dtype, 0)
    for dim in range(3):
        positive, _ = invoke(device, stream, operator, arrays, dim)
        negative, _ = invoke(device, stream, operator, arrays, dim - 3)
        assert oracle.same_bits(positive, negative)


@pytest.mark.parametrize(("operator", "dtype"), CASES, ids=IDS)
@pytest.mark.parametrize(
    "shape", [(), (1,), (1, 1), (1, 1, 1, 2, 1, 1, 1, 3), (2, 1, 2, 1, 2, 1, 2, 3)]
)
def test_ranks(device, stream, operator, dtype, shape):
    for dim in {0, -1, len(shape) // 2, -len(shape)} if shape else (0, -1):
        arrays = random_inputs(operator, shape or (1,), dtype, min(dim, 0) if not shape else dim)
        arrays = [array.reshape(shape) for array in arrays]
        got, _ = invoke(device, stream, operator, arrays, dim)
        _assert_within(operator, got, arrays, dim, f"{shape} dim {dim}")


@pytest.mark.parametrize(("operator", "dtype"), CASES, ids=IDS)
def test_long_rows(device, stream, operator, dtype):
    for n in (65_536, 65_535):
        for shape, dim in (((2, n), 1), ((n, 2), 0)):
            arrays = random_inputs(operator, shape, dtype, dim, seed=3)
            got, _ = invoke(device, stream, operator, arrays, dim)
            _assert_within(operator, got, arrays, dim, f"{shape}")
