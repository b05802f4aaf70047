# SPDX-License-Identifier: Apache-2.0
"""The end of the interpreter with work pending: no hang, no crash, no noise."""

from __future__ import annotations

import os
import sys

import pytest

from support.process import run_python

BEGINNING = """
import os, sys, threading, time
import numpy as np
import aclnn_py as acl
device = acl.Device(0)
stream = device.create_stream()
gate = threading.Event()
held = threading.Event()
def hold():
    held.set()
    gate.wait()
"""

STORIES = {
    "idle": "",
    "host function that never returns": "stream.launch_host_func(hold); held.wait()",
    "queue behind a host function that never returns": """
stream.launch_host_func(hold); held.wait()
for _ in range(1000): stream.launch_host_func(lambda: None)
""",
    "streams that wait for an event which never comes": """
stream.launch_host_func(hold)
event = stream.record()
others = [device.create_stream() for _ in range(4)]
for other in others:
    other.wait(event)
    other.launch_host_func(lambda: None)
""",
    "copies pending": """
acl.aclrtSetDevice(0)
host, there = acl.aclrtMallocHost(1 << 20), acl.aclrtMalloc(1 << 20)
waiting = acl.aclrtCreateStream()
acl.aclrtLaunchHostFunc(waiting, lambda _: hold(), None)
for _ in range(100):
    acl.aclrtMemcpyAsync(there, 1 << 20, host, 1 << 20, 1, waiting)
""",
    "daemon threads in the library": """
stream.launch_host_func(hold); held.wait()
entered = threading.Barrier(4)
def wait():
    entered.wait()
    try: stream.synchronize()
    except acl.AclError: pass  # told that the end has come, if there is time for it
for _ in range(3): threading.Thread(target=wait, daemon=True).start()
entered.wait()
""",
    "daemon threads that enqueue": """
def feed():
    try:
        while True: stream.launch_host_func(lambda: None)
    except acl.AclError: pass  # likewise
for _ in range(3): threading.Thread(target=feed, daemon=True).start()
stream.launch_host_func(held.set); held.wait()
""",
    "sixty-four streams that eight threads feed": """
streams = [device.create_stream() for _ in range(64)]
def feed(first):
    try:
        while True:
            for at in range(first, 64, 8):
                streams[at].launch_host_func(lambda: None)
                streams[(at + 9) % 64].wait(streams[at].record())
    except acl.AclError: pass  # likewise
for first in range(8): threading.Thread(target=feed, args=(first,), daemon=True).start()
for one in streams: one.launch_host_func(held.set)
held.wait()
""",
    "busy host functions": """
def spin():
    held.set()
    while True: sum(range(1000))
stream.launch_host_func(spin); held.wait()
""",
    "an exception on the way out": """
stream.launch_host_func(hold); held.wait()
raise SystemExit(0)
""",
    "a failed host function that nobody asked about": """
stream.launch_host_func(lambda: 1 / 0)
event = stream.record(); event.synchronize()
""",
    "a child that leaves by itself": """
stream.launch_host_func(hold); held.wait()
child = os.fork()
if child == 0: sys.exit(0)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0, status
""",
    "a child that works": """
stream.launch_host_func(hold); held.wait()
child = os.fork()
if child == 0:
    try:
        acl.aclrtSetDevice(0)
        own = acl.aclrtCreateStream()
        seen = []
        own.launch_host_func(lambda: seen.append(1))
        own.synchronize()
        code = 0 if seen else 3
    except acl.AclError as error:
        code = 0 if "fork" in str(error) else 4
    sys.exit(code)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0, status
""",
    "objects that outlive the library": """
import atexit, builtins
builtins.kept = [stream, stream.record(), device, device.malloc(64)]
""",
}


@pytest.mark.parametrize("story", STORIES)
def test_exit(story):
    done = run_python(BEGINNING + STORIES[story] + "\nprint('last line')")
    # Starting a child beside threads is what is tested here; newer interpreters warn of it.
    stderr = "\n".join(line for line in done.stderr.splitlines() if "fork" not in line)
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    assert stderr == ""
    if "on the way out" not in story:
        assert done.stdout.endswith("last line\n")


def test_host_functions_that_are_queued_at_the_exit_do_not_run():
    """As the docstring of `launch_host_func` says."""
    queued = """
import os
stream.launch_host_func(hold); held.wait()
stream.launch_host_func(lambda: os.write(1, b"ran"))
"""
    done = run_python(BEGINNING + queued)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


FORKED = """
import os, signal, threading
import aclnn_py as acl
first = threading.Thread(target=lambda: acl.aclrtSetDevice(0))  # loads what it asks for
first.start()
child = os.fork()
if child == 0:
    signal.alarm(30)
    acl.aclrtSetDevice
    os._exit(0)
first.join()
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0, status
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_child_forked_while_a_name_is_loaded_loads_it_itself():
    """The loading thread is not in the child, which would wait for it for ever."""
    for _ in range(3):  # without the guard nearly every one hangs
        done = run_python("import warnings\nwarnings.simplefilter('ignore')\n" + FORKED)
        assert done.returncode == 0, done.stderr


def test_calls_after_the_end_fail_cleanly():
    done = run_python(
        BEGINNING
        + """
import atexit
from aclnn_native import lib
lib.aclpy_shutdown()
for call in (stream.synchronize, stream.query, device.create_stream, stream.record,
             lambda: device.malloc(8), lambda: stream.launch_host_func(print)):
    try:
        call()
    except acl.AclError as error:
        print(error.status)
"""
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == 6
    assert "0" not in done.stdout.split()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/statm")
def test_a_hundred_thousand_host_functions_leave_nothing():
    done = run_python(
        BEGINNING
        + """
import gc
from aclnn_runtime import failures, host_function
def resident():
    gc.collect()
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
class Payload:
    alive = 0
    def __init__(self): Payload.alive += 1; self.weight = bytes(100)
    def __del__(self): Payload.alive -= 1
    def __call__(self): pass
def fail(): raise ValueError(bytes(1000))
def rounds(n):
    for i in range(n):
        stream.launch_host_func(Payload())
        if i % 100 == 0:
            stream.launch_host_func(fail)
            stream.launch_host_func(fail)
            try: stream.synchronize()
            except acl.AclError as error: assert isinstance(error.__cause__, ValueError)
            acl.aclGetRecentErrMsg()
    stream.synchronize()
rounds(30_000)
before = resident()
rounds(100_000)
grown = resident() - before
assert Payload.alive == 0, Payload.alive
assert not host_function._queued
assert grown < 2_000_000, grown
print("flat")
""",
        timeout_s=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "flat\n"
