# SPDX-License-Identifier: Apache-2.0
"""Tensor formats: the C enumeration, and which of its members are private storage layouts."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

__all__ = ["PRIVATE_FORMATS", "aclFormat"]


class aclFormat(IntEnum):
    """Tensor formats, with the numbers of the C enumeration of the same name."""

    ACL_FORMAT_UNDEFINED = -1
    ACL_FORMAT_NCHW = 0
    ACL_FORMAT_NHWC = 1
    ACL_FORMAT_ND = 2
    ACL_FORMAT_NC1HWC0 = 3
    ACL_FORMAT_FRACTAL_Z = 4
    ACL_FORMAT_NC1HWC0_C04 = 12
    ACL_FORMAT_HWCN = 16
    ACL_FORMAT_NDHWC = 27
    ACL_FORMAT_FRACTAL_NZ = 29
    ACL_FORMAT_NCDHW = 30
    ACL_FORMAT_NDC1HWC0 = 32
    ACL_FRACTAL_Z_3D = 33
    ACL_FORMAT_NC = 35
    ACL_FORMAT_NCL = 47
    ACL_FORMAT_FRACTAL_NZ_C0_16 = 50
    ACL_FORMAT_FRACTAL_NZ_C0_32 = 51
    ACL_FORMAT_FRACTAL_NZ_C0_2 = 52
    ACL_FORMAT_FRACTAL_NZ_C0_4 = 53
    ACL_FORMAT_FRACTAL_NZ_C0_8 = 54


# The vendor treats tensors in these storage layouts as contiguous, whatever their strides.
PRIVATE_FORMATS: Final = frozenset({3, 4, 12, 29, 32, 33, 50, 51, 52, 53, 54})
