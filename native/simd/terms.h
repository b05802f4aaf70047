/* SPDX-License-Identifier: Apache-2.0
 * Exponentials where a whole unit of the last place may be wrong: the terms of a softmax, and what doubles subtract.
 *
 * As in math.h, but n is a multiple of 1/ACLPY_PARTS, whose power of two a permutation of one register looks up. So r
 * is small and a polynomial of degree 3 does instead of one of 6 (6 instead of 11 for doubles): two multiply-adds less,
 * four of a double's. The looked-up power is rounded: e^x is up to 1.0 unit of its last place wrong for x from -1 to 0
 * (1.2 where ACLPY_PARTS is 8; doubles 1.1) instead of 0.9 (0.8).
 */
#ifndef ACLPY_SIMD_TERMS_H
#define ACLPY_SIMD_TERMS_H

#include "math.h"

#ifdef ACLPY_PARTS
/* e^r - 1 of `count` vectors, |r| <= ln(2) / (2 ACLPY_PARTS): 2e-9 for sixteenths, 3e-8 for eighths. */
ACLPY_INLINE void v32_expm1s_near_(v32 *r, int count) {
  const v32 third = v32_set1(ACLPY_PARTS == 16 ? 0x1.555754p-3f : 0x1.555d88p-3f);
  const v32 second = v32_set1(ACLPY_PARTS == 16 ? 0x1.00022p-1f : 0x1.00088p-1f);
  v32 p[4];
  ACLPY_EACH_OF_(count) p[k] = v32_fma(third, r[k], second);
  ACLPY_EACH_OF_(count) p[k] = v32_fma(p[k], r[k], v32_set1(1.0f));
  ACLPY_EACH_OF_(count) r[k] = v32_mul(p[k], r[k]);
}
/* v = e^v of `count` vectors, four at most, v <= 0 (or NaN). */
ACLPY_INLINE void v32_terms_(v32 *v, int count, int results) {
  const int calm = results == ACLPY_EXP_NORMAL, normal = calm || (!ACLPY_SCALES_ABOVE && results != ACLPY_EXP_ANY);
  const v32 least = v32_set1(aclpy_exp_least_(results)), magic = v32_set1(0x1.8p23f / ACLPY_PARTS);
  v32 x[4], shifted[4], n[4], r[4], power[4];
  ACLPY_EACH_OF_(count) x[k] = ACLPY_SCALES_ABOVE || calm ? v[k] : v32_max(least, v[k]);
  ACLPY_EACH_OF_(count) shifted[k] = v32_fma(x[k], v32_set1(0x1.715476p+0f), magic);
  ACLPY_EACH_OF_(count) power[k] = normal ? v32_power_normal(shifted[k]) : v32_power_part(shifted[k]);
  ACLPY_EACH_OF_(count) n[k] = v32_sub(shifted[k], magic);
  ACLPY_EACH_OF_(count) r[k] = v32_fnma(n[k], v32_set1(0x1.62e43p-1f), x[k]);
  v32_expm1s_near_(r, count);
  ACLPY_EACH_OF_(count) r[k] = v32_fma(r[k], power[k], power[k]);
#if ACLPY_SCALES_ABOVE
  ACLPY_EACH_OF_(count) v[k] = normal ? r[k] : v32_scale_above(r[k], n[k], x[k], least);
#else
  ACLPY_EACH_OF_(count) v[k] = normal ? r[k] : v32_scale_whole(r[k], shifted[k], n[k]);
#endif
}
#else
ACLPY_INLINE void v32_terms_(v32 *v, int count, int results) { v32_exps_(v, count, results); }
#endif

/* Whether four vectors need no bounds, and no care for far exponents: known, or seen where a look costs less. */
ACLPY_INLINE int v32_quad_calm_(const v32 *v, int results) {
#if ACLPY_LOOKS
  return results == ACLPY_EXP_NORMAL || ACLPY_LIKELY(v32_quad_near(v));
#else
  (void)v, (void)results;
  return 0;
#endif
}
/* Four vectors of terms. Sixteen registers are too few to do them step by step. */
ACLPY_INLINE void v32_exp_quad(v32 *v, int results) {
  if (ACLPY_ISA_RANK == 3) {
    v32_terms_(v, 4, results);
    return;
  }
  /* Not `calm` as a bound of the loops: compilers would keep v in memory, too. */
  if (v32_quad_calm_(v, results)) {
    for (int k = 0; k < 4; ++k) v32_terms_(v + k, 1, ACLPY_EXP_NORMAL);
  } else {
    for (int k = 0; k < 4; ++k) v32_terms_(v + k, 1, results);
  }
}
/* The same beside other work that needs registers: with AVX-512 by two. */
ACLPY_INLINE void v32_exp_quad_beside(v32 *v, int results) {
  if (ACLPY_ISA_RANK == 3) {
    v32_terms_(v, 2, results);
    v32_terms_(v + 2, 2, results);
    return;
  }
  v32_exp_quad(v, results);
}
/* Two vectors of terms that need neither. */
ACLPY_INLINE void v32_exp_two(v32 *v) {
  for (int k = 0; k < 2; ++k) v32_terms_(v + k, 1, ACLPY_EXP_NORMAL);
}
ACLPY_INLINE v32 v32_exp_below(v32 x, int results) {
  v32_terms_(&x, 1, results);
  return x;
}
/* Whether four vectors of logarithms of probabilities need no bounds, and no care for far exponents; and as many
 * exponentials of those, as v32_exp makes them. */
