/* SPDX-License-Identifier: Apache-2.0
 * Lines of results that lie in one run or in two: what AVX-512 stores by masks, each byte where it belongs.
 */
#ifndef ACLPY_SIMD_PIECES_H
#define ACLPY_SIMD_PIECES_H

#include "isa.h"

#if ACLPY_ISA_RANK == 3
#define ACLPY_PIECES 1
#else
#define ACLPY_PIECES 0
#endif

/* A strip's row as lines of 64 bytes; places in bytes from where the row of results begins. */
enum { ACLPY_PIECES_LINES = 4 };
typedef struct aclpy_pieces {
  int64_t at[ACLPY_PIECES_LINES];     /* of a line's first piece */
  int64_t behind[ACLPY_PIECES_LINES]; /* where the line would begin if all of it lay beside its second piece */
  uint64_t first[ACLPY_PIECES_LINES]; /* the bytes that are its first piece, by bits */
} aclpy_pieces;

/* `lines` dense ones, to the row of results at `row`. */
ACLPY_INLINE void aclpy_pieces_put(const aclpy_pieces *p, const void *from, void *row, int64_t lines) {
#if ACLPY_PIECES
  for (int64_t k = 0; k < lines; ++k) {
    const __m512i line = _mm512_load_si512((const char *)from + 64 * k);
    _mm512_mask_storeu_epi8((char *)row + p->at[k], p->first[k], line);
    _mm512_mask_storeu_epi8((char *)row + p->behind[k], ~p->first[k], line);
  }
#else
  (void)p, (void)from, (void)row, (void)lines;
#endif
}

#endif
