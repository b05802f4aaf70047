# SPDX-License-Identifier: Apache-2.0
"""Operations that the kernels leave out, merge or move keep every bit of what was asked for.

The wanted value is numpy's: one operation after the other on the float32 softmax, rounded once.
"""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

from aclnn_native import lib
from aclnn_py.core import settings
from aclnn_py.core.extras import Binary, Eltwise, Extras
from aclnn_py.core.isa import supported
from support.fused import forward
from support.steps import (
    ROWS,
    SAME,
    applied,
    assert_same,
    assert_wanted,
    bits,
    digest,
    fuses_on,
    rounded,
)

F = np.float32
ISAS = supported()
#: Whole quads of lines, whole lines, and neither: what is behind the last quad is more than what is
#: before the first line, or less, and exponentials of that one wait in one row, too. Short ones, a
#: group of rows at a time: whole, and not.
SHAPES = [(14, 4160), (14, 192), (14, 1253), (14, 3077), (43, 64), (43, 20), (45, 100), (14, 201)]
PROGRAMS = [
    (), (Eltwise("relu"),), (Eltwise("relu", 0.5),), (Eltwise("relu", -1.0),),
    (Eltwise("clip", 0.0, 0.5),), (Eltwise("clip", 0.001, 0.5),),
    (Eltwise("clip", -1.0, 1e-30),), (Eltwise("linear", 2.0, 0.25),),
    (Eltwise("linear", 3.0, -1.0),),
    (Eltwise("linear", 4.0, float("nan")),), (Eltwise("linear", 0.5, 1e-40),),
    (Binary("add"),), (Binary("mul"),), (Binary("add"), Binary("mul")),
    (Binary("mul"), Eltwise("relu"), Eltwise("clip", 0.0, 100.0)),
    (Eltwise("linear", 2.0, 1.0), Eltwise("clip", 0.0, 1.5), Eltwise("relu")),
    (Eltwise("square"), Eltwise("linear", 2.0, 0.0), Eltwise("relu")),
    (Binary("sub"), Eltwise("relu"), Binary("max")), (Eltwise("exp"), Eltwise("clip", 0.0, 1.0)),
    (Eltwise("square"),), (Eltwise("abs"), Binary("add")),
    (Eltwise("linear", 1.0, 0.25),), (Eltwise("linear", 1.0, 2.0**-30),),
    (Eltwise("linear", 1.1, 0.01),) * 9,
    (Binary("gt"), Eltwise("linear", 0.3, 7.0)),
]  # fmt: skip
#: Each program with rows of one sort; one operation, which has a loop of its own, with each sort,
#: or with some where it shares that.
CASES = (
    [(program, list(ROWS)[k % len(ROWS)]) for k, program in enumerate(PROGRAMS)]
    + [((Binary(name),), kind) for name in ("add", "mul") for kind in ROWS]
    + [((Binary(name),), kind) for name in ("sub", "div", "max") for kind in ("sparse", "special")]
    + [
        ((*before, Binary("div")), "one value")
        for before in ((), (Eltwise("clip", 0.0, 0.3),), (Eltwise("abs"),))
    ]
)


@pytest.fixture(autouse=True)
def one_thread():
    """Rows follow each other in one launch: what one asks for or keeps, the next one uses."""
    before = lib.aclpy_thread_count()
    assert lib.aclpy_set_thread_count(1) == 0
    yield
    lib.aclpy_set_thread_count(before)


BEST = ISAS[-1]
#: Each ISA on the core that this machine has; the last one, the best, on those of other kinds, with
#: results past the caches, and where nothing rounds to bfloat16 by itself, too.
WAYS = {name: {"isa": name} for name in ISAS} | {
    f"{BEST}-core{kind}": {"isa": BEST, "kind": kind}
    for kind in range(lib.ACLPY_CORES)
    if kind != lib.aclpy_core_kind()
}
WAYS |= {
    f"{BEST}-past": {"isa": BEST, "last_level": 4096},
    f"{BEST}-older": {"isa": BEST, "bf16": 0, "vbmi": 0},
}


#: Other shapes are the same to cores and caches.
PAIRS = [
    pytest.param(way, shape, id=f"{name}-{shape}")
    for name, way in WAYS.items()
    for shape in (SHAPES if name in ISAS else (SHAPES[0], (14, 3077), (45, 100)))
]
every_way = pytest.mark.parametrize("isa", WAYS.values(), ids=WAYS, indirect=True)
every_shape = pytest.mark.parametrize(("isa", "shape"), PAIRS, indirect=["isa"])


