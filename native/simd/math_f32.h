/* SPDX-License-Identifier: Apache-2.0
 * More functions of v32: expm1, tanh, log(1 + e), erfc, and what is made of them. exp is in math.h.
 *
 * Polynomials are least-error fits (weighted, coefficients rounded to float): 2e-8 for expm1 on |r| <= ln(2)/2,
 * 5e-9 for tanh(x), 3e-9 for log(1 + e^x), 2e-9 for the logistic function, 3e-8 for the normal distribution and the
 * other one that gelu has on |x| <= 1, 4e-8 for tanh(log(1 + e^x)) on |x| <= 1/2 (these where every lane is as small,
 * chosen lane by lane elsewhere), 8e-9 for log(1 + f) on [sqrt(1/2) - 1, sqrt(2) - 1], 5e-8 for exp(a^2) erfc(a) as
 * t P(t), t = 1 / (1 + a/2), a in [0, 11]. NaN passes through all of them.
 */
#ifndef ACLPY_SIMD_MATH_F32_H
#define ACLPY_SIMD_MATH_F32_H

#include "math.h"

/* NaN where x is. */
ACLPY_INLINE v32 v32_abs(v32 x) { return v32_max(v32_sub(v32_set1(0.0f), x), x); }
ACLPY_INLINE v32 v32_negate(v32 x) { return v32_mul(x, v32_set1(-1.0f)); }

/* e^x. Where every |x| is small nothing is taken off the argument: the same bits in half the work. */
ACLPY_INLINE v32 v32_exp_any(v32 x) {
  if (!v32_any_greater(v32_abs(x), v32_set1(0.34f))) return v32_exp_near_(x);
  return v32_exp(x);
}

/* e^x - 1, x <= 88: 2^n (e^r - 1) + (2^n - 1), r = x - n ln 2. */
ACLPY_INLINE v32 v32_expm1(v32 x) {
  const v32 magic = v32_set1(0x1.8p23f), one = v32_set1(1.0f);
  x = v32_max(v32_set1(-104.0f), x);
  const v32 shifted = v32_fma(x, v32_set1(0x1.715476p+0f), magic);
  const v32 n = v32_sub(shifted, magic);
  v32 r = v32_fnma(n, v32_set1(0x1.62ep-1f), x);
  r = v32_fnma(n, v32_set1(0x1.0bfbe8p-15f), r);
  v32 q = v32_set1(0x1.6beb2ap-10f);
  q = v32_fma(q, r, v32_set1(0x1.122d00p-7f));
  q = v32_fma(q, r, v32_set1(0x1.555680p-5f));
  q = v32_fma(q, r, v32_set1(0x1.5554aap-3f));
  q = v32_fma(q, r, v32_set1(0x1.fffffep-2f));
  const v32 p = v32_fma(v32_mul(q, r), r, r);
  const v32 scale = v32_scale(one, shifted, n);
  return v32_fma(p, scale, v32_sub(scale, one));
}

/* tanh x = x + x^3 P(x^2), |x| <= 1. */
ACLPY_INLINE v32 v32_tanh_near_(v32 x) {
  const v32 u = v32_mul(x, x);
  v32 p = v32_set1(-0x1.77dcb2p-12f);
  p = v32_fma(p, u, v32_set1(0x1.2da4c0p-9f));
  p = v32_fma(p, u, v32_set1(-0x1.0460b0p-7f));
  p = v32_fma(p, u, v32_set1(0x1.60098cp-6f));
  p = v32_fma(p, u, v32_set1(-0x1.b96222p-5f));
  p = v32_fma(p, u, v32_set1(0x1.110be2p-3f));
  p = v32_fma(p, u, v32_set1(-0x1.55553cp-2f));
  return v32_fma(v32_mul(x, u), p, x);
}
/* Beyond 1 tanh x = (e^2a - 1) / (e^2a + 1), a = |x|; beyond 10 it is 1 to the last bit. */
ACLPY_INLINE v32 v32_tanh(v32 x) {
  const v32 zero = v32_set1(0.0f), one = v32_set1(1.0f), size = v32_abs(x);
  const v32 near = v32_tanh_near_(x);
  if (!v32_any_greater(size, one)) return near;
  const v32 a = v32_min(v32_set1(10.0f), size);
  const v32 e = v32_expm1(v32_add(a, a));
  const v32 y = v32_div(e, v32_add(e, v32_set1(2.0f)));
  return v32_pick_greater(size, one, v32_pick_greater(zero, x, v32_sub(zero, y), y), near);
}

