/* SPDX-License-Identifier: Apache-2.0
 * Template: strips of inputs whose reduced axis is the dense one (transposed.h), turned as they are stored: what is
 * turned once is read as often as is needed, as if the input lay as the result does; and 16-bit types are half the
 * bytes of floats then. ACLPY_T names the instance.
 */
#include "../simd/instance.h"

#ifndef ACLPY_KERNELS_STRIP_WORDS_H
#define ACLPY_KERNELS_STRIP_WORDS_H

#include "copy_transpose.h"
#include "rows_geometry.h"

/* Elements of `width` columns and `rows` rows, at least those of two blocks of a tile, in whole lines. */
ACLPY_INLINE int64_t aclpy_words_room(int64_t rows, int64_t width, int64_t side) {
  return aclpy_max_i64(rows, 64) * aclpy_ceil_div(width, side) * side;
}

#endif

/* A line's elements are a square's rows and columns. */
enum { FN(words_side) = 64 / sizeof(STORED) };

/* Columns of a strip, which lie `pitch` apart, and where their rows lie once they are turned. */
typedef struct FN(words) {
  const STORED *x;
  int64_t pitch, columns, rows;
  STORED *room;
  int64_t stride; /* of its rows, whole squares */
  int held;       /* whether all rows have a place in it, or only those of two blocks */
} FN(words);

ACLPY_INLINE int64_t FN(words_stride)(int64_t width) { return aclpy_ceil_div(width, FN(words_side)) * FN(words_side); }
ACLPY_INLINE int64_t FN(words_room)(int64_t rows, int64_t width) {
  return aclpy_words_room(rows, width, FN(words_side));
}

/* A square of x, turned. Not inline: it fills the registers. */
ACLPY_APART void FN(words_turn)(const STORED *x, int64_t pitch, STORED *to, int64_t step) {
  const int64_t size = (int64_t)sizeof(STORED);
  const unsigned char *from = (const unsigned char *)(const void *)x;
  unsigned char *y = (unsigned char *)(void *)to;
  if (size == 2) transpose_square_b2(from, y, pitch * size, step * size, 0);
  if (size == 4) transpose_square_b4(from, y, pitch * size, step * size, 0);
  if (size == 8) transpose_square_b8(from, y, pitch * size, step * size, 0);
}
/* A part of one: columns that do not exist are 0, rows that do not exist are not written. */
ACLPY_APART void FN(words_turn_part)(const STORED *x, int64_t pitch, int64_t rows, int64_t columns, STORED *to,
                                     int64_t step) {
  STORED line[FN(words_side)][FN(words_side)] = {{0}}, turned[FN(words_side)][FN(words_side)];
  for (int64_t k = 0; k < columns; ++k) memcpy(line[k], x + k * pitch, (size_t)rows * sizeof *x);
  FN(words_turn)(line[0], FN(words_side), turned[0], FN(words_side));
  for (int64_t k = 0; k < rows; ++k) memcpy(to + k * step, turned[k], sizeof turned[k]);
}

/* `rows` rows from `r` on, `stride` apart, at most two blocks where they are not held; `again`: they have been turned
 * before. Whole squares are turned, so that rows behind them may be, too: of the same values as later. */
ACLPY_INLINE const STORED *FN(words_block)(const FN(words) * w, int64_t r, int64_t rows, int again) {
  STORED *to = w->room + (w->held ? r * w->stride : 0);
  if (again && w->held) return to;
  for (int64_t k = 0; k < rows; k += FN(words_side)) {
    for (int64_t c = 0; c < w->columns; c += FN(words_side)) {
      const int64_t height = aclpy_min_i64(FN(words_side), w->rows - r - k);
      const int64_t width = aclpy_min_i64(FN(words_side), w->columns - c);
      const STORED *x = w->x + c * w->pitch + r + k;
      STORED *square = to + k * w->stride + c;
      if (height == FN(words_side) && width == FN(words_side)) {
        FN(words_turn)(x, w->pitch, square, w->stride);
      } else {
        FN(words_turn_part)(x, w->pitch, height, width, square, w->stride);
      }
    }
  }
  return to;
}

ACLPY_INLINE void FN(words_all)(const FN(words) * w) {
  for (int64_t r = 0; r < w->rows; r += FN(words_side)) FN(words_block)(w, r, FN(words_side), 0);
}
