# SPDX-License-Identifier: Apache-2.0
"""Primitive: executes a primitive descriptor with memory, on a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from aclnn_native import calls
from aclnn_py.dialects.acl_tensor import aclSetAclOpExecutorRepeatable
from aclnn_py.dialects.onednn import engines
from aclnn_py.dialects.onednn.enums import DNNL_ARG_SCRATCHPAD, scratchpad_mode
from aclnn_py.dialects.onednn.execution import check_arguments, check_stream
from aclnn_py.dialects.onednn.primitive_desc import softmax_primitive_desc
from aclnn_py.dialects.onednn.statuses import refuse, status, translated, translation
from aclnn_runtime import AclError, AclnnError, raise_last
from aclnn_runtime.arguments import describe

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

    from aclnn_py.core.executor import Executor
    from aclnn_py.core.tensor import Tensor
    from aclnn_py.dialects.onednn.engines import stream as stream_type
    from aclnn_py.dialects.onednn.memories import memory
    from aclnn_runtime import Buffer

__all__ = ["primitive"]


_INTEGER: Final = frozenset([int])


class _Binding(NamedTuple):
    """An executor and what it was bound to."""

    args: dict[int, memory]
    moves: int
    executor: Executor
    workspace_bytes: int
    repeatable: bool


class primitive(calls.Prepared):
    """An executable softmax.

    Parameters
    ----------
    pd : primitive descriptor
        Of this direction, made for an engine with a device.
    """

    primitive_desc: type[softmax_primitive_desc]

    def __init__(self, pd: softmax_primitive_desc) -> None:
        name = type(self).__qualname__
        if not isinstance(pd, self.primitive_desc):
            refuse(
                status.invalid_arguments,
                name,
                "pd",
                "is no descriptor of this primitive",
                got=describe(pd),
                expected=f"a {name}.primitive_desc",
                fix=f"make one with {name}.primitive_desc(engine, ...)",
            )
        if not isinstance(pd.engine, engines.engine):
            refuse(
                status.runtime_error,
                name,
                "pd",
                "was made for an engine without a device",
                got=repr(pd.engine),
                expected="a primitive descriptor of an engine",
                fix="a description serves checks only; pass engine(engine_kind.cpu, 0)",
            )
        self._pd = pd
        self._engine = pd.engine
        self._number = pd.operator.number
        self._function = f"{name}.execute"
        self._in_user_mode = pd.get_primitive_attr().get_scratchpad_mode() is scratchpad_mode.user
        self._bound: _Binding | None = None

    if TYPE_CHECKING:

        def execute(self, stream: stream_type, args: Mapping[int, memory]) -> None:
            """Submit to a stream; the docstring at run time is the base's."""

    def get_primitive_desc(self) -> softmax_primitive_desc:
        """The descriptor it was made from."""
        return self._pd

    def __repr__(self) -> str:
        return f"<{type(self).__qualname__} {self._pd}>"

    # `execute` is the base's, in C: it runs what `_prepare` gave it while it is called with the
    # same objects, and comes here for everything else.
    def _execute(self, stream: stream_type, args: Mapping[int, memory]) -> None:
        moves, bound = calls.moves(), self._bound
        if bound is None or bound.moves != moves or not self._fits(bound, stream, args):
            bound = self._bind(stream, args, moves)
        if bound is not None:
            self._run(bound, stream, args)

    _execute.__qualname__ = "primitive.execute"  # what a TypeError names

    def _fits(self, bound: _Binding, stream: object, args: object) -> bool:
        # Memory objects are equal only to themselves. What is no mapping of them, and may compare
        # in its own way, goes through the checks.
        try:
            return (
                type(args) is dict
                and args == bound.args
                and _INTEGER.issuperset(map(type, args))  # True and 1.0 are equal to 1, too
                and type(stream) is engines.stream
                and stream.engine is self._engine
            )
        except ValueError:
            return False

    def _bind(self, stream: stream_type, args: Mapping[int, memory], moves: int) -> _Binding | None:
        """Check everything and do phase 1; None for a call with nothing to do."""
        name = self._function
        check_stream(name, stream, self._engine)
        found = check_arguments(name, self._pd, args)
        if self._pd.is_empty:
            for argument, memory in zip(self._pd.arguments, found, strict=True):
                if argument.written and not argument.desc.is_empty:
                    with translated(name):  # statistics of empty rows
                        memory.zero_on(stream.runtime_stream)
            return None
        with translated(name):
            tensors = [self._tensor(memory) for memory in found]
            size, executor = self._pd.operator.get_workspace_size(tensors, [self._pd.get_axis()])
        # A host scalar is copied when it is passed, so such calls are bound anew each time.
        repeatable = all(memory.value is None for memory in found) and _may_repeat(executor)
        binding = _Binding(dict(args), moves, executor, size, repeatable)
        self._bound = binding if repeatable else None
        return binding

    def _tensor(self, memory: memory) -> Tensor:
        if memory.tensor is not None:
            return memory.tensor
        assert memory.value is not None, memory
        return self._engine.device.tensor([memory.value], memory.desc.row.numpy)

    def _run(self, bound: _Binding, stream: stream_type, args: Mapping[int, memory]) -> None:
        size, executor = bound.workspace_bytes, bound.executor
        self._forget()
        try:
            workspace = self._workspace(size, args) if size else None
            if not bound.repeatable:
                self._pd.operator.execute(workspace, size, executor, stream.runtime_stream)
                return
            number, address = self._number, int(workspace or 0)
            code = calls.execute(number, address, size, executor, stream._handle)  # noqa: SLF001
        except AclError as error:
            raise translation(self._function, error) from error
        if code:
            self._refused(code)
        self._let_repeat(bound, self, (stream, args))

    def let_repeat(
        self, args: Mapping[int, memory], other: calls.Prepared, call: tuple[object, ...]
    ) -> None:
        """Let `other` repeat an execution with `args` while it is called as in `call`.

        Nothing happens where each call needs a scratchpad of its own, or cannot be repeated, or
        where another thread has executed with other arguments since.
        """
        bound = self._bound
        if bound is not None and bound.args == args:
            self._let_repeat(bound, other, call)

    def _let_repeat(self, bound: _Binding, other: calls.Prepared, call: tuple[object, ...]) -> None:
        # Not self._bound, which may be another thread's by now.
        if not bound.repeatable or (bound.workspace_bytes and not self._in_user_mode):
            return
        size = bound.workspace_bytes
        workspace = int(self._workspace(size, bound.args) or 0) if size else 0
        other._prepare(self._number, workspace, size, bound.executor, call, bound.moves)  # noqa: SLF001

    def _refused(self, code: int) -> NoReturn:
        try:
            raise_last(code, error=AclnnError)
        except AclError as error:
            raise translation(self._function, error) from error

    def _workspace(self, size: int, args: Mapping[int, memory]) -> Buffer | int | None:
        if self._in_user_mode:
            return args[DNNL_ARG_SCRATCHPAD].handle
        return self._engine.device.malloc(size)


def _may_repeat(executor: Executor) -> bool:
    try:
        aclSetAclOpExecutorRepeatable(executor)
    except AclnnError:  # some plans run once only; the next call makes a new executor
        return False
    return True