@pytest.fixture
def isa(request):
    way = request.param
    lib.aclpy_core_set_kind(way.get("kind", -1))
    lib.aclpy_core_set_bf16(way.get("bf16", -1))
    lib.aclpy_core_set_vbmi(way.get("vbmi", -1))
    lib.aclpy_cache_set_last_level(way.get("last_level", 0))
    with settings.override(isa=way["isa"], fallback="error"):
        yield way["isa"]
    lib.aclpy_core_set_kind(-1)
    lib.aclpy_core_set_bf16(-1)
    lib.aclpy_core_set_vbmi(-1)
    lib.aclpy_cache_set_last_level(0)


def source(shape, dtype):
    """Rows of like elements, of unlike ones (results underflow), with a large one, special; the
    last ones are like each other, their largest first, last, and about the last whole quad."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=shape)
    x[1:9:4] *= 40
    x[2::4, 7] = 9
    x[3, 5], x[7, 3], x[7, 4] = np.nan, np.inf, -np.inf
    x[9] = -np.inf
    n = shape[1]
    for row in range(10, shape[0]):
        x[row, (n - 1, 0, n // 64 * 64 - 1)[row % 3]] = 10
    return x.astype(dtype)


#: Of the source, and what results to bytes are divided by.
SCALES = [(8.0, 1 / 128), (1.0, 1 / 255), (0.3, 1 / 2), (2.0**40, 2.0**-60)]


def shared_out(scales, shape, number):
    """All for the first shape; the others take turns, every second each, by program."""
    first = shape == SHAPES[0]
    return scales if first else scales[(SHAPES.index(shape) + number) % 2 :: 2]


@every_shape
@pytest.mark.parametrize(
    ("origin", "target"),
    [("float32", "float32"), ("bfloat16", "bfloat16"), ("float32", "uint8"), ("float32", "int8"),
     ("float16", "float16"), ("bfloat16", "uint8")],
)  # fmt: skip
def test_bits_of_the_operations_in_turn(device, stream, isa, shape, origin, target):
    dtype = np.dtype(ml_dtypes.bfloat16 if origin == "bfloat16" else origin)
    x = source(shape, dtype)
    plain = forward(device, stream, SAME, x.astype(F), "float32", 1)["dst"]
    fuses = fuses_on(isa)
    start, small = (digest(plain), fuses), target in {"uint8", "int8"}
    for number, (program, kind) in enumerate(CASES):
        for scale, divisor in shared_out(SCALES, shape, number):
            rng = np.random.default_rng(number)
            count = sum(isinstance(op, Binary) for op in program)
            with np.errstate(over="ignore"):
                rows = [ROWS[kind](rng, shape[1]).astype(F)[None] for _ in range(count)]
            places = [k for k, op in enumerate(program) if isinstance(op, Binary)]
            tensors = {f"post_op_{k}_src1": row for k, row in zip(places, rows, strict=True)}
            tensors["src_scale"] = np.array([scale], F)
            if small:
                tensors["dst_scale"] = np.array([divisor], F)
            extras = Extras(src_scale=True, dst_scale=small, post_ops=program)
            got = forward(device, stream, extras, x, target, 1, **tensors)["dst"]
            if any(isinstance(op, Eltwise) and op.alg == "exp" for op in program):
                continue  # its values are other tests' matter; here it only has to run

            def make(program=program, scale=scale, rows=rows, divisor=divisor):
                wanted = applied(plain, program, scale, rows, fuses)
                with np.errstate(all="ignore"):
                    return rounded(wanted / F(divisor) if small else wanted, target)

            assert_wanted(got, make, (start, program, kind, scale, target, number))


#: With an operand that differs from row to row.
WHOLE = [
    (Binary("add"),), (Binary("add"), Eltwise("relu")), (Binary("mul"),),
    (Eltwise("linear", 2.0, 0.25), Binary("add"), Eltwise("linear", 4.0, 1.0)),
    (Binary("max"),), (Binary("gt"), Eltwise("square")),
]  # fmt: skip


@every_shape
@pytest.mark.parametrize(
    ("origin", "target"),
    [("float32", "float32"), ("bfloat16", "bfloat16"), ("float16", "float16"), ("float32", "int8")],
)
def test_operands_of_the_full_shape(device, stream, isa, shape, origin, target):
    dtype = np.dtype(ml_dtypes.bfloat16 if origin == "bfloat16" else origin)
    x = source(shape, dtype)
    plain = forward(device, stream, SAME, x.astype(F), "float32", 1)["dst"]
    fuses = fuses_on(isa)
    start = (digest(plain), fuses)
    for number, (kind, make) in enumerate(ROWS.items()):
        rng = np.random.default_rng(number)
        with np.errstate(over="ignore"):
            operand = np.stack([make(rng, shape[1]) for _ in range(shape[0])]).astype(F)
        cases = (
            (program, scale)
            for at, program in enumerate(WHOLE)
            for scale in shared_out((8.0, 1.0, 0.3), shape, number + at)
        )
        for program, scale in cases:
            place = next(k for k, op in enumerate(program) if isinstance(op, Binary))
            tensors = {"src_scale": np.array([scale], F), f"post_op_{place}_src1": operand}
            extras = Extras(src_scale=True, post_ops=program)
            got = forward(device, stream, extras, x, target, 1, **tensors)["dst"]

            def wanted(program=program, scale=scale, operand=operand):
                return rounded(applied(plain, program, scale, [operand], fuses), target)

            assert_wanted(got, wanted, (start, program, kind, scale, target, "whole"))


#: Each in a loop of its own where rows are calm; a power above the first takes the loop for any.
FUNCTIONS = [
    (Eltwise("exp"),), (Eltwise("tanh"),), (Eltwise("gelu_erf"),), (Eltwise("pow", 1.0, 0.3),),
    (Eltwise("pow", 2.0, -0.7),), (Eltwise("pow", 1.0, 2.5),), (Eltwise("clip", 0.0, 1e-3),),
    (Eltwise("pow", 1.0, 0.75), Eltwise("linear", 2.0, 0.25)),
    (Eltwise("clip", 0.0, 0.3), Eltwise("pow", 1.0, -0.3)), (Eltwise("logistic"),),
    (Eltwise("log"),), (Eltwise("log"), Eltwise("linear", 0.5, 0.0)), (Eltwise("soft_relu", 3.0),),
    (Eltwise("soft_relu", -2.0),),
]  # fmt: skip


@every_shape
@pytest.mark.parametrize("origin", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("target", ["origin", "uint8"])
def test_functions_have_the_values_of_the_way_by_memory(device, stream, isa, shape, origin, target):
    dtype = np.dtype(ml_dtypes.bfloat16 if origin == "bfloat16" else origin)
    x = source(shape, dtype)
    target = origin if target == "origin" else target
    # They change no probability, and with them nothing is done in registers.
    by_memory = (Eltwise("abs"), Eltwise("abs"))
    for number, program in enumerate(FUNCTIONS):
        for scale in shared_out((8.0, 1.0, 0.3, 2.0**40, 2.0**-60), shape, number):
            tensors = {"src_scale": np.array([scale], F)}
            if target == "uint8":
                tensors["dst_scale"] = np.array([1 / 128], F)
            got, wanted = (
                forward(
                    device,
                    stream,
                    Extras(
                        src_scale=True, dst_scale=target == "uint8", post_ops=(*before, *program)
                    ),
                    x,
                    target,
                    1,
                    **tensors,
                )["dst"]
                for before in ((), by_memory)
            )
            # Powers to the first, and logarithms, of rows within 60 of their largest have other
            # last bits; a logarithm near 0 differs by what a probability near 1 is rounded by.
            logarithm = any(op.alg == "log" for op in program)
            if logarithm or any(op.alg == "pow" and abs(op.beta) <= 1 for op in program):
                assert_near(got, wanted, (program, scale), 4 * 2.0**-23 if logarithm else 0.0)
                rows = far_rows(x)
                got, wanted = got[rows], wanted[rows]
            assert_same(got, wanted, (program, scale))


#: Sums and products with a row before, behind and between scales that go into it, or do not.
ROWS_AND_SCALES = [
    (Binary("add"), Eltwise("linear", 4.0, 0.0)), (Binary("mul"), Eltwise("linear", 4.0, 0.0)),
    (Binary("add"), Binary("mul"), Eltwise("linear", 0.5, 0.0)), (Binary("mul"), Binary("mul")),
    (Binary("add"), Binary("add"), Eltwise("relu")), (Binary("sub"), Binary("mul")),
    (Binary("add"),), (Eltwise("linear", 2.0, 1.0), Binary("mul")),
]  # fmt: skip


@every_way
@pytest.mark.parametrize(
    ("origin", "target"),
    [("float32", "float32"), ("bfloat16", "bfloat16"), ("float32", "uint8"), ("float16", "int8")],
)
@pytest.mark.parametrize("columns", [100, 1088, 1253])
def test_the_same_bits_wherever_operands_lie(device, stream, isa, origin, target, columns):
    """At lines, where a fold may take them as they are, and behind them; none is written to."""
    dtype = np.dtype(ml_dtypes.bfloat16 if origin == "bfloat16" else origin)
    x = source((14, columns), dtype)
    rng = np.random.default_rng(columns)
    small = target in {"uint8", "int8"}
    scales = {"src_scale": np.array([8.0], F)}
    if small:
        scales["dst_scale"] = np.array([1 / 128], F)
    for program in ROWS_AND_SCALES:
        places = [k for k, op in enumerate(program) if isinstance(op, Binary)]
        rows = rng.normal(size=(len(places), columns)).astype(F)
        extras = Extras(src_scale=True, dst_scale=small, post_ops=program)
        found = []
        for offset in (0, 1, 16, 17):
            starts = [offset + k * (columns // 16 * 16 + 32) for k in range(len(places))]
            held = np.zeros(len(places) * (columns + 64), F)
            for at, row in zip(starts, rows, strict=True):
                held[at : at + columns] = row
            room = device.tensor(held)
            given = {
                f"post_op_{place}_src1": room.view((1, columns), offset=at)
                for at, place in zip(starts, places, strict=True)
            }
            got = forward(device, stream, extras, x, target, 1, **given, **scales)["dst"]
            assert room.numpy().tobytes() == held.tobytes()
            found.append(bits(got).tobytes())
        assert len(set(found)) == 1, program


@every_way
@pytest.mark.parametrize("n", [10, 20, 64, 100, 150])
@pytest.mark.parametrize("origin", ["float32", "bfloat16", "float16"])
def test_a_short_row_alone_has_the_bits_it_has_among_others(device, stream, isa, origin, n):
    """How many rows a thread gets decides the loop, and must not be seen in the results."""
    dtype = np.dtype(ml_dtypes.bfloat16 if origin == "bfloat16" else origin)
    x = source((60, n), dtype)
    row = np.random.default_rng(3).normal(size=(1, n)).astype(F)
    for program in ((Binary("add"), Eltwise("relu")), (Eltwise("linear", 0.3, 1.0), Binary("mul"))):
        place = next(k for k, op in enumerate(program) if isinstance(op, Binary))
        tensors = {"src_scale": np.array([0.7], F), f"post_op_{place}_src1": row}
        extras = Extras(src_scale=True, post_ops=program)
        together = forward(device, stream, extras, x, "float32", 1, **tensors)["dst"]
        for r in range(0, len(x), 3):
            alone = forward(device, stream, extras, x[r : r + 1], "float32", 1, **tensors)["dst"]
            assert_same(alone, together[r : r + 1], (program, r))


@every_way
def test_powers_of_the_least_probabilities(device, stream, isa):
    """Small factors, one after the other, make calm rows subnormal; bfloat16 has such numbers."""
    x = np.zeros((64, 4096), ml_dtypes.bfloat16)
    x[:, 5] = -59
    least = F(2.0**-10)
    program = (Eltwise("pow", float(least), 0.999), Binary("mul"))
    by_memory = (Eltwise("abs"), Eltwise("abs"))
    got, wanted = (
        forward(
            device,
            stream,
            Extras(src_scale=True, post_ops=(*before, *program)),
            x,
            "bfloat16",
            1,
            **{
                "src_scale": np.array([least]),
                f"post_op_{len(before) + 1}_src1": least[None, None],
            },
        )["dst"]
        for before in ((), by_memory)
    )
    assert 0 < wanted[0, 5] < np.finfo(F).tiny
    assert_same(got, wanted, program)


@every_way
@pytest.mark.parametrize("origin", ["bfloat16", "float16"])
def test_scales_of_spread_probabilities(device, stream, isa, origin):
    """Rows down to 60 below their largest are calm; small factors make them subnormal even so."""
    dtype = np.dtype(ml_dtypes.bfloat16 if origin == "bfloat16" else origin)
    x = np.random.default_rng(7).uniform(-59, 0, (20, 4096)).astype(dtype)
    plain = forward(device, stream, SAME, x.astype(F), "float32", 1)["dst"]
    program, divisor = (Eltwise("clip", 0.0, 1.1e-19), Binary("div")), np.array([[3.8e-4]], F)
    for target, scale in itertools.product((origin, "float32"), 2.0 ** np.array([-20, -21, -45])):
        tensors = {"src_scale": np.array([scale], F), "post_op_1_src1": divisor}
        extras = Extras(src_scale=True, post_ops=program)
        got = forward(device, stream, extras, x, target, 1, **tensors)["dst"]
        wanted = rounded(applied(plain, program, scale, [divisor]), target)
        assert_same(got, wanted, (target, scale))


def far_rows(x):
    """Rows with a number more than 60 below their largest, or with none at all."""
    wide = x.astype(F)
    with np.errstate(all="ignore"):
        return ~(wide.max(axis=1) - wide.min(axis=1) <= 60)


def assert_near(got, wanted, what, slack):
    """Within four units in the last place of float32, one of a narrower type's, or within `slack`.

    The same edges.
    """
    differ = bits(got) != bits(wanted)
    assert np.array_equal(np.isnan(got.astype(F)), np.isnan(wanted.astype(F))), what
    assert np.isfinite(got[differ].astype(F)).all(), what
    places = (a.view(f"u{a.itemsize}").astype(np.int64)[differ] for a in (got, wanted))
    distance = np.abs(np.subtract(*places))
    apart = np.abs(got[differ].astype(np.float64) - wanted[differ].astype(np.float64))
    distance = distance[apart > slack]
    assert distance.size == 0 or distance.max() <= (4 if got.dtype == F else 1), what


@every_way
@pytest.mark.parametrize("factors", [(1e18, 1e18, 2.0**30, 1e-30), (1e18, 1e18, 2.0**30, 2.0**30)])
def test_products_that_overflow_in_between(device, stream, isa, factors):
    """A power of two is carried into the next product only where what comes between is finite."""
    x = source((20, 192), np.float32)
    operands = {f"post_op_{k}_src1": np.full((1, 1), f, F) for k, f in enumerate(factors)}
    plain = forward(device, stream, Extras(), x, "float32", -1)["dst"]
    extras = Extras(post_ops=(Binary("mul"),) * len(factors))
    got = forward(device, stream, extras, x, "float32", -1, **operands)["dst"]
    want = applied(plain, extras.post_ops, 1, operands.values())
    np.testing.assert_array_equal(bits(got), bits(want))
    assert np.isinf(want).any()


def times(*factors):
    """Products by constants that are not folded into each other."""
    return tuple(Eltwise("linear", factor, 0.0) for factor in factors)


@every_way
@pytest.mark.parametrize("target", ["float32", "int8", "uint8"])
@pytest.mark.parametrize(
    "program",
    [
        (*times(1e18, 1e18, 1e18, 1e-18, 1e-18, 1e-18), Eltwise("clip", 0.0, 2.0)),
        (*times(1e18, 1e18, 1e18), Eltwise("linear", 0.0, 0.5), Eltwise("clip", 0.0, 1.0)),
        times(1e18, 1e18, 1e18, 1e-18, 1e-18, 1e-13),
    ],
)
def test_overflow_in_between_is_not_forgotten(device, stream, isa, program, target):
    """Bounds of what comes later say nothing of what was infinite, or a NaN, before."""
    x = np.full((20, 4160), -3, np.float32)
    x[:, 7] = x[1::2, 4159] = 9
    plain = forward(device, stream, SAME, x, "float32", 1)["dst"]
    got = forward(device, stream, Extras(post_ops=program), x, target, 1)["dst"]
    turns = applied(plain, program, 1, [], fuses_on(isa))
    assert np.isinf(applied(plain, program[:3], 1, [])).any()
    assert_same(got, rounded(turns, target), (program, target))


@pytest.mark.parametrize("isa", [WAYS[name] for name in ISAS], ids=ISAS, indirect=True)
@pytest.mark.parametrize("target", ["float32", "bfloat16"])
def test_rows_as_long_as_vocabularies(device, stream, isa, target):
    """Rows of more than 100,000 elements, no whole lines; operations that change none of them."""
    x = np.random.default_rng(8).normal(size=(8, 131077)).astype(F) * 3
    wide = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    wide /= wide.sum(axis=1, keepdims=True)
    plain = forward(device, stream, SAME, x, "float32", 1)["dst"]
    # The difference from the maximum is rounded, too: here it reaches 25.
    np.testing.assert_allclose(plain, wide, rtol=3e-6)
    calm = Extras(post_ops=(Eltwise("relu"), Eltwise("clip", 0.0, 2.0)))
    got = forward(device, stream, calm, x, target, 1)["dst"]
    np.testing.assert_array_equal(bits(got), bits(plain.astype(got.dtype)))
