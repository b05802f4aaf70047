/* SPDX-License-Identifier: Apache-2.0
 * In front of the compiler's <immintrin.h>: AVX-512 for a processor without it, by SIMDe and, for what SIMDe 0.7 and
 * 0.8 lack, lane by lane. Results are the instructions' own, NaN bits apart; `make test-avx512` says what is checked
 * so.
 */
#ifndef ACLPY_TESTS_EMULATED_IMMINTRIN_H
#define ACLPY_TESTS_EMULATED_IMMINTRIN_H

#include_next <immintrin.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define SIMDE_NO_INLINE
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>
#include <simde/x86/f16c.h>
#include <simde/x86/fma.h>

#define EMULATED static __attribute__((noinline, unused))

typedef union emulated {
  __m512 floats;
  __m512d doubles;
  __m512i whole;
  __m256 half;
  __m256d half_doubles;
  __m256i half_whole[2];
  float f32[16];
  double f64[8];
  uint8_t u8[64];
  uint16_t u16[32];
  uint32_t u32[16];
  int32_t i32[16];
  int64_t i64[8];
  uint64_t u64[8];
} emulated;

#define EMULATED_ON(mask, k) (((uint64_t)(mask) >> (k)) & 1u)
/* r's lanes are `value`, in which k counts them. */
#define EMULATED_LANES(n, lane, value) \
  for (int k = 0; k < (n); ++k) r.lane[k] = (value)

/* ---- conversions ---- */
EMULATED __m512d emulated_ps_pd(__mmask8 mask, __m256 a) {
  const emulated x = {.half = a};
  emulated r;
  EMULATED_LANES(8, f64, EMULATED_ON(mask, k) ? (double)x.f32[k] : 0.0);
  return r.doubles;
}
EMULATED __m256 emulated_pd_ps(__m512d a) {
  const emulated x = {.doubles = a};
  emulated r;
  EMULATED_LANES(8, f32, (float)x.f64[k]);
  return r.half;
}
/* To the nearest, ties to even; what does not fit is the least integer. */
EMULATED int32_t emulated_integer(float x) { return x >= -0x1p31f && x < 0x1p31f ? (int32_t)rintf(x) : INT32_MIN; }
EMULATED __m512i emulated_ps_epi32(__mmask16 mask, __m512 a) {
  const emulated x = {.floats = a};
  emulated r;
  EMULATED_LANES(16, i32, EMULATED_ON(mask, k) ? emulated_integer(x.f32[k]) : 0);
  return r.whole;
}
EMULATED __m512i emulated_toward_zero_epi32(__m512 a) {
  const emulated x = {.floats = a};
  emulated r;
  EMULATED_LANES(16, i32, x.f32[k] >= -0x1p31f && x.f32[k] < 0x1p31f ? (int32_t)x.f32[k] : INT32_MIN);
  return r.whole;
}
EMULATED __m512i emulated_toward_zero_epi64(__m512d a) {
  const emulated x = {.doubles = a};
  emulated r;
  EMULATED_LANES(8, i64, x.f64[k] >= -0x1p63 && x.f64[k] < 0x1p63 ? (int64_t)x.f64[k] : INT64_MIN);
  return r.whole;
}
EMULATED __m512 emulated_epi32_ps(__m512i a) {
  const emulated x = {.whole = a};
  emulated r;
  EMULATED_LANES(16, f32, (float)x.i32[k]);
  return r.floats;
}
EMULATED __m512d emulated_epi32_pd(__m256i a) {
  const emulated x = {.half_whole = {a}};
  emulated r;
  EMULATED_LANES(8, f64, (double)x.i32[k]);
  return r.doubles;
}
EMULATED __m512d emulated_epi64_pd(__m512i a) {
  const emulated x = {.whole = a};
  emulated r;
  EMULATED_LANES(8, f64, (double)x.i64[k]);
  return r.doubles;
}
EMULATED __m512 emulated_ph_ps(__m256i a) {
  emulated r;
  const __m256 low = _mm256_cvtph_ps(_mm256_castsi256_si128(a));
  const __m256 high = _mm256_cvtph_ps(_mm256_extracti128_si256(a, 1));
  memcpy(r.f32, &low, sizeof low);
  memcpy(r.f32 + 8, &high, sizeof high);
  return r.floats;
}
EMULATED __m256i emulated_ps_ph(__m512 a) {
  const emulated x = {.floats = a};
  const __m128i low = _mm256_cvtps_ph(_mm256_loadu_ps(x.f32), _MM_FROUND_TO_NEAREST_INT);
  const __m128i high = _mm256_cvtps_ph(_mm256_loadu_ps(x.f32 + 8), _MM_FROUND_TO_NEAREST_INT);
  return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}
