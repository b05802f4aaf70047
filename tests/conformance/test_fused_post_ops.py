# SPDX-License-Identifier: Apache-2.0
"""Every post operation against float64 formulas, on every instruction set, special values too."""

from __future__ import annotations

from math import erfc

import ml_dtypes
import numpy as np
import pytest

from aclnn_native import lib
from aclnn_py.core import settings
from aclnn_py.core.extras import (
    BINARY_ALGORITHMS,
    ELTWISE_ALGORITHMS,
    Binary,
    Eltwise,
    Extras,
    Select,
)
from support.fused import forward

ISAS = [
    name
    for name, bit in {"baseline": 1, "avx2": 2, "avx512": 4}.items()
    if lib.aclpy_isa_supported() & bit
]
INF, NAN = np.inf, np.nan
EPS = 2.0**-23
SPECIAL = np.array(
    [0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 3.5, 1e-30, 1e-40, 1e-45, -1e-40, 3e38, -3e38, 88.7, 88.8,
     104.0, -88.7, -104.0, 20.0, 20.1, -20.0, 1e-4, -1e-4,
     8388607.5, 8388609.0, 0.49999997, INF, -INF, NAN]
)  # fmt: skip


@pytest.fixture(params=ISAS)
def isa(request):
    with settings.override(isa=request.param, fallback="error"):
        yield request.param


def values(shape=(7, 193), seed=5):
    """Any float32: special ones first, then all magnitudes, then the neighbourhood of 0 and 1."""
    rng = np.random.default_rng(seed)
    count = int(np.prod(shape))
    t = np.where(
        rng.random(count) < 0.3,
        np.ldexp(rng.uniform(-1, 1, count), rng.integers(-30, 12, count)),
        rng.normal(size=count) * 3,
    )
    t[: len(SPECIAL)] = SPECIAL
    return t.astype(np.float32).reshape(shape)


