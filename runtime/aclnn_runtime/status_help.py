# SPDX-License-Identifier: Apache-2.0
"""All that is known of a status: name, meaning, the usual cause and what to do about it."""

from __future__ import annotations

from typing import Final, NamedTuple

from aclnn_runtime.status_causes import CALLS
from aclnn_runtime.status_faults import FAULTS
from aclnn_runtime.status_table import ALIASES, STATUSES

__all__ = ["HELP", "Status", "find_status", "near_statuses"]

HELP: Final[dict[int, tuple[str, str]]] = {
    status: (cause, fix) for statuses, cause, fix in CALLS + FAULTS for status in statuses
}
_NEAR: Final = 3  # how many are shown for a number that is in no table


class Status(NamedTuple):
    """A status and what is known of it.

    Attributes
    ----------
    name : str
        Name in the C headers.
    value : int
        The number that calls return.
    meaning : str
        What it says.
    cause : str
        What usually brings it about.
    fix : str
        What to do about it.
    """

    name: str
    value: int
    meaning: str
    cause: str
    fix: str


_BY_VALUE: Final = {
    value: Status(name, value, meaning, *HELP[value]) for name, value, meaning in STATUSES
}
_BY_NAME: Final = {status.name: status for status in _BY_VALUE.values()}


def find_status(spelling: int | str) -> Status | None:
    """A status by its number or by one of its names; None for one that is not in the table."""
    if isinstance(spelling, int):
        return _BY_VALUE.get(spelling)
    text = spelling.strip()
    if text.isdecimal():
        return _BY_VALUE.get(int(text))
    name = text.upper()
    return _BY_NAME.get(name) or _BY_NAME.get(dict(ALIASES).get(name, ""))


def near_statuses(value: int) -> list[Status]:
    """The few statuses whose numbers come closest."""
    known = sorted(_BY_VALUE, key=lambda other: (abs(other - value), other))
    return [_BY_VALUE[other] for other in sorted(known[:_NEAR])]
