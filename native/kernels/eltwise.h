/* SPDX-License-Identifier: Apache-2.0
 * Functions of one float over a run: t[0..n) in place, n a multiple of 16.
 *
 * What plain loops say in one line is left to the compiler's vectoriser; what needs more is written in the vector
 * vocabulary, four vectors at a time where all they hold is usual: small, as probabilities are, or, for a logarithm,
 * normal numbers. Powers with |y| <= 4, which simd/pow_f32.h has where multiply-adds round once, are within 1.3 ulp,
 * others within 2; they and the logarithm, where multiply-adds round twice, split the bits of any float.
 */
#ifndef ACLPY_KERNELS_ELTWISE_H
#define ACLPY_KERNELS_ELTWISE_H

#include "../simd/log_f32.h"
#include "../simd/math_f32.h"
#include "../simd/pow_f32.h"
#include "element_types.h"

/* What a function is given besides t: its constants, and what t is multiplied by before, one after the other. */
typedef struct aclpy_eltwise {
  float alpha, beta, first, second;
} aclpy_eltwise;

#define ACLPY_EACH_FLOAT_(name, expression)                                                         \
  ACLPY_INLINE void eltwise_##name(float *restrict t, int64_t n, const aclpy_eltwise *restrict p) { \
    const float alpha = p->alpha, beta = p->beta, first = p->first, second = p->second;             \
    (void)alpha, (void)beta;                                                                        \
    for (int64_t i = 0; i < n; ++i) {                                                               \
      const float s = t[i] * first * second;                                                        \
      t[i] = (expression);                                                                          \
    }                                                                                               \
  }
/* Whether the sum of squares tells of an argument of four vectors that may be beyond the limit, or of a NaN, which
 * would hide one. */
ACLPY_INLINE int aclpy_beyond_(const v32 *x, float limit) {
  v32 square[4];
  for (int k = 0; k < 4; ++k) square[k] = v32_mul(x[k], x[k]);
  const v32 sum = v32_add(v32_add(square[0], square[1]), v32_add(square[2], square[3]));
  return v32_any_greater(v32_smaller(sum, v32_set1(__builtin_inff())), v32_set1(limit * limit));
}
/* `usual` of four vectors of arguments, the array `of`, unless they are `unusual`; `any`, which has the same values, of
 * one elsewhere: apart, so that the loop keeps its constants in registers. Factors of 1 are not multiplied by:
 * p->second
 * (`scaled`), and what `unit` says of p (`whole`). */
#define ACLPY_EACH_USUAL_(name, argument, unusual, usual, any, unit)                                    \
  ACLPY_INLINE void eltwise_##name##_as_(float *restrict t, int64_t n, const aclpy_eltwise *restrict p, \
                                         const int scaled, const int whole) {                           \
    const v32 a = v32_set1(p->alpha), b = v32_set1(p->beta), one = v32_set1(1.0f);                      \
    const v32 first = v32_set1(p->first), second = v32_set1(p->second);                                 \
    (void)a, (void)b, (void)one, (void)whole;                                                           \
    for (int64_t i = 0; i < n;) {                                                                       \
      for (; i + 4 * v32_LANES <= n; i += 4 * v32_LANES) {                                              \
        v32 each[4], of[4];                                                                             \
        for (int k = 0; k < 4; ++k) {                                                                   \
          const v32 led = v32_mul(v32_load(t + i + k * v32_LANES), first);                              \
          const v32 s = each[k] = scaled ? v32_mul(led, second) : led;                                  \
          of[k] = (argument);                                                                           \
        }                                                                                               \
        if (!ACLPY_LIKELY(!(unusual))) break;                                                           \
        for (int k = 0; k < 4; ++k) {                                                                   \
          const v32 s = each[k], x = of[k];                                                             \
          (void)s;                                                                                      \
          v32_store(t + i + k * v32_LANES, (usual));                                                    \
        }                                                                                               \
      }                                                                                                 \
      for (const int64_t end = aclpy_min_i64(i + 4 * v32_LANES, n); i < end; i += v32_LANES) {          \
        const v32 s = v32_mul(v32_mul(v32_load(t + i), first), second), x = (argument);                 \
        (void)s;                                                                                        \
        v32_store(t + i, (any));                                                                        \
      }                                                                                                 \
    }                                                                                                   \
  }                                                                                                     \
  ACLPY_INLINE void eltwise_##name(float *restrict t, int64_t n, const aclpy_eltwise *restrict p) {     \
    const int scaled = p->second != 1.0f;                                                               \
    if (!(unit)) {                                                                                      \
      eltwise_##name##_as_(t, n, p, 1, 0);                                                              \
    } else if (scaled) {                                                                                \
      eltwise_##name##_as_(t, n, p, 1, 1);                                                              \
    } else {                                                                                            \
      eltwise_##name##_as_(t, n, p, 0, 1);                                                              \
    }                                                                                                   \
  }
