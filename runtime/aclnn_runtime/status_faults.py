# SPDX-License-Identifier: Apache-2.0
"""Statuses of calls that were right: what ran out, what failed, what an NPU alone reports.

Each row: the statuses it is about, the usual cause, the fix.
"""

from __future__ import annotations

from typing import Final

__all__ = ["FAULTS"]

_MODEL: Final = (
    "an offline model, which this emulator does not run",
    "check the .om file and the ids passed to aclmdl calls on the NPU",
)
_KERNEL_FILES: Final = (
    "a damaged or incomplete operator package on the NPU's host",
    "install the operator package again and check ASCEND_OPP_PATH",
)
_HARDWARE: Final = (
    "a fault of the NPU or its driver; here only an injected fault reports it",
    "look into the device's log, reset the device, and run the task alone to see if it repeats",
)
_AICPU: Final = (
    "a fault in an AI CPU kernel on the NPU; here only an injected fault reports it",
    "look into the device's log for the kernel's own message",
)
_SNAPSHOT: Final = (
    "a snapshot of the process, a feature of the NPU's driver",
    "let the process reach a quiet point first, and read the driver's log",
)
_PROFILING: Final = (
    "profiling calls in the wrong order or mixed with subscriptions",
    "call aclprofInit before the others and aclprofFinalize last; use one of the two interfaces",
)

