# SPDX-License-Identifier: Apache-2.0
"""The targets, each decided from the figures of the run: met, not met, or not measured."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from benchmarks.cells import all_cells
from benchmarks.dialect_calls import PEERS, REPEATABLE, WHOLE
from benchmarks.dialects import PEER_LIMIT, TRANSCENDENTAL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["Verdict", "cell_target", "geometric_mean", "judge", "share_target"]

_NEAR_LIMIT = 0.9
# Of the measured streaming limit for the central cells, of its bound for every other large one.
_CENTRAL_SHARE = {"forward": 0.85, "backward": 0.92}
_OTHER_SHARE = 0.85
# What counts as a cliff: the slowest byte over the fastest.
_CLIFF = 1.25


@dataclass(frozen=True, slots=True)
class Verdict:
    """One target; `met` is None when the run did not measure it."""

    what: str
    target: str
    measured: str
    met: bool | None
    timed: bool = True  # whether another program's work could have changed it

    def record(self) -> dict[str, Any]:
        return asdict(self)


def judge(results: dict[str, Any]) -> list[Verdict]:
    """Every target in the order of the table."""
    softmax = results.get("softmax") or []
    partial = _partial(results)
    l2 = results["facts"]["machine"]["l2_bytes"]
    return [
        _of_whole(_cells(softmax), partial),
        _of_whole(_mean(softmax), partial),
        _near_limit(softmax, "forward", l2),
        _near_limit(softmax, "backward", l2),
        _other_large(softmax, l2),
        _short_rows(results.get("short_rows")),
        _flat(results.get("scaling"), results["facts"]["machine"]["last_level_bytes"]),
        *_callpath(results.get("callpath")),
        *_capi(results.get("capi")),
        *_streams(results.get("streams")),
        _miss(results.get("callpath")),
        _import(results.get("imports")),
        *_dialects(results.get("dialects")),
        *_dialect_calls(results.get("dialect_calls")),
        *_accuracy(results.get("accuracy"), results.get("isas")),
    ]


def _partial(results: dict[str, Any]) -> str:
    """Why the cells of a run are not those that the targets are of; "" where they are."""
    missing = sorted(set(results["facts"]["missing"]))
    if missing:
        return f"without {' and '.join(missing)}"
    found = {record["cell"] for record in results.get("softmax") or [] if record["ratio"]}
    wanted = {cell.name for cell in all_cells()}
    return f"{len(wanted - found)} of {len(wanted)} cells lacking" if wanted - found else ""


def _of_whole(verdict: Verdict, partial: str) -> Verdict:
    """A target of all cells can be missed by some of them, but not met."""
    if not partial or verdict.met is None:
        return verdict
    met = None if verdict.met else False
    return replace(verdict, measured=f"{verdict.measured}; {partial}", met=met)


def cell_target(record: dict[str, Any]) -> float:
    """1.1, or 1.0 where the best peer itself runs within a tenth of the streaming limit."""
    return 1.0 if record.get("peer_limit_share", 0.0) >= _NEAR_LIMIT else 1.1


def share_target(record: dict[str, Any], l2: int) -> tuple[float, float] | None:
    """The share of its bound that a large cell reaches, and its target; None for small cells."""
    if _is_central(record, l2):
        return record["limit_share"], _CENTRAL_SHARE[record["direction"]]
    return (record["bound_share"], _OTHER_SHARE) if record["beyond_cache"] else None


def geometric_mean(values: Iterable[float]) -> float:
    """0 for nothing."""
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else 0.0


def _cells(records: list[dict[str, Any]]) -> Verdict:
    what = "every softmax cell against its best peer"
    target = "1.1x; 1.0x where the peer is within 10 % of the streaming limit"
    judged = [record for record in records if record["ratio"] is not None]
    if not judged:
        return Verdict(what, target, "not run", None)
    wrong = [record["cell"] for record in records if "ours" in record.get("wrong", [])]
    below = [record for record in judged if record["ratio"] < cell_target(record)]
    worst = min(judged, key=lambda record: record["ratio"])
    text = (
        f"{len(judged) - len(below)} of {len(judged)} cells; worst {worst['ratio']:.2f}x: "
        f"{worst['cell']} ({worst['best_peer']})"
    )
    if wrong:
        text += f"; WRONG RESULTS in {len(wrong)} cells"
    return Verdict(what, target, text, not below and not wrong)


def _short_rows(records: list[dict[str, Any]] | None) -> Verdict:
    """As the table's cells, but of rows that it does not have."""
    what = "rows of 10 to 512 elements in the caches, one thread, against the best peer"
    verdict = replace(_cells(records or []), what=what, target="1.1x")
    if not records:
        return verdict
    mean = geometric_mean(record["ratio"] for record in records if record["ratio"] is not None)
    return replace(verdict, measured=f"{verdict.measured}; geometric mean {mean:.2f}x")


