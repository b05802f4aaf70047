# SPDX-License-Identifier: Apache-2.0
"""CUDA launches of the fused softmax, its statistics, post operations and dropout.

Pure: no CuPy and no device. Parameters are the CPU kernels' (native/kernels: softmax_fused.c,
fused_stats.h, post_ops.c, dropout_mask.c); the argument structures are in native/cuda.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from aclnn_native import lib
from aclnn_py.backends.cuda_launch import LANES, Launch, Launches, blocks_of, ceil_div

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FUSED"]

_OPERANDS: Final[int] = lib.ACLPY_POST_OPERANDS
_DIMS: Final[int] = lib.ACLPY_POST_DIMS
_MOST: Final[int] = lib.ACLPY_POST_MOST
_WORDS: Final[int] = lib.ACLPY_POST_WORDS
_HEAD: Final = 5  # of a program: types and counts, see native/kernels/post_ops.h
_QUAD: Final = 4  # elements a thread moves at once
_HELD_BY_WARP: Final = 1024
_HELD_BY_BLOCK: Final = 8192
_THREADS: Final = 256  # of a block that takes rows, at most
_CHUNK: Final = 1 << 14  # elements of a row that are worth a block of their own
_TILE_CHUNK: Final = 1024
_MOST_CHUNKS: Final = 4096
_ONE, _ALIKE, _BROADCAST = range(3)  # how an operand follows the whole


def _program(words: tuple[int, ...], elements: int) -> tuple[int, ...]:
    """A program of native/kernels/post_ops.h as the fields of the kernels' ``Post``."""
    source, target, n_dims, n_operands, n_ops = words[:_HEAD]
    dims = words[_HEAD : _HEAD + n_dims]
    operands = words[_HEAD + n_dims :][:n_operands]
    ops = words[_HEAD + n_dims + n_operands :]
    types, follows, strides = [], [], []
    for word in operands:
        wide = [not word >> (16 + axis) & 1 for axis in range(n_dims)]
        steps = [
            prod(size for size, has in zip(dims[axis + 1 :], wide[axis + 1 :], strict=True) if has)
            if wide[axis]
            else 0
            for axis in range(n_dims)
        ]
        types.append(word & 0xFFFF)
        follows.append(_ALIKE if all(wide) and elements > 1 else _BROADCAST if any(wide) else _ONE)
        strides += [*steps, *[0] * (_DIMS - n_dims)]
    unused = _OPERANDS - n_operands
    return (
        source, target, elements, n_dims, n_ops,
        *dims, *[0] * (_DIMS - n_dims),
        *types, *[0] * unused,
        *follows, *[0] * unused,
        *strides, *[0] * (unused * _DIMS),
        *ops, *[0] * (_MOST * _WORDS - len(ops)),
    )  # fmt: skip


def _softmax_fused(params: tuple[int, ...], processors: int) -> Launches:
    outer, n, inner, flags = params[:4]
    rounded = flags >> lib.ACLPY_FUSED_ROUND_SHIFT
    plain = flags & ((1 << lib.ACLPY_FUSED_ROUND_SHIFT) - 1)
    rest = (plain, rounded, *_program(params[4:], outer * n * inner))
    return _reduction("fused", (outer, n, inner), rest, processors, _rows)


def _softmax_stats(params: tuple[int, ...], processors: int) -> Launches:
    outer, n, inner, flags, kind = params
    rest = (flags, 0, *_program((kind, lib.ACLPY_TYPE_FLOAT, 0, 0, 0), outer * n * inner))
    return _reduction("stats", (outer, n, inner), rest, processors, _stats_rows)


