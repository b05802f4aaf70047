# SPDX-License-Identifier: Apache-2.0
"""Chooses who runs a step: the first backend that accepts it; refusals are kept as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from aclnn_py.core.made import maker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aclnn_py.plan.steps import Step

__all__ = ["Backend", "Choice", "NoImplementationError", "Refusal", "choose"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a candidate was passed over.

    Attributes
    ----------
    candidate : str
        Backend and implementation, ``"cpu: softmax f32 (avx512)"``.
    reason : str
        What it lacks.
    """

    candidate: str
    reason: str


class Backend(Protocol):
    """What can run steps. Ordered from most to least preferred by the caller of `choose`."""

    name: str

    def accept(self, step: Step) -> tuple[str, tuple[Refusal, ...]]:
        """Name of the implementation that would run `step` ("" for none), and who was refused."""
        ...

    def takes(self, step: Step) -> bool:
        """Whether the implementation of an accepted `step` does problems of this size."""
        ...

    def divides(self, step: Step, params: tuple[int, ...], by: Step | None = None) -> bool:
        """Whether a launch with `params`, for some rows of `step`, gives them the same bits.

        `by` is the kernel that is launched, where it is not the step's own.
        """
        ...


class Choice(NamedTuple):
    """Who runs a step.

    Attributes
    ----------
    backend : str
        Name of the backend.
    implementation : str
        Kernel, dtype and ISA.
    refused : tuple of Refusal
        Better-ranked candidates that could not take the step.
    """

    backend: str
    implementation: str
    refused: tuple[Refusal, ...]


_choice = maker(Choice)


class NoImplementationError(LookupError):
    """No backend takes a step; carries the refusals."""

    def __init__(self, step: Step, refused: tuple[Refusal, ...]) -> None:
        super().__init__(f"{step.kernel} {step.dtype}")
        self.step = step
        self.refused = refused


def choose(step: Step, backends: Sequence[Backend]) -> Choice:
    """The first backend that accepts `step`.

    Raises
    ------
    NoImplementationError
        When none does.
    """
    refused: tuple[Refusal, ...] = ()
    for backend in backends:
        implementation, reasons = backend.accept(step)
        refused += reasons
        if implementation:
            return _choice((backend.name, implementation, refused))
    raise NoImplementationError(step, refused)
