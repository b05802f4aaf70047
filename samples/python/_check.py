# SPDX-License-Identifier: Apache-2.0
"""What every sample does last: compare with NumPy, and exit non-zero when the result is wrong."""

import sys

import numpy as np
from numpy.typing import ArrayLike


def expect_close(
    name: str, got: ArrayLike, want: ArrayLike, rtol: float, atol: float = 1.2e-7
) -> None:
    """Exit with status 1 where the difference exceeds ``max(rtol * |want|, atol)``."""
    got = np.asarray(got, dtype=np.float64)
    want = np.asarray(want, dtype=np.float64)
    if got.shape != want.shape:
        sys.exit(f"{name}: WRONG, shape {got.shape} instead of {want.shape}")
    error = np.abs(got - want)
    allowed = np.maximum(rtol * np.abs(want), atol)
    if not (error <= allowed).all():  # written so that NaN fails too
        sys.exit(f"{name}: WRONG, off by {error.max():.3g}\n got  {got}\n want {want}")
    print(f"{name}: correct, largest difference from float64 NumPy {error.max():.2g}")


def expect(condition: bool, claim: str) -> None:
    """Print a claim that holds; exit with status 1 when it does not."""
    if not condition:
        sys.exit(f"WRONG: it should hold that {claim}")
    print(f"as it should be: {claim}")
