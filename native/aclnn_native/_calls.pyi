# SPDX-License-Identifier: Apache-2.0
# The extension module of native/cffi/calls.c.
from collections.abc import Callable
from typing import Any

SPENT: int
ONE_SHOT: int
REPEATABLE: int

class Executor:
    _handle: int
    _keep: tuple[Any, ...]
    _state: int

class Binder:
    def __init__(self, executor_type: type[Executor], plan: int, workspace_bytes: int) -> None: ...
    # The handles of the tensors, then what to keep.
    def bind(self, *arguments: Any) -> tuple[int, Any] | None: ...

def execute(
    operator: int, workspace: int, workspace_size: int, executor: object, stream: int, /
) -> int: ...
def synchronize(context: int, stream: int, /) -> int: ...
def watch(watcher: Callable[[Any], object] | None, /) -> Callable[[Any], object] | None: ...
