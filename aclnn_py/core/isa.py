# SPDX-License-Identifier: Apache-2.0
"""The instruction sets that kernels are compiled for, by the names of ``ACLNN_PY_ISA``."""

from __future__ import annotations

from typing import Final

from aclnn_native import lib

__all__ = ["ISAS", "own_bits", "supported"]

#: Each includes those before it.
ISAS: Final = ("baseline", "avx2", "avx512")


def own_bits(isa: str) -> int:
    """The native library's bits of one instruction set, without those that it includes."""
    masks = [int(lib.aclpy_isa_mask(name.encode())) for name in ISAS[: ISAS.index(isa) + 1]]
    return masks[-1] & ~(masks[-2] if len(masks) > 1 else 0)


def supported() -> list[str]:
    """Those that this processor runs, the best one last."""
    here = lib.aclpy_isa_supported()
    return [isa for isa in ISAS if own_bits(isa) & here]
