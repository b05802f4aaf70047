/* SPDX-License-Identifier: Apache-2.0
 * The two conversions of the C API between float and float16. They saturate and know neither infinity nor NaN, unlike
 * the casts of the kernels, which follow IEEE.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "engine.h"

enum { HALF_MANTISSA = 10, HALF_BIAS = 15, HALF_LARGEST = 0x7BFF, HALF_SIGN = 0x8000 };
enum { FLOAT_MANTISSA = 23, FLOAT_BIAS = 127, FLOAT_EXPONENTS = 255 };

float aclpy_float16_to_float(uint16_t half) {
  int32_t exponent = half >> HALF_MANTISSA & 0x1F;
  int32_t mantissa = half & 0x3FF;
  /* The largest exponent is one like any other here: 0x7C00 is 65536, 0x7E00 is 98304. */
  float value = exponent == 0 ? ldexpf((float)mantissa, 1 - HALF_BIAS - HALF_MANTISSA)
                              : ldexpf((float)(mantissa | 0x400), exponent - HALF_BIAS - HALF_MANTISSA);
  return (half & HALF_SIGN) != 0 ? -value : value;
}

/* The nearest half, ties to even; what is beyond the largest one becomes that. */
static uint32_t round_(uint32_t mantissa, int32_t shift) {
  if (shift > FLOAT_MANTISSA + 1) return 0;
  uint32_t kept = mantissa >> shift;
  uint32_t rest = mantissa & ((UINT32_C(1) << shift) - 1), middle = UINT32_C(1) << (shift - 1);
  return kept + (rest > middle || (rest == middle && (kept & 1) != 0));
}

uint16_t aclpy_float_to_float16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  uint32_t sign = bits >> 16 & HALF_SIGN;
  int32_t exponent = (int32_t)(bits >> FLOAT_MANTISSA & 0xFF);
  uint32_t mantissa = bits & 0x7FFFFF;
  if (exponent == FLOAT_EXPONENTS && mantissa != 0) return HALF_LARGEST; /* NaN, whatever its sign */
  int32_t target = exponent - FLOAT_BIAS + HALF_BIAS;
  uint32_t half;
  if (target > 0x1E) {
    half = HALF_LARGEST;
  } else if (target > 0) {
    half = ((uint32_t)target << HALF_MANTISSA) + round_(mantissa, FLOAT_MANTISSA - HALF_MANTISSA);
    if (half > HALF_LARGEST) half = HALF_LARGEST;
  } else {
    half = exponent == 0 ? 0 : round_(mantissa | 0x800000, FLOAT_MANTISSA - HALF_MANTISSA + 1 - target);
  }
  return (uint16_t)(sign | half);
}
