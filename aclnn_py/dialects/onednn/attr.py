# SPDX-License-Identifier: Apache-2.0
"""Primitive attributes: scales, dropout, post-ops and modes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NoReturn

from aclnn_py.dialects.onednn.descriptors import memory_desc
from aclnn_py.dialects.onednn.enums import (
    accumulation_mode,
    data_type,
    format_kind,
    fpmath_mode,
    member,
    scratchpad_mode,
)
from aclnn_py.dialects.onednn.operations import Entry, post_ops
from aclnn_py.dialects.onednn.sequences import integers
from aclnn_py.dialects.onednn.statuses import refuse, status
from aclnn_py.dialects.onednn.truths import truth
from aclnn_runtime.arguments import describe, whole_number

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Attributes", "DropoutAttribute", "Scale", "primitive_attr"]


@dataclass(frozen=True)
class Scale:
    """Quantisation parameters of one argument."""

    mask: int = 0
    groups: tuple[int, ...] = ()
    element: data_type = data_type.f32
    on_host: bool = False

    def __str__(self) -> str:
        groups = f" groups {self.groups}" if self.groups else ""
        host = " on host" if self.on_host else ""
        return f"mask {self.mask}{groups} {self.element.name}{host}"


@dataclass(frozen=True)
class DropoutAttribute:
    """What dropout was asked for; `mask_desc` None writes no mask."""

    mask_desc: memory_desc | None
    seed_dt: data_type
    use_offset: bool
    use_host_scalars: bool

    def __str__(self) -> str:
        mask = "no mask" if self.mask_desc is None else f"mask {self.mask_desc!r}"
        offset = ", offset" if self.use_offset else ""
        host = ", on host" if self.use_host_scalars else ""
        return f"{mask}, seed {self.seed_dt.name}{offset}{host}"


@dataclass(frozen=True)
class Attributes:
    """The values of a `primitive_attr` at one moment."""

    scales: tuple[tuple[int, Scale], ...] = ()
    zero_points: tuple[tuple[int, Scale], ...] = ()
    dropout: DropoutAttribute | None = None
    post_ops: tuple[Entry, ...] = ()
    accumulation: accumulation_mode = accumulation_mode.strict
    fpmath: fpmath_mode = fpmath_mode.strict
    fpmath_to_integers: bool = False
    scratchpad: scratchpad_mode = scratchpad_mode.library

    def __str__(self) -> str:
        """What is set, in the order of the fields; nothing where all are the defaults."""
        found = [f"scales of {arg}: {scale}" for arg, scale in self.scales]
        found += [f"zero points of {arg}: {points}" for arg, points in self.zero_points]
        if self.dropout is not None:
            found.append(f"dropout: {self.dropout}")
        if self.post_ops:
            found.append("post-ops: " + ", ".join(map(str, self.post_ops)))
        if self.accumulation is not accumulation_mode.strict:
            found.append(f"accumulation {self.accumulation.name}")
        if self.fpmath is not fpmath_mode.strict or self.fpmath_to_integers:
            integer = ", of integers too" if self.fpmath_to_integers else ""
            found.append(f"fpmath {self.fpmath.name}{integer}")
        if self.scratchpad is not scratchpad_mode.library:
            found.append(f"scratchpad {self.scratchpad.name}")
        return "; ".join(found)


class primitive_attr:
    """Attributes of a primitive; a primitive descriptor takes a copy.

    Setters check what they are given (invalid_arguments); whether a primitive supports it is
    checked when its descriptor is made (unimplemented).

    Notes
    -----
    Two are equal where they say the same. They can be changed, so they have no hash.
    """

    def __init__(self) -> None:
        self._values = Attributes()

    @classmethod
    def of(cls, values: Attributes) -> primitive_attr:
        """Attributes with these values: what a descriptor tells of its own."""
        made = cls()
        made._values = values
        return made

    @property
    def values(self) -> Attributes:
        """A copy of all of them."""
        return self._values

    def set_scales_mask(self, arg: int, mask: int) -> None:
        """Scales of an argument, passed at execution as ``DNNL_ARG_ATTR_SCALES | arg``."""
        self._set_scales("set_scales_mask", arg, mask)

    def set_scales(
        self,
        arg: int,
        mask: int,
        groups: Sequence[int] = (),
        data_type: data_type | int = data_type.f32,
        is_on_host: bool = False,
    ) -> None:
        """As `set_scales_mask`, with groups, an element type, or one value on the host."""
        self._set_scales("set_scales", arg, mask, groups, data_type, is_on_host=is_on_host)

    def set_host_scale(self, arg: int, data_type: data_type | int = data_type.f32) -> None:
        """One scale for the whole argument, passed as a host scalar."""
        self._set_scales("set_host_scale", arg, 0, (), data_type, is_on_host=True)

    def _set_scales(
        self,
        name: str,
        arg: int,
        mask: int,
        groups: Sequence[int] = (),
        kind: data_type | int = data_type.f32,
        *,
        is_on_host: bool = False,
    ) -> None:
        number, scale = _scale(name, arg, mask, groups, kind, is_on_host)
        self._put(scales=_with(self._values.scales, number, scale))

    def set_zero_points_mask(self, arg: int, mask: int) -> None:
        """Zero points of an argument; softmax refuses them."""
        number, scale = _scale("set_zero_points", arg, mask, (), data_type.s32, False)  # noqa: FBT003
        self._put(zero_points=_with(self._values.zero_points, number, scale))

    def set_dropout(
        self,
        mask_desc: memory_desc | None = None,
        seed_dt: data_type | int = data_type.s64,
        use_offset: bool = False,
        use_host_scalars: bool = False,
    ) -> None:
        """Dropout of the result.

        Parameters
        ----------
        mask_desc : memory_desc, optional
            u8, with dst's dimensions and layout (or ``any``); the zero descriptor or None writes
            no mask.
        seed_dt : data_type
            s64, or s32.
        use_offset : bool
            Whether an offset is passed at execution; 0 otherwise.
        use_host_scalars : bool
            Whether probability, seed and offset are passed as host scalars.

        Notes
        -----
        With an offset other than 0 the bits are those of oneDNN 3.13 and later. Offset 0 gives the
        stream of earlier releases, one draw an element; 3.13's own form of it gives one draw to
        four neighbouring elements, which is not followed. The probability is clamped to [0, 1],
        for the scale 1 / (1 - p) too.
        """
        function = "primitive_attr.set_dropout"
        if mask_desc is not None and not isinstance(mask_desc, memory_desc):
            _refuse(function, "mask_desc", mask_desc, "a memory_desc or None")
        kind = member(function, "seed_dt", seed_dt, data_type)
        offset = truth(function, "use_offset", use_offset)
        host = truth(function, "use_host_scalars", use_host_scalars)
        if kind not in (data_type.s64, data_type.s32):
            _refuse(function, "seed_dt", kind.name, "s64 or s32")
        wanted = None if mask_desc is None or mask_desc == memory_desc() else mask_desc
        if wanted is not None and wanted.format_kind is format_kind.host_scalar:
            _refuse(function, "mask_desc", mask_desc, "a descriptor of device memory")
        if wanted is not None and wanted.data_type is not data_type.u8:
            _refuse(function, "mask_desc", mask_desc, "a descriptor of u8 elements")
        self._put(dropout=DropoutAttribute(wanted, kind, offset, host))

    def set_post_ops(self, ops: post_ops) -> None:
        """Operations on the result; takes a copy."""
        if not isinstance(ops, post_ops):
            _refuse("primitive_attr.set_post_ops", "ops", ops, "a post_ops object")
        self._put(post_ops=ops.entries)

    def set_accumulation_mode(self, mode: accumulation_mode | int) -> None:
        """Where intermediates are kept."""
        function = "primitive_attr.set_accumulation_mode"
        self._put(accumulation=member(function, "mode", mode, accumulation_mode))

    def set_scratchpad_mode(self, mode: scratchpad_mode | int) -> None:
        """Who owns the scratchpad."""
        function = "primitive_attr.set_scratchpad_mode"
        self._put(scratchpad=member(function, "mode", mode, scratchpad_mode))

    def set_fpmath_mode(self, mode: fpmath_mode | int, apply_to_int: bool = False) -> None:
        """Which down-conversions are allowed."""
        function = "primitive_attr.set_fpmath_mode"
        kind = member(function, "mode", mode, fpmath_mode)
        self._put(fpmath=kind, fpmath_to_integers=truth(function, "apply_to_int", apply_to_int))

    def get_fpmath_mode(self) -> fpmath_mode:
        """Which down-conversions are allowed."""
        return self._values.fpmath

    def get_post_ops(self) -> post_ops:
        """A copy of the operations on the result."""
        return post_ops.of(self._values.post_ops)

    def get_scratchpad_mode(self) -> scratchpad_mode:
        """Who owns the scratchpad."""
        return self._values.scratchpad

    def get_accumulation_mode(self) -> accumulation_mode:
        """Where intermediates are kept."""
        return self._values.accumulation

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, primitive_attr):
            return NotImplemented
        return _said(self._values) == _said(other._values)

    __hash__ = None  # type: ignore[assignment]  # as of whatever compares by value and changes

    def __repr__(self) -> str:
        return f"<primitive_attr {str(self._values) or 'of defaults'}>"

    def _put(self, **changes: object) -> None:
        self._values = replace(self._values, **changes)  # type: ignore[arg-type]  # setters check


def _said(values: Attributes) -> tuple[object, ...]:
    """What they say, whatever the order in which arguments were given their scales."""
    rest = replace(values, scales=(), zero_points=())
    return dict(values.scales), dict(values.zero_points), rest


def _with(
    known: tuple[tuple[int, Scale], ...], arg: int, scale: Scale
) -> tuple[tuple[int, Scale], ...]:
    return (*[pair for pair in known if pair[0] != arg], (arg, scale))


def _scale(
    name: str, arg: object, mask: object, groups: object, kind: object, on_host: object
) -> tuple[int, Scale]:
    function = f"primitive_attr.{name}"
    numbers = []
    for argument, value in (("arg", arg), ("mask", mask)):
        number = whole_number(value)
        if number is None or number < 0:
            _refuse(function, argument, value, "an integer >= 0")
        numbers.append(number)
    sizes = integers(groups)
    if sizes is None or any(size <= 0 for size in sizes):
        _refuse(function, "groups", groups, "a sequence of positive integers, empty for none")
    element = member(function, "data_type", kind, data_type)
    return numbers[0], Scale(numbers[1], sizes, element, truth(function, "is_on_host", on_host))


def _refuse(function: str, argument: str, got: object, expected: str) -> NoReturn:
    refuse(
        status.invalid_arguments,
        function,
        argument,
        "was refused",
        got=describe(got),
        expected=expected,
        fix=f"correct {argument}",
    )
