/* SPDX-License-Identifier: Apache-2.0
 * Quads of calm rows: their elements are numbers at most 60 below the largest (tops.h), so no exponential and no result
 * is subnormal, and nothing has to be looked at on the way.
 *
 * calm_way_<t>(whole) is the way that such rows take here: ACLPY_WAY_ANY where there is none of their own (compilers
 * see that), ACLPY_WAY_CALM in the order of memory, ACLPY_WAY_PAIRS in the order of ldx_<t>, for rows of whole quads.
 * stc_<t>(p, v, streaming, way) stores four vectors of results. sta_<t>(p, v, streaming) those of what was made of them
 * since, any values, where the way is ACLPY_WAY_CALM.
 */
#ifndef ACLPY_SIMD_CALM_H
#define ACLPY_SIMD_CALM_H

enum { ACLPY_WAY_ANY = 0, ACLPY_WAY_CALM, ACLPY_WAY_PAIRS };

#define ACLPY_STC_(t, stored, vec)                                             \
  ACLPY_INLINE void stc_##t(stored *p, const vec *v, int streaming, int way) { \
    (void)way;                                                                 \
    for (int k = 0; k < 4; ++k) quad_##t(p, v, k, streaming);                  \
  }                                                                            \
  ACLPY_INLINE void sta_##t(stored *p, const vec *v, int streaming) {          \
    for (int k = 0; k < 4; ++k) quad_##t(p, v, k, streaming);                  \
  }
#define ACLPY_CALM_WAY_(t, way)              \
  ACLPY_INLINE int calm_way_##t(int whole) { \
    (void)whole;                             \
    return way;                              \
  }
ACLPY_STC_(f32, float, v32)
ACLPY_STC_(f16, uint16_t, v32)
ACLPY_STC_(f64, double, v64)
ACLPY_CALM_WAY_(f32, ACLPY_WAY_ANY)
ACLPY_CALM_WAY_(f64, ACLPY_WAY_ANY)
#if ACLPY_ISA_RANK == 3
ACLPY_CALM_WAY_(f16, ACLPY_WAY_CALM)
ACLPY_INLINE int calm_way_bf16(int whole) {
  if (aclpy_core_bf16) return ACLPY_WAY_CALM;
  return whole ? ACLPY_WAY_PAIRS : ACLPY_WAY_ANY;
}
ACLPY_INLINE void stc_bf16(uint16_t *p, const v32 *v, int streaming, int way) {
  if (way == ACLPY_WAY_PAIRS) {
    aclpy_bf16_put_quad_(p, aclpy_bf16_join_(v[0], v[1]), aclpy_bf16_join_(v[2], v[3]), streaming);
  } else {
    aclpy_bf16_put_quad_(p, aclpy_bf16_pair_(v[0], v[1]), aclpy_bf16_pair_(v[2], v[3]), streaming);
  }
}
ACLPY_INLINE void sta_bf16(uint16_t *p, const v32 *v, int streaming) {
  __m512i low, high;
  if (ACLPY_LIKELY(aclpy_bf16_pairs_(v, &low, &high))) {
    aclpy_bf16_put_quad_(p, low, high, streaming);
  } else {
    aclpy_bf16_put_each_(p, v, streaming);
  }
}
#elif ACLPY_ISA_RANK == 2
ACLPY_CALM_WAY_(f16, ACLPY_WAY_CALM)
ACLPY_INLINE int calm_way_bf16(int whole) { return whole ? ACLPY_WAY_PAIRS : ACLPY_WAY_CALM; }
ACLPY_INLINE void stc_bf16(uint16_t *p, const v32 *v, int streaming, int way) {
  const int pairs = way == ACLPY_WAY_PAIRS;
  for (int k = 0; k < 4; k += 2) {
    const __m256i both = pairs ? aclpy_bf16_join_(v[k], v[k + 1]) : aclpy_bf16_both_(v[k], v[k + 1]);
    aclpy_bf16_put_(p + k * v32_LANES, both, streaming);
  }
}
ACLPY_INLINE void sta_bf16(uint16_t *p, const v32 *v, int streaming) { quad_bf16(p, v, 3, streaming); }
#else
ACLPY_CALM_WAY_(f16, ACLPY_WAY_ANY)
ACLPY_STC_(bf16, uint16_t, v32)
ACLPY_CALM_WAY_(bf16, ACLPY_WAY_ANY)
#endif
#undef ACLPY_STC_
#undef ACLPY_CALM_WAY_

#endif
