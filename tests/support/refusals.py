# SPDX-License-Identifier: Apache-2.0
"""What a call answers, as a number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aclnn_py as acl

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["status_of"]


def status_of(call: Callable[[], object]) -> int:
    """0, or the status of the error that the call raises."""
    try:
        call()
    except acl.AclError as error:
        return error.status
    return 0
