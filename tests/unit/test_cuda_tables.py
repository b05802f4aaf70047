# SPDX-License-Identifier: Apache-2.0
"""Numbers that are looked up stand in the C kernels and in CUDA's text: both are the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

NATIVE = Path(__file__).resolve().parents[2] / "native"
TABLES = [
    ("simd/pow_lanes.h", "aclpy_power_inverse_", "POWER_INVERSE"),
    ("simd/pow_lanes.h", "aclpy_power_log_", "POWER_LOG"),
    ("simd/log_f32.h", "aclpy_log_inverse_", "LOG_INVERSE"),
    ("simd/log_f32.h", "aclpy_log_value_", "LOG_VALUE"),
]


def table(file, name):
    text = re.search(rf"{name}\[32\] = {{(.*?)}};", (NATIVE / file).read_text(), re.DOTALL)
    assert text is not None, f"{file} has no {name}"
    return [float.fromhex(number.strip().rstrip("f")) for number in text[1].split(",")]


@pytest.mark.parametrize(("file", "ours", "cuda"), TABLES, ids=lambda value: value)
def test_both_have_the_same_table(file, ours, cuda):
    numbers = table(file, ours)
    assert len(numbers) == 32
    assert numbers == table("cuda/eltwise.h", cuda)
