# SPDX-License-Identifier: Apache-2.0
"""SoC profiles: the facts of the vendor's interface that differ from chip to chip."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["DEFAULT_SOC", "SOC_ALIASES", "SOC_PROFILES", "SocProfile"]


@dataclass(frozen=True, slots=True)
class SocProfile:
    """One chip family.

    Attributes
    ----------
    name : str
        What ``ACLNN_PY_SOC`` selects it by.
    soc_name : str
        What ``aclrtGetSocName`` reports.
    bf16 : bool
        Whether operators accept BF16.
    regbase : bool
        The 950 generation: checks empty backward inputs in full, accepts the 8- and 4-bit floats.
    softmax_workspace_bytes : int
        System reserve in the workspace of each softmax-family kernel on the AI Core.
    redirects_into_padded_out : bool
        Whether a contiguous ``out`` inside a larger storage is written directly; the older chips
        copy it from workspace.
    allocation_padding_bytes : int
        What ``aclrtMalloc`` adds to a request after rounding it up to 32.
    peer_copies_need_access : bool
        Whether copies between devices need ``aclrtDeviceEnablePeerAccess`` first.
    streams, events, notifies : int
        How many of each a device has. Chips without a published number count as Ascend910B, and
        the notifies of the first generations as the smallest published number.
    """

    name: str
    soc_name: str
    bf16: bool = False
    regbase: bool = False
    softmax_workspace_bytes: int = 0
    redirects_into_padded_out: bool = False
    allocation_padding_bytes: int = 32
    peer_copies_need_access: bool = True
    streams: int = 1984
    events: int = 65536
    notifies: int = 8192


_RESERVE_950: Final = 16 * 1024 * 1024

_ROWS: Final = (
    SocProfile("Ascend910", "Ascend910A", streams=2048, events=65535, notifies=1024),
    SocProfile("Ascend910B", "Ascend910B1", bf16=True, redirects_into_padded_out=True),
    SocProfile(
        "Ascend910_93",
        "Ascend910_9391",
        bf16=True,
        redirects_into_padded_out=True,
        peer_copies_need_access=False,
    ),
    SocProfile(
        "Ascend950",
        "Ascend950PR",
        bf16=True,
        regbase=True,
        softmax_workspace_bytes=_RESERVE_950,
        redirects_into_padded_out=True,
        allocation_padding_bytes=0,
        notifies=65535,
    ),
    SocProfile("Ascend910E", "Ascend910E", bf16=True, redirects_into_padded_out=True),
    SocProfile("Ascend310", "Ascend310", streams=1024, events=1023, notifies=1024),
    SocProfile("Ascend310P", "Ascend310P3", streams=1024, events=1023, notifies=1024),
    SocProfile("Ascend310B", "Ascend310B1", streams=512, notifies=1024),
    SocProfile("Ascend310C", "Ascend310C1"),
    SocProfile("Ascend610Lite", "Ascend610Lite"),
    SocProfile("Ascend350", "Ascend350"),
    SocProfile("KirinX90", "KirinX90"),
    SocProfile("Kirin9030", "Kirin9030"),
)

DEFAULT_SOC: Final = "Ascend910B"
SOC_PROFILES: Final[Mapping[str, SocProfile]] = MappingProxyType({row.name: row for row in _ROWS})
# Other spellings of `ACLNN_PY_SOC`, in lower case.
SOC_ALIASES: Final[Mapping[str, str]] = MappingProxyType(
    {"ascend910_95": "Ascend950", "ascend910a": "Ascend910", "ascend910b1": "Ascend910B"}
)
