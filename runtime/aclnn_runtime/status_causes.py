# SPDX-License-Identifier: Apache-2.0
"""Statuses of calls that are wrong as they stand: arguments, order, files, captures, operators.

Each row: the statuses it is about, the usual cause, the fix.
"""

from __future__ import annotations

from typing import Final

__all__ = ["CALLS"]

_MODEL: Final = (
    "an offline model, which this emulator does not run",
    "check the .om file and the ids passed to aclmdl calls on the NPU",
)
_PROFILING: Final = (
    "profiling calls in the wrong order or mixed with subscriptions",
    "call aclprofInit before the others and aclprofFinalize last; use one of the two interfaces",
)

CALLS: Final[tuple[tuple[tuple[int, ...], str, str], ...]] = (
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
)
