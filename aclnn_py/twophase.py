# SPDX-License-Identifier: Apache-2.0
"""The door between every dialect and the planner: plan, bind, execute.

Phase 1 looks the plan up by the tensors' interned layouts; a hit costs one dict lookup and one
native call. A miss runs the planner and keeps its plan. Phase 2 is one native call.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from operator import index
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

from aclnn_native import calls, lib
from aclnn_py.backends import BACKENDS, GPU_BACKENDS, native_plan, operator_id
from aclnn_py.core import settings
from aclnn_py.core.errors import PARAM_INVALID, operator_error
from aclnn_py.core.executor import Executor
from aclnn_py.core.tensor import Tensor
from aclnn_py.ops._index import DIALECTS, INDEX
from aclnn_py.plan import plan as planner
from aclnn_py.plan.explain import explain_plan
from aclnn_py.plan.problem import new_problem
from aclnn_runtime import AclnnError, Buffer, Stream, raise_last
from aclnn_runtime.arguments import describe, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aclnn_py.backends.native_plan import Filler
    from aclnn_py.core.desc import TensorDesc
    from aclnn_py.core.extras import Algorithm, Extras
    from aclnn_py.core.spec import OpSpec
    from aclnn_py.plan.plan import Plan

__all__ = [
    "Executor",
    "Operator",
    "dialect_operators",
    "explain",
    "fail_last",
    "fused_backward",
    "fused_forward",
    "make_plan",
    "operator",
    "operators",
]

_PLANS_KEPT: Final = 4096
# The NumPy backend joins no chain, so it needs no shape.
_FILLERS: Final = cast(
    "Mapping[str, Filler]", {one.name: one for one in (*BACKENDS, *GPU_BACKENDS)}
)


class _Operators(Mapping[str, "OpSpec"]):
    """Specs by key; a family's file is imported on first use."""

    def __init__(self, index: Mapping[str, str]) -> None:
        self._index = index

    def __getitem__(self, name: str) -> OpSpec:
        module = import_module(f"aclnn_py.ops.{self._index[name]}")
        specs: tuple[OpSpec, ...] = module.SPECS
        return next(spec for spec in specs if spec.key == name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)


#: The ``aclnn`` operators, by vendor name without prefix: ``"Softmax"``.
operators: Final[Mapping[str, OpSpec]] = _Operators(INDEX)
#: Operators that other dialects define, by dialect and name: ``"onnxruntime.SoftmaxGrad"``.
dialect_operators: Final[Mapping[str, OpSpec]] = _Operators(DIALECTS)


class Entry(calls.Binder):
    """A cached plan, the way the hot path wants it; owns its native form.

    Attributes
    ----------
    plan : Plan
        What it does.
    """

    __slots__ = ("plan",)
    plan: Plan


class Plans(dict[tuple[object, ...], Entry]):
    """Entries by key. Phase-1 functions in C remember some, so they are told when any goes."""

    __slots__ = ()

    def clear(self) -> None:
        """Drop all."""
        super().clear()
        calls.forget_plans()

    def drop_first(self) -> None:
        """Drop the oldest, unless another thread changes them just now."""
        with suppress(RuntimeError, StopIteration):
            self.pop(next(iter(self)), None)
        calls.forget_plans()


