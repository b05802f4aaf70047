/* SPDX-License-Identifier: Apache-2.0
 * Vector vocabulary for arm64 (NEON, the baseline there): 4 floats, 2 doubles. See isa.h for the names.
 */
#ifndef ACLPY_SIMD_NEON_H
#define ACLPY_SIMD_NEON_H

#include <arm_neon.h>

typedef float32x4_t v32;
typedef float64x2_t v64;
enum { v32_LANES = 4, v64_LANES = 2 };

ACLPY_INLINE v32 v32_set1(float x) { return vdupq_n_f32(x); }
ACLPY_INLINE v32 v32_load(const float *p) { return vld1q_f32(p); }
ACLPY_INLINE void v32_store(float *p, v32 v) { vst1q_f32(p, v); }
ACLPY_INLINE v32 v32_add(v32 a, v32 b) { return vaddq_f32(a, b); }
ACLPY_INLINE v32 v32_sub(v32 a, v32 b) { return vsubq_f32(a, b); }
ACLPY_INLINE v32 v32_mul(v32 a, v32 b) { return vmulq_f32(a, b); }
ACLPY_INLINE v32 v32_div(v32 a, v32 b) { return vdivq_f32(a, b); }
ACLPY_INLINE v32 v32_max(v32 a, v32 b) { return vmaxq_f32(a, b); }
ACLPY_INLINE v32 v32_min(v32 a, v32 b) { return vminq_f32(a, b); }
ACLPY_INLINE v32 v32_fma(v32 a, v32 b, v32 c) { return vfmaq_f32(c, a, b); }
ACLPY_INLINE v32 v32_fnma(v32 a, v32 b, v32 c) { return vfmsq_f32(c, a, b); }
ACLPY_INLINE float v32_hsum(v32 v) { return vaddvq_f32(v); }
ACLPY_INLINE float v32_hmax(v32 v) { return vmaxvq_f32(v); }

ACLPY_INLINE v64 v64_set1(double x) { return vdupq_n_f64(x); }
ACLPY_INLINE v64 v64_load(const double *p) { return vld1q_f64(p); }
ACLPY_INLINE void v64_store(double *p, v64 v) { vst1q_f64(p, v); }
ACLPY_INLINE v64 v64_add(v64 a, v64 b) { return vaddq_f64(a, b); }
ACLPY_INLINE v64 v64_sub(v64 a, v64 b) { return vsubq_f64(a, b); }
ACLPY_INLINE v64 v64_mul(v64 a, v64 b) { return vmulq_f64(a, b); }
ACLPY_INLINE v64 v64_div(v64 a, v64 b) { return vdivq_f64(a, b); }
ACLPY_INLINE v64 v64_max(v64 a, v64 b) { return vmaxq_f64(a, b); }
ACLPY_INLINE v64 v64_min(v64 a, v64 b) { return vminq_f64(a, b); }
ACLPY_INLINE v64 v64_fma(v64 a, v64 b, v64 c) { return vfmaq_f64(c, a, b); }
ACLPY_INLINE v64 v64_fnma(v64 a, v64 b, v64 c) { return vfmsq_f64(c, a, b); }
ACLPY_INLINE double v64_hsum(v64 v) { return vaddvq_f64(v); }
ACLPY_INLINE double v64_hmax(v64 v) { return vmaxvq_f64(v); }
ACLPY_INLINE double v64_first(v64 v) { return vgetq_lane_f64(v, 0); }

/* The lower and upper half of the lanes as doubles. */
ACLPY_INLINE v64 v32_widen_low(v32 v) { return vcvt_f64_f32(vget_low_f32(v)); }
ACLPY_INLINE v64 v32_widen_high(v32 v) { return vcvt_high_f64_f32(v); }

/* The same value, of which the compiler does not know where it came from. */
ACLPY_INLINE v32 v32_in_register(v32 v) {
  __asm__("" : "+w"(v));
  return v;
}

