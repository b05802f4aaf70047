# SPDX-License-Identifier: Apache-2.0
"""What execution checks before anything runs: indices, memory, overlaps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

import numpy as np

from aclnn_py.dialects.onednn.descriptors import memory_desc
from aclnn_py.dialects.onednn.engines import engine, stream
from aclnn_py.dialects.onednn.enums import (
    DNNL_ARG_DIFF_DST,
    DNNL_ARG_DIFF_SRC,
    DNNL_ARG_DST,
    DNNL_ARG_SCRATCHPAD,
    DNNL_ARG_SRC,
    DNNL_ARG_WORKSPACE,
    format_kind,
)
from aclnn_py.dialects.onednn.memories import memory
from aclnn_py.dialects.onednn.statuses import refuse, status
from aclnn_runtime.arguments import describe, whole_number

if TYPE_CHECKING:
    from aclnn_py.dialects.onednn.extras import Argument
    from aclnn_py.dialects.onednn.primitive_desc import softmax_primitive_desc

__all__ = ["Words", "check_arguments", "check_stream"]

# Output on input: the pairs that oneDNN offers, where both have one descriptor.
_IN_PLACE: Final = frozenset({(DNNL_ARG_DST, DNNL_ARG_SRC), (DNNL_ARG_DIFF_SRC, DNNL_ARG_DIFF_DST)})
_ALIGNMENT: Final = 16  # of scratchpads, as of every workspace [bytes]
_MOST_WORK: Final = 10_000
# What is expected of memory that has none, and the way there.
_DATA: Final = ("memory with a data handle", "give it live memory with set_data_handle()")


class Words(NamedTuple):
    """What refusals call things, for the primitive; others have their own.

    Attributes
    ----------
    arguments, label, scratchpad : str
        Arguments of the call: all, the one with an index and a name, the temporary memory.
    apart : str
        Where outputs may be.
    fix : str
        How to find out what is expected.
    """

    arguments: str = "args"
    label: str = "args[{index}] ({name})"
    scratchpad: str = f"args[{DNNL_ARG_SCRATCHPAD}] (scratchpad)"
    apart: str = "separate memory; dst on src, or diff_src on diff_dst, with one descriptor"
    fix: str = "compare with the primitive descriptor: query_md(index) says what is expected"


def check_stream(function: str, value: object, on: engine) -> None:
    """A stream of the primitive's engine."""
    if not isinstance(value, stream) or not value.engine.is_same_device(on):
        expected, fix = f"a stream of {on!r}", "pass stream(engine), made of that engine"
        got = describe(value)
        _invalid(function, "stream", "is no stream of this engine", got, expected, fix)


def check_arguments(function: str, pd: softmax_primitive_desc, args: object) -> tuple[memory, ...]:
    """The memory objects in the order of the descriptor's arguments.

    Raises
    ------
    OneDnnError
        invalid_arguments.
    """
    if not isinstance(args, Mapping) or not args:
        what = "is empty" if isinstance(args, Mapping) else "is no mapping"
        got = describe(args)
        _invalid(function, "args", what, got, "a mapping of DNNL_ARG_* to memory", pd.words.fix)
    known = {argument.index: argument for argument in pd.arguments}
    scratchpad = pd.scratchpad_desc()
    for index, given in args.items():
        if whole_number(index) is None:  # a mapping takes True and 1.0 for 1
            what, expected = "has a key that is no index", "integers DNNL_ARG_*"
            _invalid(function, "args", what, describe(index), expected, pd.words.fix)
        if index in known:
            continue
        if index == DNNL_ARG_SCRATCHPAD and scratchpad.dims:
            continue
        # Both may be passed where their size is 0.
        spare = index in (DNNL_ARG_WORKSPACE, DNNL_ARG_SCRATCHPAD)
        if spare and isinstance(given, memory) and given.desc == memory_desc():
            continue
        _invalid(
            function,
            "args",
            "has an index that this primitive does not take",
            describe(index),
            " | ".join(f"{number} ({known[number].name})" for number in known),
            pd.words.fix,
        )
    words = pd.words
    found = tuple(_memory(function, pd, argument, args) for argument in pd.arguments)
    ranges = [(argument, *_range(one)) for argument, one in zip(pd.arguments, found, strict=True)]
    if scratchpad.dims:
        low, high = _scratchpad(function, scratchpad, args, words)
        for argument, start, end in ranges:
            if low < end and start < high:
                _overlap(function, "scratchpad", argument.name, words, "memory of its own")
    _check_overlaps(function, ranges, words)
    return found


