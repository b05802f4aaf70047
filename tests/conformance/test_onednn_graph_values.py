# SPDX-License-Identifier: Apache-2.0
"""Values of the Graph dialect against float64: types, axes, mode, statistics, the fusion chain.

Thresholds are benchdnn's (reference, section 6); every test names the section that it shows.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from aclnn_py.dialects.onednn_graph import schemas
from support import onednn_oracle as oracle
from support.onednn import NUMPY
from support.onednn_graph import ANY, KIND, STRIDED, Bench, Chain, lt, op, partitions
from support.pairs import all_pairs

FLOATS = ("f32", "bf16", "f16")
NAN, INF = float("nan"), float("inf")
STATS_RTOL = 4e-5  # section 6
SHAPES = {"rows": (5, 37), "columns": (19, 6), "middle": (3, 11, 4), "one": (4, 1), "vector": (50,)}


@pytest.fixture(scope="module")
def bench():
    return Bench()


def forward(bench, kind, x, dst="f32", layout=STRIDED, **attributes):
    """Run, check against the oracle, return the result."""
    got = bench.one(kind, [x], dst, layout, **attributes)
    log = kind == "LogSoftmax"
    axis = attributes.get("axis", -1 if log else 1)
    zero = attributes.get("mode") == "inf_as_zero"
    t, tolerance, _ = oracle.forward(x, axis % x.ndim, log=log, zero_rows=zero)
    assert got.dtype == NUMPY[dst]
    oracle.assert_stored(got, t, tolerance)
    return got


def backward(bench, kind, g, y, dst, **attributes):
    got = bench.one(kind, [g, y], dst, **attributes)
    log = kind.startswith("Log")
    axis = attributes.get("axis", -1 if log else 1)
    want, tolerance = oracle.backward(y, g, axis % y.ndim, log=log)
    assert got.dtype == NUMPY[dst]
    oracle.assert_stored(got, want, tolerance)
    return got


# ---- types, axes and shapes (section 2; thresholds of section 6) --------------------------------

CASTS = [(a, b) for a, b in product(FLOATS, FLOATS) if a == b or "f32" in (a, b)]


@pytest.mark.parametrize("mode", ["none", "inf_as_zero"])
@pytest.mark.parametrize(("src", "dst"), CASTS)
def test_section_2_softmax_types(bench, src, dst, mode):
    for shape in SHAPES.values():
        for axis in range(-len(shape), len(shape)):
            x = oracle.logits(shape, NUMPY[src], seed=axis + 7)
            forward(bench, "SoftMax", x, dst, axis=axis, mode=mode)


@pytest.mark.parametrize("dtype", FLOATS)
def test_section_2_log_softmax_types(bench, dtype):
    for shape in SHAPES.values():
        for axis in range(-len(shape), len(shape)):
            x = oracle.logits(shape, NUMPY[dtype], seed=axis + 7)
            forward(bench, "LogSoftmax", x, dtype, axis=axis)


@pytest.mark.parametrize(
    ("given", "dst"), [(t, t) for t in FLOATS] + [("bf16", "f32"), ("f16", "f32")]
)
@pytest.mark.parametrize("kind", ["SoftMaxBackward", "LogSoftmaxBackward"])
def test_section_2_backward_types(bench, kind, given, dst):
    """diff_src has the type of the inputs, or f32 (softmax alone)."""
    log = kind.startswith("Log")
    if log and given != dst:
        return
    for shape in SHAPES.values():
        for axis in range(-len(shape), len(shape)):
            y, g = oracle.gradients(shape, NUMPY[given], axis + 7, log=log)
            backward(bench, kind, g, y, dst, axis=axis)


@pytest.mark.parametrize("kind", ["SoftMax", "LogSoftmax", "SoftMaxBackward", "LogSoftmaxBackward"])
def test_section_2_axis_defaults(bench, kind):
    """1 for the softmax pair, -1 for the log pair: of three axes these are two."""
    shape, log = (3, 4, 5), kind.startswith("Log")
    if kind.endswith("Backward"):
        y, g = oracle.gradients(shape, np.float32, log=log)
        left_out = backward(bench, kind, g, y, "f32")
        others = {axis: bench.one(kind, [g, y], axis=axis) for axis in range(3)}
    else:
        x = oracle.logits(shape, np.float32)
        left_out = forward(bench, kind, x)
        others = {axis: bench.one(kind, [x], axis=axis) for axis in range(3)}
    same = [axis for axis, other in others.items() if np.array_equal(other, left_out)]
    assert same == [2 if log else 1]


PAIRS = all_pairs({
    "kind": ["SoftMax", "LogSoftmax", "SoftMaxBackward", "LogSoftmaxBackward"],
    "shape": [(7,), (4, 9), (2, 300), (3, 5, 8), (2, 3, 4, 5)],
    "axis": [0, -1],
    "dtype": FLOATS,
    "layout": [STRIDED, ANY],
})  # fmt: skip


@pytest.mark.parametrize("row", PAIRS, ids=lambda row: "-".join(map(str, row.values())))
def test_all_pairs(bench, row):
    log, dtype = row["kind"].startswith("Log"), NUMPY[row["dtype"]]
    if row["kind"].endswith("Backward"):
        y, g = oracle.gradients(row["shape"], dtype, log=log)
        got = bench.one(row["kind"], [g, y], row["dtype"], row["layout"], axis=row["axis"])
        want, tolerance = oracle.backward(y, g, row["axis"], log=log)
        oracle.assert_stored(got, want, tolerance)
    else:
        x = oracle.logits(row["shape"], dtype)
        forward(bench, row["kind"], x, row["dtype"], row["layout"], axis=row["axis"])


def test_section_6_relaxed_tolerance_is_never_needed(bench):
    """16-bit results are the f32 result rounded once: strict accumulation."""
    for dtype in ("bf16", "f16"):
        x = oracle.logits((40, 100), NUMPY[dtype])
        wide = bench.one("SoftMax", [x], "f32", axis=-1)
        narrow = bench.one("SoftMax", [x], dtype, axis=-1)
        np.testing.assert_array_equal(narrow, wide.astype(NUMPY[dtype]))


# ---- special values (section 1.5, row Graph) ----------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dst", FLOATS)
def test_section_1_5_rows_of_only_minus_inf(bench, axis, dst):
    """NaN for mode none, zeros for inf_as_zero, row by row; NaN in log-softmax."""
    x = np.array([[-INF] * 4, [0.5, -1, 2, 0], [-INF, 1, -INF, 2]], np.float32)
    x = x if axis else np.ascontiguousarray(x.T)
    rows = (lambda y: y) if axis else (lambda y: y.T)
    none = rows(bench.one("SoftMax", [x], dst, axis=axis))
    zero = rows(bench.one("SoftMax", [x], dst, axis=axis, mode="inf_as_zero"))
    assert np.isnan(none[0]).all()
    np.testing.assert_array_equal(zero[0], 0)
    bound = oracle.threshold(NUMPY[dst], log=False)
    np.testing.assert_allclose(none[1:].astype(float), zero[1:].astype(float), rtol=bound)
    assert not zero[2, [0, 2]].any()
    if dst == "f32":
        log = rows(bench.one("LogSoftmax", [x], axis=axis))
        assert np.isnan(log[0]).all()
        assert np.isneginf(log[2, [0, 2]]).all()


@pytest.mark.parametrize("value", [INF, NAN])
@pytest.mark.parametrize("mode", ["none", "inf_as_zero"])
def test_section_1_5_infinity_and_nan_spoil_their_row(bench, value, mode):
    x = np.array([[0, value, 1], [0, 1, 2]], np.float32)
    got = bench.one("SoftMax", [x], mode=mode)
    assert np.isnan(got[0]).all()
    assert np.isfinite(got[1]).all()


def test_section_1_5_gradients_of_special_values(bench):
    g = np.array([[1.0, 2.0, -1.0]], np.float32)
    zeros = np.zeros((1, 3), np.float32)
    np.testing.assert_array_equal(bench.one("SoftMaxBackward", [g, zeros]), zeros)
    np.testing.assert_array_equal(bench.one("LogSoftmaxBackward", [g, zeros - INF]), g)
    assert np.isnan(bench.one("SoftMaxBackward", [g * INF, zeros])).all()


def test_section_2_and_8_input_1_of_the_log_gradient_is_the_output(bench):
    """Feeding x there gives other numbers."""
    x = oracle.logits((3, 5), np.float32)
    g = np.linspace(-1, 1, 15, dtype=np.float32).reshape(3, 5)
    y = bench.one("LogSoftmax", [x])
    wide = oracle.value(x, 1, log=True)
    want = g - np.exp(wide) * g.sum(axis=1, keepdims=True)
    right = bench.one("LogSoftmaxBackward", [g, y])
    np.testing.assert_allclose(right, want, rtol=1e-4, atol=1e-6)
    assert np.abs(bench.one("LogSoftmaxBackward", [g, x]) - want).max() > 0.1


# ---- statistics (section 2, "stats"; section 6) -------------------------------------------------


@pytest.mark.parametrize("mode", ["none", "inf_as_zero"])
@pytest.mark.parametrize(("src", "dst"), CASTS)
def test_section_2_stats(bench, src, dst, mode):
    for shape, axis in (((5, 37), 1), ((5, 37), 0), ((3, 4, 5), -2)):
        x = oracle.logits(shape, NUMPY[src])
        made = [lt(1, dst), lt(2)]
        (part,) = partitions(op(0, "SoftMax", [lt(0, src, shape)], made, axis=axis, mode=mode))
        got, stats = bench.answer(part, [x])
        wide = x.astype(np.float64)
        largest = wide.max(axis, keepdims=True)
        want = largest + np.log(np.exp(wide - largest).sum(axis, keepdims=True))
        assert stats.dtype == np.float32
        np.testing.assert_allclose(stats, want, rtol=STATS_RTOL, atol=1e-6)
        np.testing.assert_array_equal(got, bench.one("SoftMax", [x], dst, axis=axis, mode=mode))


def test_section_2_stats_of_a_row_of_only_minus_inf(bench):
    """0 with inf_as_zero; NaN otherwise."""
    x = np.array([[-INF, -INF], [0, 1]], np.float32)
    for mode, wanted in (("inf_as_zero", 0.0), ("none", NAN)):
        made = [lt(1), lt(2)]
        (part,) = partitions(op(0, "SoftMax", [lt(0, "f32", (2, 2))], made, mode=mode))
        _, stats = bench.answer(part, [x])
        np.testing.assert_array_equal(stats[0, 0], wanted)
        np.testing.assert_allclose(stats[1, 0], np.log1p(np.e), rtol=STATS_RTOL)


# ---- the chain (section 2, "Fusion") ------------------------------------------------------------

UNARY = {
    "Abs": ("abs", {}), "Clamp": ("clip", {"min": 0.05, "max": 0.5}),
    "Elu": ("elu", {"alpha": 0.7}), "Exp": ("exp", {}),
    "GELU": ("gelu_erf", {}), "HardSwish": ("hardswish", {}),
    "HardSigmoid": ("hardsigmoid", {"alpha": 0.4, "beta": 0.3}), "Log": ("log", {}),
    "LeakyReLU": ("relu", {"alpha": 0.3}), "Mish": ("mish", {}), "ReLU": ("relu", {}),
    "Round": ("round", {}), "Sigmoid": ("logistic", {}), "SoftPlus": ("soft_relu", {"beta": 2.0}),
    "Sqrt": ("sqrt", {}), "Square": ("square", {}), "Tanh": ("tanh", {}),
}  # fmt: skip
BINARY = {
    "Add": "add", "Multiply": "mul", "Maximum": "max", "Minimum": "min", "Divide": "div",
    "Subtract": "sub",
}  # fmt: skip


def eltwise(kind, attributes):
    name = UNARY[kind][0]
    if attributes.get("mode") == "gelu_tanh":
        name = "gelu_tanh"
    values = [v for v in attributes.values() if isinstance(v, float)]
    values = [1 / 6, 0.5] if kind == "HardSwish" else [*values, 0.0, 0.0][:2]
    return ("eltwise", name, *values)


def run_chain(bench, chain, x, operands, post_ops, dst="f32", scale=None, axis=1):
    """The chain's one partition against the oracle."""
    (part,) = chain.partitions()
    (got,) = bench.answer(part, [x, *operands])
    problem = {"post_ops": post_ops, "dst_scale": scale}
    t, tolerance, _ = oracle.forward(x, axis, problem=problem)
    assert got.dtype == NUMPY[dst]
    oracle.assert_stored(got, t, tolerance)
    return got


