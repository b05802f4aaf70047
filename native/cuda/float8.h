/* SPDX-License-Identifier: Apache-2.0
 * The eight-bit floats. Stores round once to nearest even; float8_e5m2 overflows to infinity, float8_e4m3fn, which has
 * none, to NaN.
 */
#ifndef ACLPY_CUDA_FLOAT8_H
#define ACLPY_CUDA_FLOAT8_H

#include "portable.h"

/* The magnitude in eight bits: `shift` significand bits go; below `least` lie subnormals, whose unit is the ulp of
 * `unit`; `bias` rebases the exponent. */
__device__ inline u32 float8_magnitude(u32 magnitude, u32 shift, float unit, u32 least, u32 bias) {
  if (magnitude < least) return bits_of(from_bits(magnitude) + unit) - bits_of(unit);
  return (magnitude + ((1u << (shift - 1)) - 1u) + (magnitude >> shift & 1u) - bias) >> shift;
}

struct f8e5m2 {
  using Stored = u8;
  using Real = float;
  __device__ static Real load(Stored x) { return f16::load((u16)((u32)x << 8)); }
  __device__ static Stored store(Real x) {
    const u32 magnitude = bits_of(x) & 0x7fffffffu;
    u32 held = float8_magnitude(magnitude, 21, 128.0f, 0x38800000u, 0x38000000u);
    held = held > 0x7cu ? 0x7cu : held;
    held = magnitude > 0x7f800000u ? 0x7eu : held;
    return (u8)(held | (bits_of(x) >> 24 & 0x80u));
  }
};

struct f8e4m3 {
  using Stored = u8;
  using Real = float;
  /* The exponent is rebased by a multiplication with 2^120, which also normalises subnormals. */
  __device__ static Real load(Stored x) {
    const u32 size = x & 0x7fu, finite = bits_of(from_bits(size << 20) * 0x1p120f);
    return from_bits((size == 0x7fu ? 0x7fc00000u : finite) | (u32)(x & 0x80u) << 24);
  }
  __device__ static Stored store(Real x) {
    const u32 magnitude = bits_of(x) & 0x7fffffffu;
    const u32 held = float8_magnitude(magnitude, 20, 16384.0f, 0x3c800000u, 0x3c000000u);
    return (u8)((held > 0x7eu ? 0x7fu : held) | (bits_of(x) >> 24 & 0x80u));
  }
};

#endif
