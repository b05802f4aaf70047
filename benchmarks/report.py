# SPDX-License-Identifier: Apache-2.0
"""The report of a run: JSON for machines, Markdown for people, a picture of the ratios."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from benchmarks.dialects import PEER_LIMIT
from benchmarks.targets import Verdict, cell_target, geometric_mean, judge, share_target

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["QUIET", "summary", "write"]

QUIET = 0.03
_MET = {True: "met", False: "NOT MET", None: "not measured"}


def write(results: dict[str, Any], folder: Path) -> list[Verdict]:
    """Write results.json, results.md and, with matplotlib, ratios.png."""
    verdicts = judge(results)
    results["verdicts"] = [verdict.record() for verdict in verdicts]
    (folder / "results.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    (folder / "summary.md").write_text(summary(results, verdicts), encoding="utf-8")
    (folder / "results.md").write_text(_markdown(results, verdicts), encoding="utf-8")
    if results.get("softmax"):
        from benchmarks.plot import draw  # noqa: PLC0415  # matplotlib is optional

        draw(results["softmax"], folder / "ratios.png")
    return verdicts


def summary(results: dict[str, Any], verdicts: list[Verdict]) -> str:
    """The short form: machine, targets, means by operator and dtype."""
    lines = [*_machine(results), "", "| what | target | measured | |", "|---|---|---|---|"]
    quiet = (results["facts"]["machine"]["others"] or 0.0) <= QUIET
    for v in verdicts:
        mark = _MET[v.met] + ("" if quiet or v.met is None or not v.timed else " (noise)")
        lines.append(f"| {v.what} | {v.target} | {v.measured} | {mark} |")
    if results.get("softmax"):
        lines += ["", *_means(results["softmax"])]
    return "\n".join(lines) + "\n"


def _markdown(results: dict[str, Any], verdicts: list[Verdict]) -> str:
    parts = ["# Benchmarks", "", summary(results, verdicts)]
    if results.get("softmax"):
        parts += _cells(results["softmax"], results["facts"]["machine"]["l2_bytes"])
    if results.get("callpath"):
        parts += _callpath(results["callpath"])
    if results.get("capi"):
        parts += _capi(results["capi"])
    if results.get("streams"):
        parts += _streams(results["streams"])
    if results.get("scaling"):
        parts += _scaling(results["scaling"])
    if results.get("dialects"):
        parts += _dialects(results["dialects"])
    if results.get("accuracy"):
        parts += _accuracy(results["accuracy"])
    return "\n".join(parts) + "\n"


def _machine(results: dict[str, Any]) -> list[str]:
    facts = results["facts"]
    machine, settings = facts["machine"], facts["settings"]
    versions = ", ".join(f"{name} {number}" for name, number in facts["versions"].items())
    hardware = (
        f"{machine['processor']}, {machine['cores']} cores, L2 {machine['l2_bytes'] >> 10} KiB, "
        f"last level {machine['last_level_bytes'] >> 20} MiB; {machine['system']}; "
        f"ISA {settings['isa']}, {settings['threads']} threads"
        f"{'; QUICK run' if settings['quick'] else ''}."
    )
    lines = [hardware, f"Python {machine['python']}, {versions}."]
    others = machine.get("others")
    if others is not None:
        lines.append(f"Other programs used {others:.0%} of the processors meanwhile.")
        if others > QUIET:
            lines[-1] += " **The machine was not quiet: do not trust these figures.**"
    lines += [f"Missing: {name}, {why}." for name, why in facts["missing"].items()]
    bounds = facts["bounds"]
    if bounds["missing"]:
        lines.append(f"Bounds by bytes only: {bounds['missing']}.")
    else:
        lines.append(f"Vector peak of one core: {bounds['peak_slots_per_ns']:.1f} slots a ns.")
    limits = results.get("limits")
    if limits:
        lines.append(
            f"Streaming limit: {limits['two_reads_gbps']:.1f} GB/s with 2 reads + 1 write, "
            f"{limits['one_read_gbps']:.1f} GB/s with 1 read + 1 write."
        )
    return lines


def _means(records: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| geometric mean of peer / ours | cells | best peer | PyTorch | oneDNN (C) | NumPy |",
        "|---|---|---|---|---|---|",
    ]
    groups: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        kind = f"{record['operator']} {record['direction']} {record['dtype']}"
        groups.setdefault(kind, []).append(record)
    for kind, members in {**groups, "all": records}.items():
        columns = [geometric_mean(r["ratio"] for r in members if r["ratio"] is not None)]
        columns += [
            geometric_mean(r["ratios"][peer] for r in members if peer in r["ratios"])
            for peer in ("PyTorch", "oneDNN", "NumPy")
        ]
        texts = [f"{value:.2f}" if value else "-" for value in columns]
        lines.append(f"| {kind} | {len(members)} | {' | '.join(texts)} |")
    return lines


def _cells(records: list[dict[str, Any]], l2: int) -> list[str]:
    words = (
        "Microseconds, median (half the distance between the quartiles). Ratio: best peer over "
        "ours at the same layer. Limit: the same bytes streamed, over our time. "
        "Bound: the larger of that and the vector work at the cores' peak, over our time; B bytes "
        "or I instructions, and instructions and vector slots an element, counted; met or not "
        "against the cell's target."
    )
    lines = [
        "## Softmax cells",
        "",
        words,
        "",
        "| cell | ours | PyTorch | NumPy | ours (C) | oneDNN | ratio | limit | bound | |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for record in records:
        times = record["times_ns"]
        columns = [
            _time(times.get(name), record["notes"].get(name, ""))
            for name in ("ours", "PyTorch", "NumPy", "ours (C)", "oneDNN")
        ]
        ratio = f"{record['ratio']:.2f} ({record['best_peer']})" if record["ratio"] else "-"
        share = f"{record['limit_share']:.0%}" if "limit_share" in record else ""
        mark = "" if record["ratio"] is None else _MET[record["ratio"] >= cell_target(record)]
        row = [record["cell"], *columns, ratio, share, _bound(record, l2), mark]
        lines.append(f"| {' | '.join(row)} |")
    return [*lines, ""]


def _bound(record: dict[str, Any], l2: int) -> str:
    if "bound" not in record:
        return ""
    bound, work = record["bound"], record["bound"]["work"]
    counted = f" ({work['instructions']:.2f}, {work['slots']:.2f})" if work else ""
    target = share_target(record, l2)
    mark = "" if target is None else f"; {_MET[target[0] >= target[1]]}, {target[1]:.0%}"
    return f"{record['bound_share']:.0%} {bound['by'][0].upper()}{counted}{mark}"


def _time(timing: dict[str, float] | None, note: str) -> str:
    if timing is None:
        return note.replace("|", "/")[:60] or "-"
    spread = (timing["high"] - timing["low"]) / 2e3
    return f"{timing['median'] / 1e3:,.1f} ({spread:,.1f})"


def _callpath(record: dict[str, Any]) -> list[str]:
    lines = [
        "## Call path, 8x32 float32, from Python",
        "",
        "| what | ns | quartiles |",
        "|---|---|---|",
    ]
    lines.append(_row("phase 1 miss", record["miss"]))
    for part in ("softmax_forward", "softmax_backward"):
        lines += [_row(f"{part}: {name}", t) for name, t in record[part]["times_ns"].items()]
    return [*lines, ""]


def _capi(record: dict[str, Any]) -> list[str]:
    lines = ["## A C host, 8x32 float32, cached plan", "", "| what | ns | bound |", "|---|---|---|"]
    lines += [
        f"| {row['what']} | {row['took']:,.0f} | {row['most']:,.0f} |" for row in record["rows"]
    ]
    lines.append(f"| clock_gettime | {record['clock_ns']:,.0f} | |")
    lines += [f"| {name} | {took:,.0f} | |" for name, took in record["torch_ns"].items()]
    return [*lines, ""]


def _row(name: str, timing: dict[str, float]) -> str:
    return f"| {name} | {timing['median']:,.0f} | {timing['low']:,.0f} to {timing['high']:,.0f} |"


def _streams(record: dict[str, Any]) -> list[str]:
    lines = ["## Streams", "", "| what | figure |", "|---|---|"]
    for key in ("enqueue_one", "enqueue_many", "enqueue_empty_task"):
        one = record[key]
        lines.append(
            f"| {key}: {one['streams']} stream(s), {one['tasks']:,} tasks | "
            f"{one['ns_per_task']:.0f} ns a task, {one['over_10us']} took over 10 us; "
            f"{one['heap_bytes_per_task']:.0f} bytes of heap, "
            f"{one['resident_bytes_per_task']:.0f} resident a task; "
            f"{one['resident_bytes_left']:,} bytes left; drained at "
            f"{one['drain_ns_per_task']:.0f} ns a task |"
        )
    handover = record["handover"]
    lines.append(
        f"| record, wait, run across streams | {handover['median'] / 1e3:.1f} us, "
        f"99 % under {handover['p99'] / 1e3:.1f} us |"
    )
    overlap = record["overlap"]
    lines.append(
        f"| copy beside a one-thread kernel | {overlap['hidden']:.0%} of the shorter hidden |"
    )
    for name, took in record["spread"]["ns_per_task"].items():
        lines.append(f"| softmax {name} | {took:,.0f} ns a task |")
    return [*lines, ""]


def _scaling(record: dict[str, Any]) -> list[str]:
    lines = ["## Scaling, softmax float32, C loop", ""]
    for direction, parts in record.items():
        words = (
            f"{direction}: slowest over fastest byte beyond the caches {parts['flatness']:.2f}; "
            f"worst odd length {parts['worst_odd']:.2f} of its power of two."
        )
        lines += [
            words,
            "",
            "| shape | us | ns a byte | PyTorch us |",
            "|---|---|---|---|",
        ]
        for series in ("rows_of_16", "row_length", "odd_length"):
            for point in parts[series].values():
                shape = "x".join(map(str, point["shape"]))
                torch = f"{point['torch_ns'] / 1e3:,.1f}" if "torch_ns" in point else "-"
                lines.append(
                    f"| {shape} | {point['ns'] / 1e3:,.1f} | {point['ns_per_byte']:.4f} | {torch} |"
                )
        lines.append("")
    return lines


def _dialects(records: list[dict[str, Any]]) -> list[str]:
    words = (
        "Forward softmax along rows of 4096, one operation after it; milliseconds, median. Over "
        "plain: of the plain forward of the same dtypes. add_full reads a float32 operand of the "
        "full shape, which its limit counts; oneDNN's softmax takes a scale "
        "only with 8-bit tensors."
    )
    lines = [
        "## Scales and post operations",
        "",
        words,
        "",
        "| problem | ours | plain | over plain | limit | | oneDNN | oneDNN / ours | |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for record in records:
        fused, plain, peer = (
            f"{record['times_ns'][name]['median'] / 1e6:.2f}" if name in record["times_ns"] else "-"
            for name in ("fused", "plain", "oneDNN")
        )
        met = _MET[record["over_plain"] <= record["limit"]]
        ratio, mark = "-", ""
        if record["peer"] is not None:
            ratio, mark = f"{record['peer']:.2f}", _MET[record["peer"] >= PEER_LIMIT]
        row = [record["problem"], fused, plain, f"{record['over_plain']:.2f}"]
        row += [f"{record['limit']:.2f}", met, peer, ratio, mark]
        lines.append(f"| {' | '.join(row)} |")
    return [*lines, ""]


def _accuracy(records: list[dict[str, Any]]) -> list[str]:
    lines = [
        "## Accuracy",
        "",
        "Largest error relative to the value, or to a thousandth of the largest term of its row.",
        "",
        "| operator | dtype | spread of the inputs | ours | PyTorch | same bits |",
        "|---|---|---|---|---|---|",
    ]
    for one in records:
        torch = "-" if one["torch"] is None else f"{one['torch']:.2e}"
        lines.append(
            f"| {one['operator']} | {one['dtype']} | {one['spread']:g} | {one['ours']:.2e} | "
            f"{torch} | {'yes' if one['same_bits'] else 'NO'} |"
        )
    return [*lines, ""]
