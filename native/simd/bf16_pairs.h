/* SPDX-License-Identifier: Apache-2.0
 * Quads of bfloat16 for AVX-512, in the order that costs least: of 32 elements those at even places, then those at odd
 * ones. Each is one shift or mask away from float, where the order of memory takes a permutation of words (two steps on
 * Intel processors); and rounding works on both halves of all words at once.
 */
#ifndef ACLPY_SIMD_BF16_PAIRS_H
#define ACLPY_SIMD_BF16_PAIRS_H

ACLPY_INLINE v32 ldx_bf16(const uint16_t *p, int k) {
  const __m512i raw = _mm512_loadu_si512(p + k / 2 * 2 * v32_LANES);
  const __m512i even = _mm512_slli_epi32(raw, 16), odd = _mm512_and_si512(raw, _mm512_set1_epi32((int)0xffff0000u));
  return _mm512_castsi512_ps(k & 1 ? odd : even);
}

/* Even and odd places to the order of memory: the first 16 elements, the last 16. */
ACLPY_INLINE v32 aclpy_first_of_pair_(v32 even, v32 odd) {
  const __m512i to = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  return _mm512_permutex2var_ps(even, to, odd);
}
ACLPY_INLINE v32 aclpy_last_of_pair_(v32 even, v32 odd) {
  const __m512i to = _mm512_set_epi32(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8);
  return _mm512_permutex2var_ps(even, to, odd);
}
ACLPY_INLINE void order_bf16(v32 *v) {
  for (int k = 0; k < 4; k += 2) {
    const v32 even = v[k], odd = v[k + 1];
    v[k] = aclpy_first_of_pair_(even, odd);
    v[k + 1] = aclpy_last_of_pair_(even, odd);
  }
}
/* low_high: the halves of the first sum, then those of the second. */
ACLPY_INLINE void order_sums_bf16(v64 *low_high) {
  const __m512i low = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0), high = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
  const v64 first_even = low_high[0], last_even = low_high[1], first_odd = low_high[2], last_odd = low_high[3];
  low_high[0] = _mm512_permutex2var_pd(first_even, low, first_odd);
  low_high[1] = _mm512_permutex2var_pd(first_even, high, first_odd);
  low_high[2] = _mm512_permutex2var_pd(last_even, low, last_odd);
  low_high[3] = _mm512_permutex2var_pd(last_even, high, last_odd);
}

/* (v0 + v1) + (v2 + v3) by lanes of the order of memory, the even lanes before the odd ones. */
ACLPY_INLINE v32 aclpy_add_pair_(v32 even, v32 odd) {
  const v32 first = _mm512_mask_blend_ps(0xff00, even, odd);
  return v32_add(first, _mm512_shuffle_f32x4(even, odd, 0x4e));
}
ACLPY_INLINE v32 sump_bf16(v32 even, v32 odd) { return aclpy_add_pair_(even, odd); }
ACLPY_INLINE v32 sumx_bf16(const v32 *v) { return v32_add(aclpy_add_pair_(v[0], v[1]), aclpy_add_pair_(v[2], v[3])); }
/* The halves of such a sum in the order of memory. */
ACLPY_INLINE void order_sumx_bf16(v64 *low, v64 *high) {
  const v64 even = *low, odd = *high;
  *low = _mm512_permutex2var_pd(even, _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0), odd);
  *high = _mm512_permutex2var_pd(even, _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4), odd);
}
/* y = x in that order, both of n floats, n a multiple of 4 vectors. */
ACLPY_INLINE void pairs_bf16(const float *restrict x, float *restrict y, int64_t n) {
  for (int64_t i = 0; i < n; i += 2 * v32_LANES) {
    for (int64_t k = 0; k < v32_LANES; ++k) {
      y[i + k] = x[i + 2 * k];
      y[i + v32_LANES + k] = x[i + 2 * k + 1];
    }
  }
}

/* Both rounded to nearest even, in the order of memory; no NaN but those whose lower words are 0. A word is rounded up
 * where what it loses, with its own last bit below the rest, is more than a half. */
