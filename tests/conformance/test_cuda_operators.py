# SPDX-License-Identifier: Apache-2.0
"""The operators' conformance cases with every step of their plans run by the CUDA kernels.

The kernels run as host code on the CPU device's memory: planning, workspace, strided inputs and
results, casts and in-place calls meet the kernels that a card would get.
"""

from __future__ import annotations

import pytest

from conformance import test_casts as casts
from conformance import test_operators as cases
from support import cuda_twin, invoke
from support.cuda_twin import Twin
from support.twin_plans import PROCESSORS, TwinPlans

pytestmark = pytest.mark.skipif(
    cuda_twin.compiler() is None, reason="no C++ compiler (set CXX, or install g++)"
)


@pytest.fixture(scope="module")
def twin():
    return Twin(cuda_twin.library())


@pytest.fixture(autouse=True, params=PROCESSORS, ids="{} processors".format)
def _on_the_twin(request, monkeypatch, twin):
    execute = TwinPlans(twin, request.param).execute
    for module in (invoke, cases):
        monkeypatch.setattr(module, "execute", execute)


test_row_lengths = cases.test_row_lengths
test_inner_widths = cases.test_inner_widths
test_layouts = cases.test_layouts
test_mixed_layouts_of_two_inputs = cases.test_mixed_layouts_of_two_inputs
test_in_place = cases.test_in_place
test_negative_dim_is_the_same_axis = cases.test_negative_dim_is_the_same_axis
test_ranks = cases.test_ranks
test_long_rows = cases.test_long_rows
test_the_result_is_cast = casts.test_the_result_is_cast
test_not_a_number_and_infinity_are_cast = casts.test_not_a_number_and_infinity_are_cast
test_log_softmax_casts_its_input = casts.test_log_softmax_casts_its_input
test_double_is_rounded_once = casts.test_double_is_rounded_once


def test_the_kernels_of_the_plans_have_run(device, twin):
    """The cases above go through the twin: this one runs a whole plan and looks at what ran."""
    twin.seen.clear()
    cases.test_layouts(device, None, "SoftmaxBackward", casts.FLOATS[1], "transposed")
    kinds = {name.rsplit("_", 1)[0] for name in twin.seen}
    assert {"softmax_backward_warp1", "copy_strided"} <= kinds
