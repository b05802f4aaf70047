# SPDX-License-Identifier: Apache-2.0
"""One operator call over real device memory, with every phase in the test's hands."""

from __future__ import annotations

import numpy as np

import aclnn_py as acl
from support import oracle
from support.tensors import planner, runner

FORWARD = ("Softmax", "LogSoftmax")
BACKWARD = ("SoftmaxBackward", "LogSoftmaxBackward")
OPERATORS = (*FORWARD, *BACKWARD)


def random_inputs(operator: str, shape, dtype, dim: int, seed: int = 0) -> list[np.ndarray]:
    """Inputs as a training step would give them: logits, or a gradient beside the saved output."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    logits = oracle.cast(rng.standard_normal(shape).astype(np.float64) * 3, dtype)
    if operator in FORWARD:
        return [logits]
    forward = operator.removesuffix("Backward")
    saved = oracle.answer(forward, [logits], dim).value.astype(np.float64)
    gradient = rng.uniform(-1, 1, shape).astype(np.float64)
    return [oracle.cast(np.asarray(gradient), dtype), oracle.cast(np.asarray(saved), dtype)]


class Call:
    """Tensors for one call of `operator`; `plan()` is phase 1, `run()` phase 2."""

    def __init__(
        self, device, operator, shape=(2, 3), *, dtype=np.float32, out_dtype=None, dim=-1, seed=0
    ):
        self.device, self.operator, self.dim = device, operator, dim
        self.arrays = random_inputs(operator, shape, dtype, dim, seed)
        self.inputs = [device.tensor(array) for array in self.arrays]
        self.out = device.full(shape, 77, np.dtype(out_dtype or dtype))
        self.workspace = None

    def arguments(self):
        return (*self.inputs, self.dim, self.out)

    def plan(self):
        self.size, self.executor = planner(self.operator)(*self.arguments())
        self.workspace = self.device.malloc(self.size) if self.size else None
        return self.executor

    def run(self, stream, executor=None, *, operator=None, workspace=..., size=None):
        runner(operator or self.operator)(
            self.workspace if workspace is ... else workspace,
            self.size if size is None else size,
            executor or self.executor,
            stream,
        )

    def go(self, stream) -> np.ndarray:
        """Both phases, then the result on the host."""
        self.plan()
        self.run(stream)
        stream.synchronize()
        return self.out.numpy()

    def expected(self) -> oracle.Answer:
        return oracle.answer(self.operator, self.arrays, self.dim)

    def assert_right(self):
        """The result is of this call and of no other; how exact it is, conformance tests ask."""
        got = self.out.numpy()
        if self.operator != "LogSoftmax":  # cast after computing
            got = got.astype(self.arrays[0].dtype)
        assert oracle.worst(self.operator, got, self.expected()) <= 10


def staged(device, operator="SoftmaxBackward", **options):
    """A call that needs workspace: the result is cast on its way to `out`."""
    return Call(device, operator, (4, 5), dtype=np.float16, out_dtype=np.float32, **options)


def refused_as_cache_hit(executor) -> bool:
    """Whether the emulated vendor cache answered phase 1, which setting repeatable shows: it is
    refused then, and otherwise done."""
    try:
        acl.aclSetAclOpExecutorRepeatable(executor)
    except acl.AclError as error:
        if error.status != 561000:
            raise
        return True
    return False
