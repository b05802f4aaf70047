/* SPDX-License-Identifier: Apache-2.0
 * v32_transpose(v) and v64_transpose(v): as many vectors as a vector has lanes, turned where they are.
 *
 * AVX2 and AVX-512 zip within 16 bytes first, then move 16 bytes at a time: those shuffles need no indices and start
 * twice as often on some processors as those that cross 16 bytes. Elsewhere a network of log2(lanes) rounds, each of
 * which zips vector i with vector i + lanes / 2.
 */
#ifndef ACLPY_SIMD_TRANSPOSE_H
#define ACLPY_SIMD_TRANSPOSE_H

#include "isa.h"

#if ACLPY_ISA_RANK == 3
/* 4 x 4 elements in each 16 bytes of four vectors. */
ACLPY_INLINE void v32_turn_quarters_(v32 *v) {
  const __m512d a = _mm512_castps_pd(_mm512_unpacklo_ps(v[0], v[1])),
                b = _mm512_castps_pd(_mm512_unpackhi_ps(v[0], v[1]));
  const __m512d c = _mm512_castps_pd(_mm512_unpacklo_ps(v[2], v[3])),
                d = _mm512_castps_pd(_mm512_unpackhi_ps(v[2], v[3]));
  v[0] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, c));
  v[1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, c));
  v[2] = _mm512_castpd_ps(_mm512_unpacklo_pd(b, d));
  v[3] = _mm512_castpd_ps(_mm512_unpackhi_pd(b, d));
}
/* 4 x 4 elements of 16 bytes. */
ACLPY_INLINE void aclpy_turn_lanes_(v32 *a, v32 *b, v32 *c, v32 *d) {
  const v32 e = _mm512_shuffle_f32x4(*a, *b, 0x44), f = _mm512_shuffle_f32x4(*a, *b, 0xee);
  const v32 g = _mm512_shuffle_f32x4(*c, *d, 0x44), h = _mm512_shuffle_f32x4(*c, *d, 0xee);
  *a = _mm512_shuffle_f32x4(e, g, 0x88);
  *b = _mm512_shuffle_f32x4(e, g, 0xdd);
  *c = _mm512_shuffle_f32x4(f, h, 0x88);
  *d = _mm512_shuffle_f32x4(f, h, 0xdd);
}
ACLPY_INLINE void v32_transpose(v32 *v) {
  for (int k = 0; k < 16; k += 4) v32_turn_quarters_(v + k);
  for (int k = 0; k < 4; ++k) aclpy_turn_lanes_(v + k, v + 4 + k, v + 8 + k, v + 12 + k);
}
ACLPY_INLINE void v64_transpose(v64 *v) {
  v32 w[8];
  for (int k = 0; k < 8; k += 2) {
    w[k] = _mm512_castpd_ps(_mm512_unpacklo_pd(v[k], v[k + 1]));
    w[k + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(v[k], v[k + 1]));
  }
  for (int k = 0; k < 2; ++k) aclpy_turn_lanes_(w + k, w + 2 + k, w + 4 + k, w + 6 + k);
  for (int k = 0; k < 8; ++k) v[k] = _mm512_castps_pd(w[k]);
}
#elif ACLPY_ISA_RANK == 2
ACLPY_INLINE void v32_turn_halves_(v32 *v) {
  const __m256d a = _mm256_castps_pd(_mm256_unpacklo_ps(v[0], v[1])),
                b = _mm256_castps_pd(_mm256_unpackhi_ps(v[0], v[1]));
  const __m256d c = _mm256_castps_pd(_mm256_unpacklo_ps(v[2], v[3])),
                d = _mm256_castps_pd(_mm256_unpackhi_ps(v[2], v[3]));
  v[0] = _mm256_castpd_ps(_mm256_unpacklo_pd(a, c));
  v[1] = _mm256_castpd_ps(_mm256_unpackhi_pd(a, c));
  v[2] = _mm256_castpd_ps(_mm256_unpacklo_pd(b, d));
  v[3] = _mm256_castpd_ps(_mm256_unpackhi_pd(b, d));
}
ACLPY_INLINE void v32_transpose(v32 *v) {
  for (int k = 0; k < 8; k += 4) v32_turn_halves_(v + k);
  for (int k = 0; k < 4; ++k) {
    const v32 low = _mm256_permute2f128_ps(v[k], v[4 + k], 0x20);
    v[4 + k] = _mm256_permute2f128_ps(v[k], v[4 + k], 0x31);
    v[k] = low;
  }
}
ACLPY_INLINE void v64_transpose(v64 *v) {
  v64 w[4];
  for (int k = 0; k < 4; k += 2) {
    w[k] = _mm256_unpacklo_pd(v[k], v[k + 1]);
    w[k + 1] = _mm256_unpackhi_pd(v[k], v[k + 1]);
  }
  for (int k = 0; k < 2; ++k) {
    v[k] = _mm256_permute2f128_pd(w[k], w[2 + k], 0x20);
    v[2 + k] = _mm256_permute2f128_pd(w[k], w[2 + k], 0x31);
  }
}
#else
#if defined(ACLPY_SIMD_PORTABLE) || !(defined(__x86_64__) || defined(__aarch64__))
#define ACLPY_TRANSPOSE_(type, real, integer, rounds, low, high)     \
  ACLPY_INLINE void type##_transpose(type *v) {                      \
    real w[type##_LANES][type##_LANES];                              \
    for (int k = 0; k < type##_LANES; ++k) type##_store(w[k], v[k]); \
    for (int k = 0; k < type##_LANES; ++k) {                         \
      for (int i = k + 1; i < type##_LANES; ++i) {                   \
        const real one = w[k][i];                                    \
        w[k][i] = w[i][k];                                           \
        w[i][k] = one;                                               \
      }                                                              \
    }                                                                \
    for (int k = 0; k < type##_LANES; ++k) v[k] = type##_load(w[k]); \
  }
#else
#ifdef __clang__
#define ACLPY_SHUFFLE_(type, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define ACLPY_SHUFFLE_(type, a, b, ...) __builtin_shuffle(a, b, (type##_lanes_){__VA_ARGS__})
#endif
/* `low` and `high`: the lanes of two vectors that a zip takes for its first and its second result. */
#define ACLPY_TRANSPOSE_(type, real, integer, rounds, low, high)                                  \
  typedef integer type##_lanes_ __attribute__((vector_size(sizeof(type))));                       \
  ACLPY_INLINE type type##_zip_low_(type a, type b) { return ACLPY_SHUFFLE_(type, a, b, low); }   \
  ACLPY_INLINE type type##_zip_high_(type a, type b) { return ACLPY_SHUFFLE_(type, a, b, high); } \
  ACLPY_INLINE void type##_transpose(type *v) {                                                   \
    type w[type##_LANES];                                                                         \
    for (int round = 0; round < rounds; ++round) {                                                \
      for (int k = 0; k < type##_LANES / 2; ++k) {                                                \
        w[2 * k] = type##_zip_low_(v[k], v[k + type##_LANES / 2]);                                \
        w[2 * k + 1] = type##_zip_high_(v[k], v[k + type##_LANES / 2]);                           \
      }                                                                                           \
      for (int k = 0; k < type##_LANES; ++k) v[k] = w[k];                                         \
    }                                                                                             \
  }
#endif

#define ACLPY_LIST_(...) __VA_ARGS__
ACLPY_TRANSPOSE_(v32, float, int32_t, 2, ACLPY_LIST_(0, 4, 1, 5), ACLPY_LIST_(2, 6, 3, 7))
ACLPY_TRANSPOSE_(v64, double, int64_t, 1, ACLPY_LIST_(0, 2), ACLPY_LIST_(1, 3))
#undef ACLPY_LIST_
#undef ACLPY_TRANSPOSE_
#undef ACLPY_SHUFFLE_
#endif

#endif
