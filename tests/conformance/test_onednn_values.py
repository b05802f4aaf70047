# SPDX-License-Identifier: Apache-2.0
"""Values of the softmax primitive against float64: types, layouts, attributes, special rows.

Thresholds are benchdnn's (reference, section 6); every test names the section that it shows.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import aclnn_py as acl
from aclnn_py.dialects import onednn as dnnl
from support import onednn_oracle as oracle
from support.onednn import NUMPY, Bench, md
from support.onednn_problems import ELTWISE_PARAMETERS, run_backward, run_forward
from support.pairs import all_pairs

SEVEN = ("f32", "bf16", "f16", "f8_e5m2", "f8_e4m3", "s8", "u8")
FLOATS = ("f32", "bf16", "f16")
NAN, INF = float("nan"), float("inf")


@pytest.fixture(scope="module")
def bench():
    return Bench()


@pytest.fixture(scope="module")
def wide():
    return Bench(allow_f64=True)


def scaled(dst):
    """A dst scale that spreads probabilities over an integer type; none for the floats."""
    return {"s8": "scale:dst:0.0078125", "u8": "scale:dst:0.00390625"}.get(dst, "none")


# ---- types (section 1.3, thresholds of section 6) -----------------------------------------------


@pytest.mark.parametrize(("src", "dst"), list(product(SEVEN, SEVEN)))
@pytest.mark.parametrize("algorithm", ["accurate", "log", "inf_as_zero"])
def test_every_pairing_of_types(bench, src, dst, algorithm):
    for axis, shape in ((1, (5, 37)), (0, (19, 6))):
        x = oracle.logits(shape, NUMPY[src], seed=axis)
        run_forward(bench, x, axis, dst=dst, algorithm=algorithm, attribute=scaled(dst))


@pytest.mark.parametrize(("given", "wanted"), list(product(FLOATS, FLOATS)))
@pytest.mark.parametrize("algorithm", ["accurate", "log"])
def test_every_pairing_of_backward_types(bench, given, wanted, algorithm):
    for axis, shape in ((1, (5, 37)), (0, (19, 6))):
        y, g = oracle.gradients(shape, NUMPY[given], axis, log=algorithm == "log")
        run_backward(bench, y, g, axis, diff_src=wanted, algorithm=algorithm)


@pytest.mark.parametrize("algorithm", ["accurate", "log"])
def test_f64_behind_its_option(wide, algorithm):
    """Section 1.3: no oneDNN CPU implementation has it; section 6, row f64."""
    shape, log = (4, 33), algorithm == "log"
    x = oracle.logits(shape, np.float64)
    src, dst = wide.memory(md(shape, "f64"), x), wide.memory(md(shape, "f64"))
    pd = wide.forward_pd(src.desc, dst.desc, 1, algorithm)
    wide.run(dnnl.softmax_forward(pd), {dnnl.DNNL_ARG_SRC: src, dnnl.DNNL_ARG_DST: dst})
    want = oracle.value(x, 1, log=log)
    np.testing.assert_allclose(
        dst.numpy(), want, rtol=oracle.threshold(np.float64, log=log), atol=1e-15
    )
    y, g = oracle.gradients(shape, np.float64, log=log)
    desc = md(shape, "f64")
    out = wide.memory(desc)
    args = {
        dnnl.DNNL_ARG_DST: wide.memory(desc, y),
        dnnl.DNNL_ARG_DIFF_DST: wide.memory(desc, g),
        dnnl.DNNL_ARG_DIFF_SRC: out,
    }
    wide.run(dnnl.softmax_backward(wide.backward_pd(desc, desc, desc, 1, algorithm)), args)
    want, _ = oracle.backward(y, g, 1, log=log)
    np.testing.assert_allclose(out.numpy(), want, rtol=1e-13, atol=1e-13)


# ---- special values (section 1.5) ---------------------------------------------------------------

ROWS = {
    "all -inf": [-INF] * 4,
    "some -inf": [-INF, 1.0, -INF, 2.0],
    "+inf": [0.0, INF, 1.0, 2.0],
    "+inf and -inf": [-INF, INF, 1.0, 2.0],
    "NaN": [0.0, NAN, 1.0, 2.0],
    "NaN and -inf": [-INF, NAN, -INF, -INF],
    "huge": [88.0, -88.0, 1e38, -1e38],
    "equal and huge": [1e30] * 4,
}


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dst", ["f32", "bf16", "f16"])
def test_special_rows(bench, row, axis, dst):
    """One special row among plain ones; the others are as without it."""
    values = np.array(ROWS[row], np.float32)
    x = np.array([[0.5, 1.5, -1.0, 2.0], values, [3.0, 1.0, 0.0, -2.0]], np.float32)
    x = np.ascontiguousarray(x if axis else x.T)
    for algorithm in ("accurate", "log", "inf_as_zero"):
        got, _ = run_forward(bench, x, axis, dst=dst, algorithm=algorithm)
        special = (got if axis else got.T)[1].astype(np.float64)
        if row == "all -inf":  # our answer where oneDNN's implementations differ: NaN
            want = np.zeros(4) if algorithm == "inf_as_zero" else np.full(4, NAN)
            np.testing.assert_array_equal(special, want)
        elif row == "some -inf":
            np.testing.assert_array_equal(special[[0, 2]], -INF if algorithm == "log" else 0.0)
        elif "inf" in row or "NaN" in row:
            assert np.isnan(special).all()
        else:
            assert not np.isnan(special).any()


@pytest.mark.parametrize("inner", [1, 3, 40])
def test_empty_rows_are_decided_one_by_one(bench, inner):
    """Section 1.5, caveat: neighbours of an empty row along a strided axis are normalised."""
    x = np.random.default_rng(2).standard_normal((2, 9, inner)).astype(np.float32)
    x[0, :, ::2] = -INF
    got, _ = run_forward(bench, x, 1, algorithm="inf_as_zero")
    assert not got[0, :, ::2].any()
    np.testing.assert_allclose(got[1].sum(axis=0), 1, rtol=1e-5)


@pytest.mark.parametrize("dst", ["s8", "u8"])
def test_nan_into_integers(bench, dst):
    """Section 1.5 leaves it open; here 0."""
    x = np.array([[0.0, NAN, 1.0], [0.0, 0.0, 0.0]], np.float32)
    got, _ = run_forward(bench, x, 1, dst=dst, attribute="scale:dst:0.015625")
    np.testing.assert_array_equal(got[0], 0)


def test_special_values_of_backward(bench):
    """Section 1.5: y = 0 gives 0; y = -inf in the log form gives g; g = +-inf with y = 0, NaN."""
    desc = md((1, 3))

    def gradient(algorithm, y, g):
        out = bench.memory(desc)
        pd = bench.backward_pd(desc, desc, desc, 1, algorithm)
        args = {17: bench.memory(desc, [y]), 145: bench.memory(desc, [g]), 129: out}
        bench.run(dnnl.softmax_backward(pd), args)
        return out.numpy()[0]

    assert gradient("accurate", [0.0, 0.0, 1.0], [3.0, -2.0, 1.0])[:2].tolist() == [0, 0]
    assert gradient("log", [-INF, 0.0, -INF], [3.0, -2.0, 1.0])[[0, 2]].tolist() == [3, 1]
    assert np.isnan(gradient("accurate", [0.0, 0.5, 0.5], [INF, 1.0, 1.0])[0])
    assert np.isnan(gradient("accurate", [0.0, 0.5, 0.5], [-INF, 1.0, 1.0])[0])


@pytest.mark.parametrize("dtype", FLOATS)
def test_an_axis_of_one_element(bench, dtype):
    """Section 1.4: softmax gives 1, log-softmax 0, both gradients 0."""
    x = oracle.logits((4, 1, 3), NUMPY[dtype])
    for algorithm, want in (("accurate", 1), ("log", 0)):
        y, _ = run_forward(bench, x, 1, dst=dtype, algorithm=algorithm)
        np.testing.assert_array_equal(y.astype(np.float32), want)
        g = oracle.gradients(x.shape, NUMPY[dtype], log=False)[1]
        dx = run_backward(bench, y, g, 1, diff_src=dtype, algorithm=algorithm)
        np.testing.assert_array_equal(dx.astype(np.float32), 0)


# ---- the full list of attributes at one shape (section 1.6) -------------------------------------

SHAPE = (6, 11)
_ELTWISE = [alg.name[8:] for alg in dnnl.algorithm if alg.name.startswith("eltwise_")]
_BINARY = [
    alg.name[7:]
    for alg in dnnl.algorithm
    if alg.name.startswith("binary_") and alg.name != "binary_select"
]
ATTRIBUTES = [
    *[f"eltwise:{name}" for name in _ELTWISE],
    *[f"binary:{name}:{how}" for name in _BINARY for how in ("scalar", "channel", "row", "full")],
    *[f"binary:mul:full:{dtype}" for dtype in (*SEVEN, "s32")],
    "binary:add:full:f32:ba",
    "binary:sub:channel:bf16:ba",
    *[f"select:{how}" for how in ("scalar", "channel", "row", "full")],
    "dropout:0.25:7",
    "dropout:0.25:-7::mask",
    "dropout:0.5:123456789012345:0:mask",
    "dropout:0.5:-3:0:mask,host",
    "dropout:0.75:2147483647::s32,mask",
    "dropout:0:1::mask",
    "dropout:1:1::mask",
    "dropout:2:1::mask",
    "dropout:-1:1::mask",
    *[f"accumulation:{mode}" for mode in ("strict", "relaxed", "any")],
    *[f"fpmath:{mode.name}" for mode in dnnl.fpmath_mode],
    "user_scratchpad",
    "dropout:0.25:5::mask+eltwise:linear+binary:add:channel+eltwise:relu+select:full",
    "+".join(["eltwise:linear", "binary:min:scalar"] * 16),
]
SCALES = [
    "scale:src:3.5", "scale:dst:0.0078125", "scale:src:2+scale:dst:0.015625",
    "scale:src:0.5:host+scale:dst:0.01:host", "scale:dst:1e-30", "scale:dst:1e30",
    "scale:src:100+dropout:0.5:3::mask+binary:mul:channel+eltwise:linear+scale:dst:0.3",
    "binary:sub:full+scale:dst:0.0078125",
]  # fmt: skip


@pytest.mark.parametrize("attribute", ATTRIBUTES)
@pytest.mark.parametrize("dst", ["f32", "bf16"])
def test_each_attribute(bench, attribute, dst):
    algorithm = "log" if attribute in ("eltwise:abs", "eltwise:relu", "eltwise:elu") else "accurate"
    x = oracle.logits(SHAPE, NUMPY["f32" if dst == "f32" else "bf16"], seed=1) / 8
    run_forward(bench, x.astype(NUMPY[dst]), 1, dst=dst, attribute=attribute, algorithm=algorithm)


@pytest.mark.parametrize("attribute", SCALES)
@pytest.mark.parametrize(("src", "dst"), [("f32", "s8"), ("bf16", "u8"), ("s8", "f32"),
                                          ("u8", "s8"), ("f16", "f8_e5m2")])  # fmt: skip
@pytest.mark.parametrize("algorithm", ["accurate", "log"])
def test_each_scale(bench, attribute, src, dst, algorithm):
    if dst == "f8_e5m2" and "1e-30" in attribute:
        return  # beyond the type: the row of scales that overflow it is below
    x = oracle.logits(SHAPE, NUMPY[src], seed=1)
    x = x if src in ("s8", "u8") else (x / 8).astype(NUMPY[src])
    run_forward(bench, x, 1, dst=dst, attribute=attribute, algorithm=algorithm)


def test_beyond_the_range_of_f8(bench):
    """f8_e5m2 has infinities, f8_e4m3 has none."""
    x = np.zeros((2, 4), np.float32)
    five, _ = run_forward(bench, x, 1, dst="f8_e5m2", attribute="scale:dst:1e-30")
    assert np.isposinf(five.astype(np.float32)).all()
    four, _ = run_forward(bench, x, 1, dst="f8_e4m3", attribute="scale:dst:1e-30")
    assert np.isnan(four.astype(np.float32)).all()


def test_the_parameters_are_those_of_the_table():
    assert set(ELTWISE_PARAMETERS) <= set(_ELTWISE)


def test_the_src_scale_multiplies_the_result(bench):
    """Section 1.6: it does not rescale what exp is taken of."""
    x = np.array([[1, 2, 3]], np.int8)
    got, _ = run_forward(bench, x, 1, dst="f32", attribute="scale:src:10")
    np.testing.assert_allclose(got.sum(), 10, rtol=1e-6)


def test_integers_saturate_before_they_are_rounded(bench):
    """Section 1.6: clamp, then nearest with ties to even."""
    x = np.full((1, 2), 0.0, np.float32)
    for scale, want in (("0.2", 2), ("0.0714285746216774", 7), ("0.001", 127), ("1", 0)):
        got, _ = run_forward(bench, x, 1, dst="s8", attribute=f"scale:dst:{scale}")
        assert got.tolist() == [[want, want]], scale  # 2.5 -> 2, 7 -> 7, 500 -> 127, 0.5 -> 0


@pytest.mark.parametrize("offset", [9, 4294967299])
def test_an_offset_positions_the_stream(bench, offset):
    """Section 1.6: an offset other than 0 selects the 64-bit stream."""
    x = oracle.logits(SHAPE, np.float32)
    run_forward(bench, x, 1, attribute=f"dropout:0.5:123456789012345:{offset}:mask")


def test_dropout_is_the_same_for_any_type_and_split(bench):
    """Section 1.6: the stream depends on seed, offset and the element's place alone."""
    shape = (3, 700)
    masks = [
        run_forward(
            bench, oracle.logits(shape, NUMPY[src]), axis, dst=dst,
            attribute="dropout:0.3:99::mask",
        )[1]
        for src, dst, axis in (("f32", "f32", 1), ("bf16", "f16", 0), ("s8", "u8", 1))
    ]  # fmt: skip
    assert all(np.array_equal(masks[0], mask) for mask in masks)
    assert 0.65 < masks[0].mean() < 0.75


