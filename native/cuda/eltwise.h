/* SPDX-License-Identifier: Apache-2.0
 * Functions of one float that post operations have.
 *
 * The arithmetic is the CPU kernels' (native/kernels/eltwise.h, native/simd/math_f32.h), operation by operation with
 * fused products: a test holds both to the same bits. No function is called, so nothing is spilled around one.
 */
#ifndef ACLPY_CUDA_ELTWISE_H
#define ACLPY_CUDA_ELTWISE_H

#include "portable.h"

/* The second of both where they do not compare: NaN passes where it is the second. */
__device__ inline float above(float a, float b) { return a > b ? a : b; }
__device__ inline float below(float a, float b) { return a < b ? a : b; }
__device__ inline float size_of(float x) { return from_bits(bits_of(x) & 0x7fffffffu); }
__device__ inline float not_a_number() { return from_bits(0x7fc00000u); }

/* p * 2^n in two exact halves, n from the low bits of 1.5 * 2^23 + n: results round once. */
__device__ inline float times_power(float p, float shifted) {
  const int n = (int)(bits_of(shifted) - 0x4b400000u), half = n / 2;
  return p * from_bits((u32)(half + 127) << 23) * from_bits((u32)(n - half + 127) << 23);
}

/* e^r, |r| <= ln(2)/2 */
__device__ inline float exp_near(float r) {
  float p = 0x1.6ae720p-10f;
  p = fmaf(p, r, 0x1.126792p-7f);
  p = fmaf(p, r, 0x1.555822p-5f);
  p = fmaf(p, r, 0x1.55541ap-3f);
  p = fmaf(p, r, 0x1.fffffcp-2f);
  p = fmaf(p, r, 1.0f);
  return fmaf(p, r, 1.0f);
}
__device__ inline float exp_bounded(float x) {
  const float shifted = fmaf(x, 0x1.715476p+0f, 0x1.8p23f), n = shifted - 0x1.8p23f;
  return times_power(exp_near(fmaf(-n, 0x1.62e43p-1f, x)), shifted);
}
__device__ inline float exp_negative(float x) { return exp_bounded(above(-104.0f, x)); }
__device__ inline float exp_any(float x) { return exp_bounded(below(89.0f, above(-104.0f, x))); }

/* e^x - 1, x <= 88: 2^n (e^r - 1) + (2^n - 1) */
__device__ inline float exp_less_one(float x) {
  x = above(-104.0f, x);
  const float shifted = fmaf(x, 0x1.715476p+0f, 0x1.8p23f), n = shifted - 0x1.8p23f;
  const float r = fmaf(-n, 0x1.0bfbe8p-15f, fmaf(-n, 0x1.62ep-1f, x));
  float q = 0x1.6beb2ap-10f;
  q = fmaf(q, r, 0x1.122d00p-7f);
  q = fmaf(q, r, 0x1.555680p-5f);
  q = fmaf(q, r, 0x1.5554aap-3f);
  q = fmaf(q, r, 0x1.fffffep-2f);
  const float p = fmaf(q * r, r, r), scale = times_power(1.0f, shifted);
  return fmaf(p, scale, scale - 1.0f);
}

/* Up to 1 x + x^3 P(x^2), beyond (e^2a - 1) / (e^2a + 1), a = |x|. */
__device__ inline float tanh_any(float x) {
  const float size = size_of(x);
  if (size > 1.0f) {
    const float a = below(10.0f, size), e = exp_less_one(a + a), y = e / (e + 2.0f);
    return x < 0.0f ? 0.0f - y : y;
  }
  const float u = x * x;
  float p = -0x1.77dcb2p-12f;
  p = fmaf(p, u, 0x1.2da4c0p-9f);
  p = fmaf(p, u, -0x1.0460b0p-7f);
  p = fmaf(p, u, 0x1.60098cp-6f);
  p = fmaf(p, u, -0x1.b96222p-5f);
  p = fmaf(p, u, 0x1.110be2p-3f);
  p = fmaf(p, u, -0x1.55553cp-2f);
  return fmaf(x * u, p, x);
}

/* ln(1 + f), f in [sqrt(1/2) - 1, sqrt(2) - 1] */
__device__ inline float log_near(float f) {
  float p = -0x1.38b4ccp-4f;
  p = fmaf(p, f, 0x1.055b46p-3f);
  p = fmaf(p, f, -0x1.0d8552p-3f);
  p = fmaf(p, f, 0x1.22da22p-3f);
  p = fmaf(p, f, -0x1.547244p-3f);
  p = fmaf(p, f, 0x1.99a008p-3f);
  p = fmaf(p, f, -0x1.000228p-2f);
  p = fmaf(p, f, 0x1.555554p-2f);
  return fmaf(fmaf(p, f, -0.5f), f * f, f);
}

