/* SPDX-License-Identifier: Apache-2.0
 * x^y of floats, y of moderate size and not integral, one y for all x, where multiply-adds round once.
 *
 * x = m 2^e, m in [1, 2); of 32 numbers c about 1/m one is looked up, -log2 c beside it to 16 binary places and 2^-28,
 * r = c m - 1, |r| < 2^-6. So log2 x = E + u: E = e - log2 c exact, u = log2(1 + r) a polynomial (4e-9). What y E
 * leaves of the nearest integer n is rounded once, as a number below 1; f = y E - n + y u goes to the polynomial of 2^f
 * (8e-9, |f| <= 0.6). Within 1.3 ulp, 1^y = 1. A lane's result depends on the lane alone and has the same bits on every
 * such processor and in native/cuda/eltwise.h.
 */
#ifndef ACLPY_SIMD_POW_F32_H
#define ACLPY_SIMD_POW_F32_H

#include "isa.h"

/* Whether there is v32_power for the exponent. Square roots have ways of their own (kernels/eltwise.h). */
ACLPY_INLINE int aclpy_power_takes(float y) {
  return ACLPY_FUSES && __builtin_fabsf(y) <= 4.0f && y != (float)(int32_t)y && y != 0.5f && y != 1.5f;
}

#if ACLPY_FUSES
#include "pow_lanes.h"

/* y log2(1 + r) / r, its coefficients from the constant on. */
ACLPY_INLINE void aclpy_power_make(float *u, float y) {
  u[0] = y * 0x1.715476p+0f;
  u[1] = y * -0x1.715db4p-1f;
  u[2] = y * 0x1.ec97c6p-2f;
}

#define ACLPY_EACH_(expression) \
  for (int k = 0; k < count; ++k) expression
/* p = 2^r, |r| <= 0.6, step by step. */
ACLPY_INLINE void v32_exp2_near_(v32 *p, const v32 *r, int count) {
  ACLPY_EACH_(p[k] = v32_fma(v32_set1(0x1.415002p-13f), r[k], v32_set1(0x1.5ff834p-10f)));
  ACLPY_EACH_(p[k] = v32_fma(p[k], r[k], v32_set1(0x1.3b3082p-7f)));
  ACLPY_EACH_(p[k] = v32_fma(p[k], r[k], v32_set1(0x1.c6ad40p-5f)));
  ACLPY_EACH_(p[k] = v32_fma(p[k], r[k], v32_set1(0x1.ebfbd4p-3f)));
  ACLPY_EACH_(p[k] = v32_fma(p[k], r[k], v32_set1(0x1.62e432p-1f)));
  ACLPY_EACH_(p[k] = v32_fma(p[k], r[k], v32_set1(1.0f)));
}
/* x[k] = x[k]^y, `count` (a constant, at most 4) vectors step by step, so that each hides the others' latency.
 * `normal`: all x are positive and normal, and so are the results. */
ACLPY_INLINE void v32_power(v32 *x, int count, float exponent, const float *u, int normal) {
  const v32 y = v32_set1(exponent), magic = v32_set1(0x1.8p23f), one = v32_set1(1.0f);
  v32 e[4], r[4], s[4], n[4], p[4];
  ACLPY_EACH_({
    v32 m;
    e[k] = v32_split_(x[k], &m);
    const v32_row at = v32_row_of_(m);
    e[k] = v32_add(e[k], v32_look_up_(aclpy_power_log_, at));
    r[k] = v32_fms_(m, v32_look_up_(aclpy_power_inverse_, at), one);
  });
  ACLPY_EACH_(s[k] = v32_fma(y, e[k], magic));
  ACLPY_EACH_(p[k] = v32_fma(v32_set1(u[2]), r[k], v32_set1(u[1])));
  ACLPY_EACH_(n[k] = v32_sub(s[k], magic));
  ACLPY_EACH_(p[k] = v32_fma(p[k], r[k], v32_set1(u[0])));
  ACLPY_EACH_(e[k] = v32_fms_(y, e[k], n[k]));
  ACLPY_EACH_(r[k] = v32_fma(p[k], r[k], e[k]));
  v32_exp2_near_(p, r, count);
#if ACLPY_SCALES_NORMAL
  if (normal) {
    ACLPY_EACH_(x[k] = v32_scale_normal(p[k], s[k]));
    return;
  }
#endif
  (void)normal;
  ACLPY_EACH_(p[k] = v32_scale_any_(p[k], s[k], n[k]));
  ACLPY_EACH_(x[k] = v32_power_edges_(p[k], x[k], exponent));
}
/* x[k] = 2^(c x[k]), c in two parts; results are normal numbers. What c x leaves of the nearest integer is rounded
 * once. */
ACLPY_INLINE void v32_exp2_times(v32 *x, int count, float high, float low) {
  const v32 c = v32_set1(high), rest = v32_set1(low), magic = v32_set1(0x1.8p23f);
  v32 s[4], n[4], r[4], p[4];
  ACLPY_EACH_(s[k] = v32_fma(x[k], c, magic));
  ACLPY_EACH_(n[k] = v32_sub(s[k], magic));
  ACLPY_EACH_(r[k] = v32_fms_(x[k], c, n[k]));
  ACLPY_EACH_(r[k] = v32_fma(x[k], rest, r[k]));
  v32_exp2_near_(p, r, count);
#if ACLPY_SCALES_NORMAL
  ACLPY_EACH_(x[k] = v32_scale_normal(p[k], s[k]));
#else
  ACLPY_EACH_(x[k] = v32_scale(p[k], s[k], n[k]));
#endif
}
#undef ACLPY_EACH_
#else
ACLPY_INLINE void aclpy_power_make(float *u, float y) { (void)u, (void)y; }
ACLPY_INLINE void v32_power(v32 *x, int count, float exponent, const float *u, int normal) {
  (void)x, (void)count, (void)exponent, (void)u, (void)normal;
}
ACLPY_INLINE void v32_exp2_times(v32 *x, int count, float high, float low) {
  (void)x, (void)count, (void)high, (void)low;
}
#endif

#endif
