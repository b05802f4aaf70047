# SPDX-License-Identifier: Apache-2.0
"""A process with the fake CuPy of tests/cuda: its devices, its record of calls, its faults."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from importlib import import_module

import numpy as np

import aclnn_py as acl
from aclnn_native import ffi, lib
from aclnn_py.backends import cuda_programs
from aclnn_runtime import cuda_queues
from support import oracle
from support.sources import ROOT

FAKE = ROOT / "tests" / "cuda" / "fake"
VALUES = np.arange(12, dtype=np.float32).reshape(3, 4)


def run_softmax(gpu, stream, values):
    """Queues one; its input and result."""
    x, out = gpu.tensor(values), gpu.full(values.shape, 9)
    size, executor = acl.aclnnSoftmaxGetWorkspaceSize(x, -1, out)
    acl.aclnnSoftmax(None, size, executor, stream)
    return x, out


def softmax(values):
    """The oracle's answer."""
    return oracle.answer("Softmax", [values], -1).value.astype(np.float32)


@contextmanager
def installed(monkeypatch, twin):
    """The fake as ``cupy``; afterwards the process has no CUDA device again."""
    for name in [name for name in sys.modules if name.split(".")[0] == "cupy"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(str(FAKE))
    monkeypatch.setenv("FAKE_CUPY_TWIN", str(twin))
    monkeypatch.setenv("CUPY_CACHE_DIR", str(twin.parent / "cache"))
    cupy = import_module("cupy")
    try:
        yield cupy
    finally:
        lib.aclpy_device_table_install(ffi.NULL)
        cuda_queues.forget_all()
        for cached in (cuda_programs._kernel, cuda_programs._module, cuda_programs.processors):
            cached.cache_clear()
        cuda_queues._thread.__dict__.clear()
        cuda_programs.launch.cache_clear()
        for name in [name for name in sys.modules if name.split(".")[0] == "cupy"]:
            del sys.modules[name]


_holds: list[Hold] = []


def let_all_go():
    """At the end of a test, whatever became of it: streams are waited for."""
    while _holds:
        _holds.pop().let_go()


class Hold:
    """Keeps a stream of the fake busy until it is let go."""

    def __init__(self, cupy, stream):
        self._free = threading.Event()
        pointer = stream.__cuda_stream__()[1] if hasattr(stream, "__cuda_stream__") else stream
        _holds.append(self)
        cupy.cuda.runtime._stream(pointer).add(self._free.wait)

    def let_go(self):
        self._free.set()


def names(cupy) -> list[str]:
    """What was called, in order."""
    return [call[0] for call in cupy.cuda.runtime.calls]
