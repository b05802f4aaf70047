/* SPDX-License-Identifier: Apache-2.0
 * float16 and bfloat16 to and from float, one value at a time, in integer arithmetic: round to nearest even.
 *
 * Free of branches, so that compilers vectorise loops over them. NaNs keep sign and upper payload and become quiet.
 */
#ifndef ACLPY_SIMD_HALF_H
#define ACLPY_SIMD_HALF_H

ACLPY_INLINE uint32_t aclpy_f32_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

ACLPY_INLINE float aclpy_f32_from_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
/* Whether a division by x is a multiplication by 1 / x: both round the same number, for x is a power of two. */
ACLPY_INLINE int aclpy_f32_inverts(float x) {
  const uint32_t bits = aclpy_f32_bits(x), exponent = bits >> 23 & 0xffu;
  return (bits & 0x7fffffu) == 0 && exponent > 0 && exponent <= 253;
}

ACLPY_INLINE float aclpy_f32_from_bf16(uint16_t h) { return aclpy_f32_from_bits((uint32_t)h << 16); }

ACLPY_INLINE uint16_t aclpy_bf16_from_f32(float x) {
  const uint32_t bits = aclpy_f32_bits(x);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const uint32_t quiet = (bits >> 16) | 0x40u;
  return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

/* The exponent is rebiased by a multiplication, which also normalises subnormals exactly. */
ACLPY_INLINE float aclpy_f32_from_f16(uint16_t h) {
  const uint32_t magnitude = (uint32_t)(h & 0x7fffu) << 13;
  const uint32_t finite = aclpy_f32_bits(aclpy_f32_from_bits(magnitude) * 0x1p112f);
  const uint32_t special = magnitude | 0x7f800000u | (magnitude > 0x0f800000u ? 0x00400000u : 0u);
  return aclpy_f32_from_bits((magnitude >= 0x0f800000u ? special : finite) | ((uint32_t)(h & 0x8000u) << 16));
}

/* Below 2^-14 the sum with 0.5 leaves the rounded multiple of 2^-24 in the low bits of the significand. */
ACLPY_INLINE uint16_t aclpy_f16_from_f32(float x) {
  const uint32_t bits = aclpy_f32_bits(x);
  const uint32_t magnitude = bits & 0x7fffffffu;
  const uint32_t small = aclpy_f32_bits(aclpy_f32_from_bits(magnitude) + 0.5f) - 0x3f000000u;
  const uint32_t normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
  const uint32_t nan = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  uint32_t h = magnitude < 0x38800000u ? small : normal;
  h = magnitude >= 0x477ff000u ? 0x7c00u : h;
  h = magnitude > 0x7f800000u ? nan : h;
  return (uint16_t)(h | ((bits >> 16) & 0x8000u));
}

#endif