/* ln(1 + e^x): up to 1 x/2 + an even function; beyond, of e = e^-|x|, halved where 1 + e > sqrt(2). */
__device__ inline float soft_plus(float x) {
  const float size = size_of(x);
  if (size > 1.0f) {
    const float e = exp_negative(-size);
    const bool halved = e > 0x1.a8279ap-2f;
    const float f = halved ? (e - 1.0f) * 0.5f : e;
    return above(x, 0.0f) + (log_near(f) + (halved ? 0x1.62e43p-1f : 0.0f));
  }
  const float u = x * x;
  float p = -0x1.6bce6ep-16f;
  p = fmaf(p, u, 0x1.680218p-12f);
  p = fmaf(p, u, -0x1.553e9ep-8f);
  p = fmaf(p, u, 0x1.ffffd4p-4f);
  p = fmaf(p, u, 0x1.62e430p-1f);
  return fmaf(x, 0.5f, p);
}

/* erfc(a) = e^(-a^2) t P(t), t = 1 / (1 + a/2), 0 <= a <= 11. */
__device__ inline float erfc_of(float a) {
  const float t = 1.0f / fmaf(a, 0.5f, 1.0f);
  float p = 0x1.3535e2p-7f;
  p = fmaf(p, t, -0x1.bb2ae8p-4f);
  p = fmaf(p, t, 0x1.941024p-2f);
  p = fmaf(p, t, -0x1.406feep-1f);
  p = fmaf(p, t, 0x1.8b5270p-2f);
  p = fmaf(p, t, -0x1.4904a0p-4f);
  p = fmaf(p, t, 0x1.c1e3f2p-3f);
  p = fmaf(p, t, 0x1.eb26b2p-3f);
  p = fmaf(p, t, 0x1.218306p-2f);
  p = fmaf(p, t, 0x1.20d720p-2f);
  return p * t * exp_negative(-(a * a));
}

/* v P(X <= v), X normal: up to 1 v (1/2 + v R(v^2)), beyond by erfc(|v| / sqrt(2)). */
__device__ inline float gelu_of(float v) {
  const float size = size_of(v);
  if (size > 1.0f) {
    const float complement = erfc_of(below(11.0f, size * 0x1.6a09e6p-1f));
    return 0.5f * v * (v > 0.0f ? 2.0f - complement : complement);
  }
  const float u = v * v;
  float p = 0x1.80a916p-14f;
  p = fmaf(p, u, -0x1.31096ap-10f);
  p = fmaf(p, u, 0x1.46767ap-7f);
  p = fmaf(p, u, -0x1.10561ap-4f);
  p = fmaf(p, u, 0x1.98844cp-2f);
  return fmaf(p, v, 0.5f) * v;
}

/* s / (1 + e^-x): up to 1 s (1/2 + x P(x^2)). */
__device__ inline float gated(float s, float x) {
  if (size_of(x) > 1.0f) return s / (1.0f + exp_any(-x));
  const float u = x * x;
  float p = 0x1.131950p-16f;
  p = fmaf(p, u, -0x1.b07a08p-13f);
  p = fmaf(p, u, 0x1.10d13ap-9f);
  p = fmaf(p, u, -0x1.5553fcp-6f);
  p = fmaf(p, u, 0x1.fffffep-3f);
  return fmaf(p, x, 0.5f) * s;
}
/* v (1 + tanh z) / 2, z = sqrt(2/pi) (v + 0.044715 v^3): up to 1 v (1/2 + v Q(v^2)), beyond v / (1 + e^-2z). */
__device__ inline float gelu_tanh_of(float v) {
  if (size_of(v) > 1.0f) {
    const float z = 0x1.988454p+0f * v * fmaf(v * v, 0.044715f, 1.0f);
    return v / (1.0f + exp_any(-z));
  }
  const float u = v * v;
  float p = 0x1.9890c2p-14f;
  p = fmaf(p, u, -0x1.40402ap-10f);
  p = fmaf(p, u, 0x1.4df58ap-7f);
  p = fmaf(p, u, -0x1.11af48p-4f);
  p = fmaf(p, u, 0x1.98844cp-2f);
  return fmaf(p, v, 0.5f) * v;
}
/* x tanh(ln(1 + u)) = x u (u + 2) / (u (u + 2) + 2), u = e^x; beyond 20 the factor is 1, up to 1/2 a polynomial. */
__device__ inline float mish_of(float x) {
  if (size_of(x) > 0.5f) {
    const float u = exp_any(below(20.0f, x)), w = u * (u + 2.0f);
    return x > 20.0f ? x : x * (w / (w + 2.0f));
  }
  float p = -0x1.4edef4p-10f;
  p = fmaf(p, x, 0x1.6f7f52p-11f);
  p = fmaf(p, x, 0x1.00fa38p-7f);
  p = fmaf(p, x, -0x1.697468p-12f);
  p = fmaf(p, x, -0x1.77c34ep-5f);
  p = fmaf(p, x, -0x1.062c60p-6f);
  p = fmaf(p, x, 0x1.47ae16p-2f);
  p = fmaf(p, x, 0x1.333334p-1f);
  return p * x;
}
__device__ inline float elu_of(float s, float alpha) { return s > 0.0f ? s : alpha * exp_less_one(below(0.0f, s)); }
__device__ inline float unit_of(float x) { return x <= 0.0f ? 0.0f : x >= 1.0f ? 1.0f : x; }
/* To nearest even: from 2^23 on every float is an integer. */
__device__ inline float round_of(float s) {
  const float size = size_of(s), rounded = size < 0x1p23f ? (size + 0x1p23f) - 0x1p23f : size;
  return s == s ? from_bits(bits_of(rounded) | (bits_of(s) & 0x80000000u)) : s;
}

