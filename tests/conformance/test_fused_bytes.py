# SPDX-License-Identifier: Apache-2.0
"""Bytes that are computed by one sum are those of the operations in turn.

The kernels leave out the roundings in between, and the division by the scale, wherever these cannot
decide which byte it is. The wanted value is numpy's: one operation after the other on the float32
softmax, rounded once.
"""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest

from aclnn_native import lib
from aclnn_py.core.extras import Binary, Eltwise, Extras
from support.fused import forward
from support.steps import SAME, F, applied, rounded

ROWS = 24
LINEAR = Eltwise("linear", 1.7, 0.25)
#: Of elements to about 0.9.
PROGRAMS = {
    "scale": (),
    "linear": (LINEAR,),
    "falling": (Eltwise("linear", -1.1, 0.9),),
    "below": (Eltwise("linear", 1.1, -0.4),),
    "add": (Binary("add"),),
    "mul": (Binary("mul"),),
    "linear, add, linear": (LINEAR, Binary("add"), Eltwise("linear", 0.6, -0.01)),
    "linear, mul": (LINEAR, Binary("mul")),
    "mul, linear": (Binary("mul"), Eltwise("linear", 0.8, 0.1)),
    "in memory": (Eltwise("abs"), Eltwise("abs")),
    "in memory, below": (Eltwise("abs"), Eltwise("linear", 1.1, -0.4), Eltwise("abs")),
}
#: One with all bits below the exponent, which look like a fraction.
NANS = np.array([0x7FC00000, 0x7FFFFFFF], np.uint32).view(F)
OPERANDS = {
    "usual": lambda rng, shape: rng.normal(size=shape),
    "positive": lambda rng, shape: rng.uniform(0, 0.5, shape),
    "eighths": lambda rng, shape: rng.integers(0, 5, shape) / 8,
    "large": lambda rng, shape: rng.normal(size=shape) * 1e4,
    # Within the bytes' range but for the last elements.
    "at the end": lambda rng, shape: np.where(
        np.arange(shape[1]) < shape[1] - 64,
        rng.uniform(0.1, 0.2, shape),
        rng.choice([-1.5, 1.5], shape),
    ),
    "special": lambda rng, shape: np.where(
        rng.uniform(size=shape) < 0.02, rng.choice([*NANS, np.inf, -np.inf], shape), 0.3
    ),
}
#: Rows that do not begin with a line have elements before their first one, which are done apart.
WAYS = {
    "as found": {},
    "past the caches": {"last_level": 4096},
    "past the caches, off lines": {"last_level": 4096, "n": 4093},
    "by division": {"vbmi": 0},
}


@pytest.fixture(autouse=True, params=WAYS.values(), ids=WAYS)
def way(request):
    before = lib.aclpy_thread_count()
    assert lib.aclpy_set_thread_count(1) == 0
    lib.aclpy_core_set_vbmi(request.param.get("vbmi", -1))
    lib.aclpy_cache_set_last_level(request.param.get("last_level", 0))
    yield request.param
    lib.aclpy_core_set_vbmi(-1)
    lib.aclpy_cache_set_last_level(0)
    lib.aclpy_set_thread_count(before)


def probabilities(device, stream, x):
    return forward(device, stream, SAME, x, "float32", 1)["dst"]


def check(device, stream, x, plain, program, scale, divisor, target, operand=None):
    places = [k for k, op in enumerate(program) if isinstance(op, Binary)]
    tensors = {f"post_op_{k}_src1": operand for k in places}
    tensors |= {"src_scale": np.array([scale], F), "dst_scale": np.array([divisor], F)}
    extras = Extras(src_scale=True, dst_scale=True, post_ops=program)
    got = forward(device, stream, extras, x, target, 1, **tensors)["dst"]
    with np.errstate(all="ignore"):
        turn = applied(plain, program, scale, [operand] * len(places)) / F(divisor)
    wanted = rounded(turn, target)
    wrong = got != wanted
    assert not wrong.any(), (program, np.argwhere(wrong), got[wrong], wanted[wrong])


@pytest.fixture
def n(way):
    """Columns."""
    return way.get("n", 4096)


@functools.cache
def spread_of(n):
    """Rows of evenly spread probabilities; the last but two have a large one, infinity, NaN."""
    x = np.log(np.random.default_rng(11).uniform(1e-7, 1, (ROWS, n)))
    x[-3, 17], x[-2, 5], x[-1, 70] = 3, np.inf, np.nan
    return x.astype(F)


@pytest.fixture
def spread(n):
    return spread_of(n)


@pytest.mark.parametrize("target", ["uint8", "int8"])
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_every_byte_of_an_even_spread(device, stream, spread, n, program, target):
    plain = probabilities(device, stream, spread)
    whole = [(1, n), *([(ROWS, n), (ROWS, 1)] if program == PROGRAMS["add"] else [])]
    kinds = OPERANDS if any(isinstance(op, Binary) for op in program) else {"positive": None}
    for (number, kind), shape in itertools.product(enumerate(kinds), whole):
        rng = np.random.default_rng(number)
        operand = None if kinds[kind] is None else kinds[kind](rng, shape).astype(F)
        # Some of the range, half of it, all, and beyond.
        for top in (20.0, 130.0, 254.0, 500.0):
            values = (spread, plain, program, 1843.2, 0.9 / top)
            check(device, stream, *values, target, operand)


