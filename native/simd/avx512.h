/* SPDX-License-Identifier: Apache-2.0
 * Vector vocabulary for AVX-512 F, BW, DQ, VL: 16 floats, 8 doubles, tails by mask. See isa.h for the names.
 */
#ifndef ACLPY_SIMD_AVX512_H
#define ACLPY_SIMD_AVX512_H

#include <immintrin.h>

typedef __m512 v32;
typedef __m512d v64;
enum { v32_LANES = 16, v64_LANES = 8 };

#define ACLPY_MM _mm512
#include "avx512_text.h"
#include "powers.h"
#include "x86.h"

ACLPY_INLINE __mmask16 aclpy_mask16_(int64_t n) { return (__mmask16)((1u << n) - 1u); }
ACLPY_INLINE __mmask32 aclpy_mask32_(int64_t n) { return (__mmask32)((UINT64_C(1) << n) - 1u); }
ACLPY_INLINE __mmask8 aclpy_mask8_(int64_t n) { return (__mmask8)((1u << n) - 1u); }

ACLPY_INLINE float v32_hsum(v32 v) { return _mm512_reduce_add_ps(v); }
ACLPY_INLINE double v64_hsum(v64 v) { return _mm512_reduce_add_pd(v); }
ACLPY_INLINE float v32_hmax(v32 v) { return _mm512_reduce_max_ps(v); }
ACLPY_INLINE double v64_hmax(v64 v) { return _mm512_reduce_max_pd(v); }
ACLPY_INLINE double v64_first(v64 v) { return _mm512_cvtsd_f64(v); }

/* The lower and upper half of the lanes as doubles. */
ACLPY_INLINE v64 v32_widen_low(v32 v) { return _mm512_cvtps_pd(_mm512_castps512_ps256(v)); }
ACLPY_INLINE v64 v32_widen_high(v32 v) { return _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1)); }

/* p * 2^n, rounded once (subnormal and infinite results too); n integral, shifted = n + the rounding constant. */
ACLPY_INLINE v32 v32_scale(v32 p, v32 shifted, v32 n) {
  (void)shifted;
  return _mm512_scalef_ps(p, n);
}
ACLPY_INLINE v64 v64_scale(v64 p, v64 shifted, v64 n) {
  (void)shifted;
  return _mm512_scalef_pd(p, n);
}

/* The same where x > least or x is NaN, else 0: lanes whose result vanishes are left out, for one that underflows takes
 * some Intel processors 200 cycles. */
#define ACLPY_SCALES_ABOVE 1
ACLPY_INLINE v32 v32_scale_above(v32 p, v32 n, v32 x, v32 least) {
  return _mm512_maskz_scalef_ps(_mm512_cmp_ps_mask(x, least, _CMP_NLE_UQ), p, n);
}
ACLPY_INLINE v64 v64_scale_above(v64 p, v64 n, v64 x, v64 least) {
  return _mm512_maskz_scalef_pd(_mm512_cmp_pd_mask(x, least, _CMP_NLE_UQ), p, n);
}

/* The same where the result is a normal number; shifted is n + 1.5 * 2^23, whose low bits are n. NaN stays NaN where
 * the low bits of its own are 0. */
#define ACLPY_SCALES_NORMAL 1
ACLPY_INLINE v32 v32_scale_normal(v32 p, v32 shifted) {
  const __m512i exponent = _mm512_slli_epi32(_mm512_castps_si512(shifted), 23);
  return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(p), exponent));
}

/* 2^(n - floor(n)), and 2^n where that is a normal number; n in sixteenths, shifted = n + 1.5 * 2^19. The second table
 * lacks what the shifted sixteenths add to it. */
#define ACLPY_PARTS 16
ACLPY_INLINE v32 v32_power_part(v32 shifted) {
  const __m512i powers = _mm512_load_si512(aclpy_powers_);
  return _mm512_castsi512_ps(_mm512_permutexvar_epi32(_mm512_castps_si512(shifted), powers));
}
ACLPY_INLINE v32 v32_power_normal(v32 shifted) {
  const __m512i n = _mm512_castps_si512(shifted), less = _mm512_load_si512(aclpy_powers_less_);
  return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_permutexvar_epi32(n, less), _mm512_slli_epi32(n, 19)));
}

