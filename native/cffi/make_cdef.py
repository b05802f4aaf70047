# SPDX-License-Identifier: Apache-2.0
"""Make the cffi cdef from the C headers: comments and preprocessor lines go, callbacks come behind.

make_cdef.py --output OUT HEADER... callbacks.cdef.txt    (CMakeLists.txt lists the headers)
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$", re.MULTILINE)
BLANK_LINES = re.compile(r"\n\s*\n+")


def declarations(text: str) -> str:
    """Return the declarations of a header that cffi can read."""
    text = COMMENT.sub(" ", text)
    text = PREPROCESSOR.sub("", text)
    return BLANK_LINES.sub("\n", text).strip() + "\n"


def main() -> None:
    """Parse the command line and write the cdef."""
    parser = argparse.ArgumentParser(description="the cffi cdef")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("headers", nargs="+", type=Path)
    options = parser.parse_args()
    parts = [declarations(path.read_text(encoding="utf-8")) for path in options.headers]
    options.output.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
