# SPDX-License-Identifier: Apache-2.0
"""One forward or backward call of the oneDNN dialect, from a name of each of its properties."""

from __future__ import annotations

import numpy as np

from aclnn_py.dialects import onednn as dnnl
from support import onednn_oracle as oracle
from support.onednn import NUMPY, md

SRC, DST = dnnl.DNNL_ARG_SRC, dnnl.DNNL_ARG_DST
# Parameters under which every function is smooth where softmax values lie.
ELTWISE_PARAMETERS = {
    "clip": (0.05, 0.5), "clip_v2": (0.05, 0.5), "clip_v2_use_dst_for_bwd": (0.05, 0.5),
    "elu": (0.7, 0.0), "elu_use_dst_for_bwd": (0.7, 0.0), "hardsigmoid": (0.4, 0.3),
    "hardswish": (0.4, 0.3), "linear": (1.5, -0.25), "pow": (2.0, 1.5), "relu": (0.3, 0.0),
    "relu_use_dst_for_bwd": (0.3, 0.0), "soft_relu": (2.0, 0.0), "swish": (1.7, 0.0),
}  # fmt: skip


def operand(name, shape, seed=9):
    """A second operand: repeated as `name` says, away from 0 and from ties with results."""
    dims = {
        "scalar": (1,) * len(shape),
        "channel": tuple(n if axis == 1 else 1 for axis, n in enumerate(shape)),
        "row": tuple(1 if axis == len(shape) - 1 else n for axis, n in enumerate(shape)),
        "full": shape,
    }[name]
    return np.random.default_rng(seed).uniform(0.26, 0.74, dims).astype(np.float32)


class Attribute:
    """What one named attribute means: for the dialect, for the oracle, and the extra memory."""

    def __init__(self, name, shape):
        self.attr, self.problem, self.args = dnnl.primitive_attr(), {"post_ops": []}, {}
        self.ops, self.shape, self.has_mask, self.relaxed = dnnl.post_ops(), shape, False, False
        for part in name.split("+"):
            kind, *words = part.split(":")
            getattr(self, f"add_{kind}")(*words)
        self.attr.set_post_ops(self.ops)

    def add_none(self):
        pass

    def add_user_scratchpad(self):
        self.attr.set_scratchpad_mode(dnnl.scratchpad_mode.user)

    def add_fpmath(self, mode):
        self.attr.set_fpmath_mode(dnnl.fpmath_mode[mode])

    def add_accumulation(self, mode):
        self.attr.set_accumulation_mode(dnnl.accumulation_mode[mode])
        self.relaxed = mode != "strict"

    def add_scale(self, which, value, where="device"):
        arg = {"src": SRC, "dst": DST}[which]
        self.problem[f"{which}_scale"] = float(value)
        if where == "host":
            self.attr.set_host_scale(arg)
        else:
            self.attr.set_scales_mask(arg, 0)
        self.args[dnnl.DNNL_ARG_ATTR_SCALES | arg] = float(value)

    def add_dropout(self, p, seed, offset="", options=""):
        self.has_mask = "mask" in options
        self.attr.set_dropout(
            md(self.shape, "u8") if self.has_mask else None,
            dnnl.data_type.s32 if "s32" in options else dnnl.data_type.s64,
            use_offset=bool(offset),
            use_host_scalars="host" in options,
        )
        self.problem["dropout"] = (float(p), int(seed), int(offset or 0))
        self.args |= {510: float(p), 511: int(seed)}
        if offset:
            self.args[507] = int(offset)

    def add_eltwise(self, name):
        a, b = ELTWISE_PARAMETERS.get(name, (0.0, 0.0))
        self.problem["post_ops"].append(("eltwise", name, a, b))
        self.ops.append_eltwise(dnnl.algorithm[f"eltwise_{name}"], a, b)

    def add_binary(self, name, repeated="full", dtype="f32", layout=None):
        values = operand(repeated, self.shape)
        values = (values if NUMPY[dtype].itemsize > 1 else np.rint(values * 3)).astype(NUMPY[dtype])
        if dtype == "s32":
            values = np.rint(operand(repeated, self.shape) * 3).astype(np.int32)
        index = len(self.ops)
        desc = md(values.shape, dtype, layout)
        self.ops.append_binary(dnnl.algorithm[f"binary_{name}"], desc)
        self.problem["post_ops"].append(("binary", name, values))
        self.args[dnnl.DNNL_ARG_ATTR_MULTIPLE_POST_OP(index) | dnnl.DNNL_ARG_SRC_1] = values

    def add_select(self, repeated="full"):
        values = operand(repeated, self.shape)
        cond = np.random.default_rng(4).integers(-1, 2, self.shape).astype(np.int8)
        index = len(self.ops)
        self.ops.append_binary(dnnl.algorithm.binary_select, md(values.shape), md(self.shape, "s8"))
        self.problem["post_ops"].append(("select", values, cond))
        base = dnnl.DNNL_ARG_ATTR_MULTIPLE_POST_OP(index)
        self.args |= {base | dnnl.DNNL_ARG_SRC_1: values, base | dnnl.DNNL_ARG_SRC_2: cond}

    def memory(self, bench, pd):
        """Memory of the extra arguments."""
        found = {}
        for index, values in self.args.items():
            desc = pd.query_md(index)
            if np.ndim(values) == 0:
                found[index] = bench.single(desc, values)
            else:
                found[index] = bench.memory(desc, values)
        if self.has_mask:
            found[509] = bench.memory(pd.query_md(509))
        return found


