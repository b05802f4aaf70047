# SPDX-License-Identifier: Apache-2.0
"""Workspace sizes: typed examples, and a model of the vendor's allocator written from its description alone."""
# ruff: noqa: E501  # one row of a table is one line

from __future__ import annotations

from dataclasses import dataclass, field

import hypothesis.strategies as st
import pytest
from hypothesis import example, given

import aclnn_py as acl
from aclnn_py.core import settings
from support.problems import BACKWARD, FORWARD
from support.process import run_python
from support.tensors import SOCS, build, planner

MIB16 = 16 * 1024 * 1024
BYTES = {
    "FLOAT": 4,
    "FLOAT16": 2,
    "BF16": 2,
    "DOUBLE": 8,
    "INT8": 1,
    "BOOL": 1,
    "INT64": 8,
    "COMPLEX128": 16,
}


def size_of(soc, operator, *cells):
    with settings.override(soc=SOCS[soc]):
        size, executor = planner(operator)(*(build(cell) for cell in cells))
        acl.aclDestroyAclOpExecutor(executor)
    return size


# ---- typed examples -----------------------------------------------------------------------------

T43 = "FLOAT[4,3] strides=1,4 storage=12"  # 48 bytes, transposed
# fmt: off
EXAMPLES = [
    # a dense call of one dtype needs nothing, but for the reserve of 950
    ("910B", ("Softmax", "FLOAT[2,3]", 1, "FLOAT[2,3]"), 0),
    ("910", ("LogSoftmax", "FLOAT16[2,3]", 1, "FLOAT16[2,3]"), 0),
    ("910B", ("SoftmaxBackward", "FLOAT[2,3]", "FLOAT[2,3]", 1, "FLOAT[2,3]"), 0),
    ("950", ("Softmax", "FLOAT[2,3]", 1, "FLOAT[2,3]"), 16777728),
    ("950", ("LogSoftmax", "FLOAT[2,3]", 1, "FLOAT[2,3]"), 16777728),
    ("950", ("SoftmaxBackward", "FLOAT[2,3]", "FLOAT[2,3]", 1, "FLOAT[2,3]"), 16777728),
    ("950", ("LogSoftmaxBackward", "BF16[2,3]", "BF16[2,3]", 1, "BF16[2,3]"), 16777728),
    ("950", ("Softmax", "DOUBLE[2,3]", 1, "DOUBLE[2,3]"), 0),
    # empty: nothing at all
    ("910B", ("Softmax", "FLOAT[0,3]", 1, "DOUBLE[0,3]"), 0),
    ("950", ("SoftmaxBackward", "FLOAT[0,3]", "FLOAT[0,3]", 1, "FLOAT[0,3]"), 0),
    # rounding of one item: (n + 32 + 511) down to 512
    ("910B", ("Softmax", "FLOAT16[1]", 0, "FLOAT[1]"), 512),
    ("910B", ("Softmax", "FLOAT16[240]", 0, "FLOAT[240]"), 512),
    ("910B", ("Softmax", "FLOAT16[241]", 0, "FLOAT[241]"), 1024),
    ("910B", ("Softmax", "FLOAT16[496]", 0, "FLOAT[496]"), 1024),
    ("910B", ("Softmax", "FLOAT16[497]", 0, "FLOAT[497]"), 1536),
    ("910B", ("Softmax", "FLOAT16[4096,2048]", 0, "FLOAT[4096,2048]"), 16777728),
    # the item that is rounded is the intermediate: result in self's dtype, or the cast input
    ("910B", ("Softmax", "FLOAT[200]", 0, "FLOAT16[200]"), 1024),
    ("910B", ("LogSoftmax", "FLOAT[200]", 0, "FLOAT16[200]"), 512),
    ("910B", ("LogSoftmax", "FLOAT16[200]", 0, "FLOAT[200]"), 1024),
    ("950", ("Softmax", "FLOAT16[2,3]", 1, "FLOAT[2,3]"), 16777728 + 512),
    # one strided input, two strided inputs, the same tensor twice
    ("910B", ("Softmax", T43, 1, "FLOAT[4,3]"), 512),
    ("910B", ("SoftmaxBackward", T43, "FLOAT[4,3]", 1, "FLOAT[4,3]"), 512),
    ("910B", ("SoftmaxBackward", T43, T43, 1, "FLOAT[4,3]"), 1024),
    # strided out: the result waits in the workspace
    ("910B", ("Softmax", "FLOAT[4,3]", 1, T43), 512),
    # in, result: both alive while the kernel runs; a later item takes the bucket of a dead one
    ("910B", ("Softmax", T43, 1, T43), 1024),
    ("910B", ("Softmax", "FLOAT[40,30] strides=1,40 storage=1200", 1, "DOUBLE[40,30] strides=1,40 storage=1200"), 9728 + 5120),
    ("950", ("Softmax", T43, 1, "FLOAT16[4,3] strides=1,4 storage=12"), 512 + 16777728 + 512),
    # contiguous out inside a larger storage: written directly, or copied on the older chips
    ("910B", ("Softmax", "FLOAT[2,3]", 1, "FLOAT[2,3] storage=7"), 0),
    ("950", ("Softmax", "FLOAT[2,3]", 1, "FLOAT[2,3] storage=7"), 16777728),
    ("910", ("Softmax", "FLOAT[2,3]", 1, "FLOAT[2,3] storage=7"), 512),
    ("310P", ("LogSoftmaxBackward", "FLOAT[2,3]", "FLOAT[2,3]", 1, "FLOAT[2,3] storage=7"), 512),
    ("910", ("Softmax", "FLOAT[2,3]", 1, "FLOAT[2,3] offset=1 storage=7"), 0),
    ("910", ("Softmax", "FLOAT[2,3]", 1, "FLOAT[2,3] offset=1 storage=8"), 512),
]
# fmt: on


