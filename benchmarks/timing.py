# SPDX-License-Identifier: Apache-2.0
"""Interleaved timing: every contestant takes its turn in every round, medians with spread come out."""

from __future__ import annotations

import gc
import statistics
import time
from dataclasses import dataclass, field
from itertools import repeat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Contestant", "Timing", "measure", "python_burst"]

# A burst shorter than this would time the clock.
_BURST_NS = 20_000
# C loops end in a wait, which many small calls share; the same number of calls for both sides.
_C_BURST_NS = 200_000
_C_BURST_CALLS = 64
# Long enough for the spinning threads of the contestant before to give up and sleep.
_SETTLE_S = 0.003
_CAP_S = 0.5


@dataclass(frozen=True, slots=True)
class Timing:
    """Nanoseconds a call: median, quartiles, least, and how many samples there were."""

    median: float
    low: float
    high: float
    least: float
    samples: int

    @classmethod
    def of(cls, samples: Sequence[float]) -> Timing:
        if len(samples) == 1:
            return cls(samples[0], samples[0], samples[0], samples[0], 1)
        low, middle, high = statistics.quantiles(samples, n=4, method="inclusive")
        return cls(middle, low, high, min(samples), len(samples))

    def record(self) -> dict[str, float]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(slots=True)
class Contestant:
    """One way to do the work: `burst(n)` does it n times and returns nanoseconds a call."""

    name: str
    burst: Callable[[int], float]
    layer: str = "python"
    share: float = 1.0  # of the budget; a peer that is far behind needs fewer samples
    samples: list[float] = field(default_factory=list)
    calls: int = 1
    spent: float = 0.0  # seconds

    def take(self, calls: int) -> float:
        start = time.perf_counter()
        each = self.burst(calls)
        self.spent += time.perf_counter() - start
        return each


def python_burst(call: Callable[[], object]) -> Callable[[int], float]:
    """A burst of Python calls; the loop costs every contestant the same 10-20 ns a call."""

    def burst(calls: int) -> float:
        start = time.perf_counter_ns()
        for _ in repeat(None, calls):
            call()
        return (time.perf_counter_ns() - start) / calls

    return burst


def measure(contestants: Sequence[Contestant], budget_s: float, rounds: int) -> dict[str, Timing]:
    """Time all of them side by side.

    Parameters
    ----------
    contestants : sequence of Contestant
        At least one.
    budget_s : float
        Seconds a contestant may use, warm-up included; never more than half a second, except
        that one call is always made.
    rounds : int
        Turns of each contestant.

    Returns
    -------
    dict
        Timing by contestant name.
    """
    budget = min(budget_s, _CAP_S)
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        _choose_bursts(contestants, budget)
        for turn in range(rounds):
            first = turn % len(contestants)
            for contestant in (*contestants[first:], *contestants[:first]):
                _turn(contestant, budget * contestant.share, rounds - turn)
    finally:
        if was_enabled:
            gc.enable()
    return {one.name: Timing.of(one.samples) for one in contestants}


def _choose_bursts(contestants: Sequence[Contestant], budget: float) -> None:
    fastest_c = float("inf")
    for one in contestants:
        first = one.take(1)
        if one.spent >= budget * one.share:
            one.samples.append(first)  # all that fits
            continue
        estimate = min(one.take(1), one.take(2)) if one.spent < budget / 20 else one.take(1)
        one.calls = max(1, round(_BURST_NS / max(estimate, 1.0)))
        if one.layer == "c":
            fastest_c = min(fastest_c, estimate)
    for one in contestants:
        if one.layer == "c":
            wanted = round(_C_BURST_NS / max(fastest_c, 1.0)) if fastest_c < float("inf") else 1
            one.calls = min(max(1, wanted), _C_BURST_CALLS)


def _turn(one: Contestant, budget: float, turns_left: int) -> None:
    left = budget - one.spent
    if left <= 0 and one.samples:
        return
    time.sleep(_SETTLE_S)
    slice_s = max(left, 0.0) / turns_left
    end = one.spent + slice_s
    one.take(one.calls)  # the caches and threads are another's
    while True:
        one.samples.append(one.take(one.calls))
        if one.spent >= end:
            return
