# SPDX-License-Identifier: Apache-2.0
"""The command ``timeline``: a picture of a trace."""

from __future__ import annotations

import json
import re
import sys
from bisect import bisect_left
from itertools import accumulate, pairwise
from math import isfinite, log10
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

import click

__all__ = ["COMMANDS", "draw"]

_STEP: Final = 10  # for each power of ten of a time [px]
_MARGIN: Final = 120  # for the names of the lanes [px]
_LANE: Final = 34  # height of a lane [px]
_LETTER: Final = 6.5  # of a label [px]
_CONTROL: Final = re.compile(
    r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)  # XML has none
_COLOURS: Final = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#9d755d", "#72b7b2")
#: What a file of another kind leads to.
_NO_TRACE: Final = (
    *(AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError),
)
_MADE: Final = "ACLNN_PY_TRACE=FILE, `aclnn-py run --trace FILE` or acl.trace(path) make one."
_WAIT, _FAILED = "#d3d3d3", "#d62728"


def draw(events: list[dict[str, Any]], path: str | Path) -> None:
    """Draw the tasks and arrows of Chrome-trace events as SVG.

    Times are not to scale: a stretch of time is as wide as its logarithm, and a task at least as
    wide as its name, so that a microsecond beside a millisecond can still be read.

    Parameters
    ----------
    events : list of dict
        What ``traceEvents`` of the file holds.
    path : str or Path
        The SVG to write.

    Raises
    ------
    ValueError
        Without a single task, and for a time that is no finite number.
    """
    _check_parts(events)
    _check_times(events)
    tasks = [event for event in events if event.get("ph") == "X" and event.get("cat") != "order"]
    if not tasks:
        raise ValueError("the trace holds no task")
    lanes = {lane: row for row, lane in enumerate(sorted({task["tid"] for task in tasks}))}
    begin = min(task["ts"] for task in tasks)
    span = max(task["ts"] + task["dur"] for task in tasks) - begin
    axis = _Axis(tasks)
    root = ET.Element(
        "svg",
        xmlns="http://www.w3.org/2000/svg",
        width=f"{_MARGIN + axis.width + 20:.0f}",
        height=str(_LANE * (len(lanes) + 1)),
    )
    root.set("font-family", "sans-serif")
    root.set("font-size", "11")
    _lane_names(root, lanes, events, axis.width)
    for task in tasks:
        left, right = axis.at(task["ts"]), axis.at(task["ts"] + task["dur"])
        _task(root, task, lanes[task["tid"]], left, right - left)
    for start, end in _arrows(events):
        _arrow(root, start, end, lanes, axis)
    text = _child(root, "text", x=str(_MARGIN), y=str(_LANE * len(lanes) + 20))
    text.text = f"{span:.1f} µs in all, not to scale"
    for one in root.iter():
        one.text = one.text and _CONTROL.sub("\N{REPLACEMENT CHARACTER}", one.text)
    ET.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


#: What is read of an event, by its phase.
_PARTS: Final = {
    "X": ("name", "tid", "ts", "dur"),
    "M": ("tid", "args"),
    "s": ("id", "tid", "ts"),
    "f": ("id", "tid", "ts"),
}


def _check_parts(events: list[dict[str, Any]]) -> None:
    for number, event in enumerate(events):
        if not isinstance(event, dict):
            raise ValueError(f"event {number} is {type(event).__name__}, not an object")  # noqa: TRY004  # of the file
        missing = [name for name in _PARTS.get(event.get("ph", ""), ()) if name not in event]
        if missing:
            raise ValueError(f"event {number} has no {' and no '.join(missing)}")


def _check_times(events: list[dict[str, Any]]) -> None:
    for event in events:
        for name in ("ts", "dur"):
            if not isfinite(event.get(name, 0)):
                raise ValueError(f"{name} of {event.get('name')} is {event[name]}, no time")


class _Axis:
    """Where times are drawn, right of the names of the lanes."""

    def __init__(self, tasks: list[dict[str, Any]]) -> None:
        self._times: list[float] = sorted(
            {t for task in tasks for t in (task["ts"], task["ts"] + task["dur"])}
        )
        spans = [1000 * (b - a) for a, b in pairwise(self._times)]  # [ns]
        widths = [_STEP * (1 + log10(1 + span)) for span in spans]
        for task in tasks:
            first, end = (bisect_left(self._times, task["ts"] + d) for d in (0, task["dur"]))
            short = _LETTER * (len(task["name"]) + 1) - sum(widths[first:end])
            for index in range(first, end if short > 0 else first):
                widths[index] += short / (end - first)
        self._places: list[float] = [0.0, *accumulate(widths)]
        self.width = self._places[-1]

    def at(self, time: float) -> float:
        """Distance from the left of the drawing area [px]."""
        after = bisect_left(self._times, time)
        if after == len(self._times) or self._times[after] == time or after == 0:
            return self._places[min(after, len(self._places) - 1)]
        low, high = self._times[after - 1 : after + 1]
        left, right = self._places[after - 1 : after + 1]
        return left + (right - left) * (time - low) / (high - low)


