/* SPDX-License-Identifier: Apache-2.0
 * Vector vocabulary for plain x86-64 (SSE2): 4 floats, 2 doubles, no fused multiply-add. See isa.h for the names.
 */
#ifndef ACLPY_SIMD_SSE2_H
#define ACLPY_SIMD_SSE2_H

#include <emmintrin.h>

typedef __m128 v32;
typedef __m128d v64;
enum { v32_LANES = 4, v64_LANES = 2 };

#define ACLPY_MM _mm
/* The second builds on the first. */
/* clang-format off */
#include "x86.h"
#include "narrow_lanes.h"
/* clang-format on */

ACLPY_INLINE float v32_hsum(v32 v) {
  const v32 s = _mm_add_ps(v, _mm_movehl_ps(v, v));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_shuffle_ps(s, s, 1)));
}
ACLPY_INLINE double v64_hsum(v64 v) { return _mm_cvtsd_f64(_mm_add_sd(v, _mm_unpackhi_pd(v, v))); }
ACLPY_INLINE float v32_hmax(v32 v) {
  const v32 s = _mm_max_ps(v, _mm_movehl_ps(v, v));
  return _mm_cvtss_f32(_mm_max_ss(s, _mm_shuffle_ps(s, s, 1)));
}
ACLPY_INLINE double v64_hmax(v64 v) { return _mm_cvtsd_f64(_mm_max_sd(v, _mm_unpackhi_pd(v, v))); }
ACLPY_INLINE double v64_first(v64 v) { return _mm_cvtsd_f64(v); }

/* The lower and upper half of the lanes as doubles. */
ACLPY_INLINE v64 v32_widen_low(v32 v) { return _mm_cvtps_pd(v); }
ACLPY_INLINE v64 v32_widen_high(v32 v) { return _mm_cvtps_pd(_mm_movehl_ps(v, v)); }

/* 2^n from n + 1.5 * 2^23 (2^52): its low bits are n, which the shift moves into the exponent of 1.0. */
ACLPY_INLINE v32 aclpy_pow2_32_(v32 shifted) {
  return _mm_castsi128_ps(_mm_add_epi32(_mm_slli_epi32(_mm_castps_si128(shifted), 23), _mm_set1_epi32(0x3f800000)));
}
ACLPY_INLINE v64 aclpy_pow2_64_(v64 shifted) {
  return _mm_castsi128_pd(
      _mm_add_epi64(_mm_slli_epi64(_mm_castpd_si128(shifted), 52), _mm_set1_epi64x(0x3ff0000000000000)));
}
/* p * 2^n, rounded once (subnormal and infinite results too); n integral, shifted = n + the rounding constant.
 * Far exponents go in two exact halves; they are rare, and a branch costs less than the second multiplication. */
ACLPY_INLINE v32 v32_scale(v32 p, v32 shifted, v32 n) {
  const v32 size = _mm_andnot_ps(_mm_set1_ps(-0.0f), n);
  if (ACLPY_LIKELY(_mm_movemask_ps(_mm_cmpgt_ps(size, _mm_set1_ps(125.0f))) == 0)) {
    return v32_mul(p, aclpy_pow2_32_(shifted));
  }
  const v32 magic = v32_set1(0x1.8p23f);
  const v32 half = v32_fma(n, v32_set1(0.5f), magic);
  const v32 rest = v32_add(v32_sub(n, v32_sub(half, magic)), magic);
  return v32_mul(v32_mul(p, aclpy_pow2_32_(half)), aclpy_pow2_32_(rest));
}
ACLPY_INLINE v64 v64_scale(v64 p, v64 shifted, v64 n) {
  const v64 size = _mm_andnot_pd(_mm_set1_pd(-0.0), n);
  if (ACLPY_LIKELY(_mm_movemask_pd(_mm_cmpgt_pd(size, _mm_set1_pd(1021.0))) == 0)) {
    return v64_mul(p, aclpy_pow2_64_(shifted));
  }
  const v64 magic = v64_set1(0x1.8p52);
  const v64 half = v64_fma(n, v64_set1(0.5), magic);
  const v64 rest = v64_add(v64_sub(n, v64_sub(half, magic)), magic);
  return v64_mul(v64_mul(p, aclpy_pow2_64_(half)), aclpy_pow2_64_(rest));
}

/* The same where n is from -125 to 125 (of doubles -1021 to 1021), or NaN. */
ACLPY_INLINE v32 v32_scale_near(v32 p, v32 shifted) { return v32_mul(p, aclpy_pow2_32_(shifted)); }
ACLPY_INLINE v64 v64_scale_near(v64 p, v64 shifted) { return v64_mul(p, aclpy_pow2_64_(shifted)); }

/* Exponent of a positive normal number (through the bits of 2^52 + field), and its significand in [1, 2). */
ACLPY_INLINE v64 v64_exponent(v64 x) {
  const __m128i field = _mm_srli_epi64(_mm_castpd_si128(x), 52);
  const v64 biased = _mm_castsi128_pd(_mm_or_si128(field, _mm_set1_epi64x(0x4330000000000000)));
  return v64_sub(biased, v64_set1(0x1p52 + 1023.0));
}
ACLPY_INLINE v64 v64_significand(v64 x) {
  const __m128i low = _mm_and_si128(_mm_castpd_si128(x), _mm_set1_epi64x(0x000fffffffffffff));
  return _mm_castsi128_pd(_mm_or_si128(low, _mm_set1_epi64x(0x3ff0000000000000)));
}
/* a where x > limit, else b. */
ACLPY_INLINE v32 v32_pick_greater(v32 x, v32 limit, v32 a, v32 b) {
  const v32 mask = _mm_cmpgt_ps(x, limit);
  return _mm_or_ps(_mm_and_ps(mask, a), _mm_andnot_ps(mask, b));
}
ACLPY_INLINE int v32_any_greater(v32 x, v32 limit) { return _mm_movemask_ps(_mm_cmpgt_ps(x, limit)) != 0; }
ACLPY_INLINE v64 v64_pick_greater(v64 x, v64 limit, v64 a, v64 b) {
  const v64 mask = _mm_cmpgt_pd(x, limit);
  return _mm_or_pd(_mm_and_pd(mask, a), _mm_andnot_pd(mask, b));
}
ACLPY_INLINE v64 v64_div(v64 a, v64 b) { return _mm_div_pd(a, b); }

