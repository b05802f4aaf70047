# SPDX-License-Identifier: Apache-2.0
"""The two-phase functions of every operator, built from the specs on first use.

``aclnnSoftmaxGetWorkspaceSize`` and ``aclnnSoftmax`` exist because a spec named "Softmax" does:
C parameter names and order, docstrings from the spec. `aclnn.pyi` is generated from the same.
"""

from __future__ import annotations

from typing import Any

from aclnn_native import calls
from aclnn_py.core.spec import AttrParam, OpSpec
from aclnn_py.dialects.docstrings import phase_one_doc, phase_two_doc
from aclnn_py.twophase import fail_last, operator, operators
from aclnn_runtime import AclnnError, raise_last

__all__ = sorted(
    name for key in operators for name in (f"aclnn{key}", f"aclnn{key}GetWorkspaceSize")
)

# Real signatures and a hot path without *args need code made for each parameter list. A plan that
# is not cached, and every argument that is not what the fast path expects, goes the checked way.
_TEMPLATE = """
def {planner}({params}):
    try:
        entry = _plans[{key}]
    except (KeyError, AttributeError, TypeError):
        return _checked(({tensors},), ({attributes}))
    if {odd_attribute}:
        return _checked(({tensors},), ({attributes}))
    bind = entry.bind  # not a method to call: looking for one would take longer
    return bind({handles}, ({tensors}, {buffers}, entry)) or _fail()


def {function}(workspace, workspaceSize, executor, stream):
    try:
        status = _execute(
            {number},
            0 if workspace is None else workspace._address if workspace._open else _odd(),
            workspaceSize,
            executor,
            0 if stream is None else stream._handle,
        )
    except (AttributeError, TypeError, OverflowError):
        return _checked_execute(workspace, workspaceSize, executor, stream)
    if status:
        _raise(status, error=_AclnnError)
"""


def _odd() -> int:
    raise TypeError  # sends the call to the checked way, which says what is wrong


def _build(spec: OpSpec) -> tuple[Any, Any]:
    door = operator(spec.acl_name)
    tensors = [param.name for param in spec.tensors]
    attributes = [param.name for param in spec.attributes]
    fields = [
        param.name if isinstance(param, AttrParam) else f"{param.name}._layout"
        for param in spec.params
    ]
    count = len(tensors)
    fields += [f"{tensors[a]} is {tensors[b]}" for a in range(count) for b in range(a + 1, count)]
    handles = [f"{name}._handle" for name in tensors]
    source = _TEMPLATE.format(
        planner=spec.planner,
        function=spec.function,
        number=door.number,
        params=", ".join(param.name for param in spec.params),
        key=", ".join(fields),
        tensors=", ".join(tensors),
        buffers=", ".join(f"{name}._buffer" for name in tensors),
        attributes="".join(f"{name}, " for name in attributes),
        odd_attribute=" or ".join(f"{name}.__class__ is not int" for name in attributes) or "0",
        handles=", ".join(handles),
    )
    scope: dict[str, Any] = {
        "__name__": __name__,
        "_plans": door.plans,
        "_checked": door.get_workspace_size,
        "_checked_execute": door.execute,
        "_execute": calls.execute,
        "_AclnnError": AclnnError,
        "_fail": fail_last,
        "_odd": _odd,
        "_raise": raise_last,
    }
    exec(source, scope)  # noqa: S102  # our own template; see above why
    first, second = scope[spec.planner], scope[spec.function]
    first.__doc__, second.__doc__ = phase_one_doc(spec), phase_two_doc(spec)
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
