# SPDX-License-Identifier: Apache-2.0
"""What ``aclnn-py explain`` says about a status: meaning, usual cause, fix."""

from __future__ import annotations

from aclnn_runtime.status_help import Status, find_status, near_statuses

__all__ = ["looks_like_a_status", "status_of", "status_text"]

_PREFIXES = ("ACL_ERROR", "ACLNN_ERR", "ACL_SUCCESS", "ACLNN_SUCCESS", "ACL_RT_SUCCESS")


def looks_like_a_status(spelling: str) -> bool:
    """A number, or a name that begins as statuses do."""
    text = spelling.strip()
    return text.lstrip("+-").isdecimal() or text.upper().startswith(_PREFIXES)


def status_of(spelling: str) -> Status:
    """The status that is meant.

    Raises
    ------
    ValueError
        For one that is not in the table; the text names what comes close.
    """
    found = find_status(spelling)
    if found is not None:
        return found
    text = spelling.strip()
    if text.lstrip("+-").isdecimal():
        rows = near_statuses(int(text))
        near = ", ".join(f"{status.value} ({status.meaning})" for status in rows)
        raise ValueError(
            f"{text} is no status of the aclrt or aclnn calls; the closest are {near}. A failed "
            "host function or a graph engine may pass numbers of its own through."
        )
    raise ValueError(
        f"{text} is no name of a status; pass the number, or a name as the C headers spell it, "
        "such as ACL_ERROR_RT_CONTEXT_NULL"
    )


def status_text(status: Status) -> str:
    """Four lines."""
    return (
        f"{status.value}  {status.name}\n"
        f"  meaning:  {status.meaning}\n"
        f"  cause:    {status.cause}\n"
        f"  fix:      {status.fix}"
    )
