# SPDX-License-Identifier: Apache-2.0
"""Dropout: the stream of draws, its statistics, the mask, and that only positions count."""

from __future__ import annotations

import numpy as np
import pytest

from aclnn_py.core import settings
from aclnn_py.core.extras import Binary, Dropout, Eltwise, Extras
from aclnn_py.core.isa import supported
from support.fused import forward

ISAS = supported()
MASK = 0xFFFFFFFF


@pytest.fixture(params=ISAS)
def isa(request):
    with settings.override(isa=request.param, fallback="error"):
        yield request.param


def philox(counter, key):
    """Philox 4x32-10 on Python integers."""
    a, b, c, d = counter
    low, high = key
    for _ in range(10):
        p, q = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (q >> 32) ^ b ^ low, q & MASK, (p >> 32) ^ d ^ high, p & MASK
        low, high = (low + 0x9E3779B9) & MASK, (high + 0xBB67AE85) & MASK
    return a, b, c, d


def draws(count, seed, offset=0):
    seed, offset = seed % 2**64, offset % 2**64
    found = []
    for g in range((count + 3) // 4):
        if offset == 0:
            found += philox([(4 * g + k) & MASK for k in range(4)], (seed & MASK, seed & MASK))
        else:
            counter = (offset & MASK, offset >> 32, 4 * g & MASK, 4 * g >> 32)
            found += philox(counter, (seed & MASK, seed >> 32))
    return np.array(found[:count], np.uint64)


def test_philox_known_answers():
    """The published vectors of Philox 4x32-10 (Random123, kat_vectors)."""
    assert philox((0, 0, 0, 0), (0, 0)) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)
    ones = (MASK,) * 4
    assert philox(ones, (MASK, MASK)) == (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)


def drop(
    device,
    stream,
    x,
    p,
    seed,
    offset=None,
    *,
    kind=np.int64,
    dst="float32",
    post_ops=(),
    axis=1,
    **tensors,
):
    extras = Extras(dropout=Dropout(offset is not None, has_mask=True), post_ops=post_ops)
    if offset is not None:
        tensors["dropout_offset"] = np.array([offset], np.int64)
    return forward(device, stream, extras, x, dst, axis,
                   dropout_probability=np.array([p], np.float32),
                   dropout_seed=np.array([seed], kind), **tensors)  # fmt: skip


def sample(shape):
    return np.random.default_rng(1).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("offset", [None, 0, 1, 2**40 + 3, -1])
@pytest.mark.parametrize("seed", [0, 1, 123456789, -5, 2**45 + 9])
def test_mask_and_values(device, stream, isa, seed, offset):
    x = sample((13, 101))
    plain = forward(device, stream, Extras(), x, "float32", 1)["dst"]
    got = drop(device, stream, x, 0.3, seed, offset)
    threshold = int(float(np.float32(0.3)) * (2**32 - 1))
    want = draws(x.size, seed, offset or 0).reshape(x.shape) > threshold
    np.testing.assert_array_equal(got["dropout_mask"], want.astype(np.uint8))
    scaled = plain / (np.float32(1) - np.float32(0.3))
    np.testing.assert_allclose(got["dst"], np.where(want, scaled, 0), rtol=1e-6)
    assert np.all(got["dst"][~want] == 0)


def test_a_narrow_seed_is_the_same_seed(device, stream, isa):
    x = sample((3, 50))
    for seed in (7, -7):
        wide = drop(device, stream, x, 0.5, seed, 3)
        narrow = drop(device, stream, x, 0.5, seed, 3, kind=np.int32)
        np.testing.assert_array_equal(wide["dst"], narrow["dst"])


@pytest.mark.parametrize(
    ("p", "kept"), [(0.0, 1.0), (-1.0, 1.0), (1.0, 0.0), (7.0, 0.0), (np.nan, 1.0)]
)
def test_probability_is_clamped(device, stream, isa, p, kept):
    x = sample((5, 64))
    got = drop(device, stream, x, p, 11)
    plain = forward(device, stream, Extras(), x, "float32", 1)["dst"]
    # A draw of exactly 0 is not greater than 0; there is none among these.
    np.testing.assert_array_equal(got["dropout_mask"], np.full(x.shape, kept, np.uint8))
    np.testing.assert_allclose(got["dst"], plain * np.float32(kept), rtol=1e-6)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_the_share_kept(device, stream, isa, p):
    mask = drop(device, stream, sample((1000, 300)), p, 42)["dropout_mask"]
    deviation = np.sqrt(p * (1 - p) / mask.size)
    assert abs(mask.mean() - (1 - p)) < 5 * deviation
    neighbours = np.mean(mask[:, 1:] * mask[:, :-1]) - (1 - p) ** 2
    assert abs(neighbours) < 8 * deviation


def test_without_a_mask_output_the_result_is_the_same(device, stream, isa):
    x = sample((40, 333))
    shown = drop(device, stream, x, 0.4, 9)["dst"]
    extras = Extras(dropout=Dropout())
    hidden = forward(device, stream, extras, x, "float32", 1,
                     dropout_probability=np.array([0.4], np.float32),
                     dropout_seed=np.array([9], np.int64))["dst"]  # fmt: skip
    np.testing.assert_array_equal(shown, hidden)


def test_the_index_is_the_position_in_memory(device, stream, isa):
    """A destination whose last axis comes first in memory draws by its memory order."""
    x = sample((6, 10))
    dst = device.empty((10, 6), "float32").transpose(1, 0)
    mask = device.empty((10, 6), "uint8").transpose(1, 0)
    extras = Extras(dropout=Dropout(has_mask=True))
    got = forward(device, stream, extras, x, "float32", 1, dst=dst, dropout_mask=mask,
                  dropout_probability=np.array([0.5], np.float32),
                  dropout_seed=np.array([77], np.int64))  # fmt: skip
    threshold = int(0.5 * (2**32 - 1))
    want = (draws(60, 77) > threshold).reshape(10, 6).T
    np.testing.assert_array_equal(got["dropout_mask"], want.astype(np.uint8))
    assert np.all((got["dst"] != 0) == want)


def test_dropout_comes_after_the_scale_and_before_post_operations(device, stream, isa):
    x = sample((4, 80))
    got = drop(device, stream, x, 0.5, 5, post_ops=(Binary("add"), Eltwise("linear", 2, 0)),
               post_op_0_src1=np.ones((1, 1), np.float32))  # fmt: skip
    plain = forward(device, stream, Extras(), x, "float32", 1)["dst"]
    mask = got["dropout_mask"].astype(np.float32)
    np.testing.assert_allclose(got["dst"], (plain / np.float32(0.5) * mask + 1) * 2, rtol=1e-6)


def test_every_isa_has_the_same_mask(device, stream):
    found = []
    for isa in ISAS:
        with settings.override(isa=isa, fallback="error"):
            found.append(drop(device, stream, sample((37, 1001)), 0.25, 3, 8)["dropout_mask"])
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)
