/* SPDX-License-Identifier: Apache-2.0
 * ln x of floats, where multiply-adds round once.
 *
 * x = m 2^e, m in [0.742, 1.484); of 32 numbers c about 1/m, 1 where m is about 1, one is looked up. -ln c is a
 * multiple of 2^-16 to 2^-32, so that e ln 2 - ln c, whose e ln 2 is in two parts, loses nothing; r = c m - 1, |r|
 * < 1.02 2^-6, and ln(1 + r) = r - r^2/2 + r^3 P(r) to 3e-9. Within 1.2 ulp. A lane's result depends on the lane alone
 * and has the same bits on every such processor and in native/cuda/eltwise.h.
 */
#ifndef ACLPY_SIMD_LOG_F32_H
#define ACLPY_SIMD_LOG_F32_H

#include "pow_f32.h"

#if ACLPY_FUSES

static const _Alignas(64) float aclpy_log_inverse_[32] = {
    0x1.55774cp+0f, 0x1.4dac4cp+0f, 0x1.47d6c4p+0f, 0x1.41f962p+0f, 0x1.3c3818p+0f, 0x1.35c0c0p+0f, 0x1.303762p+0f,
    0x1.2b4c84p+0f, 0x1.25c2c6p+0f, 0x1.1e1064p+0f, 0x1.18de92p+0f, 0x1.147d58p+0f, 0x1.10681ap+0f, 0x1.0deb82p+0f,
    0x1.093672p+0f, 0x1.033a2ap+0f, 0x1.000000p+0f, 0x1.f0bb76p-1f, 0x1.e267c8p-1f, 0x1.d4b2f8p-1f, 0x1.c693b0p-1f,
    0x1.b9cd86p-1f, 0x1.aefef6p-1f, 0x1.a48136p-1f, 0x1.99bcb4p-1f, 0x1.8f1190p-1f, 0x1.84ac04p-1f, 0x1.7deac0p-1f,
    0x1.73fbf4p-1f, 0x1.6c087cp-1f, 0x1.64df4ep-1f, 0x1.5bc826p-1f};
/* clang-format off */
static const _Alignas(64) float aclpy_log_value_[32] = {
    -0x1.26fc00p-2f, -0x1.0f5800p-2f, -0x1.fa9000p-3f, -0x1.d59800p-3f, -0x1.b0a800p-3f, -0x1.865800p-3f,
    -0x1.616800p-3f, -0x1.400800p-3f, -0x1.19c800p-3f, -0x1.c6d000p-4f, -0x1.7bc000p-4f, -0x1.3b6000p-4f,
    -0x1.fce000p-5f, -0x1.b1c000p-5f, -0x1.21a000p-5f, -0x1.9a8000p-7f,  0x0.000000p+0f,  0x1.f00000p-6f,
     0x1.e7c000p-5f,  0x1.69f000p-4f,  0x1.e74000p-4f,  0x1.2e0000p-3f,  0x1.60b800p-3f,  0x1.933000p-3f,
     0x1.c85000p-3f,  0x1.fe5800p-3f,  0x1.1a3400p-2f,  0x1.2c2800p-2f,  0x1.472400p-2f,  0x1.5d4400p-2f,
     0x1.719c00p-2f,  0x1.8c0800p-2f};
/* clang-format on */

/* Of the bits of a float, counted from the least m. */
enum { ACLPY_LOG_LEAST_ = 0x3f3e0000, ACLPY_LOG_EXPONENT_ = ~0x7fffff };
typedef int32_t v32_bits __attribute__((vector_size(sizeof(v32))));

/* The exponent as a number of 2^23. */
ACLPY_INLINE v32_bits v32_log_exponent_(v32 x) { return ((v32_bits)x - ACLPY_LOG_LEAST_) & ACLPY_LOG_EXPONENT_; }
/* ln m + e 2^-23 ln 2; x is positive, normal and finite. */
ACLPY_INLINE v32 v32_log_with_(v32 x, v32 e) {
  const v32 m = (v32)((v32_bits)x - v32_log_exponent_(x));
  const v32_row at = v32_row_of_((v32)((v32_bits)x - ACLPY_LOG_LEAST_));
  const v32 r = v32_fms_(m, v32_look_up_(aclpy_log_inverse_, at), v32_set1(1.0f));
  v32 p = v32_fma(v32_set1(-0x1.000ce8p-2f), r, v32_set1(0x1.556224p-2f));
  p = v32_fma(p, r, v32_set1(-0.5f));
  p = v32_fma(v32_mul(r, r), p, r);
  const v32 exact = v32_fma(e, v32_set1(0x1.62e4p-24f), v32_look_up_(aclpy_log_value_, at));
  return v32_add(exact, v32_fma(e, v32_set1(0x1.7f7d1cp-43f), p));
}
ACLPY_INLINE v32 v32_log_normal_(v32 x) { return v32_log_with_(x, __builtin_convertvector(v32_log_exponent_(x), v32)); }
/* Of what is 0, infinite, no number, negative or so small that it has no exponent of its own. */
ACLPY_APART v32 v32_log_unusual_(v32 x) {
  const v32 zero = v32_set1(0.0f), one = v32_set1(1.0f), infinity = v32_set1(__builtin_inff());
  const v32 least = v32_set1(0x1p-126f), nan = v32_set1(__builtin_nanf(""));
  const v32 usual = v32_pick_greater(x, zero, v32_pick_greater(infinity, x, x, one), one);
  const v32 normal = v32_pick_greater(least, usual, v32_mul(usual, v32_set1(0x1p24f)), usual);
  const v32 scaled = v32_pick_greater(least, usual, v32_set1(24 * 0x1p23f), zero);
  v32 r = v32_log_with_(normal, v32_sub(__builtin_convertvector(v32_log_exponent_(normal), v32), scaled));
  r = v32_pick_greater(x, zero, r, v32_sub(zero, infinity));
  r = v32_pick_greater(zero, x, nan, r);
  return v32_pick_greater(infinity, x, r, x); /* infinity and NaN as they are */
}
ACLPY_INLINE v32 v32_log(v32 x) { return ACLPY_LIKELY(v32_are_normal_(x)) ? v32_log_normal_(x) : v32_log_unusual_(x); }

#endif

#endif
