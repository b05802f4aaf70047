/* SPDX-License-Identifier: Apache-2.0
 * Functions of one float over a run: t[0..n) in place, n a multiple of 16.
 *
 * What plain loops say in one line is left to the compiler's vectoriser; what needs an exponential is written in the
 * vector vocabulary. Power and logarithm of any float go through double and through a split of the bits.
 */
#ifndef ACLPY_KERNELS_ELTWISE_H
#define ACLPY_KERNELS_ELTWISE_H

#include "../simd/math_f32.h"
#include "element_types.h"

#define ACLPY_EACH_FLOAT_(name, expression)                                                 \
  ACLPY_INLINE void eltwise_##name(float *restrict t, int64_t n, float alpha, float beta) { \
    (void)alpha, (void)beta;                                                                \
    for (int64_t i = 0; i < n; ++i) {                                                       \
      const float s = t[i];                                                                 \
      t[i] = (expression);                                                                  \
    }                                                                                       \
  }
#define ACLPY_EACH_VECTOR_(name, expression)                                                \
  ACLPY_INLINE void eltwise_##name(float *restrict t, int64_t n, float alpha, float beta) { \
    const v32 a = v32_set1(alpha), b = v32_set1(beta), one = v32_set1(1.0f);                \
    (void)a, (void)b, (void)one;                                                            \
    for (int64_t i = 0; i < n; i += v32_LANES) {                                            \
      const v32 s = v32_load(t + i);                                                        \
      v32_store(t + i, (expression));                                                       \
    }                                                                                       \
  }

ACLPY_INLINE float aclpy_unit_(float x) { return x <= 0.0f ? 0.0f : x >= 1.0f ? 1.0f : x; }
/* To nearest even: from 2^23 on every float is an integer. */
ACLPY_INLINE float aclpy_round_(float s) {
  const float size = __builtin_fabsf(s);
  const float rounded = (size + 0x1p23f) - 0x1p23f;
  return __builtin_copysignf(size < 0x1p23f ? rounded : size, s);
}

ACLPY_EACH_FLOAT_(abs, s > 0.0f ? s : -s)
ACLPY_EACH_FLOAT_(sqrt, __builtin_sqrtf(s))
ACLPY_EACH_FLOAT_(hardsigmoid, aclpy_unit_(alpha *s + beta))
ACLPY_EACH_FLOAT_(hardswish, s *aclpy_unit_(alpha *s + beta))
ACLPY_EACH_FLOAT_(round, s == s ? aclpy_round_(s) : s)

/* s / (1 + e^-x) */
ACLPY_INLINE v32 aclpy_gate_(v32 s, v32 x) { return v32_div(s, v32_add(v32_set1(1.0f), v32_exp(v32_negate(x)))); }
/* 2 sqrt(2/pi) (s + 0.044715 s^3): 1 + tanh(z) = 2 / (1 + e^-2z). */
ACLPY_INLINE v32 aclpy_gelu_argument_(v32 s) {
  const v32 slope = v32_fma(v32_mul(s, s), v32_set1(0.044715f), v32_set1(1.0f));
  return v32_mul(v32_mul(v32_set1(0x1.988454p+0f), s), slope);
}
/* tanh(ln(1 + u)) = u (u + 2) / (u (u + 2) + 2), u = e^s; beyond 20 it is 1. */
ACLPY_INLINE v32 aclpy_mish_(v32 s) {
  const v32 two = v32_set1(2.0f), limit = v32_set1(20.0f);
  const v32 u = v32_exp(v32_min(limit, s));
  const v32 w = v32_mul(u, v32_add(u, two));
  return v32_pick_greater(s, limit, s, v32_mul(s, v32_div(w, v32_add(w, two))));
}
ACLPY_INLINE v32 aclpy_elu_(v32 s, v32 alpha) {
  const v32 zero = v32_set1(0.0f);
  return v32_pick_greater(s, zero, s, v32_mul(alpha, v32_expm1(v32_min(zero, s))));
}

ACLPY_EACH_VECTOR_(exp, v32_exp(s))
ACLPY_EACH_VECTOR_(tanh, v32_tanh(s))
ACLPY_EACH_VECTOR_(elu, aclpy_elu_(s, a))
ACLPY_EACH_VECTOR_(logistic, aclpy_gate_(one, s))
ACLPY_EACH_VECTOR_(swish, aclpy_gate_(s, v32_mul(a, s)))
ACLPY_EACH_VECTOR_(gelu_tanh, aclpy_gate_(s, aclpy_gelu_argument_(s)))
ACLPY_EACH_VECTOR_(gelu_erf,
                   v32_mul(v32_mul(v32_set1(0.5f), s), v32_one_plus_erf(v32_mul(s, v32_set1(0x1.6a09e6p-1f)))))
