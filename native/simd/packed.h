/* SPDX-License-Identifier: Apache-2.0
 * Rows shorter than a vector that follow each other without a gap: as many of them as a vector has lanes, n elements
 * each, are n whole vectors. What is known of each row is spread over its elements, and its elements are picked out of
 * the vectors that they lie in. AVX-512 alone has permutations that do either in one step.
 */
#ifndef ACLPY_SIMD_PACKED_H
#define ACLPY_SIMD_PACKED_H

#include "across.h"
#include "products.h"

#if ACLPY_ISA_RANK == 3
#define ACLPY_PACKS 1

typedef __m512i aclpy_lanes;

/* Lane k: the row, of n elements, that element first + k lies in; first + k < 256, n <= 16. */
ACLPY_INLINE aclpy_lanes v32_rows_of(int64_t first, int64_t n) {
  const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m512 at = _mm512_cvtepi32_ps(_mm512_add_epi32(lane, _mm512_set1_epi32((int)first)));
  return _mm512_cvttps_epi32(_mm512_mul_ps(_mm512_add_ps(at, v32_set1(0.5f)), v32_set1(1.0f / (float)n)));
}
ACLPY_INLINE aclpy_lanes v64_rows_of(int64_t first, int64_t n) {
  const __m512i lane = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  const __m512d at = _mm512_cvtepi64_pd(_mm512_add_epi64(lane, _mm512_set1_epi64(first)));
  return _mm512_cvttpd_epi64(_mm512_mul_pd(_mm512_add_pd(at, v64_set1(0.5)), v64_set1(1.0 / (double)n)));
}
ACLPY_INLINE v32 v32_spread(v32 rows, aclpy_lanes from) { return _mm512_permutexvar_ps(from, rows); }
ACLPY_INLINE v64 v64_spread(v64 rows, aclpy_lanes from) { return _mm512_permutexvar_pd(from, rows); }

/* The n lanes from `first` on of two vectors that follow each other, then zeros. */
ACLPY_INLINE v32 v32_pick(v32 a, v32 b, int64_t first, int64_t n) {
  const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i from = _mm512_add_epi32(lane, _mm512_set1_epi32((int)first));
  return _mm512_maskz_permutex2var_ps(aclpy_mask16_(n), a, from, b);
}
ACLPY_INLINE v64 v64_pick(v64 a, v64 b, int64_t first, int64_t n) {
  const __m512i from = _mm512_add_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), _mm512_set1_epi64(first));
  return _mm512_maskz_permutex2var_pd(aclpy_mask8_(n), a, from, b);
}

/* What is left to add of one vector: double lanes, with the bits of <type>_acc_lanes. */
ACLPY_INLINE v64 v32_lanes(v32 v) { return v64_add(v32_widen_low(v), v32_widen_high(v)); }
ACLPY_INLINE v64 v64_lanes(v64 v) { return v; }

/* Doubles, one for each lane of a vector, rounded to its type. */
ACLPY_INLINE v32 v32_of_doubles(const v64 *v) {
  const __m512 low = _mm512_castps256_ps512(_mm512_cvtpd_ps(v[0]));
  return _mm512_insertf32x8(low, _mm512_cvtpd_ps(v[1]), 1);
}
ACLPY_INLINE v64 v64_of_doubles(const v64 *v) { return v[0]; }
/* The same of one vector of them, to memory. */
ACLPY_INLINE void v32_store_doubles(float *p, v64 v) { _mm256_storeu_ps(p, _mm512_cvtpd_ps(v)); }
ACLPY_INLINE void v64_store_doubles(double *p, v64 v) { v64_store(p, v); }

/* What rounding each of them to `high` has lost; nothing where that is no number. */
ACLPY_INLINE v32 v32_rests(const v64 *v, v32 high) {
  const v64 low = v64_sub(v[0], v32_widen_low(high)), next = v64_sub(v[1], v32_widen_high(high));
  const v64 rests[2] = {low, next};
  const __mmask16 finite = _mm512_cmp_ps_mask(v32_sub(high, high), v32_set1(0), _CMP_EQ_OQ);
  return _mm512_maskz_mov_ps(finite, v32_of_doubles(rests));
}
ACLPY_INLINE v64 v64_rests(const v64 *v, v64 high) { return (void)v, (void)high, v64_set1(0); }

/* Sums of products that hold (products.h): by lanes, whole units of all chains, an ANCHOR too many for each; */
ACLPY_INLINE v32 v32_products_units(const v32_products *p) {
  return v32_whole_add(v32_whole_add(p->sum[0], p->sum[1]), v32_whole_add(p->sum[2], p->sum[3]));
}
/* and of v32_LANES rows, those of each added up as integers, which are exact, and its rests. */
ACLPY_INLINE void v32_units_total(v32 units, v32 rests, v64 *total) {
  const __m512i anchors = _mm512_set1_epi32((int)(ACLPY_CHAINS * v32_LANES * ACLPY_ANCHOR_BITS));
  const __m512i whole = _mm512_sub_epi32(_mm512_castps_si512(units), anchors);
  const v64 unit = v64_set1(ACLPY_ANCHOR_UNIT);
  total[0] = v64_fma(_mm512_cvtepi32_pd(_mm512_castsi512_si256(whole)), unit, v32_widen_low(rests));
  total[1] = v64_fma(_mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(whole, 1)), unit, v32_widen_high(rests));
}

/* The v64_LANES elements from p on as doubles, or the first n of them, then zeros. */
ACLPY_INLINE v64 ldw_f32(const float *p) { return _mm512_cvtps_pd(_mm256_loadu_ps(p)); }
ACLPY_INLINE v64 ldw_f16(const uint16_t *p) {
  return _mm512_cvtps_pd(_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p)));
}
ACLPY_INLINE v64 aclpy_bf16_widen_(__m128i v) {
  return _mm512_cvtps_pd(_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(v), 16)));
}
ACLPY_INLINE v64 ldw_bf16(const uint16_t *p) { return aclpy_bf16_widen_(_mm_loadu_si128((const __m128i *)p)); }
ACLPY_INLINE v64 ldw_f64(const double *p) { return v64_load(p); }
ACLPY_INLINE v64 ldwn_f32(const float *p, int64_t n) {
  return _mm512_maskz_cvtps_pd(aclpy_mask8_(n), _mm256_maskz_loadu_ps(aclpy_mask8_(n), p));
}
ACLPY_INLINE v64 ldwn_f16(const uint16_t *p, int64_t n) {
  return _mm512_cvtps_pd(_mm256_cvtph_ps(_mm_maskz_loadu_epi16(aclpy_mask8_(n), p)));
}
ACLPY_INLINE v64 ldwn_bf16(const uint16_t *p, int64_t n) {
  return aclpy_bf16_widen_(_mm_maskz_loadu_epi16(aclpy_mask8_(n), p));
}
ACLPY_INLINE v64 ldwn_f64(const double *p, int64_t n) { return ldn_f64(p, n, 0); }

/* The largest lane of each of as many vectors as one has lanes. */
ACLPY_INLINE v32 v32_largest(const v32 *v) {
  const v64 all[2] = {v32_hmaxs(v), v32_hmaxs(v + v64_LANES)};
  return v32_of_doubles(all);
}
ACLPY_INLINE v64 v64_largest(const v64 *v) { return v64_hmaxs(v); }

#else
#define ACLPY_PACKS 0
#endif

#endif
