# SPDX-License-Identifier: Apache-2.0
"""What the runtime's nouns share: no direct construction, close() and the with statement."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NoReturn, TypeVar

from aclnn_native import calls, lib
from aclnn_runtime.arguments import describe
from aclnn_runtime.errors import INVALID_HANDLE, fail, raise_last

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

__all__ = ["HandleNoun", "Noun", "handle_of", "noun_of"]


class Noun(calls.Noun):
    """An object of the runtime that is open until it is closed."""

    __slots__ = ()
    _door: ClassVar[str] = ""

    def __init__(self) -> None:
        raise TypeError(f"{type(self).__name__} cannot be made directly; use {self._door}")

    @property
    def closed(self) -> bool:
        """Whether `close` has been called."""
        return not self._open

    def close(self) -> None:
        """Give the object back; a second call does nothing."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class HandleNoun(Noun):
    """A noun that is known to the native library by a handle.

    A closed one keeps its handle: handles carry a generation, so the library itself refuses a
    stale one, in every function.
    """

    __slots__ = ()

    @classmethod
    def _adopt(cls, handle: int) -> Self:
        """An open noun with this handle; nouns with more to remember have a maker of their own."""
        noun = cls.__new__(cls)
        noun._open = True
        noun._handle = handle
        return noun

    @property
    def handle(self) -> int:
        """The native handle."""
        return self._handle

    def __eq__(self, other: object) -> bool:
        if isinstance(other, HandleNoun) and type(other) is type(self):
            return self._handle == other._handle
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._handle)

    def __repr__(self) -> str:
        state = "" if self._open else ", closed"
        return f"<{type(self).__name__} {self._handle:#x}{state}>"

    def _check_closing(self, status: int) -> None:
        """Raise unless the object is gone, be it through this call or with what held it."""
        if status == INVALID_HANDLE:
            lib.aclpy_error_clear()
        elif status:
            raise_last(status)


NounT = TypeVar("NounT", bound=HandleNoun)


def handle_of(function: str, argument: str, value: object, kind: type[HandleNoun]) -> int:
    """The handle of a noun passed to a C name; None is C's null handle."""
    if isinstance(value, kind):
        return value._handle
    if value is not None:
        _refuse(function, argument, value, kind, " or None")
    return 0


def noun_of(function: str, argument: str, value: object, kind: type[NounT]) -> NounT:
    """A noun that has to be given: a method of another noun has no use for C's null handle."""
    if not isinstance(value, kind):
        _refuse(function, argument, value, kind)
    return value


def _refuse(
    function: str, argument: str, value: object, kind: type[HandleNoun], besides: str = ""
) -> NoReturn:
    article = "an" if kind.__name__[0] in "AEIO" else "a"
    fail(
        function,
        argument,
        what="has the wrong type",
        got=describe(value),
        expected=f"{article} {kind.__name__}{besides}",
        fix=f"make one with {kind._door}",
    )
