# SPDX-License-Identifier: Apache-2.0
"""Programs: what is compiled and loaded, and the twin in which its kernels are found by name."""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path

from aclnn_native import lib

_numbers = count(1)
#: By CUfunction: the kernel's name, and the device whose memory it is in.
kernels: dict[int, tuple[str, int]] = {}
#: Shared memory that launches may ask for, where they may more than others [bytes].
shared: dict[int, int] = {}
#: (length of the text, options, architecture, name of the file)
compiled: list[tuple] = []


def add(name: str, device: int) -> int:
    number = next(_numbers)
    kernels[number] = name, device
    return number


def words_of(name: str) -> int:
    """64-bit words of a kernel's structure."""
    dims, operands = lib.ACLPY_POST_DIMS, lib.ACLPY_POST_OPERANDS
    if name.startswith(("softmax_fused", "softmax_stats", "post_ops")):
        ops = lib.ACLPY_POST_MOST * lib.ACLPY_POST_WORDS
        return operands + 9 + 2 + 5 + dims + 2 * operands + operands * dims + ops
    if name.startswith("dropout_"):
        return 7 + 2 * dims
    return 79 if name.startswith("copy_") else 3 if name.startswith("cast_") else 9


#: Words of a structure that may be addresses, at most: they come first.
ADDRESSES = 8

_twin = []


def twin():
    from support.cuda_twin import Twin  # noqa: PLC0415  # the folder of the tests is on the path

    if not _twin:
        _twin.append(Twin(Path(os.environ["FAKE_CUPY_TWIN"])))
    return _twin[0]