FAULTS: Final[tuple[tuple[tuple[int, ...], str, str], ...]] = (
    # ---- resources
    ((200000,), "the host has no memory left", "free memory or use smaller batches"),
    (
        (200001,),
        "a call that this chip, mode or emulator does not have",
        "aclGetRecentErrMsg says which",
    ),
    ((200002,), "a device that cannot be used", "check the device's number and state"),
    ((200003,), "memory that does not start where the call needs it", "allocate with aclrtMalloc"),
    ((200004,), "objects of different devices or contexts in one call", "use those of one context"),
    ((200005,), "a handle that names nothing", "use handles only before they are destroyed"),
    ((200006,), "flags or a feature that are reserved, such as flags of peer access", "pass 0"),
    ((200007,), *_PROFILING),
    (
        (207000,),
        (
            "a feature that the device does not have: asynchronous copies from host to host, a "
            "synchronous rectangle from device to device, hardware that the CPU device lacks"
        ),
        "read the text for the way around it",
    ),
    (
        (207001,),
        "the device memory, or the memory for runtime objects, is used up",
        "free buffers; ask aclrtGetMemInfo; raise ACLNN_PY_DEVICE_MEMORY if it is set",
    ),
    ((207002,), "the driver could not free the memory", "free each allocation once, by its start"),
    (
        (207003, 207016, 207017),
        "numbers beyond the range of the result's type",
        "scale the input, or switch the stream's overflow detection off",
    ),
    (
        (207004,),
        "ASCEND_RT_VISIBLE_DEVICES is malformed, not in ascending order, or names no device",
        "unset it, or list existing devices in ascending order, each once, with commas",
    ),
    ((207005,), "the driver could not reserve a resource", "free objects that are not used"),
    (
        (207006,),
        "a user who may not do this with the device",
        "run as a user of the device's group",
    ),
    ((207007,), "more events than the chip has", "destroy events, or reuse them"),
    ((207008,), "more streams than the chip has", "destroy streams, or reuse them"),
    ((207009,), "more notifies than the chip has", "destroy notifies, or reuse them"),
    ((207010,), "more graphs than the chip has", "destroy graphs that are not replayed any more"),
    ((207011,), "more cdq resources than the chip has", "destroy those that are not used"),
    ((207012,), "more of something than its limit", "read the text for the limit"),
    ((207013,), "an empty queue was read", "wait until something is in it"),
    ((207014,), "a full queue was written", "wait until something is taken out"),
    ((207015,), "something is initialised twice", "initialise it once"),
    ((207018,), "the device ran out of memory inside a task", "use smaller batches"),
    ((207019,), "an operator whose captured tasks cannot be updated", "capture the graph anew"),
    ((207020,), *_HARDWARE),
    (
        (207021,),
        "two devices without the kind of link that the call needs",
        "ask aclrtGetDevicesTopo which links there are",
    ),
    ((300000,), "more storage than the model may use", "reduce the model"),
    (
        (361001,),
        "a runtime call inside the operator failed, such as one on a destroyed stream",
        "read the text: it carries the runtime's own status",
    ),
    # ---- inner errors
    (
        (500000,),
        "the runtime cannot tell which chip this is, or found a file it does not understand",
        "unset ACLNN_PY_SOC or name a known profile; aclnn-py info shows the settings",
    ),
    (
        (500001, 500003, 500004),
        "something below the call failed",
        "see aclGetRecentErrMsg for details",
    ),
    ((500002,), "the graph engine failed", "see aclGetRecentErrMsg for its own text"),
    ((500005,), *_PROFILING),
    (
        (507000,),
        "a host function raised, an event was never recorded, or a call waited for itself",
        "look at the exception's __cause__ and the text",
    ),
    ((507001,), *_HARDWARE),
    ((507002, 507003), "a stream's queue is full or empty", "synchronise the stream first"),
    ((507004,), "the stream has work left", "synchronise it first"),
    ((507005,), "the data of a model's input has ended", "nothing: end the loop"),
    ((507006,), "the event has not been reached", "wait for it first"),
    (
        (507007,),
        "aclrtResetDevice without aclrtSetDevice, or once more than that; or after Force",
        "call it once for every aclrtSetDevice",
    ),
    ((507008,), "a chip that this version does not know", "install the version for this chip"),
    ((507009,), "a task that this device cannot run", "use another call for it"),
    ((507010,), *_HARDWARE),
    ((507011,), *_MODEL),
    (
        (507012,),
        "aclrtProcessReport saw no callback in the time it was given",
        "call it in a loop, with a longer timeout",
    ),
    (
        (507013, *range(507014, 507017), *range(507034, 507038), *range(507042, 507046)),
        (
            "a kernel on the NPU left its memory, hung, or met a fault; here only "
            "an injected fault reports it"
        ),
        (
            "check the addresses and sizes of the task's tensors; run the task alone to see if it "
            "repeats"
        ),
    ),
    (tuple(range(507017, 507021)), *_AICPU),
    ((507021,), *_PROFILING),
    ((507022,), "two processes that share memory disagree", "exchange keys again and check pids"),
    ((507023,), "a model was stopped on purpose", "nothing, if that was meant"),
    (
        (507024, 507027, 507028, 507032),
        "kernel binaries: unloaded while in use, unknown, loaded twice, or too many",
        "load each binary once and unload it after the last task that uses it",
    ),
    ((507025, 507026, 507029, 507030), *_HARDWARE),
    ((507031,), "a label of another context", "create the label in the current context"),
    (
        (507033,),
        "the device could not be set up, for want of memory or because of its driver",
        "free memory, or look at the device's state",
    ),
    (
        tuple(range(507038, 507042)),
        "the two dies of a device are not set up as asked",
        "set the die mode once, before the device is used",
    ),
    (
        (507046,),
        "a stream or device had work left when the timeout of the synchronise had passed",
        "look for a wait whose record is missing, or allow more time [ms]",
    ),
    (
        (507047,),
        "an event was not reached within the timeout of the synchronise",
        "look for a record that is missing, or allow more time [ms]",
    ),
    (tuple(range(507048, 507058)), *_HARDWARE),
    ((507899, 507901), *_HARDWARE),
    ((507900, 507902), *_AICPU),
    (
        (507903,),
        "an earlier forbidden call has spoilt the capture",
        "find the first error of the capture; end it, and capture again without that call",
    ),
    ((507904,), "a collective operation failed on all retries", "check the links between devices"),
    ((*range(507905, 507910), 507912, 507913), *_SNAPSHOT),
    (
        (507910,),
        "host memory of which the runtime knows some already",
        "register each range once; memory of aclrtMallocHost needs no registration",
    ),
    (
        (507911,),
        "host memory that is not registered, or not the start of the range",
        "call aclrtHostRegister first, and unregister once, by the start",
    ),
    (tuple(range(507914, 507917)), *_HARDWARE),
    # ---- inner errors of operators
    ((561000,), "something inside an operator failed", "read the text; report it if it persists"),
    ((561001,), "shapes from which no result shape follows", "check the inputs' shapes"),
    ((561002,), "no way to cut the work for this chip", "use other shapes, or report it"),
    (
        (561003,),
        "no kernel: the operator is declared but not implemented, or not for these dtypes or chip",
        "aclnn-py ops lists what is implemented; aclnn-py explain <operator> what was refused",
    ),
    ((561101,), "the executor could not be made", "free memory; call aclnnXGetWorkspaceSize again"),
    ((561102,), "phase 1 ended without handing its executor over", "call phase 1 again"),
    (
        (561103,),
        "an object inside the operator is missing: a dtype or strides the chip does not take",
        "make the result contiguous or cast it; the text says which tensor",
    ),
    ((561104, 561114, 561115), "attributes of the wrong number or size", "check the attributes"),
    ((561105,), "two operators under one key", "remove the custom operator of the same name"),
    ((561106,), "an implementation mode that does not exist", "use the default mode"),
    (tuple(range(561107, 561114)), *_KERNEL_FILES),
    (tuple(range(561116, 561120)), *_KERNEL_FILES),
)
