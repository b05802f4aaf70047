# SPDX-License-Identifier: Apache-2.0
"""The columns of ONNX (forward) and ONNX Runtime (gradients)."""

from __future__ import annotations

from typing import Final

from aclnn_py.dialects import onnx_ops, onnxruntime
from aclnn_py.dialects.facts import DialectFacts, short_names

__all__ = ["FACTS"]


def _forward(family: str) -> DialectFacts:
    name, other = (
        ("LogSoftmax", "Softmax") if family.startswith("log") else ("Softmax", "LogSoftmax")
    )
    rows = {
        f"version {version}": row
        for (key, version), row in onnx_ops.OPERATORS.items()
        if key == name
    }
    single = ", ".join(title for title, row in rows.items() if not row.coerce)
    source, result = next(iter(rows.values())).spec.tensors
    return DialectFacts(
        dialect="ONNX",
        family=family,
        entry_points="node in model",
        counterpart=other,
        inputs=(source.name,),
        output=result.name,
        axis_name="axis",
        axis_type="INT",
        axis_defaults={title: row.default_axis for title, row in rows.items()},
        negative_axis=True,
        axis_range="[-rank, rank), rank 0 refused; version 1 does not say",
        axis_semantics=f"cut into a matrix at axis; {single}: single axis",
        dtypes={title: short_names(row.dtypes) for title, row in rows.items()},
        same_dtype="one input",
        output_dtype="T",
        shapes="output = input",
        in_place="not a notion of ONNX",
        layout="contiguous; here any strided view",
        extras="none",
        workspace="hidden from the model; two-phase here",
        errors="checker and inference errors, as text; here OnnxError, of a model also onnx's own",
        empties="empty result",
        minus_inf_row="NaN",
    )


def _gradient(family: str) -> DialectFacts:
    prefix = "Log" if family.startswith("log") else ""
    plain, single = (onnxruntime.OPERATORS[f"{prefix}SoftmaxGrad{end}"] for end in ("", "_13"))
    gradient, saved, result = plain.spec.tensors
    schema = short_names(gradient.dtypes)
    return DialectFacts(
        dialect="ONNX Runtime",
        family=family,
        entry_points=f"node {plain.op_type} or {single.op_type} in model",
        counterpart=f"{'' if prefix else 'Log'}SoftmaxGrad(_13)",
        inputs=(gradient.name, f"{saved.name} (the forward result)" if prefix else saved.name),
        output=result.name,
        axis_name="axis",
        axis_type="INT",
        axis_defaults={row.op_type: row.default_axis for row in (plain, single)},
        negative_axis=True,
        axis_range='[-rank, rank), else "axis A is not in valid range [-R,R-1]"; rank 0 refused',
        axis_semantics=f"cut into a matrix at axis; {single.op_type}: single axis",
        dtypes={
            provider.removesuffix("ExecutionProvider"): tuple(
                kind for kind in short_names(names) if kind in schema
            )
            for provider, names in onnxruntime.PROVIDERS.items()
        },
        same_dtype="required",
        output_dtype="T",
        shapes="not verified there; here all equal",
        in_place="not declared now",
        layout="contiguous; here any strided view",
        extras="other types of the schema run as SoftmaxGrad's function body"
        if plain.function_body
        else "none",
        workspace="hidden allocator; here up to 3 temporaries (swap, strided tensors), reported",
        errors="Status or exception, as text; here OrtError",
        empties="success, nothing runs (CUDA there: partly unguarded)",
    )


FACTS: Final = (
    _forward("softmax"),
    _forward("log-softmax"),
    _gradient("softmax-backward"),
    _gradient("log-softmax-backward"),
)