ACLPY_EACH_VECTOR_(mish, aclpy_mish_(s))
ACLPY_EACH_VECTOR_(soft_relu, v32_div(v32_softplus(v32_mul(a, s)), a))
#undef ACLPY_EACH_FLOAT_
#undef ACLPY_EACH_VECTOR_

/* ln s = ln(m) + e ln 2, m in [sqrt(1/2), sqrt(2)): the split is integer work on the bits, subnormals scaled up. */
ACLPY_INLINE void eltwise_log(float *restrict t, int64_t n, float alpha, float beta) {
  (void)alpha, (void)beta;
  _Alignas(64) float f[ACLPY_RUN], e[ACLPY_RUN];
  for (int64_t i = 0; i < n; ++i) {
    const int tiny = t[i] < 0x1p-126f;
    const uint32_t bits = aclpy_f32_bits(tiny ? t[i] * 0x1p24f : t[i]);
    /* The exponent is counted from sqrt(1/2). */
    const uint32_t moved = bits - 0x3f3504f3u;
    e[i] = (float)((int32_t)moved >> 23) - (tiny ? 24.0f : 0.0f);
    f[i] = aclpy_f32_from_bits((moved & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
  }
  for (int64_t i = 0; i < n; i += v32_LANES) {
    const v32 k = v32_load(e + i);
    const v32 low = v32_fma(k, v32_set1(0x1.0bfbe8p-15f), v32_log1p_near_(v32_load(f + i)));
    v32_store(f + i, v32_fma(k, v32_set1(0x1.62ep-1f), low));
  }
  for (int64_t i = 0; i < n; ++i) {
    const float s = t[i], edge = s == 0.0f ? -__builtin_inff() : __builtin_nanf("");
    t[i] = s > 0.0f ? (s < __builtin_inff() ? f[i] : s) : edge;
  }
}

/* alpha |s|^beta in double, then the sign and the edges that C's pow has. */
ACLPY_INLINE void aclpy_pow_block_(float *restrict t, int64_t n, float alpha, float beta) {
  _Alignas(64) double d[256];
  const int whole = __builtin_fabsf(beta) < 0x1p24f;
  const int integral = !whole ? beta == beta : (float)(int32_t)beta == beta;
  const int odd = whole && integral && ((int32_t)beta & 1) != 0;
  const double nan = (double)__builtin_nanf(""), infinity = __builtin_inf();
  const double at_zero = beta > 0.0f ? 0.0 : beta < 0.0f ? infinity : nan;
  const double at_infinity = beta > 0.0f ? infinity : beta < 0.0f ? 0.0 : nan;
  for (int64_t i = 0; i < n; ++i) {
    const double a = (double)__builtin_fabsf(t[i]);
    d[i] = a == 0.0 || a > 0x1p128 ? 1.0 : a;
  }
  const v64 b = v64_set1((double)beta);
  for (int64_t i = 0; i < n; i += v64_LANES) {
    v64_store(d + i, v64_exp(v64_mul(b, v64_log(v64_load(d + i)))));
  }
  for (int64_t i = 0; i < n; ++i) {
    const float s = t[i], a = __builtin_fabsf(s);
    double r = a == 0.0f ? at_zero : d[i];
    r = a == __builtin_inff() ? at_infinity : r;
    r = a == 1.0f ? 1.0 : r;
    /* Of a negative base, only -0 and -inf have powers that are not integral. */
    const double negative = odd ? -r : integral || a == 0.0f || a == __builtin_inff() ? r : nan;
    r = __builtin_signbit(s) && s == s ? negative : r;
    t[i] = alpha * (float)(s == s ? r : (double)s);
  }
}
ACLPY_INLINE void eltwise_pow(float *restrict t, int64_t n, float alpha, float beta) {
  if (beta == 0.0f) {
    for (int64_t i = 0; i < n; ++i) t[i] = alpha;
  } else if (beta == 1.0f) {
    for (int64_t i = 0; i < n; ++i) t[i] = alpha * t[i];
  } else if (beta == 2.0f) {
    for (int64_t i = 0; i < n; ++i) t[i] = alpha * (t[i] * t[i]);
  } else if (beta == -1.0f) {
    for (int64_t i = 0; i < n; ++i) t[i] = alpha * (1.0f / t[i]);
  } else {
    for (int64_t i = 0; i < n; i += 256) aclpy_pow_block_(t + i, aclpy_min_i64(256, n - i), alpha, beta);
  }
}

typedef void (*aclpy_eltwise)(float *restrict t, int64_t n, float alpha, float beta);

#endif