def _child(parent: ET.Element, tag: str, **attributes: str) -> ET.Element:
    return ET.SubElement(parent, tag, attributes)


def _lane_names(
    root: ET.Element, lanes: dict[int, int], events: list[dict[str, Any]], width: float
) -> None:
    names = {e["tid"]: e["args"]["name"] for e in events if e.get("ph") == "M"}
    for lane, row in lanes.items():
        middle = str(_LANE * row + _LANE // 2 + 4)
        _child(root, "text", x="4", y=middle).text = names.get(lane, str(lane))
        below = str(_LANE * (row + 1))
        end = f"{_MARGIN + width:.0f}"
        _child(root, "line", x1="0", x2=end, y1=below, y2=below, stroke="#eeeeee")


def _task(root: ET.Element, task: dict[str, Any], row: int, left: float, width: float) -> None:
    arguments = task.get("args", {})
    waits = "Wait" in arguments.get("call", "")
    colour = _WAIT if waits else _COLOURS[sum(task["name"].encode()) % len(_COLOURS)]
    if arguments.get("status"):
        colour = _FAILED
    x, y = f"{_MARGIN + left:.2f}", str(_LANE * row + 5)
    shown = f"{max(width, 1.0):.2f}"
    box = _child(root, "rect", x=x, y=y, width=shown, height=str(_LANE - 10), fill=colour)
    facts = [f"{name}: {value}" for name, value in arguments.items()]
    _child(box, "title").text = "\n".join([task["name"], f"{task['dur']} µs", *facts])
    if width > _LETTER * len(task["name"]):
        text = _child(root, "text", x=f"{_MARGIN + left + 3:.2f}", y=str(_LANE * row + 21))
        text.text = task["name"]


def _arrows(events: list[dict[str, Any]]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Each wait with the latest record before it."""
    open_: dict[str, dict[str, Any]] = {}
    found = []
    for event in sorted((e for e in events if e.get("ph") in ("s", "f")), key=lambda e: e["ts"]):
        if event["ph"] == "s":
            open_[event["id"]] = event
        elif event["id"] in open_:
            found.append((open_[event["id"]], event))
    return found


def _arrow(
    root: ET.Element,
    start: dict[str, Any],
    end: dict[str, Any],
    lanes: dict[int, int],
    axis: _Axis,
) -> None:
    ends = [(_MARGIN + axis.at(e["ts"]), _LANE * lanes[e["tid"]] + _LANE / 2) for e in (start, end)]
    (x1, y1), (x2, y2) = ends
    line = _child(root, "line", x1=f"{x1:.2f}", y1=f"{y1:.1f}", x2=f"{x2:.2f}", y2=f"{y2:.1f}")
    line.set("stroke", "#333333")
    _child(root, "circle", cx=f"{x2:.2f}", cy=f"{y2:.1f}", r="3", fill="#333333")


@click.command()
@click.argument("trace", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="The SVG.")
def timeline(trace: Path, output: Path) -> None:
    """Draw a trace of ACLNN_PY_TRACE or acl.trace() as a picture."""
    try:
        events = _events(trace.read_text(encoding="utf-8"))
        draw(events, output)
    except OSError as error:
        click.echo(f"{output} cannot be written: {error}", err=True)
        sys.exit(1)
    except _NO_TRACE as error:
        click.echo(f"{trace} is no trace of aclnn_py: {error}\n{_MADE}", err=True)
        sys.exit(1)
    click.echo(str(output))


def _events(text: str) -> list[dict[str, Any]]:
    """Also of a program that ended before it could close the file; or events alone."""
    if not text.strip():
        raise ValueError("the file is empty")
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        whole, end, _ = text.rpartition("\n")
        if not end:
            raise ValueError(f"it is no JSON: {error}") from None
        found = json.loads(whole.rstrip().rstrip(",") + "]}")
    events = found.get("traceEvents") if isinstance(found, dict) else found
    if not isinstance(events, list):
        raise ValueError("it holds no list of events, `traceEvents`")  # noqa: TRY004  # of the file
    return events


COMMANDS: Final = (timeline,)
