# SPDX-License-Identifier: Apache-2.0
"""What a plain call costs through a dialect, beside the aclnn call that does the same job.

A oneDNN primitive or a compiled partition is made once and executed many times. So is an executor
that was made repeatable: its phase 2 and the wait, the repeatable cycle, is the peer, although
`execute` takes the memory and answers for it, which only phase 1 does in aclnn. ONNX Runtime's
gradients have two phases, so their peer is the whole cycle of aclnn's gradient. Waits and
functions are bound before the clock starts, on every side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from aclnn_py.core.extras import Extras
from aclnn_py.dialects import onednn, onednn_graph, onnxruntime
from aclnn_py.twophase import fused_forward
from benchmarks.cells import Layout
from benchmarks.ours import Ours
from benchmarks.timing import Contestant, measure, python_burst

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from aclnn_py.core.executor import Executor
    from benchmarks.bench import Bench

__all__ = ["PEERS", "REPEATABLE", "WHOLE", "run"]

_SHAPE: Final = (8, 32)
WHOLE, REPEATABLE, _GRADIENT = (
    "aclnn, whole cycle",
    "aclnn, repeatable cycle",
    "aclnn gradient, whole cycle",
)
_PRIMITIVE, _PARTITION, _ORT = (
    "oneDNN primitive, execute and wait",
    "oneDNN Graph, execute and wait",
    "ONNX Runtime gradient, whole cycle",
)
#: What each dialect's call is judged by.
PEERS: Final = {_PRIMITIVE: REPEATABLE, _PARTITION: REPEATABLE, _ORT: _GRADIENT}


def run(bench: Bench) -> dict[str, Any]:
    """Times of one plain softmax of each kind [ns], and whether all plan the same kernels."""
    dense = Layout.dense(_SHAPE)
    x, y, out = (bench.arena.view(slot, "float32", _SHAPE, dense) for slot in range(3))
    bench.arena.fill(x)
    bench.arena.fill(y)
    ours = Ours(bench.device, bench.stream, "Softmax", (x,), -1, out)
    gradient = Ours(bench.device, bench.stream, "SoftmaxBackward", (x, y), -1, out)
    door = fused_forward(Extras()).get_workspace_size([x.tensor, out.tensor], [1])[1]
    ort, ort_executor = _onnxruntime(bench, x.tensor, y.tensor, out.tensor)
    calls = {
        WHOLE: ours.cycle(),
        REPEATABLE: ours.repeat(),
        _PRIMITIVE: _primitive(x.array),
        _PARTITION: _partition(x.array),
        _GRADIENT: gradient.cycle(),
        _ORT: ort,
    }
    contestants = [Contestant(name, python_burst(call)) for name, call in calls.items()]
    times = measure(contestants, bench.budget_s, bench.rounds)
    found = {
        "times_ns": {name: timing.record() for name, timing in times.items()},
        "same_plan": _kernels(door) == _kernels(ours.executor)
        and _kernels(ort_executor) == _kernels(gradient.executor),
    }
    ours.close()
    gradient.close()
    return found


def _kernels(executor: Executor) -> list[str]:
    return [choice.implementation for choice in executor.plan.choices]


def _primitive(x: np.ndarray[Any, Any]) -> Callable[[], None]:
    engine = onednn.engine(onednn.engine_kind.cpu, 0)
    stream = onednn.stream(engine)
    desc = onednn.memory_desc(_SHAPE, onednn.data_type.f32, "ab")
    planned = onednn.softmax_forward.primitive_desc(
        engine,
        onednn.prop_kind.forward_inference,
        onednn.algorithm.softmax_accurate,
        desc,
        desc,
        1,
    )
    softmax = onednn.softmax_forward(planned)
    arguments = {
        onednn.DNNL_ARG_SRC: onednn.memory(desc, engine).write(x),
        onednn.DNNL_ARG_DST: onednn.memory(desc, engine),
    }
    execute, wait = softmax.execute, stream.wait

    def call() -> None:
        execute(stream, arguments)
        wait()

    return call


def _partition(x: np.ndarray[Any, Any]) -> Callable[[], None]:
    engine = onednn.engine(onednn.engine_kind.cpu, 0)
    stream = onednn.stream(engine)
    source, result = (
        onednn_graph.logical_tensor(
            number, onednn.data_type.f32, _SHAPE, onednn_graph.layout_type.strided
        )
        for number in range(2)
    )
    node = onednn_graph.op(0, onednn_graph.op.kind.SoftMax, [source], [result], "softmax")
    node.set_attr(onednn_graph.op.attr.axis, 1)
    graph = onednn_graph.graph(onednn.engine_kind.cpu)
    graph.add_op(node)
    graph.finalize()
    compiled = graph.get_partitions()[0].compile([source], [result], engine)
    inputs, outputs = (
        [onednn_graph.tensor(compiled.query_logical_tensor(number), engine)] for number in range(2)
    )
    inputs[0].write(x)
    execute, wait = compiled.execute, stream.wait

    def call() -> None:
        execute(stream, inputs, outputs)
        wait()

    return call


def _onnxruntime(bench: Bench, *tensors: Any) -> tuple[Callable[[], None], Executor]:
    plan, run_ = onnxruntime.SoftmaxGrad_13GetWorkspaceSize, onnxruntime.SoftmaxGrad_13
    stream, synchronize = bench.stream, bench.stream.synchronize
    gradient, saved, result = tensors

    def call() -> None:
        size, executor = plan(gradient, saved, result, axis=-1)
        run_(None, size, executor, stream)
        synchronize()

    return call, plan(*tensors, axis=-1)[1]
