# SPDX-License-Identifier: Apache-2.0
# The extension module of native/cffi/call*.c.
from collections.abc import Callable
from typing import Any

from typing_extensions import Self

SPENT: int
ONE_SHOT: int
REPEATABLE: int
DEVICE: int
DEVICE_UNTIL: int
EVENT: int
EVENT_UNTIL: int
MEMORY: int
REPORT: int
STREAM: int
STREAM_CLOSE: int
STREAM_DESTROY: int
STREAM_UNTIL: int

class Noun:
    _handle: int
    _open: bool

class Tensor(Noun):
    _layout: int
    _buffer: object

class Queue(Noun):
    _context: int

class Stream(Queue):
    def synchronize(self, timeout_ms: int = -1) -> None: ...

class PrimitiveStream(Queue):
    def wait(self) -> None: ...

class Executor:
    _handle: int
    _keep: tuple[Any, ...]
    _state: int

class Binder:
    handle: int
    workspace_bytes: int
    # Owns the plan from now on.
    def __new__(cls, executor_type: type[Executor], plan: int, workspace_bytes: int) -> Self: ...
    # The handles of the tensors, then what to keep.
    def bind(self, *arguments: Any) -> tuple[int, Any] | None: ...

class Prepared:
    def _prepare(
        self,
        number: int,
        workspace: int,
        size: int,
        executor: Executor,
        call: tuple[object, ...],
        moves: int,
        /,
    ) -> None: ...
    def _forget(self) -> None: ...

def dense_numel(dims: tuple[int, ...], strides: tuple[int, ...], /) -> int: ...
def execute(
    operator: int, workspace: int, workspace_size: int, executor: object, stream: int, /
) -> int: ...
def forget_plans() -> None: ...
def moved() -> None: ...
def moves() -> int: ...
def phase_one(
    name: str,
    doc: str,
    module: str,
    kinds: str,
    names: tuple[str, ...],
    defaults: tuple[int, ...],
    plans: dict[Any, Any],
    checked: Callable[..., object],
    fail: Callable[[], object],
    missing: Callable[..., Binder] | None = None,
) -> Callable[..., tuple[int, Any]]: ...
def phase_two(
    name: str,
    doc: str,
    module: str,
    number: int,
    checked: Callable[..., object],
    fail: Callable[[int], object],
) -> Callable[..., None]: ...
def plan(
    operator: int,
    flags: int,
    workspace_bytes: int,
    slots: tuple[tuple[Any, ...], ...],
    steps: tuple[tuple[Any, ...], ...],
    launches: tuple[tuple[int, int, int], ...],
    hazards: tuple[tuple[int, int], ...],
    refusal: str | None,
    alignment: int,
    n_chains: int,
    chains: int,
    /,
) -> int: ...
def wait(what: int, /, *numbers: int) -> int: ...
def watch(watcher: Callable[[Any], object] | None, /) -> Callable[[Any], object] | None: ...
