# SPDX-License-Identifier: Apache-2.0
"""The columns of aclnn: names, element types and defaults are those of the specs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aclnn_py.core.soc import SOC_PROFILES
from aclnn_py.dialects import aclnn
from aclnn_py.dialects.facts import DialectFacts, default_of, short_names
from aclnn_py.twophase import operators

if TYPE_CHECKING:
    from aclnn_py.core.spec import OpSpec

__all__ = ["FACTS"]

_FAMILIES: Final = {
    "softmax": ("Softmax", "LogSoftmax"),
    "log-softmax": ("LogSoftmax", "Softmax"),
    "softmax-backward": ("SoftmaxBackward", "LogSoftmaxBackward"),
    "log-softmax-backward": ("LogSoftmaxBackward", "SoftmaxBackward"),
}


def _output_dtype(spec: OpSpec) -> str:
    *_, out = spec.tensors
    if len(out.dtypes) > len(spec.tensors[0].dtypes):
        return f"{len(out.dtypes)} types, by a cast of the result (workspace)"
    cast = "input" if spec.acl_name == "LogSoftmax" else "result"
    return f"{' '.join(short_names(out.dtypes))}, by a cast of the {cast} (workspace)"


def _column(family: str) -> DialectFacts:
    name, other = _FAMILIES[family]
    spec = operators[name]
    *inputs, out = spec.tensors
    (axis,) = spec.attributes
    without_bf16 = sum(not profile.bf16 for profile in SOC_PROFILES.values())
    backward = family.endswith("backward")
    return DialectFacts(
        dialect="aclnn",
        family=family,
        entry_points=f"{spec.planner}, then {spec.function}",
        counterpart=f"aclnn{other}",
        inputs=tuple(param.name for param in inputs),
        output=out.name,
        axis_name=axis.name,
        axis_type=axis.ctype,
        axis_defaults={spec.function: default_of(getattr(aclnn, spec.planner), axis.name)},
        negative_axis=True,
        axis_range="[-rank, rank), rank 0 counting as 1; else 161002",
        axis_semantics="single axis",
        dtypes={
            "SoC with bf16": short_names(inputs[0].dtypes),
            f"{without_bf16} others": tuple(
                kind for kind in short_names(inputs[0].dtypes) if kind != "bf16"
            ),
        },
        same_dtype="required" if backward else "one input",
        output_dtype=_output_dtype(spec),
        shapes="inputs and out equal, rank at most 8",
        in_place="out may be an input (the published page is silent)",
        layout="any strided view",
        extras="none",
        workspace="size returned with the executor; the caller allocates and passes it",
        errors="aclnnStatus from each call; here AclnnError",
        empties="success, nothing runs",
        minus_inf_row="" if backward else "NaN",
    )


FACTS: Final = tuple(_column(family) for family in _FAMILIES)
