/* SPDX-License-Identifier: Apache-2.0
 * top_<t>: the largest of a row, four vectors at a time: top_first, top_quad, top_value. NaNs may be passed over, or
 * make the result NaN. top_calm: whether all that was seen are numbers at most 60 below `max`, the largest of the row;
 * it may say 0 where they are.
 *
 * Numbers of 16 bits need no conversion where words are compared (words.h): the largest is that of the bit patterns
 * read as signed words where one of them is not negative, else the least of unsigned ones; and the least of all is the
 * largest of unsigned ones, where one of them is negative.
 */
#ifndef ACLPY_SIMD_TOPS_H
#define ACLPY_SIMD_TOPS_H

#include "words.h"

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
#if ACLPY_WORDS
typedef struct top_words {
  aclpy_words most, least, far;
} top_words;
typedef top_words top_f16, top_bf16;
ACLPY_INLINE top_words aclpy_top_first_(void) {
  const top_words top = {words_set1(-0x8000), words_set1(-1), words_set1(0)};
  return top;
}
/* Two vectors of them. */
ACLPY_INLINE void aclpy_top_words_(top_words *top, const uint16_t *p) {
  const aclpy_words raw = words_load(p);
  top->most = words_max_signed(top->most, raw);
  top->least = words_min(top->least, raw);
  top->far = words_max(top->far, raw);
}
ACLPY_INLINE void aclpy_top_quad_(top_words *top, const uint16_t *p) {
  for (int k = 0; k < 2; ++k) aclpy_top_words_(top, p + 2 * k * v32_LANES);
}
ACLPY_INLINE uint16_t aclpy_top_word_(const top_words *top) {
  const uint16_t turned = words_least(words_flip(top->most, 0x7fff));
  return turned < 0x8000u ? (uint16_t)(turned ^ 0x7fffu) : words_least(top->least);
}
/* The least of all; 0 where none is negative. */
ACLPY_INLINE uint16_t aclpy_far_word_(const top_words *top) {
  const uint16_t far = (uint16_t)~words_least(words_flip(top->far, -1));
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
