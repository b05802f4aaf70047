# SPDX-License-Identifier: Apache-2.0
"""The columns of oneDNN's Graph API: names, defaults and types are those of its schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aclnn_py.dialects.facts import ORDER, DialectFacts
from aclnn_py.dialects.onednn_graph.enums import attr, kind
from aclnn_py.dialects.onednn_graph.schemas import SCHEMAS

if TYPE_CHECKING:
    from aclnn_py.dialects.onednn_graph.schemas import Schema

__all__ = ["FACTS"]


def _column(family: str, operator: str, counterpart: str) -> DialectFacts:
    schema = SCHEMAS[kind[operator]]
    axis = schema.attributes[attr.axis].default
    assert isinstance(axis, int), axis
    types = {one.name for one in schema.types[schema.inputs[0].types]}
    backward, log = family.endswith("backward"), family.startswith("log")
    forward_extras = "none" if log else "mode, stats, fusion of unary, binary, TypeCast, Quantize"
    output_dtype = "T" if log else "T or f32" if backward else "T, or f32 on exactly one side"
    return DialectFacts(
        dialect="oneDNN Graph",
        family=family,
        entry_points=f"op {operator} in a graph, get_partitions, compile, execute",
        counterpart=counterpart,
        inputs=tuple([port.name for port in schema.inputs]),
        output=_outputs(schema),
        axis_name="axis",
        axis_type="s64",
        axis_defaults={operator: axis},
        negative_axis=True,
        axis_range="[-rank, rank), checked when the partition is compiled",
        axis_semantics="single axis",
        dtypes={"": tuple(sorted(types, key=ORDER.index))},
        same_dtype="required" if backward else "one input",
        output_dtype=output_dtype,
        shapes="inferred from input 0; a given output must be compatible",
        in_place="pair diff_dst -> diff_src" if backward else "pair src -> dst",
        layout="strided or opaque",
        extras="none" if backward else forward_extras,
        workspace="optional scratchpad logical tensor",
        errors="dnnl_status_t, graph codes 7 to 10; here OneDnnError",
        empties="success, nothing runs",
        minus_inf_row="" if backward else "NaN" if log else "NaN; zeros with mode inf_as_zero",
    )


def _outputs(schema: Schema) -> str:
    needed = len(schema.outputs) - schema.optional_outputs
    names = [
        port.name if number < needed else f"{port.name} (optional)"
        for number, port in enumerate(schema.outputs)
    ]
    return ", ".join(names)


FACTS: Final = (
    _column("softmax", "SoftMax", "LogSoftmax"),
    _column("log-softmax", "LogSoftmax", "SoftMax"),
    _column("softmax-backward", "SoftMaxBackward", "LogSoftmaxBackward"),
    _column("log-softmax-backward", "LogSoftmaxBackward", "SoftMaxBackward"),
)
