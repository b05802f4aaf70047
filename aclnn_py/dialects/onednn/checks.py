# SPDX-License-Identifier: Apache-2.0
"""The checks that make a primitive descriptor, in oneDNN's order: the first failure decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from aclnn_py.dialects.onednn.attr import Attributes, primitive_attr
from aclnn_py.dialects.onednn.descriptors import memory_desc
from aclnn_py.dialects.onednn.enums import (
    algorithm,
    data_type,
    format_kind,
    internal_algorithm,
    member,
    prop_kind,
)
from aclnn_py.dialects.onednn.statuses import OneDnnError, refuse, status
from aclnn_runtime.arguments import describe, whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aclnn_py.dialects.onednn.engines import engine_description

__all__ = [
    "attributes_of",
    "check_axis",
    "check_descs",
    "check_forward_kind",
    "check_hint",
    "check_known",
    "check_not_any",
    "check_shapes",
    "check_zero_rows",
    "softmax_algorithm",
    "unimplemented",
]


def check_forward_kind(function: str, kind: object) -> prop_kind:
    """Step 1: forward_training or forward_inference."""
    found = member(function, "prop_kind", kind, prop_kind)
    if found not in (prop_kind.forward_training, prop_kind.forward_inference):
        _invalid(function, "prop_kind", "is no forward kind", found.name, "forward_*")
    return found


def check_descs(function: str, descs: Mapping[str, object]) -> None:
    """Step 2: every descriptor is given."""
    for name, desc in descs.items():
        if not isinstance(desc, memory_desc):
            _invalid(function, name, "is no descriptor", describe(desc), "a memory_desc")


def check_hint(function: str, hint: object, kind: type) -> None:
    """A forward descriptor or nothing."""
    if hint is not None and not isinstance(hint, kind):
        _invalid(
            function, "hint_fwd_pd", "is no hint", describe(hint), "a forward descriptor or None"
        )


def softmax_algorithm(function: str, kind: object) -> algorithm | internal_algorithm:
    """Step 3: one of the three."""
    if isinstance(kind, internal_algorithm):
        return kind
    try:
        found = member(function, "algorithm", kind, algorithm)
    except OneDnnError:
        found = algorithm.undef
    if found not in (algorithm.softmax_accurate, algorithm.softmax_log):
        expected = "softmax_accurate or softmax_log"
        _invalid(function, "algorithm", "is no softmax", describe(kind), expected)
    return found


def check_axis(function: str, axis: object, dst: memory_desc) -> int:
    """Step 4: 0 <= axis < rank of dst; axes never count from the back here."""
    number = whole_number(axis)
    if number is None:
        got = describe(axis)
        _invalid(function, "axis", "is no integer", got, f"an int, 0 <= axis < {dst.ndims}")
    if not 0 <= number < dst.ndims:
        _invalid(
            function,
            "axis",
            "is out of range",
            f"{number} for {dst!r}",
            f"0 <= axis < {dst.ndims}; a negative axis is refused in this API",
        )
    return number


def check_not_any(function: str, name: str, desc: memory_desc) -> None:
    """Step 5: the input that decides the layouts has one."""
    if desc.format_kind is format_kind.any:
        _invalid(function, name, "has format 'any'", repr(desc), "a plain tag or strides")


def check_known(function: str, descs: Mapping[str, memory_desc]) -> None:
    """Steps 6 and 7: device tensors, with all dimensions and strides known."""
    for name, desc in descs.items():
        if desc.format_kind is format_kind.host_scalar:
            _invalid(function, name, "is a host scalar", repr(desc), "a tensor in device memory")
    for name, desc in descs.items():
        if desc.has_runtime_dims:
            unimplemented(
                function,
                name,
                "has runtime dimensions",
                repr(desc),
                "dimensions and strides known now",
                "make one primitive for each shape",
            )


def check_shapes(
    function: str, engine: engine_description, descs: Mapping[str, memory_desc], output: str
) -> None:
    """Step 9, layouts: one shape, a rank the engine takes, an output without repeated elements."""
    wanted = descs["dst"]
    if wanted.ndims > engine.max_ndims:
        unimplemented(
            function,
            "dst",
            f"has more dimensions than a {engine.kind.name} engine takes",
            f"rank {wanted.ndims}",
            f"at most {engine.max_ndims}",
            "merge dimensions that are not reduced",
        )
    for name, desc in descs.items():
        if desc.dims != wanted.dims or desc.format_kind is not format_kind.blocked:
            unimplemented(
                function,
                name,
                "differs in shape from 'dst', or has no layout",
                repr(desc),
                f"the dimensions of {wanted!r}",
                "let all tensors have one shape; nothing is broadcast",
            )
    if descs[output].has_repeated_elements:
        unimplemented(
            function,
            output,
            "repeats elements (stride 0)",
            repr(descs[output]),
            "an output with a place for every element",
            "give it dense strides",
        )


def check_zero_rows(function: str, kind: algorithm | internal_algorithm, src: memory_desc) -> None:
    """Step 9: the one algorithm that f64 does not have."""
    if isinstance(kind, internal_algorithm) and src.data_type is data_type.f64:
        unimplemented(
            function,
            "algorithm",
            "is not for f64",
            kind.name,
            "softmax_accurate or softmax_log for f64",
            "use f32",
        )


def attributes_of(function: str, attr: object) -> Attributes:
    """The attributes behind an argument; None means the defaults."""
    if attr is not None and not isinstance(attr, primitive_attr):
        _invalid(
            function, "attr", "is no primitive_attr", describe(attr), "a primitive_attr or None"
        )
    return Attributes() if attr is None else attr.values


def unimplemented(
    function: str, argument: str, what: str, got: str, expected: str, fix: str
) -> NoReturn:
    """Raise unimplemented."""
    refuse(status.unimplemented, function, argument, what, got=got, expected=expected, fix=fix)


def _invalid(function: str, argument: str, what: str, got: str, expected: str) -> NoReturn:
    fix = f"correct {argument}"
    refuse(status.invalid_arguments, function, argument, what, got=got, expected=expected, fix=fix)
