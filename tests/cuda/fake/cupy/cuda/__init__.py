# SPDX-License-Identifier: Apache-2.0
"""``cupy.cuda``, as far as it is used."""

from cupy.cuda import driver, runtime

__all__ = ["driver", "runtime"]
