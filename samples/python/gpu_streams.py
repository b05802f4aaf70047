# SPDX-License-Identifier: Apache-2.0
"""Two streams on a GPU, ordered by an event, and one stream shared with CuPy.

The producer's stream makes probabilities, the consumer's the gradient; both are only queued by the
host, which waits once. Then CuPy and this library take turns in one stream of CuPy's, on the same
memory, with nothing but the stream's order between them. Without a GPU the first part runs on the
CPU device: the calls are the same.
"""

import numpy as np
from _check import expect_close

import aclnn_py as acl

rng = np.random.default_rng(13)
logits = rng.normal(size=(256, 1000)).astype(np.float32)
gradient = rng.normal(size=logits.shape).astype(np.float32)


def open_device() -> acl.Device:
    """The first GPU, or the CPU device with the reason."""
    try:
        return acl.Device("cuda:0")
    except acl.AclError as error:
        print("On the CPU, for there is no GPU to use here:", str(error).splitlines()[0])
        return acl.Device("cpu:0")


def run(operator: str, stream: acl.Stream, *arguments: object) -> None:
    """Both phases of an operator that needs no workspace."""
    size, executor = getattr(acl, f"{operator}GetWorkspaceSize")(*arguments)
    assert size == 0  # contiguous, one dtype
    getattr(acl, operator)(None, size, executor, stream)


def two_streams(device: acl.Device) -> None:
    """Softmax in one stream, its gradient in another that waits for the event."""
    x, g = device.tensor(logits), device.tensor(gradient)
    y, out = (device.full(logits.shape, float("nan"), "float32") for _ in range(2))
    with device.create_stream() as producer, device.create_stream() as consumer:
        run("aclnnSoftmax", producer, x, -1, y)  # kernels are compiled at their first use
        run("aclnnSoftmaxBackward", producer, g, y, -1, out)
        begin = producer.record()
        run("aclnnSoftmax", producer, x, -1, y)
        ready = producer.record()
        consumer.wait(ready)
        run("aclnnSoftmaxBackward", consumer, g, y, -1, out)
        end = consumer.record()
        end.synchronize()
        print(f"both operators: {acl.aclrtEventElapsedTime(begin, end):.3f} ms by the events")
    p = softmax(logits)
    wide = gradient.astype(np.float64)
    want = p * (wide - (wide * p).sum(axis=1, keepdims=True))
    expect_close(f"gradient on {device!r}", out.numpy(), want, 1e-5, 1e-6)


def softmax(values: np.ndarray) -> np.ndarray:
    """In float64, by NumPy."""
    shifted = np.exp(values.astype(np.float64) - values.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


def shared_with_cupy(device: acl.Device) -> None:
    """CuPy scales, this library takes the softmax, CuPy adds: one stream, one memory, one wait."""
    import cupy  # noqa: PLC0415  # only where there is a GPU

    theirs = cupy.cuda.Stream(non_blocking=True)
    with theirs:
        scaled = cupy.asarray(logits) * 2
    x, out = device.from_dlpack(scaled), device.empty(logits.shape, "float32")
    result = cupy.from_dlpack(out)
    with acl.Stream.from_external(theirs, device) as ours, theirs:
        scaled += 1
        run("aclnnSoftmax", ours, x, -1, out)
        result *= 10
        theirs.synchronize()
    expect_close("shared with CuPy", result.get(), 10 * softmax(2 * logits + 1), 1e-5, 1e-6)


with open_device() as device:
    two_streams(device)
    if "cuda" in repr(device):
        shared_with_cupy(device)
