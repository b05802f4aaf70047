/* SPDX-License-Identifier: Apache-2.0
 * Vector vocabulary for AVX2 + FMA + F16C: 8 floats, 4 doubles. See isa.h for the names.
 */
#ifndef ACLPY_SIMD_AVX2_H
#define ACLPY_SIMD_AVX2_H

#include <immintrin.h>

typedef __m256 v32;
typedef __m256d v64;
enum { v32_LANES = 8, v64_LANES = 4 };

#define ACLPY_MM _mm256
#include "powers.h"
#include "x86.h"

ACLPY_INLINE __m256i aclpy_mask32_(int64_t n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
ACLPY_INLINE __m256i aclpy_mask64_(int64_t n) {
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
}

ACLPY_INLINE float v32_hsum(v32 v) {
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_shuffle_ps(s, s, 1)));
}
ACLPY_INLINE double v64_hsum(v64 v) {
  const __m128d s = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
  return _mm_cvtsd_f64(_mm_add_sd(s, _mm_unpackhi_pd(s, s)));
}
ACLPY_INLINE float v32_hmax(v32 v) {
  __m128 s = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  s = _mm_max_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_max_ss(s, _mm_shuffle_ps(s, s, 1)));
}
ACLPY_INLINE double v64_hmax(v64 v) {
  const __m128d s = _mm_max_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
  return _mm_cvtsd_f64(_mm_max_sd(s, _mm_unpackhi_pd(s, s)));
}
ACLPY_INLINE double v64_first(v64 v) { return _mm256_cvtsd_f64(v); }

/* The lower and upper half of the lanes as doubles. */
ACLPY_INLINE v64 v32_widen_low(v32 v) { return _mm256_cvtps_pd(_mm256_castps256_ps128(v)); }
ACLPY_INLINE v64 v32_widen_high(v32 v) { return _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1)); }

/* 2^n from n + 1.5 * 2^23 (2^52): its low bits are n, which the shift moves into the exponent of 1.0. */
ACLPY_INLINE v32 aclpy_pow2_32_(v32 shifted) {
  return _mm256_castsi256_ps(
      _mm256_add_epi32(_mm256_slli_epi32(_mm256_castps_si256(shifted), 23), _mm256_set1_epi32(0x3f800000)));
}
ACLPY_INLINE v64 aclpy_pow2_64_(v64 shifted) {
  return _mm256_castsi256_pd(
      _mm256_add_epi64(_mm256_slli_epi64(_mm256_castpd_si256(shifted), 52), _mm256_set1_epi64x(0x3ff0000000000000)));
}
/* p * 2^n, rounded once (subnormal and infinite results too); n integral, shifted = n + the rounding constant.
 * Far exponents go in two exact halves; they are rare, and a branch costs less than the second multiplication. */
ACLPY_INLINE v32 v32_scale(v32 p, v32 shifted, v32 n) {
  const v32 size = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), n);
  if (ACLPY_LIKELY(_mm256_movemask_ps(_mm256_cmp_ps(size, _mm256_set1_ps(125.0f), _CMP_GT_OQ)) == 0)) {
    return v32_mul(p, aclpy_pow2_32_(shifted));
  }
  const v32 magic = v32_set1(0x1.8p23f);
  const v32 half = v32_fma(n, v32_set1(0.5f), magic);
  const v32 rest = v32_add(v32_sub(n, v32_sub(half, magic)), magic);
  return v32_mul(v32_mul(p, aclpy_pow2_32_(half)), aclpy_pow2_32_(rest));
}
ACLPY_INLINE v64 v64_scale(v64 p, v64 shifted, v64 n) {
  const v64 size = _mm256_andnot_pd(_mm256_set1_pd(-0.0), n);
  if (ACLPY_LIKELY(_mm256_movemask_pd(_mm256_cmp_pd(size, _mm256_set1_pd(1021.0), _CMP_GT_OQ)) == 0)) {
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

/* The same where the result is a normal number. */
#define ACLPY_SCALES_NORMAL 1
ACLPY_INLINE v32 v32_scale_normal(v32 p, v32 shifted) {
  const __m256i exponent = _mm256_slli_epi32(_mm256_castps_si256(shifted), 23);
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), exponent));
}
ACLPY_INLINE v64 v64_scale_normal(v64 p, v64 shifted) {
  const __m256i exponent = _mm256_slli_epi64(_mm256_castpd_si256(shifted), 52);
  return _mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(p), exponent));
}