EMULATED double emulated_first(__m512d a) {
  const emulated x = {.doubles = a};
  return x.f64[0];
}
EMULATED __m256 emulated_part(__m512 a, int upper) {
  const emulated x = {.floats = a};
  return _mm256_loadu_ps(x.f32 + (upper ? 8 : 0));
}
#undef _mm512_cvtps_pd
#undef _mm512_maskz_cvtps_pd
#undef _mm512_cvtpd_ps
#undef _mm512_cvtps_epi32
#undef _mm512_maskz_cvtps_epi32
#undef _mm512_cvttps_epi32
#undef _mm512_cvttpd_epi64
#undef _mm512_cvtepi32_ps
#undef _mm512_cvtepi32_pd
#undef _mm512_cvtepi64_pd
#undef _mm512_cvtph_ps
#undef _mm512_cvtps_ph
#undef _mm512_cvtsd_f64
#undef _mm512_extractf32x8_ps
#define _mm512_cvtps_pd(a) emulated_ps_pd(0xff, a)
#define _mm512_maskz_cvtps_pd(mask, a) emulated_ps_pd(mask, a)
#define _mm512_cvtpd_ps(a) emulated_pd_ps(a)
#define _mm512_cvtps_epi32(a) emulated_ps_epi32(0xffff, a)
#define _mm512_maskz_cvtps_epi32(mask, a) emulated_ps_epi32(mask, a)
#define _mm512_cvttps_epi32(a) emulated_toward_zero_epi32(a)
#define _mm512_cvttpd_epi64(a) emulated_toward_zero_epi64(a)
#define _mm512_cvtepi32_ps(a) emulated_epi32_ps(a)
#define _mm512_cvtepi32_pd(a) emulated_epi32_pd(a)
#define _mm512_cvtepi64_pd(a) emulated_epi64_pd(a)
#define _mm512_cvtph_ps(a) emulated_ph_ps(a)
#define _mm512_cvtps_ph(a, rounding) emulated_ps_ph(a)
#define _mm512_cvtsd_f64(a) emulated_first(a)
#define _mm512_extractf32x8_ps(a, upper) emulated_part(a, upper)

