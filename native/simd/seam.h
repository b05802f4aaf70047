/* SPDX-License-Identifier: Apache-2.0
 * A line of results that two rows share, past the caches: what the first of them has of it waits in a register until
 * the second one has the rest, and then the whole line is written at once. Stored in two parts instead, it has to be
 * read first, and every row waits for it: measured on Zen 5, 76 to 100 ns for each.
 *
 * Of types that are stored as they are computed, whose vectors are lines; others gain nothing. The first `held` bytes
 * of `first` wait (0: none do).
 */
#ifndef ACLPY_SIMD_SEAM_H
#define ACLPY_SIMD_SEAM_H

#include "isa.h"

#if ACLPY_ISA_RANK == 3
#define ACLPY_SEAMS 1
typedef struct aclpy_seam {
  __m512i first;
  int64_t held;
} aclpy_seam;

ACLPY_INLINE aclpy_seam aclpy_seam_none(void) {
  const aclpy_seam s = {_mm512_setzero_si512(), 0};
  return s;
}
ACLPY_INLINE __m512i v32_line(v32 v) { return _mm512_castps_si512(v); }
ACLPY_INLINE __m512i v64_line(v64 v) { return _mm512_castpd_si512(v); }
ACLPY_INLINE void aclpy_seam_open(aclpy_seam *s, __m512i first, int64_t bytes) {
  s->first = first;
  s->held = bytes;
}
/* `rest` follows what waits, from its own beginning on. */
ACLPY_INLINE void aclpy_seam_close(aclpy_seam *s, void *line, __m512i rest) {
  const __m512i places = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const int held = (int)s->held / 4;
  const __m512i from = _mm512_sub_epi32(places, _mm512_set1_epi32(held));
  const __m512i whole = _mm512_mask_permutexvar_epi32(s->first, (__mmask16)(0xffffu << held), from, rest);
  _mm512_stream_si512((__m512i *)line, whole);
  s->held = 0;
}
#else
#define ACLPY_SEAMS 0
typedef struct aclpy_seam {
  int64_t held; /* never any */
} aclpy_seam;
ACLPY_INLINE aclpy_seam aclpy_seam_none(void) {
  const aclpy_seam s = {0};
  return s;
}
#endif

#endif