/* Of functions that have a polynomial near 0. */
#define ACLPY_EACH_NEAR_(name, argument, limit, near, any, unit) \
  ACLPY_EACH_USUAL_(name, argument, aclpy_beyond_(of, limit), near, any, unit)
/* For those that take t more than once. */
ACLPY_INLINE void eltwise_lead_(float *restrict t, int64_t n, float first, float second) {
  if (first == 1.0f && second == 1.0f) return;
  const v32 a = v32_set1(first), b = v32_set1(second);
  for (int64_t i = 0; i < n; i += v32_LANES) v32_store(t + i, v32_mul(v32_mul(v32_load(t + i), a), b));
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

ACLPY_INLINE v32 aclpy_elu_(v32 s, v32 alpha) {
  const v32 zero = v32_set1(0.0f), one = v32_set1(1.0f);
  /* What a softmax leaves is seldom anything else. */
  if (!v32_any_greater(v32_pick_greater(s, zero, zero, one), zero)) return s;
  return v32_pick_greater(s, zero, s, v32_mul(alpha, v32_expm1(v32_min(zero, s))));
}
ACLPY_INLINE void eltwise_elu(float *restrict t, int64_t n, const aclpy_eltwise *restrict p) {
  const v32 alpha = v32_set1(p->alpha), first = v32_set1(p->first), second = v32_set1(p->second);
  for (int64_t i = 0; i < n; i += v32_LANES) {
    v32_store(t + i, aclpy_elu_(v32_mul(v32_mul(v32_load(t + i), first), second), alpha));
  }
}

#define ACLPY_TIMES_ALPHA_ whole ? s : v32_mul(a, s)
#define ACLPY_UNIT_ALPHA_ p->alpha == 1.0f
ACLPY_EACH_NEAR_(exp, s, 0.34f, v32_exp_near_(x), v32_exp(x), 1)
ACLPY_EACH_NEAR_(tanh, s, 1.0f, v32_tanh_near_(x), v32_tanh(x), 1)
ACLPY_EACH_NEAR_(logistic, s, 1.0f, v32_logistic_near_(x), v32_gate(one, x), 1)
ACLPY_EACH_NEAR_(swish, ACLPY_TIMES_ALPHA_, 1.0f, v32_mul(v32_logistic_near_(x), s), v32_gate(s, x), ACLPY_UNIT_ALPHA_)
ACLPY_EACH_NEAR_(gelu_tanh, s, 1.0f, v32_gelu_tanh_near_(x), v32_gelu_tanh(x), 1)
ACLPY_EACH_NEAR_(gelu_erf, s, 1.0f, v32_gelu_near_(x), v32_gelu(x), 1)
ACLPY_EACH_NEAR_(mish, s, 0.5f, v32_mish_near_(x), v32_mish(x), 1)
/* The logarithm of e^x + 1 is x from here on; x itself may be infinite where s is not. */
ACLPY_INLINE v32 aclpy_linear_from_(v32 x, v32 s, v32 below) {
  return v32_pick_greater(x, v32_set1(88.7228f), s, below);
}
ACLPY_EACH_NEAR_(soft_relu_exact_, ACLPY_TIMES_ALPHA_, 1.0f,
                 whole ? v32_softplus_near_(x) : v32_mul(v32_softplus_near_(x), b),
                 aclpy_linear_from_(x, s, v32_mul(v32_softplus(x), b)), ACLPY_UNIT_ALPHA_)
ACLPY_EACH_NEAR_(soft_relu_any_, v32_mul(a, s), 1.0f, v32_div(v32_softplus_near_(x), a),
                 aclpy_linear_from_(x, s, v32_div(v32_softplus(x), a)), 0)
ACLPY_INLINE void eltwise_soft_relu(float *restrict t, int64_t n, const aclpy_eltwise *restrict p) {
  const aclpy_eltwise inverse = {p->alpha, 1.0f / p->alpha, p->first, p->second};
  if (aclpy_f32_inverts(p->alpha)) {
    eltwise_soft_relu_exact_(t, n, &inverse);
  } else {
    eltwise_soft_relu_any_(t, n, p);
  }
}
/* x = (1 + f) 2^e, 1 + f in [sqrt(1/2), sqrt(2)): integer work on the bits, subnormals scaled up. Returns e. */
ACLPY_INLINE float aclpy_split_(float x, float *f) {
  const int tiny = x < 0x1p-126f;
  const uint32_t bits = aclpy_f32_bits(tiny ? x * 0x1p24f : x);
  /* The exponent is counted from sqrt(1/2). */
  const uint32_t moved = bits - 0x3f3504f3u;
  *f = aclpy_f32_from_bits((moved & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
  return (float)((int32_t)moved >> 23) - (tiny ? 24.0f : 0.0f);
}

#if ACLPY_FUSES
ACLPY_INLINE int aclpy_odd_(const v32 *x) {
  return !(v32_are_normal_(x[0]) & v32_are_normal_(x[1]) & v32_are_normal_(x[2]) & v32_are_normal_(x[3]));
}
ACLPY_EACH_USUAL_(log, s, aclpy_odd_(of), v32_log_normal_(x), v32_log(x), 1)
#else
/* ln s = ln(1 + f) + e ln 2 */
ACLPY_INLINE void eltwise_log(float *restrict t, int64_t n, const aclpy_eltwise *restrict p) {
  eltwise_lead_(t, n, p->first, p->second);
  _Alignas(64) float f[ACLPY_RUN], e[ACLPY_RUN];
  for (int64_t i = 0; i < n; ++i) {
    e[i] = aclpy_split_(t[i], &f[i]);
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
#endif

#if ACLPY_FUSES
/* x^y = 2^(y (e + log2(1 + f))) with the logarithm in two floats, to some 2^-30 of it: s = f / (2 + f), its remainder,
 * and the odd series of 2 atanh(s) / ln 2. */
ACLPY_INLINE v32 aclpy_pow_two_(v32 f, v32 e, v32 y) {
  const v32 two = v32_set1(2.0f), magic = v32_set1(0x1.8p23f), most = v32_set1(160.0f), zero = v32_set1(0.0f);
  const v32 slope = v32_set1(0x1.715476p+1f);
  const v32 g = v32_add(f, two), rest = v32_sub(f, v32_sub(g, two)), inverse = v32_div(v32_set1(1.0f), g);
  const v32 s = v32_mul(f, inverse), q = v32_mul(s, s);
  const v32 low = v32_mul(v32_fnma(s, rest, v32_fnma(s, g, f)), inverse);
  v32 p = v32_set1(0x1.5c679ep-2f);
  p = v32_fma(p, q, v32_set1(0x1.a59614p-2f));
  p = v32_fma(p, q, v32_set1(0x1.277768p-1f));
  p = v32_fma(p, q, v32_set1(0x1.ec709ep-1f));
  const v32 high = v32_mul(slope, s);
  const v32 tail = v32_fma(v32_mul(s, q), p, v32_fma(slope, low, v32_mul(v32_set1(0x1.4ae0c0p-25f), s)));
  const v32 top = v32_add(e, high);
  const v32 under = v32_add(v32_sub(high, v32_sub(top, e)), v32_sub(tail, v32_fnma(slope, s, high)));
  const v32 h = v32_add(top, under), l = v32_sub(under, v32_sub(h, top));
  const v32 t = v32_mul(y, h), size = v32_abs(t);
  /* Where the power is 0 or infinite anyway, what is left of an infinite product would be no number. */
  const v32 left = v32_pick_greater(size, most, zero, v32_sub(v32_mul(y, l), v32_fnma(y, h, t)));
  const v32 x = v32_min(most, v32_max(v32_set1(-160.0f), t));
  const v32 shifted = v32_add(x, magic), n = v32_sub(shifted, magic), r = v32_add(v32_sub(x, n), left);
  v32 z = v32_set1(0x1.41fa9cp-13f);
  z = v32_fma(z, r, v32_set1(0x1.5f4010p-10f));
  z = v32_fma(z, r, v32_set1(0x1.3b2d52p-7f));
  z = v32_fma(z, r, v32_set1(0x1.c6aee6p-5f));
  z = v32_fma(z, r, v32_set1(0x1.ebfbdcp-3f));
  z = v32_fma(z, r, v32_set1(0x1.62e430p-1f));
  return v32_scale(v32_fma(z, r, v32_set1(1.0f)), shifted, n);
}

/* r = a^beta, a normal or subnormal and positive. */
ACLPY_INLINE void aclpy_pow_run_(const float *restrict a, float *restrict r, int64_t n, float beta) {
  _Alignas(64) float f[256], e[256];
  for (int64_t i = 0; i < n; ++i) e[i] = aclpy_split_(a[i], &f[i]);
  for (int64_t i = 0; i < n; i += v32_LANES) {
    v32_store(r + i, aclpy_pow_two_(v32_load(f + i), v32_load(e + i), v32_set1(beta)));
  }
}
#else
/* log2 x, x normal and positive, to some 2^-37 of it: what a float's power needs. */
ACLPY_INLINE v64 aclpy_log2_(v64 x) {
  const v64 one = v64_set1(1.0), root = v64_set1(0x1.6a09e667f3bcdp+0);
  v64 e = v64_exponent(x), m = v64_significand(x);
  e = v64_pick_greater(m, root, v64_add(e, one), e);
  m = v64_pick_greater(m, root, v64_mul(m, v64_set1(0.5)), m);
  const v64 s = v64_div(v64_sub(m, one), v64_add(m, one)), q = v64_mul(s, s);
  v64 p = v64_set1(0x1.5cf006a46d3d2p-2);
  p = v64_fma(p, q, v64_set1(0x1.a58d1e18468a1p-2));
  p = v64_fma(p, q, v64_set1(0x1.277780cdcef4dp-1));
  p = v64_fma(p, q, v64_set1(0x1.ec709d11974ebp-1));
  p = v64_fma(p, q, v64_set1(0x1.71547652beef3p+1));
  return v64_fma(p, s, e);
}
/* 2^x to 2^-29, beyond what a float holds on both sides. */
ACLPY_INLINE v64 aclpy_exp2_(v64 x) {
  const v64 magic = v64_set1(0x1.8p52);
  x = v64_min(v64_set1(200.0), v64_max(v64_set1(-200.0), x));
  const v64 shifted = v64_add(x, magic), n = v64_sub(shifted, magic), r = v64_sub(x, n);
  v64 p = v64_set1(0x1.41d2ce3a922e8p-13);
  p = v64_fma(p, r, v64_set1(0x1.5f45f29e03f81p-10));
  p = v64_fma(p, r, v64_set1(0x1.3b2dbda456c28p-7));
  p = v64_fma(p, r, v64_set1(0x1.c6aed3aca25bcp-5));
  p = v64_fma(p, r, v64_set1(0x1.ebfbdad7f00c7p-3));
  p = v64_fma(p, r, v64_set1(0x1.62e430c8ae42ep-1));
  p = v64_fma(p, r, v64_set1(0x1.000000026440cp+0));
  return v64_scale(p, shifted, n);
}

/* r = a^beta, a normal or subnormal and positive. Without products that round once, in double. */
ACLPY_INLINE void aclpy_pow_run_(const float *restrict a, float *restrict r, int64_t n, float beta) {
  _Alignas(64) double d[256];
  const v64 b = v64_set1((double)beta);
  for (int64_t i = 0; i < n; i += v32_LANES) {
    const v32 x = v32_load(a + i);
    v64_store(d + i, aclpy_exp2_(v64_mul(b, aclpy_log2_(v32_widen_low(x)))));
    v64_store(d + i + v64_LANES, aclpy_exp2_(v64_mul(b, aclpy_log2_(v32_widen_high(x)))));
  }
  for (int64_t i = 0; i < n; ++i) r[i] = (float)d[i];
}
#endif

/* The edges that C's pow has; r is |s|^beta elsewhere. */
ACLPY_INLINE float aclpy_pow_edge_(float s, float r, float beta) {
  const int whole = __builtin_fabsf(beta) < 0x1p24f;
  const int integral = !whole ? beta == beta : (float)(int32_t)beta == beta;
  const int odd = whole && integral && ((int32_t)beta & 1) != 0;
  const float nan = __builtin_nanf(""), infinity = __builtin_inff();
  const float a = __builtin_fabsf(s);
  if (a == 0.0f) r = beta > 0.0f ? 0.0f : beta < 0.0f ? infinity : nan;
  if (a == __builtin_inff()) r = beta > 0.0f ? infinity : beta < 0.0f ? 0.0f : nan;
  if (a == 1.0f) r = 1.0f;
  /* Of a negative base, only -0 and -inf have powers that are not integral. */
  const float negative = odd ? -r : integral || a == 0.0f || a == __builtin_inff() ? r : nan;
  r = __builtin_signbit(s) && s == s ? negative : r;
  return s == s ? r : s;
}

/* alpha s^beta */
ACLPY_INLINE void aclpy_pow_block_(float *restrict t, int64_t n, float alpha, float beta) {
  _Alignas(64) float a[256], r[256];
  int edges = 0;
  for (int64_t i = 0; i < n; ++i) {
    const int usual = t[i] > 0.0f && t[i] < __builtin_inff() && t[i] != 1.0f;
    const float size = __builtin_fabsf(t[i]);
    a[i] = size > 0.0f && size < __builtin_inff() ? size : 1.0f;
    edges |= !usual;
  }
  aclpy_pow_run_(a, r, n, beta);
  if (!edges) {
    for (int64_t i = 0; i < n; ++i) t[i] = alpha * r[i];
    return;
  }
  for (int64_t i = 0; i < n; ++i) t[i] = alpha * aclpy_pow_edge_(t[i], r[i], beta);
}

/* Powers that a few correctly rounded operations give to an ulp. C's pow takes the roots of -0 and -inf as of 0, inf.
 */
ACLPY_INLINE int aclpy_pow_few_(float *restrict t, int64_t n, float alpha, float beta) {
  if (beta != 0.5f && beta != 1.5f && beta != 3.0f) return 0;
  for (int64_t i = 0; i < n; ++i) {
    const float s = t[i], size = __builtin_fabsf(s);
    const float root = __builtin_sqrtf(s == -__builtin_inff() ? size : s) + 0.0f;
    t[i] = alpha * (beta == 3.0f ? s * s * s : beta == 0.5f ? root : size * root);
  }
  return 1;
}

/* Of `count` vectors; see aclpy_power_takes. */
ACLPY_INLINE void aclpy_pow_vectors_(float *t, int count, float alpha, float beta, const float *u) {
  v32 v[4];
  for (int k = 0; k < count; ++k) v[k] = v32_load(t + k * v32_LANES);
  v32_power(v, count, beta, u, 0);
  for (int k = 0; k < count; ++k) v32_store(t + k * v32_LANES, v32_mul(v32_set1(alpha), v[k]));
}
ACLPY_INLINE void aclpy_pow_moderate_(float *t, int64_t n, float alpha, float beta) {
  float u[3];
  aclpy_power_make(u, beta);
  int64_t i = 0;
  for (; i + 4 * v32_LANES <= n; i += 4 * v32_LANES) aclpy_pow_vectors_(t + i, 4, alpha, beta, u);
  for (; i < n; i += v32_LANES) aclpy_pow_vectors_(t + i, 1, alpha, beta, u);
}

#undef ACLPY_EACH_FLOAT_
#undef ACLPY_EACH_USUAL_
#undef ACLPY_TIMES_ALPHA_
#undef ACLPY_UNIT_ALPHA_
#undef ACLPY_EACH_NEAR_

ACLPY_INLINE void eltwise_pow(float *restrict t, int64_t n, const aclpy_eltwise *restrict p) {
  const float alpha = p->alpha, beta = p->beta;
  eltwise_lead_(t, n, p->first, p->second);
  if (aclpy_power_takes(beta)) {
    aclpy_pow_moderate_(t, n, alpha, beta);
  } else if (beta == 0.0f) {
    for (int64_t i = 0; i < n; ++i) t[i] = alpha;
  } else if (beta == 1.0f) {
    for (int64_t i = 0; i < n; ++i) t[i] = alpha * t[i];
  } else if (beta == 2.0f) {
    for (int64_t i = 0; i < n; ++i) t[i] = alpha * (t[i] * t[i]);
  } else if (beta == -1.0f) {
    for (int64_t i = 0; i < n; ++i) t[i] = alpha * (1.0f / t[i]);
  } else if (!aclpy_pow_few_(t, n, alpha, beta)) {
    for (int64_t i = 0; i < n; i += 256) aclpy_pow_block_(t + i, aclpy_min_i64(256, n - i), alpha, beta);
  }
}

#endif
