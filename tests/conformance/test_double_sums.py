# SPDX-License-Identifier: Apache-2.0
"""float64: thousands of terms too small for a large one beside them are not lost in its sum."""

from __future__ import annotations

import math

import numpy as np
import pytest

import aclnn_py.dialects.onednn as dnnl
from aclnn_py.core import settings
from aclnn_py.core.isa import supported
from support.invoke import invoke

ISAS = supported()
#: Added to 1 one by one, the first falls away each time, the second counts twice.
TERMS = [0.26 * 2.0**-52, 0.6 * 2.0**-52]
#: The reduced dimension is the second: rows whole and in chunks, one column, a few, many, planes.
PLACES = {
    "rows": (2, 30_011, 1), "chunks": (1, 400_003, 1), "short rows": (40, 2000, 1),
    "column": (1, 30_000, 1), "few": (1, 20_000, 8), "many": (1, 3000, 200),
    "middle": (2, 9000, 40), "tiles": (3, 1500, 128),
}  # fmt: skip
BOUND = 1e-14


def lines(place, term):
    """Along dimension 1 a 1 first and equal terms behind it."""
    outer, n, inner = PLACES[place]
    line = np.full((outer, n, inner), term)
    line[:, 0] = 1
    return line if inner > 1 or place == "column" else line[..., 0]


@pytest.mark.parametrize("term", TERMS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("layout", ["contiguous", "transposed"])
@pytest.mark.parametrize("isa", ISAS)
def test_forward(device, stream, isa, layout, place, term):
    x = np.log(lines(place, term))
    total = 1 + (x.shape[1] - 1) * math.exp(x.min())  # to within 2e-16
    wanted = {"Softmax": np.exp(x) / total, "LogSoftmax": x - math.log1p(total - 1)}
    for operator, want in wanted.items():
        with settings.override(isa=isa, fallback="error"):
            got, _ = invoke(device, stream, operator, [x], 1, layouts=layout)
        assert np.all(np.abs(got - want) <= BOUND * (np.abs(want) + 1)), operator


@pytest.mark.parametrize("term", TERMS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("algorithm", ["softmax_accurate", "softmax_log"])
@pytest.mark.parametrize("isa", ISAS)
def test_gradients(isa, algorithm, place, term):
    """Of a gradient of 1 everywhere, so that the sums are those of the forward outputs."""
    y = lines(place, term)
    gradient = np.ones_like(y)
    total = 1 + (y.shape[1] - 1) * term
    wanted = y * (gradient - total)
    if algorithm == "softmax_log":
        # The terms are the gradient, the probabilities what they are multiplied with.
        y, gradient = np.log(np.full_like(y, 0.5)), y
        wanted = gradient - 0.5 * total
    with settings.override(isa=isa, fallback="error"):
        got = onednn_gradient(algorithm, gradient, y)
    assert np.all(np.abs(got - wanted) <= BOUND * (np.abs(wanted) + 1))


def onednn_gradient(algorithm, gradient, y):
    engine = dnnl.engine(dnnl.engine_kind.cpu, 0, allow_f64=True)
    stream = dnnl.stream(engine)
    described = dnnl.memory_desc(y.shape, dnnl.data_type.f64, "abc"[: y.ndim])
    primitive = dnnl.softmax_backward.primitive_desc(
        engine, dnnl.algorithm[algorithm], described, described, described, 1
    )
    out = dnnl.memory(described, engine)
    arguments = {
        dnnl.DNNL_ARG_DIFF_DST: dnnl.memory(described, engine).write(gradient),
        dnnl.DNNL_ARG_DST: dnnl.memory(described, engine).write(y),
        dnnl.DNNL_ARG_DIFF_SRC: out,
    }
    dnnl.softmax_backward(primitive).execute(stream, arguments)
    stream.wait()
    return out.numpy()