class Operator:
    """One operator behind the door: its spec, its number, its plans.

    Attributes
    ----------
    spec : OpSpec
        What it is.
    number : int
        Its native number.
    plans : dict
        Entries by (layout and attribute of each parameter in C order, alias pattern).
    """

    __slots__ = ("_numbers", "number", "plans", "spec")

    def __init__(self, spec: OpSpec) -> None:
        self.spec = spec
        self.number = operator_id(spec.function)
        self._numbers = [param.kind == "attr" for param in spec.params]  # the others are tensors
        self.plans = Plans()
        settings.on_change(self.plans.clear)

    def get_workspace_size(
        self, tensors: Sequence[Tensor | None], attributes: Sequence[object]
    ) -> tuple[int, Executor]:
        """Phase 1.

        Parameters
        ----------
        tensors : sequence of Tensor or None
            In C order.
        attributes : sequence of object
            In C order.

        Returns
        -------
        workspace_size : int
            What phase 2 needs [bytes].
        executor : Executor
            Bound to `tensors`.

        Raises
        ------
        AclnnError
            As the operator's checks say; nothing is kept then.
        """
        entry, bound = self._entry(tensors, attributes)
        keep = (*bound, *[tensor._buffer for tensor in bound], entry)  # noqa: SLF001  # hot path
        return entry.bind(*[tensor.handle for tensor in bound], keep) or fail_last()

    def execute(
        self, workspace: object, workspace_size: object, executor: object, stream: object
    ) -> None:
        """Phase 2; enqueues and returns.

        Parameters
        ----------
        workspace : Buffer, int or None
            At least `workspace_size` bytes of device memory; ``None`` for size 0.
        workspace_size : int
            What phase 1 said [bytes].
        executor : Executor
            Of this operator's phase 1.
        stream : Stream or None
            ``None`` is the default stream of the thread's current context.

        Raises
        ------
        AclnnError
            161001, 161002 or 361001; after the two latter nothing is queued and the executor
            stays usable.
        """
        function = self.spec.function
        address = _uint64(
            function,
            "workspace",
            _address(function, workspace),
            "a Buffer, an address (an unsigned 64-bit integer), or None for none",
        )
        size = _uint64(
            function, "workspaceSize", workspace_size, "an unsigned 64-bit integer, as phase 1 said"
        )
        queue = self._check_objects(executor, stream)
        status = (
            lib.aclpy_execute(self.number, address, size, 0, queue)
            if executor is None
            else calls.execute(self.number, address, size, executor, queue)
        )
        if status:
            raise_last(status, error=AclnnError)

    def _check_objects(self, executor: object, stream: object) -> int:
        function = self.spec.function
        if executor is not None and not isinstance(executor, Executor):
            _refuse(function, "executor", executor, "the Executor that phase 1 returned")
        if stream is not None and not isinstance(stream, Stream):
            _refuse(function, "stream", stream, "a Stream, or None for the default one")
        return 0 if stream is None else stream.handle

    def _entry(
        self, tensors: Sequence[Tensor | None], attributes: Sequence[object]
    ) -> tuple[Entry, tuple[Tensor, ...]]:
        self._check_types(tensors)
        values = [_plain(value) for value in attributes]
        known = tuple([tensor for tensor in tensors if tensor is not None])
        if len(known) < len(tensors):
            descs = [None if tensor is None else tensor.desc for tensor in tensors]
            make_plan(self.spec, descs, values)
            raise AssertionError(self.spec.acl_name)
        self._check_open(known)
        key = self._key(known, values)
        try:
            entry = self.plans.get(key)
        except TypeError:  # an unhashable attribute, which the planner is about to refuse
            entry = None
        return entry or self.new_entry(key, known, values), known

    def new_entry(
        self, key: tuple[object, ...], tensors: Sequence[Tensor], values: Sequence[object]
    ) -> Entry:
        """Plan a call that is not in `plans`, and put it there.

        Parameters
        ----------
        key : tuple
            Of the call.
        tensors : sequence of Tensor
            In C order.
        values : sequence of object
            Attributes in C order.

        Raises
        ------
        AclnnError
            As the operator's checks say.
        """
        # Tensors of the first one's layout share its description: its facts are worked out once.
        layout, desc = tensors[0]._layout, tensors[0]._desc  # noqa: SLF001  # this is timed
        descs = [desc if one._layout == layout else one._desc for one in tensors]  # noqa: SLF001
        return self._new_entry(key, descs, values)

    def entry_of(
        self,
        layouts: Sequence[int],
        descs: Sequence[TensorDesc | None],
        values: Sequence[object],
        same: Sequence[bool],
    ) -> Entry:
        """The entry of a call whose tensors only C knows.

        Parameters
        ----------
        layouts : sequence of int
            Interned layouts in C order; 0 for NULL.
        descs : sequence of TensorDesc or None
            What they stand for.
        values : sequence of object
            Attributes in C order.
        same : sequence of bool
            For each pair of tensors, whether both are one object.

        Raises
        ------
        AclnnError
            As the operator's checks say.
        """
        key = self._key_of(layouts, values, same)
        return self.plans.get(key) or self._new_entry(key, descs, values)

    def _new_entry(
        self,
        key: tuple[object, ...],
        descs: Sequence[TensorDesc | None],
        values: Sequence[object],
    ) -> Entry:
        """Plan and keep; where another thread was faster, its plan is the one that counts."""
        plan = make_plan(self.spec, descs, values)
        entry = Entry(Executor, native_plan(plan, _FILLERS), plan.workspace_bytes)
        entry.plan = plan
        # Without a lock, which a fork or a finalizer could leave held: each step is atomic.
        while len(self.plans) >= _PLANS_KEPT:
            self.plans.drop_first()
        return self.plans.setdefault(key, entry)

    def _key(self, tensors: tuple[Tensor, ...], values: Sequence[object]) -> tuple[object, ...]:
        layouts = [tensor._layout for tensor in tensors]  # noqa: SLF001  # a hot-path field
        count = len(tensors)
        same = [tensors[a] is tensors[b] for a in range(count) for b in range(a + 1, count)]
        return self._key_of(layouts, values, same)

    def _key_of(
        self, layouts: Sequence[int], values: Sequence[object], same: Sequence[bool]
    ) -> tuple[object, ...]:
        # The same order as the generated fast path of the aclnn dialect.
        rest = iter(layouts)
        # 1 and 1.0 are equal as keys but not as attributes.
        numbers = iter([v if type(v) is int else (type(v).__name__, v) for v in values])
        fields = [next(numbers) if number else next(rest) for number in self._numbers]
        return (*fields, *same)

    def _check_types(self, tensors: Sequence[object]) -> None:
        for param, tensor in zip(self.spec.tensors, tensors, strict=True):
            if tensor is not None and not isinstance(tensor, Tensor):
                _refuse(
                    self.spec.planner,
                    param.name,
                    tensor,
                    "a Tensor (Device.tensor() or aclCreateTensor())",
                )

    def _check_open(self, tensors: tuple[Tensor, ...]) -> None:
        for param, tensor in zip(self.spec.tensors, tensors, strict=True):
            if not tensor._open:  # noqa: SLF001  # this is timed
                raise operator_error(
                    PARAM_INVALID,
                    self.spec.planner,
                    param.name,
                    "has been destroyed",
                    got=repr(tensor),
                    expected="a tensor that is still alive",
                    fix=f"destroy {param.name} after phase 1, not before",
                )


