/* SPDX-License-Identifier: Apache-2.0
 * Horizontal reductions of v64_LANES vectors at a time, one for each lane of a v64: lane r has the bits of
 * <type>_hsum(v[r]) or <type>_hmax(v[r]).
 *
 * One reduction after the other takes a shuffle and an operation for each halving of each vector. Two vectors whose
 * halves are put beside each other share both, so that AVX-512 does eight vectors in less than three times the steps
 * of one. Elsewhere vectors are short, and it is a loop.
 */
#ifndef ACLPY_SIMD_ACROSS_H
#define ACLPY_SIMD_ACROSS_H

#include "isa.h"

#if ACLPY_ISA_RANK == 3

/* Halves, then quarters: step(step(v[0], v[2]), step(v[4], v[6])) has a quarter for each vector. Quarters of two such
 * are interleaved, which brings the eight vectors into order. */
#define ACLPY_ACROSS_(name, vec, shuffle, unpack_low, unpack_high, op)                                   \
  ACLPY_INLINE vec name##_halves_(vec a, vec b) { return op(shuffle(a, b, 0x44), shuffle(a, b, 0xee)); } \
  ACLPY_INLINE vec name##_quarters_(vec a, vec b, vec c, vec d) {                                        \
    const vec ab = name##_halves_(a, b), cd = name##_halves_(c, d);                                      \
    return op(shuffle(ab, cd, 0x88), shuffle(ab, cd, 0xdd));                                             \
  }                                                                                                      \
  ACLPY_INLINE vec name##_tree_(const vec *v) {                                                          \
    const vec even = name##_quarters_(v[0], v[2], v[4], v[6]);                                           \
    const vec odd = name##_quarters_(v[1], v[3], v[5], v[7]);                                            \
    return op(unpack_low(even, odd), unpack_high(even, odd));                                            \
  }
ACLPY_ACROSS_(v64_hsums, v64, _mm512_shuffle_f64x2, _mm512_unpacklo_pd, _mm512_unpackhi_pd, v64_add)
ACLPY_ACROSS_(v64_hmaxs, v64, _mm512_shuffle_f64x2, _mm512_unpacklo_pd, _mm512_unpackhi_pd, v64_max)
ACLPY_ACROSS_(v32_hsums, v32, _mm512_shuffle_f32x4, _mm512_unpacklo_ps, _mm512_unpackhi_ps, v32_add)
ACLPY_ACROSS_(v32_hmaxs, v32, _mm512_shuffle_f32x4, _mm512_unpacklo_ps, _mm512_unpackhi_ps, v32_max)
#undef ACLPY_ACROSS_

/* Each quarter has two vectors' pairs, interleaved: pairs are joined, then one of each is taken as double. */
ACLPY_INLINE v32 v32_swap_pairs_(v32 v) { return _mm512_permute_ps(v, 0x4e); }
ACLPY_INLINE v64 v32_pairs_(v32 v) {
  const __m512d packed = _mm512_permutexvar_pd(_mm512_set_epi64(0, 0, 0, 0, 6, 4, 2, 0), _mm512_castps_pd(v));
  return _mm512_cvtps_pd(_mm512_castps512_ps256(_mm512_castpd_ps(packed)));
}

ACLPY_INLINE v64 v64_hsums(const v64 *v) { return v64_hsums_tree_(v); }
ACLPY_INLINE v64 v64_hmaxs(const v64 *v) { return v64_hmaxs_tree_(v); }
ACLPY_INLINE v64 v32_hsums(const v32 *v) {
  const v32 pairs = v32_hsums_tree_(v);
  return v32_pairs_(v32_add(pairs, v32_swap_pairs_(pairs)));
}
ACLPY_INLINE v64 v32_hmaxs(const v32 *v) {
  const v32 pairs = v32_hmaxs_tree_(v);
  return v32_pairs_(v32_max(pairs, v32_swap_pairs_(pairs)));
}

/* Lane r: the sum of v[r], of v32_LANES vectors: the bits of v32_hsum(v[r]), or of 32-bit integers. Halves and quarters
 * as above, then what is left of four vectors in each quarter. */
#define ACLPY_SIXTEEN_(name, add)                                                                       \
  ACLPY_INLINE v32 name##_halves_(v32 a, v32 b) {                                                       \
    return add(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xee));                     \
  }                                                                                                     \
  ACLPY_INLINE v32 name##_quarters_(v32 a, v32 b, v32 c, v32 d) {                                       \
    const v32 ab = name##_halves_(a, b), cd = name##_halves_(c, d);                                     \
    return add(_mm512_shuffle_f32x4(ab, cd, 0x88), _mm512_shuffle_f32x4(ab, cd, 0xdd));                 \
  }                                                                                                     \
  ACLPY_INLINE v32 name##_pairs_(const v32 *v) {                                                        \
    const __m512d a = _mm512_castps_pd(name##_quarters_(v[0], v[4], v[8], v[12]));                      \
    const __m512d b = _mm512_castps_pd(name##_quarters_(v[1], v[5], v[9], v[13]));                      \
    return add(_mm512_castpd_ps(_mm512_unpacklo_pd(a, b)), _mm512_castpd_ps(_mm512_unpackhi_pd(a, b))); \
  }                                                                                                     \
  ACLPY_INLINE v32 name(const v32 *v) {                                                                 \
    const v32 low = name##_pairs_(v), high = name##_pairs_(v + 2);                                      \
    return add(_mm512_shuffle_ps(low, high, 0x88), _mm512_shuffle_ps(low, high, 0xdd));                 \
  }
ACLPY_INLINE v32 v32_whole_add(v32 a, v32 b) {
  return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(a), _mm512_castps_si512(b)));
}
ACLPY_SIXTEEN_(v32_across, v32_add)
ACLPY_SIXTEEN_(v32_whole_across, v32_whole_add)
#undef ACLPY_SIXTEEN_

#else

#define ACLPY_ACROSS_(vec, name)                                              \
  ACLPY_INLINE v64 vec##_##name##s(const vec *v) {                            \
    double each[v64_LANES];                                                   \
    for (int r = 0; r < v64_LANES; ++r) each[r] = (double)vec##_##name(v[r]); \
    return v64_load(each);                                                    \
  }
ACLPY_ACROSS_(v64, hsum)
ACLPY_ACROSS_(v32, hsum)
ACLPY_ACROSS_(v64, hmax)
ACLPY_ACROSS_(v32, hmax)
#undef ACLPY_ACROSS_

#endif

#endif