/* f - f^2/2 + f^3 P(f) */
ACLPY_INLINE v32 v32_log1p_near_(v32 f) {
  v32 p = v32_set1(-0x1.38b4ccp-4f);
  p = v32_fma(p, f, v32_set1(0x1.055b46p-3f));
  p = v32_fma(p, f, v32_set1(-0x1.0d8552p-3f));
  p = v32_fma(p, f, v32_set1(0x1.22da22p-3f));
  p = v32_fma(p, f, v32_set1(-0x1.547244p-3f));
  p = v32_fma(p, f, v32_set1(0x1.99a008p-3f));
  p = v32_fma(p, f, v32_set1(-0x1.000228p-2f));
  p = v32_fma(p, f, v32_set1(0x1.555554p-2f));
  const v32 square = v32_mul(f, f);
  const v32 tail = v32_fma(p, f, v32_set1(-0.5f));
  return v32_fma(tail, square, f);
}

/* log(1 + e), 0 <= e <= 1. Where 1 + e > sqrt(2) it is halved, which is exact. */
ACLPY_INLINE v32 v32_log1p_unit(v32 e) {
  const v32 limit = v32_set1(0x1.a8279ap-2f), one = v32_set1(1.0f);
  const v32 f = v32_pick_greater(e, limit, v32_mul(v32_sub(e, one), v32_set1(0.5f)), e);
  const v32 k = v32_pick_greater(e, limit, v32_set1(0x1.62e43p-1f), v32_set1(0.0f));
  return v32_add(v32_log1p_near_(f), k);
}

/* log(1 + e^x) = x/2 + an even function, |x| <= 1. */
ACLPY_INLINE v32 v32_softplus_near_(v32 x) {
  const v32 u = v32_mul(x, x);
  v32 p = v32_set1(-0x1.6bce6ep-16f);
  p = v32_fma(p, u, v32_set1(0x1.680218p-12f));
  p = v32_fma(p, u, v32_set1(-0x1.553e9ep-8f));
  p = v32_fma(p, u, v32_set1(0x1.ffffd4p-4f));
  p = v32_fma(p, u, v32_set1(0x1.62e430p-1f));
  return v32_fma(x, v32_set1(0.5f), p);
}
/* log(1 + e^x) */
ACLPY_INLINE v32 v32_softplus(v32 x) {
  const v32 zero = v32_set1(0.0f), one = v32_set1(1.0f), size = v32_abs(x);
  const v32 near = v32_softplus_near_(x);
  if (!v32_any_greater(size, one)) return near;
  const v32 e = v32_exp_negative(v32_negate(size));
  const v32 far = v32_add(v32_pick_greater(x, zero, x, zero), v32_log1p_unit(e));
  return v32_pick_greater(size, one, far, near);
}

/* v = P(X <= v), X normal, of `count` vectors: 1/2 + v R(v^2), |v| <= 1. */
ACLPY_INLINE void v32_normals_near_(v32 *v, int count) {
  v32 u[4], p[4];
  ACLPY_EACH_OF_(count) u[k] = v32_mul(v[k], v[k]);
  ACLPY_EACH_OF_(count) p[k] = v32_fma(v32_set1(0x1.80a916p-14f), u[k], v32_set1(-0x1.31096ap-10f));
  ACLPY_EACH_OF_(count) p[k] = v32_fma(p[k], u[k], v32_set1(0x1.46767ap-7f));
  ACLPY_EACH_OF_(count) p[k] = v32_fma(p[k], u[k], v32_set1(-0x1.10561ap-4f));
  ACLPY_EACH_OF_(count) p[k] = v32_fma(p[k], u[k], v32_set1(0x1.98844cp-2f));
  ACLPY_EACH_OF_(count) v[k] = v32_fma(p[k], v[k], v32_set1(0.5f));
}
/* v P(X <= v) there. */
ACLPY_INLINE v32 v32_gelu_near_(v32 v) {
  v32 p = v;
  v32_normals_near_(&p, 1);
  return v32_mul(p, v);
}
/* erfc(a), 0 <= a <= 11. */
ACLPY_INLINE v32 v32_erfc_(v32 a) {
  const v32 t = v32_div(v32_set1(1.0f), v32_fma(a, v32_set1(0.5f), v32_set1(1.0f)));
  v32 p = v32_set1(0x1.3535e2p-7f);
  p = v32_fma(p, t, v32_set1(-0x1.bb2ae8p-4f));
  p = v32_fma(p, t, v32_set1(0x1.941024p-2f));
  p = v32_fma(p, t, v32_set1(-0x1.406feep-1f));
  p = v32_fma(p, t, v32_set1(0x1.8b5270p-2f));
  p = v32_fma(p, t, v32_set1(-0x1.4904a0p-4f));
  p = v32_fma(p, t, v32_set1(0x1.c1e3f2p-3f));
  p = v32_fma(p, t, v32_set1(0x1.eb26b2p-3f));
  p = v32_fma(p, t, v32_set1(0x1.218306p-2f));
  p = v32_fma(p, t, v32_set1(0x1.20d720p-2f));
  return v32_mul(v32_mul(p, t), v32_exp_negative(v32_negate(v32_mul(a, a))));
}
/* v P(X <= v), X normal: beyond 1 by erfc(|v| / sqrt(2)). The product with 1/2 comes first, so that erfc keeps its last
 * bits. */
