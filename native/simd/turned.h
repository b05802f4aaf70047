/* SPDX-License-Identifier: Apache-2.0
 * What short rows need that are turned in registers, as many as a vector has lanes, so that a lane is a row. For AVX2,
 * which has neither permutations of two sources (packed.h) nor cheap stores of parts.
 */
#ifndef ACLPY_SIMD_TURNED_H
#define ACLPY_SIMD_TURNED_H

#include "isa.h"
#include "products.h"
#include "transpose.h"

#if ACLPY_ISA_RANK == 2
#define ACLPY_TURNS 1

/* Doubles, the lower lanes first, rounded to floats. */
ACLPY_INLINE v32 v32_narrow(v64 low, v64 high) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps(low)), _mm256_cvtpd_ps(high), 1);
}
/* v, or 0 in lanes where `of` is no finite number. */
ACLPY_INLINE v32 v32_where_finite(v32 of, v32 v) {
  return _mm256_and_ps(_mm256_cmp_ps(v32_sub(of, of), v32_set1(0), _CMP_EQ_OQ), v);
}

/* Floats as doubles, as many as such a vector has; or the first n of them, then zeros. */
ACLPY_INLINE v64 v64_of_floats(const float *p) { return _mm256_cvtps_pd(_mm_loadu_ps(p)); }
ACLPY_INLINE v64 v64_of_some_floats(const float *p, int64_t n) {
  const __m128i lanes = _mm_cmpgt_epi32(_mm_set1_epi32((int)n), _mm_set_epi32(3, 2, 1, 0));
  return _mm256_cvtps_pd(_mm_maskload_ps(p, lanes));
}
/* Lane r: the sum of v[r], of four vectors. */
ACLPY_INLINE v64 v64_across(const v64 *v) {
  const v64 low = _mm256_hadd_pd(v[0], v[1]), high = _mm256_hadd_pd(v[2], v[3]);
  return v64_add(_mm256_blend_pd(low, high, 12), _mm256_permute2f128_pd(low, high, 0x21));
}

/* Lane r: the sum of v[r], of eight vectors, each added up as v32_hsum does. */
ACLPY_INLINE v32 v32_halves_(v32 a, v32 b) {
  return v32_add(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
}
ACLPY_INLINE v32 v32_quarters_(const v32 *v) {
  const __m256d a = _mm256_castps_pd(v32_halves_(v[0], v[1])), b = _mm256_castps_pd(v32_halves_(v[2], v[3]));
  return v32_add(_mm256_castpd_ps(_mm256_unpacklo_pd(a, b)), _mm256_castpd_ps(_mm256_unpackhi_pd(a, b)));
}
ACLPY_INLINE v32 v32_across(const v32 *v) {
  const v32 sums = _mm256_hadd_ps(v32_quarters_(v), v32_quarters_(v + 4));
  return _mm256_permutevar8x32_ps(sums, _mm256_set_epi32(7, 3, 6, 2, 5, 1, 4, 0));
}

/* Sums of products that hold are whole numbers of units above ANCHOR (products.h), few enough to be added as integers:
 * by lanes, of all chains; */
ACLPY_INLINE v32 v32_products_units(const v32_products *p) {
  __m256i units = _mm256_set1_epi32((int)(0u - ACLPY_CHAINS * ACLPY_ANCHOR_BITS));
  for (int k = 0; k < ACLPY_CHAINS; ++k) units = _mm256_add_epi32(units, _mm256_castps_si256(p->sum[k]));
  return _mm256_castsi256_ps(units);
}
/* and across those of eight such vectors, the first four sums, then the others: exact. */
ACLPY_INLINE v32_acc v32_units_across(const v32 *v) {
  __m256i u[8];
  for (int k = 0; k < 8; ++k) u[k] = _mm256_castps_si256(v[k]);
  const __m256i low = _mm256_hadd_epi32(_mm256_hadd_epi32(u[0], u[1]), _mm256_hadd_epi32(u[2], u[3]));
  const __m256i high = _mm256_hadd_epi32(_mm256_hadd_epi32(u[4], u[5]), _mm256_hadd_epi32(u[6], u[7]));
  const __m128i first = _mm_add_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
  const __m128i last = _mm_add_epi32(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1));
  const v64 unit = v64_set1(ACLPY_ANCHOR_UNIT);
  return (v32_acc){v64_mul(_mm256_cvtepi32_pd(first), unit), v64_mul(_mm256_cvtepi32_pd(last), unit)};
}

/* Two vectors of results, as ldx has them. */
ACLPY_INLINE void stp_f32(float *p, const v32 *v) {
  for (int k = 0; k < 2; ++k) st_f32(p + k * v32_LANES, v[k]);
}
ACLPY_INLINE void stp_f16(uint16_t *p, const v32 *v) {
  for (int k = 0; k < 2; ++k) st_f16(p + k * v32_LANES, v[k]);
}
ACLPY_INLINE void stp_bf16(uint16_t *p, const v32 *v) {
  if (ACLPY_LIKELY(_mm256_movemask_ps(_mm256_cmp_ps(v[0], v[1], _CMP_UNORD_Q)) == 0)) {
    aclpy_bf16_put_(p, aclpy_bf16_join_(v[0], v[1]), 0);
  } else {
    v32 ordered[4] = {v[0], v[1], v[0], v[1]};
    order_bf16(ordered);
    aclpy_bf16_put_two_(p, ordered, 0);
  }
}
#else
#define ACLPY_TURNS 0
#endif

#endif
