/* SPDX-License-Identifier: Apache-2.0
 * Floats to bytes: clamped, rounded to the nearest even integer, NaN as 0.
 */
#ifndef ACLPY_SIMD_BYTES_H
#define ACLPY_SIMD_BYTES_H

#include "isa.h"

/* Adding 1.5 * 2^23 leaves the value rounded to an integer in the low bits of the significand. */
ACLPY_INLINE uint32_t aclpy_quantize(float x, float low, float high) {
  const float up = x > low ? x : low;
  const float inside = up < high ? up : high;
  return aclpy_f32_bits((x == x ? inside : 0.0f) + 0x1.8p23f);
}

/* Four vectors as the bytes of one: int8 (`is_signed`, a constant) or uint8. `tame`: no NaN, nothing beyond 2^30. */
#if ACLPY_ISA_RANK == 3
/* As 32-bit integers, which are still to be clamped. What no integer stands for becomes the least one: right below 0
 * and for NaN in uint8, but not above. */
ACLPY_INLINE __m512i aclpy_byte_lanes_(v32 x, int is_signed, int tame) {
  if (tame) return _mm512_cvtps_epi32(x);
  if (!is_signed) return _mm512_cvtps_epi32(_mm512_min_ps(v32_set1(255.0f), x));
  const __mmask16 number = _mm512_cmp_ps_mask(x, x, _CMP_ORD_Q);
  return _mm512_maskz_cvtps_epi32(number, _mm512_min_ps(_mm512_max_ps(x, v32_set1(-128.0f)), v32_set1(127.0f)));
}
ACLPY_INLINE v32 v32_to_bytes(const v32 *v, int is_signed, int tame) {
  __m512i w[4];
  for (int k = 0; k < 4; ++k) w[k] = aclpy_byte_lanes_(v[k], is_signed, tame);
  const __m512i ab = _mm512_packs_epi32(w[0], w[1]), cd = _mm512_packs_epi32(w[2], w[3]);
  const __m512i mixed = is_signed ? _mm512_packs_epi16(ab, cd) : _mm512_packus_epi16(ab, cd);
  /* Packing goes on within 16 bytes: four of each vector lie in each of them. */
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return _mm512_castsi512_ps(_mm512_permutexvar_epi32(order, mixed));
}
#elif ACLPY_ISA_RANK == 2
/* As with AVX-512. */
ACLPY_INLINE __m256i aclpy_byte_lanes_(v32 x, int is_signed, int tame) {
  if (tame) return _mm256_cvtps_epi32(x);
  if (!is_signed) return _mm256_cvtps_epi32(_mm256_min_ps(v32_set1(255.0f), x));
  const v32 number = _mm256_and_ps(x, _mm256_cmp_ps(x, x, _CMP_ORD_Q));
  return _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(number, v32_set1(-128.0f)), v32_set1(127.0f)));
}
ACLPY_INLINE v32 v32_to_bytes(const v32 *v, int is_signed, int tame) {
  __m256i w[4];
  for (int k = 0; k < 4; ++k) w[k] = aclpy_byte_lanes_(v[k], is_signed, tame);
  const __m256i ab = _mm256_packs_epi32(w[0], w[1]), cd = _mm256_packs_epi32(w[2], w[3]);
  const __m256i mixed = is_signed ? _mm256_packs_epi16(ab, cd) : _mm256_packus_epi16(ab, cd);
  return _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(mixed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)));
}
#else
ACLPY_INLINE v32 v32_to_bytes(const v32 *v, int is_signed, int tame) {
  (void)tame;
  _Alignas(64) float x[4 * v32_LANES];
  _Alignas(64) uint8_t y[4 * v32_LANES];
  v32 packed;
  for (int k = 0; k < 4; ++k) v32_store(x + k * v32_LANES, v[k]);
  for (int i = 0; i < 4 * v32_LANES; ++i) {
    y[i] = (uint8_t)aclpy_quantize(x[i], is_signed ? -128.0f : 0.0f, is_signed ? 127.0f : 255.0f);
  }
  memcpy(&packed, y, sizeof packed);
  return packed;
}
#endif

/* y[0..n) = x[0..n) */
ACLPY_INLINE void aclpy_store_bytes(const float *restrict x, uint8_t *restrict y, int64_t n, int is_signed) {
  int64_t i = 0;
#if ACLPY_ISA_RANK == 3 /* elsewhere compilers do as well with the loop below */
  for (; i + 4 * v32_LANES <= n; i += 4 * v32_LANES) {
    v32 v[4];
    for (int k = 0; k < 4; ++k) v[k] = v32_load(x + i + k * v32_LANES);
    const v32 bytes = v32_to_bytes(v, is_signed, 0);
    memcpy(y + i, &bytes, sizeof bytes);
  }
#endif
  const float low = is_signed ? -128.0f : 0.0f, high = is_signed ? 127.0f : 255.0f;
  for (; i < n; ++i) y[i] = (uint8_t)aclpy_quantize(x[i], low, high);
}

#endif
