/* SPDX-License-Identifier: Apache-2.0
 * exp for v32 and v64, log for v64, from the primitives of the vocabulary.
 *
 * exp: n = round(x / ln 2), r = x - n ln 2 with ln 2 in two parts where products round
 * (the first part short enough for n * part to be exact),
 * a polynomial of least largest relative error on |r| <= ln(2)/2 (Remez; 2e-9 and 4e-18), then one scaling by 2^n.
 * The arguments are clamped to where the result is already 0 or infinite (or as little as asked for), or such results
 * left out (ACLPY_SCALES_ABOVE); NaN passes through.
 *
 * log: m * 2^e with m in [sqrt(1/2), sqrt(2)), s = (m - 1) / (m + 1), the odd series of 2 atanh(s).
 */
#ifndef ACLPY_SIMD_MATH_H
#define ACLPY_SIMD_MATH_H

#include "isa.h"

#ifndef ACLPY_SCALES_ABOVE
#define ACLPY_SCALES_ABOVE 0
#endif
#ifndef ACLPY_SCALES_NORMAL
#define ACLPY_SCALES_NORMAL 0
#endif
#ifndef ACLPY_LOOKS
#define ACLPY_LOOKS 0
#endif

/* Several vectors go step by step: a processor looks ahead over fewer instructions than a few chains one after the
 * other have. Compilers that save registers would bring the chains one after the other again; with AVX2 they are told
 * that four vectors are needed at once. */
#define ACLPY_EACH_OF_(count) for (int k = 0; k < (count); ++k)
#if ACLPY_ISA_RANK == 2
#define ACLPY_AT_ONCE_(v, count)                                                                     \
  do {                                                                                               \
    if ((count) == 4) __asm__ volatile("" : "+x"((v)[0]), "+x"((v)[1]), "+x"((v)[2]), "+x"((v)[3])); \
  } while (0)
#else
#define ACLPY_AT_ONCE_(v, count) (void)0
#endif

/* r = e^r of `count` vectors, |r| <= ln(2)/2. */
ACLPY_INLINE void v32_exps_near_(v32 *r, int count) {
  v32 p[4];
  ACLPY_EACH_OF_(count) p[k] = v32_fma(v32_set1(0x1.6ae720p-10f), r[k], v32_set1(0x1.126792p-7f));
  ACLPY_EACH_OF_(count) p[k] = v32_fma(p[k], r[k], v32_set1(0x1.555822p-5f));
  ACLPY_AT_ONCE_(p, count);
  ACLPY_EACH_OF_(count) p[k] = v32_fma(p[k], r[k], v32_set1(0x1.55541ap-3f));
  ACLPY_AT_ONCE_(p, count);
  ACLPY_EACH_OF_(count) p[k] = v32_fma(p[k], r[k], v32_set1(0x1.fffffcp-2f));
  ACLPY_AT_ONCE_(p, count);
#if ACLPY_FUSES
  ACLPY_EACH_OF_(count) p[k] = v32_fma(p[k], r[k], v32_set1(1.0f));
  ACLPY_EACH_OF_(count) r[k] = v32_fma(p[k], r[k], v32_set1(1.0f));
#else
  /* Where products round, none as large as r is made: 1 + (r + r^2 p), 1.2 instead of 2.5 units of 2^-24. */
  ACLPY_EACH_OF_(count) p[k] = v32_fma(v32_mul(p[k], r[k]), r[k], r[k]);
  ACLPY_EACH_OF_(count) r[k] = v32_add(p[k], v32_set1(1.0f));
#endif
}
ACLPY_INLINE v32 v32_exp_near_(v32 r) {
  v32_exps_near_(&r, 1);
  return r;
}

/* What is known of results, or asked of them: nothing; they are normal numbers (arguments are from -86 to 86, of
 * doubles from -600 to 600); they are summed beside a term of 1, where those below e^-86 (of doubles e^-600) count for
 * nothing and are anything from 0 to that; their products with at most 1 are rounded to float16, where those below
 * e^-60 are 0, and the sum as before. So none is subnormal, nor is such a product: one takes Intel processors 200
 * cycles. */
enum { ACLPY_EXP_ANY = 0, ACLPY_EXP_NORMAL, ACLPY_EXP_SUMMED, ACLPY_EXP_FADING };
/* Arguments not above it may be left out. Just below -60, so that calm numbers (tops.h) have one result each way. */
ACLPY_INLINE float aclpy_exp_least_(int results) {
  return results == ACLPY_EXP_SUMMED ? -86.0f : results == ACLPY_EXP_FADING ? -0x1.e00002p+5f : -104.0f;
}

