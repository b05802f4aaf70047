/* SPDX-License-Identifier: Apache-2.0
 * top_<t>: the largest of a row, four vectors at a time: top_first, top_quad, top_value. NaNs may be passed over, or
 * make the result NaN. top_calm: whether all that was seen are numbers at most 60 below `max`, the largest of the row;
 * it may say 0 where they are.
 *
 * Numbers of 16 bits need no conversion with AVX-512: the largest is that of the bit patterns read as signed words
 * where one of them is not negative, else the least of unsigned ones; and the least of all is the largest of unsigned
 * ones, where one of them is negative.
 */
#ifndef ACLPY_SIMD_TOPS_H
#define ACLPY_SIMD_TOPS_H

#include "isa.h"

enum { ACLPY_CALM = 60 /* e^-60 is far from underflow, also divided by a row's length */ };

#define ACLPY_TOP_(t, stored, vec, real)                                                     \
  typedef struct top_##t {                                                                   \
    vec all;                                                                                 \
  } top_##t;                                                                                 \
  ACLPY_INLINE top_##t top_first_##t(void) {                                                 \
    const top_##t top = {vec##_set1(-(real)__builtin_inff())};                               \
    return top;                                                                              \
  }                                                                                          \
  ACLPY_INLINE void top_quad_##t(top_##t *top, const stored *p) {                            \
    for (int k = 0; k < 4; ++k) top->all = vec##_max(ld_##t(p + k * vec##_LANES), top->all); \
  }                                                                                          \
  ACLPY_INLINE real top_value_##t(const top_##t *top) { return vec##_hmax(top->all); }       \
  ACLPY_INLINE int top_calm_##t(const top_##t *top, real max) {                              \
    (void)top, (void)max;                                                                    \
    return 0;                                                                                \
  }
ACLPY_TOP_(f32, float, v32, float)
ACLPY_TOP_(f64, double, v64, double)
#if ACLPY_ISA_RANK == 3
typedef struct top_words {
  __m512i most, least, far;
} top_words;
typedef top_words top_f16, top_bf16;
ACLPY_INLINE top_words aclpy_top_first_(void) {
  const top_words top = {_mm512_set1_epi16(-0x8000), _mm512_set1_epi16(-1), _mm512_setzero_si512()};
  return top;
}
/* 32 of them. */
ACLPY_INLINE void aclpy_top_words_(top_words *top, const uint16_t *p) {
  const __m512i raw = _mm512_loadu_si512(p);
  top->most = _mm512_max_epi16(top->most, raw);
  top->least = _mm512_min_epu16(top->least, raw);
  top->far = _mm512_max_epu16(top->far, raw);
}
ACLPY_INLINE void aclpy_top_quad_(top_words *top, const uint16_t *p) {
  for (int k = 0; k < 2; ++k) aclpy_top_words_(top, p + 2 * k * v32_LANES);
}
/* The least of unsigned words. */
ACLPY_INLINE uint16_t aclpy_least_word_(__m512i v) {
  const __m256i half = _mm256_min_epu16(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
  const __m128i quarter = _mm_min_epu16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  return (uint16_t)_mm_cvtsi128_si32(_mm_minpos_epu16(quarter));
}
ACLPY_INLINE uint16_t aclpy_top_word_(const top_words *top) {
  const uint16_t turned = aclpy_least_word_(_mm512_xor_si512(top->most, _mm512_set1_epi16(0x7fff)));
  return turned < 0x8000u ? (uint16_t)(turned ^ 0x7fffu) : aclpy_least_word_(top->least);
}
/* The least of all; 0 where none is negative. */
ACLPY_INLINE uint16_t aclpy_far_word_(const top_words *top) {
  const uint16_t far = (uint16_t)~aclpy_least_word_(_mm512_xor_si512(top->far, _mm512_set1_epi16(-1)));
  return far < 0x8000u ? 0 : far;
}
#define ACLPY_TOP_WORDS_(t)                                                                                  \
  ACLPY_INLINE top_##t top_first_##t(void) { return aclpy_top_first_(); }                                    \
  ACLPY_INLINE void top_quad_##t(top_##t *top, const uint16_t *p) { aclpy_top_quad_(top, p); }               \
  ACLPY_INLINE float top_value_##t(const top_##t *top) { return aclpy_f32_from_##t(aclpy_top_word_(top)); }  \
  /* Also not where the largest seen is NaN. */                                                              \
  ACLPY_INLINE int top_calm_##t(const top_##t *top, float max) {                                             \
    return max - aclpy_f32_from_##t(aclpy_far_word_(top)) <= (float)ACLPY_CALM && top_value_##t(top) <= max; \
  }
ACLPY_TOP_WORDS_(f16)
ACLPY_TOP_WORDS_(bf16)
#undef ACLPY_TOP_WORDS_
#else
ACLPY_TOP_(f16, uint16_t, v32, float)
ACLPY_TOP_(bf16, uint16_t, v32, float)
#endif
#undef ACLPY_TOP_

#endif