def small(seed=6):
    """What functions with polynomials near 0, or of normal numbers, take them for, many at once."""
    rng = np.random.default_rng(seed)
    n = 7 * 64
    t = rng.uniform(-0.5, 0.5, (4, n))
    t[0] = abs(t[0])
    t[1] *= 0.3
    t[2] *= rng.random(n) ** 8
    # One vector in four, about where functions end that are for small arguments.
    most = np.repeat([0.1, 0.33, 0.36, 0.49, 0.54, 0.99, 1.1], 64)
    t[3] = np.copysign(most * rng.uniform(0.94, 1, n), t[3])
    t[3, np.arange(n) // 16 % 4 != 0] *= 1e-3
    return t.astype(np.float32)


def through(device, stream, t, ops, **tensors):
    """`ops` applied to any values: the softmax is multiplied by 0 and they are added."""
    zero = np.zeros((1,) * t.ndim, np.float32)
    extras = Extras(post_ops=(Binary("mul"), Binary("add"), *ops))
    src = np.ones(t.shape, np.float32)
    return forward(
        device, stream, extras, src, "float32", -1, post_op_0_src1=zero, post_op_1_src1=t, **tensors
    )["dst"]


def log1p_exp(s):
    return np.maximum(s, 0) + np.log1p(np.exp(-np.abs(s)))


def tanh_half(s):
    """(1 + tanh s) / 2 without cancellation."""
    return 1 / (1 + np.exp(-2 * s))


def logistic(s):
    """The specification's, which ends at the largest float32 exponential."""
    return np.where(-s >= 88.72283172607421875, 0.0, 1 / (1 + np.exp(-s)))


def erfc_half(s):
    return 0.5 * np.vectorize(erfc, otypes=[np.float64])(-s)


def gelu_argument(s):
    return np.sqrt(2 / np.pi) * (s + 0.044715 * s**3)


def clip(s, low, high):
    up = np.where(s > low, s, low)
    return np.where(up > high, high, up)


def ramp(s, a, b):
    return np.where(a * s + b <= 0, 0, np.where(a * s + b >= 1, 1, a * s + b))


def softplus32(s, a):
    """Its argument is a float32 product."""
    return log1p_exp((a * s).astype(np.float32).astype(np.float64)) / a


def power(s, a, b):
    """C's pow; an exponent of its own for each element keeps NumPy from taking a square root."""
    return a * np.power(s, np.full_like(s, b))


POWERS = [
    (1, 0.5),
    (2, 3),
    (1, -2),
    (1, 2),
    (-1, 1),
    (1, 0),
    (1, -1),
    (1, -0.75),
    (1, 2.5),
    (3, 1.5),
    (1, 0.3),
    (1, -0.3),
    (-0.5, 3.9),
    (1, -2.5),
    (1, 4.5),
    (2, -7.7),
    (1, 100.5),
]
# alg: (formula of s, alpha, beta), pairs of constants to try, most relative error [float32 eps]
ELTWISE = {
    "abs": (lambda s, _a, _b: np.where(s > 0, s, -s), [(0, 0)], 0),
    "clip": (clip, [(-1, 2), (0, 0)], 0),
    "elu": (lambda s, a, _b: np.where(s > 0, s, a * np.expm1(np.minimum(s, 0))),
            [(1, 0), (0.5, 0), (-2, 0)], 4),
    "exp": (lambda s, _a, _b: np.exp(s), [(0, 0)], 2),
    "log": (lambda s, _a, _b: np.log(s), [(0, 0)], 2),
    "sqrt": (lambda s, _a, _b: np.sqrt(s), [(0, 0)], 0.5),
    "square": (lambda s, _a, _b: s * s, [(0, 0)], 0.5),
    "gelu_erf": (lambda s, _a, _b: s * erfc_half(s / np.sqrt(2)), [(0, 0)], 6),
    "gelu_tanh": (lambda s, _a, _b: s * tanh_half(gelu_argument(s)), [(0, 0)], 6),
    "hardsigmoid": (ramp, [(0.2, 0.5), (1, 0)], 1),
    "hardswish": (lambda s, a, b: s * ramp(s, a, b), [(1 / 6, 0.5)], 2),
    "linear": (lambda s, a, b: a * s + b, [(2, 0), (-0.5, 1.25), (0, 3)], 1),
    "logistic": (lambda s, _a, _b: logistic(s), [(0, 0)], 3),
    "mish": (lambda s, _a, _b: s * np.tanh(log1p_exp(s)), [(0, 0)], 5),
    "pow": (power, POWERS, 1.5),
    "relu": (lambda s, a, _b: np.where(s > 0, s, a * s), [(0, 0), (0.1, 0), (-1, 0)], 0.5),
    "round": (lambda s, _a, _b: np.rint(s), [(0, 0)], 0),
    "soft_relu": (lambda s, a, _b: softplus32(s, a), [(1, 0), (2, 0), (-0.5, 0)], 4),
    "swish": (lambda s, a, _b: s * logistic(a * s), [(1, 0), (0.5, 0), (-2, 0)], 4),
    "tanh": (lambda s, _a, _b: np.tanh(s), [(0, 0)], 3),
}  # fmt: skip


def test_the_table_is_complete():
    plain = {
        name.removesuffix("_use_dst_for_bwd").removesuffix("_v2") for name in ELTWISE_ALGORITHMS
    }
    assert plain == set(ELTWISE)


@pytest.mark.parametrize("alg", ELTWISE_ALGORITHMS)
@pytest.mark.parametrize(
    "t", [values((7, 193)), values((3, 448)), small()], ids=["odd", "whole", "small"]
)
def test_eltwise(device, stream, isa, alg, t):
    plain = alg.removesuffix("_use_dst_for_bwd").removesuffix("_v2")
    formula, constants, ulps = ELTWISE[plain]
    for alpha, beta in constants:
        got = through(device, stream, t, [Eltwise(alg, alpha, beta)]).astype(np.float64)
        with np.errstate(all="ignore"):
            a, b = float(np.float32(alpha)), float(np.float32(beta))
            want = np.asarray(formula(t.astype(np.float64), a, b))
            rounded = want.astype(np.float32).astype(np.float64)
            # An operation whose inner sum cancels is held to the size of its terms.
            size = np.abs(want) + (
                np.abs(a * t) + abs(b) if "hard" in alg or alg == "linear" else 0
            )
            # e^x of a rounded argument: one rounding of x is |x| of the result.
            bend = BENDS.get(plain, lambda s, _a: 0 * s)(t.astype(np.float64), a)
            error = np.abs(got - rounded)
            tiny = 1.5e-45 * (1 + np.abs(t))
            good = (error <= (ulps + np.abs(bend)) * EPS * size + tiny) | (got == rounded)
            good |= np.isnan(got) & np.isnan(want)
        where = np.argwhere(~good)
        assert good.all(), (
            alg,
            alpha,
            beta,
            isa,
            t[tuple(where[0])],
            got[tuple(where[0])],
            want[tuple(where[0])],
        )


@pytest.mark.parametrize("alpha", [2.0, 3.0, 1e30, 3e38, -2.0, -3e38])
def test_soft_relu_is_linear_where_its_argument_overflows(device, stream, isa, alpha):
    large = np.array([[1e10, 10.0, 1e38, 2e38, 3e38, 3.4e38] * 12], np.float32)
    t = large if alpha > 0 else -large
    got = through(device, stream, t, [Eltwise("soft_relu", alpha)])
    far = alpha * t.astype(np.float64) > 89
    np.testing.assert_array_equal(got[far], t[far])
    np.testing.assert_allclose(got, t, rtol=1e-6)


@pytest.mark.parametrize("alg", sorted(ELTWISE))
def test_no_value_depends_on_its_neighbours(device, stream, isa, alg):
    """Elements in ordinary company are taken many at once, beside others one by one."""
    t = small()
    loud = np.arange(t.shape[1]) % 16 == 5
    beside = t.copy()
    beside[:, loud] = np.resize([3, NAN, 1e-40, -2, INF, 0, -INF], (len(t), loud.sum()))
    for alpha, beta in ELTWISE[alg][1]:
        ops = [Eltwise(alg, alpha, beta)]
        alone = through(device, stream, t, ops)
        among = through(device, stream, beside, ops)
        np.testing.assert_array_equal(alone[:, ~loud], among[:, ~loud])


#: The argument of the exponential inside, as far as float32 rounds it.
BENDS = {
    "gelu_erf": lambda s, _a: s * s,
    "gelu_tanh": lambda s, _a: 4 * (s + 0.044715 * s**3),
    "swish": lambda s, a: a * s,
    "soft_relu": lambda s, a: a * s,
    "exp": lambda s, _a: 0.05 * s,
}

BINARY = {
    "add": np.add, "mul": np.multiply, "div": np.divide, "sub": np.subtract,
    "max": lambda t, s: np.where(t > s, t, s), "min": lambda t, s: np.where(t < s, t, s),
    "ge": np.greater_equal, "gt": np.greater, "le": np.less_equal, "lt": np.less,
    "eq": np.equal, "ne": np.not_equal,
}  # fmt: skip
OPERANDS = [np.float32, np.float16, ml_dtypes.bfloat16, np.int8, np.uint8, np.int32,
            ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn]  # fmt: skip
#: Which dimensions of [4, 5, width] an operand has; short rows and long ones take other ways.
BROADCASTS = [
    (0, 0, 0),
    (0, 1, 0),
    (1, 0, 0),
    (0, 0, 1),
    (1, 0, 1),
    (0, 1, 1),
    (1, 1, 0),
    (1, 1, 1),
]
WIDTHS = (37, 320)


def broadcast(which, width):
    return tuple(size if has else 1 for size, has in zip((4, 5, width), which, strict=True))


def operand(shape, dtype, seed=3):
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(max(info.min, -(2**24)), min(info.max, 2**24), shape).astype(dtype)
    return (rng.normal(size=shape) * 2).astype(dtype)


@pytest.mark.parametrize("alg", BINARY_ALGORITHMS)
@pytest.mark.parametrize("width", WIDTHS)
def test_binary_is_the_float32_operation(device, stream, isa, alg, width):
    t = values((4, 5, width))
    for number, which in enumerate(BROADCASTS):
        shape = broadcast(which, width)
        s = operand(shape, OPERANDS[number % len(OPERANDS)])
        if alg in ("eq", "ne", "ge", "le") and shape == t.shape:
            s = np.where(np.random.default_rng(1).random(shape) < 0.5, t, 0).astype(np.float32)
        got = through(device, stream, t, [Binary(alg)], post_op_2_src1=s)
        with np.errstate(all="ignore"):
            want = BINARY[alg](t, s.astype(np.float32)).astype(np.float32)
        np.testing.assert_array_equal(got, want, err_msg=f"{alg} {shape} {s.dtype}")


@pytest.mark.parametrize("dtype", OPERANDS, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("which", BROADCASTS)
@pytest.mark.parametrize("width", WIDTHS)
def test_operands_of_every_type_and_broadcast(device, stream, isa, dtype, which, width):
    t = values((4, 5, width))
    s = operand(broadcast(which, width), dtype)
    got = through(device, stream, t, [Binary("add")], post_op_2_src1=s)
    with np.errstate(all="ignore"):
        want = t + s.astype(np.float32)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", [ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn])
def test_every_float8_pattern_loads(device, stream, isa, dtype):
    s = np.arange(256, dtype=np.uint8).view(dtype).reshape(2, 128)
    got = through(device, stream, np.zeros((2, 128), np.float32), [Binary("add")], post_op_2_src1=s)
    np.testing.assert_array_equal(got, s.astype(np.float32))


def test_int32_rounds_to_nearest_float(device, stream, isa):
    s = np.array([[2**24 + 1, 2**31 - 1, -(2**31), 2**25 + 3]], np.int32)
    got = through(device, stream, np.zeros((1, 4), np.float32), [Binary("add")], post_op_2_src1=s)
    np.testing.assert_array_equal(got, s.astype(np.float32))


@pytest.mark.parametrize("condition", [(4, 5, 37), (1, 1, 1), (1, 5, 1)])
def test_select(device, stream, isa, condition):
    t = values((4, 5, 37))
    s = operand((1, 5, 37), np.float32)
    c = np.random.default_rng(4).integers(-1, 2, condition).astype(np.int8)
    got = through(device, stream, t, [Select()], post_op_2_src1=s, post_op_2_src2=c)
    want = np.where(np.broadcast_to(c, t.shape) != 0, t, np.broadcast_to(s, t.shape))
    np.testing.assert_array_equal(got, want)


def test_order_matters_and_is_kept(device, stream, isa):
    t = values((3, 50))
    s = operand((3, 50), np.float32)
    first = through(device, stream, t, [Binary("mul"), Eltwise("relu")], post_op_2_src1=s)
    second = through(device, stream, t, [Eltwise("relu"), Binary("mul")], post_op_3_src1=s)
    with np.errstate(all="ignore"):
        product, clipped = t * s, np.where(t > 0, t, np.float32(0) * t)
        np.testing.assert_array_equal(
            first, np.where(product > 0, product, np.float32(0) * product)
        )
        np.testing.assert_array_equal(second, clipped * s)


def test_thirty_two_post_ops_with_two_operands_each(device, stream, isa):
    rng = np.random.default_rng(8)
    shape = (3, 4, 50)
    src = rng.normal(size=shape).astype(np.float32)
    tensors = {}
    for k in range(32):
        tensors[f"post_op_{k}_src1"] = operand((shape[0], 1, 50) if k % 2 else shape, np.float32, k)
        tensors[f"post_op_{k}_src2"] = rng.integers(0, 4, shape).astype(np.int8)
    got = forward(device, stream, Extras(post_ops=(Select(),) * 32), src, "float32", 1, **tensors)
    plain = forward(device, stream, Extras(), src, "float32", 1)["dst"]
    want = plain
    for k in range(32):
        other = np.broadcast_to(tensors[f"post_op_{k}_src1"], shape)
        want = np.where(tensors[f"post_op_{k}_src2"] != 0, want, other)
    np.testing.assert_allclose(got["dst"], want, rtol=1.2e-6, atol=1.2e-7)
