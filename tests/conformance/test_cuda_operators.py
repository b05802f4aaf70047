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
from support.cases import again
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


globals().update(again(cases, without=["test_every_operator_has_an_oracle"]))  # asks no device
globals().update(again(casts))


def test_the_kernels_of_the_plans_have_run(device, twin):
    """The cases above go through the twin: this one runs a whole plan and looks at what ran."""
    twin.seen.clear()
    cases.test_layouts(device, None, "SoftmaxBackward", casts.FLOATS[1], "transposed")
    kinds = {name.rsplit("_", 1)[0] for name in twin.seen}
    assert {"softmax_backward_warp1", "copy_strided"} <= kinds