/* Of doubles; shifted = n + 1.5 * 2^48. */
#define ACLPY_DOUBLE_PARTS 16
ACLPY_INLINE v64 v64_power_part(v64 shifted) {
  const __m512d low = _mm512_load_pd(aclpy_powers_64_), high = _mm512_load_pd(aclpy_powers_64_ + v64_LANES);
  return _mm512_permutex2var_pd(low, _mm512_castpd_si512(shifted), high);
}

/* Whether four vectors hold numbers from -86 to -0: of those, larger ones have smaller bits. */
ACLPY_INLINE int v32_quad_below(const v32 *v) {
  const __m512i a = _mm512_max_epi32(_mm512_castps_si512(v[0]), _mm512_castps_si512(v[1]));
  const __m512i b = _mm512_max_epi32(_mm512_castps_si512(v[2]), _mm512_castps_si512(v[3]));
  const __m512i least = _mm512_castps_si512(_mm512_set1_ps(-86.0f));
  return _mm512_cmpgt_epi32_mask(_mm512_max_epi32(a, b), least) == 0;
}

/* Exponent of a positive normal number, and its significand in [1, 2). */
ACLPY_INLINE v64 v64_exponent(v64 x) { return _mm512_getexp_pd(x); }
ACLPY_INLINE v64 v64_significand(v64 x) { return _mm512_getmant_pd(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src); }
/* a where x > limit, else b. */
ACLPY_INLINE v32 v32_pick_greater(v32 x, v32 limit, v32 a, v32 b) {
  return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(x, limit, _CMP_GT_OQ), b, a);
}
ACLPY_INLINE v64 v64_pick_greater(v64 x, v64 limit, v64 a, v64 b) {
  return _mm512_mask_blend_pd(_mm512_cmp_pd_mask(x, limit, _CMP_GT_OQ), b, a);
}
/* Whether x > limit in any lane. */
ACLPY_INLINE int v32_any_greater(v32 x, v32 limit) { return _mm512_cmp_ps_mask(x, limit, _CMP_GT_OQ) != 0; }
/* A bit for each lane where x <= limit. */
ACLPY_INLINE unsigned v32_at_most(v32 x, v32 limit) { return _mm512_cmp_ps_mask(x, limit, _CMP_LE_OQ); }
ACLPY_INLINE v64 v64_div(v64 a, v64 b) { return _mm512_div_pd(a, b); }

/* The same value, of which the compiler does not know where it came from. */
ACLPY_INLINE v32 v32_in_register(v32 v) { return aclpy_in_register_(v); }

/* Bit by bit: a or b or c; 1 where the three are not all equal. */
ACLPY_INLINE v32 aclpy_bits_(__m512i v) { return _mm512_castsi512_ps(v); }
ACLPY_INLINE v32 v32_bits_or(v32 a, v32 b, v32 c) {
  return aclpy_bits_(
      _mm512_ternarylogic_epi32(_mm512_castps_si512(a), _mm512_castps_si512(b), _mm512_castps_si512(c), 0xfe));
}
ACLPY_INLINE v32 v32_bits_unlike(v32 a, v32 b, v32 c) {
  return aclpy_bits_(
      _mm512_ternarylogic_epi32(_mm512_castps_si512(a), _mm512_castps_si512(b), _mm512_castps_si512(c), 0x7e));
}
/* Whether any lane has a sign or exponent bit. */
ACLPY_INLINE int v32_bits_sized(v32 v) {
  return _mm512_test_epi32_mask(_mm512_castps_si512(v), _mm512_set1_epi32((int)0xff800000u)) != 0;
}

/* The first `count` lanes, 1 to 64, of four vectors, 16 bits each; and vectors of which such lanes are in memory. */
ACLPY_INLINE uint64_t aclpy_lanes_(int64_t count) { return ~UINT64_C(0) >> (64 - count); }
ACLPY_INLINE v32 ldm_f32(const float *p, uint64_t lanes, float fill) {
  return _mm512_mask_loadu_ps(_mm512_set1_ps(fill), (__mmask16)lanes, p);
}
ACLPY_INLINE void stm_f32(float *p, v32 v, uint64_t lanes) { _mm512_mask_storeu_ps(p, (__mmask16)lanes, v); }
ACLPY_INLINE v32 ldn_f32(const float *p, int64_t n, float fill) { return ldm_f32(p, aclpy_mask16_(n), fill); }
ACLPY_INLINE void stn_f32(float *p, v32 v, int64_t n) { stm_f32(p, v, aclpy_mask16_(n)); }
ACLPY_INLINE v64 ldn_f64(const double *p, int64_t n, double fill) {
  return _mm512_mask_loadu_pd(_mm512_set1_pd(fill), aclpy_mask8_(n), p);
}
ACLPY_INLINE void stn_f64(double *p, v64 v, int64_t n) { _mm512_mask_storeu_pd(p, aclpy_mask8_(n), v); }

