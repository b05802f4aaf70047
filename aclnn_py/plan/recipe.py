# SPDX-License-Identifier: Apache-2.0
"""Turns a checked call into steps, the vendor's way: contiguous, compute, cast, copy to the view.

An operator's recipe calls the methods here in its own order; each refuses what the vendor's
internal operator refuses, with its status.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from aclnn_py.core.desc import row_major_strides
from aclnn_py.core.errors import INNER_NULLPTR, PARAM_INVALID, operator_error
from aclnn_py.core.made import maker
from aclnn_py.core.rules import STRIDED_COPY_REFUSES, cast_supported
from aclnn_py.plan.checks import shape_text
from aclnn_py.plan.parts import Rows, place_of
from aclnn_py.plan.steps import WORKSPACE, Operand, Step, new_step, operand, strided_copy
from aclnn_py.plan.workspace import Item, Placement, lay_out, new_item

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aclnn_py.core.desc import TensorDesc
    from aclnn_py.core.dtype import DType
    from aclnn_py.plan.problem import Problem

__all__ = ["Recipe", "Value", "check_storage"]


class Value(NamedTuple):
    """A dense tensor during planning.

    Attributes
    ----------
    dtype : DType
        Element type.
    shape : tuple of int
        Dimensions.
    slot : int
        The user's tensor that holds it, or -1.
    item : int
        The workspace item that holds it, or -1.
    byte_offset : int
        Of element 0 from the start of slot or item.
    """

    dtype: DType
    shape: tuple[int, ...]
    slot: int
    item: int
    byte_offset: int


_value = maker(Value)


@dataclass(slots=True)
class _Draft:
    """A step whose workspace operands are still item numbers."""

    name: str
    kernel: str
    dtype: str
    reads: tuple[Value, ...]
    write: Value
    params: tuple[int, ...]
    told: str | tuple[str, tuple[int, ...]]
    shapes: tuple[tuple[int, ...], ...] = ()
    reference: Callable[..., Any] | None = None
    dtypes: tuple[str, ...] = ()
    leading: int = 0
    position: int = -1
    strides: tuple[Sequence[int], ...] = ()  # of a copy, source first

    def placed(self, offsets: dict[int, int], *, alone: bool) -> Step:
        """The step, once it is known where each item lies; one alone joins no chain of blocks."""
        reads = tuple([_operand(value, offsets) for value in self.reads])
        return new_step(
            (
                self.name,
                self.kernel,
                self.dtype,
                reads,
                _operand(self.write, offsets),
                self.params,
                self.told,
                self.shapes,
                self.dtypes,
                self.reference,
                None if alone else self._rows(),
            )
        )

    def _rows(self) -> Rows:
        shape = self.reads[0].shape if self.strides else self.write.shape
        dense = row_major_strides(shape)
        values = (*self.reads, self.write)
        strides = self.strides or [dense if value.shape == shape else None for value in values]
        places = [
            place_of(value.item, value.dtype.itemsize, shape, steps)
            for value, steps in zip(values, strides, strict=True)
        ]
        return Rows(shape, self.leading, tuple(places), bool(self.strides), self.position)


class Recipe:
    """Collects the steps and workspace items of one plan."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.device_copy = ""  # why one is made
        self.runs_on_ai_cpu = False
        self.captured_slots: set[int] = set()
        self._slots = problem.spec.slots
        self._drafts: list[_Draft] = []
        self._items: list[Item | None] = []

    def desc(self, name: str) -> TensorDesc:
        """Description of a tensor argument."""
        return self.problem.tensors[name]

    def contiguous(self, name: str) -> Value:
        """A dense form of an input: itself, or a copy in the workspace.

        Raises
        ------
        AclnnError
            561103 where a non-contiguous view leaves its storage.
        """
        desc = self.desc(name)
        if desc.is_contiguous:
            return self._argument(name, desc)
        if not desc.fits_storage:
            raise _out_of_storage(self.problem, INNER_NULLPTR, name)
        source = Value(
            desc.dtype, desc.shape, self._slots[name], -1, desc.offset * desc.dtype.itemsize
        )
        return self._copy_step("contiguous", source, desc.strides, name)

    def swapped(self, name: str, axis: int) -> Value:
        """A dense copy of an input with one axis swapped with the last, in the workspace."""
        desc = self.desc(name)
        if not desc.fits_storage:
            raise _out_of_storage(self.problem, INNER_NULLPTR, name)
        source = Value(
            desc.dtype,
            _swap(desc.shape, axis),
            self._slots[name],
            -1,
            desc.offset * desc.dtype.itemsize,
        )
        return self._copy_step("swap", source, _swap(_seen_strides(desc), axis), name)

    def cast(self, value: Value, dtype: DType, name: str) -> Value:
        """`value` in another type, in the workspace until it is redirected.

        Raises
        ------
        AclnnError
            561103, naming `name`, where the vendor's cast does not take the pair.
        """
        if value.dtype is dtype:
            return value
        if not cast_supported(value.dtype, dtype, self.problem.profile):
            named = self.problem.tensors[name]
            raise operator_error(
                INNER_NULLPTR,
                self.problem.spec.planner,
                name,
                f"has a dtype that results cannot be cast to on {self.problem.profile.name}",
                got=named.dtype_text if named.dtype is dtype else str(dtype),
                expected=f"a type that {value.dtype} casts to (see aclnn-py ops)",
                fix=f"give {name} the dtype of the inputs, or another one of the cast table",
            )
        self.runs_on_ai_cpu |= "DOUBLE" in (value.dtype.name, dtype.name)
        key = f"{value.dtype.kernel}_{dtype.kernel or dtype.name.lower()}"
        result = self._new_item(f"cast to {dtype}", dtype, value.shape)
        text = f"{value.dtype} -> {dtype}, {prod(value.shape)} elements"
        draft = self._add("cast", "cast", key, (value,), result, (prod(value.shape),), text)
        draft.leading = len(value.shape)
        return result

    def kernel(
        self,
        name: str,
        inputs: tuple[Value, ...],
        params: tuple[int, ...],
        *,
        reference: Callable[..., Any],
        reserve_bytes: int = 0,
        shape: tuple[int, ...] | None = None,
        dtype: DType | None = None,
        leading: int = 0,
        position: int = -1,
    ) -> Value:
        """A compute step whose output has the dtype and, if not told, the shape of its first input.

        Parameters
        ----------
        name : str
            The kernel.
        inputs : tuple of Value
            In kernel order.
        params : tuple of int
            As the kernel documents them.
        reference : callable
            The same in NumPy; see `Step.reference`.
        reserve_bytes : int
            Workspace that the vendor's kernel declares for itself.
        shape : tuple of int, optional
            Of the output, where an operator reduces or broadcasts.
        dtype : DType, optional
            Of the output, for a kernel that computes in float32 and takes any types.
        leading : int
            How many of the result's first axes may be cut into blocks (see `aclnn_py.plan.fuse`):
            ``params[0]`` is the product of these. Inputs of another shape go whole to every block.
        position : int
            Parameter that counts the elements before a block; -1 for none.
        """
        first = inputs[0]
        on_ai_cpu = first.dtype.name == "DOUBLE"
        self.runs_on_ai_cpu |= on_ai_cpu
        if reserve_bytes and not on_ai_cpu:
            self._items.append(
                Item(f"{name} kernel workspace", reserve_bytes, self._next, self._next)
            )
        given, given_shape = first.dtype, first.shape
        result = self._new_item(
            f"{name} result", dtype or given, given_shape if shape is None else shape
        )
        key = "f32" if dtype else given.kernel or given.name.lower()
        draft = self._add(name, name, key, inputs, result, params, (given.name, given_shape))
        draft.shapes = (*[value.shape for value in inputs], result.shape)
        draft.reference = reference
        if dtype:
            draft.dtypes = tuple([str(value.dtype.kernel) for value in (*inputs, result)])
        draft.leading, draft.position = leading, position
        return result

    def store(self, value: Value, name: str) -> None:
        """Deliver the final value to an output argument.

        A dense output receives it directly from the step that computes it; a view, or a dense
        output inside a larger storage on the older chips, is copied from the workspace.

        Raises
        ------
        AclnnError
            561103 where the vendor's strided copy does not take the type.
        """
        desc = self.desc(name)
        if not desc.is_contiguous:
            self._refuse_strided_copy(name)
            self._view_copy(value, name)
            return
        may_redirect = self.problem.profile.redirects_into_padded_out
        if value.item >= 0 and (may_redirect or desc.storage_numel == desc.numel + desc.offset):
            self._redirect(value, self._argument(name, desc))
            self.captured_slots.add(self._slots[name])
            return
        self.device_copy = (
            f"{self.problem.profile.name} copies the result into an output whose storage is larger "
            "than the view"
            if value.item >= 0
            else f"{name} is a copy of what the caller holds"
        )
        self._view_copy(value, name, role="device_copy")

    def store_swapped(self, value: Value, name: str, axis: int) -> None:
        """Deliver a value whose last axis is the output's `axis`: `swapped` the other way."""
        desc = self.desc(name)
        itemsize = desc.dtype.itemsize
        target = _swap(_seen_strides(desc), axis)
        dense = row_major_strides(value.shape)
        copy = strided_copy(value.shape, dense, target, itemsize)
        shifted = value.byte_offset + copy.source_shift
        source = Value(value.dtype, value.shape, value.slot, value.item, shifted)
        text = f"{name}: {desc.dtype} {shape_text(value.shape)}, strides {shape_text(target)}"
        into = self._argument(name, desc)
        key = f"b{itemsize}"
        draft = self._add("swap back", copy.kernel, key, (source,), into, copy.params, text)
        draft.leading, draft.strides = len(value.shape), (dense, target)

    def finish(self) -> tuple[tuple[Step, ...], tuple[Placement, ...], int]:
        """Final steps, workspace placements and workspace size [bytes]."""
        # Items are made in launch order; a redirected one is gone.
        alone = len(self._drafts) == 1
        if not any(self._items):
            return tuple([draft.placed({}, alone=alone) for draft in self._drafts]), (), 0
        live = {index: item for index, item in enumerate(self._items) if item is not None}
        placements, total = lay_out(tuple(live.values()))
        offsets = {index: place.offset for index, place in zip(live, placements, strict=True)}
        steps = tuple([draft.placed(offsets, alone=alone) for draft in self._drafts])
        return steps, placements, total

    @property
    def _next(self) -> int:
        return len(self._drafts)

    def _argument(self, name: str, desc: TensorDesc) -> Value:
        dtype = desc.dtype
        return _value((dtype, desc.shape, self._slots[name], -1, desc.offset * dtype.itemsize))

    def _new_item(self, label: str, dtype: DType, shape: tuple[int, ...]) -> Value:
        step, items = len(self._drafts), self._items
        items.append(new_item((label, dtype.nbytes(prod(shape)), step, step)))
        return _value((dtype, shape, -1, len(items) - 1, 0))

    def _add(
        self,
        name: str,
        kernel: str,
        dtype: str,
        reads: tuple[Value, ...],
        write: Value,
        params: tuple[int, ...],
        told: str | tuple[str, tuple[int, ...]],
    ) -> _Draft:
        for value in reads:
            if value.item >= 0 and (item := self._items[value.item]) is not None:
                self._items[value.item] = Item(item.label, item.nbytes, item.first, self._next)
        draft = _Draft(name, kernel, dtype, reads, write, params, told)
        self._drafts.append(draft)
        return draft

    def _copy_step(self, role: str, source: Value, strides: tuple[int, ...], name: str) -> Value:
        dense = row_major_strides(source.shape)
        copy = strided_copy(source.shape, strides, dense, source.dtype.itemsize)
        result = self._new_item(f"contiguous {name}", source.dtype, source.shape)
        text = f"{name}: {source.dtype} {shape_text(source.shape)}, strides {shape_text(strides)}"
        key = f"b{source.dtype.itemsize}"
        draft = self._add(role, copy.kernel, key, (source,), result, copy.params, text)
        draft.leading, draft.strides = len(source.shape), (strides, dense)
        return result

    def _view_copy(self, value: Value, name: str, role: str = "view_copy") -> None:
        desc = self.desc(name)
        strides = row_major_strides(desc.shape) if desc.is_contiguous else desc.strides
        itemsize = desc.dtype.itemsize
        dense = row_major_strides(desc.shape)
        copy = strided_copy(desc.shape, dense, strides, itemsize)
        shifted = value.byte_offset + copy.source_shift
        source = Value(value.dtype, value.shape, value.slot, value.item, shifted)
        text = f"{name}: {desc.dtype} {shape_text(desc.shape)}, strides {shape_text(strides)}"
        target = self._argument(name, desc)
        draft = self._add(role, copy.kernel, f"b{itemsize}", (source,), target, copy.params, text)
        draft.leading, draft.strides = len(desc.shape), (dense, strides)

    def _redirect(self, value: Value, target: Value) -> None:
        self._items[value.item] = None
        for draft in self._drafts:
            if draft.write == value:
                draft.write = target
            if value in draft.reads:
                draft.reads = tuple([target if read == value else read for read in draft.reads])

    def _refuse_strided_copy(self, name: str) -> None:
        desc, profile = self.desc(name), self.problem.profile
        refused = desc.dtype.name in STRIDED_COPY_REFUSES and not profile.regbase
        if refused and not desc.is_permuted_dense:
            raise operator_error(
                INNER_NULLPTR,
                self.problem.spec.planner,
                name,
                f"is a strided view of {desc.dtype}, which {profile.name} cannot write",
                got=f"shape {shape_text(desc.shape)}, strides {shape_text(desc.strides)}",
                expected=f"a contiguous or merely permuted {desc.dtype} tensor",
                fix=f"make {name} contiguous, or of another dtype",
            )


