# SPDX-License-Identifier: Apache-2.0
"""The oracle itself, against hand-made numbers: a wrong one would prove nothing."""

from __future__ import annotations

import ml_dtypes
import mpmath
import numpy as np
import pytest

from support import oracle

INF, NAN = float("inf"), float("nan")
BF16 = np.dtype(ml_dtypes.bfloat16)


def test_formulas_on_numbers_worked_out_by_hand():
    row = np.log(np.array([1.0, 2.0, 5.0]))
    np.testing.assert_allclose(oracle.softmax(row, 0).value, [0.125, 0.25, 0.625], rtol=1e-15)
    np.testing.assert_allclose(
        oracle.log_softmax(row, 0).value, np.log([0.125, 0.25, 0.625]), rtol=1e-15
    )
    g, y = np.array([1.0, 2.0, 4.0]), np.array([0.5, 0.25, 0.25])
    np.testing.assert_allclose(oracle.softmax_backward(g, y, 0).value, [-0.5, 0.0, 0.5], rtol=1e-15)
    got = oracle.log_softmax_backward(g, np.log(y), 0).value
    np.testing.assert_allclose(got, [1 - 3.5, 2 - 1.75, 4 - 1.75], rtol=1e-15)


@pytest.mark.parametrize("operator", oracle.FORMULAS)
def test_long_double_agrees_with_120_bits(operator, monkeypatch):
    rng = np.random.default_rng(0)
    inputs = [rng.normal(size=(3, 40)), np.log(rng.dirichlet(np.ones(40), 3))][
        : 1 + ("Backward" in operator)
    ]
    here = oracle.answer(operator, inputs, 1)
    monkeypatch.setattr(oracle, "LONG_DOUBLE_IS_WIDE", False)
    there = oracle.answer(operator, inputs, 1)
    exact = np.vectorize(
        lambda a, b: float(mpmath.mpf(np.format_float_positional(a, 25)) - b), otypes=[float]
    )
    scale = np.abs(there.value.astype(float)) + there.largest_term.astype(float)
    assert (np.abs(exact(here.value, there.value)) / scale).max() < 1e-17


# fmt: off
CASTS = [
    # float -> integer: truncate, saturate, NaN -> 0
    ("int8", [1.9, -1.9, 127.9, 128.0, -128.9, -129.0, INF, -INF, NAN, -0.0],
     [1, -1, 127, 127, -128, -128, 127, -128, 0, 0]),
    ("uint8", [0.9, -0.9, -1.0, 255.9, 256.0, INF, -INF, NAN], [0, 0, 0, 255, 255, 255, 0, 0]),
    ("int64", [9.3e18, -9.3e18, 2.5, NAN], [2**63 - 1, -(2**63), 2, 0]),
    ("uint64", [1.9e19, -1.0, 1.5e19], [2**64 - 1, 0, 15000000000000000000]),
    # -> bool: anything but zero, NaN included
    ("bool", [0.0, -0.0, 1e-300, -3.0, NAN, INF], [False, False, True, True, True, True]),
    # -> complex: no imaginary part
    ("complex128", [1.5, -2.0], [1.5 + 0j, -2.0 + 0j]),
    # -> half: nearest, ties to even, overflow to infinity
    ("float16", [1 + 2**-11, 1 + 3 * 2**-11, 65519.9, 65520.0, 2**-25, 2**-24],
     [1, 1 + 2**-9, 65504, INF, 0, 2**-24]),
]
# fmt: on


@pytest.mark.parametrize(("target", "values", "expected"), CASTS, ids=[row[0] for row in CASTS])
def test_cast_rules(target, values, expected):
    got = oracle.cast(np.array(values), np.dtype(target))
    assert got.dtype == np.dtype(target)
    assert got.tolist() == expected


def test_bfloat16_is_rounded_once_to_nearest_even():
    half = 2.0**-8  # half a unit of bfloat16 at 1
    values = np.array(
        [1 + half, 1 + 3 * half, 1 + half + 2.0**-40, 1 + half - 2.0**-40, 3.4e38, NAN, -INF]
    )
    got = oracle.cast(values, BF16).astype(np.float64)
    assert got[:4].tolist() == [1.0, 1 + 4 * half, 1 + 2 * half, 1.0]
    assert got[4] == INF
    assert np.isnan(got[5])
    assert got[6] == -INF


def test_bfloat16_rounding_agrees_with_the_library_on_every_float32_pattern_of_interest():
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 2**32, 200_000, dtype=np.uint64).astype(np.uint32)
    bits[:1000] = (bits[:1000] & 0xFFFF0000) | 0x8000
    values = bits.view(np.float32)
    with np.errstate(all="ignore"):
        assert oracle.same_bits(oracle.cast(values, BF16), values.astype(BF16))


def test_a_0d_array_is_cast_like_any_other():
    for target in ("bfloat16", "float16", "int8", "bool", "complex64"):
        one = oracle.cast(np.array([1 / 3]), np.dtype(target))
        assert oracle.same_bits(oracle.cast(np.array(1 / 3), np.dtype(target)), one.reshape(()))


def test_worst_counts_what_it_should():
    exact = oracle.Answer(np.array([0.5, 0.0]), np.array([0.5, 0.5]))
    at = lambda *v: oracle.worst("Softmax", np.array(v, np.float32), exact)  # noqa: E731
    assert at(0.5, 0.0) == 0
    assert at(0.5, 1.1e-7) < 1 < at(0.5, 1.3e-7)
    assert at(0.5 + 5e-7, 0) < 1 < at(0.5 + 7e-7, 0)
    assert at(NAN, 0) == INF
    assert at(INF, 0) == INF
    one_ulp = np.nextafter(np.float16(0.5), np.float16(1))
    assert oracle.worst("Softmax", np.array([one_ulp, 0], np.float16), exact) == 1
    two_ulps = np.nextafter(one_ulp, np.float16(1))
    assert oracle.worst("Softmax", np.array([two_ulps, 0], np.float16), exact) == 2
    assert oracle.worst("Softmax", np.array([0.5, 1.1e-7], np.float16), exact) == 0
    negative_zero = np.array([0.5, -0.0], np.float16)
    assert oracle.worst("Softmax", negative_zero, exact) == 0


def test_same_bits_tells_signs_of_zero_but_not_kinds_of_nan():
    one = np.array([0.0, NAN], np.float32)
    other = one.copy()
    other.view(np.uint32)[1] ^= 0x80000001
    assert oracle.same_bits(one, other)
    other[0] = -0.0
    assert not oracle.same_bits(one, other)