/* ---- parts of numbers ---- */
enum { EMULATED_HALVES_TO_THREE_HALVES = 3 }; /* the interval [0.75, 1.5) */
/* The mantissa in [1, 2), [0.5, 2), [0.5, 1) or [0.75, 1.5); `sign`: 1 drops it, 2 makes a negative number NaN. */
EMULATED double emulated_mantissa(double x, int interval, int sign) {
  if (x != x || ((sign & 2) != 0 && x < 0)) return NAN;
  const double size = fabs(x);
  int exponent = 1;
  double mantissa = size == 0 || isinf(size) ? 1.0 : 2 * frexp(size, &exponent);
  const int odd = (exponent - 1) & 1;
  if (size != 0 && !isinf(size)) {
    if (interval == 2 || (interval == 1 && odd)) mantissa /= 2;
    if (interval == EMULATED_HALVES_TO_THREE_HALVES && mantissa >= 1.5) mantissa /= 2;
  }
  return (sign & 1) == 0 && signbit(x) ? -mantissa : mantissa;
}
EMULATED double emulated_exponent(double x) {
  if (x != x) return x;
  if (isinf(x)) return INFINITY;
  return x == 0 ? -INFINITY : (double)ilogb(x);
}
EMULATED __m512 emulated_mantissa_ps(__m512 a, int interval, int sign) {
  const emulated x = {.floats = a};
  emulated r;
  EMULATED_LANES(16, f32, (float)emulated_mantissa(x.f32[k], interval, sign));
  return r.floats;
}
EMULATED __m512d emulated_mantissa_pd(__m512d a, int interval, int sign) {
  const emulated x = {.doubles = a};
  emulated r;
  EMULATED_LANES(8, f64, emulated_mantissa(x.f64[k], interval, sign));
  return r.doubles;
}
EMULATED __m512 emulated_exponent_ps(__m512 a) {
  const emulated x = {.floats = a};
  emulated r;
  EMULATED_LANES(16, f32, (float)emulated_exponent(x.f32[k]));
  return r.floats;
}
EMULATED __m512d emulated_exponent_pd(__m512d a) {
  const emulated x = {.doubles = a};
  emulated r;
  EMULATED_LANES(8, f64, emulated_exponent(x.f64[k]));
  return r.doubles;
}
/* x times 2 to the floor of n, rounded once. */
EMULATED double emulated_scale(double x, double n) {
  if (x != x || n != n) return x + n;
  if (isinf(n)) return n > 0 ? (x == 0 ? NAN : copysign(INFINITY, x)) : (isinf(x) ? NAN : copysign(0, x));
  return scalbn(x, (int)fmax(-5000, fmin(5000, floor(n))));
}
EMULATED __m512 emulated_scale_ps(__mmask16 mask, __m512 a, __m512 n) {
  const emulated x = {.floats = a}, powers = {.floats = n};
  emulated r;
  EMULATED_LANES(16, f32, EMULATED_ON(mask, k) ? (float)emulated_scale(x.f32[k], powers.f32[k]) : 0.0f);
  return r.floats;
}
EMULATED __m512d emulated_scale_pd(__mmask8 mask, __m512d a, __m512d n) {
  const emulated x = {.doubles = a}, powers = {.doubles = n};
  emulated r;
  EMULATED_LANES(8, f64, EMULATED_ON(mask, k) ? emulated_scale(x.f64[k], powers.f64[k]) : 0.0);
  return r.doubles;
}
/* Classes: 1 quiet NaN, 2 and 4 the zeros, 8 and 16 the infinities, 32 subnormal, 64 negative, 128 signalling NaN. */
EMULATED int emulated_class(uint32_t bits) {
  const uint32_t exponent = bits >> 23 & 0xff, fraction = bits & 0x7fffff, negative = bits >> 31;
  if (exponent == 0xff) return fraction == 0 ? (negative ? 16 : 8) : (fraction >> 22 ? 1 : 128);
  const int kind = exponent != 0 ? 0 : fraction != 0 ? 32 : negative ? 4 : 2;
  return kind | (negative && (exponent | fraction) != 0 ? 64 : 0);
}
EMULATED __mmask16 emulated_class_ps(__m512 a, int classes) {
  const emulated x = {.floats = a};
  unsigned mask = 0;
  for (int k = 0; k < 16; ++k) mask |= (unsigned)((emulated_class(x.u32[k]) & classes) != 0) << k;
  return (__mmask16)mask;
}
/* What the table says of the class of `key`, four bits each: the two NaNs, zero, one, -inf, inf, less than zero, more.
 */