# ---- all pairs ----------------------------------------------------------------------------------

COLUMNS = {
    "shape": [(7,), (5, 33), (2, 7, 16), (3, 4, 5, 6), (2, 1, 3, 2, 5), (2,) * 8, (1, 2) * 6],
    "axis": ["first", "second", "middle", "last"],
    "src": list(SEVEN),
    "dst": list(SEVEN),
    "algorithm": ["accurate", "log", "inf_as_zero"],
    "in_place": [False, True],
    "src_layout": ["plain", "last_first", "second_last", "gaps"],
    "dst_layout": ["plain", "last_first", "second_last", "gaps"],
    "attribute": [
        "none", "scale:src:2", "scale:dst:0.0078125", "dropout:0.4:17::mask", "eltwise:linear",
        "eltwise:tanh", "binary:add:scalar", "binary:mul:channel", "binary:max:full", "select:full",
        "accumulation:relaxed", "user_scratchpad", "binary:sub:row:bf16+eltwise:logistic",
    ],
}  # fmt: skip


def axis_of(row):
    rank = len(row["shape"])
    return {"first": 0, "second": min(1, rank - 1), "middle": rank // 2, "last": rank - 1}[
        row["axis"]
    ]


def allowed(row):
    """What the reference allows: section 1.4 for in-place, 1.6 for scales and dropout."""
    if row["in_place"] and (row["src"] != row["dst"] or row["src_layout"] != row["dst_layout"]):
        return False
    types = (row["src"], row["dst"])
    if "scale" in row["attribute"] and not {"s8", "u8"} & set(types) and types[1][:2] != "f8":
        return False
    if "channel" in row["attribute"] and len(row["shape"]) == 1:
        return False
    if "dropout" in row["attribute"]:
        return row["dst_layout"] == "plain" and 2 <= len(row["shape"]) <= 5
    return True


