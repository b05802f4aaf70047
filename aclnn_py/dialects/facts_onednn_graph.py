# SPDX-License-Identifier: Apache-2.0
"""The columns of oneDNN's Graph API."""

from __future__ import annotations

from typing import Final

from aclnn_py.dialects.facts import DialectFacts

__all__ = ["FACTS"]

_FLOATS: Final = ("f32", "f16", "bf16")


def _column(family: str, operator: str, counterpart: str, axis: int) -> DialectFacts:
    backward, log = family.endswith("backward"), family.startswith("log")
    forward_extras = "none" if log else "mode, stats, fusion of unary, binary, TypeCast, Quantize"
    output_dtype = "T" if log else "T or f32" if backward else "T, or f32 on exactly one side"
    return DialectFacts(
        dialect="oneDNN Graph",
        family=family,
        entry_points=f"op {operator} in a graph, get_partitions, compile, execute",
        counterpart=counterpart,
        inputs=("diff_dst", "dst") if backward else ("src",),
        output="diff_src" if backward else "dst" if log else "dst, stats (optional)",
        axis_name="axis",
        axis_type="s64",
        axis_defaults={operator: axis},
        negative_axis=True,
        axis_range="[-rank, rank), checked when the partition is compiled",
        axis_semantics="single axis",
        dtypes={"": _FLOATS},
        same_dtype="required" if backward else "one input",
        output_dtype=output_dtype,
        shapes="inferred from input 0; a given output must be compatible",
        in_place="pair diff_dst -> diff_src" if backward else "pair src -> dst",
        layout="strided or opaque",
        extras="none" if backward else forward_extras,
        workspace="optional scratchpad logical tensor",
        errors="dnnl_status_t, graph codes 7 to 10",
        empties="as the primitive",
        minus_inf_row="" if backward else "NaN" if log else "NaN; zeros with mode inf_as_zero",
    )


FACTS: Final = (
    _column("softmax", "SoftMax", "LogSoftmax", 1),
    _column("log-softmax", "LogSoftmax", "SoftMax", -1),
    _column("softmax-backward", "SoftMaxBackward", "LogSoftmaxBackward", 1),
    _column("log-softmax-backward", "LogSoftmaxBackward", "SoftMaxBackward", -1),
)