def _memory(
    function: str, pd: softmax_primitive_desc, argument: Argument, args: Mapping[int, object]
) -> memory:
    words, one = pd.words, args.get(argument.index)
    label = words.label.format(index=argument.index, name=argument.name)
    if not isinstance(one, memory):
        what, expected = "is missing or no memory", f"a memory of {argument.desc!r}"
        _invalid(function, label, what, describe(one), expected, words.fix)
    if one.desc != argument.desc:
        got, expected = repr(one.desc), repr(argument.desc)
        _invalid(function, label, "has another descriptor", got, expected, words.fix)
    if one.desc.format_kind is format_kind.host_scalar:
        return one
    _check_engine(function, label, one, pd)
    if one.tensor is None and not one.desc.is_empty:
        _invalid(function, label, "has no data", repr(one), *_DATA)
    _check_open(function, label, one)
    return one


def _check_open(function: str, label: str, one: memory) -> None:
    if one.is_gone:
        what, expected = "has no data any more", "a buffer that is open"
        _invalid(function, label, what, repr(one.handle), expected, _DATA[1])


def _check_engine(function: str, label: str, one: memory, pd: softmax_primitive_desc) -> None:
    assert isinstance(pd.engine, engine)
    if one.engine is None or not one.engine.is_same_device(pd.engine):
        what, expected = "is memory of another engine", repr(pd.engine)
        fix = "make the memory with the engine of the call"
        _invalid(function, label, what, repr(one.engine), expected, fix)


def _scratchpad(
    function: str, wanted: memory_desc, args: Mapping[int, object], words: Words
) -> tuple[int, int]:
    label, one = words.scratchpad, args.get(DNNL_ARG_SCRATCHPAD)
    if not isinstance(one, memory) or one.desc != wanted:
        got = repr(one) if isinstance(one, memory) else describe(one)
        what = "is missing or has another descriptor"
        _invalid(function, label, what, got, repr(wanted), words.fix)
    if one.tensor is None:
        _invalid(function, label, "has no data", repr(one), *_DATA)
    _check_open(function, label, one)
    low, high = _range(one)
    if low % _ALIGNMENT:
        expected = f"an address that is a multiple of {_ALIGNMENT}"
        fix = f"let it be allocated, or start it at a multiple of {_ALIGNMENT}"
        _invalid(function, label, "is not aligned", f"{low:#x}", expected, fix)
    return low, high


def _range(one: memory) -> tuple[int, int]:
    if one.tensor is None:
        return 0, 0
    start = one.get_data_handle()
    return start, start + one.desc.get_size()


def _check_overlaps(function: str, ranges: list[tuple[Argument, int, int]], words: Words) -> None:
    for output, low, high in ranges:
        if not output.written:
            continue
        for other, start, end in ranges:
            if other is output or not (low < end and start < high):
                continue
            offered = (output.index, other.index) in _IN_PLACE
            if offered and start == low and other.desc == output.desc:
                continue
            if _share(_elements(low, output.desc), _elements(start, other.desc)):
                _overlap(function, output.name, other.name, words, words.apart)


class _Place:
    """What NumPy asks of memory; nothing is read."""

    def __init__(self, address: int, desc: memory_desc) -> None:
        itemsize = desc.tensor_desc.dtype.itemsize
        self.__array_interface__ = {
            "version": 3,
            "data": (address, True),
            "shape": desc.dims,
            "strides": tuple([step * itemsize for step in desc.strides]),
            "typestr": f"|V{itemsize}",
        }


def _elements(address: int, desc: memory_desc) -> np.ndarray[Any, Any]:
    return np.asarray(_Place(address, desc))


def _share(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    """Whether they have a byte in common: rows of one may lie between those of the other."""
    try:
        return bool(np.shares_memory(one, other, max_work=_MOST_WORK))  # type: ignore[arg-type]  # any number
    except RuntimeError:  # NumPy's "too hard", said of layouts that nobody has for good reasons
        return True


def _overlap(function: str, written: str, other: str, words: Words, expected: str) -> NoReturn:
    got = f"{written} and {other} share bytes"
    _invalid(function, words.arguments, "overlap in memory", got, expected, words.fix)


def _invalid(
    function: str, argument: str, what: str, got: str, expected: str, fix: str
) -> NoReturn:
    refuse(
        status.invalid_arguments,
        function,
        argument,
        what,
        got=got,
        expected=expected,
        fix=fix,
    )
