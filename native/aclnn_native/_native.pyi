# SPDX-License-Identifier: Apache-2.0
# The compiled cffi module; engine.h and kernel.h declare its C names.
from typing import Any

ffi: Any
lib: Any
