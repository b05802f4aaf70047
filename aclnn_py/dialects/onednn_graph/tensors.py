# SPDX-License-Identifier: Apache-2.0
"""Tensor: a logical tensor with data behind it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from aclnn_py.dialects.onednn.descriptors import memory_desc
from aclnn_py.dialects.onednn.engines import check_engine
from aclnn_py.dialects.onednn.memories import DNNL_MEMORY_ALLOCATE, memory
from aclnn_py.dialects.onednn_graph.logical_tensors import check_logical_tensor

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from aclnn_py.dialects.onednn.engines import engine
    from aclnn_py.dialects.onednn_graph.logical_tensors import logical_tensor
    from aclnn_runtime import Buffer

__all__ = ["tensor"]


class tensor:
    """Data for one edge of a graph.

    Parameters
    ----------
    lt : logical_tensor
        With known dimensions, strided or opaque.
    engine : engine
        Whose memory it is.
    handle : Buffer, int, ``DNNL_MEMORY_ALLOCATE`` or ``DNNL_MEMORY_NONE``
        Memory of the engine's device of at least ``lt.get_mem_size()`` bytes, or an address in it;
        allocated here by default. Host memory is refused, as by ``onednn.memory``.

    Raises
    ------
    OneDnnError
        invalid_shape where shape or layout are not known; invalid_arguments; out_of_memory.
    """

    def __init__(
        self,
        lt: logical_tensor,
        engine: engine,
        handle: Buffer | int | str | None = DNNL_MEMORY_ALLOCATE,
    ) -> None:
        self._lt = check_logical_tensor("tensor", "lt", lt)
        check_engine("tensor", engine)
        self._memory = memory.made_by("tensor", lt.memory_desc("tensor", "lt"), engine, handle)
        self._views: dict[memory_desc, memory] = {}

    def get_logical_tensor(self) -> logical_tensor:
        """What it is data for."""
        return self._lt

    def get_engine(self) -> engine:
        """Whose memory it is."""
        assert self._memory.engine is not None, self
        return self._memory.engine

    @property
    def is_gone(self) -> bool:
        """Whether the buffer that its data lies in has been freed."""
        return self._memory.is_gone

    def get_data_handle(self) -> int:
        """Address of the first byte; 0 where there is none."""
        return self._memory.get_data_handle()

    def set_data_handle(self, handle: Buffer | int | None) -> None:
        """Put other memory behind it; work that is queued keeps what it has."""
        self._memory.move("tensor.set_data_handle", handle)
        self._views = {}

    def numpy(self) -> np.ndarray[Any, Any]:
        """A copy of the elements in logical order; waits for work that touches this memory."""
        return self._memory.numpy().reshape(self._lt.dims)

    def write(self, values: ArrayLike) -> tensor:
        """Set every element, given in logical order. Returns itself."""
        with suppress(TypeError, ValueError):  # the memory's own refusal says what is expected
            array = np.asarray(values)
            values = array if self._lt.dims or array.shape else array.reshape(1)
        self._memory.write(values)
        return self

    def memory_as(self, desc: memory_desc) -> memory:
        """Its memory under a descriptor of the same elements."""
        views = self._views  # before the handle is read: those of a handle that has gone go, too
        # What is no descriptor may have no hash, and may compare in its own way; memory refuses it.
        known = isinstance(desc, memory_desc)
        if known and desc == self._memory.desc:
            return self._memory
        view = views.get(desc) if known else None
        if view is None:
            engine, handle = self.get_engine(), self._memory.handle
            view = views[desc] = memory.made_by("tensor.memory_as", desc, engine, handle)
        return view

    def __repr__(self) -> str:
        return f"<tensor {self._lt!r}>"
