# SPDX-License-Identifier: Apache-2.0
"""What a planted fault is."""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    """One fault: in `file`, the only place that reads `old` becomes `new`; `tests` must fail.

    `isa`: where the fault is in one instruction set's kernels alone. The tests are made to use it;
    a processor without it cannot show the fault.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    isa: str = ""
