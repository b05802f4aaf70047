# SPDX-License-Identifier: Apache-2.0
"""What the tests share."""

import numpy as np
import pytest

SHAPE = (4, 9)


@pytest.fixture
def values() -> np.ndarray:
    return np.random.default_rng(1).normal(size=SHAPE).astype(np.float32)


@pytest.fixture
def expected(values: np.ndarray) -> np.ndarray:
    shifted = np.exp(values.astype(np.float64) - values.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)