@pytest.mark.parametrize("dst", FLOATS)
@pytest.mark.parametrize("kind", [*UNARY, "GELU tanh", "LeakyReLU 0"])
def test_section_2_unary(bench, kind, dst):
    name, _, choice = kind.partition(" ")
    attributes = dict(UNARY[name][1])
    if choice == "tanh":
        attributes["mode"] = "gelu_tanh"
    if choice == "0":
        attributes["alpha"] = 0  # an int serves as a float
    x = oracle.logits((4, 30), np.float32) / 20
    chain = Chain(dims=x.shape).then(name, **attributes)
    if dst != "f32":
        chain.then("TypeCast", dtype=dst)
    run_chain(bench, chain, x, [], [eltwise(name, attributes)], dst)


DIMS = {"full": (3, 8, 5), "row": (5,), "channel": (8, 1), "scalar": (), "batch": (3, 1, 1)}


@pytest.mark.parametrize("dims", DIMS)
@pytest.mark.parametrize("kind", BINARY)
def test_section_2_binary(bench, kind, dims):
    x = oracle.logits((3, 8, 5), np.float32)
    types = ["f32"] if kind in ("Maximum", "Minimum") else ["f32", "bf16", "f16"]
    for dtype in [*types, *(["s32"] if kind in ("Add", "Subtract") else [])]:
        values = np.random.default_rng(4).uniform(1.2, 3, DIMS[dims])
        operand = np.asarray(values).astype(NUMPY[dtype])
        chain = Chain(dims=x.shape).then(kind, (dtype, DIMS[dims]))
        wide = operand.astype(np.float64)
        run_chain(bench, chain, x, [operand], [("binary", BINARY[kind], wide)])