/* Numbers c about 1/m, m in [0.742, 1.484), and -ln c. */
__device__ const float LOG_INVERSE[32] = {
    0x1.55774cp+0f, 0x1.4dac4cp+0f, 0x1.47d6c4p+0f, 0x1.41f962p+0f, 0x1.3c3818p+0f, 0x1.35c0c0p+0f, 0x1.303762p+0f,
    0x1.2b4c84p+0f, 0x1.25c2c6p+0f, 0x1.1e1064p+0f, 0x1.18de92p+0f, 0x1.147d58p+0f, 0x1.10681ap+0f, 0x1.0deb82p+0f,
    0x1.093672p+0f, 0x1.033a2ap+0f, 0x1.000000p+0f, 0x1.f0bb76p-1f, 0x1.e267c8p-1f, 0x1.d4b2f8p-1f, 0x1.c693b0p-1f,
    0x1.b9cd86p-1f, 0x1.aefef6p-1f, 0x1.a48136p-1f, 0x1.99bcb4p-1f, 0x1.8f1190p-1f, 0x1.84ac04p-1f, 0x1.7deac0p-1f,
    0x1.73fbf4p-1f, 0x1.6c087cp-1f, 0x1.64df4ep-1f, 0x1.5bc826p-1f};
/* clang-format off */
__device__ const float LOG_VALUE[32] = {
    -0x1.26fc00p-2f, -0x1.0f5800p-2f, -0x1.fa9000p-3f, -0x1.d59800p-3f, -0x1.b0a800p-3f, -0x1.865800p-3f,
    -0x1.616800p-3f, -0x1.400800p-3f, -0x1.19c800p-3f, -0x1.c6d000p-4f, -0x1.7bc000p-4f, -0x1.3b6000p-4f,
    -0x1.fce000p-5f, -0x1.b1c000p-5f, -0x1.21a000p-5f, -0x1.9a8000p-7f,  0x0.000000p+0f,  0x1.f00000p-6f,
     0x1.e7c000p-5f,  0x1.69f000p-4f,  0x1.e74000p-4f,  0x1.2e0000p-3f,  0x1.60b800p-3f,  0x1.933000p-3f,
     0x1.c85000p-3f,  0x1.fe5800p-3f,  0x1.1a3400p-2f,  0x1.2c2800p-2f,  0x1.472400p-2f,  0x1.5d4400p-2f,
     0x1.719c00p-2f,  0x1.8c0800p-2f};