PAIRS = all_pairs(COLUMNS, allowed)


@pytest.mark.parametrize("row", PAIRS, ids=map(str, range(len(PAIRS))))
def test_all_pairs(bench, row):
    x = oracle.logits(row["shape"], NUMPY[row["src"]], seed=3)
    if row["src"] not in ("s8", "u8"):
        x = (x.astype(np.float32) / 4).astype(NUMPY[row["src"]])
    run_forward(
        bench, x, axis_of(row),
        **{key: value for key, value in row.items() if key not in ("shape", "axis", "src")},
    )  # fmt: skip


BACKWARD_COLUMNS = {
    "shape": COLUMNS["shape"],
    "axis": COLUMNS["axis"],
    "given": list(FLOATS),
    "diff_src": list(FLOATS),
    "algorithm": ["accurate", "log"],
    "in_place": [False, True],
    "y": COLUMNS["src_layout"],
    "g": COLUMNS["src_layout"],
    "out": COLUMNS["src_layout"],
    "mode": ["default", "user_scratchpad", "relaxed", "fpmath"],
}


def allowed_backward(row):
    return not row["in_place"] or (row["given"] == row["diff_src"] and row["g"] == row["out"])


BACKWARD_PAIRS = all_pairs(BACKWARD_COLUMNS, allowed_backward)


