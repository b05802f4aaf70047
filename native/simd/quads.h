/* SPDX-License-Identifier: Apache-2.0
 * quad_<t>(p, v, k, streaming): vector k of four has been made; stored (or streamed: p is aligned to a line) as by
 * st_<t> and nt_<t>, at once or with the last.
 *
 * stt_<t>(p, q, v, streaming), of 16 bits: two vectors to p, two to q.
 *
 * ldx_<t>(p, k), stx_<t>(p, v, k, streaming): the same four vectors in whatever order of elements is cheapest, for work
 * element by element. order_<t> brings four vectors (one of each, as sums by lanes are) into the order of memory,
 * order_sums_<t> two double ones of which the first took vectors 0 and 2, the second 1 and 3. stq_<t> stores all four
 * at once; `tame`: no NaN with lower bits. sumx_<t>(v) is (v0 + v1) + (v2 + v3) of four such vectors by lanes of the
 * order of memory, the lanes in an order of their own that order_sumx_<t> takes back from halves of doubles. pairs_<t>
 * copies floats to where vectors of that order find them; sump_<t>(a, b) is a + b of two of them, as sumx_<t>.
 *
 * stp_<t>(p, v): two vectors as ldx has them (with NEON and the baseline there is none).
 *
 * ldq_<t>(p, v): four vectors in the order of memory. Calm ones: calm.h.
 *
 * Where the processor has AVX-512-BF16, four vectors of bfloat16 take 8 instructions instead of 32. That conversion
 * turns subnormals to zero, so a zero among the results sends for a look at the arguments. Others are stored one by one
 * as they are made: all four at the end cost float32 gradients up to 14 %.
 */
#ifndef ACLPY_SIMD_QUADS_H
#define ACLPY_SIMD_QUADS_H

#define ACLPY_QUAD_(t, stored, vec)                                           \
  ACLPY_INLINE void quad_##t(stored *p, const vec *v, int k, int streaming) { \
    if (streaming) nt_##t(p + k * vec##_LANES, v[k]);                         \
    if (!streaming) st_##t(p + k * vec##_LANES, v[k]);                        \
  }
#define ACLPY_TWO_(t, stored, vec)                                               \
  ACLPY_INLINE void stt_##t(stored *p, stored *q, const vec *v, int streaming) { \
    for (int k = 0; k < 4; ++k) {                                                \
      stored *to = (k < 2 ? p : q) + k % 2 * vec##_LANES;                        \
      if (streaming) nt_##t(to, v[k]);                                           \
      if (!streaming) st_##t(to, v[k]);                                          \
    }                                                                            \
  }
ACLPY_QUAD_(f32, float, v32)
ACLPY_QUAD_(f16, uint16_t, v32)
ACLPY_TWO_(f16, uint16_t, v32)
ACLPY_QUAD_(f64, double, v64)

#define ACLPY_ORDER_(t, stored, vec)                                                                          \
  ACLPY_INLINE vec ldx_##t(const stored *p, int k) { return ld_##t(p + k * vec##_LANES); }                    \
  ACLPY_INLINE void stx_##t(stored *p, const vec *v, int k, int streaming) { quad_##t(p, v, k, streaming); }  \
  ACLPY_INLINE void order_##t(vec *v) { (void)v; }                                                            \
  ACLPY_INLINE void order_sums_##t(v64 *low_high) { (void)low_high; }                                         \
  ACLPY_INLINE vec sump_##t(vec a, vec b) { return vec##_add(a, b); }                                         \
  ACLPY_INLINE vec sumx_##t(const vec *v) { return vec##_add(vec##_add(v[0], v[1]), vec##_add(v[2], v[3])); } \
  ACLPY_INLINE void order_sumx_##t(v64 *low, v64 *high) { (void)low, (void)high; }
#define ACLPY_ORDER_FLOATS_(t, stored)                                          \
  ACLPY_ORDER_(t, stored, v32)                                                  \
  ACLPY_INLINE void stq_##t(stored *p, const v32 *v, int streaming, int tame) { \
    (void)tame;                                                                 \
    for (int k = 0; k < 4; ++k) quad_##t(p, v, k, streaming);                   \
  }                                                                             \
  ACLPY_INLINE void pairs_##t(const float *x, float *y, int64_t n) { memcpy(y, x, (size_t)n * sizeof *x); }

