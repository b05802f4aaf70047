# SPDX-License-Identifier: Apache-2.0
"""What pyACL has and this package has not: refused by name."""

from __future__ import annotations

from typing import NoReturn

__all__ = ["Outside", "refuse"]


def refuse(call: str, reason: str) -> NoReturn:
    """Raise AttributeError, so that ``hasattr`` answers what is true."""
    raise AttributeError(f"{call} is outside of aclnn_py.pyacl: {reason}")


class Outside:
    """A part of pyACL of which nothing is here.

    Parameters
    ----------
    name : str
        What programs write, ``"acl.mdl"``.
    reason : str
        What the part does, and what to use instead.
    """

    def __init__(self, name: str, reason: str) -> None:
        self._name = name
        self._reason = reason

    def __getattr__(self, attribute: str) -> NoReturn:
        if attribute.startswith("_"):  # the language's own questions
            raise AttributeError(attribute)
        refuse(f"{self._name}.{attribute}", self._reason)

    def __repr__(self) -> str:
        return f"<{self._name}, which is outside of aclnn_py.pyacl>"