def _mean(records: list[dict[str, Any]]) -> Verdict:
    ratios = [record["ratio"] for record in records if record["ratio"] is not None]
    mean = geometric_mean(ratios)
    what = "geometric mean over all cells against the best peer"
    return Verdict(
        what, "2x", f"{mean:.2f}x" if ratios else "not run", mean >= 2 if ratios else None
    )


def _is_central(record: dict[str, Any], l2: int) -> bool:
    """Contiguous float32, last axis, rows that fit L2, tensors beyond the last-level cache."""
    return bool(
        record["tensor_beyond_cache"]
        and record["dtype"] == "float32"
        and record["layout"] == "contiguous"
        and record["threads"] == 2
        and record["axis"] in {-1, len(record["shape"]) - 1}
        and record["row_bytes"] * (1 + (record["direction"] == "backward")) <= l2
    )


def _near_limit(records: list[dict[str, Any]], direction: str, l2: int) -> Verdict:
    found = [
        record for record in records if record["direction"] == direction and _is_central(record, l2)
    ]
    what = f"contiguous float32 {direction}, last axis, tensors beyond the caches"
    return _share_verdict(what, found, _CENTRAL_SHARE[direction])


def _other_large(records: list[dict[str, Any]], l2: int) -> Verdict:
    found = [record for record in records if record["beyond_cache"] and not _is_central(record, l2)]
    what = "every other large cell against its bound (bytes, instructions counted, or layout)"
    verdict = _share_verdict(what, found, _OTHER_SHARE, "bound_share", "its bound")
    if not found:
        return verdict
    plain = sum(record["plain_share"] >= _OTHER_SHARE for record in found)
    broken = sum(not record["bound"]["traffic_holds"] for record in found)
    text = f"{verdict.measured}; by bytes and instructions alone {plain}"
    text += f"; the loop of the layout was no bound in {broken}" if broken else ""
    return replace(verdict, measured=text)


def _share_verdict(
    what: str,
    found: list[dict[str, Any]],
    share: float,
    key: str = "limit_share",
    of: str = "the streaming limit",
) -> Verdict:
    target = f"{share:.0%} of {of}"
    if not found:
        return Verdict(what, target, "no such cell was run", None)
    worst = min(found, key=lambda record: record[key])
    passed = sum(record[key] >= share for record in found)
    text = f"{passed} of {len(found)} cells; worst {worst[key]:.0%}: {worst['cell']}"
    return Verdict(what, target, text, passed == len(found))


def _flatness(points: dict[str, dict[str, Any]], last_level: int) -> float | None:
    """Slowest over fastest byte among the tensors that leave the caches; None for less than two."""
    large = [one["ns_per_byte"] for one in points.values() if one["moved_bytes"] > 1.5 * last_level]
    return max(large) / min(large) if len(large) > 1 else None


def _flat(record: dict[str, Any] | None, last_level: int) -> Verdict:
    what = "softmax over row counts and row lengths: cost of a byte"
    target = f"flat beyond the caches, no cliff at odd lengths (within {_CLIFF}x)"
    if record is None:
        return Verdict(what, target, "not run", None)
    worst: dict[str, float | None] = {}
    for direction, part in record.items():
        worst[f"{direction} row counts"] = _flatness(part["rows_of_16"], last_level)
        worst[f"{direction} row lengths"] = _flatness(part["row_length"], last_level)
        worst[f"{direction} odd lengths"] = part["worst_odd"]
    known = {name: value for name, value in worst.items() if value is not None}
    text = ", ".join(f"{name} {value:.2f}x" for name, value in known.items())
    if len(known) < len(worst):
        text += "; too few tensors beyond the caches"
    if any(value > _CLIFF for value in known.values()):
        return Verdict(what, target, text, met=False)
    return Verdict(what, target, text, True if len(known) == len(worst) else None)


def _callpath(record: dict[str, Any] | None) -> list[Verdict]:
    """Judged against the call that users write (see callpath); the others are printed beside."""
    verdicts = []
    for what, key, most in (
        ("whole two-phase cycle in Python, 8x32", "whole cycle", 0.5),
        ("repeatable cycle", "repeatable cycle", 0.25),
    ):
        target = f"at most {most} of one PyTorch eager call"
        parts = [record[name] for name in ("softmax_forward", "softmax_backward")] if record else []
        if not parts or not all(part["eager"] for part in parts):
            verdicts.append(Verdict(what, target, "not run", None))
            continue
        text = "; ".join(
            f"{part['ratios'][key][part['eager']]:.2f} of {part['eager']} (beside: "
            + ", ".join(
                f"{ratio:.2f} of {peer}"
                for peer, ratio in part["ratios"][key].items()
                if peer != part["eager"]
            )
            + ")"
            for part in parts
        )
        met = all(part["ratios"][key][part["eager"]] <= most for part in parts)
        verdicts.append(Verdict(what, target, text, met))
    return verdicts


