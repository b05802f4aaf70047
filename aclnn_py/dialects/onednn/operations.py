# SPDX-License-Identifier: Apache-2.0
"""Post-ops: what is applied to a result before it is scaled and stored, checked when appended."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias

from aclnn_py.dialects.onednn.descriptors import memory_desc
from aclnn_py.dialects.onednn.enums import (
    DNNL_POST_OPS_LIMIT,
    algorithm,
    data_type,
    format_kind,
    member,
)
from aclnn_py.dialects.onednn.statuses import refuse, status
from aclnn_runtime.arguments import describe, whole_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = [
    "Entry", "binary_entry", "eltwise_entry", "eltwise_rule", "other_entry", "post_ops", "single",
]  # fmt: skip


@dataclass(frozen=True)
class eltwise_entry:
    """A function of the value; alpha and beta are float32 constants."""

    alg: algorithm
    alpha: float
    beta: float
    kind: ClassVar[str] = "eltwise"

    def __str__(self) -> str:
        return f"{self.alg.name}({self.alpha:g}, {self.beta:g})"


@dataclass(frozen=True)
class binary_entry:
    """The value with a second operand; ``binary_select`` has a condition as third."""

    alg: algorithm
    src1_desc: memory_desc
    src2_desc: memory_desc | None
    kind: ClassVar[str] = "binary"

    def __str__(self) -> str:
        third = "" if self.src2_desc is None else f", {self.src2_desc!r}"
        return f"{self.alg.name}({self.src1_desc!r}{third})"


@dataclass(frozen=True)
class other_entry:
    """A kind that exists in oneDNN and that softmax does not take."""

    kind: str

    def __str__(self) -> str:
        return self.kind


Entry: TypeAlias = eltwise_entry | binary_entry | other_entry


def _at_most(alpha: float, beta: float) -> bool:
    return alpha <= beta


def _not_negative(alpha: float, beta: float) -> bool:  # noqa: ARG001  # one signature for all
    return alpha >= 0


def _not_zero(alpha: float, beta: float) -> bool:  # noqa: ARG001
    return alpha != 0


_RULES: Final[dict[algorithm, tuple[Callable[[float, float], bool], str]]] = {
    algorithm.eltwise_clip: (_at_most, "beta >= alpha"),
    algorithm.eltwise_clip_v2: (_at_most, "beta >= alpha"),
    algorithm.eltwise_clip_v2_use_dst_for_bwd: (_at_most, "beta >= alpha"),
    algorithm.eltwise_relu_use_dst_for_bwd: (_not_negative, "alpha >= 0"),
    algorithm.eltwise_elu_use_dst_for_bwd: (_not_negative, "alpha >= 0"),
    algorithm.eltwise_soft_relu: (_not_zero, "alpha other than 0"),
}


def single(value: float) -> float:
    """The nearest float32.

    Raises
    ------
    OverflowError
        For a finite number beyond its range.
    """
    rounded: float = struct.unpack("<f", struct.pack("<f", value))[0]
    return rounded


def eltwise_rule(kind: algorithm, alpha: float, beta: float) -> str:
    """The rule that the constants of an elementwise function break, or an empty text."""
    rule, text = _RULES.get(kind, (None, ""))
    return text if rule is not None and not rule(alpha, beta) else ""


class post_ops:
    """A sequence of up to 32 operations on a primitive's result, in order of application."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> post_ops:
        """A sequence of operations that were checked before."""
        made = cls()
        made._entries += entries
        return made

    def append_eltwise(self, alg: algorithm | int, alpha: float = 0.0, beta: float = 0.0) -> None:
        """Append an elementwise function.

        Raises
        ------
        OneDnnError
            invalid_arguments for an unknown algorithm or parameters outside its rule;
            out_of_memory behind 32 entries.
        """
        function = "post_ops.append_eltwise"
        kind = _algorithm(function, alg, "eltwise_")
        first, second = _number(function, "alpha", alpha), _number(function, "beta", beta)
        rule = eltwise_rule(kind, first, second)
        if rule:
            refuse(
                status.invalid_arguments,
                function,
                "alpha",
                f"is illegal for {kind.name}",
                got=f"alpha {first}, beta {second}",
                expected=rule,
                fix="correct alpha and beta",
            )
        self._append(function, eltwise_entry(kind, first, second))

    def append_binary(
        self,
        alg: algorithm | int,
        src1_desc: memory_desc,
        src2_desc: memory_desc | None = None,
    ) -> None:
        """Append a binary operation, or ``binary_select`` with its condition as `src2_desc`.

        Raises
        ------
        OneDnnError
            invalid_arguments for an unknown algorithm or operands that are none;
            out_of_memory behind 32 entries.
        """
        function = "post_ops.append_binary"
        kind = _algorithm(function, alg, "binary_")
        _operand(function, "src1_desc", src1_desc)
        if kind is algorithm.binary_select:
            _operand(function, "src2_desc", src2_desc)
        elif src2_desc is not None and not _is_zero(src2_desc):
            refuse(
                status.invalid_arguments,
                function,
                "src2_desc",
                f"has no meaning for {kind.name}",
                got=src2_desc,
                expected="None",
                fix="only binary_select has a third operand",
            )
        third = src2_desc if kind is algorithm.binary_select else None
        self._append(function, binary_entry(kind, src1_desc, third))

    def append_sum(self, scale: float = 1.0, zero_point: int = 0) -> None:
        """Append an accumulation into dst; softmax refuses it (unimplemented)."""
        _number("post_ops.append_sum", "scale", scale)
        _number("post_ops.append_sum", "zero_point", zero_point)
        self._append("post_ops.append_sum", other_entry("sum"))

    def append_prelu(self, mask: int) -> None:
        """Append a parametric ReLU; softmax refuses it (unimplemented)."""
        if whole_number(mask) is None:
            refuse(
                status.invalid_arguments,
                "post_ops.append_prelu",
                "mask",
                "is no mask",
                got=describe(mask),
                expected="an integer whose bits are dimensions",
                fix="pass mask as an int; softmax takes no prelu",
            )
        self._append("post_ops.append_prelu", other_entry("prelu"))

    def append_dw(
        self,
        weights_data_type: data_type | int,
        bias_data_type: data_type | int,
        dst_data_type: data_type | int,
    ) -> None:
        """Append a depthwise convolution; softmax refuses it (unimplemented)."""
        for name, kind in (
            ("weights_data_type", weights_data_type),
            ("bias_data_type", bias_data_type),
            ("dst_data_type", dst_data_type),
        ):
            member("post_ops.append_dw", name, kind, data_type)
        self._append("post_ops.append_dw", other_entry("depthwise"))

    def _append(self, function: str, entry: Entry) -> None:
        if len(self._entries) >= DNNL_POST_OPS_LIMIT:
            refuse(
                status.out_of_memory,
                function,
                "",
                "one entry too many",
                got=f"entry {len(self._entries) + 1}",
                expected=f"at most {DNNL_POST_OPS_LIMIT}",
                fix="merge operations, or use a second primitive",
            )
        self._entries.append(entry)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The operations so far."""
        return tuple(self._entries)

    def len(self) -> int:
        """How many operations there are."""
        return len(self._entries)

    def kind(self, index: int) -> str:
        """The kind of the primitive that an operation is, as ``primitive_desc.get_kind`` says it.

        Raises
        ------
        OneDnnError
            invalid_arguments for an index out of range; negative ones do not count from the last.
        """
        number = whole_number(index)
        if number is None or not 0 <= number < len(self._entries):
            refuse(
                status.invalid_arguments,
                "post_ops.kind",
                "index",
                "is no index of an operation",
                got=describe(index),
                expected=f"0 <= index < {len(self._entries)}",
                fix="ask len() how many there are",
            )
        kind = self._entries[number].kind
        return "convolution" if kind == "depthwise" else kind  # which oneDNN appends as one

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"<post_ops {', '.join(map(str, self._entries)) or 'none'}>"

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)


def _is_zero(desc: object) -> bool:
    # Anything may be given, and may compare in its own way.
    return isinstance(desc, memory_desc) and desc == memory_desc()


def _algorithm(function: str, alg: algorithm | int, prefix: str) -> algorithm:
    example = algorithm.eltwise_relu if prefix == "eltwise_" else algorithm.binary_add
    kind = member(function, "alg", alg, algorithm, example)
    if not kind.name.startswith(prefix):
        refuse(
            status.invalid_arguments,
            function,
            "alg",
            f"is no {prefix.rstrip('_')} algorithm",
            got=kind.name,
            expected=f"algorithm.{prefix}*",
            fix=f"for example {algorithm.__name__}.{example.name}",
        )
    return kind


def _number(function: str, argument: str, value: object) -> float:
    """The float32 that a kernel takes for it."""
    try:
        number = single(float(value))  # type: ignore[arg-type]  # asking is the test
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or isinstance(value, str | bytes | bytearray) or math.isnan(number):
        refuse(
            status.invalid_arguments,
            function,
            argument,
            "is no constant",
            got=describe(value),
            expected="a number of float32's range, known now (runtime values are refused)",
            fix=f"pass {argument} as a float",
        )
    return number


def _operand(function: str, argument: str, desc: object) -> None:
    kinds = (format_kind.blocked, format_kind.any)
    if not isinstance(desc, memory_desc) or desc.format_kind not in kinds or desc.has_runtime_dims:
        refuse(
            status.invalid_arguments,
            function,
            argument,
            "describes no operand",
            got=repr(desc),
            expected="a memory_desc with known dimensions, plain or 'any'",
            fix="give the operand dst's rank, 1 where it is repeated",
        )
