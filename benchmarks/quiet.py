# SPDX-License-Identifier: Apache-2.0
"""Whether the machine was quiet: processor time that others used while the benchmarks ran."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

__all__ = ["Disturbance"]


class Disturbance:
    """Counts from its creation; children count as ours once they have ended."""

    def __init__(self) -> None:
        self._start = _busy_and_all()
        self._own = _own_seconds()

    def share(self) -> float | None:
        """Part of all processor time that went to others; None where the system does not say."""
        now = _busy_and_all()
        if self._start is None or now is None or now[1] <= self._start[1]:
            return None
        busy, total = now[0] - self._start[0], now[1] - self._start[1]
        return max(0.0, busy - (_own_seconds() - self._own)) / total


def _busy_and_all() -> tuple[float, float] | None:
    """Seconds of all processors: busy (stolen time included), and busy or idle."""
    with suppress(OSError, ValueError):
        fields = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()
        ticks = [int(field) for field in fields[1:9]]  # guest time is part of user time
        rate = os.sysconf("SC_CLK_TCK")
        idle = ticks[3] + ticks[4]
        return (sum(ticks) - idle) / rate, sum(ticks) / rate
    return None


def _own_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
