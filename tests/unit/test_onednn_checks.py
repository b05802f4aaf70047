# SPDX-License-Identifier: Apache-2.0
"""Making softmax descriptors: check order (reference, section 1.1) and types (section 1.3)."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from aclnn_py.dialects import onednn as dnnl
from aclnn_runtime.arguments import describe
from support.onednn import ALGORITHMS, Bench, md, refused

RUNTIME = dnnl.DNNL_RUNTIME_DIM_VAL
SHAPE = (2, 3)


@pytest.fixture(scope="module")
def bench():
    return Bench()


def scaled():
    attr = dnnl.primitive_attr()
    attr.set_scales_mask(dnnl.DNNL_ARG_DST, 0)  # f32 -> f32 takes no scale
    return attr


HOST = dnnl.memory_desc.host_scalar(dnnl.data_type.f32)
OPEN = md((RUNTIME, 3))
# Each row of section 1.1: what is broken, in one or another argument; status; whom it blames.
FORWARD = [
    ("prop_kind", [{"prop_kind": dnnl.prop_kind.backward_data}], "invalid_arguments", "prop_kind"),
    ("null", [{"dst_desc": None}, {"src_desc": None}], "invalid_arguments", "_desc"),
    ("alg_kind", [{"algorithm": dnnl.algorithm.undef}], "invalid_arguments", "algorithm"),
    ("axis", [{"axis": -1}], "invalid_arguments", "axis"),
    ("any", [{"src_desc": md(SHAPE, "f32", "any")}], "invalid_arguments", "src_desc"),
    ("host scalar", [{"dst_desc": HOST}, {"src_desc": HOST}], "invalid_arguments", "_desc"),
    ("runtime dims", [{"src_desc": OPEN}, {"dst_desc": OPEN}], "unimplemented", "_desc"),
    ("attributes", [{"attr": scaled()}], "unimplemented", "attr.scales"),
    ("types", [{"src_desc": md(SHAPE, "f64")}, {"dst_desc": md(SHAPE, "f64")}], "unimplemented",
     "dst_desc"),
]  # fmt: skip
BACKWARD = [
    ("null", [{"dst_desc": None}, {"diff_src_desc": None}, {"diff_dst_desc": None}],
     "invalid_arguments", "_desc"),
    ("alg_kind", [{"algorithm": 0}], "invalid_arguments", "algorithm"),
    ("axis", [{"axis": 2}], "invalid_arguments", "axis"),
    ("any", [{"dst_desc": md(SHAPE, "f32", "any")}], "invalid_arguments", "dst_desc"),
    ("host scalar", [{"diff_src_desc": HOST}], "invalid_arguments", "diff_src_desc"),
    ("runtime dims", [{"diff_dst_desc": OPEN}, {"diff_src_desc": OPEN}], "unimplemented", "_desc"),
    ("attributes", [{"attr": scaled()}], "unimplemented", "attr.scales"),
    ("types", [{"diff_src_desc": md(SHAPE, "s8")}, {"diff_dst_desc": md(SHAPE, "f16")}],
     "unimplemented", "dst_desc"),
]  # fmt: skip


def forward(engine, **changes):
    call = {
        "prop_kind": dnnl.prop_kind.forward_inference,
        "algorithm": dnnl.algorithm.softmax_accurate,
        "src_desc": md(SHAPE),
        "dst_desc": md(SHAPE),
        "axis": 0,
    }
    return dnnl.softmax_forward.primitive_desc(engine, **call | changes)


def backward(engine, **changes):
    call = {
        "algorithm": dnnl.algorithm.softmax_accurate,
        "diff_src_desc": md(SHAPE),
        "diff_dst_desc": md(SHAPE),
        "dst_desc": md(SHAPE),
        "axis": 0,
    }
    return dnnl.softmax_backward.primitive_desc(engine, **call | changes)


MAKERS = [(forward, row) for row in FORWARD] + [(backward, row) for row in BACKWARD]


@pytest.mark.parametrize(
    ("make", "row"), MAKERS, ids=[f"{make.__name__}-{row[0]}" for make, row in MAKERS]
)
def test_each_check(bench, make, row):
    """Section 1.1, one row each."""
    _, breaks, status, argument = row
    for change in breaks:
        with refused(status, argument):
            make(bench.engine, **change)


PAIRS = [
    (make, first, second)
    for make, rows in ((forward, FORWARD), (backward, BACKWARD))
    for first, second in combinations(rows, 2)
]


@pytest.mark.parametrize(
    ("make", "first", "second"), PAIRS, ids=[f"{m.__name__}-{a[0]}-{b[0]}" for m, a, b in PAIRS]
)
def test_the_first_failure_wins(bench, make, first, second):
    """Section 1.1: with two broken rows the upper one answers."""
    both = [
        one | other for one, other in product(first[1], second[1]) if not one.keys() & other.keys()
    ]
    assert both
    with refused(first[2], first[3]):
        make(bench.engine, **both[0])


@pytest.mark.parametrize("axis", [-1, -2, 2, 12, None, 1.0, "0", True, np.True_])
@pytest.mark.parametrize("make", [forward, backward])
def test_axes_do_not_count_from_the_back(bench, make, axis):
    """Section 1.1, check 4."""
    with refused("invalid_arguments", "axis"):
        make(bench.engine, axis=axis)


@pytest.mark.parametrize("axis", [None, 1.0, "0", False], ids=repr)
def test_an_axis_that_is_no_integer(bench, axis):
    with refused("invalid_arguments", "axis") as caught:
        forward(bench.engine, axis=axis)
    assert "is no integer" in str(caught.value)
    assert f"got:      {describe(axis)}\n" in str(caught.value)


@pytest.mark.parametrize("kind", [0, 128, 192, 193, 64.0, dnnl.algorithm.undef, None, True])
def test_other_kinds_are_no_forward_kinds(bench, kind):
    with refused("invalid_arguments", "prop_kind"):
        forward(bench.engine, prop_kind=kind)


@pytest.mark.parametrize("kind", [64, 96, dnnl.prop_kind.forward])
def test_both_forward_kinds_are_taken(bench, kind):
    assert forward(bench.engine, prop_kind=kind).get_prop_kind() == kind


@pytest.mark.parametrize("kind", [0x30002, 0x1FFF0, 0x20, None, "softmax_log", 1.5])
@pytest.mark.parametrize("make", [forward, backward])
def test_other_algorithms_are_no_softmax(bench, make, kind):
    with refused("invalid_arguments", "algorithm"):
        make(bench.engine, algorithm=kind)


@pytest.mark.parametrize("engine", [None, "cpu", dnnl.engine_description(dnnl.engine_kind.any)])
def test_something_that_is_no_engine(engine):
    with refused("invalid_arguments", "engine"):
        forward(engine)


def test_a_hint_is_a_forward_descriptor(bench):
    hint = forward(bench.engine)
    assert backward(bench.engine, hint_fwd_pd=hint).get_prop_kind() == 160
    with refused("invalid_arguments", "hint_fwd_pd"):
        backward(bench.engine, hint_fwd_pd=3)


@pytest.mark.parametrize("make", [forward, backward])
def test_something_that_is_no_attr(bench, make):
    with refused("invalid_arguments", "attr"):
        make(bench.engine, attr=dnnl.post_ops())


def test_shapes_that_differ(bench):
    """Section 1.1: oneDNN's fast paths refuse them, its reference does not look; here refused."""
    with refused("unimplemented", "src"):
        forward(bench.engine, src_desc=md((2, 4)))
    with refused("unimplemented", "src|dst"):
        forward(bench.engine, src_desc=md((2, 4)), dst_desc=md(SHAPE, "f32", "any"))
    with refused("unimplemented", "src"):
        forward(bench.engine, src_desc=dnnl.memory_desc())
    with refused("unimplemented", "diff_dst"):
        backward(bench.engine, diff_dst_desc=md((2, 4)))


