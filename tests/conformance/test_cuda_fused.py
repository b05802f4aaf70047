# SPDX-License-Identifier: Apache-2.0
"""The fused softmax's conformance cases with every step of their plans run by the CUDA kernels.

Scales, post operations, mixed types, dropout and statistics meet the text that a card would get, as
host code on the CPU device's memory. Functions of one float have the bits of the CPU's kernels.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from aclnn_native import lib
from aclnn_py.core.extras import ELTWISE_ALGORITHMS, Binary, Dropout, Eltwise, Extras, Select
from conformance import test_fused_dropout as dropout
from conformance import test_fused_post_ops as post_ops
from conformance import test_fused_softmax as softmax
from support import cuda_twin, fused
from support.cuda_twin import Twin
from support.twin_plans import PROCESSORS, TwinPlans

pytestmark = pytest.mark.skipif(
    cuda_twin.compiler() is None, reason="no C++ compiler (set CXX, or install g++)"
)


@pytest.fixture(scope="module")
def twin():
    return Twin(cuda_twin.library())


@pytest.fixture
def isa():
    """The cases ask for one; the CUDA kernels have none."""
    return "cuda"


on_the_cpu = fused.call


@pytest.fixture(autouse=True, params=PROCESSORS, ids="{} processors".format)
def _on_the_twin(request, monkeypatch, twin):
    monkeypatch.setattr(fused, "call", TwinPlans(twin, request.param).call)


test_every_pairing_of_types = softmax.test_every_pairing_of_types
test_every_cut = softmax.test_every_cut
test_special_rows_stay_among_themselves = softmax.test_special_rows_stay_among_themselves
test_log_softmax_of_special_rows = softmax.test_log_softmax_of_special_rows
test_integers_clamp_then_round_to_even = softmax.test_integers_clamp_then_round_to_even
test_narrow_floats_round_to_even = softmax.test_narrow_floats_round_to_even
test_accumulation_in_the_destination = softmax.test_accumulation_in_the_destination
test_double_pairs = softmax.test_double_pairs
test_layouts_differ = softmax.test_layouts_differ
test_in_place = softmax.test_in_place
test_eltwise = post_ops.test_eltwise
test_binary_is_the_float32_operation = post_ops.test_binary_is_the_float32_operation
test_operands_of_every_type_and_broadcast = post_ops.test_operands_of_every_type_and_broadcast
test_every_float8_pattern_loads = post_ops.test_every_float8_pattern_loads
test_int32_rounds_to_nearest_float = post_ops.test_int32_rounds_to_nearest_float
test_select = post_ops.test_select
test_order_matters_and_is_kept = post_ops.test_order_matters_and_is_kept
test_many_post_ops = post_ops.test_thirty_two_post_ops_with_two_operands_each
test_mask_and_values = dropout.test_mask_and_values
test_a_narrow_seed_is_the_same_seed = dropout.test_a_narrow_seed_is_the_same_seed
test_probability_is_clamped = dropout.test_probability_is_clamped
test_without_a_mask_output_the_result_is_the_same = (
    dropout.test_without_a_mask_output_the_result_is_the_same
)
test_the_index_is_the_position_in_memory = dropout.test_the_index_is_the_position_in_memory
test_dropout_comes_after_the_scale = (
    dropout.test_dropout_comes_after_the_scale_and_before_post_operations
)


FUSES = bool(lib.aclpy_isa_supported() & 6)


@pytest.mark.skipif(not FUSES, reason="the processor has no fused products to compare with")
@pytest.mark.parametrize("alg", ELTWISE_ALGORITHMS)
def test_functions_have_the_bits_of_the_cpu(device, stream, monkeypatch, alg):
    """Both write the same arithmetic, so that a result does not depend on where it was computed."""
    plain = alg.removesuffix("_use_dst_for_bwd").removesuffix("_v2")
    t = post_ops.values((9, 2048), seed=12)
    for alpha, beta in post_ops.ELTWISE[plain][1]:
        operations = [Eltwise(alg, alpha, beta)]
        here = post_ops.through(device, stream, t, operations)
        with monkeypatch.context() as patch:
            patch.setattr(fused, "call", on_the_cpu)
            there = post_ops.through(device, stream, t, operations)
        both = np.isnan(here) & np.isnan(there)
        np.testing.assert_array_equal(here.view(np.uint32)[~both], there.view(np.uint32)[~both])


#: A row in a warp's memory, in a block's, streamed, divided; columns whole and divided.
WAYS = [
    ((5, 37), 1, "warp"), ((3, 3000), 1, "block"), ((3, 8200), 1, "stream"),
    ((1, 40_000), 1, "chunks"), ((3, 20, 40), 1, "tile"), ((1, 2100, 31), 1, "tile_chunks"),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "axis", "way"), WAYS, ids=[way for *_, way in WAYS])
@pytest.mark.parametrize("algorithm", ["softmax", "log_softmax"])
def test_every_way_with_everything(device, stream, monkeypatch, twin, shape, axis, way, algorithm):
    """All extras at once hold what the CPU's kernels give; the kernel meant is the one that ran."""
    extras = Extras(
        algorithm, src_scale=True, dst_scale=True, stats=True,
        dropout=Dropout(has_offset=True, has_mask=True),
        post_ops=(Binary("mul"), Eltwise("tanh"), Select(), Binary("add"), Eltwise("linear", 3, 1)),
    )  # fmt: skip
    x = softmax.source(shape, np.float16)
    row = tuple([1] * (len(shape) - 1) + [shape[-1]])
    tensors = {
        "src_scale": np.array([0.75], np.float32), "dst_scale": np.array([0.02], np.float32),
        "dropout_probability": np.array([0.2], np.float32),
        "dropout_seed": np.array([5], np.int64), "dropout_offset": np.array([9], np.int64),
        "post_op_0_src1": softmax.source(shape, ml_dtypes.bfloat16, 3),
        "post_op_2_src1": softmax.source(row, np.int8, 4),
        "post_op_2_src2": np.arange(np.prod(shape)).reshape(shape).astype(np.int8) % 3,
        "post_op_3_src1": softmax.source((*shape[:-1], 1), np.float16, 6),
    }  # fmt: skip
    twin.seen.clear()
    here = fused.forward(device, stream, extras, x, "uint8", axis, **tensors)
    assert f"softmax_fused_{way}" in twin.seen
    with monkeypatch.context() as patch:
        patch.setattr(fused, "call", on_the_cpu)
        there = fused.forward(device, stream, extras, x, "uint8", axis, **tensors)
    np.testing.assert_array_equal(here["dropout_mask"], there["dropout_mask"])
    np.testing.assert_allclose(here["stats"], there["stats"], rtol=3e-7)
    steps = np.abs(here["dst"].astype(int) - there["dst"].astype(int))
    assert steps.max() <= 1  # an exponential's last bit may cross a rounding
    assert np.mean(steps > 0) < 1e-3
