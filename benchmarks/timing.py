# SPDX-License-Identifier: Apache-2.0
"""Interleaved timing: every contestant has its turn in every round; medians with spread."""

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
_C_BURST_NS = 1_000_000
_C_BURST_CALLS = 64
# Long enough for the spinning threads of the contestant before to give up and sleep.
_SETTLE_S = 0.003
_CAP_S = 0.5
_SLOW_S = 0.05  # of a burst
_TRIALS = 4


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
    spent: float = 0.0  # seconds, trials included
    trials: float = 0.0

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
        Seconds of samples for each contestant, the warm-up of each turn included. With the first
        trials it is never more than half a second; only a single call may take longer.
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
        _choose_bursts(contestants)
        for turn in range(rounds):
            first = turn % len(contestants)
            for contestant in (*contestants[first:], *contestants[:first]):
                _turn(contestant, budget * contestant.share, rounds - turn)
    finally:
        if was_enabled:
            gc.enable()
    return {one.name: Timing.of(one.samples) for one in contestants}


def _choose_bursts(contestants: Sequence[Contestant]) -> None:
    fastest_c = float("inf")
    for one in contestants:
        # The first call pays for everybody's caches and threads, the second may still.
        estimate = one.take(1)
        if one.spent >= _CAP_S:
            one.samples.append(estimate)  # it will not be called again
        for _ in range(_TRIALS - 1):
            if one.spent < _CAP_S / 4:
                estimate = min(estimate, one.take(1))
        one.calls = max(1, round(_BURST_NS / max(estimate, 1.0)))
        one.trials = one.spent
        if one.layer == "c":
            fastest_c = min(fastest_c, estimate)
    for one in contestants:
        if one.layer == "c":
            one.calls = min(max(1, round(_C_BURST_NS / max(fastest_c, 1.0))), _C_BURST_CALLS)


def _turn(one: Contestant, budget: float, turns_left: int) -> None:
    left = min(budget, _CAP_S - one.trials) - (one.spent - one.trials)
    if left <= 0 and one.samples:
        return
    time.sleep(_SETTLE_S)
    start = one.spent
    slice_s = left / turns_left
    first = one.take(one.calls)  # the caches and threads are another's
    if one.spent - start >= min(max(slice_s, _SLOW_S), _CAP_S / 2):
        one.samples.append(first)  # too slow for caches to matter, or to be called again
        return
    while True:
        one.samples.append(one.take(one.calls))
        if one.spent - start >= slice_s:
            return
