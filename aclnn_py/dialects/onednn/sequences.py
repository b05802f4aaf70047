# SPDX-License-Identifier: Apache-2.0
"""What counts as a sequence in arguments: things in an order, not whatever can be gone through."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

import numpy as np

from aclnn_runtime.arguments import whole_numbers

__all__ = ["integers", "is_sequence"]

# Sets and dicts have no order to rely on; text and bytes are one value, though made of many.
_NO_SEQUENCES = (str, bytes, bytearray, Mapping, AbstractSet)


def is_sequence(values: object) -> bool:
    """Whether values may be passed as a list: not where they have no order, or more axes than one.

    What cannot be gone through at all is left to who goes through it.
    """
    if isinstance(values, np.ndarray | memoryview):
        return values.ndim == 1
    return not isinstance(values, _NO_SEQUENCES)


def integers(values: object) -> tuple[int, ...] | None:
    """The integers of a sequence; None for what is no sequence of integers."""
    return whole_numbers(values) if is_sequence(values) else None