def _reduction(
    kind: str,
    shape: tuple[int, int, int],
    rest: tuple[int, ...],
    processors: int,
    rows: Callable[[int, int], Launch],
) -> Launches:
    """How a kernel that reduces over the middle axis is launched: by chunks, tiles or rows."""
    outer, n, inner = shape
    if 0 in shape:
        return Launches("softmax_fused.cu", "", (), (outer, n, inner, n, 1, *rest))
    chunked = _chunked(kind, outer, n, inner, processors)
    if chunked is not None:
        chunk, chunks, launches = chunked
    elif inner > 1:
        chunk, chunks, launches = n, 1, (_tile(f"{kind}_tile", outer, n, inner),)
    else:
        chunk, chunks, launches = n, 1, (rows(outer, n),)
    scratch = 16 * outer * inner * (chunks + 1) if chunks > 1 else 0
    fields = (outer, n, inner, chunk, chunks, *rest)
    return Launches("softmax_fused.cu", "", launches, fields, scratch)


def _threads(n: int) -> int:
    """Of a block that takes a row: each some quads of it."""
    return min(_THREADS, max(128, ceil_div(n, 4 * _QUAD * LANES) * LANES))


def _rows(outer: int, n: int) -> Launch:
    if n <= _HELD_BY_WARP:
        return Launch("softmax_fused_warp", blocks_of(ceil_div(outer, 4)), 128)
    kind = "block" if n <= _HELD_BY_BLOCK else "stream"
    return Launch(f"softmax_fused_{kind}", blocks_of(outer), _threads(n))


def _stats_rows(outer: int, n: int) -> Launch:
    return Launch("softmax_stats_row", blocks_of(outer), _threads(n))


def _tile(kind: str, outer: int, n: int, inner: int) -> Launch:
    warps = max(1, min(16, ceil_div(n, 8)))
    return Launch(f"softmax_{kind}", blocks_of(ceil_div(outer * inner, LANES)), LANES * warps)


def _chunked(
    kind: str, outer: int, n: int, inner: int, processors: int
) -> tuple[int, int, tuple[Launch, ...]] | None:
    """Elements of a chunk, chunks and launches; None where rows stay whole."""
    work = outer if inner == 1 else ceil_div(outer * inner, LANES)
    room = _CHUNK if inner == 1 else _TILE_CHUNK
    if work >= 2 * processors or n < 2 * room:
        return None
    chunk = max(room, ceil_div(ceil_div(n, _MOST_CHUNKS), room) * room)
    chunks = ceil_div(n, chunk)
    tile = "" if inner == 1 else "tile_"
    threads = 512 if tile else _THREADS
    partial = Launch(f"softmax_fused_{tile}partial", blocks_of(work * chunks), threads)
    combine = Launch(f"softmax_{kind}_combine", blocks_of(outer * inner), 256)
    if kind == "stats":
        return chunk, chunks, (partial, combine)
    write = Launch(f"softmax_fused_{tile}chunks", blocks_of(work * chunks), threads)
    return chunk, chunks, (partial, combine, write)


def _post_ops(params: tuple[int, ...], _processors: int) -> Launches:
    elements = params[0]
    fields = (1, elements, 1, elements, 1, 0, 0, *_program(params[1:], elements))
    one = Launch("post_ops", blocks_of(ceil_div(elements, 256 * _QUAD)), 256)
    return Launches("post_ops.cu", "", (one,) if elements else (), fields)


def _dropout_mask(params: tuple[int, ...], _processors: int) -> Launches:
    elements, seed_type, _has_offset, rank = params[:4]
    pad = [0] * (_DIMS - rank)
    fields = (elements, seed_type, rank, *params[4 : 4 + rank], *pad, *params[4 + rank :], *pad)
    one = Launch("dropout_mask_all", blocks_of(ceil_div(elements, 256 * 4)), 256)
    return Launches("post_ops.cu", "", (one,) if elements else (), fields)


#: By kernel of a step; the parameters, and how many multiprocessors the card has.
FUSED: Final[dict[str, Callable[[tuple[int, ...], int], Launches]]] = {
    "softmax_fused": _softmax_fused,
    "softmax_stats": _softmax_stats,
    "post_ops": _post_ops,
    "dropout_mask": _dropout_mask,
}