/* 2^(n - floor(n)), and 2^n where that is a normal number; n in eighths, shifted = n + 1.5 * 2^20. The second table
 * lacks what the shifted eighths add to it. */
#define ACLPY_PARTS 8
ACLPY_INLINE v32 v32_power_part(v32 shifted) {
  return _mm256_permutevar8x32_ps(_mm256_castsi256_ps(_mm256_load_si256((const __m256i *)aclpy_powers_)),
                                  _mm256_castps_si256(shifted));
}
ACLPY_INLINE v32 v32_power_normal(v32 shifted) {
  const __m256i n = _mm256_castps_si256(shifted), less = _mm256_load_si256((const __m256i *)aclpy_powers_less_);
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_permutevar8x32_epi32(less, n), _mm256_slli_epi32(n, 20)));
}
/* p * 2^floor(n), rounded once. */
ACLPY_INLINE v32 v32_scale_whole(v32 p, v32 shifted, v32 n) {
  const __m256i whole = _mm256_srli_epi32(_mm256_castps_si256(shifted), 3);
  return v32_scale(p, _mm256_castsi256_ps(whole), _mm256_floor_ps(n));
}

/* Whether four vectors hold numbers from -86 to -0: of those, larger ones have smaller bits. */
ACLPY_INLINE int v32_quad_below(const v32 *v) {
  const __m256i a = _mm256_max_epi32(_mm256_castps_si256(v[0]), _mm256_castps_si256(v[1]));
  const __m256i b = _mm256_max_epi32(_mm256_castps_si256(v[2]), _mm256_castps_si256(v[3]));
  const __m256i least = _mm256_castps_si256(_mm256_set1_ps(-86.0f));
  return _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_max_epi32(a, b), least))) == 0;
}
/* Whether four vectors of numbers that are at most 0 hold none below -86, of doubles -600: the farther from 0, the
 * larger are their bits, those of 0 with a sign as without. Some NaN are passed over, of doubles none. */
#define ACLPY_LOOKS 1
ACLPY_INLINE int v32_quad_near(const v32 *v) {
  const __m256i a = _mm256_max_epu32(_mm256_castps_si256(v[0]), _mm256_castps_si256(v[1]));
  const __m256i b = _mm256_max_epu32(_mm256_castps_si256(v[2]), _mm256_castps_si256(v[3]));
  const __m256i least = _mm256_castps_si256(_mm256_set1_ps(-86.0f));
  const __m256i near = _mm256_cmpeq_epi32(_mm256_max_epu32(_mm256_max_epu32(a, b), least), least);
  return _mm256_movemask_ps(_mm256_castsi256_ps(near)) == 0xff;
}
ACLPY_INLINE int v64_quad_near(const v64 *v) {
  __m256i w[4]; /* their upper halves decide */
  for (int k = 0; k < 4; ++k) w[k] = _mm256_castpd_si256(_mm256_or_pd(v[k], _mm256_set1_pd(-0.0)));
  const __m256i all = _mm256_max_epi32(_mm256_max_epi32(w[0], w[1]), _mm256_max_epi32(w[2], w[3]));
  const __m256i least = _mm256_castpd_si256(_mm256_set1_pd(-600.0));
  return _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi32(all, least))) == 0;
}

/* Exponent of a positive normal number (through the bits of 2^52 + field), and its significand in [1, 2). */
ACLPY_INLINE v64 v64_exponent(v64 x) {
  const __m256i field = _mm256_srli_epi64(_mm256_castpd_si256(x), 52);
  const v64 biased = _mm256_castsi256_pd(_mm256_or_si256(field, _mm256_set1_epi64x(0x4330000000000000)));
  return v64_sub(biased, v64_set1(0x1p52 + 1023.0));
}
ACLPY_INLINE v64 v64_significand(v64 x) {
  const __m256i low = _mm256_and_si256(_mm256_castpd_si256(x), _mm256_set1_epi64x(0x000fffffffffffff));
  return _mm256_castsi256_pd(_mm256_or_si256(low, _mm256_set1_epi64x(0x3ff0000000000000)));
}
/* The same value, of which the compiler does not know where it came from. */
ACLPY_INLINE v32 v32_in_register(v32 v) {
  __asm__("" : "+x"(v));
  return v;
}