def test_an_output_that_repeats_elements(bench):
    with refused("unimplemented", "dst"):
        forward(bench.engine, dst_desc=md(SHAPE, "f32", (0, 1)))
    with refused("unimplemented", "diff_src"):
        backward(bench.engine, diff_src_desc=md(SHAPE, "f32", (0, 1)))


# ---- ranks --------------------------------------------------------------------------------------

GPU = [
    dnnl.engine_description(dnnl.engine_kind.gpu, vendor=vendor)
    for vendor in ("intel", "nvidia", "generic")
]


@pytest.mark.parametrize("rank", range(1, 13))
def test_cpu_ranks(bench, rank):
    """Section 1.1: rank 1 to 12."""
    desc = md((2,) * rank)
    assert forward(bench.engine, src_desc=desc, dst_desc=desc, axis=rank - 1).dst_desc() == desc


@pytest.mark.parametrize("engine", GPU, ids=lambda e: e.vendor)
@pytest.mark.parametrize("rank", [1, 6, 7, 12])
def test_gpu_ranks(engine, rank):
    """Section 1.1: at most 6 on a GPU; no card is needed to say so."""
    desc = md((2,) * rank)
    if rank <= 6:
        assert forward(engine, src_desc=desc, dst_desc=desc).dst_desc() == desc
        return
    with refused("unimplemented", "dst"):
        forward(engine, src_desc=desc, dst_desc=desc)
    with refused("unimplemented", "dst"):
        backward(engine, diff_src_desc=desc, diff_dst_desc=desc, dst_desc=desc)