@pytest.mark.parametrize("src", FLOATS)
@pytest.mark.parametrize("cast", [None, "bf16", "f16"])
@pytest.mark.parametrize("quantized", [None, "s8", "u8"])
def test_section_2_ends_of_the_chain(bench, src, cast, quantized):
    """TypeCast, Quantize, both or neither; rounded once, at the end."""
    x = oracle.logits((6, 20), NUMPY[src])
    operand = np.linspace(-0.5, 1.5, 20, dtype=np.float32)
    chain = Chain(src=src, dims=x.shape).then("Multiply", ("f32", (20,)))
    scale = None
    if cast:
        chain.then("TypeCast", dtype=cast)
    if quantized:
        scale = float(np.float32(1 / 100))
        chain.then("Quantize", dtype=quantized, scales=[1 / 100])
    ops = [("binary", "mul", operand.astype(np.float64))]
    run_chain(bench, chain, x, [operand], ops, quantized or cast or "f32", scale)


@pytest.mark.parametrize("dtype", ["s8", "u8"])
def test_a_cast_before_a_quantize_rounds_nothing(bench, dtype):
    """32.47 rounds to 32; the bf16 beside a third, which is larger, would give 32.53 and 33."""
    x, scale = np.zeros((2, 3), np.float32), 1 / 97.4
    chain = Chain(dims=x.shape).then("TypeCast", dtype="bf16")
    (part,) = chain.then("Quantize", dtype=dtype, scales=[scale]).partitions()
    (got,) = bench.answer(part, [x])
    np.testing.assert_array_equal(got, np.full(x.shape, 32))
    assert np.rint(float(NUMPY["bf16"].type(1 / 3)) / scale) == 33


