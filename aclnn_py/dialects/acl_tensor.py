# SPDX-License-Identifier: Apache-2.0
"""C names for tensors and executors: creators, getters, setters, destroyers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from aclnn_native import lib
from aclnn_py.core.arguments import check_open, integer, integers, memory
from aclnn_py.core.desc import TensorDesc, row_major_strides
from aclnn_py.core.dtype import aclDataType, as_dtype
from aclnn_py.core.errors import PARAM_INVALID, PARAM_NULLPTR, operator_error
from aclnn_py.core.executor import REPEATABLE, SPENT, Executor
from aclnn_py.core.format import aclFormat
from aclnn_py.core.tensor import Tensor, create_tensor
from aclnn_runtime import AclnnError, raise_last
from aclnn_runtime.arguments import describe

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from aclnn_runtime import Buffer

__all__ = [
    "aclCreateTensor",
    "aclDestroyAclOpExecutor",
    "aclDestroyTensor",
    "aclGetDataType",
    "aclGetFormat",
    "aclGetRawTensorAddr",
    "aclGetStorageShape",
    "aclGetViewOffset",
    "aclGetViewShape",
    "aclGetViewStrides",
    "aclSetAclOpExecutorRepeatable",
    "aclSetDynamicInputTensorAddr",
    "aclSetDynamicOutputTensorAddr",
    "aclSetDynamicTensorAddr",
    "aclSetInputTensorAddr",
    "aclSetOutputTensorAddr",
    "aclSetRawTensorAddr",
    "aclSetTensorAddr",
]


def aclCreateTensor(
    viewDims: Sequence[int],
    dataType: aclDataType | DTypeLike | str,
    stride: Sequence[int] | None,
    offset: int,
    format: aclFormat | int,  # the C parameter's name
    storageDims: Sequence[int] | None,
    tensorData: Buffer | int | None,
) -> Tensor:
    """Describe a tensor over device memory. As in C, almost nothing is checked here.

    Parameters
    ----------
    viewDims : sequence of int
        View dimensions; empty for a 0-d tensor.
    dataType : aclDataType, dtype or str
        Element type.
    stride : sequence of int or None
        Strides [elements]; None is row-major.
    offset : int
        First element from the start of the storage [elements].
    format : aclFormat
        View format; operators here treat every format alike.
    storageDims : sequence of int or None
        Dimensions of the storage; None is viewDims.
    tensorData : Buffer, int or None
        Start of the storage. Not owned, but a Buffer is kept from garbage collection.

    Returns
    -------
    Tensor
        To be destroyed with `aclDestroyTensor`, or by garbage collection.

    Raises
    ------
    AclnnError
        161001 where C returns NULL (no viewDims); 161002 for values that are no numbers.
    """
    function = "aclCreateTensor"
    if viewDims is None:
        _null(function, "viewDims", "a sequence of ints")
    dims = integers(function, "viewDims", viewDims)
    steps = row_major_strides(dims) if stride is None else integers(function, "stride", stride)
    if len(dims) > lib.ACLPY_MAX_RANK:
        limit = f"at most {lib.ACLPY_MAX_RANK} dimensions"
        _invalid(function, "viewDims", f"{len(dims)} dimensions", limit)
    if len(steps) != len(dims):
        _invalid(function, "stride", f"{len(steps)} strides", f"{len(dims)}, one for each viewDim")
    storage = dims if storageDims is None else integers(function, "storageDims", storageDims)
    start = integer(function, "offset", offset)
    number = integer(function, "format", format, bits=32)
    data = memory(function, "tensorData", tensorData)
    desc = TensorDesc(dims, steps, start, storage, _dtype_number(dataType), number)
    return create_tensor(desc, data)


def aclDestroyTensor(tensor: Tensor | None) -> None:
    """Destroy a tensor, not its memory. None is accepted, as NULL is in C.

    Raises
    ------
    AclnnError
        161002 for a tensor that has been destroyed before.
    """
    if tensor is None:
        return
    _tensor("aclDestroyTensor", "tensor", tensor).close()


def aclGetViewShape(tensor: Tensor) -> tuple[int, ...]:
    """View dimensions. Raises AclnnError 161001 for None."""
    return _tensor("aclGetViewShape", "tensor", tensor).shape


def aclGetStorageShape(tensor: Tensor) -> tuple[int, ...]:
    """Storage dimensions. Raises AclnnError 161001 for None."""
    return _tensor("aclGetStorageShape", "tensor", tensor).storage_shape


def aclGetViewStrides(tensor: Tensor) -> tuple[int, ...]:
    """Strides [elements]. Raises AclnnError 161001 for None."""
    return _tensor("aclGetViewStrides", "tensor", tensor).strides


def aclGetViewOffset(tensor: Tensor) -> int:
    """First element from the start of the storage. Raises AclnnError 161001 for None."""
    return _tensor("aclGetViewOffset", "tensor", tensor).offset


def aclGetFormat(tensor: Tensor) -> aclFormat | int:
    """View format. Raises AclnnError 161001 for None."""
    return _tensor("aclGetFormat", "tensor", tensor).format


def aclGetDataType(tensor: Tensor) -> aclDataType:
    """Element type; ACL_DT_UNDEFINED for a number without a name. 161001 for None."""
    return aclDataType(_tensor("aclGetDataType", "tensor", tensor).desc.dtype.value)


def aclGetRawTensorAddr(tensor: Tensor) -> int:
    """Start address of the storage, without the offset. Raises AclnnError 161001 for None."""
    return _tensor("aclGetRawTensorAddr", "tensor", tensor).data_ptr


def aclSetRawTensorAddr(tensor: Tensor, addr: Buffer | int | None) -> None:
    """Point the storage elsewhere; not between the phases. 161001 for a None tensor."""
    address = memory("aclSetRawTensorAddr", "addr", addr)
    _tensor("aclSetRawTensorAddr", "tensor", tensor).set_data_ptr(address)


def aclSetAclOpExecutorRepeatable(executor: Executor) -> None:
    """Allow any number of phase-2 calls; destroy the executor explicitly afterwards.

    Must follow phase 1 immediately.

    Raises
    ------
    AclnnError
        561103 for None; 561000 for a used or unknown executor, one that the vendor's cache
        answered, one with a device copy, or after another phase 1 of this thread.
    """
    handle = _executor_handle("aclSetAclOpExecutorRepeatable", executor)
    status = lib.aclpy_executor_set_repeatable(handle)
    if status:
        raise_last(status, error=AclnnError)
    executor._state = REPEATABLE  # noqa: SLF001  # this call's to set


def aclDestroyAclOpExecutor(executor: Executor) -> None:
    """Destroy an executor. Raises AclnnError 561103 for None, 561000 for an unknown one."""
    status = lib.aclpy_executor_destroy(_executor_handle("aclDestroyAclOpExecutor", executor))
    if status:
        raise_last(status, error=AclnnError)
    executor._state = SPENT  # noqa: SLF001  # nothing is left to destroy


def aclSetInputTensorAddr(
    executor: Executor, index: int, tensor: Tensor, addr: Buffer | int | None
) -> None:
    """Give an input another address; `index` is ignored for these operators.

    Raises
    ------
    AclnnError
        561103 for a None tensor (nothing changes) or a None executor (the address changes).
    """
    _set_address("aclSetInputTensorAddr", executor, index, tensor, addr)


def aclSetOutputTensorAddr(
    executor: Executor, index: int, tensor: Tensor, addr: Buffer | int | None
) -> None:
    """As `aclSetInputTensorAddr`, for an output."""
    _set_address("aclSetOutputTensorAddr", executor, index, tensor, addr)


def aclSetTensorAddr(
    executor: Executor, index: int, tensor: Tensor, addr: Buffer | int | None
) -> None:
    """As `aclSetInputTensorAddr`, for any tensor."""
    _set_address("aclSetTensorAddr", executor, index, tensor, addr)


def aclSetDynamicInputTensorAddr(
    executor: Executor,
    irIndex: int,
    relativeIndex: int,
    tensors: Sequence[Tensor | None],
    addr: Buffer | int | None,
) -> None:
    """Give one tensor of a list another address; `irIndex` is ignored for these operators.

    Raises
    ------
    AclnnError
        561103 for a None list, member or executor; 161002 for relativeIndex past the list.
    """
    _set_in_list("aclSetDynamicInputTensorAddr", executor, irIndex, relativeIndex, tensors, addr)


def aclSetDynamicOutputTensorAddr(
    executor: Executor,
    irIndex: int,
    relativeIndex: int,
    tensors: Sequence[Tensor | None],
    addr: Buffer | int | None,
) -> None:
    """As `aclSetDynamicInputTensorAddr`, for outputs."""
    _set_in_list("aclSetDynamicOutputTensorAddr", executor, irIndex, relativeIndex, tensors, addr)


def aclSetDynamicTensorAddr(
    executor: Executor,
    irIndex: int,
    relativeIndex: int,
    tensors: Sequence[Tensor | None],
    addr: Buffer | int | None,
) -> None:
    """As `aclSetDynamicInputTensorAddr`, for any list."""
    _set_in_list("aclSetDynamicTensorAddr", executor, irIndex, relativeIndex, tensors, addr)


def _set_address(
    function: str,
    executor: Executor | None,
    index: int,
    tensor: Tensor | None,
    addr: Buffer | int | None,
) -> None:
    if tensor is not None and not isinstance(tensor, Tensor):
        _invalid(function, "tensor", describe(tensor), "a Tensor")
    position = integer(function, "index", index)
    address = memory(function, "addr", addr)
    status = lib.aclpy_executor_set_address(
        function.encode(),
        _executor_handle(function, executor),
        position % 2**64,
        0 if tensor is None else tensor.handle,
        0 if address is None else int(address),
    )
    if tensor is not None:
        tensor._moved_to(address)  # noqa: SLF001  # of the same package
    if status:
        raise_last(status, error=AclnnError, function=function)


def _set_in_list(
    function: str,
    executor: Executor | None,
    ir_index: int,
    relative_index: int,
    tensors: Sequence[Tensor | None] | None,
    addr: Buffer | int | None,
) -> None:
    if tensors is None:
        _set_address(function, executor, ir_index, None, addr)
        return
    position = integer(function, "relativeIndex", relative_index)
    if not isinstance(tensors, Sequence):
        _invalid(function, "tensors", describe(tensors), "a list of Tensors")
    if not 0 <= position < len(tensors):
        expected = f"0 to {len(tensors) - 1}" if tensors else "a list that has members"
        _invalid(function, "relativeIndex", str(position), expected)
    _set_address(function, executor, ir_index, tensors[position], addr)


def _executor_handle(function: str, executor: Executor | None) -> int:
    if executor is None:
        return 0
    if not isinstance(executor, Executor):
        _invalid(function, "executor", describe(executor), "the Executor that phase 1 returned")
    return executor.handle


def _tensor(function: str, argument: str, tensor: Tensor | None) -> Tensor:
    if tensor is None:
        _null(function, argument, "a Tensor")
    if not isinstance(tensor, Tensor):
        _invalid(function, argument, describe(tensor), "a Tensor")
    check_open(function, argument, tensor)
    return tensor


def _dtype_number(value: aclDataType | DTypeLike | str) -> int:
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return integer("aclCreateTensor", "dataType", value, bits=32)
    try:
        return as_dtype(value).value
    except KeyError:
        _invalid(
            "aclCreateTensor", "dataType", describe(value), "an aclDataType, a dtype or its name"
        )


def _null(function: str, argument: str, expected: str) -> NoReturn:
    raise operator_error(
        PARAM_NULLPTR,
        function,
        argument,
        "is null",
        got="None (nullptr)",
        expected=expected,
        fix=f"pass {argument}",
    )


def _invalid(function: str, argument: str, got: str, expected: str) -> NoReturn:
    raise operator_error(
        PARAM_INVALID,
        function,
        argument,
        "is refused",
        got=got[:160],
        expected=expected,
        fix=f"correct {argument}",
    )
