/* SPDX-License-Identifier: Apache-2.0
 * Results of tiles in runs that lie apart, written strip by strip like dense ones: a line of a strip lies in one run or
 * in two (simd/pieces.h). What is to be written is asked for a block of rows before, in the order of memory. After
 * tile.h.
 */
#ifndef ACLPY_KERNELS_TILE_PIECES_H
#define ACLPY_KERNELS_TILE_PIECES_H

#include "../simd/pieces.h"

/* The strips of a tile. */
enum { ACLPY_PIECES_STRIPS = ACLPY_TILE_MAX / 32 + 1 };

/* Whether results of 16 bits are written so: runs are a line at least, and go through the caches, where a line may be
 * stored in parts. Wider ones go past the caches, by runs. */
ACLPY_INLINE int aclpy_in_pieces(const aclpy_geometry *g, int64_t size, int streaming) {
  return ACLPY_PIECES && size == 2 && !streaming && g->out.run < g->columns && g->out.run >= 64 / size;
}

/* Of the whole strips of a tile. */
ACLPY_ONCE void aclpy_pieces_of(aclpy_pieces *pieces, const aclpy_geometry *g, const aclpy_tile *t, int64_t strip,
                                int64_t size) {
  const int64_t run = g->out.run, line = 64 / size;
  for (int64_t c = 0; c + strip <= t->width; c += strip, ++pieces) {
    for (int64_t k = 0; k < strip / line; ++k) {
      const int64_t column = t->column + c + k * line, left = (run - column % run) * size;
      const int64_t at = aclpy_out_at(g, column) * size;
      pieces->at[k] = at;
      pieces->first[k] = left < 64 ? ((uint64_t)1 << left) - 1 : ~(uint64_t)0;
      pieces->behind[k] = left < 64 ? at + (g->out.step - run) * size : at;
    }
  }
}

/* What is asked for beside a block of rows, strip by strip: the lines of a later block of results. */
typedef struct aclpy_asked {
  uintptr_t at;         /* the lines whose turn it is */
  int64_t lines;        /* of a turn; 0: nothing is asked for */
  int64_t left, strips; /* turns of its row from there on, and of a row */
  int64_t skip;         /* bytes between the last one of a row and the next row's first */
} aclpy_asked;
/* Beside the strip at column `c`: of tile `t`, whose first row to be asked for is at `row`. */
ACLPY_INLINE aclpy_asked aclpy_asked_of(const aclpy_geometry *g, const aclpy_tile *t, uintptr_t row, int64_t c,
                                        int64_t strip, int64_t size) {
  const int64_t strips = t->width / strip, turn = c / strip * ACLPY_TILE_BLOCK;
  const int64_t from = aclpy_out_at(g, t->column) * size, to = aclpy_out_at(g, t->column + t->width - 1) * size;
  const int64_t lines = aclpy_ceil_div(to - from + 64, 64 * strips);
  const uintptr_t begin = row + (uintptr_t)(turn / strips * g->out.row * size + from);
  const aclpy_asked a = {begin + (uintptr_t)(turn % strips * lines * 64), lines, strips - turn % strips, strips,
                         g->out.row * size - strips * lines * 64};
  return a;
}
ACLPY_INLINE void aclpy_asked_next(aclpy_asked *a) {
  for (int64_t k = 0; k < a->lines; ++k) ACLPY_PREFETCH_OWN(a->at + (uintptr_t)(64 * k));
  a->at += (uintptr_t)(64 * a->lines);
  if (--a->left > 0) return;
  a->left = a->strips;
  a->at += (uintptr_t)a->skip;
}

#endif