#: Programs with the probability that comes to t before the scale: of the scale before, the row.
BACK = {
    "scale": ((), lambda t, scale, _: t / scale),
    "linear": ((LINEAR,), lambda t, scale, _: (t - 0.25) / 1.7 / scale),
    "add": ((Binary("add"),), lambda t, scale, row: (t - row) / scale),
    "mul": ((Binary("mul"),), lambda t, scale, row: t / row / scale),
    "memory": ((Eltwise("abs"), Eltwise("abs")), lambda t, scale, _: t / scale),
}


@pytest.mark.parametrize(("program", "back"), BACK.values(), ids=BACK)
@pytest.mark.parametrize("rows", [1, ROWS])
@pytest.mark.parametrize("every", [600, 1])
def test_elements_next_to_halves(device, stream, n, program, back, rows, every):
    """So few that their quads are done in turn, but no row is; or all. The last bits of
    exponentials, sums, products and quotients decide on which side they fall."""
    rng = np.random.default_rng(rows)
    divisor = np.float64(F(0.4))
    wanted = rng.integers(2, 120, (ROWS, n)) + 0.25
    wanted += np.where(np.arange(n) % every == every - 1, 0.25, 0.0)
    operand = rng.uniform(0.4, 0.7, (rows, n)).astype(F)
    # Some elements take what is left, as much each as any other.
    scale = float(F(back(wanted * divisor, 1.0, operand)[:, 64:].sum(axis=1).max() * 1.02))
    p = back(wanted * divisor, scale, operand)
    p[:, :64] = (1 - p[:, 64:].sum(axis=1, keepdims=True)) / 64
    x = np.log(p).astype(F)
    plain = probabilities(device, stream, x)
    for target in ("uint8", "int8"):
        check(device, stream, x, plain, program, scale, divisor, target, operand)


def function(device, stream, x, name, scale, divisor=None):
    tensors = {"src_scale": np.array([scale], F)}
    if divisor is not None:
        tensors["dst_scale"] = np.array([divisor], F)
    extras = Extras(src_scale=True, dst_scale=divisor is not None, post_ops=(Eltwise(name),))
    target = "float32" if divisor is None else "uint8"
    return forward(device, stream, extras, x, target, 1, **tensors)["dst"]


@pytest.mark.parametrize("name", ["exp", "tanh", "gelu_erf", "logistic", "square"])
def test_functions_before_the_scale(device, stream, spread, n, name):
    """Their values are other tests' matter."""
    pairs = np.where(np.arange(n) % 600 == 599, 0.5, 0.0).astype(F)[None].repeat(ROWS, 0)
    for x, scale in itertools.product((spread, pairs, np.zeros_like(pairs)), (1.0, 0.7, 1843.2)):
        values = function(device, stream, x, name, scale)
        # A value of each row lies next to a half.
        for divisor in (0.01, values[0, 599] / F(57.5), values[0, 599] / F(-3)):
            with np.errstate(all="ignore"):
                wanted = rounded(values / F(divisor), "uint8")
            assert np.array_equal(function(device, stream, x, name, scale, divisor), wanted)


@pytest.mark.parametrize("target", ["uint8", "int8"])
def test_halves_and_what_lies_beside_them(device, stream, n, target):
    """Where the roundings in between decide, for whole rows, so that each of them is done in turn;
    among them rows of one large element, at places that the row before must have seen."""
    x = np.zeros((40, n), F)
    for row in range(1, 40):
        if row % 8 > 0:
            x[row, row * 37 % n] = 200.0 if row % 8 < 7 else 4.0
    plain = probabilities(device, stream, x)
    quarter = np.full((1, n), 0.25, F)
    for near in (F(1), np.nextafter(F(1), F(2)), np.nextafter(F(1), F(0))):
        alpha = float(F(n * 13.5) * near)
        check(device, stream, x, plain, (Eltwise("linear", alpha, 0.0),), 1.0, 3.0, target)
        steps = (LINEAR, Binary("add"), Eltwise("linear", float(F(3) * near), 0.0))
        for scale, divisor in ((0.7, 3 / 7), (0.7, 3 / 7 / 40), (1.3, -3 / 7)):
            check(device, stream, x, plain, steps, scale, divisor, target, quarter)
            check(device, stream, x, plain, (Binary("add"),), scale, divisor / 3, target, quarter)


@pytest.mark.parametrize("length", [64, 100, 1000, 2500, 3109])
def test_rows_of_other_lengths(device, stream, length):
    x = np.log(np.random.default_rng(length).uniform(1e-7, 1, (37, length))).astype(F)
    plain = probabilities(device, stream, x)
    row = np.random.default_rng(3).uniform(0, 0.5, (1, length)).astype(F)
    for program in ((), (LINEAR,), (Binary("add"),), (Binary("mul"),)):
        check(device, stream, x, plain, program, 0.45 * length, 0.9 / 254, "uint8", row)
