# SPDX-License-Identifier: Apache-2.0
"""A strict reader of Chrome's trace event format: what is wrong with a file.

Written from the public description of the format. Viewers sort events by time and bind each end of
an arrow to the innermost slice that is open at its time in its lane; an end without a slice is not
shown. Perfetto lets an arrow run from the slice that began first to the other one.
"""

from __future__ import annotations

import json
from collections import defaultdict
from numbers import Real
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["arrows", "faults", "read"]

_Event = dict[str, Any]
_HALF_NS = 5e-4  # [us]
_ALWAYS = {"name": str, "ph": str, "pid": int, "tid": int, "ts": Real}
_MORE: dict[str, dict[str, Any]] = {
    "X": {"dur": Real, "cat": str, "args": dict},
    "C": {"args": dict},
    "M": {"args": dict},
    "s": {"cat": str, "id": (int, str)},
    "f": {"cat": str, "id": (int, str), "bp": str},
}


def read(path: Path) -> list[_Event]:
    """The events of a file."""
    whole = json.loads(path.read_text(encoding="utf-8"))
    assert whole["displayTimeUnit"] in ("ms", "ns")
    events: list[_Event] = whole["traceEvents"]
    return events


def faults(events: list[_Event]) -> list[str]:
    """What a viewer could not read, or would not show."""
    found = [fault for event in events for fault in _fields(event)]
    if found:
        return found
    return [*_names(events), *_overlaps(events), *_loose_ends(events)]


def arrows(events: list[_Event]) -> list[tuple[_Event, _Event]]:
    """The tasks that each arrow connects."""
    ends = defaultdict(dict)
    for event in events:
        if event["ph"] in "sf":
            ends[_arrow(event)][event["ph"]] = _slices_at(events, event)[0]
    return [(pair["s"], pair["f"]) for pair in ends.values()]


def _arrow(event: _Event) -> tuple[str, str, object]:
    return event["cat"], event["name"], event["id"]


def _fields(event: _Event) -> list[str]:
    kind = event.get("ph")
    if kind not in _MORE:
        return [f"unknown phase {kind!r}: {event}"]
    wanted = {**_ALWAYS, **_MORE[kind]}
    wrong = [
        f"{key} of {event}"
        for key, types in wanted.items()
        if not isinstance(event.get(key), types) or isinstance(event.get(key), bool)
    ]
    if wrong:
        return wrong
    if event["ts"] < 0 or (kind == "X" and event["dur"] <= 0):
        wrong.append(f"time of {event}")
    if kind == "C" and not (
        event["args"] and all(isinstance(v, Real) for v in event["args"].values())
    ):
        wrong.append(f"series of {event}")
    if kind == "M" and (
        event["name"] not in ("process_name", "thread_name")
        or not isinstance(event["args"].get("name"), str)
    ):
        wrong.append(f"metadata {event}")
    if kind == "f" and event["bp"] != "e":
        wrong.append(f"binding point of {event}")
    return wrong


def _names(events: list[_Event]) -> list[str]:
    processes = [e["pid"] for e in events if e["name"] == "process_name"]
    lanes = [(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"]
    twice = [f"named twice: {lane}" for lane in set(lanes) if lanes.count(lane) > 1]
    used = {(e["pid"], e["tid"]) for e in events if e["ph"] == "X"}
    nameless = [f"nameless lane {lane}" for lane in used - set(lanes)]
    return twice + nameless + [f"nameless process {p}" for p, _ in used if p not in processes]


def _overlaps(events: list[_Event]) -> list[str]:
    """Slices of a lane that are neither apart nor one inside the other."""
    open_: dict[tuple[int, int], list[_Event]] = defaultdict(list)
    found = []
    for event in sorted((e for e in events if e["ph"] == "X"), key=lambda e: (e["ts"], -e["dur"])):
        stack = open_[event["pid"], event["tid"]]
        while stack and _end(stack[-1]) <= event["ts"] + _HALF_NS:
            stack.pop()
        inside = event["cat"] == "order" and stack and _end(event) <= _end(stack[-1]) + _HALF_NS
        if stack and not inside:
            found.append(f"overlap: {stack[-1]} and {event}")
        stack.append(event)
    return found


def _end(event: _Event) -> float:
    return float(event["ts"]) + float(event["dur"])


def _slices_at(events: list[_Event], end: _Event) -> list[_Event]:
    """What is open where the arrow has this end, the outermost first."""
    found = [
        event
        for event in events
        if event["ph"] == "X"
        and (event["pid"], event["tid"]) == (end["pid"], end["tid"])
        and event["ts"] <= end["ts"] < _end(event)
    ]
    return sorted(found, key=lambda event: (event["ts"], -event["dur"]))


def _loose_ends(events: list[_Event]) -> list[str]:
    found = []
    open_: set[Any] = set()
    done: set[Any] = set()
    began: dict[Any, float] = {}
    for event in sorted((e for e in events if e["ph"] in "sf"), key=lambda e: e["ts"]):
        key = _arrow(event)
        if event["ph"] == "s" and (key in open_ or key in done):
            found.append(f"an arrow begins again: {event}")
        elif event["ph"] == "s":
            open_.add(key)
        elif key not in open_:
            found.append(f"an arrow ends before it begins: {event}")
        else:
            open_.discard(key)
            done.add(key)
        slices = _slices_at(events, event)
        if not slices:
            found.append(f"an arrow's end outside of any slice: {event}")
        elif slices[-1]["ts"] < began.setdefault(key, slices[-1]["ts"]):
            found.append(f"an arrow that is shown the other way round: {event}")
    return found + [f"an arrow without an end: {key}" for key in open_]
