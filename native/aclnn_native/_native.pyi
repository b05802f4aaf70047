# SPDX-License-Identifier: Apache-2.0
# The compiled cffi module; the headers that CMakeLists.txt lists declare its C names.
from typing import Any

ffi: Any
lib: Any