/* Bit by bit: a or b or c; 1 where the three are not all equal. */
ACLPY_INLINE v32 v32_bits_or(v32 a, v32 b, v32 c) { return _mm256_or_ps(a, _mm256_or_ps(b, c)); }
ACLPY_INLINE v32 v32_bits_unlike(v32 a, v32 b, v32 c) { return _mm256_or_ps(_mm256_xor_ps(a, c), _mm256_xor_ps(b, c)); }
/* Whether any lane has a sign or exponent bit. */
ACLPY_INLINE int v32_bits_sized(v32 v) {
  return !_mm256_testz_si256(_mm256_castps_si256(v), _mm256_set1_epi32((int)0xff800000u));
}

/* a where x > limit, else b. */
ACLPY_INLINE v32 v32_pick_greater(v32 x, v32 limit, v32 a, v32 b) {
  return _mm256_blendv_ps(b, a, _mm256_cmp_ps(x, limit, _CMP_GT_OQ));
}
/* Whether x > limit in any lane. */
ACLPY_INLINE int v32_any_greater(v32 x, v32 limit) {
  return _mm256_movemask_ps(_mm256_cmp_ps(x, limit, _CMP_GT_OQ)) != 0;
}
/* A bit for each lane where x <= limit. */
ACLPY_INLINE unsigned v32_at_most(v32 x, v32 limit) {
  return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(x, limit, _CMP_LE_OQ));
}
ACLPY_INLINE v64 v64_pick_greater(v64 x, v64 limit, v64 a, v64 b) {
  return _mm256_blendv_pd(b, a, _mm256_cmp_pd(x, limit, _CMP_GT_OQ));
}
ACLPY_INLINE v64 v64_div(v64 a, v64 b) { return _mm256_div_pd(a, b); }

ACLPY_INLINE v32 ldn_f32(const float *p, int64_t n, float fill) {
  const __m256i mask = aclpy_mask32_(n);
  return _mm256_blendv_ps(_mm256_set1_ps(fill), _mm256_maskload_ps(p, mask), _mm256_castsi256_ps(mask));
}
/* The first n lanes, then zeros. */
ACLPY_INLINE v32 v32_front(v32 v, int64_t n) { return _mm256_and_ps(v, _mm256_castsi256_ps(aclpy_mask32_(n))); }
ACLPY_INLINE v64 v64_front(v64 v, int64_t n) { return _mm256_and_pd(v, _mm256_castsi256_pd(aclpy_mask64_(n))); }
/* In pieces: a masked store is done in microcode by AMD's cores, some 12 cycles. */
ACLPY_INLINE void stn_f32(float *p, v32 v, int64_t n) {
  if (n >= v32_LANES) {
    _mm256_storeu_ps(p, v);
    return;
  }
  __m128 part = _mm256_castps256_ps128(v);
  if (n & 4) {
    _mm_storeu_ps(p, part);
    part = _mm256_extractf128_ps(v, 1);
    p += 4;
  }
  if (n & 2) {
    _mm_storel_pi((__m64 *)(void *)p, part);
    part = _mm_movehl_ps(part, part);
    p += 2;
  }
  if (n & 1) _mm_store_ss(p, part);
}
ACLPY_INLINE v64 ldn_f64(const double *p, int64_t n, double fill) {
  const __m256i mask = aclpy_mask64_(n);
  return _mm256_blendv_pd(_mm256_set1_pd(fill), _mm256_maskload_pd(p, mask), _mm256_castsi256_pd(mask));
}
ACLPY_INLINE void stn_f64(double *p, v64 v, int64_t n) {
  if (n >= v64_LANES) {
    _mm256_storeu_pd(p, v);
    return;
  }
  __m128d part = _mm256_castpd256_pd128(v);
  if (n & 2) {
    _mm_storeu_pd(p, part);
    part = _mm256_extractf128_pd(v, 1);
    p += 2;
  }
  if (n & 1) _mm_store_sd(p, part);
}