/* Bit by bit: a or b or c; 1 where the three are not all equal. */
ACLPY_INLINE v32 aclpy_bits_(uint32x4_t v) { return vreinterpretq_f32_u32(v); }
ACLPY_INLINE uint32x4_t aclpy_of_bits_(v32 v) { return vreinterpretq_u32_f32(v); }
ACLPY_INLINE v32 v32_bits_or(v32 a, v32 b, v32 c) {
  return aclpy_bits_(vorrq_u32(aclpy_of_bits_(a), vorrq_u32(aclpy_of_bits_(b), aclpy_of_bits_(c))));
}
ACLPY_INLINE v32 v32_bits_unlike(v32 a, v32 b, v32 c) {
  const uint32x4_t same = aclpy_of_bits_(c);
  return aclpy_bits_(vorrq_u32(veorq_u32(aclpy_of_bits_(a), same), veorq_u32(aclpy_of_bits_(b), same)));
}
/* Whether any lane has a sign or exponent bit. */
ACLPY_INLINE int v32_bits_sized(v32 v) {
  return vmaxvq_u32(vandq_u32(aclpy_of_bits_(v), vdupq_n_u32(0xff800000u))) != 0;
}

#include "narrow_lanes.h"

/* 2^n from n + 1.5 * 2^23 (2^52): its low bits are n, which the shift moves into the exponent of 1.0. */
ACLPY_INLINE v32 aclpy_pow2_32_(v32 shifted) {
  return vreinterpretq_f32_s32(vaddq_s32(vshlq_n_s32(vreinterpretq_s32_f32(shifted), 23), vdupq_n_s32(0x3f800000)));
}
ACLPY_INLINE v64 aclpy_pow2_64_(v64 shifted) {
  return vreinterpretq_f64_s64(
      vaddq_s64(vshlq_n_s64(vreinterpretq_s64_f64(shifted), 52), vdupq_n_s64(0x3ff0000000000000)));
}
/* p * 2^n, rounded once (subnormal and infinite results too); n integral, shifted = n + the rounding constant.
 * Far exponents go in two exact halves; they are rare, and a branch costs less than the second multiplication. */
ACLPY_INLINE v32 v32_scale(v32 p, v32 shifted, v32 n) {
  if (ACLPY_LIKELY(vmaxvq_u32(vcagtq_f32(n, v32_set1(125.0f))) == 0)) return v32_mul(p, aclpy_pow2_32_(shifted));
  const v32 magic = v32_set1(0x1.8p23f);
  const v32 half = v32_fma(n, v32_set1(0.5f), magic);
  const v32 rest = v32_add(v32_sub(n, v32_sub(half, magic)), magic);
  return v32_mul(v32_mul(p, aclpy_pow2_32_(half)), aclpy_pow2_32_(rest));
}
ACLPY_INLINE v64 v64_scale(v64 p, v64 shifted, v64 n) {
  const uint32x4_t far = vreinterpretq_u32_u64(vcagtq_f64(n, v64_set1(1021.0)));
  if (ACLPY_LIKELY(vmaxvq_u32(far) == 0)) return v64_mul(p, aclpy_pow2_64_(shifted));
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
  const int32x4_t exponent = vshlq_n_s32(vreinterpretq_s32_f32(shifted), 23);
  return vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(p), exponent));
}
ACLPY_INLINE v64 v64_scale_normal(v64 p, v64 shifted) {
  const int64x2_t exponent = vshlq_n_s64(vreinterpretq_s64_f64(shifted), 52);
  return vreinterpretq_f64_s64(vaddq_s64(vreinterpretq_s64_f64(p), exponent));
}