EMULATED float emulated_fixed(float x, uint32_t bits, int32_t table) {
  const int kind = emulated_class(bits);
  float key;
  memcpy(&key, &bits, sizeof key);
  const int place = kind & 1     ? 0
                    : kind & 128 ? 1
                    : kind & 6   ? 2
                    : key == 1   ? 3
                    : kind & 16  ? 4
                    : kind & 8   ? 5
                    : key < 0    ? 6
                                 : 7;
  const float answers[16] = {
      x,    key,   key + key, -NAN, -INFINITY, INFINITY,    copysignf(INFINITY, key), -0.0f,
      0.0f, -1.0f, 1.0f,      0.5f, 90,        1.57079633f, 0x1.fffffep+127f,         -0x1.fffffep+127f};
  return answers[(uint32_t)table >> 4 * place & 15];
}
EMULATED __m512 emulated_fix(__m512 a, __m512 keys, __m512i tables) {
  const emulated x = {.floats = a}, key = {.floats = keys}, table = {.whole = tables};
  emulated r;
  EMULATED_LANES(16, f32, emulated_fixed(x.f32[k], key.u32[k], table.i32[k]));
  return r.floats;
}
#undef _mm512_fixupimm_ps
#undef _mm512_scalef_ps
#undef _mm512_scalef_pd
#undef _mm512_maskz_scalef_ps
#undef _mm512_maskz_scalef_pd
#undef _mm512_getmant_ps
#undef _mm512_getmant_pd
#undef _mm512_getexp_ps
#undef _mm512_getexp_pd
#undef _mm512_fpclass_ps_mask
#define _mm512_fixupimm_ps(a, keys, tables, flags) emulated_fix(a, keys, tables)
#define _mm512_scalef_ps(a, n) emulated_scale_ps(0xffff, a, n)
#define _mm512_scalef_pd(a, n) emulated_scale_pd(0xff, a, n)
#define _mm512_maskz_scalef_ps(mask, a, n) emulated_scale_ps(mask, a, n)
#define _mm512_maskz_scalef_pd(mask, a, n) emulated_scale_pd(mask, a, n)
#define _mm512_getmant_ps(a, interval, sign) emulated_mantissa_ps(a, interval, sign)
#define _mm512_getmant_pd(a, interval, sign) emulated_mantissa_pd(a, interval, sign)
#define _mm512_getexp_ps(a) emulated_exponent_ps(a)
#define _mm512_getexp_pd(a) emulated_exponent_pd(a)
#define _mm512_fpclass_ps_mask(a, classes) emulated_class_ps(a, classes)

/* ---- words ---- */
EMULATED __mmask32 emulated_greater_words(__m512i a, __m512i b) {
  const emulated x = {.whole = a}, y = {.whole = b};
  uint32_t mask = 0;
  for (int k = 0; k < 32; ++k) mask |= (uint32_t)(x.u16[k] > y.u16[k]) << k;
  return mask;
}
EMULATED __mmask32 emulated_no_common_bit(__m512i a, __m512i b) {
  const emulated x = {.whole = a}, y = {.whole = b};
  uint32_t mask = 0;
  for (int k = 0; k < 32; ++k) mask |= (uint32_t)((x.u16[k] & y.u16[k]) == 0) << k;
  return mask;
}
EMULATED __m512i emulated_subtract_words(__m512i otherwise, __mmask32 mask, __m512i a, __m512i b) {
  const emulated x = {.whole = a}, y = {.whole = b};
  emulated r = {.whole = otherwise};
  EMULATED_LANES(32, u16, EMULATED_ON(mask, k) ? (uint16_t)(x.u16[k] - y.u16[k]) : r.u16[k]);
  return r.whole;
}
EMULATED __m512 emulated_permute_ps(__m512 a, int order) {
  const emulated x = {.floats = a};
  emulated r;
  EMULATED_LANES(16, f32, x.f32[(k & ~3) + (order >> 2 * (k & 3) & 3)]);
  return r.floats;
}
/* Two of the first one's quarters, two of the other's. */
EMULATED __m512d emulated_quarters(__m512d a, __m512d b, int order) {
  const emulated x = {.doubles = a}, y = {.doubles = b};
  emulated r;
  EMULATED_LANES(8, f64, (k < 4 ? x : y).f64[2 * (order >> 2 * (k / 2) & 3) + k % 2]);
  return r.doubles;
}
#undef _mm512_shuffle_f32x4
#undef _mm512_shuffle_f64x2
#define _mm512_shuffle_f64x2(a, b, order) emulated_quarters(a, b, order)
#define _mm512_shuffle_f32x4(a, b, order) \
  _mm512_castpd_ps(emulated_quarters(_mm512_castps_pd(a), _mm512_castps_pd(b), order))