ACLPY_INLINE v32 v32_gelu(v32 v) {
  const v32 one = v32_set1(1.0f), size = v32_abs(v);
  const v32 near = v32_gelu_near_(v);
  if (!v32_any_greater(size, one)) return near;
  const v32 erfc = v32_erfc_(v32_min(v32_set1(11.0f), v32_mul(size, v32_set1(0x1.6a09e6p-1f))));
  const v32 twice = v32_pick_greater(v, v32_set1(0.0f), v32_sub(v32_set1(2.0f), erfc), erfc);
  return v32_pick_greater(size, one, v32_mul(v32_mul(v32_set1(0.5f), v), twice), near);
}

/* s / (1 + e^-x) */
ACLPY_INLINE v32 v32_gated_(v32 s, v32 x) { return v32_div(s, v32_add(v32_set1(1.0f), v32_exp_any(v32_negate(x)))); }
/* 1 / (1 + e^-x) = 1/2 + x P(x^2), |x| <= 1. */
ACLPY_INLINE v32 v32_logistic_near_(v32 x) {
  const v32 u = v32_mul(x, x);
  v32 p = v32_set1(0x1.131950p-16f);
  p = v32_fma(p, u, v32_set1(-0x1.b07a08p-13f));
  p = v32_fma(p, u, v32_set1(0x1.10d13ap-9f));
  p = v32_fma(p, u, v32_set1(-0x1.5553fcp-6f));
  p = v32_fma(p, u, v32_set1(0x1.fffffep-3f));
  return v32_fma(p, x, v32_set1(0.5f));
}
/* s / (1 + e^-x) */
ACLPY_INLINE v32 v32_gate(v32 s, v32 x) {
  return v32_pick_greater(v32_abs(x), v32_set1(1.0f), v32_gated_(s, x), v32_mul(v32_logistic_near_(x), s));
}

/* v (1/2 + v Q(v^2)), |v| <= 1. */
ACLPY_INLINE v32 v32_gelu_tanh_near_(v32 v) {
  const v32 u = v32_mul(v, v);
  v32 p = v32_set1(0x1.9890c2p-14f);
  p = v32_fma(p, u, v32_set1(-0x1.40402ap-10f));
  p = v32_fma(p, u, v32_set1(0x1.4df58ap-7f));
  p = v32_fma(p, u, v32_set1(-0x1.11af48p-4f));
  p = v32_fma(p, u, v32_set1(0x1.98844cp-2f));
  return v32_mul(v32_fma(p, v, v32_set1(0.5f)), v);
}
/* v (1 + tanh z) / 2 = v / (1 + e^-2z), z = sqrt(2/pi) (v + 0.044715 v^3). */
ACLPY_INLINE v32 v32_gelu_tanh(v32 v) {
  const v32 slope = v32_fma(v32_mul(v, v), v32_set1(0.044715f), v32_set1(1.0f));
  const v32 far = v32_gated_(v, v32_mul(v32_mul(v32_set1(0x1.988454p+0f), v), slope));
  return v32_pick_greater(v32_abs(v), v32_set1(1.0f), far, v32_gelu_tanh_near_(v));
}

/* x tanh(log(1 + e^x)), |x| <= 1/2. */
ACLPY_INLINE v32 v32_mish_near_(v32 x) {
  v32 p = v32_set1(-0x1.4edef4p-10f);
  p = v32_fma(p, x, v32_set1(0x1.6f7f52p-11f));
  p = v32_fma(p, x, v32_set1(0x1.00fa38p-7f));
  p = v32_fma(p, x, v32_set1(-0x1.697468p-12f));
  p = v32_fma(p, x, v32_set1(-0x1.77c34ep-5f));
  p = v32_fma(p, x, v32_set1(-0x1.062c60p-6f));
  p = v32_fma(p, x, v32_set1(0x1.47ae16p-2f));
  p = v32_fma(p, x, v32_set1(0x1.333334p-1f));
  return v32_mul(p, x);
}
/* x tanh(log(1 + u)), tanh(log(1 + u)) = u (u + 2) / (u (u + 2) + 2), u = e^x; beyond 20 it is 1. */
ACLPY_INLINE v32 v32_mish(v32 x) {
  const v32 two = v32_set1(2.0f), limit = v32_set1(20.0f);
  const v32 u = v32_exp_any(v32_min(limit, x));
  const v32 w = v32_mul(u, v32_add(u, two));
  const v32 far = v32_pick_greater(x, limit, x, v32_mul(x, v32_div(w, v32_add(w, two))));
  return v32_pick_greater(v32_abs(x), v32_set1(0.5f), far, v32_mish_near_(x));
}

#endif