ACLPY_INLINE __m512i aclpy_bf16_join_(v32 even, v32 odd) {
  const __m512i e = _mm512_castps_si512(even), o = _mm512_castps_si512(odd);
  const __m512i upper = _mm512_set4_epi32(0x0f0e0f0e, 0x0b0a0b0a, 0x07060706, 0x03020302);
  const __m512i lower = _mm512_set4_epi32(0x0d0c0d0c, 0x09080908, 0x05040504, 0x01000100);
  const __m512i kept = _mm512_mask_shuffle_epi8(o, 0x3333333333333333u, e, upper);
  const __m512i lost = _mm512_mask_shuffle_epi8(e, 0xccccccccccccccccu, o, lower);
  const __m512i sticky = _mm512_ternarylogic_epi32(lost, kept, _mm512_set1_epi16(1), 0xf8);
  const __mmask32 up = _mm512_cmpgt_epu16_mask(sticky, _mm512_set1_epi16(-0x8000));
  return _mm512_mask_sub_epi16(kept, up, kept, _mm512_set1_epi16(-1));
}
ACLPY_INLINE __m512i aclpy_bf16_interleave_(__m512i even_odd) {
  const __m512i to = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6, 21, 5,
                                      20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  return _mm512_permutexvar_epi16(to, even_odd);
}

/* Whether `low` and `high` hold the four vectors rounded; `tame`: no NaN but those that rounding leaves as they are. */
ACLPY_INLINE int aclpy_bf16_join_quad_(const v32 *v, __m512i *low, __m512i *high, int tame) {
  if (aclpy_core_bf16) {
    if (!aclpy_bf16_quad_(v, low, high)) return 0;
    *low = aclpy_bf16_interleave_(*low);
    *high = aclpy_bf16_interleave_(*high);
    return 1;
  }
  *low = aclpy_bf16_join_(v[0], v[1]);
  *high = aclpy_bf16_join_(v[2], v[3]);
  return tame || ((unsigned)_mm512_cmp_ps_mask(v[0], v[1], _CMP_UNORD_Q) |
                  (unsigned)_mm512_cmp_ps_mask(v[2], v[3], _CMP_UNORD_Q)) == 0;
}
ACLPY_INLINE void stq_bf16(uint16_t *p, const v32 *v, int streaming, int tame) {
  __m512i low, high;
  if (ACLPY_LIKELY(aclpy_bf16_join_quad_(v, &low, &high, tame))) {
    aclpy_bf16_put_quad_(p, low, high, streaming);
  } else {
    v32 ordered[4] = {v[0], v[1], v[2], v[3]};
    order_bf16(ordered);
    aclpy_bf16_put_each_(p, ordered, streaming);
  }
}
ACLPY_INLINE void stx_bf16(uint16_t *p, const v32 *v, int k, int streaming) {
  if (k == 3) stq_bf16(p, v, streaming, 0);
}

/* Two vectors in that order, of n elements, at most all of them, then zeros. */
ACLPY_INLINE void ldpn_bf16(const uint16_t *p, int64_t n, v32 *v) {
  const __m512i raw = _mm512_maskz_loadu_epi16(aclpy_mask32_(n), p);
  v[0] = _mm512_castsi512_ps(_mm512_slli_epi32(raw, 16));
  v[1] = _mm512_castsi512_ps(_mm512_and_si512(raw, _mm512_set1_epi32((int)0xffff0000u)));
}
/* Stores the first n elements of them. */
ACLPY_INLINE void stpn_bf16(uint16_t *p, const v32 *v, int64_t n) {
  enum { DENORMAL = 0x20 };
  const __mmask32 mask = aclpy_mask32_(n);
  __m512i both;
  int whole;
  if (aclpy_core_bf16) {
    both = aclpy_bf16_interleave_(aclpy_bf16_pair_(v[0], v[1]));
    const __mmask32 zero = _mm512_mask_testn_epi16_mask(mask, both, _mm512_set1_epi16(0x7fff));
    whole = ACLPY_LIKELY(zero == 0) ||
            (_mm512_fpclass_ps_mask(v[0], DENORMAL) | _mm512_fpclass_ps_mask(v[1], DENORMAL)) == 0;
  } else {
    both = aclpy_bf16_join_(v[0], v[1]);
    whole = _mm512_cmp_ps_mask(v[0], v[1], _CMP_UNORD_Q) == 0;
  }
  if (ACLPY_LIKELY(whole)) {
    _mm512_mask_storeu_epi16(p, mask, both);
  } else {
    const v32 first = aclpy_first_of_pair_(v[0], v[1]), last = aclpy_last_of_pair_(v[0], v[1]);
    stn_bf16(p, first, n < v32_LANES ? n : v32_LANES);
    if (n > v32_LANES) stn_bf16(p + v32_LANES, last, n - v32_LANES);
  }
}

ACLPY_INLINE void stp_bf16(uint16_t *p, const v32 *v) { stpn_bf16(p, v, 2 * v32_LANES); }

#endif