#undef _mm512_cmpgt_epu16_mask
#undef _mm512_testn_epi16_mask
#undef _mm512_mask_testn_epi16_mask
#undef _mm512_mask_sub_epi16
#undef _mm512_permute_ps
#define _mm512_cmpgt_epu16_mask(a, b) emulated_greater_words(a, b)
#define _mm512_testn_epi16_mask(a, b) emulated_no_common_bit(a, b)
#define _mm512_mask_testn_epi16_mask(mask, a, b) (emulated_no_common_bit(a, b) & (mask))
#define _mm512_mask_sub_epi16(otherwise, mask, a, b) emulated_subtract_words(otherwise, mask, a, b)
#define _mm512_permute_ps(a, order) emulated_permute_ps(a, order)

/* ---- memory: what the mask leaves out is not touched ---- */
#define EMULATED_LOAD(name, vector, member, lane, count, item)                           \
  EMULATED vector name(vector otherwise, uint32_t mask, const void *at) {                \
    emulated r = {.member = otherwise};                                                  \
    for (int k = 0; k < (count); ++k) {                                                  \
      if (EMULATED_ON(mask, k)) memcpy(&r.lane[k], (const char *)at + k * (item), item); \
    }                                                                                    \
    return r.member;                                                                     \
  }
#define EMULATED_STORE(name, vector, member, lane, count, item)                    \
  EMULATED void name(void *at, uint64_t mask, vector value) {                      \
    const emulated x = {.member = value};                                          \
    for (int k = 0; k < (count); ++k) {                                            \
      if (EMULATED_ON(mask, k)) memcpy((char *)at + k * (item), &x.lane[k], item); \
    }                                                                              \
  }
EMULATED_LOAD(emulated_load_ps, __m512, floats, f32, 16, 4)
EMULATED_LOAD(emulated_load_pd, __m512d, doubles, f64, 8, 8)
EMULATED_LOAD(emulated_load_half_ps, __m256, half, f32, 8, 4)
EMULATED_LOAD(emulated_load_words, __m512i, whole, u16, 32, 2)
EMULATED_LOAD(emulated_load_half_words, __m256i, half_whole[0], u16, 16, 2)
EMULATED_STORE(emulated_store_ps, __m512, floats, f32, 16, 4)
EMULATED_STORE(emulated_store_pd, __m512d, doubles, f64, 8, 8)
EMULATED_STORE(emulated_store_words, __m512i, whole, u16, 32, 2)
EMULATED_STORE(emulated_store_half_words, __m256i, half_whole[0], u16, 16, 2)
EMULATED_STORE(emulated_store_bytes, __m512i, whole, u8, 64, 1)
/* Past the caches: a wrong alignment ends the program, as it would. */
EMULATED void emulated_stream(void *at, const void *value) {
  if ((uintptr_t)at % 64 != 0) __builtin_trap();
  memcpy(at, value, 64);
}
EMULATED void emulated_stream_whole(void *at, __m512i value) { emulated_stream(at, &value); }
EMULATED void emulated_stream_ps(void *at, __m512 value) { emulated_stream(at, &value); }
EMULATED void emulated_stream_pd(void *at, __m512d value) { emulated_stream(at, &value); }
#undef _mm512_mask_loadu_ps
#undef _mm512_mask_loadu_pd
#undef _mm512_maskz_loadu_epi16
#undef _mm256_maskz_loadu_ps
#undef _mm256_maskz_loadu_epi16
#undef _mm_maskz_loadu_epi16
#undef _mm512_mask_storeu_ps
#undef _mm512_mask_storeu_pd
#undef _mm512_mask_storeu_epi8
#undef _mm512_mask_storeu_epi16
#undef _mm256_mask_storeu_epi16
#undef _mm512_stream_si512
#undef _mm512_stream_ps
#undef _mm512_stream_pd
#define _mm512_mask_loadu_ps(otherwise, mask, at) emulated_load_ps(otherwise, mask, at)
#define _mm512_mask_loadu_pd(otherwise, mask, at) emulated_load_pd(otherwise, mask, at)
#define _mm512_maskz_loadu_epi16(mask, at) emulated_load_words(_mm512_setzero_si512(), mask, at)
#define _mm256_maskz_loadu_ps(mask, at) emulated_load_half_ps(_mm256_setzero_ps(), mask, at)
#define _mm256_maskz_loadu_epi16(mask, at) emulated_load_half_words(_mm256_setzero_si256(), mask, at)
#define _mm_maskz_loadu_epi16(mask, at) _mm256_castsi256_si128(_mm256_maskz_loadu_epi16(mask, at))
#define _mm512_mask_storeu_ps(at, mask, value) emulated_store_ps(at, mask, value)
#define _mm512_mask_storeu_pd(at, mask, value) emulated_store_pd(at, mask, value)
#define _mm512_mask_storeu_epi8(at, mask, value) emulated_store_bytes(at, mask, value)
#define _mm512_mask_storeu_epi16(at, mask, value) emulated_store_words(at, mask, value)
#define _mm256_mask_storeu_epi16(at, mask, value) emulated_store_half_words(at, mask, value)
#define _mm512_stream_si512(at, value) emulated_stream_whole(at, value)
#define _mm512_stream_ps(at, value) emulated_stream_ps(at, value)
#define _mm512_stream_pd(at, value) emulated_stream_pd(at, value)

