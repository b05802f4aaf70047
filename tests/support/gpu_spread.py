# SPDX-License-Identifier: Apache-2.0
"""A problem for every kind of kernel, to be run under compute-sanitizer."""

from __future__ import annotations

import ml_dtypes
import numpy as np

import aclnn_py as acl
from support import oracle
from support.invoke import invoke
from support.problems import OPERATORS, random_inputs

SHAPES = (
    ((5, 33), 1), ((3, 1000), 1), ((2, 1500), 1), ((2, 9000), 1), ((2, 17_001), 1),
    ((2, 40_001), 1), ((1, 70_001), 1), ((3, 50, 7), 1), ((1, 2049, 33), 1), ((2, 40, 64), 1),
    ((1, 1500, 64), 1), ((1, 2100, 24), 1), ((2, 90_115), 1), ((2, 172_041), 1), ((1, 5000, 72), 1),
)  # fmt: skip


def main() -> None:
    ran = 0
    with acl.Device("cuda:0") as device, device.create_stream() as stream:
        for operator in OPERATORS:
            for dtype in (np.float32, np.float16, ml_dtypes.bfloat16):
                for shape, dim in SHAPES:
                    arrays = random_inputs(operator, shape, dtype, dim)
                    for inputs in ("contiguous", "transposed"):
                        got, _ = invoke(device, stream, operator, arrays, dim, layouts=inputs)
                        answer = oracle.answer(operator, arrays, dim)
                        assert oracle.worst(operator, got, answer) <= 1
                        ran += 1
    print("ran", ran)  # noqa: T201  # a program


if __name__ == "__main__":
    main()
