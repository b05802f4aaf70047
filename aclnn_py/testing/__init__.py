# SPDX-License-Identifier: Apache-2.0
"""A test bench for stream order: force it, observe it, assert it.

- `scheduler` runs streams without threads, in an order that the test, a policy or a seed decides;
  a failing order is replayed by a short string.
- `record` lists which tasks really started and finished; `assert_before` asserts their order.
- `Latch` and `delay` hold streams back; `fail_task` and `fail_malloc` plan failures.
- `trace` writes a timeline.

Everything works on the C engine, process-wide, one of each kind at a time, so C++ programs have it
too: by ``ACLNN_PY_SCHEDULE`` and ``ACLNN_PY_TRACE``, or by the calls of ``engine_bench.h``.
"""

from aclnn_py.testing.faults import fail_malloc, fail_task
from aclnn_py.testing.latch import Latch, delay
from aclnn_py.testing.order import assert_before
from aclnn_py.testing.recorder import Recording, Task, TaskEvent, label, record
from aclnn_py.testing.schedule import Schedule, scheduler
from aclnn_py.testing.timeline import trace

__all__ = [
    "Latch",
    "Recording",
    "Schedule",
    "Task",
    "TaskEvent",
    "assert_before",
    "delay",
    "fail_malloc",
    "fail_task",
    "label",
    "record",
    "scheduler",
    "trace",
]
