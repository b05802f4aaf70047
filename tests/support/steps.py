# SPDX-License-Identifier: Apache-2.0
"""Operations after a softmax as numpy does them: one after the other, each rounded to float32.

`fuses`: a multiply-add is one rounding, as on every processor but those with no more than SSE2.
"""

from __future__ import annotations

import platform

import ml_dtypes
import numpy as np

from aclnn_py.core.extras import Binary, Eltwise, Extras

F = np.float32
#: Is never folded; once, it turns 0 to -0.
SAME = Extras(post_ops=(Eltwise("abs"), Eltwise("abs")))

#: Operands of a row, of n elements.
ROWS = {
    "usual": lambda rng, n: rng.normal(size=n),
    "positive": lambda rng, n: rng.uniform(0, 2, n),
    "zeros": lambda _, n: np.tile([0.0, -0.0], n // 2 + 1)[:n],
    # A product goes into the factor where what it loses vanishes beside what is added.
    "sparse": lambda rng, n: np.where(rng.uniform(size=n) < 0.3, 0.0, rng.normal(size=n)),
    "far apart": lambda rng, n: 2.0 ** rng.uniform(-150, 60, n),
    "just beside": lambda rng, n: 2.0 ** rng.uniform(-60, -40, n) * rng.choice([-1, 1], n),
    "huge": lambda rng, n: rng.normal(size=n) * 1e38,
    "tiny": lambda rng, n: rng.normal(size=n) * 1e-42,
    "small": lambda rng, n: rng.normal(size=n) * 1e-35,  # products are subnormal
    "special": lambda rng, n: np.where(
        rng.uniform(size=n) < 0.01, np.nan, rng.normal(size=n) * 1e30
    ),
    "one value": lambda rng, _: rng.normal(size=1),
}


def fuses_on(isa):
    """Whether kernels of that instruction set have multiply-adds: x86's baseline has none."""
    return isa != "baseline" or platform.machine() in {"aarch64", "arm64"}


def linear(t, a, b, fuses):
    """a t + b; float64 holds the product, and rounds the sum but for a tie of float32."""
    return (a.astype(float) * t.astype(float) + b).astype(F) if fuses else a * t + b


def one(op, t, s, fuses=True):
    """One operation as the reference names it; `s` is the operand of a binary one."""
    if isinstance(op, Binary):
        if op.alg == "max":
            return np.where(t > s, t, s)
        if op.alg == "min":
            return np.where(t < s, t, s)
        if op.alg == "gt":
            return (t > s).astype(F)
        by_name = {"add": np.add, "mul": np.multiply, "sub": np.subtract, "div": np.divide}
        return by_name[op.alg](t, s)
    a, b = F(op.alpha), F(op.beta)
    if op.alg == "clip":
        above = np.where(t > a, t, a)
        return np.where(b < above, b, above)
    if op.alg == "linear":
        return linear(t, a, b, fuses)
    if op.alg == "abs":
        return np.where(t > 0, t, -t)
    return t * t if op.alg == "square" else np.where(t > 0, t, a * t)


def applied(t, program, scale, rows, fuses=True):
    """All of them, each rounded to float32."""
    rows = iter(rows)
    with np.errstate(all="ignore"):
        t = t * F(scale)
        for op in program:
            t = one(op, t, next(rows) if isinstance(op, Binary) else None, fuses)
    return t


def rounded(t, target):
    if target == "uint8" or target == "int8":
        info = np.iinfo(target)
        return np.where(np.isnan(t), 0, np.rint(np.clip(t, info.min, info.max))).astype(target)
    with np.errstate(all="ignore"):
        return t.astype(ml_dtypes.bfloat16 if target == "bfloat16" else target)


def bits(a):
    """Bit patterns, all NaNs alike."""
    words = np.ascontiguousarray(a).view(f"u{a.itemsize}")
    if a.dtype.kind in "iu":
        return words
    infinity = np.array(np.inf, a.dtype).view(words.dtype)
    return np.where(words & (np.iinfo(words.dtype).max >> 1) > infinity, 0, words)


def assert_same(got, wanted, what):
    differ = np.argwhere(bits(got) != bits(wanted))
    assert len(differ) == 0, (what, differ[:4], got[tuple(differ[0])], wanted[tuple(differ[0])])


def digest(a):
    return hash(bits(a).tobytes())


#: Digests of what numpy wants, for ways whose plain softmax has the same bits: numpy takes longer
#: than the kernels.
WANTED: dict[tuple, int] = {}


def assert_wanted(got, make, key):
    """`got` has the bits of `make()`; `key` says what that is made of."""
    if key not in WANTED:
        WANTED[key] = digest(make())
    if digest(got) != WANTED[key]:
        assert_same(got, make(), key[1:])
        raise AssertionError(f"{key[1:]}: another result than in an earlier way")
