# SPDX-License-Identifier: Apache-2.0
"""Text of the operator headers: one for each of the vendor's header names, and the umbrellas."""

from __future__ import annotations

import re
import textwrap
from collections import defaultdict
from typing import TYPE_CHECKING

from aclnn_py.abi.prototypes import prototypes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aclnn_py.abi.prototypes import Prototype

__all__ = ["operator_headers"]

_HEADER = """\
/* SPDX-License-Identifier: Apache-2.0
 * {what}
 */
#ifndef {guard}
#define {guard}

{includes}
{body}
#endif
"""
_OPEN = '#ifdef __cplusplus\nextern "C" {\n#endif\n'
_CLOSE = "#ifdef __cplusplus\n}\n#endif\n"


def operator_headers() -> dict[str, str]:
    """Text by path below ``include/aclnnop``.

    Returns
    -------
    dict of str to str
        ``aclnn_softmax.h`` and its like, and an umbrella for each repository (``aclnn_ops_nn.h``).
    """
    by_header: dict[str, list[Prototype]] = defaultdict(list)
    by_repository: dict[str, set[str]] = defaultdict(set)
    for row in prototypes():
        by_header[row.header].append(row)
        by_repository[row.repository].add(row.header)
    texts = {header: _operator_header(header, rows) for header, rows in by_header.items()}
    for repository, headers in by_repository.items():
        name = f"aclnn_{repository.replace('-', '_')}.h"
        texts[name] = _umbrella(name, repository, headers)
    return texts


def _guard(header: str) -> str:
    return "ACLNN_PY_ACLNNOP_" + re.sub(r"\W", "_", header).upper()


def _operator_header(header: str, rows: list[Prototype]) -> str:
    parts = [_OPEN]
    parts += [f"{_wrapped(row.phase_one)}\n{_wrapped(row.phase_two)}\n" for row in rows]
    parts.append(_CLOSE)
    names = ", ".join(row.name for row in rows)
    what = textwrap.fill(f"The two phases of {names}.", 110, subsequent_indent=" * ")
    includes = '#include "aclnn/aclnn_base.h"\n'
    return _HEADER.format(what=what, guard=_guard(header), includes=includes, body="\n".join(parts))


def _umbrella(name: str, repository: str, headers: Iterable[str]) -> str:
    includes = "".join(f'#include "aclnnop/{header}"\n' for header in sorted(headers))
    what = f"Every operator of {repository}."
    return _HEADER.format(what=what, guard=_guard(name), includes=includes, body="")


def _wrapped(prototype: str) -> str:
    text = f"aclnnStatus {prototype};"
    indent = " " * (text.index("(") + 1)
    return textwrap.fill(
        text, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