/* Whether four vectors hold numbers of a size of at most 86, of doubles 600: the largest of a NaN is NaN here. */
#define ACLPY_LOOKS 1
ACLPY_INLINE int v32_quad_near(const v32 *v) {
  const v32 a = vmaxq_f32(vabsq_f32(v[0]), vabsq_f32(v[1])), b = vmaxq_f32(vabsq_f32(v[2]), vabsq_f32(v[3]));
  return vmaxvq_f32(vmaxq_f32(a, b)) <= 86.0f;
}
ACLPY_INLINE int v64_quad_near(const v64 *v) {
  const v64 a = vmaxq_f64(vabsq_f64(v[0]), vabsq_f64(v[1])), b = vmaxq_f64(vabsq_f64(v[2]), vabsq_f64(v[3]));
  return vmaxvq_f64(vmaxq_f64(a, b)) <= 600.0;
}
ACLPY_INLINE int v32_quad_below(const v32 *v) { return v32_quad_near(v); }

/* Exponent of a positive normal number, and its significand in [1, 2). */
ACLPY_INLINE v64 v64_exponent(v64 x) {
  const int64x2_t field = vreinterpretq_s64_u64(vshrq_n_u64(vreinterpretq_u64_f64(x), 52));
  return vcvtq_f64_s64(vsubq_s64(field, vdupq_n_s64(1023)));
}
ACLPY_INLINE v64 v64_significand(v64 x) {
  const uint64x2_t low = vandq_u64(vreinterpretq_u64_f64(x), vdupq_n_u64(0x000fffffffffffff));
  return vreinterpretq_f64_u64(vorrq_u64(low, vdupq_n_u64(0x3ff0000000000000)));
}
/* a where x > limit, else b. */
ACLPY_INLINE v32 v32_pick_greater(v32 x, v32 limit, v32 a, v32 b) { return vbslq_f32(vcgtq_f32(x, limit), a, b); }
ACLPY_INLINE v32 v32_larger(v32 a, v32 b) { return v32_pick_greater(a, b, a, b); }
ACLPY_INLINE v32 v32_smaller(v32 a, v32 b) { return v32_pick_greater(b, a, a, b); }
ACLPY_INLINE int v32_any_greater(v32 x, v32 limit) { return vmaxvq_u32(vcgtq_f32(x, limit)) != 0; }
ACLPY_INLINE v64 v64_pick_greater(v64 x, v64 limit, v64 a, v64 b) { return vbslq_f64(vcgtq_f64(x, limit), a, b); }

ACLPY_INLINE v32 ld_f32(const float *p) { return v32_load(p); }
ACLPY_INLINE void st_f32(float *p, v32 v) { v32_store(p, v); }
ACLPY_INLINE v64 ld_f64(const double *p) { return v64_load(p); }
ACLPY_INLINE void st_f64(double *p, v64 v) { v64_store(p, v); }

ACLPY_INLINE v32 ld_f16(const uint16_t *p) { return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p))); }
ACLPY_INLINE void st_f16(uint16_t *p, v32 v) { vst1_u16(p, vreinterpret_u16_f16(vcvt_f16_f32(v))); }
ACLPY_INLINE v32 ld_bf16(const uint16_t *p) { return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(p), 16)); }
ACLPY_INLINE void st_bf16(uint16_t *p, v32 v) {
  const uint32x4_t bits = vreinterpretq_u32_f32(v);
  const uint32x4_t high = vshrq_n_u32(bits, 16);
  const uint32x4_t odd = vandq_u32(high, vdupq_n_u32(1));
  const uint32x4_t rounded = vshrq_n_u32(vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0x7fff)), odd), 16);
  const uint32x4_t quiet = vorrq_u32(high, vdupq_n_u32(0x40));
  vst1_u16(p, vmovn_u32(vbslq_u32(vceqq_f32(v, v), rounded, quiet)));
}

/* NEON has no non-temporal vector store worth the name. */
ACLPY_INLINE void nt_f32(float *p, v32 v) { st_f32(p, v); }
ACLPY_INLINE void nt_f64(double *p, v64 v) { st_f64(p, v); }
ACLPY_INLINE void nt_f16(uint16_t *p, v32 v) { st_f16(p, v); }
ACLPY_INLINE void nt_bf16(uint16_t *p, v32 v) { st_bf16(p, v); }
ACLPY_INLINE void aclpy_stream_fence(void) {}
ACLPY_INLINE void aclpy_pace(void) {}

#endif