/* v = e^v of `count` vectors, four at most. */
ACLPY_INLINE void v32_exps_(v32 *v, int count, int results) {
  const int calm = results == ACLPY_EXP_NORMAL;
  const v32 least = v32_set1(aclpy_exp_least_(results)), magic = v32_set1(0x1.8p23f);
  v32 x[4], shifted[4], n[4], r[4];
  ACLPY_EACH_OF_(count) x[k] = ACLPY_SCALES_ABOVE || calm ? v[k] : v32_max(least, v[k]);
  ACLPY_EACH_OF_(count) shifted[k] = v32_fma(x[k], v32_set1(0x1.715476p+0f), magic);
  ACLPY_EACH_OF_(count) n[k] = v32_sub(shifted[k], magic);
#if ACLPY_FUSES
  /* One constant: its error times n is far below the rounding of x itself. */
  ACLPY_EACH_OF_(count) r[k] = v32_fnma(n[k], v32_set1(0x1.62e43p-1f), x[k]);
#else
  ACLPY_EACH_OF_(count) r[k] = v32_fnma(n[k], v32_set1(0x1.62ep-1f), x[k]);
  ACLPY_EACH_OF_(count) r[k] = v32_fnma(n[k], v32_set1(0x1.0bfbe8p-15f), r[k]);
#endif
  v32_exps_near_(r, count);
#if ACLPY_SCALES_NORMAL
  if (calm) {
    ACLPY_EACH_OF_(count) v[k] = v32_scale_normal(r[k], shifted[k]);
    return;
  }
#endif
#if ACLPY_SCALES_ABOVE
  ACLPY_EACH_OF_(count) v[k] = v32_scale_above(r[k], n[k], x[k], least);
#else
  const int near = results != ACLPY_EXP_ANY;
  ACLPY_EACH_OF_(count) v[k] = near ? v32_scale_near(r[k], shifted[k]) : v32_scale(r[k], shifted[k], n[k]);
#endif
}
ACLPY_INLINE v32 v32_exp_core_(v32 x) {
  v32_exps_(&x, 1, ACLPY_EXP_ANY);
  return x;
}

/* x <= 0 (or NaN). */
ACLPY_INLINE v32 v32_exp_negative(v32 x) { return v32_exp_core_(x); }
ACLPY_INLINE v32 v32_exp(v32 x) { return v32_exp_core_(v32_min(v32_set1(89.0f), x)); }

/* p = (e^r - 1 - r) / r^2 of `count` vectors, |r| <= ln(2)/2: even powers and odd ones side by side, which one chain of
 * ten steps would take twice as long for as for its arithmetic. */