/* clang-format on */
/* s = m 2^e, subnormals are scaled up: e ln 2 - ln c, which loses nothing, and ln(1 + r), r = c m - 1. */
__device__ inline float log_of(float s) {
  if (!(s > 0.0f)) return s == 0.0f ? -ACLPY_INFINITY : s != s ? s : not_a_number();
  if (s == ACLPY_INFINITY) return s;
  const bool tiny = s < 0x1p-126f;
  const u32 bits = bits_of(tiny ? s * 0x1p24f : s), moved = bits - 0x3f3e0000u, high = moved & 0xff800000u;
  const u32 at = moved >> 18 & 31u;
  const float e = (float)(int)high - (tiny ? 24.0f * 0x1p23f : 0.0f);
  const float r = fmaf(from_bits(bits - high), LOG_INVERSE[at], -1.0f);
  float p = fmaf(-0x1.000ce8p-2f, r, 0x1.556224p-2f);
  p = fmaf(p, r, -0.5f);
  p = fmaf(r * r, p, r);
  return fmaf(e, 0x1.62e4p-24f, LOG_VALUE[at]) + fmaf(e, 0x1.7f7d1cp-43f, p);
}

/* x = (1 + f) 2^e, 1 + f in [sqrt(1/2), sqrt(2)), x positive; subnormals are scaled up. Returns e. */
__device__ inline float split(float x, float *f) {
  const bool tiny = x < 0x1p-126f;
  const u32 moved = bits_of(tiny ? x * 0x1p24f : x) - 0x3f3504f3u; /* counted from sqrt(1/2) */
  *f = from_bits((moved & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
  return (float)((int)moved >> 23) - (tiny ? 24.0f : 0.0f);
}
/* a^y, a positive and finite: 2^(y (e + log2(1 + f))) with the logarithm in two floats, s = f / (2 + f), its
 * remainder, and the odd series of 2 atanh(s) / ln 2. */
__device__ inline float power_of(float a, float y) {
  float f;
  const float e = split(a, &f), g = f + 2.0f, rest = f - (g - 2.0f), inverse = 1.0f / g;
  const float s = f * inverse, q = s * s, low = fmaf(-s, rest, fmaf(-s, g, f)) * inverse;
  float p = 0x1.5c679ep-2f;
  p = fmaf(p, q, 0x1.a59614p-2f);
  p = fmaf(p, q, 0x1.277768p-1f);
  p = fmaf(p, q, 0x1.ec709ep-1f);
  const float slope = 0x1.715476p+1f, high = slope * s;
  const float tail = fmaf(s * q, p, fmaf(slope, low, 0x1.4ae0c0p-25f * s)), top = e + high;
  const float under = (high - (top - e)) + (tail - fmaf(-slope, s, high));
  const float h = top + under, l = under - (h - top), t = y * h;
  /* Where the power is 0 or infinite anyway, what is left of an infinite product would be no number. */
  const float left = size_of(t) > 160.0f ? 0.0f : y * l - fmaf(-y, h, t);
  const float x = below(160.0f, above(-160.0f, t)), shifted = x + 0x1.8p23f, n = shifted - 0x1.8p23f;
  const float r = (x - n) + left;
  float z = 0x1.41fa9cp-13f;
  z = fmaf(z, r, 0x1.5f4010p-10f);
  z = fmaf(z, r, 0x1.3b2d52p-7f);
  z = fmaf(z, r, 0x1.c6aee6p-5f);
  z = fmaf(z, r, 0x1.ebfbdcp-3f);
  z = fmaf(z, r, 0x1.62e430p-1f);
  return times_power(fmaf(z, r, 1.0f), shifted);
}
/* Numbers c about 1/m for the 32 leading bits of m, and -log2 c. */
__device__ const float POWER_INVERSE[32] = {
    0x1.f81f5ep-1f, 0x1.e9234ap-1f, 0x1.dacf38p-1f, 0x1.cd9e30p-1f, 0x1.c0cea0p-1f, 0x1.b4dd4cp-1f, 0x1.a97dd2p-1f,
    0x1.9eb558p-1f, 0x1.947e5ep-1f, 0x1.8ab28ap-1f, 0x1.819744p-1f, 0x1.789b58p-1f, 0x1.701fbcp-1f, 0x1.6801dep-1f,
    0x1.60445ap-1f, 0x1.58e3dap-1f, 0x1.51eaecp-1f, 0x1.4b0176p-1f, 0x1.446c7ep-1f, 0x1.3e06cep-1f, 0x1.3816b6p-1f,
    0x1.3243d4p-1f, 0x1.2ca7a0p-1f, 0x1.2740e8p-1f, 0x1.21e354p-1f, 0x1.1cf388p-1f, 0x1.181028p-1f, 0x1.135f52p-1f,
    0x1.0ec932p-1f, 0x1.0a763ap-1f, 0x1.061eeep-1f, 0x1.01fec0p-1f};
__device__ const float POWER_LOG[32] = {
    0x1.6e8000p-6f, 0x1.0df000p-4f, 0x1.bda000p-4f, 0x1.321000p-3f, 0x1.853800p-3f, 0x1.d4e800p-3f, 0x1.116c00p-2f,
    0x1.375800p-2f, 0x1.5c3000p-2f, 0x1.806800p-2f, 0x1.a2e400p-2f, 0x1.c5b800p-2f, 0x1.e76000p-2f, 0x1.042800p-1f,
    0x1.143600p-1f, 0x1.23d800p-1f, 0x1.32ee00p-1f, 0x1.423200p-1f, 0x1.510800p-1f, 0x1.5fbe00p-1f, 0x1.6daa00p-1f,
    0x1.7b9400p-1f, 0x1.893c00p-1f, 0x1.96a000p-1f, 0x1.a42c00p-1f, 0x1.b0dc00p-1f, 0x1.bda400p-1f, 0x1.ca1e00p-1f,
    0x1.d68600p-1f, 0x1.e26a00p-1f, 0x1.ee8c00p-1f, 0x1.fa4400p-1f};
/* s^y for moderate y: m of s = m 2^e is looked up, e - log2 c is exact, and r = c m - 1 is small. */
__device__ inline bool power_takes(float y) {
  return size_of(y) <= 4.0f && y != (float)(int)y && y != 0.5f && y != 1.5f;
}
__device__ inline float moderate_power_of(float s, float y) {
  const bool tiny = s < 0x1p-126f;
  const u32 bits = bits_of(tiny ? s * 0x1p24f : s), at = bits >> 18 & 31u;
  const float r = fmaf(from_bits((bits & 0x7fffffu) | 0x3f800000u), POWER_INVERSE[at], -1.0f);
  const float e = (float)(bits >> 23) - 127.0f - (tiny ? 24.0f : 0.0f) + POWER_LOG[at];
  const float n = fmaf(y, e, 0x1.8p23f) - 0x1.8p23f;
  float q = fmaf(y * 0x1.ec97c6p-2f, r, y * -0x1.715db4p-1f);
  q = fmaf(q, r, y * 0x1.715476p+0f);
  const float f = fmaf(q, r, fmaf(y, e, -n));
  float p = 0x1.415002p-13f;
  p = fmaf(p, f, 0x1.5ff834p-10f);
  p = fmaf(p, f, 0x1.3b3082p-7f);
  p = fmaf(p, f, 0x1.c6ad40p-5f);
  p = fmaf(p, f, 0x1.ebfbd4p-3f);
  p = fmaf(p, f, 0x1.62e432p-1f);
  return times_power(fmaf(p, f, 1.0f), below(160.0f, above(-160.0f, n)) + 0x1.8p23f);
}
/* The edges that C's pow has; r is |s|^y elsewhere. Of a negative base, only -0 and -inf have powers that are not
 * integral. */
__device__ inline float power_edges(float s, float r, float y) {
  const bool whole = size_of(y) < 0x1p24f, integral = whole ? (float)(int)y == y : y == y;
  const bool odd = whole && integral && ((int)y & 1) != 0;
  const float a = size_of(s);
  if (a == 0.0f) r = y > 0.0f ? 0.0f : y < 0.0f ? ACLPY_INFINITY : not_a_number();
  if (a == ACLPY_INFINITY) r = y > 0.0f ? ACLPY_INFINITY : y < 0.0f ? 0.0f : not_a_number();
  if (a == 1.0f) r = 1.0f;
  if (s != s) return s;
  if ((bits_of(s) & 0x80000000u) == 0) return r;
  return odd ? -r : integral || a == 0.0f || a == ACLPY_INFINITY ? r : not_a_number();
}
/* alpha s^y; what a few correctly rounded operations give is taken from them. */
__device__ inline float pow_of(float s, float alpha, float y) {
  if (y == 0.0f) return alpha;
  if (y == 1.0f) return alpha * s;
  if (y == 2.0f) return alpha * (s * s);
  if (y == -1.0f) return alpha * (1.0f / s);
  if (y == 3.0f) return alpha * (s * s * s);
  const float size = size_of(s);
  if (y == 0.5f || y == 1.5f) { /* C's pow takes the roots of -0 and -inf as of 0 and inf */
    const float root = sqrtf(s == -ACLPY_INFINITY ? size : s) + 0.0f;
    return alpha * (y == 0.5f ? root : size * root);
  }
  const float inside = size > 0.0f && size < ACLPY_INFINITY ? size : 1.0f;
  return alpha * power_edges(s, power_takes(y) ? moderate_power_of(inside, y) : power_of(inside, y), y);
}

#endif
