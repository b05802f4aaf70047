# SPDX-License-Identifier: Apache-2.0
"""Special values; the same bits for any threads, stream and ISA; one rounding for halves."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from aclnn_native import lib
from aclnn_py.core import settings
from aclnn_py.core.isa import supported
from support import oracle
from support.invoke import invoke
from support.problems import OPERATORS, random_inputs

HALVES = [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]
FORWARD_DTYPES = [np.dtype(np.float32), *HALVES, np.dtype(np.float64)]
INF, NAN = np.inf, np.nan
PLACES = {"last": lambda a: (a, 1), "first": lambda a: (np.ascontiguousarray(a.T), 0)}


def dtypes_of(operator):
    return FORWARD_DTYPES if "Backward" not in operator else FORWARD_DTYPES[:3]


EACH = [(operator, dtype) for operator in OPERATORS for dtype in dtypes_of(operator)]
IDS = [f"{operator}-{dtype.name}" for operator, dtype in EACH]

# ---- special values -----------------------------------------------------------------------------

SPECIAL = {
    "large": [1e4, -1e4, 9999.0, 0.0],
    "all large": [1e4, 1e4, 1e4, 1e4],
    "all small": [-1e4, -1e4, -1e4, -1e4],
    "some -inf": [-INF, 1.0, -INF, 2.0],
    "one finite": [-INF, -INF, 5.0, -INF],
    "all -inf": [-INF, -INF, -INF, -INF],
    "NaN": [1.0, NAN, 2.0, 3.0],
    "NaN first": [NAN, 1.0, 2.0, 3.0],
    "NaN last": [0.0, 1.0, 2.0, NAN],
    "+inf": [INF, 1.0, 2.0, 3.0],
    "two +inf": [INF, INF, 2.0, -INF],
    "both inf": [INF, -INF, 0.0, 0.0],
    "subnormal": [1e-40, -1e-40, 3e-45, 0.0],
    "zeros": [0.0, -0.0, 0.0, -0.0],
    "far apart": [0.0, -87.0, -88.5, -104.0],
    "wider apart": [0.0, -709.0, -744.0, -750.0],
}


def special(dtype, repeat):
    """All special rows as one array, each pattern repeated along the row."""
    rows = np.array([pattern * repeat for pattern in SPECIAL.values()])
    with np.errstate(all="ignore"):
        return oracle.cast(
            np.clip(rows, -6e4, 6e4, where=np.isfinite(rows), out=rows.copy()), dtype
        )


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("repeat", [1, 5, 17])
@pytest.mark.parametrize("dtype", FORWARD_DTYPES, ids=lambda d: d.name)
@pytest.mark.parametrize("operator", ["Softmax", "LogSoftmax"])
def test_special_values(device, stream, operator, dtype, repeat, place):
    array, dim = PLACES[place](special(dtype, repeat))
    got, _ = invoke(device, stream, operator, [array], dim)
    expected = oracle.answer(operator, [array], dim)
    rows = np.moveaxis(got, dim, -1)
    wanted = np.moveaxis(expected.value, dim, -1)
    for name, row, want in zip(SPECIAL, rows, wanted, strict=True):
        nan = np.isnan(row.astype(np.float64))
        assert np.array_equal(nan, np.isnan(want.astype(np.float64))), name
    assert oracle.worst(operator, got, expected) <= 1


def test_special_rows_mean_what_they_say():
    """A row of -inf is NaN, NaN and +inf fill their row and no other, large rows stay finite."""
    value = oracle.answer("Softmax", [special(np.dtype(np.float32), 1)], 1).value
    for name, row in zip(SPECIAL, value, strict=True):
        lost = any(word in name for word in ("NaN", "+inf", "all -inf", "both"))
        assert np.isnan(row).all() == lost, name
        assert np.isfinite(row).all() != lost, name


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("n", [7, 64, 100, 700, 4100, 40_000])
@pytest.mark.parametrize("dtype", FORWARD_DTYPES, ids=lambda d: d.name)
def test_the_largest_element_counts_wherever_it_is(device, stream, dtype, n, place):
    """A thousand above the others, at another place in each row: overlooked, it would overflow."""
    count = min(n, 70 if n < 32_768 else 20)
    places = np.arange(count) * (n // count) + np.arange(count) % (n // count)
    calls = 10 if n > 32_768 else 1  # few long rows are done in chunks
    for where in np.array_split(places, calls):
        row = np.arange(len(where))
        x = np.zeros((len(where), n))
        x[row, where] = 1000
        placed, dim = PLACES[place](x.astype(dtype))
        for operator, at, elsewhere in (("Softmax", 1, 0), ("LogSoftmax", 0, -1000)):
            got, _ = invoke(device, stream, operator, [placed], dim)
            got = (got if dim else got.T).astype(np.float64)
            assert np.all(got[row, where] == at)
            got[row, where] = elsewhere
            assert np.all(got == elsewhere), operator


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", FORWARD_DTYPES[:3], ids=lambda d: d.name)
@pytest.mark.parametrize("operator", ["SoftmaxBackward", "LogSoftmaxBackward"])
def test_special_gradients(device, stream, operator, dtype, place):
    """NaN and infinities in a row of g or y stay in that row, wherever in it they stand."""
    n = 37
    gradient, saved = random_inputs(operator, (8, n), dtype, 1)
    for row, (which, value) in enumerate(
        [(0, NAN), (0, INF), (0, -INF), (1, NAN), (1, -INF), (1, 0.0)]
    ):
        (gradient, saved)[which][row, (row * 11) % n] = value
    (g, dim), (y, _) = PLACES[place](gradient), PLACES[place](saved)
    got, _ = invoke(device, stream, operator, [g, y], dim)
    assert oracle.worst(operator, got, oracle.answer(operator, [g, y], dim)) <= 1


#: Beside these, logarithms may take no shorter way: too small, not below 0, no numbers.
BESIDE = [-86.5, -88.5, -104.0, -INF, 0.0, 3.0, INF, NAN]


@pytest.mark.parametrize("layouts", ["contiguous", "transposed"])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", FORWARD_DTYPES[:3], ids=lambda d: d.name)
def test_one_logarithm_beside_others(device, stream, dtype, place, layouts):
    """Whatever it is and wherever in its line it stands, only its own result is another one."""
    n, rows = 640, 64 * len(BESIDE)
    rng = np.random.default_rng(3)
    gradient = rng.uniform(-1, 1, (rows, n)).astype(dtype)
    saved = -rng.uniform(0.1, 80, (rows, n))
    row = np.arange(rows)
    saved[row, row * 7 % n] = np.repeat(BESIDE, 64)
    (g, dim), (y, _) = PLACES[place](gradient), PLACES[place](saved.astype(dtype))
    got, _ = invoke(device, stream, "LogSoftmaxBackward", [g, y], dim, layouts=layouts)
    expected = oracle.answer("LogSoftmaxBackward", [g, y], dim)
    assert oracle.worst("LogSoftmaxBackward", got, expected) <= 1


#: Beside these, exponentials may take no shorter way: too small, 1 exactly, none at all, no number.
BELOW = [-86.2, -88.5, -104.0, -700.0, -750.0, -INF, 0.0, NAN, -NAN]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", FORWARD_DTYPES, ids=lambda d: d.name)
@pytest.mark.parametrize("operator", ["Softmax", "LogSoftmax"])
def test_one_element_beside_others(device, stream, operator, dtype, place):
    """However far below the largest it is, and wherever in its line, every result is right."""
    n, rows = 640, 64 * len(BELOW)
    x = -np.random.default_rng(4).uniform(0.1, 50, (rows, n))
    row = np.arange(rows)
    x[row, row * 5 % n] = 0
    x[row, row * 7 % n] = np.repeat(BELOW, 64)
    placed, dim = PLACES[place](x.astype(dtype))
    got, _ = invoke(device, stream, operator, [placed], dim)
    assert oracle.worst(operator, got, oracle.answer(operator, [placed], dim)) <= 1


@pytest.mark.parametrize("operator", ["Softmax", "LogSoftmax"])
def test_subnormal_results(device, stream, operator):
    """Powers below the smallest normal number come out as subnormals, or as a rounded zero."""
    array = np.array(
        [[0.0, -80.0, -87.0, -87.4, -90.0, -95.0, -100.0, -103.0, -104.5, -200.0]], np.float32
    )
    got, _ = invoke(device, stream, operator, [array], 1)
    exact = oracle.answer(operator, [array], 1).value
    assert np.all(np.abs(got - exact) <= np.maximum(1.2e-6 * np.abs(exact), 3e-45) * 5)


# ---- bits ---------------------------------------------------------------------------------------

BIT_SHAPES = [
    ((64, 1000), 1),
    ((1000, 64), 0),
    ((3, 500, 40), 1),
    ((2, 40_001), 1),
    ((7, 33), 1),
    ((1, 300_000), 1),
]


@pytest.mark.parametrize(("operator", "dtype"), EACH, ids=IDS)
def test_same_bits_for_any_number_of_threads_and_any_stream(device, operator, dtype):
    before = lib.aclpy_thread_count()
    try:
        for shape, dim in BIT_SHAPES:
            arrays = random_inputs(operator, shape, dtype, dim)
            seen = []
            for threads in (1, 2, 3, 5):
                assert lib.aclpy_set_thread_count(threads) == 0
                with settings.override(), device.create_stream() as stream:  # and plan anew
                    seen.append(invoke(device, stream, operator, arrays, dim)[0].tobytes())
            assert len(set(seen)) == 1, shape
    finally:
        lib.aclpy_set_thread_count(before)


@pytest.mark.parametrize("n", [500, 4097, 65_536])
@pytest.mark.parametrize("operator", OPERATORS)
def test_float32_bounds_to_the_letter(device, stream, operator, n):
    """Unit-normal logits and gradients: relative, or 1.2e-7 absolute, whatever cancels."""
    rng = np.random.default_rng(n)
    for shape, dim in (((3, n), 1), ((n, 3), 0)):
        arrays = [rng.standard_normal(shape).astype(np.float32)]
        if "Backward" in operator:
            saved = oracle.answer(operator.removesuffix("Backward"), arrays, dim).value
            arrays = [rng.standard_normal(shape).astype(np.float32), saved.astype(np.float32)]
        got, _ = invoke(device, stream, operator, arrays, dim)
        expected = oracle.answer(operator, arrays, dim)
        assert oracle.worst(operator, got, expected, to_the_letter=True) <= 1


def peaked_rows(n, scale):
    """One probability near 1 in each of 24 rows, at every distance from it; large gradients."""
    rng = np.random.default_rng(n)
    logits = rng.standard_normal((24, n))
    logits[np.arange(24), rng.integers(0, n, 24)] += np.linspace(5, 30, 24)
    return logits.astype(np.float32), (scale * rng.standard_normal((24, n))).astype(np.float32)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("n", [7, 33, 700, 5000])
@pytest.mark.parametrize("isa", supported())
def test_softmax_gradients_of_peaked_rows_to_the_letter(device, stream, isa, n, place):
    """Where y * (g - sum) cancels, the sum's own rounding would be far above 1.2e-7."""
    with settings.override(isa=isa, fallback="error"):
        for scale in (1, 30):
            logits, gradient = peaked_rows(n, scale)
            saved = oracle.answer("Softmax", [logits], 1).value.astype(np.float32)
            (g, dim), (y, _) = PLACES[place](gradient), PLACES[place](saved)
            got, _ = invoke(device, stream, "SoftmaxBackward", [g, y], dim)
            expected = oracle.answer("SoftmaxBackward", [g, y], dim)
            assert oracle.worst("SoftmaxBackward", got, expected, to_the_letter=True) <= 1, scale


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("n", [2, 10, 31, 40, 1000])
@pytest.mark.parametrize("operator", ["SoftmaxBackward", "LogSoftmaxBackward"])
@pytest.mark.parametrize("isa", supported())
def test_gradients_whose_sum_leaves_the_range(device, stream, isa, operator, n, place):
    """As in float32: something finite less infinity, not NaN from what the sum rounds off."""
    g = np.full((20, n), 3e38, np.float32)
    arrays, dim = zip(*(PLACES[place](a) for a in (g, np.full_like(g, 1.0))), strict=True)
    with settings.override(isa=isa, fallback="error"):
        got, _ = invoke(device, stream, operator, list(arrays), dim[0])
    assert np.all(got == -np.inf)


