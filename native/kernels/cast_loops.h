/* SPDX-License-Identifier: Apache-2.0
 * Element loops of casts from a block of float or double, written so that compilers vectorise them.
 *
 * To integers: truncate, saturate, NaN -> 0. To bool: x != 0 (NaN is true). To complex: imaginary part 0.
 * Narrowing floats: nearest even; float8_e5m2 overflows to infinity, float8_e4m3fn (which has none) to NaN.
 */
#ifndef ACLPY_KERNELS_CAST_LOOPS_H
#define ACLPY_KERNELS_CAST_LOOPS_H

#include "../simd/isa.h"

enum { ACLPY_CAST_BLOCK = 512 };

#define ACLPY_TO_INTEGER_(source, real, target, type, low, high, most)                              \
  ACLPY_INLINE void cast_##source##_##target(const real *restrict x, type *restrict y, int64_t n) { \
    for (int64_t i = 0; i < n; ++i) {                                                               \
      const real raised = x[i] < (real)(low) ? (real)(low) : x[i];                                  \
      const type inside = (type)(raised < (real)(high) ? raised : (real)0);                         \
      y[i] = raised >= (real)(high) ? (type)(most) : inside;                                        \
    }                                                                                               \
  }
#define ACLPY_TO_OTHERS_(source, real)                                                             \
  ACLPY_TO_INTEGER_(source, real, i8, int8_t, -0x1p7, 0x1p7, INT8_MAX)                             \
  ACLPY_TO_INTEGER_(source, real, i16, int16_t, -0x1p15, 0x1p15, INT16_MAX)                        \
  ACLPY_TO_INTEGER_(source, real, i32, int32_t, -0x1p31, 0x1p31, INT32_MAX)                        \
  ACLPY_TO_INTEGER_(source, real, i64, int64_t, -0x1p63, 0x1p63, INT64_MAX)                        \
  ACLPY_TO_INTEGER_(source, real, u8, uint8_t, 0, 0x1p8, UINT8_MAX)                                \
  ACLPY_TO_INTEGER_(source, real, u16, uint16_t, 0, 0x1p16, UINT16_MAX)                            \
  ACLPY_TO_INTEGER_(source, real, u32, uint32_t, 0, 0x1p32, UINT32_MAX)                            \
  ACLPY_TO_INTEGER_(source, real, u64, uint64_t, 0, 0x1p64, UINT64_MAX)                            \
  ACLPY_INLINE void cast_##source##_bool(const real *restrict x, uint8_t *restrict y, int64_t n) { \
    for (int64_t i = 0; i < n; ++i) y[i] = x[i] != (real)0;                                        \
  }                                                                                                \
  ACLPY_INLINE void cast_##source##_c64(const real *restrict x, float *restrict y, int64_t n) {    \
    for (int64_t i = 0; i < n; ++i) {                                                              \
      y[2 * i] = (float)x[i];                                                                      \
      y[2 * i + 1] = 0.0f;                                                                         \
    }                                                                                              \
  }                                                                                                \
  ACLPY_INLINE void cast_##source##_c128(const real *restrict x, double *restrict y, int64_t n) {  \
    for (int64_t i = 0; i < n; ++i) {                                                              \
      y[2 * i] = (double)x[i];                                                                     \
      y[2 * i + 1] = 0.0;                                                                          \
    }                                                                                              \
  }
ACLPY_TO_OTHERS_(f32, float)
ACLPY_TO_OTHERS_(f64, double)
#undef ACLPY_TO_OTHERS_
#undef ACLPY_TO_INTEGER_

ACLPY_INLINE void cast_f32_f64(const float *restrict x, double *restrict y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = (double)x[i];
}
ACLPY_INLINE void cast_f64_f32(const double *restrict x, float *restrict y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = (float)x[i];
}

/* Rounds to odd: a later rounding to a type with at least two bits less gives what one rounding would have given. */
ACLPY_INLINE void cast_f64_odd(const double *restrict x, float *restrict y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const float nearest = (float)x[i];
    const double back = (double)nearest;
    const uint32_t away = __builtin_fabs(back) > __builtin_fabs(x[i]);
    const uint32_t inexact = back != x[i];
    y[i] = aclpy_f32_from_bits((aclpy_f32_bits(nearest) - away) | inexact);
  }
}

/* 8-bit floats: `shift` drops significand bits, `half` is the ulp that makes subnormals, `bias` rebases exponents. */
ACLPY_INLINE uint32_t aclpy_f8_magnitude_(uint32_t bits, uint32_t shift, float half, uint32_t least, uint32_t bias) {
  const uint32_t magnitude = bits & 0x7fffffffu;
  const uint32_t small = aclpy_f32_bits(aclpy_f32_from_bits(magnitude) + half) - aclpy_f32_bits(half);
  const uint32_t odd = (magnitude >> shift) & 1u;
  const uint32_t normal = (magnitude + ((1u << (shift - 1)) - 1u) + odd - bias) >> shift;
  return magnitude < least ? small : normal;
}
ACLPY_INLINE void cast_f32_f8e5m2(const float *restrict x, uint8_t *restrict y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t bits = aclpy_f32_bits(x[i]);
    uint32_t h = aclpy_f8_magnitude_(bits, 21, 0x1p7f, 0x38800000u, 0x38000000u);
    h = h > 0x7cu ? 0x7cu : h;
    h = (bits & 0x7fffffffu) > 0x7f800000u ? 0x7eu : h;
    y[i] = (uint8_t)(h | ((bits >> 24) & 0x80u));
  }
}
ACLPY_INLINE void cast_f32_f8e4m3(const float *restrict x, uint8_t *restrict y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t bits = aclpy_f32_bits(x[i]);
    uint32_t h = aclpy_f8_magnitude_(bits, 20, 0x1p14f, 0x3c800000u, 0x3c000000u);
    h = h > 0x7eu ? 0x7fu : h;
    y[i] = (uint8_t)(h | ((bits >> 24) & 0x80u));
  }
}

/* float, float16 and bfloat16 among each other, through the vector vocabulary. */
#define ACLPY_VECTOR_CAST_(source, from, target, to)                                              \
  ACLPY_INLINE void cast_##source##_##target(const from *restrict x, to *restrict y, int64_t n) { \
    int64_t i = 0;                                                                                \
    for (; i + v32_LANES <= n; i += v32_LANES) st_##target(y + i, ld_##source(x + i));            \
    if (i < n) stn_##target(y + i, ldn_##source(x + i, n - i, 0.0f), n - i);                      \
  }
ACLPY_VECTOR_CAST_(f32, float, f16, uint16_t)
ACLPY_VECTOR_CAST_(f32, float, bf16, uint16_t)
ACLPY_VECTOR_CAST_(f16, uint16_t, f32, float)
ACLPY_VECTOR_CAST_(bf16, uint16_t, f32, float)
ACLPY_VECTOR_CAST_(f16, uint16_t, bf16, uint16_t)
ACLPY_VECTOR_CAST_(bf16, uint16_t, f16, uint16_t)
#undef ACLPY_VECTOR_CAST_

#endif
