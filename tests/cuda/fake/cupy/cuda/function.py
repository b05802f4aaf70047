# SPDX-License-Identifier: Apache-2.0
"""``cupy.cuda.function``: programs in the memory of the current device."""

from __future__ import annotations

from types import SimpleNamespace

from cupy import _module
from cupy.cuda import runtime


class Module:
    def load(self, cubin):
        assert isinstance(cubin, bytes)
        runtime._called("moduleLoad", cubin)
        self._device = runtime._context()

    def get_function(self, name):
        return SimpleNamespace(ptr=_module.add(name, self._device))
