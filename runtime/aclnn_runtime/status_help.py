# SPDX-License-Identifier: Apache-2.0
"""The usual cause of every status and what to do about it; `Status` gathers all that is known.

Each row: the statuses it is about, the usual cause, the fix.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from aclnn_runtime.status_table import ALIASES, STATUSES

__all__ = ["HELP", "Status", "find_status", "near_statuses"]

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

_ROWS: Final[tuple[tuple[tuple[int, ...], str, str], ...]] = (
    ((0,), "the call did what it was asked to", "nothing"),
    # ---- arguments, files, initialisation
    (
        (100000,),
        "a null pointer or handle, or a value that the call never takes",
        "read the error's text: it names the argument, what it got and what it expects",
    ),
    (
        (100001,),
        "a dump or profiling call before aclInit, or any call after the engine was shut down",
        "call aclInit first, and stop calling once the interpreter exits",
    ),
    (
        (100002,),
        "aclInit was called while the process is initialised; the call counts nevertheless",
        "go on: programs are told to ignore it; undo each call with aclFinalizeReference",
    ),
    (
        (100003,),
        "a configuration file, or version.info of a package, that does not exist or is unreadable",
        "check the path and its permissions; pass None where no settings are needed",
    ),
    (
        (100004,),
        "a full disk or a folder without write permission",
        "free space or change the path",
    ),
    (
        (100005,),
        "an empty file, or one beyond the size limit",
        "check what was written to the file",
    ),
    ((100006,), "a configuration file that is not one JSON object", "correct it; {} is enough"),
    ((100007,), "a configuration file without an attribute that its section needs", "add it"),
    (
        (100008,),
        "an attribute of a configuration file with a value of the wrong kind",
        "correct the value, e.g. a whole number for defaultDevice.default_device",
    ),
    ((100009,), "the dump section of the configuration file", "correct or remove the section"),
    ((100010,), "the profiler section of the configuration file", "correct or remove the section"),
    (tuple(range(100011, 100020)), *_MODEL),
    (
        tuple(range(100020, 100026)),
        "a single-operator model or an aclop call that fits no compiled operator",
        "compile the operator for these shapes and types, or call its aclnn function instead",
    ),
    ((100026,), "a dtype that the call does not take", "cast first; aclnn-py ops lists dtypes"),
    (
        (100027,),
        "tensors of different formats in one call",
        "create all tensors with the same format",
    ),
    (
        tuple(range(100028, 100032)),
        "a custom kernel or its selector, registered twice or not at all",
        "register each kernel exactly once, before its first use",
    ),
    ((100032,), "a queue that does not exist", "use the id that acltdtCreateQueue returned"),
    (
        tuple(range(100033, 100037)),
        "the older numbers of 107011, 107012, 107015 and 507012: host callbacks",
        "subscribe the thread to the stream first, and process reports in that thread",
    ),
    (
        (100037,),
        "aclFinalize was called before and nothing has been initialised since",
        "call it once, at the end; in libraries use aclFinalizeReference",
    ),
    (
        (100038,),
        "a model without static image preprocessing",
        "set it up when converting the model",
    ),
    (
        (100039,),
        "a program linked against the stub library",
        "link and run with the real library: put its folder first in LD_LIBRARY_PATH",
    ),
    (
        (100040, 100041, 107013, 107014),
        "a group of cores that was not created or chosen",
        "create the group and set it before the call",
    ),
    (tuple(range(100042, 100044)), *_PROFILING),
    ((100044, 100045), "dump calls in the wrong order", "call aclmdlInitDump first, and only once"),
    # ---- runtime: arguments
    (
        (107000,),
        (
            "a value that the runtime refuses: count above destMax, memory freed before, a foreign "
            "pointer, a destroyed context, a copy between devices without peer access"
        ),
        "read the error's text: it says which argument, and the pointer's history",
    ),
    (
        (107001,),
        "a device number beyond the device count, or one that ASCEND_RT_VISIBLE_DEVICES hides",
        "ask aclrtGetDeviceCount; ACLNN_PY_DEVICES emulates more devices",
    ),
    (
        (107002,),
        (
            "this thread has no current context: new threads inherit none; aclrtDestroyContext and "
            "the last aclrtResetDevice leaves none"
        ),
        "call aclrtSetDevice or aclrtSetCurrentContext in this very thread first",
    ),
    (
        (107003,),
        "a stream is used while another context is current",
        "call aclrtSetCurrentContext with the context that the stream was created in",
    ),
    (
        (107004,),
        "a model is used while another context is current",
        "call aclrtSetCurrentContext with the model's context",
    ),
    (
        (107005,),
        "a stream bound to another model, or to none",
        "bind the stream to the model first",
    ),
    (
        (107006,),
        "an event that keeps no time, or has not been recorded",
        "create it with ACL_EVENT_TIME_LINE, record it, and wait for it before asking",
    ),
    ((107007,), "the end event was recorded before the start event", "pass start first, then end"),
    ((107008,), "an address that is not a multiple of what the call needs", "align the address"),
    (
        (107009, 107010),
        "a file of a debug print or dump that cannot be written",
        "check the path, its permissions and the free space",
    ),
    (
        (107011,),
        "the stream has a callback thread already, or is used with aclrtLaunchHostFunc",
        "subscribe a stream once, and keep the two ways of calling back on separate streams",
    ),
    (
        (107012,),
        "aclrtProcessReport or the unsubscription in another thread than the subscribed one",
        "pass the id of the thread that processes reports, and call it from there",
    ),
    (
        (107015,),
        "aclrtLaunchCallback on a stream that no thread is subscribed to",
        "call aclrtSubscribeReport for the stream first",
    ),
    ((107016,), "a kind of memory outside of aclrtMemAttr", "pass ACL_HBM_MEM or ACL_DDR_MEM"),
    (
        (107017,),
        "a stream, event, notify, graph or buffer that was destroyed, or went with its context",
        "use objects only before they are destroyed; the text says how this one ended",
    ),
    (
        (107018,),
        "a page policy that the chip's driver does not know",
        "use ACL_MEM_MALLOC_HUGE_FIRST",
    ),
    (
        (107019,),
        "something that was waited for did not happen in time",
        "look for a record that is missing, or allow more time",
    ),
    (
        (107020,),
        "a task that ran longer than the operator timeout",
        "raise aclrtSetOpExecuteTimeOut",
    ),
    (
        (107021,),
        "a system parameter was asked for that nobody has set in this scope",
        "set it first; context and process have parameters of their own",
    ),
    (
        (107022,),
        "a call while aclrtDeviceTaskAbort empties the device",
        "wait for the abort to end",
    ),
    ((107023,), "a call while aclrtStreamAbort empties the stream", "wait for the abort to end"),
    # ---- runtime: capture
    (
        (107024,),
        "a captured stream waits for an event that was recorded outside of the capture",
        "record the event on a captured stream first, or create it with ACL_EVENT_EXTERNAL",
    ),
    (
        (107025,),
        "aclmdlRICaptureEnd while a side stream has not joined the first stream again",
        "record an event at the end of the side stream and let the first stream wait for it",
    ),
    ((107026,), "the graph is being captured already", "end the capture first"),
    (
        (107027,),
        "a call on a stream, device or context that is being captured",
        "end the capture first: waiting cannot be captured",
    ),
    ((107028,), "a host call on an event that belongs to a capture", "end the capture first"),
    (
        (107029,),
        "a capture call on a stream that is not being captured",
        "call aclmdlRICaptureBegin on it first",
    ),
    (
        (107030,),
        "a call that may not run while this or another thread captures (allocation, copy, sync)",
        "move it before the capture, or capture with the mode RELAXED",
    ),
    ((107031,), "work on the default stream during a capture", "use a stream of your own"),
    ((107032,), "an event links two different captures", "end one capture before the other begins"),
    ((107033,), "task group calls out of order", "pair each TaskGrpBegin with one TaskGrpEnd"),
    ((107034,), "another call came between the tasks of a group", "keep a group on one stream"),
    (
        (107035,),
        "an abort that ended before its post-processing",
        "abort again or reset the device",
    ),
    (
        (107036,),
        "aclmdlRICaptureEnd on another stream than the begin",
        "end it on the first stream",
    ),
    ((107037,), "the graph is running", "synchronise its stream first"),
    (
        (107038,),
        "aclmdlRICaptureEnd in another thread than the begin",
        "end it in that thread, or capture with the mode RELAXED",
    ),
    ((107039,), "an array with less room than there are results", "ask for the number first"),
    ((107040,), "captured tasks whose update does not fit them", "update with the same operators"),
    (
        (107041,),
        "an asynchronous copy with pageable host memory while another thread captures",
        "use memory of aclrtMallocHost",
    ),
    (
        (107042, 107043, 107044),
        "a name or pointer that is no symbol of a loaded kernel binary",
        "load the binary first and check the spelling",
    ),
    ((107045,), "a graph inside the captured one is still open", "end the inner capture first"),
    ((148046, 148047), *_PROFILING),
    ((148048,), "max_opqueue_num in the configuration file", "give it a positive whole number"),
    ((148049,), "ASCEND_OPP_PATH does not lead to an operator package", "correct or unset it"),
    ((148050,), "an operator compiled for fixed shapes", "compile it for dynamic shapes"),
    ((148051,), "an object is still in use by another one", "destroy what depends on it first"),
    ((148052,), "a picture whose encoding the decoder does not know", "convert the picture"),
    ((148053,), *_MODEL),
    # ---- operators: phase 1 and 2
    (
        (161001,),
        "an argument of aclnnXGetWorkspaceSize is NULL that may not be",
        "create the tensor or pass the pointer; the text names the argument",
    ),
    (
        (161002,),
        (
            "a dtype, shape, axis or format that the operator rejects, an executor used twice, "
            "or a workspace that is too small"
        ),
        "read the text: what was got and expected; aclnn-py explain <operator> shows the plan",
    ),
    # ---- resources
    ((200000,), "the host has no memory left", "free memory or use smaller batches"),
    ((200001,), "a call that this chip or mode does not have", "ask aclrtGetRunMode first"),
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
        "no kernel for these dtypes or this chip",
        "cast to another dtype; aclnn-py explain <operator> lists the refused candidates",
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

HELP: Final[dict[int, tuple[str, str]]] = {
    status: (cause, fix) for statuses, cause, fix in _ROWS for status in statuses
}


class Status(NamedTuple):
    """A status and what is known of it.

    Attributes
    ----------
    name : str
        Name in the C headers.
    value : int
        The number that calls return.
    meaning : str
        What it says.
    cause : str
        What usually brings it about.
    fix : str
        What to do about it.
    """

    name: str
    value: int
    meaning: str
    cause: str
    fix: str


_BY_VALUE: Final = {
    value: Status(name, value, meaning, *HELP[value]) for name, value, meaning in STATUSES
}
_BY_NAME: Final = {status.name: status for status in _BY_VALUE.values()}


def find_status(spelling: int | str) -> Status | None:
    """A status by its number or by one of its names; None for one that is not in the table."""
    if isinstance(spelling, int):
        return _BY_VALUE.get(spelling)
    text = spelling.strip()
    if text.isdecimal():
        return _BY_VALUE.get(int(text))
    name = text.upper()
    return _BY_NAME.get(name) or _BY_NAME.get(dict(ALIASES).get(name, ""))


def near_statuses(value: int, count: int = 3) -> list[Status]:
    """The statuses whose numbers come closest."""
    known = sorted(_BY_VALUE, key=lambda other: (abs(other - value), other))
    return [_BY_VALUE[other] for other in sorted(known[:count])]
