/* SPDX-License-Identifier: Apache-2.0
 * v32_transpose(v) and v64_transpose(v): as many vectors as a vector has lanes, turned where they are.
 *
 * A network of log2(lanes) rounds, each of which zips vector i with vector i + lanes / 2; AVX2, whose zips stay within
 * halves of a vector, turns the halves first and puts them together last.
 */
#ifndef ACLPY_SIMD_TRANSPOSE_H
#define ACLPY_SIMD_TRANSPOSE_H

#include "isa.h"

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
#if ACLPY_ISA_RANK == 3
ACLPY_TRANSPOSE_(v32, float, int32_t, 4, ACLPY_LIST_(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23),
                 ACLPY_LIST_(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31))
ACLPY_TRANSPOSE_(v64, double, int64_t, 3, ACLPY_LIST_(0, 8, 1, 9, 2, 10, 3, 11),
                 ACLPY_LIST_(4, 12, 5, 13, 6, 14, 7, 15))
#elif ACLPY_ISA_RANK == 2
ACLPY_INLINE void v32_transpose(v32 *v) {
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
ACLPY_INLINE void v64_transpose(v64 *v) {
  v64 pair[4];
  for (int k = 0; k < 4; k += 2) {
    pair[k] = _mm256_unpacklo_pd(v[k], v[k + 1]);
    pair[k + 1] = _mm256_unpackhi_pd(v[k], v[k + 1]);
  }
  for (int k = 0; k < 2; ++k) {
    v[k] = _mm256_permute2f128_pd(pair[k], pair[k + 2], 0x20);
    v[k + 2] = _mm256_permute2f128_pd(pair[k], pair[k + 2], 0x31);
  }
}
#else
ACLPY_TRANSPOSE_(v32, float, int32_t, 2, ACLPY_LIST_(0, 4, 1, 5), ACLPY_LIST_(2, 6, 3, 7))
ACLPY_TRANSPOSE_(v64, double, int64_t, 1, ACLPY_LIST_(0, 2), ACLPY_LIST_(1, 3))
#endif
#undef ACLPY_LIST_
#undef ACLPY_TRANSPOSE_
#undef ACLPY_SHUFFLE_

#endif