def test_a_description_executes_nothing():
    pd = forward(GPU[0])
    assert "no device" in pd.impl_info_str()
    with refused("runtime_error", "pd"):
        dnnl.softmax_forward(pd)


# ---- types --------------------------------------------------------------------------------------

ALL = ["f32", "bf16", "f16", "f8_e5m2", "f8_e4m3", "s8", "u8", "f64", "s32"]
SEVEN = set(ALL[:7])
FIVE = {"f32", "bf16", "f16", "s8", "u8"}
FLOATS = {"f32", "bf16", "f16"}
CPU = dnnl.engine_description()
# Section 1.3 by engine: the union of its implementations. src, dst, and what is the same.
FORWARD_TYPES = [
    ("cpu", CPU, {(s, d) for s in SEVEN for d in SEVEN}),
    ("intel", GPU[0], {(s, d) for s in FIVE | {"f64"} for d in SEVEN | {"f64"}}),
    ("nvidia", GPU[1], {(t, t) for t in ("f32", "f16", "bf16", "s8")}),
    ("generic", GPU[2], {(s, d) for s in FIVE for d in FIVE}),
    ("f64 option", dnnl.engine_description(allow_f64=True),
     {(s, d) for s in SEVEN for d in SEVEN} | {("f64", "f64")}),
]  # fmt: skip
BACKWARD_TYPES = [
    ("cpu", CPU, {(y, y, d) for y in FLOATS for d in FLOATS}),
    ("intel", GPU[0], {(y, y, d) for y in FLOATS | {"f64"} for d in FLOATS | {"f64"}}),
    ("nvidia", GPU[1], {(y, y, y) for y in FLOATS}),
    ("generic", GPU[2], {(y, y, d) for y in FLOATS for d in FLOATS}),
    ("f64 option", dnnl.engine_description(allow_f64=True),
     {(y, y, d) for y in FLOATS for d in FLOATS} | {("f64", "f64", "f64")}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "engine", "taken"), FORWARD_TYPES)
@pytest.mark.parametrize("algorithm", ["accurate", "log"])
def test_forward_types(name, engine, taken, algorithm):
    """Section 1.3: every pairing, taken or refused as unimplemented."""
    for src, dst in product(ALL, ALL):
        call = {"src_desc": md(SHAPE, src), "dst_desc": md(SHAPE, dst)}
        call["algorithm"] = ALGORITHMS[algorithm]
        if (src, dst) in taken:
            forward(engine, **call)
        else:
            with refused("unimplemented", "dst_desc"):
                forward(engine, **call)


@pytest.mark.parametrize(
    ("engine", "expected"),
    [
        (CPU, "f16, bf16, f32, s8, u8 -> f16, bf16, f32, s8, u8, f8_e5m2, f8_e4m3"),
        (GPU[1], "f16, bf16, f32, s8 -> f16, bf16, f32, s8, all alike"),
    ],
)
def test_a_refusal_of_types_names_those_that_are_taken(engine, expected):
    with refused("unimplemented", "dst_desc") as caught:
        forward(engine, src_desc=md(SHAPE, "s32"), dst_desc=md(SHAPE, "f32"))
    assert expected in str(caught.value)