def _capi(record: dict[str, Any] | None) -> list[Verdict]:
    if record is None:
        return [
            Verdict("a C host, 8x32 float32, cached plan", "bounds of each call", "not run", None)
        ]
    verdicts = [
        Verdict(
            f"C host: {row['what']}",
            f"at most {_time(row['most'])}",
            _time(row["took"]),
            row["took"] <= row["most"],
        )
        for row in record["rows"]
    ]
    what = "C host: Python before the first phase 1"
    text = "started" if record["python"] else "not started"
    return [*verdicts, Verdict(what, "never started", text, not record["python"], timed=False)]


def _time(ns: float) -> str:
    for unit, size in (("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.3g} ns"


def _streams(record: dict[str, Any] | None) -> list[Verdict]:
    rows: tuple[tuple[str, str, Callable[[dict[str, Any]], tuple[str, bool]]], ...] = (
        ("enqueue to a busy stream", "at most 1 us a task", _enqueue_rate),
        ("memory of a queued task", "at most 256 bytes, returned afterwards", _enqueue_memory),
        ("1, 2, 8, 64 streams on two cores", "no collapse (1.5x of one stream)", _no_collapse),
    )
    verdicts = []
    for what, target, decide in rows:
        if record is None:
            verdicts.append(Verdict(what, target, "not run", None))
        else:
            text, met = decide(record)
            verdicts.append(Verdict(what, target, text, met))
    return verdicts


def _enqueue_rate(record: dict[str, Any]) -> tuple[str, bool]:
    kinds = [record["enqueue_one"], record["enqueue_many"]]
    text = "; ".join(
        f"{kind['streams']} stream(s) {kind['ns_per_task']:.0f} ns, "
        f"worst {kind['worst_ns'] / 1e3:.0f} us of {kind['tasks']:,}"
        for kind in kinds
    )
    return text, all(kind["ns_per_task"] <= 1000 for kind in kinds)


def _enqueue_memory(record: dict[str, Any]) -> tuple[str, bool]:
    kinds = [record["enqueue_one"], record["enqueue_many"]]
    each = max(max(kind["heap_bytes_per_task"], kind["resident_bytes_per_task"]) for kind in kinds)
    left = max(kind["heap_bytes_left"] / kind["tasks"] for kind in kinds)
    resident = max(kind["resident_bytes_left"] / kind["tasks"] for kind in kinds)
    text = f"{each:.0f} bytes; left afterwards {left:.1f} on the heap, {resident:.1f} resident"
    return text, each <= 256 and left <= 1 and resident <= 16


def _no_collapse(record: dict[str, Any]) -> tuple[str, bool]:
    slowest = record["spread"]["slowest_over_one_stream"]
    text = ", ".join(f"{shape} slowest {value:.2f}x" for shape, value in slowest.items())
    return text, all(value <= 1.5 for value in slowest.values())


def _dialects(records: list[dict[str, Any]] | None) -> list[Verdict]:
    """Extras of a forward softmax beyond L2, over the plain call and beside oneDNN."""
    records = records or []
    slow = [record for record in records if record["operation"] in TRANSCENDENTAL]
    wide = [record for record in records if record["operation"] == "add_full"]
    before = [record for record in records if record.get("before", False)]
    unusual = [record for record in records if not record.get("usual", True)]
    others = [record for record in unusual if not record.get("before", False)]
    apart = (slow, wide, others, before)
    cheap = [record for record in records if not any(record in some for some in apart)]
    along = _over_plain("the same along rows of 1,000 and 50,257", "at most 1.15x", others)
    over = _over_plain("the same over an axis before the last", "at most 1.15x", before)
    return [
        _over_plain("a scale, add, mul, relu, clip, linear", "at most 1.15x", cheap),
        # Runs published before had neither.
        *([along] if others else []),
        *([over] if before else []),
        _over_plain("an operand of the full shape", "at most 1.15x and its own bytes", wide),
        _over_plain("a transcendental operation", "at most 2x", slow),
        _beside_onednn(records),
    ]


def _over_plain(what: str, target: str, records: list[dict[str, Any]]) -> Verdict:
    what, target = f"forward with {what}, over the plain one", f"{target} of the same dtypes"
    if not records:
        return Verdict(what, target, "not run", None)
    met = [record for record in records if record["over_plain"] <= record["limit"]]
    worst = max(records, key=lambda record: record["over_plain"] / record["limit"])
    text = f"{len(met)} of {len(records)}; worst {worst['over_plain']:.2f}x: {worst['problem']}"
    return Verdict(what, target, text, len(met) == len(records))


def _beside_onednn(records: list[dict[str, Any]]) -> Verdict:
    what, target = "oneDNN on the same forward with extras", f"at least {PEER_LIMIT}x our time"
    judged = [record for record in records if record["peer"] is not None]
    if not judged:
        return Verdict(what, target, "not run", None)
    met = [record for record in judged if record["peer"] >= PEER_LIMIT]
    worst = min(judged, key=lambda record: record["peer"])
    text = f"{len(met)} of {len(judged)}; worst {worst['peer']:.2f}x: {worst['problem']}"
    return Verdict(what, target, text, len(met) == len(judged))


def _dialect_calls(record: dict[str, Any] | None) -> Iterator[Verdict]:
    for call, peer in PEERS.items():
        what, target = f"plain 8x32: {call}", f"no more than {peer}, the same kernels"
        if record is None:
            yield Verdict(what, target, "not run", None)
            continue
        times = {name: timing["median"] for name, timing in record["times_ns"].items()}
        took, theirs = times[call], times[peer]
        text = f"{took:,.0f} ns beside {theirs:,.0f} ({took / theirs:.2f})"
        if peer == REPEATABLE:
            text += f", whole cycle {times[WHOLE]:,.0f}"
        text += "" if record["same_plan"] else "; OTHER KERNELS"
        yield Verdict(what, target, text, bool(took <= theirs and record["same_plan"]))


def _miss(record: dict[str, Any] | None) -> Verdict:
    what, target = "phase 1 miss", "at most 60 us"
    if record is None:
        return Verdict(what, target, "not run", None)
    took = record["miss"]["median"] / 1e3
    loop = record["loop_beside_miss"]["median"] / 1e3
    text = f"{took:.1f} us (an empty Python loop of 2,000 turns beside it {loop:.1f} us)"
    return Verdict(what, target, text, took <= 60)


def _import(record: dict[str, Any] | None) -> Verdict:
    what = "`import aclnn_py` above numpy and one pydantic model"
    target = "at most 60 ms; CuPy and matplotlib not imported"
    if record is None:
        return Verdict(what, target, "not run", None)
    text = f"{record['above_ms']:.0f} ms; imported of the two: {record['loaded']}"
    return Verdict(what, target, text, record["above_ms"] <= 60 and record["loaded"] == "[]")


def _accuracy(records: list[dict[str, Any]] | None, isas: dict[str, Any] | None) -> list[Verdict]:
    runs = {"in force": records or []} | {
        name: found for name, found in (isas or {}).items() if isinstance(found, list)
    }
    failed = sorted(set(isas or {}) - set(runs))
    broken = f"; failed to run: {', '.join(failed)}" if failed else ""
    return [
        _error_ratio(runs, broken),
        _same_bits(runs, broken),
        Verdict(
            "numeric bounds on every ISA", "held", "by `make test`, not here", None, timed=False
        ),
    ]


def _error_ratio(runs: dict[str, list[dict[str, Any]]], broken: str) -> Verdict:
    what, target = "our largest error beside PyTorch's, on every ISA", "never more than twice"
    ratios = [
        (_over(one["ours"], one["torch"]), f"{one['operator']} {one['dtype']}", isa)
        for isa, found in runs.items()
        for one in found
        if one["torch"] is not None
    ]
    if not ratios:
        return Verdict(what, target, "not run", None)
    worst, where, isa = max(ratios)
    text = f"worst {worst:.2f}x: {where}, {isa}{broken}"
    return Verdict(what, target, text, worst <= 2 and not broken, timed=False)


def _over(ours: float, theirs: float) -> float:
    if ours == 0:
        return 0.0
    return ours / theirs if theirs and math.isfinite(ours) else math.inf


def _same_bits(runs: dict[str, list[dict[str, Any]]], broken: str) -> Verdict:
    what, target = "same bits for 1, 2, 3 threads, on every ISA", "always"
    found = {
        isa: all(one["same_bits"] for one in records) for isa, records in runs.items() if records
    }
    if not found:
        return Verdict(what, target, "not run", None)
    text = ", ".join(f"{isa} {'yes' if same else 'NO'}" for isa, same in found.items())
    met = all(found.values()) and not broken
    return Verdict(what, target, text + broken, met, timed=False)
