# SPDX-License-Identifier: Apache-2.0
"""CUDA kernels as steps of a plan: launched through CuPy into the stream's own queue.

Nothing here imports CuPy before the first step runs; planning needs no GPU.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from aclnn_native import ffi, lib
from aclnn_py.backends import cuda_programs
from aclnn_py.backends.cuda_kernels import SOURCES, addresses, launches
from aclnn_py.backends.native_plan import Launch
from aclnn_py.plan.choose import Refusal
from aclnn_runtime.cuda_driver import Kernel, keep
from aclnn_runtime.cuda_errors import tell
from aclnn_runtime.cuda_queues import OnDevice, queue_of
from aclnn_runtime.status_table import status_value
from aclnn_runtime.step_call import find_step, register_step

if TYPE_CHECKING:
    from aclnn_py.plan.steps import Step
    from aclnn_runtime.cuda_queues import Queue

__all__ = ["CudaBackend"]

_FAILED: Final = status_value("ACL_ERROR_RT_DRV_INTERNAL_ERROR")


class CudaBackend:
    """Runs what has a CUDA kernel; there is no other implementation on a GPU."""

    name = "cuda"

    def accept(self, step: Step) -> tuple[str, tuple[Refusal, ...]]:
        """See `aclnn_py.plan.choose.Backend`."""
        candidate = f"cuda: {step.kernel} {step.dtype}"
        if step.kernel not in SOURCES or launches(step.kernel, step.dtype, step.params, 1) is None:
            return "", (Refusal(candidate, "there is no CUDA kernel of that name and dtype"),)
        return f"{step.kernel} {step.dtype}", ()

    def takes(self, step: Step) -> bool:  # noqa: ARG002  # the seam's form
        """See `aclnn_py.plan.choose.Backend`: what is accepted is."""
        return True

    def divides(self, step: Step, params: tuple[int, ...], by: Step | None = None) -> bool:  # noqa: ARG002  # the seam's form
        """See `aclnn_py.plan.choose.Backend`: kernels run whole."""
        return False

    def shape(self, step: Step, params: tuple[int, ...]) -> Any:
        """No step joins a chain, so nobody asks."""
        raise NotImplementedError

    def launch(self, step: Step) -> Launch:
        """Register the step, for the native one to call the launch of its kernels."""
        token = register_step(_CudaStep(step))
        return Launch(0, int(ffi.cast("uintptr_t", lib.aclpy_py_device_step)), token)

    def fill(self, step: Step, native: Any, keep: list[object]) -> None:
        """No step joins a chain, so nobody asks."""
        raise NotImplementedError


class _Prepared(NamedTuple):
    """A step for one device: kernels with their grids, what follows the addresses, scratch."""

    kernels: tuple[Kernel, ...]
    fields: tuple[int, ...]
    scratch_bytes: int


class _CudaStep:
    """How a step is launched."""

    __slots__ = ("_prepared", "_step")

    def __init__(self, step: Step) -> None:
        self._step = step
        self._prepared: dict[int, _Prepared] = {}

    def run(self, device: int, stream: int, places: Any) -> None:
        """Put the launches into the stream's queue."""
        found = self._prepared.get(device)
        if found is None:
            found = self._prepared.setdefault(device, self._prepare(device))
        queue = queue_of(device, stream)
        *reads, out = [
            int(ffi.cast("uintptr_t", places[i])) for i in range(len(self._step.reads) + 1)
        ]
        with OnDevice(device):
            scratch = queue.scratch(found.scratch_bytes)
            # Every kernel takes one structure of 64-bit words, by value.
            head = addresses(self._step.kernel, reads, out, scratch)
            words = ffi.new("int64_t[]", [*head, *found.fields])
            place = ffi.new("void *[]", [words])
            params = int(ffi.cast("uintptr_t", place))
            launch = cuda_programs.launch()
            for kernel, blocks, threads, shared in found.kernels:
                launch(kernel, blocks, 1, 1, threads, 1, 1, shared, queue.ptr, params, 0)
            with suppress(Exception):  # it is launched; without this the next one comes here, too
                self._keep(found, queue)

    def _keep(self, found: _Prepared, queue: Queue) -> None:
        """Show the engine how, for the next time."""
        reads = len(self._step.reads)
        places = addresses(self._step.kernel, range(1, reads + 1), reads + 1, reads + 2)
        words = [*[0] * len(places), *found.fields]
        keep(queue, found.kernels, words, places, found.scratch_bytes)

    def _prepare(self, device: int) -> _Prepared:
        step = self._step
        plan = launches(
            step.kernel,
            step.dtype,
            step.params,
            cuda_programs.processors(device),
            cuda_programs.shared_memory(device),
        )
        assert plan is not None, step  # accepted
        kernels = tuple(
            Kernel(
                cuda_programs.function(device, plan.source, plan.dtype, one.function, one.shared),
                one.blocks,
                one.threads,
                one.shared,
            )
            for one in plan.launches
        )
        return _Prepared(kernels, plan.fields, plan.scratch_bytes)


@ffi.def_extern(name="aclpy_py_device_step", error=_FAILED)  # type: ignore[untyped-decorator]
def _run(token: int, addresses: Any) -> int:
    try:
        device = ffi.new("int32_t *")
        stream = int(lib.aclpy_launching(device))
        cast("_CudaStep", find_step(token)).run(int(device[0]), stream, addresses)
    except BaseException as error:  # noqa: BLE001  # nothing may unwind into the engine
        return tell(error, "CUDA kernel")
    return 0
