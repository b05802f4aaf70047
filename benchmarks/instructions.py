# SPDX-License-Identifier: Apache-2.0
"""Instructions of the call path, counted: figures that a busy machine does not change.

``python -m benchmarks.instructions [--python OTHER]`` runs each call under ptrace, one instruction
at a time (native/count_calls.c), and prints instructions and locked instructions a call, by object.
`--python` is the interpreter of an environment with another build, to compare with. Linux on
x86-64 only. Other threads are not counted, nor is what the system does.
"""

from __future__ import annotations

import argparse
import gc
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_CALLS = (
    "whole cycle",
    "repeatable cycle",
    "phase 1 hit",
    "synchronise (idle)",
    "record (idle)",
    "enqueue (busy)",
    "oneDNN execute and wait",
    "oneDNN Graph execute and wait",
    "gradient, whole cycle",
    "ONNX Runtime gradient, whole cycle",
    "empty function",
)
_WARM = 50
# Calls in each stretch: the first warms the stops, too; the difference leaves them out.
_STRETCHES = (1, 1, 3)


def main() -> int:
    """Count in a child process for each call; 1 where that is not possible."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable, help="the interpreter to run")
    parser.add_argument("--only", choices=_CALLS, help="one call")
    parser.add_argument("--child", choices=_CALLS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        _child(options.child)
        return 0
    from benchmarks.build import BuildError, compile_linked  # noqa: PLC0415  # not in the child

    with tempfile.TemporaryDirectory() as folder:
        try:
            counter = compile_linked("count_calls", Path(folder))
        except BuildError as error:
            print(f"benchmarks: {error}", file=sys.stderr)
            return 1
        empty = sum(all_ for all_, _ in _count(counter, options.python, _CALLS[-1]).values())
        for call in [options.only] if options.only else _CALLS:
            found = _count(counter, options.python, call)
            total, locked = (sum(pair[i] for pair in found.values()) for i in range(2))
            parts = ", ".join(f"{name} {pair[0]:.0f}" for name, pair in found.items())
            print(f"{call}: {total - empty:.0f} instructions, {locked:.0f} locked ({parts})")
    return 0


def _count(counter: Path, python: str, call: str) -> dict[str, tuple[float, float]]:
    """Instructions and locked instructions a call, by object, most first."""
    command = [str(counter), str(len(_STRETCHES)), python, __file__, "--child", call]
    quiet = os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=quiet)  # noqa: S603
    stretches: list[dict[str, list[int]]] = [defaultdict(lambda: [0, 0]) for _ in _STRETCHES]
    for line in done.stdout.splitlines():
        stretch, instructions, locked, name = line.split(maxsplit=3)
        total = stretches[int(stretch)][name]
        total[0] += int(instructions)
        total[1] += int(locked)
    few, more = stretches[-2:]
    calls = _STRETCHES[-1] - _STRETCHES[-2]
    found = {
        name: ((total[0] - few[name][0]) / calls, (total[1] - few[name][1]) / calls)
        for name, total in more.items()
    }
    return {name: pair for name, pair in sorted(found.items(), key=lambda p: -p[1][0]) if pair[0]}


# ---- the counted process: needs nothing of this folder, so that it runs with any build ----


def _child(name: str) -> None:
    call = _calls()[name]
    _repeat(call, _WARM)
    gc.disable()
    os.kill(os.getpid(), signal.SIGSTOP)
    for calls in _STRETCHES:
        _repeat(call, calls)
        os.kill(os.getpid(), signal.SIGSTOP)


def _repeat(call: Callable[[], object], calls: int) -> None:
    for _ in range(calls):
        call()


def _calls() -> dict[str, Callable[[], object]]:
    import numpy as np  # noqa: PLC0415  # in the child only

    import aclnn_py as acl  # noqa: PLC0415  # in the child only

    device: Any = acl.Device(0)
    stream, busy = device.create_stream(), device.create_stream()
    busy.launch_host_func(threading.Event().wait)  # for ever: the process is killed
    x = device.tensor(np.ones((8, 32), np.float32))
    out = device.empty((8, 32), np.float32)
    plan, run, synchronize = (
        acl.aclnnSoftmaxGetWorkspaceSize,
        acl.aclnnSoftmax,
        stream.synchronize,
    )
    repeatable = plan(x, -1, out)[1]
    acl.aclSetAclOpExecutorRepeatable(repeatable)
    event = stream.record()
    gradient, gradient_run, ort, ort_run = _gradients()

    def cycle() -> None:
        size, executor = plan(x, -1, out)
        run(None, size, executor, stream)
        synchronize()

    def again() -> None:
        run(None, 0, repeatable, stream)
        synchronize()

    def gradient_cycle() -> None:
        size, executor = gradient(x, x, -1, out)
        gradient_run(None, size, executor, stream)
        synchronize()

    def ort_cycle() -> None:
        size, executor = ort(x, x, out, axis=-1)
        ort_run(None, size, executor, stream)
        synchronize()

    def nothing() -> None:
        pass

    return {
        "whole cycle": cycle,
        "repeatable cycle": again,
        "phase 1 hit": lambda: plan(x, -1, out),
        "synchronise (idle)": synchronize,
        "record (idle)": lambda: stream.record(event),
        "enqueue (busy)": lambda: run(None, 0, repeatable, busy),
        **_onednn_calls(),
        "gradient, whole cycle": gradient_cycle,
        "ONNX Runtime gradient, whole cycle": ort_cycle,
        "empty function": nothing,
    }


def _onednn_calls() -> dict[str, Callable[[], object]]:
    execute, wait, stream, arguments = _primitive()
    execute_graph, inputs, outputs = _partition()

    def primitive() -> None:
        execute(stream, arguments)
        wait()

    def partition() -> None:
        execute_graph(stream, inputs, outputs)
        wait()

    return {"oneDNN execute and wait": primitive, "oneDNN Graph execute and wait": partition}


def _primitive() -> Any:
    from aclnn_py.dialects import onednn as dnnl  # noqa: PLC0415  # in the child only

    engine = dnnl.engine(dnnl.engine_kind.cpu, 0)
    stream, desc = dnnl.stream(engine), dnnl.memory_desc((8, 32), dnnl.data_type.f32, "ab")
    kinds = dnnl.prop_kind.forward_inference, dnnl.algorithm.softmax_accurate
    softmax = dnnl.softmax_forward(
        dnnl.softmax_forward.primitive_desc(engine, *kinds, desc, desc, 1)
    )
    memory = {
        dnnl.DNNL_ARG_SRC: dnnl.memory(desc, engine),
        dnnl.DNNL_ARG_DST: dnnl.memory(desc, engine),
    }
    return softmax.execute, stream.wait, stream, memory


def _partition() -> Any:
    from aclnn_py.dialects import onednn as dnnl  # noqa: PLC0415  # in the child only
    from aclnn_py.dialects import onednn_graph as graph  # noqa: PLC0415  # in the child only

    kind = dnnl.data_type.f32, (8, 32), graph.layout_type.strided
    source, result = (graph.logical_tensor(number, *kind) for number in range(2))
    node = graph.op(0, graph.op.kind.SoftMax, [source], [result], "softmax")
    node.set_attr(graph.op.attr.axis, 1)
    whole = graph.graph(dnnl.engine_kind.cpu)
    whole.add_op(node)
    whole.finalize()
    engine = dnnl.engine(dnnl.engine_kind.cpu, 0)
    compiled = whole.get_partitions()[0].compile([source], [result], engine)
    tensors = [graph.tensor(compiled.query_logical_tensor(number), engine) for number in range(2)]
    return compiled.execute, tensors[:1], tensors[1:]


def _gradients() -> tuple[Any, Any, Any, Any]:
    import aclnn_py as acl  # noqa: PLC0415  # in the child only
    from aclnn_py.dialects import onnxruntime as ort  # noqa: PLC0415  # in the child only

    plan, run = acl.aclnnSoftmaxBackwardGetWorkspaceSize, acl.aclnnSoftmaxBackward
    return plan, run, ort.SoftmaxGrad_13GetWorkspaceSize, ort.SoftmaxGrad_13


if __name__ == "__main__":
    sys.exit(main())
