# SPDX-License-Identifier: Apache-2.0
"""Random problems on both devices: each holds the oracle's bound, so both agree within it."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aclnn_py as acl
from support import oracle
from support.invoke import invoke
from support.layouts import LAYOUTS, OUT_LAYOUTS
from support.problems import OPERATORS, random_inputs

DTYPES = (np.float32, np.float16, ml_dtypes.bfloat16)

problems = st.fixed_dictionaries(
    {
        "operator": st.sampled_from(OPERATORS),
        "dtype": st.sampled_from(DTYPES),
        "shape": st.lists(st.integers(1, 70), min_size=1, max_size=3).map(tuple)
        | st.tuples(st.integers(1, 5), st.integers(1, 9000)),
        "axis": st.integers(0, 100),
        "layouts": st.sampled_from([name for name in LAYOUTS if name != "broadcast"]),
        "out_layout": st.sampled_from(OUT_LAYOUTS),
        "seed": st.integers(0, 1 << 30),
    }
)


@pytest.fixture(scope="session")
def cpu():
    with acl.Device("cpu:0") as device, device.create_stream() as stream:
        yield device, stream


@settings(max_examples=300)
@given(problem=problems)
def test_random_problems(device, stream, cpu, problem):
    operator, shape = problem["operator"], problem["shape"]
    dim = problem["axis"] % len(shape)
    arrays = random_inputs(operator, shape, problem["dtype"], dim, problem["seed"])
    how = {key: problem[key] for key in ("layouts", "out_layout")}
    want = oracle.answer(operator, arrays, dim)
    for place, queue in ((device, stream), cpu):
        got, _ = invoke(place, queue, operator, arrays, dim, **how)
        assert oracle.worst(operator, got, want) <= 1, place
