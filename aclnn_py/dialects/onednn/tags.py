# SPDX-License-Identifier: Apache-2.0
"""Plain format tags: the order of dimensions in memory, from the slowest to the fastest."""

from __future__ import annotations

import re
from typing import Final

from aclnn_py.dialects.onednn.enums import DNNL_MAX_NDIMS
from aclnn_py.dialects.onednn.statuses import refuse, status

__all__ = ["axis_order", "natural_tag"]

_LETTERS: Final = "abcdefghijkl"

# Names with a meaning, by the generic tag that they are another word for.
_ALIASES: Final = {
    alias: tag
    for tag, names in {
        "a": "x",
        "ab": "nc tn oi",
        "ba": "cn nt io",
        "abc": "ncw tnc oiw",
        "acb": "nwc owi",
        "bac": "ntc",
        "bca": "iwo",
        "cab": "woi",
        "cba": "wio",
        "abcd": "nchw oihw goiw ldnc ldio ldgo",
        "abdc": "gowi ldoi",
        "acdb": "nhwc ohwi",
        "adcb": "gwio",
        "bacd": "iohw",
        "bcda": "chwn ihwo",
        "cdab": "hwoi",
        "cdba": "hwio",
        "dcab": "wigo",
        "abcde": "ncdhw oidhw goihw ldigo",
        "abdec": "gohwi ldgoi",
        "acbde": "giohw",
        "acdeb": "ndhwc odhwi",
        "adecb": "ghwio",
        "bacde": "iodhw",
        "bcdea": "idhwo",
        "cdeab": "dhwoi",
        "cdeba": "dhwio",
        "decab": "hwigo",
        "abcdef": "goidhw",
        "abdefc": "godhwi",
        "acbdef": "giodhw",
        "adefcb": "gdhwio",
        "defcab": "dhwigo",
    }.items()
    for alias in names.split()
}


def natural_tag(ndims: int) -> str:
    """The row-major tag, ``"abcd"`` for 4."""
    return _LETTERS[:ndims]


def axis_order(function: str, tag: str, ndims: int) -> tuple[int, ...]:
    """Axes from the slowest to the fastest, as a plain tag says.

    Any permutation of the letters is taken, not only those that have an enumerator in C.

    Raises
    ------
    OneDnnError
        unimplemented for a blocked tag; invalid_arguments for a name that is none, or one of
        another number of dimensions.
    """
    letters = _ALIASES.get(tag, tag)
    if not letters or sorted(letters) != list(_LETTERS[: len(letters)]):
        blocked = re.fullmatch(r"[A-Za-z]+(\d+[a-z])+", tag) is not None
        refuse(
            status.unimplemented if blocked else status.invalid_arguments,
            function,
            "format_tag",
            "is a blocked layout" if blocked else "is no format tag",
            got=repr(tag),
            expected=f"a permutation of 'abc...' (up to {DNNL_MAX_NDIMS} letters), a name such as "
            "'nchw', or 'any'",
            fix="use a plain tag or strides; blocked layouts are not implemented here",
        )
    if len(letters) != ndims:
        refuse(
            status.invalid_arguments,
            function,
            "format_tag",
            "has another number of dimensions",
            got=f"{tag!r} for {ndims} dimensions",
            expected=f"a tag of {ndims} letters, {natural_tag(ndims)!r} for row-major",
            fix="let tag and dims have one length",
        )
    return tuple(_LETTERS.index(letter) for letter in letters)
