# SPDX-License-Identifier: Apache-2.0
"""Shorthand for the checks of a spec, and the cast table that several operators share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aclnn_py.core.spec import Check

if TYPE_CHECKING:
    from aclnn_py.core.dtype import DType
    from aclnn_py.core.soc import SocProfile

__all__ = [
    "CAST_TARGETS",
    "CAST_TARGETS_REGBASE",
    "STRIDED_COPY_REFUSES",
    "bf16_gate",
    "cast_supported",
    "dim_in_range",
    "dtype_in_list",
    "empty_returns",
    "not_null",
    "rank_at_most",
    "same_dtype",
    "same_shape",
]

# Targets of the vendor's cast on every SoC (reference: two-phase facts, section 1.2).
CAST_TARGETS: Final = (
    "FLOAT", "FLOAT16", "BF16", "DOUBLE", "BOOL", "INT8", "INT16", "INT32", "INT64",
    "UINT8", "UINT16", "UINT32", "UINT64", "COMPLEX64", "COMPLEX128",
)  # fmt: skip
# Further targets on the 950 generation, and the sources they take.
CAST_TARGETS_REGBASE: Final = {
    "HIFLOAT8": ("FLOAT", "FLOAT16", "BF16"),
    "FLOAT8_E5M2": ("FLOAT", "FLOAT16", "BF16"),
    "FLOAT8_E4M3FN": ("FLOAT", "FLOAT16", "BF16"),
    "FLOAT4_E2M1": ("FLOAT", "FLOAT16", "BF16"),
    "FLOAT4_E1M2": ("FLOAT", "FLOAT16", "BF16"),
    "COMPLEX32": ("FLOAT16",),
}
# A non-contiguous result of these types is refused outside the 950 generation.
STRIDED_COPY_REFUSES: Final = frozenset({"UINT16", "UINT32", "UINT64"})


def cast_supported(source: DType, target: DType, profile: SocProfile) -> bool:
    """Whether the vendor's internal cast takes this pair on this SoC."""
    if source is target or target.name in CAST_TARGETS:
        return True
    return profile.regbase and source.name in CAST_TARGETS_REGBASE.get(target.name, ())


def not_null(*params: str) -> Check:
    """Each pointer is given: 161001."""
    return Check(rule="not_null", params=params)


def empty_returns(*params: str, unless_regbase: bool = False) -> Check:
    """Any of these tensors empty: success at once, no later check runs."""
    return Check(rule="empty_returns", params=params, unless_regbase=unless_regbase)


def dtype_in_list(*params: str) -> Check:
    """Each tensor's dtype is in its parameter's list on this SoC: 161002."""
    return Check(rule="dtype_in_list", params=params)


def bf16_gate(*params: str) -> Check:
    """None of these tensors is BF16 on a SoC without it: 161002."""
    return Check(rule="bf16_gate", params=params)


def same_dtype(param: str, reference: str) -> Check:
    """`param` has the dtype of `reference`: 161002."""
    return Check(rule="same_dtype", params=(param, reference))


def dim_in_range(attribute: str, tensor: str) -> Check:
    """-r <= dim < r, r being the tensor's rank and 1 for a 0-d tensor: 161002."""
    return Check(rule="dim_in_range", params=(attribute, tensor))


def rank_at_most(limit: int, *params: str) -> Check:
    """Each view has at most `limit` dimensions: 161002."""
    return Check(rule="rank_at_most", params=params, limit=limit)


def same_shape(param: str, reference: str) -> Check:
    """The view shapes are exactly equal, [1] and [] not: 161002."""
    return Check(rule="same_shape", params=(param, reference))
