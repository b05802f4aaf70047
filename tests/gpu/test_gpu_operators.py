# SPDX-License-Identifier: Apache-2.0
"""The conformance suite on a GPU: operators, casts and numbers, as on the CPU."""

from __future__ import annotations

import numpy as np
import pytest

from aclnn_py.backends import cuda_programs
from conformance import test_casts as casts
from conformance import test_operators as cases
from support import oracle
from support.cases import again
from support.invoke import invoke
from support.problems import OPERATORS, random_inputs

globals().update(again(cases, without=["test_every_operator_has_an_oracle"]))  # asks no device
globals().update(again(casts))


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize(
    ("shape", "dim"), [((3, 300_001), 1), ((1, 1 << 20), 1), ((200_000, 3), 0)], ids=str
)
def test_rows_that_several_blocks_share(device, stream, operator, shape, dim):
    arrays = random_inputs(operator, shape, np.float32, dim, seed=6)
    got, _ = invoke(device, stream, operator, arrays, dim)
    assert oracle.worst(operator, got, oracle.answer(operator, arrays, dim)) <= 1


@pytest.mark.parametrize("lie", ["contiguous", "offset"])
@pytest.mark.parametrize("dtype", [np.float32, np.float16], ids=lambda d: d.__name__)
@pytest.mark.parametrize("n", [20_000, 32_768, 50_257])
@pytest.mark.parametrize("operator", OPERATORS)
def test_long_rows_that_one_block_takes(device, stream, operator, n, dtype, lie):
    """So many that they are not divided; partly in shared memory, where the card has enough."""
    shape = (2 * cuda_programs.processors(device.index), n)
    arrays = random_inputs(operator, shape, dtype, 1, seed=8)
    got, _ = invoke(device, stream, operator, arrays, 1, layouts=lie, out_layout=lie)
    assert oracle.worst(operator, got, oracle.answer(operator, arrays, 1)) <= 1


@pytest.mark.parametrize("dtype", [np.float32, np.float16], ids=lambda d: d.__name__)
@pytest.mark.parametrize("shape", [(64, 4096), (4, 100_000), (2, 5000, 6)], ids=str)
@pytest.mark.parametrize("operator", OPERATORS)
def test_runs_give_the_same_bits(device, stream, second, operator, shape, dtype):
    arrays = random_inputs(operator, shape, dtype, 1, seed=7)
    first, _ = invoke(device, stream, operator, arrays, 1)
    for queue in (stream, second, stream):
        again, _ = invoke(device, queue, operator, arrays, 1)
        assert oracle.same_bits(again, first)
