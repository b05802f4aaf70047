# SPDX-License-Identifier: Apache-2.0
"""Which element types oneDNN's softmax implementations take, engine by engine, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aclnn_py.dialects.onednn.enums import data_type, engine_kind

if TYPE_CHECKING:
    from aclnn_py.dialects.onednn.descriptors import memory_desc
    from aclnn_py.dialects.onednn.engines import engine_description

__all__ = ["IMPLEMENTATIONS", "Implementation", "implementations", "taken_types"]


def _types(names: str) -> frozenset[data_type]:
    return frozenset(data_type[name] for name in names.split())


@dataclass(frozen=True)
class Implementation:
    """One implementation's element types; values are computed by this project's own kernels.

    Attributes
    ----------
    name : str
        oneDNN's, or what it is.
    kind : engine_kind
        The engines that list it.
    vendor : str
        Of a GPU; empty for the CPU.
    source, destination : frozenset of data_type
        Forward types.
    given, wanted : frozenset of data_type
        Backward types of (dst, diff_dst) and of diff_src; empty where there is no backward.
    alike : bool
        Whether all tensors must have one and the same descriptor.
    """

    name: str
    kind: engine_kind
    vendor: str
    source: frozenset[data_type]
    destination: frozenset[data_type]
    given: frozenset[data_type] = frozenset()
    wanted: frozenset[data_type] = frozenset()
    alike: bool = False

    def takes_forward(self, src: memory_desc, dst: memory_desc) -> bool:
        """Whether it computes src -> dst."""
        types = src.data_type in self.source and dst.data_type in self.destination
        return types and (src == dst or not self.alike)

    def takes_backward(
        self, dst: memory_desc, diff_dst: memory_desc, diff_src: memory_desc
    ) -> bool:
        """Whether it computes (dst, diff_dst) -> diff_src."""
        types = dst.data_type in self.given and diff_src.data_type in self.wanted
        same = diff_src == diff_dst == dst or not self.alike
        return types and dst.data_type is diff_dst.data_type and same


_FLOATS: Final = _types("f32 bf16 f16")
_ALL: Final = _types("f32 bf16 f16 f8_e5m2 f8_e4m3 s8 u8")
_NO_F8: Final = _types("f32 bf16 f16 s8 u8")
_F64: Final = _types("f64")
_CPU, _GPU = engine_kind.cpu, engine_kind.gpu

# Source: the implementation lists of oneDNN 3.14 development. The layout restrictions of the
# faster CPU implementations do not matter: the reference takes what they refuse.
IMPLEMENTATIONS: Final = (
    Implementation("jit:uni", _CPU, "", _NO_F8, _ALL, _FLOATS, _FLOATS),
    Implementation("ref:any", _CPU, "", _ALL, _ALL, _FLOATS, _FLOATS),
    Implementation(
        "ocl:reusable", _GPU, "intel", _NO_F8 | _F64, _NO_F8 | _F64, _FLOATS | _F64, _FLOATS | _F64
    ),
    Implementation(
        "ocl:simple", _GPU, "intel", _NO_F8 | _F64, _ALL | _F64, _FLOATS | _F64, _FLOATS | _F64
    ),
    Implementation(
        "cudnn",
        _GPU,
        "nvidia",
        _types("f32 f16 bf16 s8"),
        _types("f32 f16 bf16 s8"),
        _FLOATS,
        _FLOATS,
        alike=True,
    ),
    Implementation("ref:sycl", _GPU, "generic", _NO_F8, _NO_F8, _FLOATS, _FLOATS),
)
# What ``engine(allow_f64=True)`` adds; oneDNN's CPU lists no f64 anywhere.
_CPU_F64: Final = Implementation("f64 option", _CPU, "", _F64, _F64, _F64, _F64)


def implementations(engine: engine_description) -> tuple[Implementation, ...]:
    """The implementations of an engine, in the order in which they are asked."""
    vendor = engine.vendor if engine.kind is engine_kind.gpu else ""
    found = tuple(
        row for row in IMPLEMENTATIONS if row.kind is engine.kind and row.vendor == vendor
    )
    return (*found, _CPU_F64) if engine.allow_f64 and engine.kind is engine_kind.cpu else found


def taken_types(engine: engine_description, *, backward: bool) -> str:
    """What the implementations of an engine take, in words."""
    found = []
    for row in implementations(engine):
        sides = (row.given, row.wanted) if backward else (row.source, row.destination)
        if all(sides):
            given, made = (", ".join(t.name for t in data_type if t in side) for side in sides)
            found.append(f"{given} -> {made}" + (", all alike" if row.alike else ""))
    return "; or ".join(dict.fromkeys(found))
