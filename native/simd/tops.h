/* SPDX-License-Identifier: Apache-2.0
 * top_<t>: the largest of a row, four vectors at a time: top_first, top_quad, top_value. NaNs may be passed over, or
 * make the result NaN.
 *
 * Numbers of 16 bits need no conversion with AVX-512: the largest is that of the bit patterns read as signed words
 * where one of them is not negative, else the least of unsigned ones.
 */
#ifndef ACLPY_SIMD_TOPS_H
#define ACLPY_SIMD_TOPS_H

#include "isa.h"

#define ACLPY_TOP_(t, stored)                                                               \
  typedef struct top_##t {                                                                  \
    v32 m[4];                                                                               \
  } top_##t;                                                                                \
  ACLPY_INLINE top_##t top_first_##t(void) {                                                \
    const v32 low = v32_set1(-__builtin_inff());                                            \
    const top_##t top = {{low, low, low, low}};                                             \
    return top;                                                                             \
  }                                                                                         \
  ACLPY_INLINE void top_quad_##t(top_##t *top, const stored *p) {                           \
    for (int k = 0; k < 4; ++k) top->m[k] = v32_max(ld_##t(p + k * v32_LANES), top->m[k]);  \
  }                                                                                         \
  ACLPY_INLINE float top_value_##t(const top_##t *top) {                                    \
    return v32_hmax(v32_max(v32_max(top->m[0], top->m[1]), v32_max(top->m[2], top->m[3]))); \
  }
ACLPY_TOP_(f32, float)
#if ACLPY_ISA_RANK == 3
typedef struct top_f16 {
  __m512i most, least;
} top_f16;
ACLPY_INLINE top_f16 top_first_f16(void) {
  const top_f16 top = {_mm512_set1_epi16(-0x8000), _mm512_set1_epi16(-1)};
  return top;
}
ACLPY_INLINE void top_quad_f16(top_f16 *top, const uint16_t *p) {
  for (int k = 0; k < 2; ++k) {
    const __m512i raw = _mm512_loadu_si512(p + 2 * k * v32_LANES);
    top->most = _mm512_max_epi16(top->most, raw);
    top->least = _mm512_min_epu16(top->least, raw);
  }
}
ACLPY_INLINE uint16_t aclpy_top_word_(const top_f16 *top) {
  const __m512i a = _mm512_cvtepi16_epi32(_mm512_castsi512_si256(top->most));
  const __m512i b = _mm512_cvtepi16_epi32(_mm512_extracti64x4_epi64(top->most, 1));
  const __m512i c = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(top->least));
  const __m512i d = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(top->least, 1));
  const int most = _mm512_reduce_max_epi32(_mm512_max_epi32(a, b));
  const int least = _mm512_reduce_min_epi32(_mm512_min_epi32(c, d));
  return (uint16_t)(most >= 0 ? most : least);
}
ACLPY_INLINE float top_value_f16(const top_f16 *top) { return aclpy_f32_from_f16(aclpy_top_word_(top)); }
typedef top_f16 top_bf16;
ACLPY_INLINE top_bf16 top_first_bf16(void) { return top_first_f16(); }
ACLPY_INLINE void top_quad_bf16(top_bf16 *top, const uint16_t *p) { top_quad_f16(top, p); }
ACLPY_INLINE float top_value_bf16(const top_bf16 *top) { return aclpy_f32_from_bf16(aclpy_top_word_(top)); }
#else
ACLPY_TOP_(f16, uint16_t)
ACLPY_TOP_(bf16, uint16_t)
#endif
#undef ACLPY_TOP_

#endif
