/* SPDX-License-Identifier: Apache-2.0
 * tops_<t>: the largest of each column of four vectors side by side: tops_first, tops_row (one row more), tops_values.
 * NaNs may be passed over, or make the result NaN. tops_values gives the largest in the order of `way` (calm.h) and
 * says whether all that was seen are numbers at most ACLPY_CALM below the largest of their column; it may say 0 where
 * they are.
 *
 * Numbers of 16 bits need no conversion where words are compared, as in tops.h.
 */
#ifndef ACLPY_SIMD_TOPS_COLUMNS_H
#define ACLPY_SIMD_TOPS_COLUMNS_H

#include "tops.h"

#define ACLPY_TOPS_(t, stored, vec)                                             \
  typedef struct tops_##t {                                                     \
    vec a, b, c, d;                                                             \
  } tops_##t;                                                                   \
  ACLPY_INLINE tops_##t tops_first_##t(void) {                                  \
    const vec low = vec##_set1(-__builtin_inff());                              \
    const tops_##t tops = {low, low, low, low};                                 \
    return tops;                                                                \
  }                                                                             \
  ACLPY_INLINE void tops_row_##t(tops_##t *tops, const stored *p) {             \
    tops->a = vec##_max(ld_##t(p), tops->a);                                    \
    tops->b = vec##_max(ld_##t(p + vec##_LANES), tops->b);                      \
    tops->c = vec##_max(ld_##t(p + 2 * vec##_LANES), tops->c);                  \
    tops->d = vec##_max(ld_##t(p + 3 * vec##_LANES), tops->d);                  \
  }                                                                             \
  ACLPY_INLINE int tops_values_##t(const tops_##t *tops, vec *most, int way) {  \
    (void)way;                                                                  \
    most[0] = tops->a, most[1] = tops->b, most[2] = tops->c, most[3] = tops->d; \
    return 0;                                                                   \
  }
ACLPY_TOPS_(f32, float, v32)
ACLPY_TOPS_(f64, double, v64)
#if ACLPY_WORDS
typedef struct tops_words {
  top_words half[2];
} tops_words;
typedef tops_words tops_f16, tops_bf16;
ACLPY_INLINE tops_words aclpy_tops_first_(void) {
  const tops_words tops = {{aclpy_top_first_(), aclpy_top_first_()}};
  return tops;
}
ACLPY_INLINE void aclpy_tops_row_(tops_words *tops, const uint16_t *p) {
  for (int k = 0; k < 2; ++k) aclpy_top_words_(&tops->half[k], p + 2 * k * v32_LANES);
}
/* The largest, and the least where it is negative, else 0, as words of memory. */
ACLPY_INLINE void aclpy_tops_words_(const tops_words *tops, uint16_t *most, uint16_t *far) {
  for (int k = 0; k < 2; ++k) {
    const top_words *half = &tops->half[k];
    words_store(most + 2 * k * v32_LANES, words_positive_or(half->most, half->least));
    words_store(far + 2 * k * v32_LANES, words_negative(half->far));
  }
}
#define ACLPY_TOPS_WORDS_(t)                                                                      \
  ACLPY_INLINE tops_##t tops_first_##t(void) { return aclpy_tops_first_(); }                      \
  ACLPY_INLINE void tops_row_##t(tops_##t *tops, const uint16_t *p) { aclpy_tops_row_(tops, p); } \
  ACLPY_INLINE int tops_values_##t(const tops_##t *tops, v32 *most, int way) {                    \
    uint16_t top[4 * v32_LANES], low[4 * v32_LANES];                                              \
    aclpy_tops_words_(tops, top, low);                                                            \
    unsigned near = (1u << v32_LANES) - 1;                                                        \
    for (int k = 0; k < 4; ++k) {                                                                 \
      const v32 far = way == ACLPY_WAY_PAIRS ? ldx_##t(low, k) : ld_##t(low + k * v32_LANES);     \
      most[k] = way == ACLPY_WAY_PAIRS ? ldx_##t(top, k) : ld_##t(top + k * v32_LANES);           \
      near &= v32_at_most(v32_sub(most[k], far), v32_set1((float)ACLPY_CALM));                    \
    }                                                                                             \
    return near == (1u << v32_LANES) - 1;                                                         \
  }
ACLPY_TOPS_WORDS_(f16)
ACLPY_TOPS_WORDS_(bf16)
#undef ACLPY_TOPS_WORDS_
#else
ACLPY_TOPS_(f16, uint16_t, v32)
ACLPY_TOPS_(bf16, uint16_t, v32)
#endif
#undef ACLPY_TOPS_

#endif
