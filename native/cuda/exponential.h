/* SPDX-License-Identifier: Apache-2.0
 * exp of a double, without a branch or a call.
 *
 * The compiler's own calls a function for large arguments; values that a kernel holds in registers are spilled around
 * the call. This one is also the same text on the host.
 */
#ifndef ACLPY_CUDA_EXPONENTIAL_H
#define ACLPY_CUDA_EXPONENTIAL_H

#include "portable.h"

/* 2^k for k in [-1022, 1023]. */
__device__ inline double power_of_two(int k) { return from_bits((u64)(u32)(k + 1023) << 52); }

/* x = k ln 2 + r with |r| <= ln 2 / 2; Taylor's series of exp(r), whose next term is below 1e-17. At most 1 ulp. */
__device__ inline double exp_of(double x) {
  const double to_integer = 6755399441055744.0; /* 1.5 * 2^52: what is added to it is rounded to an integer */
  double in_range = x < -746.0 ? -746.0 : x;
  in_range = in_range > 710.0 ? 710.0 : in_range; /* a NaN passes both */
  const double shifted = fma(in_range, 1.4426950408889634, to_integer), k = shifted - to_integer;
  const double r = fma(-k, 1.9082149292705877e-10, fma(-k, 0.69314718036912382, in_range));
  double series = 1.0 / 6227020800.0;
  series = fma(series, r, 1.0 / 479001600.0);
  series = fma(series, r, 1.0 / 39916800.0);
  series = fma(series, r, 1.0 / 3628800.0);
  series = fma(series, r, 1.0 / 362880.0);
  series = fma(series, r, 1.0 / 40320.0);
  series = fma(series, r, 1.0 / 5040.0);
  series = fma(series, r, 1.0 / 720.0);
  series = fma(series, r, 1.0 / 120.0);
  series = fma(series, r, 1.0 / 24.0);
  series = fma(series, r, 1.0 / 6.0);
  series = fma(series, r, 0.5);
  series = fma(series, r, 1.0);
  series = fma(series, r, 1.0);
  /* Two factors: 2^-1074 and 2^1023 have none of their own with room beside it. */
  const int power = (int)(u32)bits_of(shifted), half = power / 2;
  return series * power_of_two(half) * power_of_two(power - half);
}

#endif