@cache
def operator(name: str) -> Operator:
    """The operator ``"Softmax"`` of the vendor, or another dialect's ``"onnx.Exp"``."""
    settings.current()
    return Operator(_spec(name))


def _spec(name: str) -> OpSpec:
    return dialect_operators[name] if name in DIALECTS else operators[name]


@cache
def fused_forward(extras: Extras) -> Operator:
    """Forward softmax with extras; tensors and attribute as its spec lists them."""
    settings.current()
    return Operator(import_module("aclnn_py.ops.softmax_fused").forward_spec(extras))


@cache
def fused_backward(algorithm: Algorithm) -> Operator:
    """Backward softmax whose result may differ in dtype from its inputs."""
    settings.current()
    return Operator(import_module("aclnn_py.ops.softmax_fused").backward_spec(algorithm))


def make_plan(spec: OpSpec, descs: Sequence[TensorDesc | None], values: Sequence[object]) -> Plan:
    """Plan one call under the settings in force, without tensors or a device.

    Parameters
    ----------
    spec : OpSpec
        The operator.
    descs : sequence of TensorDesc or None
        Tensor arguments in C order.
    values : sequence of object
        Attributes in C order.

    Raises
    ------
    AclnnError
        As the operator's checks say.
    """
    now = settings.current()
    device = "cpu"
    for desc in reversed(descs):
        if desc is not None:
            device = desc.device
            desc.look()
    # As many as there are parameters, by all callers. What is None the first check refuses.
    tensors: Any = dict(zip(spec.tensor_named, descs))  # noqa: B905  # this is timed
    problem = new_problem(
        (
            spec,
            tensors,
            dict(zip(spec.attribute_named, values)),  # noqa: B905
            now.profile,
            now.strict,
            now.fuse and device == "cpu",
        )
    )
    known = BACKENDS if device == "cpu" else GPU_BACKENDS
    allowed = known if now.fallback == "allow" else known[:1]
    plan = planner.make_plan(problem, allowed)
    if now.explain:
        sys.stderr.write(explain_plan(plan, refusals=now.explain > 1) + "\n")
    return plan


def explain(name: str, descs: Sequence[TensorDesc | None], values: Sequence[object]) -> str:
    """What phase 1 would decide, as text: steps, kernels, refusals, workspace."""
    spec = _spec(name)
    for kind, params, given in (
        ("tensors", spec.tensors, descs),
        ("attributes", spec.attributes, values),
    ):
        if len(params) != len(given):
            names = ", ".join(param.name for param in params)
            raise ValueError(f"{name} has {len(params)} {kind} ({names}), got {len(given)}")
    return make_plan(spec, descs, values).explain()


def fail_last() -> NoReturn:
    """Raise the native library's last error of this thread as an AclnnError."""
    raise_last(int(lib.aclpy_error_last().status), error=AclnnError)


def _plain(value: object) -> object:
    """NumPy integers and enumerations as int, so that equal values share a plan."""
    if type(value) is int or isinstance(value, float) or not hasattr(value, "__index__"):
        return value
    try:
        return index(value)
    except TypeError:  # an array of several numbers, say, which the planner is about to refuse
        return value


def _address(function: str, workspace: Any) -> object:
    if workspace is None:
        return 0
    if isinstance(workspace, Buffer):
        if workspace.closed:
            _refuse(function, "workspace", workspace, "a Buffer that has not been freed")
        return workspace.ptr
    return workspace


def _uint64(function: str, argument: str, value: Any, expected: str) -> int:
    number = whole_number(value)
    if number is None or not 0 <= number < 2**64:
        _refuse(function, argument, value, expected)
    return number


def _refuse(function: str, argument: str, value: object, expected: str) -> NoReturn:
    raise operator_error(
        PARAM_INVALID,
        function,
        argument,
        "is of the wrong kind",
        got=describe(value),
        expected=expected,
        fix=f"pass {argument} as the signature says",
    )