ACLPY_INLINE void v64_exps_rest_(const v64 *r, v64 *p, int count) {
  v64 square[4], odd[4];
  ACLPY_EACH_OF_(count) square[k] = v64_mul(r[k], r[k]);
  ACLPY_EACH_OF_(count) p[k] = v64_fma(v64_set1(0x1.28ad72cd4ab37p-22), square[k], v64_set1(0x1.a0199a0c66195p-16));
  ACLPY_EACH_OF_(count) odd[k] = v64_fma(v64_set1(0x1.ad7f6f0e24922p-26), square[k], v64_set1(0x1.71df255235e0bp-19));
  ACLPY_AT_ONCE_(p, count);
  ACLPY_AT_ONCE_(odd, count);
  ACLPY_EACH_OF_(count) p[k] = v64_fma(p[k], square[k], v64_set1(0x1.6c16c1842a126p-10));
  ACLPY_EACH_OF_(count) odd[k] = v64_fma(odd[k], square[k], v64_set1(0x1.a01a012a57b5ep-13));
  ACLPY_AT_ONCE_(p, count);
  ACLPY_AT_ONCE_(odd, count);
  ACLPY_EACH_OF_(count) p[k] = v64_fma(p[k], square[k], v64_set1(0x1.555555555087cp-5));
  ACLPY_EACH_OF_(count) odd[k] = v64_fma(odd[k], square[k], v64_set1(0x1.1111111127be5p-7));
  ACLPY_AT_ONCE_(p, count);
  ACLPY_AT_ONCE_(odd, count);
  ACLPY_EACH_OF_(count) p[k] = v64_fma(p[k], square[k], v64_set1(0x1.000000000000ap-1));
  ACLPY_EACH_OF_(count) odd[k] = v64_fma(odd[k], square[k], v64_set1(0x1.55555555554fap-3));
  ACLPY_EACH_OF_(count) p[k] = v64_fma(odd[k], r[k], p[k]);
}
/* v = e^v of `count` vectors, four at most. */
ACLPY_INLINE void v64_exps_(v64 *v, int count, int results) {
  const v64 least = v64_set1(results == ACLPY_EXP_SUMMED ? -600.0 : -746.0), magic = v64_set1(0x1.8p52);
  const int calm = ACLPY_LOOKS && results == ACLPY_EXP_NORMAL;
  v64 x[4], shifted[4], n[4], r[4], p[4];
  ACLPY_EACH_OF_(count) x[k] = ACLPY_SCALES_ABOVE || calm ? v[k] : v64_max(least, v[k]);
  ACLPY_EACH_OF_(count) shifted[k] = v64_fma(x[k], v64_set1(0x1.71547652b82fep+0), magic);
  ACLPY_EACH_OF_(count) n[k] = v64_sub(shifted[k], magic);
  ACLPY_EACH_OF_(count) r[k] = v64_fnma(n[k], v64_set1(0x1.62e42feep-1), x[k]);
  ACLPY_EACH_OF_(count) r[k] = v64_fnma(n[k], v64_set1(0x1.a39ef35793c76p-33), r[k]);
  ACLPY_AT_ONCE_(r, count);
  v64_exps_rest_(r, p, count);
  ACLPY_EACH_OF_(count) p[k] = v64_fma(p[k], r[k], v64_set1(1.0));
  ACLPY_EACH_OF_(count) p[k] = v64_fma(p[k], r[k], v64_set1(1.0));
#if ACLPY_LOOKS
  if (calm) {
    ACLPY_EACH_OF_(count) v[k] = v64_scale_normal(p[k], shifted[k]);
    return;
  }
#endif
#if ACLPY_SCALES_ABOVE
  ACLPY_EACH_OF_(count) v[k] = v64_scale_above(p[k], n[k], x[k], least);
#else
  const int near = results == ACLPY_EXP_SUMMED;
  ACLPY_EACH_OF_(count) v[k] = near ? v64_scale_near(p[k], shifted[k]) : v64_scale(p[k], shifted[k], n[k]);
#endif
}
ACLPY_INLINE v64 v64_exp_as_(v64 x, int results) {
  v64_exps_(&x, 1, results);
  return x;
}

/* x <= 0 (or NaN). */
ACLPY_INLINE v64 v64_exp_negative(v64 x) { return v64_exp_as_(x, ACLPY_EXP_ANY); }
ACLPY_INLINE v64 v64_exp(v64 x) { return v64_exp_as_(v64_min(v64_set1(710.0), x), ACLPY_EXP_ANY); }

/* x normal and positive, or NaN (which stays). */
ACLPY_INLINE v64 v64_log(v64 x) {
  const v64 one = v64_set1(1.0);
  v64 e = v64_exponent(x);
  v64 m = v64_significand(x);
  const v64 root = v64_set1(0x1.6a09e667f3bcdp+0);
  e = v64_pick_greater(m, root, v64_add(e, one), e);
  m = v64_pick_greater(m, root, v64_mul(m, v64_set1(0.5)), m);
  const v64 f = v64_sub(m, one);
  const v64 s = v64_div(f, v64_add(m, one));
  const v64 q = v64_mul(s, s);
  v64 p = v64_set1(2.0 / 21.0);
  p = v64_fma(p, q, v64_set1(2.0 / 19.0));
  p = v64_fma(p, q, v64_set1(2.0 / 17.0));
  p = v64_fma(p, q, v64_set1(2.0 / 15.0));
  p = v64_fma(p, q, v64_set1(2.0 / 13.0));
  p = v64_fma(p, q, v64_set1(2.0 / 11.0));
  p = v64_fma(p, q, v64_set1(2.0 / 9.0));
  p = v64_fma(p, q, v64_set1(2.0 / 7.0));
  p = v64_fma(p, q, v64_set1(2.0 / 5.0));
  p = v64_fma(p, q, v64_set1(2.0 / 3.0));
  p = v64_fma(v64_mul(p, q), s, v64_add(s, s));
  p = v64_fma(e, v64_set1(0x1.a39ef35793c76p-33), p);
  p = v64_fma(e, v64_set1(0x1.62e42feep-1), p);
  /* x + -x is 0 for numbers and NaN for NaN. */
  return v64_add(p, v64_sub(x, x));
}

ACLPY_INLINE double aclpy_exp_negative_f64(double x) { return v64_first(v64_exp_negative(v64_set1(x))); }
ACLPY_INLINE double aclpy_exp_f64(double x) { return v64_first(v64_exp(v64_set1(x))); }
ACLPY_INLINE double aclpy_log_f64(double x) { return v64_first(v64_log(v64_set1(x))); }

#endif
