# SPDX-License-Identifier: Apache-2.0
"""What a plain call costs through a dialect, beside the same call through aclnn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from aclnn_py.core.extras import Extras
from aclnn_py.dialects import onednn
from aclnn_py.twophase import fused_forward
from benchmarks.cells import Layout
from benchmarks.ours import Ours
from benchmarks.timing import Contestant, measure, python_burst

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from aclnn_py.core.executor import Executor
    from benchmarks.bench import Bench

__all__ = ["run"]

_SHAPE: Final = (8, 32)


def run(bench: Bench) -> dict[str, Any]:
    """Times of one plain forward softmax [ns], and the kernels that each way plans."""
    dense = Layout.dense(_SHAPE)
    x, out = (bench.arena.view(slot, "float32", _SHAPE, dense) for slot in (0, 2))
    bench.arena.fill(x)
    ours = Ours(bench.device, bench.stream, "Softmax", (x,), -1, out)
    door = fused_forward(Extras()).get_workspace_size([x.tensor, out.tensor], [1])[1]
    calls = {
        "aclnn, whole cycle": ours.cycle(),
        "aclnn, repeatable cycle": ours.repeat(),
        "oneDNN primitive, execute and wait": _primitive(x.array),
    }
    contestants = [Contestant(name, python_burst(call)) for name, call in calls.items()]
    times = measure(contestants, bench.budget_s, bench.rounds)
    found = {
        "times_ns": {name: timing.record() for name, timing in times.items()},
        "same_plan": _kernels(door) == _kernels(ours.executor),
    }
    ours.close()
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

    def call() -> None:
        softmax.execute(stream, arguments)
        stream.wait()

    return call
