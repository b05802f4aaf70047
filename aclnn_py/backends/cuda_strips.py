# SPDX-License-Identifier: Apache-2.0
"""Which CUDA kernel takes whole columns of a softmax whose axis is not the last, by strips. Pure.

A strip is some units of 16 bytes beside each other, over all rows.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from aclnn_py.backends.cuda_launch import LANES, Launch, blocks_of, ceil_div
from aclnn_py.backends.cuda_rows import VECTOR, own_share

__all__ = ["STRIP", "fits_strips", "strips"]


class _Spare(NamedTuple):
    """A block of 1,024 threads for strips whose last rows it holds in shared memory."""

    width: int  # units beside each other
    held: int  # rows of a thread in registers, at least
    operands: int  # that are held


#: Units beside each other, least rows, least and most threads of a block, types, and rows that a
#: thread holds by whether it is backward.
STRIP: Final = 4
_LEAST: Final = 16
_THREADS: Final = (64, 1024)
_TYPES: Final = ("f32", "f16", "bf16")
_ROWS: Final = {False: 8, True: 4}
#: Longer ones, by bytes of an element. A two-byte softmax's gradient gains nothing so: its two
#: operands leave room for one block, which computes for as long as a second reading takes.
_SPARE: Final = {
    ("softmax", 2): _Spare(STRIP, 7, 1),
    ("softmax", 4): _Spare(STRIP, 5, 1),
    ("log_softmax", 2): _Spare(STRIP, 7, 1),
    ("log_softmax", 4): _Spare(STRIP, 5, 1),
    ("softmax_backward", 4): _Spare(STRIP // 2, 3, 2),
    ("log_softmax_backward", 2): _Spare(STRIP, 4, 1),
    ("log_softmax_backward", 4): _Spare(STRIP, 4, 1),
}
_SPARE_THREADS: Final = 1024
#: Of those that are longer still, and are read twice: units beside each other, threads by whether
#: it is backward and bytes of an element.
_STREAM: Final = 8
_STREAM_THREADS: Final = {(False, 2): 384, (False, 4): 512, (True, 2): 512, (True, 4): 512}


def fits_strips(dtype: str, itemsize: int, n: int, inner: int) -> bool:
    """Whether there are strips of columns of `n` elements, `inner` elements apart."""
    return dtype in _TYPES and inner * itemsize % VECTOR == 0 and n >= _LEAST


def strips(kernel: str, itemsize: int, n: int, columns: int, shared: int) -> Launch:
    """The launch of a kernel for whole columns.

    Parameters
    ----------
    kernel : str
        Of the step.
    itemsize : int
        Bytes of an element.
    n, columns : int
        Elements of a column, and how many there are.
    shared : int
        Shared memory that a block may ask for [bytes]; 0 where that is not to be used.
    """
    backward, unit = kernel.endswith("_backward"), VECTOR // itemsize
    fewest, most = _THREADS
    threads = max(fewest, ceil_div(ceil_div(n, _ROWS[backward]) * STRIP, LANES) * LANES)
    if threads <= most:
        return Launch(f"{kernel}_strip", blocks_of(ceil_div(columns, STRIP * unit)), threads)
    spare = _SPARE.get((kernel, itemsize))
    wanted = _spare_bytes(spare, n) if spare else 0
    if spare and wanted <= shared - own_share("strip_spare"):
        blocks = blocks_of(ceil_div(columns, spare.width * unit))
        return Launch(f"{kernel}_strip_spare", blocks, _SPARE_THREADS, wanted)
    blocks = blocks_of(ceil_div(columns, _STREAM * unit))
    return Launch(f"{kernel}_strip_stream", blocks, _STREAM_THREADS[backward, itemsize])


def _spare_bytes(spare: _Spare, n: int) -> int:
    """Shared memory for the rows that are not held in registers [bytes]."""
    rows = ceil_div(n, _SPARE_THREADS // spare.width) - spare.held
    return spare.operands * max(0, rows) * _SPARE_THREADS * VECTOR
