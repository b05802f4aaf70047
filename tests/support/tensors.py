# SPDX-License-Identifier: Apache-2.0
"""Tensors from one line of text, ``"FLOAT[2,3] strides=1,2 offset=4 storage=12 format=NCHW"``.

``DT5`` spells an element type with a number only, a leading ``destroyed`` a tensor that is gone.
"""

from __future__ import annotations

import re

import pytest

import aclnn_py as acl

_LINE = re.compile(r"(?P<gone>destroyed )?(?P<dtype>\w+)\[(?P<dims>[-\d,]*)\](?P<options>.*)")

SOCS = {
    "910": "Ascend910", "910B": "Ascend910B", "910_93": "Ascend910_93", "950": "Ascend950",
    "910E": "Ascend910E", "310": "Ascend310", "310P": "Ascend310P", "310B": "Ascend310B",
    "310C": "Ascend310C", "610Lite": "Ascend610Lite", "350": "Ascend350",
    "KirinX90": "KirinX90", "Kirin9030": "Kirin9030",
}  # fmt: skip


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",") if part]


def _dtype(name: str) -> int:
    if re.fullmatch(r"DT\d+", name):
        return int(name[2:])
    return getattr(acl, f"ACL_{name}")


def build(line, data=None):
    """The tensor that `line` describes, over `data`; what is no string is passed on as it is."""
    if not isinstance(line, str):
        return line
    match = _LINE.fullmatch(line)
    assert match, f"unreadable tensor: {line!r}"
    options = dict(option.split("=") for option in match["options"].split())
    unknown = options.keys() - {"strides", "offset", "storage", "format"}
    assert not unknown, unknown
    dims = _numbers(match["dims"])
    tensor = acl.aclCreateTensor(
        dims,
        _dtype(match["dtype"]),
        _numbers(options["strides"]) if "strides" in options else None,
        int(options.get("offset", 0)),
        getattr(acl, f"ACL_FORMAT_{options.get('format', 'ND')}"),
        _numbers(options["storage"]) if "storage" in options else None,
        data,
    )
    if match["gone"]:
        acl.aclDestroyTensor(tensor)
    return tensor


def planner(operator: str):
    return getattr(acl, f"aclnn{operator}GetWorkspaceSize")


def runner(operator: str):
    return getattr(acl, f"aclnn{operator}")


STATUS_NAMES = {
    100000: "ACL_ERROR_INVALID_PARAM",
    161001: "ACLNN_ERR_PARAM_NULLPTR",
    161002: "ACLNN_ERR_PARAM_INVALID",
    361001: "ACLNN_ERR_RUNTIME_ERROR",
    561000: "ACLNN_ERR_INNER",
    561003: "ACLNN_ERR_INNER_FIND_KERNEL_ERROR",
    561101: "ACLNN_ERR_INNER_CREATE_EXECUTOR",
    561103: "ACLNN_ERR_INNER_NULLPTR",
}


def check_error(error: BaseException, status: int, *, operator=None, argument=None) -> str:
    """Every promise about one error: numbers, names, a text with what, got, expected, fix."""
    assert isinstance(error, acl.AclError)
    text = str(error)
    assert error.status == status, text
    if status in STATUS_NAMES:
        assert error.status_name == STATUS_NAMES[status], text
        assert error.status_name in text
    assert str(status) in text
    if operator is not None:
        assert isinstance(error, acl.AclnnError), type(error)
        assert error.operator in (f"aclnn{operator}", f"aclnn{operator}GetWorkspaceSize"), (
            error.operator
        )
        assert f"aclnn{operator}" in text
    if argument is not None:
        assert error.argument in argument.split("/"), f"{error.argument!r} blamed:\n{text}"
        assert f"'{error.argument}'" in text, text
    for line in ("got:", "expected:", "fix:"):
        found = re.search(rf"^ *{line} *(.*)$", text, re.MULTILINE)
        assert found, f"no {line!r} in:\n{text}"
        assert found[1].strip(), f"empty {line!r} in:\n{text}"
    assert error.hint, text
    return text


def refused(status, argument, function, *values, **named) -> str:
    """Call `function`, which must refuse; its text, after `check_error`."""
    with pytest.raises(acl.AclError) as caught:
        function(*values, **named)
    return check_error(caught.value, status, argument=argument)