@pytest.mark.parametrize("n", [200, 1024, 3000])
@pytest.mark.parametrize("isa", supported())
def test_softmax_gradients_where_large_products_cancel(device, stream, isa, n):
    """A sum may become huge and small again within its row: nothing of the small terms is lost."""
    rng = np.random.default_rng(n)
    size = np.exp2(np.arange(4, 36, 2)).astype(np.float32)
    g = rng.standard_normal((len(size), n)).astype(np.float32)
    y = rng.uniform(0.5, 1, g.shape).astype(np.float32)
    g[:, 67], g[:, 3 + 64 * (n // 64 - 1)] = size, -size  # the same lane on every ISA
    y[:, 67] = y[:, 3 + 64 * (n // 64 - 1)] = 1
    with settings.override(isa=isa, fallback="error"):
        got, _ = invoke(device, stream, "SoftmaxBackward", [g, y], 1)
    exact = oracle.answer("SoftmaxBackward", [g, y], 1).value
    relative = oracle.RELATIVE["SoftmaxBackward"] * np.abs(exact)
    assert np.all(np.abs(got - exact) <= relative + 1e-5 + 2.0**-40 * size[:, None])


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("scale", [1e3, 1e6, 1e8])
@pytest.mark.parametrize("isa", supported())
def test_softmax_gradients_of_many_rows_to_the_letter(device, stream, isa, scale, place):
    """Among so many, some sums fall to a part of what they were, and meet a gradient besides."""
    rng = np.random.default_rng(6)
    for rows, n in ((60_000, 6), (3000, 100), (400, 1000)):
        logits = (3 * rng.standard_normal((rows, n))).astype(np.float32)
        g = (scale * rng.standard_normal((rows, n))).astype(np.float32)
        y = oracle.answer("Softmax", [logits], 1).value.astype(np.float32)
        (g, dim), (y, _) = PLACES[place](g), PLACES[place](y)
        with settings.override(isa=isa, fallback="error"):
            got, _ = invoke(device, stream, "SoftmaxBackward", [g, y], dim)
        expected = oracle.answer("SoftmaxBackward", [g, y], dim)
        assert oracle.worst("SoftmaxBackward", got, expected, to_the_letter=True) <= 1, n


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("scale", [10, 1e3, 1e5, 1e6])
@pytest.mark.parametrize("isa", supported())
def test_softmax_gradients_near_one_number_to_the_letter(device, stream, isa, scale, place):
    """Thousands of small products must be as good as the large one beside them: what they make of
    the sum cancels with the gradient."""
    for rows, n in ((200, 1000), (32, 4096), (8, 65_536)):
        for spread in (0.0, 1e-4):
            rng = np.random.default_rng(n)
            y = rng.exponential(1, (rows, n))
            y[:, 5] = 0
            peak = rng.choice([0.5, 0.9, 0.999], (rows, 1))
            y *= (1 - peak) / y.sum(1, keepdims=True)
            y[:, 5] = peak[:, 0]
            near = scale * (1 + spread * rng.standard_normal(y.shape))
            (g, dim), (y, _) = (PLACES[place](a.astype(np.float32)) for a in (near, y))
            with settings.override(isa=isa, fallback="error"):
                got, _ = invoke(device, stream, "SoftmaxBackward", [g, y], dim)
            expected = oracle.answer("SoftmaxBackward", [g, y], dim)
            assert oracle.worst("SoftmaxBackward", got, expected, to_the_letter=True) <= 1, n


@pytest.mark.parametrize("isa", supported())
def test_gradients_of_log_softmax_that_cancel(device, stream, isa):
    """Rows of two, the first of which is all but exp(y) times the sum."""
    rng = np.random.default_rng(11)
    y = np.stack([rng.uniform(-20, -0.1, 200_000), np.full(200_000, -30.0)], 1).astype(np.float32)
    large = rng.uniform(1e6, 2e6, len(y))
    first = large * np.exp(y[:, 0].astype(np.float64)) / -np.expm1(y[:, 0].astype(np.float64))
    g = np.stack([first, large], 1).astype(np.float32)
    with settings.override(isa=isa, fallback="error"):
        got, _ = invoke(device, stream, "LogSoftmaxBackward", [g, y], 1)
    term = np.exp(y.astype(np.float64)) * g.astype(np.float64).sum(1, keepdims=True)
    unit = 1.6e-7 if isa == "baseline" else 1.2e-7
    exact = g - term
    bound = np.maximum(2.4e-5 * np.abs(exact), unit * np.maximum(1, np.abs(term)))
    assert np.all(np.abs(got - exact) <= bound)
    assert np.median(np.abs(exact[:, 0]) / term[:, 0]) < 1e-6


@pytest.mark.parametrize("isa", supported())
@pytest.mark.parametrize("scale", [1e-30, 1e-6, 1e-3, 1e5, 1e20])
def test_softmax_gradients_of_any_size(device, stream, isa, scale):
    """Peaked rows in units of the gradient: small and large ones are as good as those around 1."""
    for n in (33, 700, 5000):
        logits, g = peaked_rows(n, scale)
        y = oracle.answer("Softmax", [logits], 1).value.astype(np.float32)
        with settings.override(isa=isa, fallback="error"):
            got, _ = invoke(device, stream, "SoftmaxBackward", [g, y], 1)
        exact = oracle.answer("SoftmaxBackward", [g, y], 1).value
        relative = oracle.RELATIVE["SoftmaxBackward"] * np.abs(exact)
        assert np.all(np.abs(got - exact) <= np.maximum(relative, 1e-6 * scale)), n


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("n", [7, 33, 700, 5000])
@pytest.mark.parametrize("isa", supported())
def test_log_softmax_gradients_of_peaked_rows(device, stream, isa, n, place):
    """As above, but exp(y) is a float: its rounding stays, in units of exp(y) * sum(g)."""
    with settings.override(isa=isa, fallback="error"):
        logits, g = peaked_rows(n, 1)
        y = oracle.answer("LogSoftmax", [logits], 1).value.astype(np.float32)
        (g, dim), (y, _) = PLACES[place](g), PLACES[place](y)
        got, _ = invoke(device, stream, "LogSoftmaxBackward", [g, y], dim)
        exact = oracle.answer("LogSoftmaxBackward", [g, y], dim).value
        taken = np.abs(g - exact)
        floor = oracle.ABSOLUTE * np.maximum(1, np.minimum(taken, np.abs(g)))
        bound = np.maximum(oracle.RELATIVE["LogSoftmaxBackward"] * np.abs(exact), floor)
        assert np.all(np.abs(got - exact) <= bound)


@pytest.mark.parametrize("dtype", HALVES, ids=lambda d: d.name)
@pytest.mark.parametrize("operator", OPERATORS)
def test_halves_are_the_float32_kernel_rounded_once(device, stream, operator, dtype):
    for shape, dim in (
        ((9, 77), 1),
        ((77, 9), 0),
        ((4, 60, 21), 1),
        ((3, 5000), 1),
        ((300, 17), 0),
    ):
        arrays = random_inputs(operator, shape, dtype, dim)
        got, _ = invoke(device, stream, operator, arrays, dim)
        wide, _ = invoke(device, stream, operator, [a.astype(np.float32) for a in arrays], dim)
        assert oracle.same_bits(got, oracle.cast(wide, dtype)), shape


@pytest.mark.parametrize("isa", supported())
@pytest.mark.parametrize(("operator", "dtype"), EACH, ids=IDS)
def test_every_isa_holds_the_bounds(device, stream, operator, dtype, isa):
    with settings.override(isa=isa, fallback="error"):
        for shape, dim in (
            ((5, 1), 1),
            ((3, 17), 1),
            ((4, 129), 1),
            ((2, 1025), 1),
            ((19, 33), 0),
            ((2, 40, 47), 1),
        ):
            arrays = random_inputs(operator, shape, dtype, dim)
            got, _ = invoke(device, stream, operator, arrays, dim)
            expected = oracle.answer(operator, arrays, dim)
            letter = operator != "LogSoftmaxBackward"
            assert oracle.worst(operator, got, expected, to_the_letter=letter) <= 1, shape


@pytest.mark.parametrize("isa", supported())
def test_every_isa_casts_alike(device, stream, isa):
    gradient = np.array(
        [[NAN, INF, -INF, 1e20, -1e20, 2.5, -2.5, 0.0, 300.0, -0.5, 1e-42, 7e4, 3.4e38]] * 3,
        np.float32,
    )
    saved = np.full(gradient.shape, -INF, np.float32)
    targets = [
        "float16", "bfloat16", "float64", "bool", "int8", "int16", "int32", "int64", "uint8",
        "uint16", "uint32", "uint64", "complex64", "complex128",
    ]  # fmt: skip
    with settings.override(isa=isa, fallback="error"):
        # One NaN would fill a row: rows of one element keep the values apart.
        column, zeros = gradient[:1].T.copy(), saved[:1].T.copy()
        plain, _ = invoke(device, stream, "LogSoftmaxBackward", [column, zeros], 1)
        for target in targets:
            got, _ = invoke(
                device, stream, "LogSoftmaxBackward", [column, zeros], 1, out_dtype=np.dtype(target)
            )
            assert oracle.same_bits(got, oracle.cast(plain, np.dtype(target))), target
