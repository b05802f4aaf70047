# SPDX-License-Identifier: Apache-2.0
"""The C kernels of the native library, best instruction set first."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from aclnn_native import ffi, lib
from aclnn_py.backends.native_plan import Launch
from aclnn_py.core.isa import ISAS, own_bits
from aclnn_py.core.settings import current
from aclnn_py.plan.choose import Refusal

if TYPE_CHECKING:
    from aclnn_py.plan.steps import Step

__all__ = ["CpuBackend"]


class CpuBackend:
    """Looks kernels up by (name, dtype) among the instruction sets that are allowed."""

    name = "cpu"

    def accept(self, step: Step) -> tuple[str, tuple[Refusal, ...]]:
        """See `aclnn_py.plan.choose.Backend`."""
        return _accept(step.kernel, step.dtype, current().isa)

    def takes(self, step: Step) -> bool:
        """See `aclnn_py.plan.choose.Backend`."""
        return _shape(step, step.params) is not None

    def divides(self, step: Step, params: tuple[int, ...], by: Step | None = None) -> bool:
        """See `aclnn_py.plan.choose.Backend`."""
        whole, part = _shape(step, step.params), _shape(by or step, params)
        if whole is None or part is None:
            return False  # more elements than a kernel counts
        one_launch = part.passes == 1 and part.scratch_bytes == 0
        return bool(one_launch and whole.order and whole.order == part.order)

    def shape(self, step: Step, params: tuple[int, ...]) -> Any:
        """How a launch of the step's kernel splits: a native ``aclpy_kernel_shape``."""
        shape = _shape(step, params)
        assert shape is not None, (step, params)
        return shape

    def launch(self, step: Step) -> Launch:
        """See `aclnn_py.backends.native_plan.Filler`."""
        return _launch(step.kernel, step.dtype, current().isa_mask)

    def fill(self, step: Step, native: Any, keep: list[object]) -> None:
        """Write the kernel and how its work splits into a native step."""
        kernel = _find(step)
        params = ffi.new("int64_t[]", step.params)
        keep.append(params)
        native.run = kernel.run
        native.n_params = len(step.params)
        native.params = params
        refused = kernel.plan(params, len(step.params), ffi.addressof(native, "shape"))
        assert not refused, step


@cache
def _accept(kernel: str, dtype: str, limit: str) -> tuple[str, tuple[Refusal, ...]]:
    """The answer under ``ACLNN_PY_ISA=limit``, which is in force."""
    found = _find_among(kernel, dtype, current().isa_mask)
    won = _isa_of(found) if found else ""
    refused = []
    for isa in reversed(ISAS):
        if isa == won:
            break
        reason = _missing(isa, limit) or f"no such kernel ({kernel} {dtype})"
        refused.append(Refusal(f"cpu: {kernel} {dtype} ({isa})", reason))
    label = f"{kernel} {dtype} ({won})" if found else ""
    return label, tuple(refused)


def _missing(isa: str, limit: str) -> str:
    """Why no kernel of an instruction set may run; empty where one may."""
    own = own_bits(isa)
    if not own & lib.aclpy_isa_supported():
        return "this processor does not have it"
    if not own & current().isa_mask:
        return f"excluded by ACLNN_PY_ISA={limit}"
    return ""


def _find(step: Step) -> Any:
    return _find_among(step.kernel, step.dtype, current().isa_mask)


def _shape(step: Step, params: tuple[int, ...]) -> Any:
    """A native ``aclpy_kernel_shape``; None where the kernel refuses the sizes."""
    shape = ffi.new("aclpy_kernel_shape *")
    refused = _find(step).plan(ffi.new("int64_t[]", params), len(params), shape)
    return None if refused else shape


def _isa_of(kernel: Any) -> str:
    name: str = ffi.string(kernel.isa).decode()
    return name


@cache
def _launch(kernel: str, dtype: str, isas: int) -> Launch:
    return Launch(int(ffi.cast("uintptr_t", _find_among(kernel, dtype, isas))))


@cache
def _find_among(kernel: str, dtype: str, isas: int) -> Any:
    return lib.aclpy_kernel_find(kernel.encode(), dtype.encode(), isas)