#if ACLPY_ISA_RANK == 3 || ACLPY_LOOKS
ACLPY_INLINE int v32_quad_close(const v32 *v) { return v32_quad_below(v); }
#else
ACLPY_INLINE int v32_quad_close(const v32 *v) { return (void)v, 0; }
#endif
#if ACLPY_LOOKS
ACLPY_INLINE int v64_quad_close(const v64 *v) { return v64_quad_near(v); }
#else
ACLPY_INLINE int v64_quad_close(const v64 *v) { return (void)v, 0; }
#endif
enum { ACLPY_STEPS_TOGETHER = ACLPY_ISA_RANK >= 2 };
ACLPY_INLINE void v32_exps_close(v32 *v, int count) {
  if (ACLPY_STEPS_TOGETHER) v32_exps_(v, count, ACLPY_EXP_NORMAL);
  for (int k = 0; k < count && !ACLPY_STEPS_TOGETHER; ++k) v32_exps_(v + k, 1, ACLPY_EXP_NORMAL);
}
ACLPY_INLINE void v64_exps_close(v64 *v, int count) {
  if (ACLPY_STEPS_TOGETHER) v64_exps_(v, count, ACLPY_EXP_NORMAL);
  for (int k = 0; k < count && !ACLPY_STEPS_TOGETHER; ++k) v64_exps_(v + k, 1, ACLPY_EXP_NORMAL);
}

#ifdef ACLPY_DOUBLE_PARTS
/* e^x, x at most 710 (or NaN); |r| <= ln(2)/32, the polynomial 1e-17 wrong. */
ACLPY_INLINE v64 v64_exp_below(v64 x, int results) {
  const v64 least = v64_set1(results == ACLPY_EXP_SUMMED ? -600.0 : -746.0), magic = v64_set1(0x1.8p48);
  const v64 shifted = v64_fma(x, v64_set1(0x1.71547652b82fep+0), magic);
  const v64 n = v64_sub(shifted, magic), power = v64_power_part(shifted);
  v64 r = v64_fnma(n, v64_set1(0x1.62e42feep-1), x);
  r = v64_fnma(n, v64_set1(0x1.a39ef35793c76p-33), r);
  v64 p = v64_set1(0x1.6c185daed8f84p-10);
  p = v64_fma(p, r, v64_set1(0x1.11123ac90f8d9p-7));
  p = v64_fma(p, r, v64_set1(0x1.555555545eee2p-5));
  p = v64_fma(p, r, v64_set1(0x1.555555548f613p-3));
  p = v64_fma(p, r, v64_set1(0x1.0000000000005p-1));
  p = v64_fma(p, r, v64_set1(1.0));
  return v64_scale_above(v64_fma(v64_mul(p, r), power, power), n, x, least);
}
#else
ACLPY_INLINE v64 v64_exp_below(v64 x, int results) { return v64_exp_as_(x, results); }
#endif
ACLPY_INLINE void v64_exp_quad(v64 *v, int results) {
#if ACLPY_LOOKS
  if (results == ACLPY_EXP_NORMAL || ACLPY_LIKELY(v64_quad_near(v))) {
    v64_exps_close(v, 4);
    return;
  }
#endif
  for (int k = 0; k < 4; ++k) v[k] = v64_exp_below(v[k], results);
}

/* e^x of a logarithm of a probability. What is subtracted from a float gradient must not be a whole unit wrong. */
ACLPY_INLINE v32 v32_exp_probability(v32 x) { return v32_exp(x); }
ACLPY_INLINE v64 v64_exp_probability(v64 x) { return v64_exp_below(v64_min(v64_set1(710.0), x), ACLPY_EXP_ANY); }

#endif
