# SPDX-License-Identifier: Apache-2.0
"""Enumerations of models whose streams are switched; members also as names."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

__all__ = [
    "ACL_RT_EQUAL",
    "ACL_RT_GREATER",
    "ACL_RT_GREATER_OR_EQUAL",
    "ACL_RT_LESS",
    "ACL_RT_LESS_OR_EQUAL",
    "ACL_RT_NOT_EQUAL",
    "ACL_RT_SWITCH_INT32",
    "ACL_RT_SWITCH_INT64",
    "aclrtCompareDataType",
    "aclrtCondition",
]


class aclrtCondition(IntEnum):  # the C API's spelling
    """How a switch compares its left value with its right one."""

    ACL_RT_EQUAL = 0
    ACL_RT_NOT_EQUAL = 1
    ACL_RT_GREATER = 2
    ACL_RT_GREATER_OR_EQUAL = 3
    ACL_RT_LESS = 4
    ACL_RT_LESS_OR_EQUAL = 5


class aclrtCompareDataType(IntEnum):  # the same
    """What a switch compares."""

    ACL_RT_SWITCH_INT32 = 0
    ACL_RT_SWITCH_INT64 = 1


ACL_RT_EQUAL: Final = aclrtCondition.ACL_RT_EQUAL
ACL_RT_NOT_EQUAL: Final = aclrtCondition.ACL_RT_NOT_EQUAL
ACL_RT_GREATER: Final = aclrtCondition.ACL_RT_GREATER
ACL_RT_GREATER_OR_EQUAL: Final = aclrtCondition.ACL_RT_GREATER_OR_EQUAL
ACL_RT_LESS: Final = aclrtCondition.ACL_RT_LESS
ACL_RT_LESS_OR_EQUAL: Final = aclrtCondition.ACL_RT_LESS_OR_EQUAL
ACL_RT_SWITCH_INT32: Final = aclrtCompareDataType.ACL_RT_SWITCH_INT32
ACL_RT_SWITCH_INT64: Final = aclrtCompareDataType.ACL_RT_SWITCH_INT64