/* There is no masked 16-bit access in AVX2: tails go in pieces, too. */
ACLPY_INLINE __m128i aclpy_load16_n_(const uint16_t *p, int64_t n) {
  if (n >= v32_LANES) return _mm_loadu_si128((const __m128i *)p);
  uint64_t low = 0, piece = 0;
  const uint16_t *end = p + n;
  if (n & 1) low = *--end;
  if (n & 2) {
    uint32_t two;
    memcpy(&two, end -= 2, sizeof two);
    low = low << 32 | two;
  }
  if ((n & 4) == 0) return _mm_cvtsi64_si128((long long)low);
  memcpy(&piece, end - 4, sizeof piece);
  return _mm_set_epi64x((long long)low, (long long)piece);
}
ACLPY_INLINE void aclpy_store16_n_(uint16_t *p, __m128i v, int64_t n) {
  if (n >= v32_LANES) {
    _mm_storeu_si128((__m128i *)p, v);
    return;
  }
  uint64_t part = (uint64_t)_mm_cvtsi128_si64(v);
  if (n & 4) {
    memcpy(p, &part, sizeof part);
    part = (uint64_t)_mm_extract_epi64(v, 1);
    p += 4;
  }
  if (n & 2) {
    const uint32_t two = (uint32_t)part;
    memcpy(p, &two, sizeof two);
    part >>= 32;
    p += 2;
  }
  if (n & 1) *p = (uint16_t)part;
}
ACLPY_INLINE v32 aclpy_fill_(v32 v, int64_t n, float fill) {
  return _mm256_blendv_ps(_mm256_set1_ps(fill), v, _mm256_castsi256_ps(aclpy_mask32_(n)));
}

enum { ACLPY_CVT_ROUND_ = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC };
ACLPY_INLINE __m128i aclpy_f16_pack_(v32 v) { return _mm256_cvtps_ph(v, ACLPY_CVT_ROUND_); }
ACLPY_INLINE v32 ld_f16(const uint16_t *p) { return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p)); }
ACLPY_INLINE v32 ldn_f16(const uint16_t *p, int64_t n, float fill) {
  return aclpy_fill_(_mm256_cvtph_ps(aclpy_load16_n_(p, n)), n, fill);
}
ACLPY_INLINE void st_f16(uint16_t *p, v32 v) { _mm_storeu_si128((__m128i *)p, aclpy_f16_pack_(v)); }
ACLPY_INLINE void stn_f16(uint16_t *p, v32 v, int64_t n) { aclpy_store16_n_(p, aclpy_f16_pack_(v), n); }
ACLPY_INLINE void nt_f16(uint16_t *p, v32 v) { _mm_stream_si128((__m128i *)p, aclpy_f16_pack_(v)); }

ACLPY_INLINE v32 aclpy_bf16_unpack_(__m128i h) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
}
ACLPY_INLINE __m128i aclpy_bf16_pack_(v32 v) {
  const __m256i bits = _mm256_castps_si256(v);
  const __m256i high = _mm256_srli_epi32(bits, 16);
  const __m256i odd = _mm256_and_si256(high, _mm256_set1_epi32(1));
  const __m256i rounded =
      _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd), 16);
  const __m256i quiet = _mm256_or_si256(high, _mm256_set1_epi32(0x40));
  const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
  const __m256i half = _mm256_blendv_epi8(rounded, quiet, nan);
  return _mm_packus_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}
ACLPY_INLINE v32 ld_bf16(const uint16_t *p) { return aclpy_bf16_unpack_(_mm_loadu_si128((const __m128i *)p)); }
ACLPY_INLINE v32 ldn_bf16(const uint16_t *p, int64_t n, float fill) {
  return aclpy_fill_(aclpy_bf16_unpack_(aclpy_load16_n_(p, n)), n, fill);
}
ACLPY_INLINE void st_bf16(uint16_t *p, v32 v) { _mm_storeu_si128((__m128i *)p, aclpy_bf16_pack_(v)); }
ACLPY_INLINE void stn_bf16(uint16_t *p, v32 v, int64_t n) { aclpy_store16_n_(p, aclpy_bf16_pack_(v), n); }
ACLPY_INLINE void nt_bf16(uint16_t *p, v32 v) { _mm_stream_si128((__m128i *)p, aclpy_bf16_pack_(v)); }

#endif
