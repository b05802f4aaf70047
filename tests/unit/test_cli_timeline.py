# SPDX-License-Identifier: Apache-2.0
"""``aclnn-py timeline``: pictures of traces, whole and cut off, and what is no trace."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from aclnn_py.cli import main

SVG = "{http://www.w3.org/2000/svg}"
EVENTS = [
    {"ph": "M", "pid": 1, "tid": 3, "ts": 0, "name": "thread_name", "args": {"name": "stream 3"}},
    {"ph": "X", "pid": 1, "tid": 3, "ts": 10.0, "dur": 5.0, "name": "a & <b>", "args": {}},
    {"ph": "s", "pid": 1, "tid": 3, "ts": 15.0, "id": "0x1", "name": "order"},
    {
        "ph": "X",
        "pid": 1,
        "tid": 4,
        "ts": 15.0,
        "dur": 5.0,
        "name": "c",
        "args": {"status": 507015},
    },
    {"ph": "f", "pid": 1, "tid": 4, "ts": 20.0, "id": "0x1", "name": "order"},
]


def drawn(tmp_path, text):
    trace, picture = tmp_path / "trace.json", tmp_path / "out.svg"
    trace.write_text(text, encoding="utf-8")
    result = CliRunner().invoke(main, ["timeline", str(trace), "-o", str(picture)])
    return result, picture


@pytest.mark.parametrize("whole", [True, False])
def test_a_trace_is_drawn(tmp_path, whole):
    lines = ",\n".join(json.dumps(event) for event in EVENTS)
    text = '{"traceEvents":[\n' + lines + ("\n]}\n" if whole else ',\n{"ph":"X","pid')
    result, picture = drawn(tmp_path, text)
    assert result.exit_code == 0, result.output
    root = ET.parse(picture).getroot()
    boxes = root.findall(SVG + "rect")
    assert [box.find(SVG + "title").text.split("\n")[0] for box in boxes] == ["a & <b>", "c"]
    assert boxes[1].get("fill") == "#d62728"
    assert len(root.findall(SVG + "circle")) == 1
    assert "stream 3" in [text.text for text in root.findall(SVG + "text")]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the file is empty"),
        ("\n", "the file is empty"),
        ("no trace", "it is no JSON"),
        ("[]", "no task"),
        ("{}", "no list of events"),
        ("5", "no list of events"),
        ('{"traceEvents":5}', "no list of events"),
        ('{"traceEvents":[]}', "no task"),
        ('{"traceEvents":[1]}', "event 0 is int, not an object"),
        ('{"traceEvents":[{"ph":"X","name":"a","tid":1}]}', "event 0 has no ts and no dur"),
        ('[{"ph":"s","tid":1,"ts":0}]', "event 0 has no id"),
    ],
)
def test_what_is_no_trace_is_refused(tmp_path, text, reason):
    result, picture = drawn(tmp_path, text)
    assert result.exit_code == 1
    assert "is no trace" in result.output
    assert reason in result.output
    assert "ACLNN_PY_TRACE" in result.output
    assert not picture.exists()


@pytest.mark.parametrize("wrong", ["NaN", "Infinity", "-Infinity", "1e999", "1" + "0" * 400])
@pytest.mark.parametrize(("event", "name"), [(1, "ts"), (1, "dur"), (2, "ts"), (4, "ts")])
def test_what_is_no_time_is_refused(tmp_path, event, name, wrong):
    events = [dict(one) for one in EVENTS]
    events[event][name] = "here"
    text = json.dumps({"traceEvents": events}).replace('"here"', wrong)
    result, picture = drawn(tmp_path, text)
    assert (result.exit_code, "is no trace" in result.output) == (1, True), result.output
    assert not picture.exists()


def test_events_alone_are_a_trace(tmp_path):
    result, picture = drawn(tmp_path, json.dumps(EVENTS))
    assert (result.exit_code, picture.is_file()) == (0, True), result.output


def test_labels_may_have_characters_that_xml_does_not(tmp_path):
    events = [EVENTS[0], EVENTS[1] | {"name": "a\x01b"}]
    done, picture = drawn(tmp_path, json.dumps({"traceEvents": events}))
    assert done.exit_code == 0, done.output
    assert any("a\ufffdb" in (one.text or "") for one in ET.parse(picture).getroot().iter())


def test_files_that_cannot_be_read_or_written(tmp_path):
    trace = tmp_path / "trace.json"
    trace.write_bytes(b"\xff\xfe")
    done = CliRunner().invoke(main, ["timeline", str(trace), "-o", str(tmp_path / "x.svg")])
    assert (done.exit_code, "no trace" in done.output) == (1, True)
    trace.write_text(json.dumps({"traceEvents": EVENTS}), encoding="utf-8")
    done = CliRunner().invoke(main, ["timeline", str(trace), "-o", str(tmp_path / "no" / "x.svg")])
    assert (done.exit_code, "cannot be written" in done.output) == (1, True)
