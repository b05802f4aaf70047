# SPDX-License-Identifier: Apache-2.0
"""pyACL's convention in tests: values first, the status last."""

from __future__ import annotations

import aclnn_py.pyacl as acl

H2D, D2H = 1, 2
SYNC, TIMED = 1, 8
UNKNOWN = 0x123456789


def first(answer):
    """The value of a call that must succeed."""
    *values, ret = answer
    assert ret == 0, acl.get_recent_err_msg()
    return values[0] if len(values) == 1 else tuple(values)


def read(pointer, size):
    room = bytes(bytearray(size))
    assert acl.rt.memcpy(acl.util.bytes_to_ptr(room), size, pointer, size, D2H) == 0
    return room
