/* SPDX-License-Identifier: Apache-2.0
 * Quads of bfloat16 for AVX2. In the order of memory two vectors are rounded and packed together; in the order that
 * costs least (bf16_pairs.h) each is one shift or mask away from float, and nothing is packed.
 */
#ifndef ACLPY_SIMD_BF16_AVX2_H
#define ACLPY_SIMD_BF16_AVX2_H

/* Rounded to nearest even in the upper halves; no NaN but those whose lower words are 0. */
ACLPY_INLINE __m256i aclpy_bf16_rounded_(v32 v) {
  const __m256i bits = _mm256_castps_si256(v);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  return _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
}
/* Two vectors in the order of memory; of elements at even places and at odd ones. */
ACLPY_INLINE __m256i aclpy_bf16_both_(v32 a, v32 b) {
  const __m256i first = _mm256_srli_epi32(aclpy_bf16_rounded_(a), 16);
  const __m256i last = _mm256_srli_epi32(aclpy_bf16_rounded_(b), 16);
  return _mm256_permute4x64_epi64(_mm256_packus_epi32(first, last), 0xd8);
}
ACLPY_INLINE __m256i aclpy_bf16_join_(v32 even, v32 odd) {
  return _mm256_blend_epi16(_mm256_srli_epi32(aclpy_bf16_rounded_(even), 16), aclpy_bf16_rounded_(odd), 0xaa);
}
ACLPY_INLINE int aclpy_bf16_numbers_(const v32 *v) {
  return _mm256_movemask_ps(
             _mm256_or_ps(_mm256_cmp_ps(v[0], v[1], _CMP_UNORD_Q), _mm256_cmp_ps(v[2], v[3], _CMP_UNORD_Q))) == 0;
}
ACLPY_INLINE void aclpy_bf16_put_(uint16_t *p, __m256i both, int streaming) {
  if (streaming) _mm256_stream_si256((__m256i *)(void *)p, both);
  if (!streaming) _mm256_storeu_si256((__m256i *)(void *)p, both);
}
/* Vector by vector: what rounding them together does not do. */
ACLPY_INLINE void aclpy_bf16_put_two_(uint16_t *p, const v32 *v, int streaming) {
  for (int k = 0; k < 2; ++k) {
    if (streaming) nt_bf16(p + k * v32_LANES, v[k]);
    if (!streaming) st_bf16(p + k * v32_LANES, v[k]);
  }
}

ACLPY_INLINE void stt_bf16(uint16_t *p, uint16_t *q, const v32 *v, int streaming) {
  if (ACLPY_LIKELY(aclpy_bf16_numbers_(v))) {
    aclpy_bf16_put_(p, aclpy_bf16_both_(v[0], v[1]), streaming);
    aclpy_bf16_put_(q, aclpy_bf16_both_(v[2], v[3]), streaming);
  } else {
    aclpy_bf16_put_two_(p, v, streaming);
    aclpy_bf16_put_two_(q, v + 2, streaming);
  }
}
ACLPY_INLINE void quad_bf16(uint16_t *p, const v32 *v, int k, int streaming) {
  if (k == 3) stt_bf16(p, p + 2 * v32_LANES, v, streaming);
}

ACLPY_INLINE v32 ldx_bf16(const uint16_t *p, int k) {
  const __m256i raw = _mm256_loadu_si256((const __m256i *)(const void *)(p + k / 2 * 2 * v32_LANES));
  const __m256i even = _mm256_slli_epi32(raw, 16), odd = _mm256_and_si256(raw, _mm256_set1_epi32((int)0xffff0000u));
  return _mm256_castsi256_ps(k & 1 ? odd : even);
}
/* Even and odd places to the order of memory. */
ACLPY_INLINE void order_bf16(v32 *v) {
  for (int k = 0; k < 4; k += 2) {
    const v32 low = _mm256_unpacklo_ps(v[k], v[k + 1]), high = _mm256_unpackhi_ps(v[k], v[k + 1]);
    v[k] = _mm256_permute2f128_ps(low, high, 0x20);
    v[k + 1] = _mm256_permute2f128_ps(low, high, 0x31);
  }
}
/* The halves of a sum, even places and odd ones, to the order of memory. */
ACLPY_INLINE void order_sumx_bf16(v64 *low, v64 *high) {
  const v64 first = _mm256_unpacklo_pd(*low, *high), last = _mm256_unpackhi_pd(*low, *high);
  *low = _mm256_permute2f128_pd(first, last, 0x20);
  *high = _mm256_permute2f128_pd(first, last, 0x31);
}
/* low_high: the halves of the first sum, then those of the second. */
ACLPY_INLINE void order_sums_bf16(v64 *low_high) {
  v64 first[2] = {low_high[0], low_high[2]}, last[2] = {low_high[1], low_high[3]};
  order_sumx_bf16(first, first + 1);
  order_sumx_bf16(last, last + 1);
  low_high[0] = first[0], low_high[1] = first[1], low_high[2] = last[0], low_high[3] = last[1];
}
/* Sums by lanes of the order of memory, the even lanes before the odd ones. */
ACLPY_INLINE v32 sump_bf16(v32 even, v32 odd) {
  return v32_add(_mm256_blend_ps(even, odd, 0xf0), _mm256_permute2f128_ps(even, odd, 0x21));
}
ACLPY_INLINE v32 sumx_bf16(const v32 *v) { return v32_add(sump_bf16(v[0], v[1]), sump_bf16(v[2], v[3])); }
/* y = x in that order, both of n floats, n a multiple of 4 vectors. */
ACLPY_INLINE void pairs_bf16(const float *restrict x, float *restrict y, int64_t n) {
  for (int64_t i = 0; i < n; i += 2 * v32_LANES) {
    for (int64_t k = 0; k < v32_LANES; ++k) {
      y[i + k] = x[i + 2 * k];
      y[i + v32_LANES + k] = x[i + 2 * k + 1];
    }
  }
}
ACLPY_INLINE void stq_bf16(uint16_t *p, const v32 *v, int streaming, int tame) {
  if (tame || ACLPY_LIKELY(aclpy_bf16_numbers_(v))) {
    aclpy_bf16_put_(p, aclpy_bf16_join_(v[0], v[1]), streaming);
    aclpy_bf16_put_(p + 2 * v32_LANES, aclpy_bf16_join_(v[2], v[3]), streaming);
  } else {
    v32 ordered[4] = {v[0], v[1], v[2], v[3]};
    order_bf16(ordered);
    aclpy_bf16_put_two_(p, ordered, streaming);
    aclpy_bf16_put_two_(p + 2 * v32_LANES, ordered + 2, streaming);
  }
}
ACLPY_INLINE void stx_bf16(uint16_t *p, const v32 *v, int k, int streaming) {
  if (k == 3) stq_bf16(p, v, streaming, 0);
}

#endif