def layout(name, shape):
    """Strides of a named layout of `shape`."""
    order = list(range(len(shape)))
    if name == "last_first":
        order = [order[-1], *order[:-1]]
    if name == "second_last":
        order = [order[0], *order[2:], *order[1:2]] if len(shape) > 1 else order
    strides, step = [0] * len(shape), 1
    for axis in reversed(order):
        strides[axis] = step
        step *= shape[axis] + (2 if name == "gaps" else 0)
    return tuple(strides)


def run_forward(
    bench, x, axis, *, dst="f32", algorithm="accurate", attribute="none", src_layout="plain",
    dst_layout="plain", in_place=False, prop=dnnl.prop_kind.forward_inference,
):  # fmt: skip
    """Execute one call and compare it with the oracle; returns (result, mask or None)."""
    given = Attribute(attribute, x.shape)
    src_type = next(name for name, dtype in NUMPY.items() if dtype == x.dtype)
    src_desc = md(x.shape, src_type, layout(src_layout, x.shape))
    dst_desc = src_desc if in_place else md(x.shape, dst, layout(dst_layout, x.shape))
    pd = bench.forward_pd(src_desc, dst_desc, axis, algorithm, given.attr, prop)
    src = bench.memory(src_desc, x)
    target = src if in_place else bench.memory(dst_desc)
    args = {SRC: src, DST: target} | given.memory(bench, pd)
    bench.run(dnnl.softmax_forward(pd), args)
    got, log = target.numpy(), algorithm == "log"
    t, tolerance, mask = oracle.forward(
        x, axis, log=log, zero_rows=algorithm == "inf_as_zero", problem=given.problem
    )
    if given.relaxed and x.dtype == got.dtype and x.dtype not in (oracle.S8, oracle.U8):
        tolerance = tolerance + oracle.relaxed(got.dtype, log=log) * np.abs(t)
    oracle.assert_stored(got, t, tolerance)
    if not in_place:
        np.testing.assert_array_equal(src.numpy(), x)
    if given.has_mask:
        np.testing.assert_array_equal(args[509].numpy(), mask)
        return got, args[509].numpy()
    return got, None


def run_backward(
    bench, y, g, axis, *, diff_src="f32", algorithm="accurate", layouts=("plain",) * 3,
    in_place=False, attr=None,
):  # fmt: skip
    """Execute one gradient and compare it with the oracle."""
    given = next(name for name, dtype in NUMPY.items() if dtype == y.dtype)
    y_desc, g_desc, out_desc = (
        md(y.shape, dtype, layout(name, y.shape))
        for name, dtype in zip(layouts, (given, given, diff_src), strict=True)
    )
    out_desc = g_desc if in_place else out_desc
    pd = bench.backward_pd(out_desc, g_desc, y_desc, axis, algorithm, attr)
    incoming = bench.memory(g_desc, g)
    out = incoming if in_place else bench.memory(out_desc)
    args = {
        dnnl.DNNL_ARG_DST: bench.memory(y_desc, y),
        dnnl.DNNL_ARG_DIFF_DST: incoming,
        dnnl.DNNL_ARG_DIFF_SRC: out,
    }
    bench.run(dnnl.softmax_backward(pd), args)
    t, tolerance = oracle.backward(y, g, axis, log=algorithm == "log")
    oracle.assert_stored(out.numpy(), t, tolerance)
    return out.numpy()