@pytest.mark.parametrize("dtype", ["s8", "u8"])
@pytest.mark.parametrize("qtype", ["per_tensor", "per_channel"])
@pytest.mark.parametrize("zero_points", [False, True])
def test_quantize(bench, dtype, qtype, zero_points):
    """round(t / scale + zp), saturated."""
    x = oracle.logits((4, 5, 7), np.float32)
    count = 5 if qtype == "per_channel" else 1
    scales = [1 / (60 + 40 * number) for number in range(count)]
    zps = [3 * number - 4 for number in range(count)]
    chain = Chain(dims=x.shape)
    extra = {"zps": zps} if zero_points else {}
    chain.then("Quantize", dtype=dtype, scales=scales, qtype=qtype, **extra)
    shape = (1, count, 1)
    ops = [("binary", "div", np.asarray(scales, np.float32).astype(float).reshape(shape))]
    if zero_points:
        ops.append(("binary", "add", np.asarray(zps, float).reshape(shape)))
    got = run_chain(bench, chain, x, [], ops, dtype)
    assert len(np.unique(got)) > 15


def test_section_2_twenty_operators(bench):
    x = oracle.logits((4, 9), np.float32) / 20
    chain, ops, operands = Chain(dims=x.shape), [], []
    for number in range(20):
        if number % 2:
            operands.append(np.random.default_rng(number).uniform(0.5, 1.5, 9).astype(np.float32))
            chain.then("Multiply" if number % 4 == 1 else "Add", ("f32", (9,)))
            name = "mul" if number % 4 == 1 else "add"
            ops.append(("binary", name, operands[-1].astype(float)))
        else:
            chain.then("Tanh" if number % 4 else "ReLU")
            ops.append(("eltwise", "tanh" if number % 4 else "relu", 0.0, 0.0))
    chain.then("Quantize", dtype="u8", scales=[1 / 64], zps=[7])
    (part,) = chain.partitions()
    assert part.get_ops_num() == 22
    ops += [("binary", "div", np.float64(1 / 64)), ("binary", "add", np.float64(7))]
    run_chain(bench, chain, x, operands, ops, "u8")


