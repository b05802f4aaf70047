# SPDX-License-Identifier: Apache-2.0
"""A GPU engine of the oneDNN dialect, over a CuPy without a GPU: values, layouts, refusals.

Every primitive goes through phase 1, the launches and the CUDA kernels as host code; results are
held to the dialect's own oracle.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from aclnn_py.dialects import onednn as dnnl
from support import cuda_twin
from support import onednn_oracle as oracle
from support.onednn import NUMPY, Bench, md, refused
from support.onednn_problems import ELTWISE_PARAMETERS, run_backward, run_forward

pytestmark = pytest.mark.skipif(cuda_twin.compiler() is None, reason="no C++ compiler")

GPU = dnnl.engine_kind.gpu
SOURCES = ("f32", "bf16", "f16", "s8", "u8")
TARGETS = (*SOURCES, "f8_e5m2", "f8_e4m3")
FLOATS = SOURCES[:3]
FLOAT_PAIRS = (("f32", "f32"), ("f16", "bf16"))
SCALES = {"s8": "scale:dst:0.0078125", "u8": "scale:dst:0.00390625"}


@pytest.fixture
def bench(cupy):
    made = Bench(GPU)
    yield made
    made.stream.runtime_stream.close()
    made.engine.device.close()


def test_engines_are_the_gpus_that_cupy_finds(cupy):
    assert dnnl.engine.get_count(GPU) == 2
    engine = dnnl.engine(GPU, 1)
    assert repr(engine) == "<engine gpu 1>"
    assert engine.device.kind == "cuda"
    with refused("invalid_arguments", "index"):
        dnnl.engine(GPU, 2)
    engine.device.close()


def test_without_a_gpu_there_is_none_and_it_says_what_to_ask(cupy, monkeypatch):
    monkeypatch.setattr(cupy.cuda.runtime, "devices", 0)
    assert dnnl.engine.get_count(GPU) == 0
    with refused("invalid_arguments", "kind") as caught:
        dnnl.engine(GPU, 0)
    assert "aclnn-py info" in str(caught.value)


@pytest.mark.parametrize(("src", "dst"), list(product(SOURCES, TARGETS)))
@pytest.mark.parametrize("algorithm", ["accurate", "log"])
def test_every_pairing_of_types(bench, src, dst, algorithm):
    for axis, shape in ((1, (5, 37)), (0, (19, 6))):
        x = oracle.logits(shape, NUMPY[src], seed=axis)
        attribute = SCALES.get(dst, "none")
        run_forward(bench, x, axis, dst=dst, algorithm=algorithm, attribute=attribute)


@pytest.mark.parametrize(
    "attribute",
    [
        "scale:src:0.5+scale:dst:2", "dropout:0.3:11::mask", "dropout:0.5:7:3:mask s32",
        "binary:add:full", "binary:mul:channel", "binary:max:row:bf16", "binary:div:scalar",
        "binary:sub:full:f32:second_last", "select:row", "accumulation:any", "user_scratchpad",
        "scale:src:0.5+dropout:0.25:3::mask+eltwise:tanh+binary:add:row+select:full+scale:dst:0.25",
        *[f"eltwise:{name}" for name in ELTWISE_PARAMETERS],
    ],
)  # fmt: skip
def test_attributes(bench, attribute):
    layout = "second_last" if attribute.endswith("second_last") else None
    attribute = attribute.removesuffix(":second_last")
    quantised = "scale:" in attribute  # section 1.5: scales are for them
    for dtype, dst in (("s8", "f16"), ("f32", "u8")) if quantised else FLOAT_PAIRS:
        x = oracle.logits((3, 7, 20), NUMPY[dtype], seed=3)
        layouts = {"src_layout": layout, "dst_layout": layout} if layout else {}
        run_forward(bench, x, 1, dst=dst, attribute=attribute, **layouts)


@pytest.mark.parametrize("layouts", [("last_first", "plain"), ("gaps", "second_last")])
def test_layouts_and_gaps(bench, layouts):
    """Memory is written and read as its descriptor says; gaps keep their bytes."""
    x = oracle.logits((4, 6, 5), np.float32)
    run_forward(bench, x, 2, dst="f16", src_layout=layouts[0], dst_layout=layouts[1])
    desc = md((2, 3), "f32", (8, 1))
    memory = bench.memory(desc)
    memory.write(np.arange(6).reshape(2, 3))
    np.testing.assert_array_equal(memory.numpy(), np.arange(6).reshape(2, 3))


def test_data_handles_are_the_gpu_s(bench):
    desc, buffer = md((2, 3)), bench.engine.device.malloc(24)
    for handle in (buffer, int(buffer)):
        memory = dnnl.memory(desc, bench.engine, handle).write(np.ones((2, 3)))
        assert memory.get_data_handle() == int(buffer)
        assert (memory.numpy() == 1).all()
    emulated = dnnl.engine(dnnl.engine_kind.cpu, 0).device.malloc(24)
    host = np.zeros(6, np.float32)
    for handle in (emulated, int(emulated), host.ctypes.data, int(buffer) + 4):
        with refused("invalid_arguments", "handle"):
            memory.set_data_handle(handle)
    with refused("invalid_arguments", "handle"):
        dnnl.memory(desc, dnnl.engine(dnnl.engine_kind.cpu, 0), buffer)


def test_in_place(bench):
    run_forward(bench, oracle.logits((6, 40), np.float32), 1, in_place=True)
    y, g = oracle.gradients((6, 40), NUMPY["f32"], 1, log=False)
    run_backward(bench, y, g, 1, in_place=True)


@pytest.mark.parametrize(("given", "wanted"), list(product(FLOATS, FLOATS)))
@pytest.mark.parametrize("algorithm", ["accurate", "log"])
def test_gradients(bench, given, wanted, algorithm):
    for axis, shape in ((1, (5, 37)), (0, (19, 6))):
        y, g = oracle.gradients(shape, NUMPY[given], axis, log=algorithm == "log")
        run_backward(bench, y, g, axis, diff_src=wanted, algorithm=algorithm)


def test_zero_rows(bench):
    x = oracle.logits((4, 9), np.float32)
    x[2] = -np.inf
    run_forward(bench, x, 1, algorithm="inf_as_zero", attribute="eltwise:linear")


def test_f64(bench):
    """GPU engines have it; post operations follow in float32."""
    shape = (3, 33)
    x = oracle.logits(shape, np.float64)
    src, dst = bench.memory(md(shape, "f64"), x), bench.memory(md(shape, "f64"))
    pd = bench.forward_pd(src.desc, dst.desc, 1)
    bench.run(dnnl.softmax_forward(pd), {dnnl.DNNL_ARG_SRC: src, dnnl.DNNL_ARG_DST: dst})
    np.testing.assert_allclose(dst.numpy(), oracle.value(x, 1, log=False), rtol=1e-14)


def test_the_descriptor_names_cuda_kernels(bench):
    pd = bench.forward_pd(md((5, 7), "s8"), md((5, 7), "f32"), 1)
    assert pd.impl_info_str() == "cuda:softmax_fused f32"


def test_what_gpu_engines_refuse(bench):
    """Section 1.3: float8 sources; section 1.5: scalars on the host; memory of the other engine."""
    with refused("unimplemented"):
        bench.forward_pd(md((5, 7), "f8_e5m2"), md((5, 7), "f32"), 1)
    attr = dnnl.primitive_attr()
    attr.set_host_scale(dnnl.DNNL_ARG_SRC)
    with refused("unimplemented"):
        bench.forward_pd(md((5, 7)), md((5, 7)), 1, attr=attr)
    other = Bench()
    pd = bench.forward_pd(md((5, 7)), md((5, 7)), 1)
    args = {
        dnnl.DNNL_ARG_SRC: other.memory(md((5, 7))),
        dnnl.DNNL_ARG_DST: bench.memory(md((5, 7))),
    }
    with refused("invalid_arguments", r"args\[1\]"):
        dnnl.softmax_forward(pd).execute(bench.stream, args)
