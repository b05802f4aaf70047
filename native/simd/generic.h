/* SPDX-License-Identifier: Apache-2.0
 * Vector vocabulary in plain C for other processors: small arrays in structs that compilers may vectorise.
 */
#ifndef ACLPY_SIMD_GENERIC_H
#define ACLPY_SIMD_GENERIC_H

enum { v32_LANES = 4, v64_LANES = 2 };
typedef struct v32 {
  float lane[v32_LANES];
} v32;
typedef struct v64 {
  double lane[v64_LANES];
} v64;

#define ACLPY_EACH_(type, expression)                                \
  type out;                                                          \
  for (int i = 0; i < type##_LANES; ++i) out.lane[i] = (expression); \
  return out

#define ACLPY_GENERIC_(type, real)                                                                                   \
  ACLPY_INLINE type type##_set1(real x) { ACLPY_EACH_(type, x); }                                                    \
  ACLPY_INLINE type type##_load(const real *p) { ACLPY_EACH_(type, p[i]); }                                          \
  ACLPY_INLINE void type##_store(real *p, type v) { memcpy(p, v.lane, sizeof v.lane); }                              \
  ACLPY_INLINE type type##_add(type a, type b) { ACLPY_EACH_(type, a.lane[i] + b.lane[i]); }                         \
  ACLPY_INLINE type type##_sub(type a, type b) { ACLPY_EACH_(type, a.lane[i] - b.lane[i]); }                         \
  ACLPY_INLINE type type##_mul(type a, type b) { ACLPY_EACH_(type, a.lane[i] * b.lane[i]); }                         \
  ACLPY_INLINE type type##_div(type a, type b) { ACLPY_EACH_(type, a.lane[i] / b.lane[i]); }                         \
  ACLPY_INLINE type type##_max(type a, type b) { ACLPY_EACH_(type, a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]); } \
  ACLPY_INLINE type type##_min(type a, type b) { ACLPY_EACH_(type, a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]); } \
  ACLPY_INLINE type type##_fma(type a, type b, type c) { return type##_add(type##_mul(a, b), c); }                   \
  ACLPY_INLINE type type##_fnma(type a, type b, type c) { return type##_sub(c, type##_mul(a, b)); }                  \
  ACLPY_INLINE real type##_hsum(type v) {                                                                            \
    real s = 0;                                                                                                      \
    for (int i = 0; i < type##_LANES; ++i) s += v.lane[i];                                                           \
    return s;                                                                                                        \
  }                                                                                                                  \
  ACLPY_INLINE real type##_hmax(type v) {                                                                            \
    real m = v.lane[0];                                                                                              \
    for (int i = 1; i < type##_LANES; ++i) m = v.lane[i] > m ? v.lane[i] : m;                                        \
    return m;                                                                                                        \
  }
ACLPY_GENERIC_(v32, float)
ACLPY_GENERIC_(v64, double)

/* The lower and upper half of the lanes as doubles. */
ACLPY_INLINE v64 v32_widen_low(v32 v) { ACLPY_EACH_(v64, (double)v.lane[i]); }
ACLPY_INLINE v64 v32_widen_high(v32 v) { ACLPY_EACH_(v64, (double)v.lane[i + v64_LANES]); }
ACLPY_INLINE double v64_first(v64 v) { return v.lane[0]; }
ACLPY_INLINE v32 v32_pick_greater(v32 x, v32 limit, v32 a, v32 b) {
  ACLPY_EACH_(v32, x.lane[i] > limit.lane[i] ? a.lane[i] : b.lane[i]);
}
ACLPY_INLINE v32 v32_larger(v32 a, v32 b) { return v32_pick_greater(a, b, a, b); }
ACLPY_INLINE v32 v32_smaller(v32 a, v32 b) { return v32_pick_greater(b, a, a, b); }
ACLPY_INLINE int v32_any_greater(v32 x, v32 limit) {
  int any = 0;
  for (int i = 0; i < v32_LANES; ++i) any |= x.lane[i] > limit.lane[i];
  return any;
}
ACLPY_INLINE v64 v64_pick_greater(v64 x, v64 limit, v64 a, v64 b) {
  ACLPY_EACH_(v64, x.lane[i] > limit.lane[i] ? a.lane[i] : b.lane[i]);
}

#include "narrow_lanes.h"

ACLPY_INLINE double aclpy_f64_from_bits_(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
ACLPY_INLINE uint64_t aclpy_f64_bits_(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* p * 2^n in two exact halves, so that subnormal and infinite results round once. NaN counts as n = 0. */
ACLPY_INLINE v32 v32_scale(v32 p, v32 shifted, v32 n) {
  (void)shifted;
  v32 out;
  for (int i = 0; i < v32_LANES; ++i) {
    const int32_t e = n.lane[i] == n.lane[i] ? (int32_t)n.lane[i] : 0;
    const int32_t half = e / 2;
    out.lane[i] = p.lane[i] * aclpy_f32_from_bits((uint32_t)(half + 127) << 23) *
                  aclpy_f32_from_bits((uint32_t)(e - half + 127) << 23);
  }
  return out;
}
ACLPY_INLINE v64 v64_scale(v64 p, v64 shifted, v64 n) {
  (void)shifted;
  v64 out;
  for (int i = 0; i < v64_LANES; ++i) {
    const int64_t e = n.lane[i] == n.lane[i] ? (int64_t)n.lane[i] : 0;
    const int64_t half = e / 2;
    out.lane[i] = p.lane[i] * aclpy_f64_from_bits_((uint64_t)(half + 1023) << 52) *
                  aclpy_f64_from_bits_((uint64_t)(e - half + 1023) << 52);
  }
  return out;
}

/* The same where n is from -125 to 125 (of doubles -1021 to 1021), or NaN. */
ACLPY_INLINE v32 v32_scale_near(v32 p, v32 shifted) {
  return v32_scale(p, shifted, v32_sub(shifted, v32_set1(0x1.8p23f)));
}
ACLPY_INLINE v64 v64_scale_near(v64 p, v64 shifted) {
  return v64_scale(p, shifted, v64_sub(shifted, v64_set1(0x1.8p52)));
}

/* Exponent of a positive normal number, and its significand in [1, 2). */
ACLPY_INLINE v64 v64_exponent(v64 x) { ACLPY_EACH_(v64, (double)((int64_t)(aclpy_f64_bits_(x.lane[i]) >> 52) - 1023)); }
ACLPY_INLINE v64 v64_significand(v64 x) {
  ACLPY_EACH_(v64, aclpy_f64_from_bits_((aclpy_f64_bits_(x.lane[i]) & 0x000fffffffffffffu) | 0x3ff0000000000000u));
}

ACLPY_INLINE v32 ld_f32(const float *p) { return v32_load(p); }
ACLPY_INLINE void st_f32(float *p, v32 v) { v32_store(p, v); }
ACLPY_INLINE void nt_f32(float *p, v32 v) { v32_store(p, v); }
ACLPY_INLINE v64 ld_f64(const double *p) { return v64_load(p); }
ACLPY_INLINE void st_f64(double *p, v64 v) { v64_store(p, v); }
ACLPY_INLINE void nt_f64(double *p, v64 v) { v64_store(p, v); }
ACLPY_INLINE v32 ld_f16(const uint16_t *p) { return ldn_f16(p, v32_LANES, 0.0f); }
ACLPY_INLINE void st_f16(uint16_t *p, v32 v) { stn_f16(p, v, v32_LANES); }
ACLPY_INLINE void nt_f16(uint16_t *p, v32 v) { stn_f16(p, v, v32_LANES); }
ACLPY_INLINE v32 ld_bf16(const uint16_t *p) { return ldn_bf16(p, v32_LANES, 0.0f); }
ACLPY_INLINE void st_bf16(uint16_t *p, v32 v) { stn_bf16(p, v, v32_LANES); }
ACLPY_INLINE void nt_bf16(uint16_t *p, v32 v) { stn_bf16(p, v, v32_LANES); }
ACLPY_INLINE void aclpy_stream_fence(void) {}
ACLPY_INLINE void aclpy_pace(void) {}

#undef ACLPY_EACH_
#undef ACLPY_GENERIC_

#endif
