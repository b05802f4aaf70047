# SPDX-License-Identifier: Apache-2.0
"""The NumPy reference backend: always last, always correct, takes the GIL on its worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from aclnn_native import ffi, lib
from aclnn_py.backends.native_plan import Launch
from aclnn_py.core.dtype import DTYPES
from aclnn_py.plan.choose import Refusal
from aclnn_runtime.step_call import register_step

if TYPE_CHECKING:
    from collections.abc import Callable

    from aclnn_py.plan.steps import Step

__all__ = ["ReferenceBackend"]

_NUMPY: Final = {row.kernel: row.numpy for row in DTYPES if row.kernel and row.numpy is not None}


class ReferenceBackend:
    """Runs steps in NumPy: casts and copies from here, the rest as each operator says."""

    name = "reference"

    def accept(self, step: Step) -> tuple[str, tuple[Refusal, ...]]:
        """See `aclnn_py.plan.choose.Backend`."""
        if step.reference is None and step.kernel not in _KERNELS:
            reason = "no NumPy expression for this kernel"
            return "", (Refusal(f"reference: {step.kernel}", reason),)
        missing = [part for part in step.dtype.split("_") if part not in _NUMPY]
        if missing and not step.kernel.startswith("copy_"):
            reason = f"NumPy has no {missing[0]}"
            return "", (Refusal(f"reference: {step.kernel} {step.dtype}", reason),)
        return f"numpy {step.kernel} {step.dtype}", ()

    def takes(self, step: Step) -> bool:  # noqa: ARG002  # the seam's form
        """See `aclnn_py.plan.choose.Backend`: expressions do problems of any size."""
        return True

    def divides(
        self,
        step: Step,  # noqa: ARG002  # the seam's form
        params: tuple[int, ...],  # noqa: ARG002
        by: Step | None = None,  # noqa: ARG002
    ) -> bool:
        """See `aclnn_py.plan.choose.Backend`: an expression runs whole."""
        return False

    def launch(self, step: Step) -> Launch:
        """Register the expression, for the native step to call."""
        run = _compute if step.reference is not None else _KERNELS[step.kernel]
        token = register_step((lambda addresses: run(step, addresses), len(step.reads) + 1))
        return Launch(0, int(ffi.cast("uintptr_t", lib.aclpy_py_step_call)), token)


def _array(address: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
    count = int(np.prod(shape))
    if count == 0:
        return np.empty(shape, dtype)
    raw = ffi.buffer(ffi.cast("char *", address), count * dtype.itemsize)
    return np.frombuffer(raw, dtype).reshape(shape)


def _exact(values: Any) -> Any:
    wide = np.longdouble if values.dtype == np.float64 else np.float64
    return values.astype(wide)


def _compute(step: Step, addresses: Any) -> None:
    assert step.reference is not None
    *shapes, out_shape = step.shapes
    *sources, dtype = [_NUMPY[name] for name in step.dtypes or (step.dtype,) * len(step.shapes)]
    inputs = [
        _array(address, source, shape)
        for address, source, shape in zip(addresses, sources, shapes, strict=False)
    ]
    if not step.dtypes:
        inputs = [_exact(values) for values in inputs]
    with np.errstate(all="ignore"):
        result = np.asarray(step.reference(step.params, *inputs)).reshape(out_shape)
        if dtype.itemsize == 2:  # half types round from float32
            result = result.astype(np.float32)
        _array(addresses[len(shapes)], dtype, out_shape)[...] = result.astype(dtype)


def _cast(step: Step, addresses: Any) -> None:
    source, target = (_NUMPY[part] for part in step.dtype.split("_"))
    values = _array(addresses[0], source, step.params)
    with np.errstate(all="ignore"):
        if target.kind in "iu":
            limits = np.iinfo(target.name)
            wide = np.trunc(np.nan_to_num(values.astype(np.float64), nan=0.0))
            low, high = wide <= float(limits.min), wide >= float(limits.max)
            inside = np.where(low | high, 0.0, wide).astype(target)
            result = np.where(low, limits.min, np.where(high, limits.max, inside)).astype(target)
        elif target.kind == "b":
            result = values.astype(np.float64) != 0
        else:
            result = values.astype(target)
    _array(addresses[1], target, step.params)[...] = result


def _copy_strided(step: Step, addresses: Any) -> None:
    itemsize = int(step.dtype[1:])
    rank = step.params[0]
    dims, source, target = (
        step.params[1 + part * rank : 1 + (part + 1) * rank] for part in range(3)
    )
    _strided(addresses[1], dims, target, itemsize)[...] = _strided(
        addresses[0], dims, source, itemsize
    )


def _copy_ordered(step: Step, addresses: Any) -> None:
    itemsize, rank = int(step.dtype[1:]), step.params[0]
    dims, source, target = (
        step.params[1 + part * rank : 1 + (part + 1) * rank] for part in range(3)
    )
    into = _strided(addresses[1], dims, target, itemsize)
    values = _strided(addresses[0], dims, source, itemsize)
    for position in np.ndindex(*dims):
        into[position] = values[position]


def _strided(address: Any, dims: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> Any:
    spans = [stride * (size - 1) for size, stride in zip(dims, strides, strict=True)]
    low = sum(span for span in spans if span < 0)
    high = sum(span for span in spans if span > 0) + itemsize
    raw = ffi.buffer(ffi.cast("char *", address + low), high - low)
    return np.ndarray(dims, f"V{itemsize}", buffer=raw, offset=-low, strides=strides)


_KERNELS: Final[dict[str, Callable[[Any, Any], None]]] = {
    "cast": _cast,
    "copy_strided": _copy_strided,
    "copy_ordered": _copy_ordered,
}