def _swap(sizes: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """The entry at `axis` (not negative) and the last one exchanged."""
    swapped = list(sizes)
    swapped[axis], swapped[-1] = swapped[-1], swapped[axis]
    return tuple(swapped)


def _seen_strides(desc: TensorDesc) -> tuple[int, ...]:
    return row_major_strides(desc.shape) if desc.is_contiguous else desc.strides


def _operand(value: Value, offsets: dict[int, int]) -> Operand:
    if value.slot >= 0:
        return operand((value.slot, value.byte_offset))
    return operand((WORKSPACE, offsets[value.item] + value.byte_offset))


def _out_of_storage(problem: Problem, status: int, name: str) -> Exception:
    desc = problem.tensors[name]
    low, high = desc.extent
    bad = low if low < 0 else high - 1
    return operator_error(
        status,
        problem.spec.planner,
        name,
        "reaches outside its storage",
        got=f"element {bad} of the storage: shape {shape_text(desc.shape)}, strides "
        f"{shape_text(desc.strides)}, offset {desc.offset}",
        expected=(
            f"elements 0 to {desc.storage_numel - 1} (storage {shape_text(desc.storage_shape)})"
            if desc.storage_numel
            else f"no element: the storage {shape_text(desc.storage_shape)} has none"
        ),
        fix=f"enlarge storageDims of {name}, or correct its stride and offset",
    )


def check_storage(problem: Problem) -> None:
    """The project's own layout checks, after all of the vendor's.

    Raises
    ------
    AclnnError
        161002 for a negative dimension, more than ``MOST_BYTES``, or (in strict mode) a
        view that leaves its storage.
    """
    for param in problem.spec.tensors:
        desc = problem.tensors[param.name]
        if desc.is_plain:
            continue
        if not desc.is_countable:
            if any(size < 0 for size in (*desc.shape, *desc.storage_shape)):
                raise _bad_dims(problem, param.name, "has a negative dimension", "sizes >= 0")
            raise _bad_dims(problem, param.name, "is too large", "at most 2**57 bytes")
        if problem.strict and not desc.fits_storage:
            raise _out_of_storage(problem, PARAM_INVALID, param.name)


def _bad_dims(problem: Problem, name: str, what: str, expected: str) -> Exception:
    desc = problem.tensors[name]
    return operator_error(
        PARAM_INVALID,
        problem.spec.planner,
        name,
        what,
        got=f"shape {shape_text(desc.shape)}, storage {shape_text(desc.storage_shape)}, strides "
        f"{shape_text(desc.strides)}, offset {desc.offset}",
        expected=expected,
        fix=f"correct viewDims, stride, offset or storageDims of {name}",
    )
