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
