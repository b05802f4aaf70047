# SPDX-License-Identifier: Apache-2.0
"""Every status has a meaning, a usual cause and a fix, and ``aclnn-py explain`` prints them."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

import aclnn_py as acl
from aclnn_py.cli import main
from aclnn_runtime.status_help import HELP, find_status, near_statuses
from aclnn_runtime.status_table import ALIASES, STATUSES

# The vendor's numbers, typed from the table of the reference: family, first, last.
TABLE = [
    (100000, 100045),
    (107000, 107045),
    (148046, 148053),
    (161001, 161002),
    (200000, 200007),
    (207000, 207021),
    (300000, 300000),
    (361001, 361001),
    (500000, 500005),
    (507000, 507057),
    (507899, 507916),
    (561000, 561003),
    (561101, 561119),
]


def explain(*arguments):
    return CliRunner().invoke(main, ["explain", *arguments])


def test_the_table_is_complete():
    wanted = {number for first, last in TABLE for number in range(first, last + 1)}
    assert {value for _, value, _ in STATUSES} == wanted | {0}


def test_numbers_and_names_are_unique():
    values = [value for _, value, _ in STATUSES]
    names = [name for name, _, _ in STATUSES] + [alias for alias, _ in ALIASES]
    assert len(set(values)) == len(values)
    assert len(set(names)) == len(names)


def test_help_covers_the_table_and_nothing_else():
    assert set(HELP) == {value for _, value, _ in STATUSES}


@pytest.mark.parametrize("row", STATUSES, ids=lambda row: str(row[1]))
def test_explain_prints_every_status(row):
    name, value, meaning = row
    done = explain(str(value))
    assert done.exit_code == 0, done.output
    cause, fix = HELP[value]
    assert cause
    assert fix
    lines = done.output.splitlines()
    assert lines[0].split() == [str(value), name]
    assert [line.split(maxsplit=1) for line in lines[1:]] == [
        ["meaning:", meaning],
        ["cause:", cause],
        ["fix:", fix],
    ]
    assert explain(name.lower()).output == done.output


@pytest.mark.parametrize("alias", ALIASES, ids=lambda row: row[0])
def test_aliases(alias):
    assert explain(alias[0]).output == explain(alias[1]).output


@pytest.mark.parametrize(
    ("spelling", "close"),
    [("107999", "107045"), ("1", "0 (success)"), ("-5", "100000"), ("99999999", "561119")],
)
def test_unknown_numbers_name_their_neighbours(spelling, close):
    done = explain("--", spelling)
    assert done.exit_code == 2
    assert "no status" in done.output
    assert close in " ".join(done.output.replace("│", " ").split())


def test_unknown_names_say_what_to_pass():
    done = explain("ACL_ERROR_NONSENSE")
    assert done.exit_code == 2
    assert "pass the number" in " ".join(done.output.split())


def test_the_plan_of_an_operator_still_wants_its_shape():
    done = explain("Softmax")
    assert done.exit_code == 2
    assert "--shape" in done.output


def test_the_enumeration_is_the_table():
    named = {member.value: member for member in acl.aclError}
    assert {value: name for name, value, _ in STATUSES} == {
        value: member.name for value, member in named.items()
    }
    for alias, name in ALIASES:
        assert acl.aclError[alias] is acl.aclError[name]
    status = acl.aclError(107003)
    assert status == 107003
    found = find_status(107003)
    assert found is not None
    assert (status.meaning, status.cause, status.fix) == found[2:]
    with pytest.raises(ValueError, match="107999"):
        acl.aclError(107999)


def test_look_ups():
    status = find_status(" 107003 ")
    assert status is not None
    assert status is find_status(107003)
    assert status is find_status("acl_error_rt_stream_context")
    assert find_status("107046") is None
    assert find_status(-1) is None
    assert [near.value for near in near_statuses(107046)] == [107043, 107044, 107045]
