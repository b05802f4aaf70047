# SPDX-License-Identifier: Apache-2.0
"""The driver's C functions over the fake CuPy, for the engine's short way to it.

They stand where ``libcuda`` would: the engine calls them from C, and they do, and record, what the
fake's own functions do.
"""

from __future__ import annotations

import ctypes
import threading

_INT, _UNSIGNED, _VOID = ctypes.c_int32, ctypes.c_uint32, ctypes.c_void_p
_OUT = ctypes.POINTER(ctypes.c_void_p)
_UNKNOWN = 999
_kept = threading.local()


def _stay() -> None:
    """Let the thread keep its Python state, and so the fake's context, between two calls from C."""
    if not getattr(_kept, "state", False):
        ctypes.pythonapi.PyGILState_Ensure()
        _kept.state = True


def _function(*arguments):
    """A C function that answers with the number of the exception of its body."""

    def decorate(body):
        def answer(*given):
            _stay()
            try:
                body(*given)
            except Exception as error:  # noqa: BLE001  # C knows none
                return getattr(error, "status", _UNKNOWN)
            return 0

        return ctypes.CFUNCTYPE(_INT, *arguments)(answer)

    return decorate


class Driver:
    """Stands in for the loaded ``libcuda``; `called` are its own calls, by their C names."""

    def __init__(self, cupy):
        runtime, driver = cupy.cuda.runtime, cupy.cuda.driver
        self.called: list[str] = []
        self.retained: list[int] = []

        def note(name):
            self.called.append(name)

        @_function(_VOID, *[_UNSIGNED] * 7, _VOID, _OUT, _VOID)
        def launch(kernel, *rest):
            note("cuLaunchKernel")
            *grid, queue, params, extra = rest
            place = ctypes.cast(params, _VOID).value
            driver.launchKernel(kernel, *grid, queue or 0, place, extra or 0)

        @_function(_VOID)
        def synchronize(queue):
            note("cuStreamSynchronize")
            runtime.streamSynchronize(queue)

        @_function(_VOID, _VOID)
        def record(event, queue):
            note("cuEventRecord")
            runtime.eventRecord(event, queue)

        @_function(_VOID, _VOID, _UNSIGNED)
        def wait(queue, event, flags):
            note("cuStreamWaitEvent")
            runtime.streamWaitEvent(queue, event, flags)

        @_function(_OUT)
        def get_context(place):
            place[0] = driver.ctxGetCurrent() or None

        @_function(_VOID)
        def set_context(context):
            note("cuCtxSetCurrent")
            driver.ctxSetCurrent(context or 0)

        @_function(_OUT, _INT)
        def retain(place, device):
            self.retained.append(device)
            place[0] = driver._CONTEXTS + device

        self.cuLaunchKernel, self.cuStreamSynchronize = launch, synchronize
        self.cuEventRecord, self.cuStreamWaitEvent = record, wait
        self.cuCtxGetCurrent, self.cuCtxSetCurrent = get_context, set_context
        self.cuDevicePrimaryCtxRetain = retain
