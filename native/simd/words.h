/* SPDX-License-Identifier: Apache-2.0
 * Vectors of 16-bit words, as they lie in memory, where the ISA compares them all at once: the largest and the least of
 * numbers of 16 bits without a conversion (tops.h, tops_columns.h).
 */
#ifndef ACLPY_SIMD_WORDS_H
#define ACLPY_SIMD_WORDS_H

#include "isa.h"

#if ACLPY_ISA_RANK == 3
#define ACLPY_WORDS 1
typedef __m512i aclpy_words;
ACLPY_INLINE aclpy_words words_load(const uint16_t *p) { return _mm512_loadu_si512(p); }
ACLPY_INLINE void words_store(uint16_t *p, aclpy_words v) { _mm512_storeu_si512(p, v); }
/* a where it is not negative, else b; a where it is negative, else 0. */
ACLPY_INLINE aclpy_words words_positive_or(aclpy_words a, aclpy_words b) {
  return _mm512_mask_blend_epi16(_mm512_movepi16_mask(a), a, b);
}
ACLPY_INLINE aclpy_words words_negative(aclpy_words a) { return _mm512_maskz_mov_epi16(_mm512_movepi16_mask(a), a); }
ACLPY_INLINE __m256i aclpy_words_half_(aclpy_words v) {
  return _mm256_min_epu16(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
}
#elif ACLPY_ISA_RANK == 2
#define ACLPY_WORDS 1
typedef __m256i aclpy_words;
ACLPY_INLINE aclpy_words words_load(const uint16_t *p) { return _mm256_loadu_si256((const __m256i *)(const void *)p); }
ACLPY_INLINE void words_store(uint16_t *p, aclpy_words v) { _mm256_storeu_si256((__m256i *)(void *)p, v); }
ACLPY_INLINE aclpy_words words_positive_or(aclpy_words a, aclpy_words b) {
  return _mm256_blendv_epi8(a, b, _mm256_srai_epi16(a, 15));
}
ACLPY_INLINE aclpy_words words_negative(aclpy_words a) { return _mm256_and_si256(a, _mm256_srai_epi16(a, 15)); }
ACLPY_INLINE __m256i aclpy_words_half_(aclpy_words v) { return v; }
#else
#define ACLPY_WORDS 0
#endif

#if ACLPY_WORDS
/* What both spell alike. */
#define ACLPY_WORDS_(op) ACLPY_PASTE2(ACLPY_MM, op)
ACLPY_INLINE aclpy_words words_set1(int x) { return ACLPY_WORDS_(_set1_epi16)((short)x); }
ACLPY_INLINE aclpy_words words_flip(aclpy_words a, int bits) { return a ^ words_set1(bits); }
ACLPY_INLINE aclpy_words words_max(aclpy_words a, aclpy_words b) { return ACLPY_WORDS_(_max_epu16)(a, b); }
ACLPY_INLINE aclpy_words words_min(aclpy_words a, aclpy_words b) { return ACLPY_WORDS_(_min_epu16)(a, b); }
ACLPY_INLINE aclpy_words words_max_signed(aclpy_words a, aclpy_words b) { return ACLPY_WORDS_(_max_epi16)(a, b); }
#undef ACLPY_WORDS_

/* The least of unsigned words. */
ACLPY_INLINE uint16_t words_least(aclpy_words v) {
  const __m256i half = aclpy_words_half_(v);
  const __m128i quarter = _mm_min_epu16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  return (uint16_t)_mm_cvtsi128_si32(_mm_minpos_epu16(quarter));
}
#endif

#endif
