/* SPDX-License-Identifier: Apache-2.0
 * Floats to bytes by a sum instead of a rounding: of t = 256 + 1/2 + x, from 256 to 512, the place of 1 is bit 15, so
 * the eight bits from there on are x rounded to the nearest whole number, and the fifteen below tell how far x is from
 * where the next one begins. So x need not be rounded as the operations in turn would: where none of t is near a whole
 * number any x near enough gives the same bytes. The sum is one multiply-add where x is a product.
 *
 * ACLPY_FIXED_BYTES: there is such a way (with AVX-512 on processors with VBMI alone: aclpy_core_vbmi).
 * v32_fixed_clear(t, near): none of four vectors has all bits of `near` 0.
 * v32_fixed_bytes(t): the bytes of four.
 */
#ifndef ACLPY_SIMD_FIXED_BYTES_H
#define ACLPY_SIMD_FIXED_BYTES_H

#include "isa.h"

#define ACLPY_FIXED_ZERO 256.5f         /* what stands for 0 */
#define ACLPY_FIXED_TOP 511.75f         /* for 255 */
#define ACLPY_FIXED_PLACE 0x1p-15       /* of the last bit */
enum { ACLPY_FIXED_FRACTION = 0x7fff }; /* bits below the whole number */

#if ACLPY_ISA_RANK == 3
#define ACLPY_FIXED_BYTES 1
/* Whether the processor has AVX-512-VBMI (dispatch/core.c). */
extern int aclpy_core_vbmi __attribute__((visibility("hidden")));

ACLPY_INLINE int v32_fixed_clear(const v32 *t, v32 near) {
  const __m512i bits = _mm512_castps_si512(near);
  __mmask16 clear = _mm512_test_epi32_mask(_mm512_castps_si512(t[0]), bits);
  for (int k = 1; k < 4; ++k) clear = _mm512_mask_test_epi32_mask(clear, _mm512_castps_si512(t[k]), bits);
  return clear == 0xffff;
}

ACLPY_INLINE v32 v32_fixed_bytes(const v32 *t) {
  /* Bit 15 of the one float, of the other. */
  const __m512i by = _mm512_set1_epi16(47 << 8 | 15);
  __m512i mixed = aclpy_shift_all_bytes_(_mm512_castps_si512(t[0]), by);
  mixed = aclpy_shift_bytes_(mixed, 0x0c0c0c0c0c0c0c0cull, _mm512_castps_si512(t[1]), by);
  mixed = aclpy_shift_bytes_(mixed, 0x3030303030303030ull, _mm512_castps_si512(t[2]), by);
  mixed = aclpy_shift_bytes_(mixed, 0xc0c0c0c0c0c0c0c0ull, _mm512_castps_si512(t[3]), by);
  /* Two of each vector lie in each eight. */
  static const _Alignas(64) uint8_t order[64] = {0, 1, 8,  9,  16, 17, 24, 25, 32, 33, 40, 41, 48, 49, 56, 57, /* */
                                                 2, 3, 10, 11, 18, 19, 26, 27, 34, 35, 42, 43, 50, 51, 58, 59, /* */
                                                 4, 5, 12, 13, 20, 21, 28, 29, 36, 37, 44, 45, 52, 53, 60, 61, /* */
                                                 6, 7, 14, 15, 22, 23, 30, 31, 38, 39, 46, 47, 54, 55, 62, 63};
  return _mm512_castsi512_ps(aclpy_permute_bytes_(_mm512_load_si512(order), mixed));
}
/* As bytes 128 less. */
ACLPY_INLINE v32 v32_fixed_signed(v32 bytes) {
  return _mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(bytes), _mm512_set1_epi8((char)0x80)));
}
ACLPY_INLINE int v32_fixed_can(void) { return aclpy_core_vbmi; }
ACLPY_INLINE v32 v32_fixed_near(uint32_t bits) { return _mm512_castsi512_ps(_mm512_set1_epi32((int)bits)); }
#elif ACLPY_ISA_RANK == 2
#define ACLPY_FIXED_BYTES 1
ACLPY_INLINE int v32_fixed_clear(const v32 *t, v32 near) {
  __m256i w[4];
  for (int k = 0; k < 4; ++k) w[k] = _mm256_castps_si256(_mm256_and_ps(t[k], near));
  const __m256i least = _mm256_min_epu32(_mm256_min_epu32(w[0], w[1]), _mm256_min_epu32(w[2], w[3]));
  return _mm256_movemask_epi8(_mm256_cmpeq_epi32(least, _mm256_setzero_si256())) == 0;
}

ACLPY_INLINE v32 v32_fixed_bytes(const v32 *t) {
  __m256i w[4];
  for (int k = 0; k < 4; ++k) w[k] = _mm256_castps_si256(t[k]);
  /* Of each vector to a byte of its own: the first, third, second, last. */
  const __m256i outer = _mm256_blend_epi16(_mm256_srli_epi32(w[0], 15), _mm256_slli_epi32(w[1], 1), 0xaa);
  const __m256i inner = _mm256_blend_epi16(_mm256_srli_epi32(w[2], 7), _mm256_slli_epi32(w[3], 9), 0xaa);
  const __m256i mixed = _mm256_blendv_epi8(outer, inner, _mm256_set1_epi16((short)0xff00));
  const __m256i fours =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 4, 8, 12, 2, 6, 10, 14, 1, 5, 9, 13, 3, 7, 11, 15));
  return _mm256_castsi256_ps(
      _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(mixed, fours), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)));
}
/* As bytes 128 less. */
ACLPY_INLINE v32 v32_fixed_signed(v32 bytes) {
  return _mm256_xor_ps(bytes, _mm256_castsi256_ps(_mm256_set1_epi8((char)0x80)));
}
ACLPY_INLINE int v32_fixed_can(void) { return 1; }
ACLPY_INLINE v32 v32_fixed_near(uint32_t bits) { return _mm256_castsi256_ps(_mm256_set1_epi32((int)bits)); }
#else
#define ACLPY_FIXED_BYTES 0
ACLPY_INLINE int v32_fixed_can(void) { return 0; }
ACLPY_INLINE int v32_fixed_clear(const v32 *t, v32 near) { return (void)t, (void)near, 0; }
ACLPY_INLINE v32 v32_fixed_bytes(const v32 *t) { return t[0]; }
ACLPY_INLINE v32 v32_fixed_signed(v32 bytes) { return bytes; }
ACLPY_INLINE v32 v32_fixed_near(uint32_t bits) { return v32_set1((float)bits); }
#endif

#endif
