# SPDX-License-Identifier: Apache-2.0
"""The fused forward over an axis before the last: every bit of the operations in turn.

The wanted value is numpy's on the float32 softmax, as in test_fused_folds.
"""

from __future__ import annotations

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
    digest,
    fuses_on,
    rounded,
)

F = np.float32
ISAS = supported()
#: Tiles whose rows are whole lines, and others; the last one narrower; as one row several of the
#: axis, the last of them shorter; copied for their pitch; in chunks, of several tiles, of whole
#: strips, of one tile.
SHAPES = [
    (3, 70, 640), (2, 150, 530), (9, 30, 49), (3, 33, 22), (5, 23, 2), (1, 300, 1024),
    (1, 2100, 270), (1, 2100, 256), (1, 5755, 30), (1, 6008, 32),
]  # fmt: skip
#: An operand differs along these dimensions: before, along and behind the axis.
WHERE = [(0, 1, 0), (0, 0, 1), (1, 1, 1), (0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 1)]
PROGRAMS = [
    (), (Eltwise("relu"),), (Eltwise("clip", 0.0, 0.5),), (Eltwise("clip", 1e-4, 0.01),),
    (Eltwise("linear", 2.0, 0.25),), (Eltwise("linear", 3.0, -1.0), Eltwise("clip", -1.0, -0.5)),
    (Binary("add"),), (Binary("mul"),), (Binary("sub"),), (Binary("div"),), (Binary("max"),),
    (Binary("mul"), Binary("add")), (Binary("add"), Binary("mul"), Binary("add")),
    (Binary("mul"), Eltwise("clip", 0.0, 0.25)), (Eltwise("linear", 4.0, 1.0), Binary("mul")),
    (Binary("gt"), Eltwise("linear", 0.3, 7.0)), (Eltwise("abs"), Binary("add")),
    (Eltwise("square"), Eltwise("relu")), (Binary("add"), Binary("min")),
]  # fmt: skip
TYPES = [
    ("float32", "float32"), ("bfloat16", "bfloat16"), ("float16", "float16"), ("float32", "uint8"),
    ("bfloat16", "int8"), ("float16", "float32"),
]  # fmt: skip
#: The last one as where nothing fits the caches. One thread, so that tiles follow one another.
WAYS = {name: {"isa": name} for name in ISAS} | {"past": {"isa": ISAS[-1], "last_level": 4096}}


@pytest.fixture(params=WAYS.values(), ids=WAYS)
def isa(request):
    before = lib.aclpy_thread_count()
    assert lib.aclpy_set_thread_count(1) == 0
    lib.aclpy_cache_set_last_level(request.param.get("last_level", 0))
    with settings.override(isa=request.param["isa"], fallback="error"):
        yield request.param["isa"]
    lib.aclpy_cache_set_last_level(0)
    lib.aclpy_set_thread_count(before)


