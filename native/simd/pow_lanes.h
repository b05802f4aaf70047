/* SPDX-License-Identifier: Apache-2.0
 * What pow_f32.h and log_f32.h are written with, by ISA: floats split, looked up, scaled, and the edges that C's pow
 * has.
 *
 * The same bits everywhere for positive finite numbers and their edges. Others may be split into anything.
 */
#ifndef ACLPY_SIMD_POW_LANES_H
#define ACLPY_SIMD_POW_LANES_H

#include "isa.h"

/* Numbers c about 1/m for the 32 leading bits of m, and -log2 c. */
static const _Alignas(64) float aclpy_power_inverse_[32] = {
    0x1.f81f5ep-1f, 0x1.e9234ap-1f, 0x1.dacf38p-1f, 0x1.cd9e30p-1f, 0x1.c0cea0p-1f, 0x1.b4dd4cp-1f, 0x1.a97dd2p-1f,
    0x1.9eb558p-1f, 0x1.947e5ep-1f, 0x1.8ab28ap-1f, 0x1.819744p-1f, 0x1.789b58p-1f, 0x1.701fbcp-1f, 0x1.6801dep-1f,
    0x1.60445ap-1f, 0x1.58e3dap-1f, 0x1.51eaecp-1f, 0x1.4b0176p-1f, 0x1.446c7ep-1f, 0x1.3e06cep-1f, 0x1.3816b6p-1f,
    0x1.3243d4p-1f, 0x1.2ca7a0p-1f, 0x1.2740e8p-1f, 0x1.21e354p-1f, 0x1.1cf388p-1f, 0x1.181028p-1f, 0x1.135f52p-1f,
    0x1.0ec932p-1f, 0x1.0a763ap-1f, 0x1.061eeep-1f, 0x1.01fec0p-1f};
static const _Alignas(64) float aclpy_power_log_[32] = {
    0x1.6e8000p-6f, 0x1.0df000p-4f, 0x1.bda000p-4f, 0x1.321000p-3f, 0x1.853800p-3f, 0x1.d4e800p-3f, 0x1.116c00p-2f,
    0x1.375800p-2f, 0x1.5c3000p-2f, 0x1.806800p-2f, 0x1.a2e400p-2f, 0x1.c5b800p-2f, 0x1.e76000p-2f, 0x1.042800p-1f,
    0x1.143600p-1f, 0x1.23d800p-1f, 0x1.32ee00p-1f, 0x1.423200p-1f, 0x1.510800p-1f, 0x1.5fbe00p-1f, 0x1.6daa00p-1f,
    0x1.7b9400p-1f, 0x1.893c00p-1f, 0x1.96a000p-1f, 0x1.a42c00p-1f, 0x1.b0dc00p-1f, 0x1.bda400p-1f, 0x1.ca1e00p-1f,
    0x1.d68600p-1f, 0x1.e26a00p-1f, 0x1.ee8c00p-1f, 0x1.fa4400p-1f};

#if ACLPY_ISA_RANK == 3
/* What C's pow gives for the classes of x, four bits each: the two NaNs, zero, one, -inf, inf, less than zero, more. */
enum { ACLPY_EDGES_UP_ = 0x03550822, ACLPY_EDGES_DOWN_ = 0x03880522 };

typedef __m512i v32_row;
ACLPY_INLINE v32 v32_fms_(v32 a, v32 b, v32 c) { return _mm512_fmsub_ps(a, b, c); }
ACLPY_INLINE v32 v32_split_(v32 x, v32 *m) {
  *m = _mm512_getmant_ps(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero);
  return _mm512_getexp_ps(x);
}
ACLPY_INLINE v32_row v32_row_of_(v32 m) { return _mm512_srli_epi32(_mm512_castps_si512(m), 18); }
ACLPY_INLINE v32 v32_look_up_(const float *table, v32_row at) {
  return _mm512_permutex2var_ps(_mm512_load_ps(table), at, _mm512_load_ps(table + 16));
}
/* Whether all are positive, finite and no subnormals. */
ACLPY_INLINE int v32_are_normal_(v32 x) { return _mm512_fpclass_ps_mask(x, 0xff) == 0; }
ACLPY_INLINE v32 v32_scale_any_(v32 p, v32 shifted, v32 n) { return v32_scale(p, shifted, n); }
ACLPY_INLINE v32 v32_power_edges_(v32 power, v32 x, float y) {
  const __m512i edges = _mm512_set1_epi32(y > 0.0f ? ACLPY_EDGES_UP_ : ACLPY_EDGES_DOWN_);
  return _mm512_fixupimm_ps(power, x, edges, 0);
}
#else
#if ACLPY_ISA_RANK == 2
typedef __m256i v32_row;
ACLPY_INLINE v32 v32_fms_(v32 a, v32 b, v32 c) { return _mm256_fmsub_ps(a, b, c); }
ACLPY_INLINE v32 v32_float_(__m256i bits) { return _mm256_castsi256_ps(bits); }
/* Exponent and significand of a positive normal number. */
ACLPY_INLINE v32 v32_split_normal_(v32 x, v32 *m) {
  const __m256i bits = _mm256_castps_si256(x), one = _mm256_set1_epi32(0x3f800000);
  *m = v32_float_(_mm256_or_si256(_mm256_and_si256(bits, _mm256_set1_epi32(0x7fffff)), one));
  return v32_sub(_mm256_cvtepi32_ps(_mm256_srli_epi32(bits, 23)), v32_set1(127.0f));
}
ACLPY_INLINE v32_row v32_row_of_(v32 m) { return _mm256_srli_epi32(_mm256_castps_si256(m), 18); }
/* Of four times eight numbers by the lower bits of the row, then by the two above: some processors gather one by one.
 */
