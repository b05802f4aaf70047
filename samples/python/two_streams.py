# SPDX-License-Identifier: Apache-2.0
"""Two streams, ordered by an event: a producer makes probabilities, a consumer uses them.

Work on one stream runs in order; work on two streams runs in any order unless an event says
otherwise. To show that the event, and not luck, does the ordering, the producer is held back until
the consumer's work is already queued.
"""

import threading

import numpy as np
from _check import expect, expect_close

import aclnn_py as acl

rng = np.random.default_rng(11)
logits = rng.normal(size=(64, 100)).astype(np.float32)
grad_probabilities = rng.normal(size=logits.shape).astype(np.float32)


def run(operator: str, stream: acl.Stream, *arguments: object) -> acl.Buffer | None:
    """Both phases of one operator; returns the workspace, which must outlive the work."""
    workspace_size, executor = getattr(acl, f"{operator}GetWorkspaceSize")(*arguments)
    workspace = device.malloc(workspace_size) if workspace_size else None
    getattr(acl, operator)(workspace, workspace_size, executor, stream)
    return workspace


gate = threading.Event()
with (
    acl.Device(0) as device,
    device.create_stream() as producer,
    device.create_stream() as consumer,
):
    logits_device = device.tensor(logits)
    grad_device = device.tensor(grad_probabilities)
    probabilities = device.full(logits.shape, float("nan"), "float32")
    grad_logits = device.full(logits.shape, float("nan"), "float32")

    # Producer: waits at the gate, then softmax; the event marks the point after it.
    producer.launch_host_func(gate.wait)
    kept = [run("aclnnSoftmax", producer, logits_device, 1, probabilities)]
    ready = producer.record()

    # Consumer: waits for the event (the stream waits, this thread does not), then uses the result.
    consumer.wait(ready)
    kept.append(run("aclnnSoftmaxBackward", consumer, grad_device, probabilities, 1, grad_logits))
    finished = consumer.record()

    expect(
        not ready.query() and not finished.query(),
        "everything is queued and nothing has run: both phases and the waits returned at once",
    )
    gate.set()
    finished.synchronize()
    result = grad_logits.numpy()

shifted = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True))
p = shifted / shifted.sum(axis=1, keepdims=True)
g = grad_probabilities.astype(np.float64)
expected = p * (g - (g * p).sum(axis=1, keepdims=True))
expect_close("producer and consumer", result, expected, 1e-5, 1e-6)
