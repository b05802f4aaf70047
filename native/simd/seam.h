/* SPDX-License-Identifier: Apache-2.0
 * A line of results that two rows share, past the caches: what the first of them has of it waits in a register until
 * the second one has the rest, and then the whole line is written at once. Stored in two parts instead, it has to be
 * read first, and every row waits for it: measured on Zen 5, 76 to 100 ns for each.
 *
 * Of types that are stored as they are computed, whose vectors are lines; others gain nothing in plain rows. The first
 * `held` bytes of `first` wait, an even number (0: none do).
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
/* Two halves of results. */
ACLPY_INLINE __m512i aclpy_line_of_halves_(__m256i low, __m256i high) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}
ACLPY_INLINE __m512i v32_line(v32 v) { return _mm512_castps_si512(v); }
ACLPY_INLINE __m512i v64_line(v64 v) { return _mm512_castpd_si512(v); }
ACLPY_INLINE void aclpy_seam_open(aclpy_seam *s, __m512i first, int64_t bytes) {
  s->first = first;
  s->held = bytes;
}
/* `rest` follows what waits, from its own beginning on. */
ACLPY_INLINE void aclpy_seam_close(aclpy_seam *s, void *line, __m512i rest) {
  const __m512i places =
      _mm512_set_epi32(0x001f001e, 0x001d001c, 0x001b001a, 0x00190018, 0x00170016, 0x00150014, 0x00130012, 0x00110010,
                       0x000f000e, 0x000d000c, 0x000b000a, 0x00090008, 0x00070006, 0x00050004, 0x00030002, 0x00010000);
  const int held = (int)s->held / 2;
  const __m512i from = _mm512_sub_epi16(places, _mm512_set1_epi16((short)held));
  const __m512i whole = _mm512_mask_permutexvar_epi16(s->first, (__mmask32)(0xffffffffu << held), from, rest);
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
