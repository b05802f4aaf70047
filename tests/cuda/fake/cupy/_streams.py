# SPDX-License-Identifier: Apache-2.0
"""Streams, events and graphs: what CUDA promises of their order, by threads."""

from __future__ import annotations

import threading
import time
from collections import deque
from itertools import count

_handles = count(0x5000_0000, 0x100)


class Stream:
    """A thread that does its work in order. `gate` holds it back."""

    def __init__(self):
        self.ptr = next(_handles)
        self.work = deque()
        self.changed = threading.Condition()
        self.put = self.done = 0
        self.closed = False
        self.error = None
        self.recording = None
        threading.Thread(target=self._run, daemon=True).start()

    def add(self, task):
        if self.recording is not None:
            self.recording.append(task)
            return
        with self.changed:
            self.work.append(task)
            self.put += 1
            self.changed.notify_all()

    def _run(self):
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.work or self.closed)
                if not self.work:
                    return
                task = self.work.popleft()
            if self.error is None:  # CUDA does nothing any more after an error of a kernel
                try:
                    task()
                except Fault as fault:
                    self.error = fault.status
            del task  # and what it keeps
            with self.changed:
                self.done += 1
                self.changed.notify_all()

    def synchronize(self):
        with self.changed:
            until = self.put
            self.changed.wait_for(lambda: self.done >= until)
        return self.error

    def close(self):
        with self.changed:
            self.closed = True
            self.changed.notify_all()


class Fault(Exception):
    """What a kernel does wrong on the device."""

    def __init__(self, status):
        super().__init__(status)
        self.status = status


class Event:
    def __init__(self):
        self.ptr = next(_handles)
        self.record_of(None)

    def record_of(self, stream):
        reached = self.reached = threading.Event()
        if stream is None:
            reached.set()
        self.time = None

        def reach():
            self.time = time.perf_counter()
            reached.set()

        return reach


class Graph:
    def __init__(self, tasks):
        self.ptr = next(_handles)
        self.tasks = tasks