@pytest.mark.parametrize(
    ("soc", "call", "size"), EXAMPLES, ids=[f"{s} {' '.join(map(str, c))}" for s, c, _ in EXAMPLES]
)
def test_typed_sizes(soc, call, size):
    assert size_of(soc, *call) == size


# ---- the model ----------------------------------------------------------------------------------


@dataclass
class Kernel:
    """One launch of the vendor's: private workspaces [bytes], result [bytes], which results it reads."""

    private: list[int] = field(default_factory=list)
    result: int | None = None
    reads: list[int] = field(default_factory=list)


def aligned(size: int) -> int:
    return (size + 32 + 511) & ~511


def total(kernels: list[Kernel]) -> int:
    """Bucket reuse: the last bucket whose newest member is dead before the item is born."""
    buckets: list[dict] = []
    for now, kernel in enumerate(kernels):
        readers = [k for k, other in enumerate(kernels) if now in other.reads]
        items = [(size, now, now) for size in kernel.private]
        if kernel.result is not None:
            items.append((kernel.result, now, max(readers, default=now)))
        for size, born, dies in items:
            free = [b for b in buckets if b["newest"][1] < born or b["newest"][0] > dies]
            target = free[-1] if free else {"size": 0}
            if not free:
                buckets.append(target)
            target["size"] = max(target["size"], aligned(size))
            target["newest"] = (born, dies)
    return sum(bucket["size"] for bucket in buckets)


def model(soc, operator, dtype, out_dtype, count, strided, out) -> int:
    """The launches of one call on `count` elements, then the allocator over them."""
    kernels: list[Kernel] = []

    def launch(**options) -> int:
        kernels.append(Kernel(**options))
        return len(kernels) - 1

    kind = dtype
    sources = [launch(result=count * BYTES[kind]) if is_strided else -1 for is_strided in strided]
    if operator == "LogSoftmax" and out_dtype != dtype:
        kind = out_dtype
        sources = [launch(result=count * BYTES[kind], reads=sources)]
    reserve = [MIB16] if soc == "950" and kind != "DOUBLE" else []
    last = launch(private=reserve, result=count * BYTES[kind], reads=sources)
    if kind != out_dtype:
        last = launch(result=count * BYTES[out_dtype], reads=[last])
    if out == "strided" or (out == "padded" and soc in ("910", "310P")):
        launch(reads=[last])
    else:
        kernels[last].result = None
    return total(kernels)


@st.composite
def calls(draw):
    operator = draw(st.sampled_from((*FORWARD, *BACKWARD)))
    soc = draw(st.sampled_from(("910", "310P", "910B", "910_93", "950")))
    floats = ["FLOAT", "FLOAT16"] + (["DOUBLE"] if operator in FORWARD else [])
    dtype = draw(
        st.sampled_from(floats + (["BF16"] if soc.startswith("9") and soc != "910" else []))
    )
    outs = (
        floats
        if operator in FORWARD
        else ["FLOAT", "FLOAT16", "DOUBLE", "INT8", "BOOL", "INT64", "COMPLEX128"]
    )
    out_dtype = draw(st.sampled_from([dtype, *outs]))
    rows, columns = draw(st.integers(2, 90)), draw(st.integers(2, 90))
    strided = draw(st.tuples(*[st.booleans()] * (1 if operator in FORWARD else 2)))
    return (
        soc,
        operator,
        dtype,
        out_dtype,
        (rows, columns),
        strided,
        draw(st.sampled_from(("dense", "padded", "strided"))),
    )


@given(calls())
@example(("950", "SoftmaxBackward", "FLOAT16", "DOUBLE", (30, 40), (True, True), "strided"))
@example(("910", "LogSoftmax", "FLOAT16", "DOUBLE", (30, 40), (True,), "padded"))
def test_sizes_follow_the_model(call):
    soc, operator, dtype, out_dtype, (rows, columns), strided, out = call
    count = rows * columns

    def line(kind, how):
        tail = {
            "strided": f" strides=1,{rows} storage={count}",
            "padded": f" storage={count + 1}",
            "dense": "",
        }[how]
        return f"{kind}[{rows},{columns}]{tail}"

    inputs = [line(dtype, "strided" if is_strided else "dense") for is_strided in strided]
    expected = model(soc, operator, dtype, out_dtype, count, strided, out)
    assert size_of(soc, operator, *inputs, 1, line(out_dtype, out)) == expected


# ---- nothing tensor-sized anywhere else ---------------------------------------------------------

_PEAK = """
import resource, sys
import numpy as np
import aclnn_py as acl
device = acl.Device(0)
stream = device.create_stream()
def call(rows, columns):
    a = device.empty((columns, rows), "float16").transpose(1, 0)
    out = device.empty((columns, rows), "float32").transpose(1, 0)
    size, executor = acl.aclnnSoftmaxGetWorkspaceSize(a, 1, out)
    memory = device.malloc(size)
    acl.aclrtSetDevice(0)
    acl.aclrtMemset(memory, size, 1, size)
    acl.aclrtMemset(acl.aclGetRawTensorAddr(out), out.nbytes, 1, out.nbytes)
    acl.aclrtMemset(acl.aclGetRawTensorAddr(a), a.nbytes, 1, a.nbytes)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    acl.aclnnSoftmax(memory, size, executor, stream)
    stream.synchronize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
call(64, 64)
print(call(8192, 2048))
"""


def test_no_tensor_sized_allocation_outside_the_workspace():
    """32 MiB in, 64 MiB out, both strided, with a cast between: the peak does not move while it runs."""
    done = run_python(_PEAK)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 8 * 1024, f"{done.stdout.strip()} KiB more than before phase 2"
