# SPDX-License-Identifier: Apache-2.0
"""The columns of oneDNN's softmax primitive: element types and defaults are those of the code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aclnn_py.dialects.facts import ORDER, DialectFacts, default_of

try:
    from aclnn_py.dialects.onednn import softmax_backward, softmax_forward
    from aclnn_py.dialects.onednn.implementations import IMPLEMENTATIONS
except ImportError:  # the primitive is not part of this build: what its documentation says
    READ_FROM_CODE = False
else:
    READ_FROM_CODE = True

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["FACTS", "READ_FROM_CODE"]

_FLOATS: Final = ("f32", "f16", "bf16")
_NO_F8: Final = (*_FLOATS, "f64", "s8", "u8")
_ALL: Final = (*_FLOATS, "s8", "u8", "f8_e5m2", "f8_e4m3")
_DOCUMENTED: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "given": {"CPU": _FLOATS, "GPU": (*_FLOATS, "f64")},
    "wanted": {"CPU": _FLOATS, "GPU": (*_FLOATS, "f64")},
    "source": {"CPU": _ALL, "GPU": _NO_F8},
    "destination": {"CPU": _ALL, "GPU": (*_NO_F8, "f8_e5m2", "f8_e4m3")},
}


def _by_engine(field: str) -> dict[str, tuple[str, ...]]:
    """What some implementation of an engine takes."""
    if not READ_FROM_CODE:
        return _DOCUMENTED[field]
    found: dict[str, set[str]] = {"CPU": set(), "GPU": set()}
    for row in IMPLEMENTATIONS:
        found[row.kind.name.upper()] |= {one.name for one in getattr(row, field)}
    return {kind: tuple(sorted(names, key=ORDER.index)) for kind, names in found.items()}


def _axis_default(*, backward: bool) -> int | None:
    if not READ_FROM_CODE:
        return None
    primitive = softmax_backward if backward else softmax_forward
    return default_of(primitive.primitive_desc.__init__, "axis")


def _listed(types: dict[str, tuple[str, ...]]) -> str:
    return "; ".join(f"{engine}: {' '.join(names)}" for engine, names in types.items())


def _column(family: str, inputs: Iterable[str], output: str) -> DialectFacts:
    backward, log = family.endswith("backward"), family.startswith("log")
    primitive = "softmax_backward" if backward else "softmax_forward"
    algorithms = ("softmax_log", "softmax_accurate")
    algorithm, other = algorithms if log else algorithms[::-1]
    results = _by_engine("wanted" if backward else "destination")
    return DialectFacts(
        dialect="oneDNN primitive",
        family=family,
        entry_points=f"{primitive}.primitive_desc, {primitive}, execute",
        counterpart=f"algorithm {other}",
        inputs=tuple(inputs),
        output=output,
        axis_name="axis",
        axis_type="int",
        axis_defaults={algorithm: _axis_default(backward=backward)},
        negative_axis=False,
        axis_range="[0, rank), else invalid_arguments; rank 1 to 12 (GPU 6)",
        axis_semantics="single axis",
        dtypes=_by_engine("given" if backward else "source"),
        same_dtype="required (dst as diff_dst)" if backward else "one input",
        output_dtype=_listed(results) + ", any pairing; fewer on NVIDIA's and generic GPUs",
        shapes="the caller's duty there; here all equal",
        in_place="diff_src on diff_dst" if backward else "dst on src",
        layout="any strided",
        extras=(
            "none"
            if backward
            else "scales, binary and eltwise post-ops, dropout, accumulation mode"
        ),
        workspace="scratchpad of the library, or of the user (size by query)",
        errors="dnnl_status_t, or an exception that carries it; here OneDnnError",
        empties="success, nothing runs",
        minus_inf_row="" if backward else "NaN here (implementations there differ)",
    )


FACTS: Final = (
    _column("softmax", ("DNNL_ARG_SRC",), "DNNL_ARG_DST"),
    _column("log-softmax", ("DNNL_ARG_SRC",), "DNNL_ARG_DST"),
    _column("softmax-backward", ("DNNL_ARG_DST", "DNNL_ARG_DIFF_DST"), "DNNL_ARG_DIFF_SRC"),
    _column("log-softmax-backward", ("DNNL_ARG_DST", "DNNL_ARG_DIFF_DST"), "DNNL_ARG_DIFF_SRC"),
)