@pytest.mark.parametrize(("name", "engine", "taken"), BACKWARD_TYPES)
def test_backward_types(name, engine, taken):
    """Section 1.3: dst and diff_dst of one type, no integers, no f8."""
    for dst, diff_dst, diff_src in product(ALL, ALL, ALL):
        call = {
            "dst_desc": md(SHAPE, dst),
            "diff_dst_desc": md(SHAPE, diff_dst),
            "diff_src_desc": md(SHAPE, diff_src),
        }
        if (dst, diff_dst, diff_src) in taken:
            backward(engine, **call)
        else:
            with refused("unimplemented", "dst_desc"):
                backward(engine, **call)


def test_one_descriptor_for_all_on_nvidia():
    """Section 1.3, row cuDNN: the layouts are the same, too."""
    other = md(SHAPE, "f32", "ba")
    with refused("unimplemented"):
        forward(GPU[1], dst_desc=other)
    with refused("unimplemented"):
        backward(GPU[1], diff_src_desc=other)


def test_inf_as_zero_has_no_f64():
    with refused("unimplemented", "algorithm"):
        forward(
            dnnl.engine_description(allow_f64=True),
            src_desc=md(SHAPE, "f64"),
            dst_desc=md(SHAPE, "f64"),
            algorithm=ALGORITHMS["inf_as_zero"],
        )


# ---- layouts that are left open, and queries ----------------------------------------------------


def test_any_in_forward(bench):
    """Section 1.4: dst takes the layout of src, with its own type."""
    pd = forward(bench.engine, src_desc=md(SHAPE, "bf16", "ba"), dst_desc=md(SHAPE, "u8", "any"))
    assert pd.dst_desc() == md(SHAPE, "u8", "ba")
    assert pd.src_desc() == md(SHAPE, "bf16", "ba")


def test_any_in_backward(bench):
    """Section 1.4: diff_dst takes dst's layout, diff_src takes diff_dst's."""
    pd = backward(
        bench.engine,
        dst_desc=md(SHAPE, "f16", "ba"),
        diff_dst_desc=md(SHAPE, "f16", "any"),
        diff_src_desc=md(SHAPE, "f32", "any"),
    )
    assert pd.diff_dst_desc() == md(SHAPE, "f16", "ba")
    assert pd.diff_src_desc() == md(SHAPE, "f32", "ba")
    chosen = backward(
        bench.engine,
        diff_dst_desc=md(SHAPE, "f32", "ba"),
        diff_src_desc=md(SHAPE, "f32", "any"),
    )
    assert chosen.diff_src_desc() == md(SHAPE, "f32", "ba")


def test_queries(bench):
    pd = forward(bench.engine, axis=1)
    assert (pd.get_axis(), pd.get_kind(), pd.get_engine()) == (1, "softmax", bench.engine)
    assert pd.get_algorithm() is dnnl.algorithm.softmax_accurate
    assert pd.query_md(dnnl.DNNL_ARG_SRC) == pd.src_desc() == md(SHAPE)
    assert pd.query_md(dnnl.DNNL_ARG_DIFF_SRC) == dnnl.memory_desc()
    assert pd.query_md(np.int64(dnnl.DNNL_ARG_SRC)) == md(SHAPE)
    for wrong in (np.array([1, 2]), np.array([1]), [], None, "src", 1.0):
        with refused("invalid_arguments", "index"):
            pd.query_md(wrong)
    assert pd.workspace_desc() == dnnl.memory_desc()
    assert not pd.next_impl()
    assert "softmax" in pd.impl_info_str()
    assert "softmax" in pd.explain()
    assert backward(bench.engine).dst_desc() == md(SHAPE)
    with refused("invalid_arguments", "pd"):
        dnnl.softmax_backward(pd)
    assert dnnl.softmax_forward(pd).get_primitive_desc() is pd