@pytest.mark.parametrize("row", BACKWARD_PAIRS, ids=map(str, range(len(BACKWARD_PAIRS))))
def test_all_pairs_of_backward(bench, row):
    attr = dnnl.primitive_attr()
    if row["mode"] == "user_scratchpad":
        attr.set_scratchpad_mode(dnnl.scratchpad_mode.user)
    if row["mode"] == "relaxed":
        attr.set_accumulation_mode(dnnl.accumulation_mode.relaxed)
    if row["mode"] == "fpmath":
        attr.set_fpmath_mode(dnnl.fpmath_mode.bf16)
    y, g = oracle.gradients(row["shape"], NUMPY[row["given"]], 5, log=row["algorithm"] == "log")
    run_backward(
        bench, y, g, axis_of(row), diff_src=row["diff_src"], algorithm=row["algorithm"],
        layouts=(row["y"], row["g"], row["out"]), in_place=row["in_place"], attr=attr,
    )  # fmt: skip


def test_the_pairs_are_all_there():
    """Every pair of values that some allowed call can have stands in a row."""
    for columns, rows, rule in (
        (COLUMNS, PAIRS, allowed),
        (BACKWARD_COLUMNS, BACKWARD_PAIRS, allowed_backward),
    ):
        assert all(rule(row) for row in rows)
        for name, values in columns.items():
            assert {str(row[name]) for row in rows} == {str(value) for value in values}
        seen = {(a, str(row[a]), b, str(row[b])) for row in rows for a in columns for b in columns}
        for a, b in (("shape", "attribute"), ("algorithm", "in_place"), ("axis", "y")):
            if a in columns and b in columns and rule is allowed_backward:
                assert all((a, str(x), b, str(y)) in seen for x in columns[a] for y in columns[b])


# ---- plain calls --------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("operator", ["Softmax", "LogSoftmax"])
def test_plain_calls_are_the_vendors_kernels(bench, device, dtype, operator):
    """One step, no workspace, the bits and the kernel of the two-phase face."""
    algorithm = "log" if operator == "LogSoftmax" else "accurate"
    x = oracle.logits((9, 65), NUMPY[dtype])
    pd = bench.forward_pd(md(x.shape, dtype), md(x.shape, dtype), 1, algorithm)
    got, _ = run_forward(bench, x, 1, dst=dtype, algorithm=algorithm)
    stream = device.create_stream()
    source, out = device.tensor(x), device.empty(x.shape, NUMPY[dtype])
    planner = getattr(acl, f"aclnn{operator}GetWorkspaceSize")
    size, executor = planner(source, 1, out)
    steps = [choice.implementation for choice in executor.plan.choices]
    assert [choice.implementation for choice in pd.plan.choices] == steps
    assert len(steps) == 1
    assert pd.workspace_bytes == size == 0
    getattr(acl, f"aclnn{operator}")(None, 0, executor, stream)
    stream.synchronize()
    assert out.numpy().tobytes() == got.tobytes()
