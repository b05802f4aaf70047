# SPDX-License-Identifier: Apache-2.0
"""Enumerations of devices, contexts and questions about memory, with the C API's names."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

__all__ = [
    "ACL_DDR_MEM",
    "ACL_DEVICE",
    "ACL_HBM_MEM",
    "ACL_HOST",
    "aclCannAttr",
    "aclDeviceInfo",
    "aclSysParamOpt",
    "aclrtDevAttr",
    "aclrtDevResLimitType",
    "aclrtErrorType",
    "aclrtFloatOverflowMode",
    "aclrtMemAttr",
    "aclrtMemLocationType",
    "aclrtRunMode",
]


class aclrtRunMode(IntEnum):
    """Where a program runs."""

    ACL_DEVICE = 0
    ACL_HOST = 1


class aclrtMemAttr(IntEnum):
    """Kinds of device memory that ``aclrtGetMemInfo`` can be asked about; 6 to 17 go by number."""

    ACL_DDR_MEM = 0
    ACL_HBM_MEM = 1
    ACL_DDR_MEM_HUGE = 2
    ACL_DDR_MEM_NORMAL = 3
    ACL_HBM_MEM_HUGE = 4
    ACL_HBM_MEM_NORMAL = 5


class aclrtMemLocationType(IntEnum):
    """Where an address belongs to."""

    ACL_MEM_LOCATION_TYPE_HOST = 0
    ACL_MEM_LOCATION_TYPE_DEVICE = 1
    ACL_MEM_LOCATION_TYPE_UNREGISTERED = 2
    ACL_MEM_LOCATION_TYPE_MANAGED = 3
    ACL_MEM_LOCATION_TYPE_HOST_NUMA = 4


class aclrtDevAttr(IntEnum):
    """Attributes that a processor has a figure for."""

    ACL_DEV_ATTR_AICORE_CORE_NUM = 101
    ACL_DEV_ATTR_CUBE_CORE_NUM = 102
    ACL_DEV_ATTR_VECTOR_CORE_NUM = 201
    ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE = 301
    ACL_DEV_ATTR_L2_CACHE_SIZE = 302


class aclDeviceInfo(IntEnum):
    """What ``aclGetDeviceCapability`` can be asked about."""

    ACL_DEVICE_INFO_AI_CORE_NUM = 0
    ACL_DEVICE_INFO_VECTOR_CORE_NUM = 1
    ACL_DEVICE_INFO_L2_SIZE = 2


class aclCannAttr(IntEnum):
    """What ``aclGetCannAttribute`` can be asked about."""

    ACL_CANN_ATTR_INF_NAN = 0
    ACL_CANN_ATTR_BF16 = 1
    ACL_CANN_ATTR_JIT_COMPILE = 2


class aclSysParamOpt(IntEnum):
    """System parameters."""

    ACL_OPT_DETERMINISTIC = 0
    ACL_OPT_ENABLE_DEBUG_KERNEL = 1
    ACL_OPT_STRONG_CONSISTENCY = 2
    ACL_OPT_ENABLE_KERNEL_EARLY_START = 3


class aclrtDevResLimitType(IntEnum):
    """Kinds of cores that can be limited."""

    ACL_RT_DEV_RES_CUBE_CORE = 0
    ACL_RT_DEV_RES_VECTOR_CORE = 1


class aclrtFloatOverflowMode(IntEnum):
    """What arithmetic gives where a result is too large."""

    ACL_RT_OVERFLOW_MODE_SATURATION = 0
    ACL_RT_OVERFLOW_MODE_INFNAN = 1


class aclrtErrorType(IntEnum):
    """Sort of a device's last fault."""

    ACL_RT_NO_ERROR = 0
    ACL_RT_ERROR_MEMORY = 1
    ACL_RT_ERROR_L2 = 2
    ACL_RT_ERROR_AICORE = 3
    ACL_RT_ERROR_LINK = 4
    ACL_RT_ERROR_L3_PORT = 5
    ACL_RT_ERROR_OTHERS = 0xFFFF


ACL_DEVICE: Final = aclrtRunMode.ACL_DEVICE
ACL_HOST: Final = aclrtRunMode.ACL_HOST
ACL_DDR_MEM: Final = aclrtMemAttr.ACL_DDR_MEM
ACL_HBM_MEM: Final = aclrtMemAttr.ACL_HBM_MEM
