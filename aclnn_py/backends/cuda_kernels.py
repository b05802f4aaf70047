# SPDX-License-Identifier: Apache-2.0
"""Which CUDA kernels a step becomes: functions, grids and blocks, from its parameters alone.

Pure: no CuPy and no device. The sources are ``native/cuda/*.cu``; a program is one source compiled
for one dtype.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from aclnn_native import lib
from aclnn_py.backends.cuda_fused import FUSED
from aclnn_py.backends.cuda_launch import LANES, Launch, Launches, blocks_of, ceil_div
from aclnn_py.backends.cuda_rows import VECTOR, rows
from aclnn_py.backends.cuda_strips import STRIP, fits_strips, strips
from aclnn_py.core.dtype import by_name

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ITEMSIZES", "SOURCES", "addresses", "launches", "programs"]

#: The dtypes kernels compute in, and their bytes.
ITEMSIZES: Final = {
    by_name[name].kernel or "": by_name[name].itemsize
    for name in ("FLOAT", "FLOAT16", "BF16", "DOUBLE")
}

#: Which source holds a kernel of a step.
SOURCES: Final = {
    "softmax": "softmax.cu",
    "log_softmax": "softmax.cu",
    "softmax_backward": "softmax_backward.cu",
    "log_softmax_backward": "softmax_backward.cu",
    "cast": "cast.cu",
    "copy_strided": "copy_strided.cu",
    "copy_ordered": "copy_strided.cu",
    "softmax_fused": "softmax_fused.cu",
    "softmax_stats": "softmax_fused.cu",
    "post_ops": "post_ops.cu",
    "dropout_mask": "post_ops.cu",
}

_CAST_TARGETS: Final = frozenset(
    (*ITEMSIZES, "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "c64", "c128",
     "f8e5m2", "f8e4m3")
)  # fmt: skip
#: Sources whose kernels take any types.
_ANY_TYPE: Final = ("copy_strided.cu", "post_ops.cu", "softmax_fused.cu")
_SQUARE: Final = 32  # elements of an edge that a transposing copy takes at once
_MOST_RANK: Final = 25


#: Rows of more elements are divided, however many there are: places in a row are 32-bit integers.
_MOST_WHOLE: Final = 1 << 30
#: A row is divided where there are fewer rows than processors, in at most so many chunks.
_MOST_CHUNKS: Final = 4096
_CHUNK_BYTES: Final = 1 << 16


def programs() -> tuple[tuple[str, str], ...]:
    """Every (source, dtype) that is compiled."""
    typed = [source for source in sorted(set(SOURCES.values())) if source not in _ANY_TYPE]
    return (*[(source, dtype) for source in typed for dtype in ITEMSIZES],
            *[(source, "") for source in _ANY_TYPE])  # fmt: skip


def addresses(kernel: str, reads: Sequence[int], write: int, scratch: int) -> list[int]:
    """The addresses that an argument structure begins with.

    Parameters
    ----------
    kernel : str
        Of the step.
    reads : sequence of int
        Its operands.
    write : int
        Its result.
    scratch : int
        `Launches.scratch_bytes` of memory, or 0.
    """
    if kernel == "dropout_mask":  # probability, seed, offset, mask
        return [*reads, *[0] * (3 - len(reads)), write]
    if kernel in FUSED:  # operands, then as the softmax family
        operands = list(reads[1:])
        unused = lib.ACLPY_POST_OPERANDS - len(operands)
        return [*operands, *[0] * unused, reads[0], 0, write, scratch]
    if SOURCES[kernel].startswith("softmax"):  # first, second, out, scratch
        return [reads[0], reads[1] if len(reads) > 1 else 0, write, scratch]
    return [*reads, write]


def launches(
    kernel: str, dtype: str, params: tuple[int, ...], processors: int, shared: int = 0
) -> Launches | None:
    """How a step runs on a card.

    Parameters
    ----------
    kernel, dtype, params
        Of the step: ``("softmax", "f32", (outer, n, inner))``, as the CPU kernels take them.
    processors : int
        Multiprocessors of the card.
    shared : int
        Shared memory that a block may ask for [bytes]; 0 where that is not to be used.

    Returns
    -------
    Launches or None
        None where there is no such kernel.
    """
    if kernel in ("copy_strided", "copy_ordered"):
        return _copy(kernel, dtype, params)
    if kernel == "cast":
        return _cast(dtype, params)
    if kernel in FUSED:
        return FUSED[kernel](params, processors)
    if kernel not in SOURCES or dtype not in ITEMSIZES:
        return None
    return _softmax(kernel, dtype, params, processors, shared)


def _copy(kernel: str, dtype: str, params: tuple[int, ...]) -> Launches | None:
    rank, sizes = params[0], params[1:]
    if dtype not in ("b1", "b2", "b4", "b8", "b16") or rank > _MOST_RANK:
        return None
    dims, source, target = (sizes[k * rank : (k + 1) * rank] for k in range(3))
    elements = prod(dims)
    one = Launch(f"copy_ordered_{dtype}", 1, LANES)
    if kernel == "copy_strided":
        one = Launch(f"copy_strided_{dtype}", blocks_of(ceil_div(elements, 256)), 256)
        order = _transposes(int(dtype[1:]), dims, source, target)
        if order:
            dims, source, target = (tuple(c[k] for k in order) for c in (dims, source, target))
            squares = prod(dims[:-2]) * prod(ceil_div(size, _SQUARE) for size in dims[-2:])
            one = Launch(f"copy_transposed_{dtype}", blocks_of(squares), 256)
    fields = [v for c in (dims, source, target) for v in (*c, *(0,) * (_MOST_RANK - rank))]
    return Launches(SOURCES[kernel], "", (one,) if elements else (), (elements, rank, *fields))


def _transposes(
    itemsize: int, dims: tuple[int, ...], source: tuple[int, ...], target: tuple[int, ...]
) -> tuple[int, ...]:
    """An order of dimensions that ends with the one dense in the source, then the target's.

    Empty where they are the same, or too short to fill squares.
    """
    dense = [
        next((k for k, stride in enumerate(side) if stride == itemsize), -1)
        for side in (source, target)
    ]
    if dense[0] == dense[1] or min(dense) < 0 or min(dims[k] for k in dense) < _SQUARE // 2:
        return ()
    return (*(k for k in range(len(dims)) if k not in dense), *dense)


def _cast(dtype: str, params: tuple[int, ...]) -> Launches | None:
    source, target = dtype.split("_")
    if source not in ITEMSIZES or source == target or target not in _CAST_TARGETS:
        return None
    (elements,) = params
    blocks = blocks_of(ceil_div(elements, 256 * (VECTOR // ITEMSIZES[source])))
    one = Launch(f"cast_{source}_{target}", blocks, 256)
    return Launches(SOURCES["cast"], source, (one,) if elements else (), (elements,))


def _softmax(
    kernel: str, dtype: str, params: tuple[int, ...], processors: int, shared: int
) -> Launches:
    outer, n, inner = params
    source = SOURCES[kernel]
    if 0 in params:
        return Launches(source, dtype, (), (outer, n, inner, n, 1))
    columns = outer * inner
    way = _way(dtype, n, inner)
    work = ceil_div(columns, _columns(way, dtype))
    room = _chunk(dtype, inner)
    if n > _MOST_WHOLE or (work < 2 * processors and n >= 2 * room):
        chunk = max(room, ceil_div(ceil_div(n, _MOST_CHUNKS), room) * room)
        chunks = ceil_div(n, chunk)
        scratch = 16 * columns * (chunks + 1)
        steps = _chunked(kernel, f"{way}_" if way else "", work * chunks, columns)
        named = tuple(s.of(dtype) for s in steps)
        return Launches(source, dtype, named, (outer, n, inner, chunk, chunks), scratch)
    if way == "strip":
        one = strips(kernel, ITEMSIZES[dtype], n, columns, shared)
    elif way:
        one = _tile(kernel, n, work)
    else:
        one = rows(kernel, dtype, ITEMSIZES[dtype], outer, n, shared)
    return Launches(source, dtype, (one.of(dtype),), (outer, n, inner, n, 1))


def _way(dtype: str, n: int, inner: int) -> str:
    """How kernels go over the problem: by rows (""), or columns in strips or in tiles."""
    if inner == 1:
        return ""
    return "strip" if fits_strips(dtype, ITEMSIZES[dtype], n, inner) else "tile"


def _columns(way: str, dtype: str) -> int:
    """Columns of a block: of a strip some units; in a tile a lane takes two if of two bytes."""
    if way == "strip":
        return STRIP * VECTOR // ITEMSIZES[dtype]
    return LANES * (2 if ITEMSIZES[dtype] == 2 else 1) if way else 1


def _chunk(dtype: str, inner: int) -> int:
    """Elements of a row that are worth a block of their own."""
    return _CHUNK_BYTES // ITEMSIZES[dtype] if inner == 1 else 1024


def _chunked(kernel: str, prefix: str, items: int, rows: int) -> tuple[Launch, ...]:
    """The three launches of divided rows, without the dtype. Both softmaxes share what they can."""
    plain = kernel.removeprefix("log_")
    backward = kernel.endswith("_backward")
    partial, combine = (kernel, plain) if backward else (plain, kernel)
    return (
        Launch(f"{partial}_{prefix}partial", blocks_of(items), 512),
        Launch(f"{combine}_combine", blocks_of(rows), 256),
        Launch(f"{kernel}_{prefix}chunks", blocks_of(items), 512),
    )


def _tile(kernel: str, n: int, tiles: int) -> Launch:
    warps = max(1, min(16, ceil_div(n, 8)))
    return Launch(f"{kernel}_tile", blocks_of(tiles), LANES * warps)
