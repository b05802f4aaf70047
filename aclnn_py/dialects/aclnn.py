# SPDX-License-Identifier: Apache-2.0
"""The two-phase functions of every operator, built from the specs on first use.

``aclnnSoftmaxGetWorkspaceSize`` and ``aclnnSoftmax`` exist because a spec named "Softmax" does:
C parameter names and order, docstrings from the spec. `aclnn.pyi` is generated from the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aclnn_native import calls
from aclnn_py.core.spec import AttrParam, OpSpec
from aclnn_py.dialects.docstrings import phase_one_doc, phase_two_doc
from aclnn_py.twophase import fail_last, operator, operators
from aclnn_runtime import AclnnError, raise_last

if TYPE_CHECKING:
    from typing import NoReturn

__all__ = sorted(
    name for key in operators for name in (f"aclnn{key}", f"aclnn{key}GetWorkspaceSize")
)

# The functions that users call are made in C, with these behind them, for every call that is not
# what the fast way expects. They are made from source, so that Python itself refuses a call with
# the wrong number or names of arguments.
_TEMPLATE = """
def {planner}({params}):
    return _checked(({tensors},), ({attributes}))


def {function}(workspace, workspaceSize, executor, stream):
    return _checked_execute(workspace, workspaceSize, executor, stream)
"""


def _raise(status: int) -> NoReturn:
    raise_last(status, error=AclnnError)


def _build(spec: OpSpec) -> tuple[Any, Any]:
    door = operator(spec.acl_name)
    params = ", ".join(param.name for param in spec.params)
    source = _TEMPLATE.format(
        planner=spec.planner,
        function=spec.function,
        params=params,
        tensors=", ".join(param.name for param in spec.tensors),
        attributes="".join(f"{param.name}, " for param in spec.attributes),
    )
    scope: dict[str, Any] = {
        "__name__": __name__,
        "_checked": door.get_workspace_size,
        "_checked_execute": door.execute,
    }
    exec(source, scope)  # noqa: S102  # our own template; see above why
    kinds = "".join("i" if isinstance(param, AttrParam) else "t" for param in spec.params)
    first = calls.phase_one(
        spec.planner,
        f"{spec.planner}({params})\n--\n\n{phase_one_doc(spec)}",
        __name__,
        kinds,
        tuple(param.name for param in spec.params),
        (),
        door.plans,
        scope[spec.planner],
        fail_last,
        door.new_entry,
    )
    second = calls.phase_two(
        spec.function,
        f"{spec.function}(workspace, workspaceSize, executor, stream)\n--\n\n{phase_two_doc(spec)}",
        __name__,
        door.number,
        scope[spec.function],
        _raise,
    )
    return first, second


def __getattr__(name: str) -> Any:
    key = name.removeprefix("aclnn").removesuffix("GetWorkspaceSize")
    if not name.startswith("aclnn") or key not in operators:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    first, second = _build(operators[key])
    globals()[first.__name__], globals()[second.__name__] = first, second
    return globals()[name]


def __dir__() -> list[str]:
    return __all__
