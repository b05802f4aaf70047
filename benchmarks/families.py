# SPDX-License-Identifier: Apache-2.0
"""The cells that miss in a page: those behind their peer, and the large ones by family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.cells import OURS_BESIDE
from benchmarks.targets import cell_target, geometric_mean, share_target

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["behind", "large"]

_LAYOUTS = {"transposed": "transposed inputs", "strided_out": "strided out"}
_HALVES = frozenset({"float16", "bfloat16"})


def behind(records: Iterable[dict[str, Any]]) -> list[str]:
    """The cells below their target, with medians and least times of both sides."""
    missing = [r for r in records if r["ratio"] is not None and r["ratio"] < cell_target(r)]
    lines = [
        "## Cells behind their target",
        "",
        "Microseconds at the layer of the peer, median [least].",
        "",
        "| cell | ratio | target | ours | best peer | |",
        "|---|---|---|---|---|---|",
    ]
    for record in sorted(missing, key=lambda r: float(r["ratio"])):
        peer, times = record["best_peer"], record["times_ns"]
        ours = times[OURS_BESIDE[peer]]
        lines.append(
            f"| {record['cell']} | {record['ratio']:.2f} | {cell_target(record):.1f} | "
            f"{_both(ours)} | {_both(times[peer])} | {peer} |"
        )
    return [*lines, ""]


def large(records: Iterable[dict[str, Any]], l2: int) -> list[str]:
    """Geometric means of the shares of their bounds, by place of the axis, layout and dtype."""
    families: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        if share_target(record, l2) is not None:
            families.setdefault(_family(record), []).append(record)
    words = (
        "Shares of the bound, geometric means; met: cells at their target. By bytes and "
        "instructions: the same without the loop of the layout."
    )
    lines = [
        "## Large cells by family",
        "",
        words,
        "",
        "| cells | met | share | by bytes and instructions | lowest |",
        "|---|---|---|---|---|",
    ]
    rows = [_row(name, families[name], l2) for name in sorted(families)]
    return [*lines, *rows, ""]


def _row(name: str, members: list[dict[str, Any]], l2: int) -> str:
    targets = [share_target(record, l2) for record in members]
    met = sum(found is not None and found[0] >= found[1] for found in targets)
    share = geometric_mean(record["bound_share"] for record in members)
    plain = geometric_mean(record["plain_share"] for record in members)
    lowest = min(members, key=lambda record: float(record["bound_share"]))
    return (
        f"| {name} | {met} of {len(members)} | {share:.2f} | {plain:.2f} | "
        f"{lowest['bound_share']:.2f} {lowest['bound']['by'][0].upper()}, {lowest['cell']} |"
    )


def _family(record: dict[str, Any]) -> str:
    last = record["axis"] in {-1, len(record["shape"]) - 1}
    layout = _LAYOUTS.get(record["layout"], record["layout"])
    dtype = "16-bit" if record["dtype"] in _HALVES else record["dtype"]
    where = "last axis" if last else "other axes"
    return f"{where}, {layout}, {dtype}, {record['direction']}"


def _both(timing: dict[str, float]) -> str:
    return f"{timing['median'] / 1e3:,.1f} [{timing['least'] / 1e3:,.1f}]"