def test_a_chain_with_mode_and_statistics(bench):
    """inf_as_zero comes first: operators see the zeros."""
    x = oracle.logits((4, 6), np.float32)
    x[2] = -INF
    chain = Chain(dims=x.shape, mode="inf_as_zero", axis=-1).stats()
    chain.then("Add", ("f32", (6,))).then("TypeCast", dtype="bf16")
    bias = np.arange(6, dtype=np.float32)
    (part,) = chain.partitions()
    ports = [port.id for port in part.get_output_ports()]
    assert ports == [2, chain.end.id]
    stats, got = bench.answer(part, [x, bias])
    np.testing.assert_array_equal(got[2], bias.astype(NUMPY["bf16"]))
    assert stats[2, 0] == 0
    t, tolerance, _ = oracle.forward(
        x, 1, zero_rows=True, problem={"post_ops": [("binary", "add", bias.astype(float))]}
    )
    oracle.assert_stored(got, t, tolerance)


def test_fused_and_unfused_agree(bench):
    """What debug policy leaves to the caller gives the same numbers."""
    x = oracle.logits((5, 8), np.float32)
    bias = np.linspace(-1, 1, 8, dtype=np.float32)
    chain = Chain(dims=x.shape).then("Add", ("f32", (8,)))
    (part,) = chain.partitions()
    (fused,) = bench.answer(part, [x, bias])
    np.testing.assert_array_equal(fused, bench.one("SoftMax", [x]) + bias)


def test_every_operator_of_the_list_has_values_here():
    assert {KIND[name] for name in UNARY} == set(schemas.UNARY)
    assert {KIND[name] for name in BINARY} == set(schemas.BINARY)