#if ACLPY_ISA_RANK == 3
/* Whether the processor has AVX-512-BF16 (dispatch/core.c). */
extern int aclpy_core_bf16 __attribute__((visibility("hidden")));
ACLPY_INLINE int aclpy_subnormal_(const v32 *v) {
  enum { DENORMAL = 0x20 };
  const __mmask16 a = _mm512_fpclass_ps_mask(v[0], DENORMAL) | _mm512_fpclass_ps_mask(v[1], DENORMAL);
  const __mmask16 b = _mm512_fpclass_ps_mask(v[2], DENORMAL) | _mm512_fpclass_ps_mask(v[3], DENORMAL);
  return (a | b) != 0;
}
/* Whether `low` and `high` hold the four vectors rounded. The processor has AVX-512-BF16. */
ACLPY_INLINE int aclpy_bf16_pairs_(const v32 *v, __m512i *low, __m512i *high) {
  const __m512i size = _mm512_set1_epi16(0x7fff);
  *low = aclpy_bf16_pair_(v[0], v[1]);
  *high = aclpy_bf16_pair_(v[2], v[3]);
  const __mmask32 zero = _mm512_testn_epi16_mask(*low, size) | _mm512_testn_epi16_mask(*high, size);
  return ACLPY_LIKELY(zero == 0) || !aclpy_subnormal_(v);
}
ACLPY_INLINE int aclpy_bf16_quad_(const v32 *v, __m512i *low, __m512i *high) {
  return ACLPY_LIKELY(aclpy_core_bf16) && aclpy_bf16_pairs_(v, low, high);
}
ACLPY_INLINE void aclpy_line_put_(uint16_t *p, __m512i line, int streaming) {
  if (streaming) _mm512_stream_si512((__m512i *)(void *)p, line);
  if (!streaming) _mm512_storeu_si512(p, line);
}
ACLPY_INLINE void aclpy_bf16_put_quad_(uint16_t *p, __m512i low, __m512i high, int streaming) {
  aclpy_line_put_(p, low, streaming);
  aclpy_line_put_(p + 2 * v32_LANES, high, streaming);
}
/* Vector by vector: what rounding four at once does not do. */
ACLPY_INLINE void aclpy_bf16_put_two_(uint16_t *p, const v32 *v, int streaming) {
  for (int i = 0; i < 2; ++i) {
    if (streaming) nt_bf16(p + i * v32_LANES, v[i]);
    if (!streaming) st_bf16(p + i * v32_LANES, v[i]);
  }
}
ACLPY_INLINE void aclpy_bf16_put_each_(uint16_t *p, const v32 *v, int streaming) {
  aclpy_bf16_put_two_(p, v, streaming);
  aclpy_bf16_put_two_(p + 2 * v32_LANES, v + 2, streaming);
}
ACLPY_INLINE void quad_bf16(uint16_t *p, const v32 *v, int k, int streaming) {
  __m512i low, high;
  if (k < 3) return;
  if (ACLPY_LIKELY(aclpy_bf16_quad_(v, &low, &high))) {
    aclpy_bf16_put_quad_(p, low, high, streaming);
  } else {
    aclpy_bf16_put_each_(p, v, streaming);
  }
}
/* One load and a permutation of words for two vectors: to the upper halves, zeros below. */
ACLPY_INLINE void ldq_bf16(const uint16_t *p, v32 *v) {
  const __m512i first =
      _mm512_set_epi32(0x000f000f, 0x000e000e, 0x000d000d, 0x000c000c, 0x000b000b, 0x000a000a, 0x00090009, 0x00080008,
                       0x00070007, 0x00060006, 0x00050005, 0x00040004, 0x00030003, 0x00020002, 0x00010001, 0);
  const __m512i last = _mm512_or_si512(first, _mm512_set1_epi16(16));
  for (int k = 0; k < 4; k += 2) {
    const __m512i raw = _mm512_loadu_si512(p + k * v32_LANES);
    v[k] = _mm512_castsi512_ps(_mm512_maskz_permutexvar_epi16(0xaaaaaaaau, first, raw));
    v[k + 1] = _mm512_castsi512_ps(_mm512_maskz_permutexvar_epi16(0xaaaaaaaau, last, raw));
  }
}
ACLPY_INLINE void stt_bf16(uint16_t *p, uint16_t *q, const v32 *v, int streaming) {
  __m512i low, high;
  if (ACLPY_LIKELY(aclpy_bf16_quad_(v, &low, &high))) {
    aclpy_line_put_(p, low, streaming);
    aclpy_line_put_(q, high, streaming);
  } else {
    aclpy_bf16_put_two_(p, v, streaming);
    aclpy_bf16_put_two_(q, v + 2, streaming);
  }
}
#define ACLPY_TWO_OF_(t, stored)                                 \
  ACLPY_INLINE void stp_##t(stored *p, const v32 *v) {           \
    for (int k = 0; k < 2; ++k) st_##t(p + k * v32_LANES, v[k]); \
  }
ACLPY_TWO_OF_(f32, float)
ACLPY_TWO_OF_(f16, uint16_t)
#undef ACLPY_TWO_OF_
#include "bf16_pairs.h"
#elif ACLPY_ISA_RANK == 2
#include "bf16_avx2.h"
#else
ACLPY_QUAD_(bf16, uint16_t, v32)
ACLPY_TWO_(bf16, uint16_t, v32)
ACLPY_ORDER_FLOATS_(bf16, uint16_t)
#endif
ACLPY_ORDER_FLOATS_(f32, float)
ACLPY_ORDER_FLOATS_(f16, uint16_t)
ACLPY_ORDER_(f64, double, v64)
#define ACLPY_LDQ_(t, stored, vec)                                  \
  ACLPY_INLINE void ldq_##t(const stored *p, vec *v) {              \
    for (int k = 0; k < 4; ++k) v[k] = ld_##t(p + k * vec##_LANES); \
  }
ACLPY_LDQ_(f32, float, v32)
ACLPY_LDQ_(f16, uint16_t, v32)
ACLPY_LDQ_(f64, double, v64)
#if ACLPY_ISA_RANK != 3
ACLPY_LDQ_(bf16, uint16_t, v32)
#endif
#include "calm.h"
#undef ACLPY_LDQ_
#undef ACLPY_QUAD_
#undef ACLPY_TWO_
#undef ACLPY_ORDER_FLOATS_
#undef ACLPY_ORDER_

#endif