ACLPY_INLINE v32 v32_look_up_(const float *table, v32_row at) {
  const v32 fourth = v32_float_(_mm256_slli_epi32(at, 27)), second = v32_float_(_mm256_slli_epi32(at, 28));
  v32 row[4];
  for (int k = 0; k < 4; ++k) row[k] = _mm256_permutevar8x32_ps(_mm256_load_ps(table + 8 * k), at);
  const v32 low = _mm256_blendv_ps(row[0], row[1], second), high = _mm256_blendv_ps(row[2], row[3], second);
  return _mm256_blendv_ps(low, high, fourth);
}
/* Whether all are finite and above. */
ACLPY_INLINE int v32_are_above_(v32 x, float least) {
  const v32 up = _mm256_cmp_ps(x, v32_set1(least), _CMP_GT_OQ);
  return _mm256_movemask_ps(_mm256_and_ps(up, _mm256_cmp_ps(x, v32_set1(__builtin_inff()), _CMP_LT_OQ))) == 0xff;
}
ACLPY_INLINE v32 v32_or_nan_of_(v32 a, v32 x) {
  return _mm256_blendv_ps(a, v32_add(x, x), _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}
#else
typedef uint32x4_t v32_row;
ACLPY_INLINE v32 v32_fms_(v32 a, v32 b, v32 c) { return vfmaq_f32(vnegq_f32(c), a, b); }
/* Exponent and significand of a positive normal number. */
ACLPY_INLINE v32 v32_split_normal_(v32 x, v32 *m) {
  const uint32x4_t bits = aclpy_of_bits_(x);
  *m = aclpy_bits_(vorrq_u32(vandq_u32(bits, vdupq_n_u32(0x7fffff)), vdupq_n_u32(0x3f800000)));
  return v32_sub(vcvtq_f32_u32(vshrq_n_u32(bits, 23)), v32_set1(127.0f));
}
ACLPY_INLINE v32_row v32_row_of_(v32 m) { return vandq_u32(vshrq_n_u32(aclpy_of_bits_(m), 18), vdupq_n_u32(31)); }
ACLPY_INLINE v32 v32_look_up_(const float *table, v32_row at) {
  const float found[4] = {table[vgetq_lane_u32(at, 0)], table[vgetq_lane_u32(at, 1)], table[vgetq_lane_u32(at, 2)],
                          table[vgetq_lane_u32(at, 3)]};
  return v32_load(found);
}
/* Whether all are finite and above. */
ACLPY_INLINE int v32_are_above_(v32 x, float least) {
  return vminvq_u32(vandq_u32(vcgtq_f32(x, v32_set1(least)), vcltq_f32(x, v32_set1(__builtin_inff())))) != 0;
}
ACLPY_INLINE v32 v32_or_nan_of_(v32 a, v32 x) { return vbslq_f32(vceqq_f32(x, x), a, v32_add(x, x)); }
#endif

ACLPY_INLINE int v32_are_normal_(v32 x) { return v32_are_above_(x, 0x1.fffffcp-127f); }
/* Subnormal numbers are made normal first. */
ACLPY_INLINE v32 v32_split_(v32 x, v32 *m) {
  const v32 least = v32_set1(0x1p-126f);
  const v32 e = v32_split_normal_(v32_pick_greater(least, x, v32_mul(x, v32_set1(0x1p24f)), x), m);
  return v32_sub(e, v32_pick_greater(least, x, v32_set1(24.0f), v32_set1(0.0f)));
}
/* p * 2^n as v32_scale, which takes n up to 250: beyond 160 the result is 0 or infinite anyway. */
ACLPY_INLINE v32 v32_scale_any_(v32 p, v32 shifted, v32 n) {
  (void)shifted;
  const v32 within = v32_min(v32_set1(160.0f), v32_max(v32_set1(-160.0f), n));
  return v32_scale(p, v32_add(within, v32_set1(0x1.8p23f)), within);
}
ACLPY_APART v32 v32_power_unusual_(v32 power, v32 x, float y) {
  const v32 zero = v32_set1(0.0f), infinity = v32_set1(__builtin_inff()), size = v32_larger(v32_sub(zero, x), x);
  const v32 nan = v32_set1(aclpy_f32_from_bits(0xffc00000u)), least = v32_set1(-__builtin_inff());
  v32 r = v32_pick_greater(size, zero, power, y > 0.0f ? zero : infinity);
  r = v32_pick_greater(infinity, size, r, y > 0.0f ? infinity : zero);
  r = v32_pick_greater(zero, x, v32_pick_greater(x, least, nan, r), r);
  return v32_or_nan_of_(r, x);
}
ACLPY_INLINE v32 v32_power_edges_(v32 power, v32 x, float y) {
  return ACLPY_LIKELY(v32_are_above_(x, 0.0f)) ? power : v32_power_unusual_(power, x, y);
}
#endif

#endif
