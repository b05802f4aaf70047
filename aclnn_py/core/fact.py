# SPDX-License-Identifier: Apache-2.0
"""Fact: what an immutable object can work out of its fields, worked out once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

__all__ = ["Fact"]

_T = TypeVar("_T")


class Fact(Generic[_T]):
    """``functools.cached_property`` without its lock, which Python 3.10 and 3.11 take each time.

    Two threads may both work it out: the object does not change, so they find the same.
    """

    def __init__(self, work_out: Callable[[Any], _T]) -> None:
        self._work_out = work_out
        self._name = work_out.__name__
        self.__doc__ = work_out.__doc__

    @overload
    def __get__(self, owner: None, kind: type) -> Self: ...
    @overload
    def __get__(self, owner: object, kind: type) -> _T: ...
    def __get__(self, owner: object | None, kind: type) -> Self | _T:
        if owner is None:
            return self
        found = self._work_out(owner)
        owner.__dict__[self._name] = found  # in front of this descriptor, which has no __set__
        return found