ACLPY_INLINE __m128i aclpy_pick_(__m128i mask, __m128i a, __m128i b) {
  return _mm_or_si128(_mm_and_si128(mask, a), _mm_andnot_si128(mask, b));
}
ACLPY_INLINE __m128i aclpy_load16_(const uint16_t *p) {
  return _mm_unpacklo_epi16(_mm_loadl_epi64((const __m128i *)p), _mm_setzero_si128());
}
/* Low halves of four 32-bit lanes; the sign extension makes the saturating pack exact. */
ACLPY_INLINE __m128i aclpy_pack16_(__m128i h) {
  const __m128i wide = _mm_srai_epi32(_mm_slli_epi32(h, 16), 16);
  return _mm_packs_epi32(wide, wide);
}

/* The steps of half.h, four lanes at a time. */
ACLPY_INLINE v32 ld_f16(const uint16_t *p) {
  const __m128i h = aclpy_load16_(p);
  const __m128i size = _mm_slli_epi32(_mm_and_si128(h, _mm_set1_epi32(0x7fff)), 13);
  const __m128i sign = _mm_slli_epi32(_mm_and_si128(h, _mm_set1_epi32(0x8000)), 16);
  const __m128i finite = _mm_castps_si128(v32_mul(_mm_castsi128_ps(size), v32_set1(0x1p112f)));
  const __m128i quiet = _mm_and_si128(_mm_cmpgt_epi32(size, _mm_set1_epi32(0x0f800000)), _mm_set1_epi32(0x00400000));
  const __m128i special = _mm_or_si128(_mm_or_si128(size, quiet), _mm_set1_epi32(0x7f800000));
  const __m128i magnitude = aclpy_pick_(_mm_cmpgt_epi32(size, _mm_set1_epi32(0x0f7fffff)), special, finite);
  return _mm_castsi128_ps(_mm_or_si128(magnitude, sign));
}
ACLPY_INLINE __m128i aclpy_f16_pack_(v32 v) {
  const __m128i bits = _mm_castps_si128(v);
  const __m128i size = _mm_and_si128(bits, _mm_set1_epi32(0x7fffffff));
  const __m128i high = _mm_srli_epi32(size, 13);
  const __m128i small =
      _mm_sub_epi32(_mm_castps_si128(v32_add(_mm_castsi128_ps(size), v32_set1(0.5f))), _mm_set1_epi32(0x3f000000));
  const __m128i odd = _mm_and_si128(high, _mm_set1_epi32(1));
  const __m128i normal =
      _mm_srli_epi32(_mm_add_epi32(_mm_add_epi32(size, odd), _mm_set1_epi32(0xfff - 0x38000000)), 13);
  const __m128i nan = _mm_or_si128(_mm_and_si128(high, _mm_set1_epi32(0x3ff)), _mm_set1_epi32(0x7e00));
  __m128i h = aclpy_pick_(_mm_cmpgt_epi32(size, _mm_set1_epi32(0x387fffff)), normal, small);
  h = aclpy_pick_(_mm_cmpgt_epi32(size, _mm_set1_epi32(0x477fefff)), _mm_set1_epi32(0x7c00), h);
  h = aclpy_pick_(_mm_cmpgt_epi32(size, _mm_set1_epi32(0x7f800000)), nan, h);
  return aclpy_pack16_(_mm_or_si128(h, _mm_and_si128(_mm_srli_epi32(bits, 16), _mm_set1_epi32(0x8000))));
}
ACLPY_INLINE v32 ld_bf16(const uint16_t *p) { return _mm_castsi128_ps(_mm_slli_epi32(aclpy_load16_(p), 16)); }
ACLPY_INLINE __m128i aclpy_bf16_pack_(v32 v) {
  const __m128i bits = _mm_castps_si128(v);
  const __m128i high = _mm_srli_epi32(bits, 16);
  const __m128i odd = _mm_and_si128(high, _mm_set1_epi32(1));
  const __m128i rounded = _mm_srli_epi32(_mm_add_epi32(_mm_add_epi32(bits, _mm_set1_epi32(0x7fff)), odd), 16);
  const __m128i nan = _mm_castps_si128(_mm_cmpunord_ps(v, v));
  return aclpy_pack16_(aclpy_pick_(nan, _mm_or_si128(high, _mm_set1_epi32(0x40)), rounded));
}

ACLPY_INLINE void st_f16(uint16_t *p, v32 v) { _mm_storel_epi64((__m128i *)p, aclpy_f16_pack_(v)); }
ACLPY_INLINE void st_bf16(uint16_t *p, v32 v) { _mm_storel_epi64((__m128i *)p, aclpy_bf16_pack_(v)); }
ACLPY_INLINE void nt_f16(uint16_t *p, v32 v) {
  _mm_stream_si64((long long *)(void *)p, _mm_cvtsi128_si64(aclpy_f16_pack_(v)));
}
ACLPY_INLINE void nt_bf16(uint16_t *p, v32 v) {
  _mm_stream_si64((long long *)(void *)p, _mm_cvtsi128_si64(aclpy_bf16_pack_(v)));
}

#endif