/* ---- across the lanes: halves are put together until one is left, as compilers do ---- */
#define EMULATED_ACROSS(name, vector, member, real, lane, count, one) \
  EMULATED real name(vector a) {                                      \
    emulated x = {.member = a};                                       \
    for (int n = (count) / 2; n >= 1; n /= 2) {                       \
      for (int k = 0; k < n; ++k) {                                   \
        const real low = x.lane[k], high = x.lane[k + n];             \
        x.lane[k] = one;                                              \
      }                                                               \
    }                                                                 \
    return x.lane[0];                                                 \
  }
EMULATED_ACROSS(emulated_sum_ps, __m512, floats, float, f32, 16, high + low)
EMULATED_ACROSS(emulated_sum_pd, __m512d, doubles, double, f64, 8, high + low)
EMULATED_ACROSS(emulated_largest_ps, __m512, floats, float, f32, 16, high > low ? high : low)
EMULATED_ACROSS(emulated_largest_pd, __m512d, doubles, double, f64, 8, high > low ? high : low)
#undef _mm512_reduce_add_ps
#undef _mm512_reduce_add_pd
#undef _mm512_reduce_max_ps
#undef _mm512_reduce_max_pd
#define _mm512_reduce_add_ps(a) emulated_sum_ps(a)
#define _mm512_reduce_add_pd(a) emulated_sum_pd(a)
#define _mm512_reduce_max_ps(a) emulated_largest_ps(a)
#define _mm512_reduce_max_pd(a) emulated_largest_pd(a)

/* ---- what the kernels say in assembly: AVX-512-BF16 and AVX-512-VBMI ---- */
/* Subnormal floats become zero. */
EMULATED uint16_t emulated_bfloat(uint32_t bits) {
  const uint32_t exponent = bits >> 23 & 0xff;
  if (exponent == 0) return (uint16_t)(bits >> 16 & 0x8000);
  if (exponent == 0xff && (bits & 0x7fffff) != 0) return (uint16_t)(bits >> 16 | 0x40);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
EMULATED __m512i emulated_bfloats(__m512 low, __m512 high) {
  const emulated x = {.floats = low}, y = {.floats = high};
  emulated r;
  EMULATED_LANES(32, u16, emulated_bfloat(k < 16 ? x.u32[k] : y.u32[k - 16]));
  return r.whole;
}
/* Eight bits of the same eight bytes of `from`, from the place in `by` on. */
EMULATED __m512i emulated_shift_bytes(__m512i into, __mmask64 where, __m512i from, __m512i by) {
  const emulated x = {.whole = from}, places = {.whole = by};
  emulated r = {.whole = into};
  for (int k = 0; k < 64; ++k) {
    const uint64_t word = x.u64[k / 8];
    const unsigned place = places.u8[k] % 64;
    if (EMULATED_ON(where, k)) r.u8[k] = (uint8_t)(place == 0 ? word : word >> place | word << (64 - place));
  }
  return r.whole;
}
EMULATED __m512i emulated_permute_bytes(__m512i order, __m512i a) {
  const emulated x = {.whole = a}, places = {.whole = order};
  emulated r;
  EMULATED_LANES(64, u8, x.u8[places.u8[k] % 64]);
  return r.whole;
}

#endif
