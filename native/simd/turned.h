/* SPDX-License-Identifier: Apache-2.0
 * As many short rows as a vector has lanes, turned in registers so that a lane is a row. For AVX2, which has neither
 * permutations of two sources (packed.h) nor cheap stores of parts.
 */
#ifndef ACLPY_SIMD_TURNED_H
#define ACLPY_SIMD_TURNED_H

#include "isa.h"

#if ACLPY_ISA_RANK == 2
#define ACLPY_TURNS 1

/* Eight vectors become their columns: pairs, fours, and halves are put together. */
ACLPY_INLINE void v32_turn(v32 *v) {
  v32 pair[8], four[8];
  for (int k = 0; k < 8; k += 2) {
    pair[k] = _mm256_unpacklo_ps(v[k], v[k + 1]);
    pair[k + 1] = _mm256_unpackhi_ps(v[k], v[k + 1]);
  }
  for (int k = 0; k < 8; k += 4) {
    for (int i = 0; i < 2; ++i) {
      four[k + 2 * i] = _mm256_shuffle_ps(pair[k + i], pair[k + 2 + i], 0x44);
      four[k + 2 * i + 1] = _mm256_shuffle_ps(pair[k + i], pair[k + 2 + i], 0xee);
    }
  }
  for (int k = 0; k < 4; ++k) {
    v[k] = _mm256_permute2f128_ps(four[k], four[k + 4], 0x20);
    v[k + 4] = _mm256_permute2f128_ps(four[k], four[k + 4], 0x31);
  }
}

/* Doubles, the lower lanes first, rounded to floats. */
ACLPY_INLINE v32 v32_narrow(v64 low, v64 high) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps(low)), _mm256_cvtpd_ps(high), 1);
}
/* v, or 0 in lanes where `of` is no finite number. */
ACLPY_INLINE v32 v32_where_finite(v32 of, v32 v) {
  return _mm256_and_ps(_mm256_cmp_ps(v32_sub(of, of), v32_set1(0), _CMP_EQ_OQ), v);
}
#else
#define ACLPY_TURNS 0
#endif

#endif
