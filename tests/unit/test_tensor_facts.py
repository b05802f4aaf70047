# SPDX-License-Identifier: Apache-2.0
"""What one look at a usual tensor finds is what each fact by itself finds."""

from __future__ import annotations

from itertools import product
from math import prod

import pytest

from aclnn_native import calls
from aclnn_py.core.desc import TensorDesc, row_major_strides

FACTS = (
    "dtype", "numel", "storage_numel", "is_empty", "is_contiguous", "is_plain", "extent",
    "fits_storage", "is_countable",
)  # fmt: skip
SHAPES = ((), (1,), (8, 32), (3, 0, 2), (0, -1), (-2, -3), (1, 5, 1), (1 << 40, 1 << 30))
FLOAT, ND, NZ = 0, 2, 29


def facts(desc):
    return {name: getattr(desc, name) for name in FACTS}


def descriptions(shape):
    dense = row_major_strides(shape)
    padded = tuple(stride * 2 for stride in dense)
    storages = (shape, (*shape, 2), (1 << 62,), (prod(shape),), (prod(shape) - 1,))
    for strides, offset, storage, dtype, format_ in product(
        (dense, padded), (0, 3), storages, (FLOAT, 11, 99), (ND, NZ)
    ):
        yield shape, strides, offset, storage, dtype, format_


@pytest.mark.parametrize("shape", SHAPES)
def test_one_look_finds_the_facts(shape):
    for fields in descriptions(shape):
        seen = TensorDesc(*fields)
        seen.look()
        assert facts(seen) == facts(TensorDesc(*fields)), fields


def test_the_usual_tensor_is_known_after_one_look():
    dense, flat = (TensorDesc((2, 3), (3, 1), 0, storage, FLOAT) for storage in ((2, 3), (6,)))
    view = TensorDesc((2, 3), (1, 2), 0, (2, 3), FLOAT)
    for one in (dense, flat, view):
        one.look()
    assert dense.__dict__["is_plain"]
    assert flat.__dict__["is_plain"]
    assert "is_plain" not in view.__dict__


@pytest.mark.parametrize(
    ("dims", "strides", "numel"),
    [
        ((), (), 1), ((2, 3), (3, 1), 6), ((2, 0), (0, 1), 0), ((2, 3), (1, 2), -1),
        ((2, 3), (3,), -1), ((-1,), (1,), -1), ((1 << 40, 1 << 40), (1 << 40, 1), -1),
        ((1 << 70,), (1,), -1), ((2,), (1 << 70,), -1), (("2",), (1,), -1),
    ],
)  # fmt: skip
def test_elements_of_what_is_dense(dims, strides, numel):
    assert calls.dense_numel(dims, strides) == numel


@pytest.mark.parametrize("given", [(), ((2,),), ((2,), (1,), 0), ([2], (1,)), ((2,), [1])])
def test_only_tuples_are_dense(given):
    with pytest.raises(TypeError, match="tuple"):
        calls.dense_numel(*given)