enum { ACLPY_CVT_ROUND_ = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC };
ACLPY_INLINE __m256i aclpy_f16_pack_(v32 v) { return _mm512_cvtps_ph(v, ACLPY_CVT_ROUND_); }
ACLPY_INLINE v32 ld_f16(const uint16_t *p) { return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p)); }
ACLPY_INLINE v32 ldm_f16(const uint16_t *p, uint64_t lanes, float fill) {
  const __mmask16 mask = (__mmask16)lanes;
  return _mm512_mask_blend_ps(mask, _mm512_set1_ps(fill), _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask, p)));
}
ACLPY_INLINE v32 ldn_f16(const uint16_t *p, int64_t n, float fill) { return ldm_f16(p, aclpy_mask16_(n), fill); }
ACLPY_INLINE void st_f16(uint16_t *p, v32 v) { _mm256_storeu_si256((__m256i *)p, aclpy_f16_pack_(v)); }
ACLPY_INLINE void stn_f16(uint16_t *p, v32 v, int64_t n) {
  _mm256_mask_storeu_epi16(p, aclpy_mask16_(n), aclpy_f16_pack_(v));
}
ACLPY_INLINE void nt_f16(uint16_t *p, v32 v) { _mm256_stream_si256((__m256i *)p, aclpy_f16_pack_(v)); }

ACLPY_INLINE v32 aclpy_bf16_unpack_(__m256i h) {
  /* One permutation: words to the upper halves, zeros below. */
  const __m512i to =
      _mm512_set_epi32(0x000f000f, 0x000e000e, 0x000d000d, 0x000c000c, 0x000b000b, 0x000a000a, 0x00090009, 0x00080008,
                       0x00070007, 0x00060006, 0x00050005, 0x00040004, 0x00030003, 0x00020002, 0x00010001, 0);
  return _mm512_castsi512_ps(_mm512_maskz_permutexvar_epi16(0xaaaaaaaau, to, _mm512_castsi256_si512(h)));
}
/* Not the AVX-512-BF16 instruction: that one flushes subnormals to zero; see quads.h. */
ACLPY_INLINE __m256i aclpy_bf16_pack_(v32 v) {
  const __m512i bits = _mm512_castps_si512(v);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
  const __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
  const __m512i quiet = _mm512_mask_or_epi32(rounded, nan, bits, _mm512_set1_epi32(0x400000));
  const __m512i upper = _mm512_set_epi32(0, 0, 0, 0, 0, 0, 0, 0, 0x001f001d, 0x001b0019, 0x00170015, 0x00130011,
                                         0x000f000d, 0x000b0009, 0x00070005, 0x00030001);
  return _mm512_castsi512_si256(_mm512_permutexvar_epi16(upper, quiet));
}
ACLPY_INLINE v32 ld_bf16(const uint16_t *p) { return aclpy_bf16_unpack_(_mm256_loadu_si256((const __m256i *)p)); }
ACLPY_INLINE v32 ldm_bf16(const uint16_t *p, uint64_t lanes, float fill) {
  const __mmask16 mask = (__mmask16)lanes;
  return _mm512_mask_blend_ps(mask, _mm512_set1_ps(fill), aclpy_bf16_unpack_(_mm256_maskz_loadu_epi16(mask, p)));
}
ACLPY_INLINE v32 ldn_bf16(const uint16_t *p, int64_t n, float fill) { return ldm_bf16(p, aclpy_mask16_(n), fill); }
ACLPY_INLINE void st_bf16(uint16_t *p, v32 v) { _mm256_storeu_si256((__m256i *)p, aclpy_bf16_pack_(v)); }
ACLPY_INLINE void stn_bf16(uint16_t *p, v32 v, int64_t n) {
  _mm256_mask_storeu_epi16(p, aclpy_mask16_(n), aclpy_bf16_pack_(v));
}
ACLPY_INLINE void nt_bf16(uint16_t *p, v32 v) { _mm256_stream_si256((__m256i *)p, aclpy_bf16_pack_(v)); }

#endif
