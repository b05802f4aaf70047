# SPDX-License-Identifier: Apache-2.0
"""Truth values as arguments, which come by position, too, as in C++."""

from __future__ import annotations

import numpy as np

from aclnn_py.dialects.onednn.statuses import refuse, status
from aclnn_runtime.arguments import describe

__all__ = ["truth"]


def truth(function: str, argument: str, value: object) -> bool:
    """`value`, a bool, NumPy's, or C's 0 and 1; invalid_arguments for anything else."""
    if not isinstance(value, bool | np.bool_) and (type(value) is not int or value not in (0, 1)):
        refuse(
            status.invalid_arguments,
            function,
            argument,
            "is no truth value",
            got=describe(value),
            expected="True or False",
            fix=f"pass {argument} by its name where the order is not sure: {argument}=True",
        )
    return bool(value)