def source(shape, dtype):
    """Usual columns; some special ones, in tiles of their own as well as among others."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=shape) * 3
    x[0, 1, 0] = 20.0
    x[-1, :, -1] = -np.inf
    x[-1, 0, 0] = np.nan
    x[-1, -1, shape[2] // 2] = np.inf
    return x.astype(dtype)


@pytest.mark.parametrize(("origin", "target"), TYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_bits_of_the_operations_in_turn(device, stream, isa, shape, origin, target):
    dtype = np.dtype(ml_dtypes.bfloat16 if origin == "bfloat16" else origin)
    x = source(shape, dtype)
    plain = forward(device, stream, SAME, x.astype(F), "float32", 1)["dst"]
    small, kinds, fuses = target in {"uint8", "int8"}, list(ROWS), fuses_on(isa)
    start = (digest(plain), fuses)
    for number, program in enumerate(PROGRAMS):
        rng = np.random.default_rng(number)
        places = [k for k, op in enumerate(program) if isinstance(op, Binary)]
        operands = []
        for k in range(len(places)):
            where = WHERE[(number + 3 * k) % len(WHERE)]
            of = tuple(n if wide else 1 for n, wide in zip(shape, where, strict=True))
            with np.errstate(over="ignore"):
                made = ROWS[kinds[(number + k) % len(kinds)]](rng, int(np.prod(of)))
                operands.append(np.resize(made, of).astype(F))
        tensors = {f"post_op_{k}_src1": s for k, s in zip(places, operands, strict=True)}
        scale, divisor = ((8.0, 1 / 255), (1.0, 1 / 128), (0.3, 0.01))[number % 3]
        tensors["src_scale"] = np.array([scale], F)
        if small:
            tensors["dst_scale"] = np.array([divisor], F)
        extras = Extras(src_scale=True, dst_scale=small, post_ops=program)
        got = forward(device, stream, extras, x, target, 1, **tensors)["dst"]

        def make(program=program, scale=scale, operands=operands, divisor=divisor):
            wanted = applied(plain, program, scale, operands, fuses)
            with np.errstate(all="ignore"):
                return rounded(wanted / F(divisor) if small else wanted, target)

        assert_wanted(got, make, (start, program, scale, target, number))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", ["float32", "bfloat16", "float16"])
def test_without_operations_of_note_it_is_the_softmax(device, stream, isa, shape, name):
    """Within the plain bounds of float64's; special columns stay among themselves."""
    x = source(shape, np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name))
    got = forward(device, stream, SAME, x, "float32", 1)["dst"]
    wide = x.astype(np.float64)
    with np.errstate(all="ignore"):
        e = np.exp(wide - wide.max(axis=1, keepdims=True))
        wanted = e / e.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(got, wanted, rtol=1.2e-6, atol=1e-37, equal_nan=True)


def test_operands_of_other_types_and_in_place(device, stream, isa):
    """bfloat16 along the axis, float16 behind it; y over x."""
    shape = (2, 130, 384)
    x = source(shape, F)
    plain = forward(device, stream, SAME, x, "float32", 1)["dst"]
    rng = np.random.default_rng(1)
    along = rng.normal(size=(1, 130, 1)).astype(ml_dtypes.bfloat16)
    behind = rng.normal(size=(1, 1, 384)).astype(np.float16)
    extras = Extras(post_ops=(Binary("mul"), Binary("add"), Eltwise("clip", -1.0, 1.0)))
    both = device.tensor(x)
    forward(device, stream, extras, x, "float32", 1, src=both, dst=both, post_op_0_src1=along,
            post_op_1_src1=behind)  # fmt: skip
    wanted = applied(plain, extras.post_ops, 1.0, [along.astype(F), behind.astype(F)])
    assert_same(both.numpy(), wanted, "in place")


@pytest.mark.parametrize("axis", [1, 2])
@pytest.mark.parametrize("least", [100.0, 0.0625, -0.0, np.nan, -np.inf])
@pytest.mark.parametrize("before", [None, "add", "mul"])
@pytest.mark.parametrize("target", ["float32", "uint8"])
def test_a_minimum_with_one_value(device, stream, isa, axis, least, before, target):
    """It is no clip: what meets it may be no number, or 0."""
    shape = (2, 40, 64)
    x = np.random.default_rng(5).normal(size=shape).astype(F)
    x[0] = [[0.0], *[[-200.0]] * 39]  # exponentials of 0
    plain = forward(device, stream, SAME, x, "float32", axis)["dst"]
    full = np.resize(np.array([0.5, np.nan, -0.0, np.inf, -np.inf, 2.0, 0.0], F), shape)
    operands = [full, np.full((1, 1, 1), least, F)][before is None :]
    program = (*([] if before is None else [Binary(before)]), Binary("min"))
    small = target == "uint8"
    tensors = {f"post_op_{k}_src1": s for k, s in enumerate(operands)}
    if small:
        tensors["dst_scale"] = np.ones(1, F)
    extras = Extras(dst_scale=small, post_ops=program)
    got = forward(device, stream, extras, x, target, axis, **tensors)["dst"]
    assert_same(got, rounded(applied(plain, program, 1.0, operands), target), program)
