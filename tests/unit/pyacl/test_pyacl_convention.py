# SPDX-License-Identifier: Apache-2.0
"""pyACL's convention: positional arguments, exceptions for wrong ones, refusals by name."""

from __future__ import annotations

import importlib
from types import ModuleType

import pytest

import aclnn_py.pyacl as acl

# ---- the convention ----

ROOMS = {"acl": acl, "acl.rt": acl.rt, "acl.util": acl.util}


def calls():
    for room, module in ROOMS.items():
        for name in module.__all__:
            if callable(found := getattr(module, name)):
                yield f"{room}.{name}", found


@pytest.mark.parametrize(("name", "call"), list(calls()))
def test_names_and_positional_arguments(name, call):
    assert call.__name__ == name.rpartition(".")[2]
    assert call.__doc__
    with pytest.raises(TypeError):
        call(*[1] * 9)
    with pytest.raises(TypeError):
        call(surely_no_name=1)


@pytest.mark.parametrize(
    ("call", "arguments", "error"),
    [
        (acl.rt.free, (None,), TypeError),
        (acl.rt.free, ("1",), TypeError),
        (acl.rt.free, (1.0,), TypeError),
        (acl.rt.free, (-1,), ValueError),
        (acl.rt.set_device, (2**31,), ValueError),
        (acl.rt.create_stream_with_config, (-1, 0), ValueError),
        (acl.rt.malloc_with_cfg, (8, 0, None), TypeError),
        (acl.rt.launch_callback, (3, None, 0, 0), TypeError),
        (acl.rt.launch_host_func, (0, None, 0), TypeError),
        (acl.rt.set_exception_info_callback, (3,), TypeError),
        (acl.init, (None,), TypeError),
        (acl.init, ("a\0b",), ValueError),
        (acl.init, ("\ud800",), ValueError),
        (acl.get_version_str, (b"runtime",), TypeError),
        (acl.create_tensor_desc, (0, 3, 2), TypeError),
        (acl.create_tensor_desc, (0, [None], 2), TypeError),
        (acl.float16_to_float, (65536,), ValueError),
        (acl.float_to_float16, ("1",), TypeError),
        (acl.util.bytes_to_ptr, ("text",), TypeError),
        (acl.util.ptr_to_bytes, (1, -1), ValueError),
        (acl.util.numpy_to_ptr, ([1],), TypeError),
        (acl.util.ptr_to_numpy, (1, [1], 11), TypeError),
        (acl.util.start_thread, (None, ()), TypeError),
    ],
)
def test_wrong_arguments_are_exceptions(call, arguments, error):
    with pytest.raises(error, match=r"acl\."):  # a sentence of ours
        call(*arguments)


@pytest.mark.parametrize("part", ["mdl", "op", "blas", "media", "himpi", "fv", "prof"])
def test_what_is_outside_refuses_by_name(part):
    found = getattr(acl, part)
    assert not hasattr(found, "load")
    with pytest.raises(AttributeError, match=rf"acl\.{part}\.load is outside of aclnn_py\.pyacl"):
        found.load("model.om")


def test_other_names_refuse_by_name():
    for module, name in ((acl, "acl.create_dataset"), (acl.rt, "acl.rt.launch_kernel")):
        with pytest.raises(AttributeError, match=f"{name} is outside"):
            getattr(module, name.rpartition(".")[2])
    with pytest.raises(AttributeError, match=r"acl\.util\.vector_to_ptr is outside"):
        acl.util.vector_to_ptr  # noqa: B018  # asking is the test
    assert isinstance(importlib.import_module("aclnn_py.pyacl.rt"), ModuleType)
