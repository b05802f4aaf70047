# SPDX-License-Identifier: Apache-2.0
"""``cupy.cuda``, as far as it is used."""

from cupy.cuda import compiler, driver, function, nvrtc, runtime

__all__ = ["Device", "compiler", "driver", "function", "nvrtc", "runtime"]


class Device:
    """A device by its number."""

    def __init__(self, device=None):
        self.id = runtime.getDevice() if device is None else device

    @property
    def compute_capability(self):
        return "90"
