# SPDX-License-Identifier: Apache-2.0
"""The lock of everything that is loaded when it is first asked for.

No thread loads while another forks: the child would wait for ever for what a thread that it does
not have was loading.
"""

from __future__ import annotations

import os
from threading import RLock

__all__ = ["loading"]

loading = RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=loading.acquire,
        after_in_parent=loading.release,
        after_in_child=loading.release,
    )
