# SPDX-License-Identifier: Apache-2.0
# The compiled cffi module; its C names are declared in native/engine/engine.h and native/kernels/kernel.h.
from typing import Any

ffi: Any
lib: Any
